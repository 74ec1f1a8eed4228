"""What the modules share: layers as AlphaFold begins them, names of parameters, and
leading dimensions."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from .. import _torch  # noqa: F401  registers torch.ops.evoformer


def make_pair_bias(c_z: int, heads: int) -> nn.Linear:
    """From pairs to one bias a head, of variance 1 for inputs of variance 1."""
    linear = nn.Linear(c_z, heads, bias=False)
    nn.init.normal_(linear.weight, std=c_z ** -0.5)
    return linear


def load_under_other_names(module: nn.Module, others: Mapping[str, str]) -> None:
    """Lets `load_state_dict` of the module, or of one around it, take parameters whose
    names begin otherwise: `others` has for such beginnings what is said here."""
    def rename(_: nn.Module, state: dict[str, Any], prefix: str, *__: Any) -> None:
        for name in [name for name in state if name.startswith(prefix)]:
            for theirs, ours in others.items():
                if name.startswith(prefix + theirs):
                    state[prefix + ours + name[len(prefix + theirs):]] = state.pop(name)
                    break
    module.register_load_state_dict_pre_hook(rename)


def as_batch(tensor: Tensor, name: str, dims: int) -> Tensor:
    """With its leading dimensions, any number of them, as one in front of the last
    `dims`."""
    leading = tensor.dim() - dims
    if leading < 0:
        raise ValueError(f"{name} has rank {tensor.dim()}; accepted is {dims} or more")
    if leading == 0:
        return tensor.unsqueeze(0)
    return tensor.flatten(0, leading - 1)


def mask_as_batch(mask: Tensor, shape: Sequence[int]) -> Tensor:
    """True where it is not 0, [b, rows, keys]: of this shape, whose last two dimensions
    are these, but for dimensions that are 1 or missing in front."""
    if mask.dim() > len(shape) or any(
            [size not in (1, whole)
             for size, whole in zip(reversed(mask.shape), reversed(shape))]):
        raise ValueError(f"mask has shape {tuple(mask.shape)}; accepted is "
                         f"{tuple(shape)}, any of them 1")
    return as_batch(mask.to(torch.bool).expand(tuple(shape)), "mask", 2)


def of_keys(mask: Tensor) -> Tensor:
    """[b, rows, keys] as a bias, [b, rows, 1, 1, keys]."""
    return mask[:, :, None, None, :]


def of_pairs(bias: Tensor) -> Tensor:
    """[b, queries, keys, heads] as a bias of all rows, [b, 1, heads, queries, keys]."""
    return bias.permute(0, 3, 1, 2).unsqueeze(1)
