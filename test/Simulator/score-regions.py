# Regions that no named score has, where rewrites of regions could go wrong: the
# outputs of simulated kernels are those of the processor's, whatever the schedule.
#
# RUN: rm -rf %t && mkdir %t && %python %s %t | FileCheck %s
#
# CHECK: all right
# CHECK-NOT: {{.}}
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "Runtime" / "Inputs"))
sys.path.append(str(pathlib.Path(__file__).parents[1] / "Inputs"))
import bounded
import npy

FOLDER = pathlib.Path(sys.argv[1])
MODULE = """
func.func @f(%query: memref<1x1x40x1x16xbf16>, %key: memref<1x1x150x1x16xbf16>,
             %value: memref<1x1x150x1x16xbf16>, %bias: memref<1x1x1x40x150xf32>,
             %out: memref<1x1x40x1x16xf32>) {
  evoformer.attention
      query(%query : memref<1x1x40x1x16xbf16>) key(%key : memref<1x1x150x1x16xbf16>)
      value(%value : memref<1x1x150x1x16xbf16>) bias(%bias : memref<1x1x1x40x150xf32>)
      outs(%out : memref<1x1x40x1x16xf32>)
      score(%x: f32, %b: i32, %n: i32, %h: i32, %i: i32, %j: i32, %sq: i32, %sk: i32) {
BODY
        evoformer.yield %y : f32
      }
  return
}
"""

# What the bias holds everywhere, and the region. The first: logits at the end of f32's
# range, of which no sum may be lost, and a score that knows where keys are.
REGIONS = {
    "lowest": (-3.4028234663852886e38, """
        %d = arith.subi %i, %j : i32
        %f = arith.sitofp %d : i32 to f32
        %s = arith.addf %x, %f : f32
        %least = arith.constant -100.0 : f32
        %y = arith.maximumf %s, %least : f32"""),
    # Logits that grow by 300 along a row, whose reference is raised.
    "growing": (0.0, """
        %f = arith.sitofp %j : i32 to f32
        %two = arith.constant 2.0 : f32
        %g = arith.mulf %f, %two : f32
        %y = arith.addf %x, %g : f32"""),
    # Sums that leave i32 do so in one number.
    "wrapping": (0.0, """
        %c = arith.constant 1664525 : i32
        %e = arith.constant 1013904223 : i32
        %p = arith.muli %i, %c : i32
        %q = arith.muli %j, %e : i32
        %s = arith.addi %p, %q : i32
        %f = arith.sitofp %s : i32 to f32
        %k = arith.constant 2.0e-9 : f32
        %t = arith.mulf %f, %k : f32
        %y = arith.addf %x, %t : f32"""),
    "multiples": (0.0, """
        %c = arith.constant 3 : i32
        %p = arith.muli %i, %c : i32
        %q = arith.muli %c, %j : i32
        %s = arith.subi %q, %p : i32
        %o = arith.addi %s, %sq : i32
        %f = arith.sitofp %o : i32 to f32
        %k = arith.constant 0.03125 : f32
        %t = arith.mulf %f, %k : f32
        %y = arith.subf %x, %t : f32"""),
    # The same product twice: what is left is no rounding.
    "root": (0.0, """
        %p = arith.mulf %x, %x : f32
        %q = arith.mulf %x, %x : f32
        %d = arith.subf %p, %q : f32
        %r = math.sqrt %d : f32
        %y = arith.addf %x, %r : f32"""),
    # An inverse that is no ordinary number.
    "divisor": (0.0, """
        %c = arith.constant 3.0e38 : f32
        %s = arith.divf %x, %c : f32
        %u = arith.mulf %s, %c : f32
        %half = arith.constant 0.5 : f32
        %y = arith.mulf %u, %half : f32"""),
}


def run(module, target, *options):
    out = FOLDER / "out.npy"
    device = [] if target == "cpu" else ["--device=sim"]
    done = bounded.run(
        ["evoformer-run", module, f"--target={target}", *device, "--random=3",
         f"--input=bias={FOLDER / 'bias.npy'}", f"--output=out={out}", *options])
    assert done.returncode == 0, (module, target, options, done.stderr)
    return npy.read(out)[2]


for name, (bias, body) in REGIONS.items():
    module = FOLDER / f"{name}.mlir"
    module.write_text(MODULE.replace("BODY", body), encoding="utf-8")
    npy.write(FOLDER / "bias.npy", "f4", (1, 1, 1, 40, 150), [bias] * (40 * 150))
    expected = run(module, "cpu")
    assert all(x == x for x in expected) and any(expected), name
    for target, *options in (("cpu", "--schedule=v1:k=16"), ("sm_80",), ("sm_90",),
                             ("gfx942",), ("gfx1100",), ("sm_80", "--schedule=v1:k=16")):
        for i, (found, wanted) in enumerate(zip(run(module, target, *options), expected)):
            assert abs(found - wanted) < 0.02, (name, target, options, i, found, wanted)

# Looking for sums of places takes each value once: 2^40 ways lead to the arguments.
doubled = ["%d0 = arith.subi %i, %j : i32"] + [
    f"%d{n + 1} = arith.addi %d{n}, %d{n} : i32" for n in range(40)]
doubled += ["%f = arith.sitofp %d40 : i32 to f32", "%y = arith.addf %x, %f : f32"]
module = FOLDER / "doubled.mlir"
module.write_text(MODULE.replace("BODY", "\n".join(doubled)), encoding="utf-8")
bounded.run(["evoformer-opt", module, "--evoformer-lower=target=sm_80", "-o", "/dev/null"],
            check=True)
print("all right")
