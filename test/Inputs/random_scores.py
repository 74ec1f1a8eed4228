"""Random regions of scores: straight lines over all ops that a region may have, with
captures, as MLIR and as a program that an evaluation of one's own walks over.

What would leave the numbers is kept in: logarithms, roots and quotients take what is
more than 0, exponentials what is small.
"""
import random

NUM_CAPTURES = 2
FLOATS = ["%x", "%c0", "%c1"]
INTEGERS = ["%b", "%n", "%h", "%i", "%j", "%sq", "%sk"]


class Region:
    """`steps`: (result, op, operands, attribute), each of one type by its result:
    %f f32, %k i32, %t i1."""

    def __init__(self, seed, length=24, smooth=False):
        """`smooth`: what rounds a little otherwise is a little different."""
        self.smooth = smooth
        self.random = random.Random(seed)
        self.steps, self.floats, self.integers, self.tests = [], FLOATS[:], INTEGERS[:], []
        while len(self.steps) < length:
            self.grow()
        # What all gradients pass through.
        result = self.emit("arith.mulf", self.floats[-1], "%x")
        for name in ("%c0", "%c1", self.random.choice(self.floats)):
            result = self.emit("arith.addf", result,
                               self.emit("arith.mulf", name, self.pick()))
        self.result = self.bounded(result)

    def emit(self, op, *operands, attribute=""):
        kind = ("%t" if op.startswith("arith.cmp") or op == "constant.i1" else
                "%k" if op.endswith("i") or op in ("constant.i32",) else "%f")
        if op == "select.i32":
            kind = "%k"
        name = f"{kind}{len(self.steps)}"
        self.steps.append((name, op, operands, attribute))
        {"%t": self.tests, "%k": self.integers, "%f": self.floats}[kind].append(name)
        return name

    def pick(self):
        return self.random.choice(self.floats[-6:] + FLOATS)

    def number(self, value):
        return self.emit("constant.f32", attribute=value)

    def positive(self, value):
        return self.emit("arith.addf", self.emit("math.absf", value), self.number(0.5))

    def bounded(self, value):
        """From -4 to 4."""
        return self.emit("arith.mulf", self.emit("math.tanh", self.emit(
            "arith.mulf", value, self.number(0.25))), self.number(4.0))

    def integer(self):
        return self.random.choice(self.integers)

    def grow(self):
        some, a, b = self.random.choice, self.pick(), self.pick()
        kind = some(["sum", "sum", "product", "quotient", "function", "positive", "choice",
                     "test", "integer", "divide", "convert", "constant", "fma", "round",
                     "logic"])
        if kind == "sum":
            self.emit(some(["arith.addf", "arith.subf"]), a, b)
        elif kind == "product":
            self.bounded(self.emit("arith.mulf", a, b))
        elif kind == "quotient":
            self.emit("arith.divf", a, self.positive(b))
        elif kind == "function":
            self.emit(some(["math.tanh", "arith.negf", "math.absf"]), a)
            self.emit(some(["math.exp", "math.exp2"]), self.bounded(b))
        elif kind == "positive":
            self.emit(some(["math.log", "math.log2", "math.sqrt", "math.rsqrt"]),
                      self.positive(a))
        elif kind == "choice":
            self.emit(some(["arith.maximumf", "arith.minimumf", "arith.maxnumf",
                            "arith.minnumf"]), a, b)
            if self.tests:
                self.emit("select.f32", some(self.tests), a, b)
        elif kind == "test":
            if not self.smooth and some([True, False]):
                self.emit("arith.cmpf", a, b, attribute=some(["olt", "oge", "ogt", "ole"]))
            else:
                self.emit("arith.cmpi", self.integer(), self.integer(),
                          attribute=some(["slt", "sge", "eq", "ne", "sgt", "sle"]))
        elif kind == "integer":
            self.emit(some(["arith.addi", "arith.subi", "arith.minsi", "arith.maxsi"]),
                      self.integer(), self.integer())
        elif kind == "divide":
            self.emit(some(["arith.divsi", "arith.remsi"]), self.integer(),
                      self.emit("constant.i32", attribute=some([2, 3, 5, 7])))
        elif kind == "convert":
            self.bounded(self.emit("arith.sitofp", self.integer()))
        elif kind == "constant":
            self.number(some([-1.5, -0.25, 0.125, 0.75, 2.0]))
        elif kind == "fma":
            self.bounded(self.emit("math.fma", a, b, self.pick()))
        elif kind == "round":
            if self.smooth:
                return
            self.emit("arith.fptosi", self.bounded(a))
        elif self.tests:
            self.emit("select.i32", some(self.tests), self.integer(), self.integer())
            masked = self.emit(some(["arith.andi", "arith.ori", "arith.xori"]),
                               self.integer(), self.integer())
            self.emit("arith.muli", masked, self.emit("constant.i32", attribute=2))

    def lines(self):
        """As MLIR."""
        types = {"f": "f32", "k": "i32", "t": "i1"}
        for name, op, operands, attribute in self.steps:
            kind = types[name[1]]
            if op.startswith("constant"):
                text = f"arith.constant {attribute} : {kind}"
            elif op.startswith("select"):
                text = f"arith.select {', '.join(operands)} : {kind}"
            elif op in ("arith.sitofp", "arith.fptosi"):
                given = "i32" if op == "arith.sitofp" else "f32"
                text = f"{op} {operands[0]} : {given} to {kind}"
            else:
                of = "f32" if op.endswith("f") or op.startswith("math") else "i32"
                text = (f"{op} {attribute + ', ' if attribute else ''}"
                        f"{', '.join(operands)} : {of}")
            yield f"{name} = {text}"
        yield f"evoformer.yield {self.result} : f32"
