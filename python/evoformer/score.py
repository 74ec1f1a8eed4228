"""Functions of the numbers that a score is given, see `evoformer.attention`."""

from ._score import (abs, exp, exp2, fast_tanh, log, log2, maximum, minimum, rsqrt,
                     sqrt, tanh, to_int, where)

__all__ = ["abs", "exp", "exp2", "fast_tanh", "log", "log2", "maximum", "minimum",
           "rsqrt", "sqrt", "tanh", "to_int", "where"]
