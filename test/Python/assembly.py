# RUN: llc -mtriple=amdgcn-amd-amdhsa -mcpu=gfx942 %S/Inputs/loop.ll -o %t.gfx942.s
# RUN: llc -mcpu=sm_80 %S/Inputs/loop-ptx.ll -o %t.ptx
# RUN: %python %s %t.gfx942.s %t.ptx
"""The reader of assembly against programs whose contents are known."""

import sys

import isa


def only(path):
    with open(path, encoding="utf-8") as file:
        found = isa.kernels(file.read())
    assert [kernel.name for kernel in found] == ["steady"], found
    return found[0]


amd = only(sys.argv[1])
assert len(amd.loops) == 2, amd.loops
loop = amd.steady_loop()
counts = loop.counts()
assert loop.innermost and counts["matrix"] == counts["exponential"] == 1, counts
assert counts["global load"] == 2 and counts["global store"] == 0, counts
assert sorted(i.access_bytes() for i in loop.body
              if i.kind == "global load") == [2, 16], loop.body
assert [i.access_bytes() for i in loop.narrow_accesses()] == [2]
assert amd.resources["threads"] == 128 and amd.resources["subgroup"] == 64
assert amd.resources["spills"] == 0 and amd.resources["vgprs"] > 4
assert amd.resources["occupancy"] == 8 and amd.resources["code bytes"] > 100
# The inner loop's only wait for loads drains them all: one stage.
assert any(i.drains_all_loads() for i in loop.body)

ptx = only(sys.argv[2])
loop = ptx.steady_loop()
counts = loop.counts()
assert counts["matrix"] == counts["exponential"] == counts["global load"] == 1
assert [i.access_bytes() for i in loop.body if i.access_bytes()] == [16]
assert not loop.narrow_accesses()
assert len(isa.report(ptx)) == 2
