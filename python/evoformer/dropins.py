"""Functions with the names, signatures and meaning of other packages' attention
kernels, for torch tensors. `evoformer.patch()` puts them in their place."""

import torch

from ._attention import attention


def _mean_where_dropped(out, value, dead, keys):
    """Adds what softmax makes of equal logits, the mean of all values, to queries
    without keys, whose attention is 0. `keys` is the values' dimension of keys."""
    # On a GPU asking would wait for it.
    if (dead.device.type == "cpu" and not torch.compiler.is_compiling() and
            not dead.any()):
        return out
    mean = value.mean(keys, keepdim=True, dtype=torch.float32)
    return out + torch.where(dead, mean, 0.0).to(out.dtype)


def _check_tensors(**tensors):
    for name, tensor in tensors.items():
        if not isinstance(tensor, torch.Tensor):
            raise TypeError(f"{name} is a {type(tensor).__name__}; accepted is a "
                            "torch.Tensor")


def _check_optional(**tensors):
    _check_tensors(**{name: tensor for name, tensor in tensors.items()
                      if tensor is not None})


def _check_rank(tensor, name, *accepted):
    if tensor.dim() not in accepted:
        raise ValueError(f"{name} has rank {tensor.dim()}; accepted is "
                         f"{' or '.join(map(str, accepted))}")


def _as_bias(bias, query):
    """Of a type that attention takes beside the query's."""
    return bias if bias.dtype in (query.dtype, torch.float32) else bias.to(query.dtype)


def DS4Sci_EvoformerAttention(Q, K, V, biases):
    """DeepSpeed's `deepspeed.ops.deepspeed4science.DS4Sci_EvoformerAttention`:

        softmax(Q K^T / sqrt(d) + biases[0] + biases[1]) V

    Q, K, V: [b, n, s, h, d]; biases: up to two tensors or None, [b, n, 1, 1, s]
    and [b, 1, h, s, s], added to the logits. Returns [b, n, s, h, d].

    Other than DeepSpeed's, it takes float32 and any s, leaves the list `biases` as
    it is, and gives equal bits in every run. -1e9 for every key of a row cancels,
    as in exact arithmetic.
    """
    _check_tensors(Q=Q, K=K, V=V)
    _check_rank(Q, "Q", 5)
    _check_rank(K, "K", 5)
    if not isinstance(biases, (list, tuple)):
        raise TypeError(f"biases is a {type(biases).__name__}; accepted is a list "
                        "of up to two tensors or None")
    if len(biases) > 2:
        raise ValueError(f"{len(biases)} biases given; accepted are up to two")
    b, n, s, h, _ = Q.shape
    expected = ((b, n, 1, 1, K.shape[2]), (b, 1, h, s, K.shape[2]))
    given = []
    for number, (bias, shape) in enumerate(zip(biases, expected)):
        if bias is None:
            continue
        _check_tensors(**{f"biases[{number}]": bias})
        if bias.shape != shape:
            raise ValueError(f"biases[{number}] has shape {tuple(bias.shape)}; "
                             f"accepted is {shape}")
        given.append(_as_bias(bias, Q))
    return attention(Q, K, V, given, layout="bnshd")


class EvoformerAttention:
    """The Triton kernels' `EvoformerAttention`; only `apply` is of use."""

    @staticmethod
    def apply(Q, K, V, res_mask, pair_bias, has_pair_bias=True, dynamic=False,
              softmax_scale=None):
        """softmax(Q K^T / sqrt(d) + pair_bias, with masked keys filled) V

        Q, K, V: [b, n, s, h, d]; res_mask: [b, n, 1, 1, s], bool, True keeps, or,
        as in OpenFold3's version, of numbers that are added; pair_bias:
        [b, 1, h, s, s]. Either may be None. Returns [b, n, s, h, d]. Without
        has_pair_bias the pair bias is not read; softmax_scale replaces 1 / sqrt(d);
        dynamic chooses between kernels there and changes nothing here.

        The first public version reads [b, n, s, h, d] as [b, h, n, s, d] without
        moving anything (reshape instead of transpose): another function, which
        mixes heads and rows, and a known defect. This is the function that is
        meant, and that later versions compute. A row whose keys are all dropped
        by a bool mask gives the mean of V, as filling with one number does.
        """
        _check_tensors(Q=Q, K=K, V=V)
        _check_optional(res_mask=res_mask, pair_bias=pair_bias)
        biases = []
        if pair_bias is not None and has_pair_bias:
            biases.append(_as_bias(pair_bias, Q))
        if res_mask is not None and res_mask.is_floating_point():
            biases.insert(0, _as_bias(res_mask, Q))
            res_mask = None
        if res_mask is None:
            return attention(Q, K, V, biases, scale=softmax_scale, layout="bnshd")
        keep = res_mask.to(torch.bool)
        out = attention(Q, K, V, [keep, *biases], scale=softmax_scale,
                        layout="bnshd")
        dead = ~keep.any(-1, keepdim=True)
        return _mean_where_dropped(out, V, dead, 2)


def triangle_attention(q, k, v, bias, mask=None, scale=None, return_aux=False, *,
                       kv_lengths=None):
    """cuEquivariance's `cuequivariance_torch.triangle_attention`:

        softmax over keys of (scale * q k^T + bias where the mask is True, else
        -1e9), times v

    q: [b, n, h, sq, d], k and v: [b, n, h, sk, d], head-major; bias:
    [b, 1, h, sq, sk]; mask: [b, n, 1, 1, sk], True keeps; kv_lengths, instead of
    a mask: [b, n, 1, 1, 1] int32, how many keys of a row there are. Without b for
    b = 1. scale: default 1 / sqrt(d). Returns [b, n, h, sq, d] and, with
    return_aux, lse and the largest logit, [b, n, h, sq, 1] in float32.

    A row whose keys are all dropped by the mask gives the mean of v, one of length
    0 gives 0. To have 0 in any case, and no pass over v besides the attention,
    call evoformer.attention. The largest logit costs all logits in memory, as it
    does in no kernel: return_aux is for tests.
    """
    _check_tensors(q=q, k=k, v=v, bias=bias)
    _check_optional(mask=mask, kv_lengths=kv_lengths)
    _check_rank(q, "q", 4, 5)
    layout = "nhsd" if q.dim() == 4 else "bnhsd"
    bias = _as_bias(bias, q)
    keep = dead = None
    if kv_lengths is not None:
        if mask is not None:
            raise ValueError("mask and kv_lengths given; accepted is one of them")
        expected = (*q.shape[:-3], 1, 1, 1)
        if kv_lengths.shape != expected:
            raise ValueError(f"kv_lengths has shape {tuple(kv_lengths.shape)}; "
                             f"accepted is {expected}")
        keep = torch.arange(k.shape[-2], device=q.device) < kv_lengths
    elif mask is not None:
        keep = mask.to(torch.bool)
        dead = ~keep.any(-1, keepdim=True)
    found = attention(q, k, v, [bias] if keep is None else [keep, bias],
                      scale=scale, layout=layout, return_lse=return_aux)
    out, lse = found if return_aux else (found, None)
    if dead is not None:
        out = _mean_where_dropped(out, v, dead, -2)
    if not return_aux:
        return out
    with torch.no_grad():
        scale = q.shape[-1] ** -0.5 if scale is None else scale
        logits = (q.float() * scale) @ k.float().transpose(-1, -2) + bias.float()
        lse = lse.unsqueeze(-1)
        if keep is not None:
            logits = torch.where(keep, logits, -1e9)
        largest = logits.amax(-1, keepdim=True)
        if dead is not None:
            lse = torch.where(dead, torch.logsumexp(logits, -1, keepdim=True), lse)
        if kv_lengths is not None:
            lse, largest = (torch.where(kv_lengths > 0, t, 0.0)
                            for t in (lse, largest))
        return out, lse, largest


def trifast_triangle_attention(q, k, v, b, mask):
    """trifast's `trifast.triangle_attention`:

        softmax over keys of (q k^T / sqrt(d) + b, masked keys filled), times v

    q, k, v: [batch, h, n, n, d], the first n the rows; b: [batch, h, n, n];
    mask: [batch, n, n] by row and key, bool, True *drops* the key. Returns
    [batch, h, n, n, d]. A row whose keys are all dropped gives the mean of v.
    """
    _check_tensors(q=q, k=k, v=v, b=b, mask=mask)
    for name, tensor, rank in (("q", q, 5), ("b", b, 4), ("mask", mask, 3)):
        _check_rank(tensor, name, rank)
    keep = ~mask.to(torch.bool)
    out = attention(q, k, v, [keep[:, :, None, None, :], _as_bias(b, q)[:, None]],
                    layout="bhnsd")
    dead = ~keep.any(-1)[:, None, :, None, None]
    return _mean_where_dropped(out, v, dead, 3)


class TriAttentionFunction:
    """Protenix's `TriAttentionFunction`; only `apply` is of use."""

    @staticmethod
    def apply(Q, K, V, Bias1, Bias2, deterministic=False):
        """softmax(Q K^T + Bias1 + Bias2) V: the caller has scaled Q.

        Q, K, V: [b, n, s, h, d]; Bias1: [b, n, 1, 1, s], Bias2: [b, 1, h, s, s],
        either may be None. Results are deterministic in any case.
        """
        _check_tensors(Q=Q, K=K, V=V)
        _check_optional(Bias1=Bias1, Bias2=Bias2)
        biases = [_as_bias(bias, Q) for bias in (Bias1, Bias2)
                  if bias is not None]
        return attention(Q, K, V, biases, scale=1.0, layout="bnshd")
