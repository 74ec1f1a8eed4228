# RUN: %python %s %source_dir %t %if full %{ all %}
"""No barrier of any kernel of the covers is reached with an access to workgroup
memory under way, and no product of matrices without all lanes: the walk over final
code (Inputs/barriers.py) of what check.test and check-backward.test run, the cases
of few.txt and few-backward.txt and the covers small and backward-small, on every AMD
chip. The code generator takes seven seconds for a case of gradients and one for
another, which is 85 minutes of the processor's time for all on every chip: cases and
chips take turns in two thirds of a minute of it. With 'all' each case is compiled for
every chip; names of chips and of sets of cases choose among them:

    python3 test/Target/covers.py . /tmp/covers all gfx942 gfx1100 few-backward
"""

import concurrent.futures
import itertools
import os
import pathlib
import subprocess
import sys

here = pathlib.Path(__file__).parent
sys.path.insert(0, str(here / "Inputs"))
sys.path.insert(0, str(here.parents[1] / "scripts"))
from barriers import early_barriers
from cases import Failed, families, final_code, module_of

INPUTS = pathlib.Path(sys.argv[1]) / "test/Runtime/Inputs"
SETS = {"few": f"--cases={INPUTS}/few.txt",
        "few-backward": f"--cases={INPUTS}/few-backward.txt",
        "small": "--cover=small", "backward-small": "--cover=backward-small"}
# Of a set, which cases run, each on one chip: one of so many.
TURNS = {"few": 12, "few-backward": 40, "small": 48, "backward-small": 128}
CHIPS = sum(families(), [])


def cases_of(name):
    listed = subprocess.run(["evoformer-check", "--list", SETS[name]],
                            capture_output=True, text=True, check=True).stdout
    cases = [line for line in listed.splitlines() if " D=" in line]
    assert cases, listed
    return cases


def chosen():
    words = sys.argv[3:]
    assert all(word in ("all", *SETS, *CHIPS) for word in words), words
    sets = [name for name in SETS if name in words] or SETS
    chips = [chip for chip in CHIPS if chip in words] or CHIPS
    turn = itertools.count()
    for name in sets:
        for place, case in enumerate(cases_of(name)):
            if "all" in words:
                yield from ((name, place, case, chip) for chip in chips)
            elif place % TURNS[name] == 0:
                yield name, place, case, chips[next(turn) % len(chips)]


def walk(name, place, case, chip):
    """How many kernels there are, how many of them have barriers, and what is wrong."""
    try:
        _, listings = final_code(f"{sys.argv[2]}.{name}-{place}-{chip}", chip,
                                 module_of(case))
    except Failed as failure:
        return 0, 0, [f"{chip}, {case}: {failure}"]
    kernels = listings.count("\n\t.end_amdhsa_kernel")
    return kernels, len(early_barriers(listings)[1]), []


with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS", "2"))) as pool:
    done = [*pool.map(lambda what: walk(*what), [*chosen()])]
kernels, waiting = (sum(counts[k] for counts in done) for k in (0, 1))
found = [line for *_, lines in done for line in lines]
print(f"{len(done)} cases, {kernels} kernels, {waiting} with barriers, "
      f"{len(found)} problems")
assert waiting > len(done) // 2, "the walk sees no barriers"
if found:
    sys.exit("\n".join(found))
