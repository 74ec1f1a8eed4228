"""No barrier of AMD's final code is reached while an access to workgroup memory
may still be under way: neither when it is passed for the first time nor from
the end of a loop. s_barrier waits for nothing, so that other subgroups would
read what is not yet written. This walks the control flow of kernels, since a wait
that is there in the program may be lost when the code generator places those that
it needs itself."""

import dataclasses
import re

# Those that move words between lanes touch no memory.
EXCHANGES = ("ds_bpermute", "ds_permute", "ds_swizzle", "ds_bvh", "ds_nop")
BARRIERS = ("s_barrier", "s_barrier_signal")
DONE = None


@dataclasses.dataclass
class Kernel:
    """Instructions in order, and the place of each label."""
    name: str
    code: list
    labels: dict


def kernels_of(listing):
    found, labels = [], {}
    for line in listing.splitlines():
        line = line.split(";")[0].rstrip()
        if label := re.match(r"(\.?\w+):$", line):
            if not label[1].startswith("."):
                labels = {}
                found.append(Kernel(label[1], [], labels))
            labels[label[1]] = len(found[-1].code) if found else 0
        elif re.match(r"\s+[a-z]\w*", line) and found:
            found[-1].code.append(line.split(None, 1) + [""])
        elif re.match(r"\s+\.(section|text)", line) and found:
            labels = {}  # what follows is data
            found.append(Kernel("", [], labels))
    return [kernel for kernel in found if kernel.code]


def awaited(name, operands):
    """Down to how many accesses to workgroup memory an instruction waits; none
    where it does not wait for them. Scalar loads may count as well."""
    def number(text):
        return int(text, 0)
    if name == "s_waitcnt":
        count = re.search(r"lgkmcnt\((\d+)\)", operands)
        return count and number(count[1])
    if name == "s_waitcnt_lgkmcnt":
        return number(operands.split(",")[1])
    if name == "s_wait_dscnt":
        return number(operands)
    if name in ("s_wait_loadcnt_dscnt", "s_wait_storecnt_dscnt"):
        return number(operands) & 63
    return 0 if name == "s_wait_idle" else None


def check_known(name, operands):
    """Fails where an instruction may reach workgroup memory by a way that is counted
    otherwise: by an address of any memory, or with a load from another one."""
    known = not (name.startswith("flat_") or "_lds" in name or
                   "lds" in operands.split())
    assert known, f"not known here: {name} {operands}"


def barriers_of(kernel):
    """How many barriers are reached too early, and how many there are."""
    # Before each instruction: how many accesses have been issued after the
    # last one that may be under way, the smaller of all ways there.
    states, work, early = {}, [(0, DONE)], set()
    while work:
        place, state = work.pop()
        while place < len(kernel.code):
            if place in states:
                known = states[place]
                joined = (min(known, state) if DONE not in (known, state)
                          else state if known is DONE else known)
                if joined == known:
                    break
                state = joined
            states[place] = state
            name, operands = kernel.code[place][:2]
            if name.startswith("ds_") and not name.startswith(EXCHANGES):
                state = 0
            elif state is not DONE:
                # Accesses end in order: the last one has, where no more may be
                # left than came after it.
                count = awaited(name, operands)
                if count is not None and count <= state:
                    state = DONE
                state = state if state is DONE else (
                    state + name.startswith("ds_"))
            if name in BARRIERS and state is not DONE:
                early.add(place)
            check_known(name, operands)
            assert not name.startswith(("s_setpc", "s_swappc", "s_call")), name
            if name.startswith(("s_branch", "s_cbranch")):
                work.append((kernel.labels[operands.split()[0]], state))
            if name in ("s_branch", "s_endpgm"):
                break
            place += 1
    return len(early), sum(name in BARRIERS for name, *_ in kernel.code)


def early_barriers(listings):
    """A line for each kernel with such a barrier, and the names of the kernels that
    have any barriers."""
    found, seen = [], []
    for kernel in kernels_of(listings):
        early, barriers = barriers_of(kernel)
        if early:
            found.append(f"{early} of {barriers} barriers of {kernel.name} do not "
                         "wait for workgroup memory")
        if barriers:
            seen.append(kernel.name)
    return found, seen
