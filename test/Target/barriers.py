# RUN: %python %s
"""The walk over final code that looks for barriers reached with an access to
workgroup memory under way (Inputs/barriers.py) finds one: where nothing waits, where
only the way into a loop does, where the count leaves the access open, with the
counters of each generation. bounds.py, backward-bounds.py, scratch.py and
test/Pipelines/compiles.py take it over all that they compile for AMD chips, covers.py
over what the covers have."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
from barriers import early_barriers

LOOP = """
kernel_{name}:
{before}
.LBB0_1:
{first}
\ts_barrier
\tds_read_b32 v1, v0
{last}
\ts_cbranch_scc1 .LBB0_1
\ts_endpgm
"""
WAIT, WRITE = "\ts_waitcnt lgkmcnt(0)", "\tds_write_b32 v0, v1"
EARLY = {
    "never": dict(before=WRITE, first="", last=WAIT),
    "entry": dict(before=f"{WRITE}\n{WAIT}", first="", last=WRITE),
    "count": dict(before=WRITE, first="\ts_waitcnt lgkmcnt(1)", last=WAIT),
    "other": dict(before=WRITE, first="\ts_waitcnt vmcnt(0)", last=WAIT),
    "gfx12": dict(before=WRITE, first="\ts_wait_dscnt 0x1", last="\ts_wait_dscnt 0x0"),
    "both": dict(before=WRITE, first="\ts_wait_loadcnt_dscnt 0x3f01",
                 last="\ts_wait_dscnt 0x0"),
}
RIGHT = {
    "always": dict(before=WRITE, first=WAIT, last=WRITE),
    "earlier": dict(before=f"{WRITE}\n{WAIT}", first="", last=f"{WRITE}\n{WAIT}"),
    "newer": dict(before=f"{WRITE}\n{WAIT}", first="", last=WAIT),
    "lanes": dict(before="\tds_bpermute_b32 v1, v0, v2", first="", last=WAIT),
    "gfx12": dict(before=WRITE, first="\ts_wait_loadcnt_dscnt 0x3f00",
                  last="\ts_wait_dscnt 0x0"),
}


def walk(cases):
    return early_barriers("".join(LOOP.format(name=name, **case)
                                  for name, case in cases.items()))


early, seen = walk(EARLY)
assert len(early) == len(EARLY), early
assert seen == [f"kernel_{name}" for name in EARLY], seen
early, seen = walk(RIGHT)
assert not early, early
assert len(seen) == len(RIGHT), seen
# Accesses that other counters count, or may: they are refused wherever they are.
for access in ("global_load_lds_dwordx4 v[0:1], off", "flat_store_dword v[0:1], v2",
               "buffer_load_dword v0, s[0:3], 0 offen lds"):
    try:
        walk({"unknown": dict(before=f"\t{access}", first="", last=WAIT)})
        raise SystemExit(f"{access} is taken")
    except AssertionError as problem:
        assert str(problem) == f"not known here: {access}", problem
# A kernel without barriers is not one of them.
assert early_barriers("kernel:\n\ts_endpgm\n") == ([], [])
