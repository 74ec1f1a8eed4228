"""What makes logits of scores: a function of Python, traced into the region of the op.

The function is called once with numbers that record what is done with them. Each
operation becomes an op of MLIR's arith or math dialect."""

import builtins
import functools
import inspect
import linecache
import math
import numbers
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, Optional

# As evoformer-c/Compile.h has them, behind which captures follow.
_ARGUMENTS = (("x", "f32"), ("b", "i32"), ("n", "i32"), ("h", "i32"), ("i", "i32"),
              ("j", "i32"), ("sq", "i32"), ("sk", "i32"))
_MOST = 64
MOST_ENTRIES = 64
_KINDS = {"f32": "a float", "i32": "an integer", "i1": "a truth value"}


def _is_compiling() -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and torch.compiler.is_compiling()


def _known(value: Any) -> Any:
    """A number of Python, of which torch.compile may have made a symbol: what is
    compiled is for this value."""
    if not _is_compiling():
        return value
    return sys.modules["torch"].fx.experimental.symbolic_shapes.guard_scalar(value)


class Trace:
    """The ops of one function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.lines: list[str] = []
        # What captures hold: the type, and how many entries along the last dimension.
        self.captures: Sequence[tuple[str, int]] = ()
        self.known: dict[str, str] = {}
        # What reads other values than numbers, where something does.
        self.read_other: Optional[Callable[[Any], Optional[Number]]] = None
        self.enter(function)

    def enter(self, function: Callable[..., Any]) -> None:
        """What is called next: errors show its lines."""
        while isinstance(function, functools.partial):
            function = function.func
        if not hasattr(function, "__code__"):
            function = getattr(type(function), "__call__", function)
        self.code: Any = getattr(function, "__code__", None)

    def arguments(self, captures: Sequence[tuple[str, int]] = ()) -> "list[Number]":
        """What the region is given."""
        self.captures = captures
        return [*(Number(self, f"%{name}", kind) for name, kind in _ARGUMENTS),
                *(Number(self, f"%c{number}", kind)
                  for number, (kind, _) in enumerate(captures))]

    def look_up(self, table: "Number", index: Any) -> "Number":
        """An entry of a capture that is a table."""
        name = table._name
        if (not name.startswith("%c") or table._kind != "f32" or
                int(name[2:]) >= len(self.captures)):
            self.refuse("an index of a number; accepted are those of captured floats, "
                        "tables whose entries are in the place of keys")
        entries = self.captures[int(name[2:])][1]
        if not 1 <= entries <= MOST_ENTRIES:
            self.refuse(f"captures[{name[2:]}] has {entries} entries along its last "
                        f"dimension; accepted are tables of 1 to {MOST_ENTRIES}")
        at = self.read(index)
        if at._kind != "i32":
            self.refuse(f"captures[{name[2:]}] at {_KINDS[at._kind]}; accepted is an "
                        "integer, which is held within the table")
        return self.emit(f"evoformer.lookup {name}[{at._name}] : vector<{entries}xf32>",
                         "f32")

    def ops(self) -> dict[str, str]:
        """Each by the name of its result."""
        return {name: op for op, name in self.known.items()}

    def finish(self, result: Any) -> str:
        """The region that gives this, as the word `score` of the C interface has it."""
        if not isinstance(result, (Number, bool, int, float)):
            place = (f" ({self.code.co_filename}:{self.code.co_firstlineno})"
                     if self.code else "")
            raise TypeError(f"score gives a {type(result).__name__}{place}; accepted is "
                            "a number, what is made of its arguments")
        logit = self.convert(result, "f32")
        lines = [*self.lines, f"evoformer.yield {logit._name} : f32"]
        tables = find_tables(";".join(lines))
        for number in tables:
            if any(re.search(rf"%c{number}(?![0-9[])", line) for line in lines):
                self.refuse(f"captures[{number}] is read at an index and without one; "
                            "accepted is one or the other")
        return ";".join(lines).replace(" ", "~")

    def refuse(self, message: str) -> NoReturn:
        """An error that shows the line of the function."""
        if _is_compiling():
            raise TypeError(message)  # Without frames; torch shows the line.
        frame: Any = sys._getframe(1)
        while frame is not None and frame.f_code is not self.code:
            frame = frame.f_back
        if frame is not None:
            file, line = frame.f_code.co_filename, frame.f_lineno
            text = linecache.getline(file, line).strip()
            message = f"score, line {line} of {file} ({text}): {message}"
        raise TypeError(message)

    def emit(self, op: str, kind: str) -> "Number":
        name = self.known.get(op)
        if name is None:
            if len(self.lines) == _MOST:
                self.refuse(f"more than {_MOST} operations; accepted are {_MOST}, "
                            "constants among them")
            name = self.known[op] = f"%v{len(self.lines)}"
            self.lines.append(f"{name} = {op}")
        return Number(self, name, kind)

    def constant(self, value: Any, kind: str) -> "Number":
        if kind == "i1":
            return self.emit(f"arith.constant {'true' if value else 'false'}", kind)
        if kind == "i32":
            if not -2 ** 31 <= value < 2 ** 31:
                self.refuse(f"the integer {value}; accepted are those of 32 bits")
            return self.emit(f"arith.constant {value} : i32", kind)
        if math.isfinite(value):
            if builtins.abs(value) > 3.4028234663852886e38:
                self.refuse(f"the number {value}; accepted are those of float32")
            return self.emit(f"arith.constant {value:.9e} : f32", kind)
        bits = ("0x7FC00000" if math.isnan(value) else
                "0x7F800000" if value > 0 else "0xFF800000")
        return self.emit(f"arith.constant {bits} : f32", kind)

    def read(self, value: Any) -> "Number":
        """A number of the trace."""
        if isinstance(value, Number):
            if value._trace is not self:
                self.refuse("a number of another score; accepted are the arguments "
                            "and what is made of them")
            return value
        if isinstance(value, bool):
            return self.constant(value, "i1")
        if isinstance(value, numbers.Integral):
            return self.constant(int(_known(value)), "i32")
        if isinstance(value, numbers.Real):
            return self.constant(float(_known(value)), "f32")
        other = self.read_other(value) if self.read_other else None
        if other is not None:
            return other
        self.refuse(f"a {type(value).__name__}; accepted are the arguments, what is "
                    "made of them, and numbers of Python; tensors are given as captures")

    def convert(self, value: Any, kind: str) -> "Number":
        if (kind == "f32" and isinstance(value, numbers.Integral) and
                not isinstance(value, bool)):
            try:
                return self.constant(float(_known(value)), "f32")
            except OverflowError:
                self.refuse("a number beyond those of float32")
        number = self.read(value)
        if number._kind == kind:
            return number
        if number._kind == "i1":
            one, zero = ((1.0, 0.0) if kind == "f32" else (1, 0))
            return where(number, one, zero)
        if kind == "f32":
            return self.emit(f"arith.sitofp {number._name} : i32 to f32", "f32")
        self.refuse(f"{_KINDS[number._kind]} in the place of {_KINDS[kind]}")

    def both(self, a: Any, b: Any) -> "tuple[Number, Number]":
        """Floats where one is a float, else integers."""
        if self.read_other:
            a, b = (x if isinstance(x, numbers.Real) else self.read(x) for x in (a, b))
        kinds = {self.read(x)._kind for x in (a, b) if isinstance(x, Number)}
        isFloat = "f32" in kinds or any(
            isinstance(x, numbers.Real) and not isinstance(x, numbers.Integral)
            for x in (a, b))
        kind = "f32" if isFloat else "i32"
        return self.convert(a, kind), self.convert(b, kind)


_COMPARISONS = {"<": ("olt", "slt"), "<=": ("ole", "sle"), ">": ("ogt", "sgt"),
                ">=": ("oge", "sge"), "==": ("oeq", "eq"), "!=": ("une", "ne")}


class Number:
    """A float32, an int32 or a truth value of a score that is being traced."""

    def __init__(self, trace: Trace, name: str, kind: str) -> None:
        self._trace, self._name, self._kind = trace, name, kind

    def __repr__(self) -> str:
        return f"<{self._kind} that a score is made of: no value yet>"

    def _arithmetic(self, a: Any, b: Any, op: str) -> "Number":
        x, y = self._trace.both(a, b)
        suffix = "f" if x._kind == "f32" else "i"
        return self._trace.emit(f"arith.{op}{suffix} {x._name}, {y._name} : {x._kind}",
                                x._kind)

    def __add__(self, other: Any) -> "Number":
        return self._arithmetic(self, other, "add")

    def __radd__(self, other: Any) -> "Number":
        return self._arithmetic(other, self, "add")

    def __sub__(self, other: Any) -> "Number":
        return self._arithmetic(self, other, "sub")

    def __rsub__(self, other: Any) -> "Number":
        return self._arithmetic(other, self, "sub")

    def __mul__(self, other: Any) -> "Number":
        return self._arithmetic(self, other, "mul")

    def __rmul__(self, other: Any) -> "Number":
        return self._arithmetic(other, self, "mul")

    def _divide(self, a: Any, b: Any) -> "Number":
        x, y = self._trace.convert(a, "f32"), self._trace.convert(b, "f32")
        return self._trace.emit(f"arith.divf {x._name}, {y._name} : f32", "f32")

    def __truediv__(self, other: Any) -> "Number":
        return self._divide(self, other)

    def __rtruediv__(self, other: Any) -> "Number":
        return self._divide(other, self)

    def __mod__(self, other: Any) -> "Number":
        """Of integers, as Python has it: not negative."""
        if (self._kind != "i32" or isinstance(other, bool) or
                not isinstance(other, int) or other < 1):
            self._trace.refuse("// and % of this; accepted are integers by a constant "
                               "integer that is more than 0")
        divisor = self._trace.constant(other, "i32")
        rest = self._trace.emit(f"arith.remsi {self._name}, {divisor._name} : i32", "i32")
        return where(rest < 0, rest + divisor, rest)

    def __floordiv__(self, other: Any) -> "Number":
        whole = self - self % other
        divisor = self._trace.constant(other, "i32")
        return self._trace.emit(f"arith.divsi {whole._name}, {divisor._name} : i32",
                                "i32")

    def __pow__(self, other: Any) -> "Number":
        if isinstance(other, bool) or not isinstance(other, int) or not 1 <= other <= 8:
            self._trace.refuse("this power; accepted are constant integers from 1 to 8")
        result = self
        for _ in range(other - 1):
            result = result * self
        return result

    def __neg__(self) -> "Number":
        if self._kind == "f32":
            return self._trace.emit(f"arith.negf {self._name} : f32", "f32")
        return 0 - self

    def __pos__(self) -> "Number":
        return self

    def __abs__(self) -> "Number":
        if self._kind == "f32":
            return self._trace.emit(f"math.absf {self._name} : f32", "f32")
        return maximum(self, -self)

    def _compare(self, other: Any, sign: str) -> "Number":
        x, y = self._trace.both(self, other)
        ofFloats, ofIntegers = _COMPARISONS[sign]
        name = f"cmpf {ofFloats}" if x._kind == "f32" else f"cmpi {ofIntegers}"
        return self._trace.emit(f"arith.{name}, {x._name}, {y._name} : {x._kind}", "i1")

    def __lt__(self, other: Any) -> "Number":
        return self._compare(other, "<")

    def __le__(self, other: Any) -> "Number":
        return self._compare(other, "<=")

    def __gt__(self, other: Any) -> "Number":
        return self._compare(other, ">")

    def __ge__(self, other: Any) -> "Number":
        return self._compare(other, ">=")

    def __eq__(self, other: Any) -> "Number":  # type: ignore[override]
        return self._compare(other, "==")

    def __ne__(self, other: Any) -> "Number":  # type: ignore[override]
        return self._compare(other, "!=")

    __hash__ = None  # type: ignore[assignment]

    def _logic(self, other: Any, op: str) -> "Number":
        kind = "i1" if self._kind == "i1" else "i32"
        x, y = self._trace.convert(self, kind), self._trace.convert(other, kind)
        return self._trace.emit(f"arith.{op} {x._name}, {y._name} : {kind}", kind)

    def __and__(self, other: Any) -> "Number":
        return self._logic(other, "andi")

    def __or__(self, other: Any) -> "Number":
        return self._logic(other, "ori")

    def __xor__(self, other: Any) -> "Number":
        return self._logic(other, "xori")

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def __invert__(self) -> "Number":
        return self._logic(True if self._kind == "i1" else -1, "xori")

    def __bool__(self) -> bool:
        self._trace.refuse("a branch on a number that is not known; accepted is "
                           "evoformer.score.where(condition, a, b)")

    def new_ones(self, size: Any, **_: Any) -> "Number":
        """True, as torch's and_masks starts from."""
        return self._trace.constant(True, "i1")

    def new_zeros(self, size: Any, **_: Any) -> "Number":
        return self._trace.constant(False, "i1")

    def _unknown(self, *_: Any) -> NoReturn:
        self._trace.refuse("a number that is not known; accepted are operations on it")

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):  # What protocols look for.
            raise AttributeError(name)
        self._trace.refuse(f".{name} of a number; accepted are {', '.join(_METHODS)}")

    def __getitem__(self, index: Any) -> "Number":
        """Of a table that the score captures."""
        return self._trace.look_up(self, index)

    __index__ = __int__ = __float__ = __len__ = __iter__ = _unknown
    __setitem__ = __call__ = __round__ = _unknown
    __rpow__ = __rmod__ = __rfloordiv__ = __divmod__ = __matmul__ = _unknown
    __lshift__ = __rshift__ = __rlshift__ = __rrshift__ = _unknown
    def __array_ufunc__(self, function: Any, method: str, *given: Any, **named: Any) -> Any:
        """numpy.tanh(score), and NumPy's numbers beside it. Arrays are refused."""
        name = function.__name__
        ours = _NUMPY.get(name) if method == "__call__" and not named else None
        if ours is None:
            self._trace.refuse(f"numpy.{name}; accepted are {', '.join(sorted(_NUMPY))}")
        return ours(*(value.item() if isinstance(value, numbers.Real) and
                      hasattr(value, "item") else self._trace.read(value)
                      for value in given))

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, given: Sequence[Any] = (),
                           named: Optional[dict[str, Any]] = None) -> Any:
        """torch.tanh(score), torch.where(i >= j, score, 0.0)."""
        name = getattr(function, "__name__", str(function))
        ours = _TORCH.get(name)
        trace = _trace_of(*given, *(named or {}).values())
        if name == "__getitem__":
            trace.refuse("a tensor at an index that is not known; accepted are captures, "
                         "which hold a number for each pair or broadcast, and what is made "
                         "of indices")
        if ours is None:
            trace.refuse(f"torch.{name}; accepted are {', '.join(sorted(set(_TORCH)))}")
        if named or len(given) != ours.__code__.co_argcount:
            trace.refuse(f"torch.{name} with these arguments; accepted are its "
                         f"{ours.__code__.co_argcount} operands")
        # Tensors would come back here.
        return ours(*(value if isinstance(value, (Number, numbers.Real)) else
                      trace.read(value) for value in given))


def _trace_of(*values: Any) -> Trace:
    for value in values:
        if isinstance(value, Number):
            return value._trace
    raise TypeError(
        f"{', '.join(type(value).__name__ for value in values)} outside of a score; "
        "accepted are numbers that a score is given")


def _unary(op: str) -> Callable[[Number], Number]:
    def function(x: Number) -> Number:
        trace = _trace_of(x)
        return trace.emit(f"math.{op} {trace.convert(x, 'f32')._name} : f32", "f32")
    function.__name__ = op
    function.__doc__ = f"math.{op} of a number of a score, a float32."
    return function


exp, exp2, log, log2 = (_unary(op) for op in ("exp", "exp2", "log", "log2"))
sqrt, rsqrt, tanh = (_unary(op) for op in ("sqrt", "rsqrt", "tanh"))


def fast_tanh(x: Number) -> Number:
    """tanh within some units in the last place of 1, also where x is small."""
    trace = _trace_of(x)
    return trace.emit(f"math.tanh {trace.convert(x, 'f32')._name} fastmath<afn> : f32",
                      "f32")


def to_int(x: Any) -> Number:
    """The integer of a number of a score, towards 0; of one that int32 has."""
    trace = _trace_of(x)
    number = trace.read(x)
    if number._kind == "f32":
        return trace.emit(f"arith.fptosi {number._name} : f32 to i32", "i32")
    return trace.convert(number, "i32")


def _choice(a: Any, b: Any, ofFloats: str, ofIntegers: str) -> Number:
    trace = _trace_of(a, b)
    x, y = trace.both(a, b)
    op = ofFloats if x._kind == "f32" else ofIntegers
    return trace.emit(f"arith.{op} {x._name}, {y._name} : {x._kind}", x._kind)


def maximum(a: Any, b: Any) -> Number:
    """The larger of two numbers of a score; NaN if one is."""
    return _choice(a, b, "maximumf", "maxsi")


def minimum(a: Any, b: Any) -> Number:
    """The smaller of two numbers of a score; NaN if one is."""
    return _choice(a, b, "minimumf", "minsi")


def where(condition: Any, a: Any, b: Any) -> Number:
    """`a` where the condition, a truth value of a score, holds, else `b`."""
    trace = _trace_of(condition, a, b)
    test = trace.convert(condition, "i1")
    if all(isinstance(x, bool) or getattr(x, "_kind", "") == "i1" for x in (a, b)):
        x, y = trace.convert(a, "i1"), trace.convert(b, "i1")
    else:
        x, y = trace.both(a, b)
    return trace.emit(
        f"arith.select {test._name}, {x._name}, {y._name} : {x._kind}", x._kind)


def abs(x: Any) -> Number:  # noqa: A001
    """The magnitude of a number of a score, as Python's own abs."""
    size: Number = builtins.abs(x)
    return size


_TORCH: dict[str, Callable[..., Any]] = {
    "exp": exp, "exp2": exp2, "log": log, "log2": log2, "sqrt": sqrt, "rsqrt": rsqrt,
    "tanh": tanh, "abs": abs, "where": where, "maximum": maximum, "minimum": minimum,
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b, "sigmoid": lambda x: 1.0 / (1.0 + exp(-x)),
    "lt": lambda a, b: a < b, "le": lambda a, b: a <= b, "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b, "eq": lambda a, b: a == b, "ne": lambda a, b: a != b,
    "logical_and": lambda a, b: a & b, "logical_or": lambda a, b: a | b,
    "logical_not": lambda x: ~x}

# As NumPy calls them.
_NUMPY: dict[str, Callable[..., Any]] = {
    **{name: _TORCH[name] for name in ("exp", "exp2", "log", "log2", "sqrt", "tanh",
                                       "maximum", "minimum", "add", "logical_and",
                                       "logical_or", "logical_not")},
    "absolute": abs, "subtract": lambda a, b: a - b, "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b, "negative": lambda x: -x,
    "less": lambda a, b: a < b, "less_equal": lambda a, b: a <= b,
    "greater": lambda a, b: a > b, "greater_equal": lambda a, b: a >= b,
    "equal": lambda a, b: a == b, "not_equal": lambda a, b: a != b}

# Those that numbers have as tensors do: score.tanh(), score.where(i >= j, 0.0).
_METHODS = sorted([*_TORCH, "int", "long"])
for _name, _function in _TORCH.items():
    if _name != "where":
        setattr(Number, _name, _function)
Number.int = Number.long = lambda self: to_int(self)  # type: ignore[attr-defined]
Number.where = lambda self, condition, other: where(  # type: ignore[attr-defined]
    condition, self, other)


def _check_signature(function: Callable[..., Any], captures: int) -> None:
    """That it takes what a score is given."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(*[None] * (len(_ARGUMENTS) + captures))
    except TypeError as error:
        more = (" alone, without captures" if not captures else
                f" and {captures} capture{'s' if captures > 1 else ''}")
        raise TypeError(f"score takes {signature}, which does not fit: {error}; accepted "
                        f"is a function of (score, b, n, h, i, j, sq, sk){more}") from None


def find_tables(score: str) -> dict[int, int]:
    """How many entries those captures have that a score looks up, by their numbers."""
    found = re.findall(r"lookup[ ~]%c([0-9]+)\[[^;]*vector<([0-9]+)x", score)
    return {int(number): int(entries) for number, entries in found}


def describe_captures(captures: Sequence[Any]) -> list[tuple[str, int]]:
    """Of arrays of any framework: the type that the score sees, and the last size."""
    def describe(capture: Any) -> tuple[str, int]:
        shape = getattr(capture, "shape", ())
        is_integer = str(getattr(capture, "dtype", "")) in ("int32", "torch.int32")
        return "i32" if is_integer else "f32", int(shape[-1]) if len(shape) else 1
    return [describe(capture) for capture in captures]


def trace(function: Callable[..., Any], captures: Sequence[tuple[str, int]]) -> str:
    """The ops of the region, as the word `score` of the C interface has them."""
    if not callable(function):
        raise TypeError(f"score is a {type(function).__name__}; accepted is a function "
                        "of (score, b, n, h, i, j, sq, sk, *captures)")
    record = Trace(function)
    try:
        result = function(*record.arguments(captures))
    except TypeError:
        _check_signature(function, len(captures))
        raise
    return record.finish(result)
