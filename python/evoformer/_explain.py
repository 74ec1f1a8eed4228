"""What a call compiles to."""

import math
import re
from collections.abc import Sequence
from typing import Any, Optional

from . import _attention, _keys
from ._peaks import PEAKS
from ._problem import Attention
from ._runtime import Call, Device


def bound(device: str, single: bool, operations: float, size: float
          ) -> Optional[float]:
    """Milliseconds that a device, by its description, needs at least; None where
    its rates are not known."""
    for name, (half, full, memory) in PEAKS.items():
        if re.search(rf"\b{name}\b", device):
            rate = full if single else half
            return max(operations / rate, size / memory) * 1e-9
    return None


_WIDTHS = {"f32": 4, "f16": 2, "bf16": 2, "i1": 1}


def _count_bytes(attention: Attention) -> int:
    """Of operands and output, without what a range of keys leaves out."""
    size, memory = attention.sizes, attention.memory
    queries, num_keys = size["q"], size["k"]
    seen = (memory["k"] if attention.ragged else
            _keys.count_seen(attention.keys, queries, num_keys))
    query, key, value = (math.prod(sizes) for sizes, _ in attention._views)
    output = math.prod(attention.shape)
    count = _WIDTHS[attention.type] * (
        query + output + (key + value) * seen // max(memory["k"], 1))
    if attention.gate_type:
        count += _WIDTHS[attention.gate_type] * output
    for has, kind, sizes, _ in attention._biases:
        elements = math.prod(sizes)
        if "k" in has and not attention.ragged:
            pairs = _keys.count_pairs(attention.keys, queries, num_keys)
            elements = (elements * pairs // max(queries * num_keys, 1) if "q" in has
                        else elements * seen // max(num_keys, 1))
        count += _WIDTHS[kind] * elements
    return count


class Explanation:
    """Text for people by `print`; `kernels` (those that are launched, in order),
    `operations`, `bytes`, `workspace_bytes`, `milliseconds` for programs.
    `milliseconds` is the least that matrix products and memory allow, None where
    the device's rates are not known. `operations` and `bytes` are without what a range
    of keys leaves out."""

    def __init__(self, attention: Attention, device: Device, call: Call,
                 addresses: Sequence[int]) -> None:
        call.prepare(addresses)
        self.device, self.target = device.description, device.target
        self.module = attention.describe()
        self.workspace_bytes = call.workspace_bytes
        size = attention.sizes
        self.operations = 2 * attention.logits * (size["d"] + size["e"])
        self.bytes = _count_bytes(attention)
        for lengths, _ in [*(view for _, view in attention._lengths.values()),
                           *attention._starts]:
            self.bytes += 4 * math.prod(lengths)
        self.kernels = [{"name": k["name"], "work_items": k["workItems"],
                         "threads": k["threads"], "lds_bytes": k["ldsBytes"],
                         **(k.get("report") or {})}
                        for k in call.launches(addresses)]
        self.milliseconds = bound(device.description, attention.type == "f32",
                                  self.operations, self.bytes)

    def __str__(self) -> str:
        lines = [f"{self.module}",
                 f"on {self.device}, compiled for {self.target}",
                 f"{self.operations / 1e9:.3f} GFLOP in matrix products, "
                 f"{self.bytes / 1e6:.3f} MB of operands and output, "
                 f"{self.workspace_bytes / 1e6:.3f} MB of workspace",
                 "at least " + ("? (rates of this device are not known)"
                                if self.milliseconds is None else
                                f"{self.milliseconds:.4f} ms")]
        for kernel in self.kernels:
            shown = ", ".join(f"{key} {value}" for key, value in kernel.items()
                              if key != "name" and value not in (None, [], {})
                              and not isinstance(value, (dict, list)))
            lines.append(f"  {kernel['name']}: {shown}")
        return "\n".join(lines)


def explain(query: Any, key: Any, value: Any, biases: Sequence[Any] = (),
            gate: Optional[Any] = None, scale: Optional[float] = None,
            layout: Optional[str] = None, *, causal: bool = False,
            window: Optional[_attention.Window] = None,
            keys: Optional[_attention.Bounds] = None,
            key_lengths: Optional[Any] = None,
            query_lengths: Optional[Any] = None, cu_seqlens: Optional[Any] = None,
            max_seqlen: Optional[Any] = None) -> Explanation:
    """What `evoformer.attention` of the same arguments compiles to: kernels, their
    resources, work and a bound of time, with lengths those of full rows. Computes
    nothing. Print it."""
    _attention._check_biases(biases)
    found: Explanation = _attention._backend(query).explain(
        query, key, value, biases, gate, scale, layout,
        _keys.resolve(causal, window, keys),
        _attention._lengths(key_lengths, query_lengths, cu_seqlens, max_seqlen))
    return found
