"""No matrix instruction of AMD's final code runs where a lane may be switched off.
WMMA asks for all lanes; MFMA computes with the registers of all, but nothing
writes those of lanes that are off. This walks the control flow of kernels with
what is known of scalar registers as sets of lanes: of EXEC and of those that keep
it while some lanes work alone. Source: "RDNA3 Instruction Set Architecture", "Wave
Matrix Multiply Accumulate"; "AMD Instinct MI300 Instruction Set Architecture",
"Matrix Arithmetic Instructions"."""

import re

from barriers import kernels_of

MATRIX = ("v_mfma_", "v_smfmac_", "v_wmma_", "v_swmmac_")
HALVES = {"exec": ("exec_lo", "exec_hi"), "vcc": ("vcc_lo", "vcc_hi")}
ALL, OLD = "-1", "exec before"
# Vector instructions that write their second operand, too.
CARRIES = ("_co_", "v_div_scale", "v_mad_u64_u32", "v_mad_i64_i32")

# Whether the result of an operation and one more register hold all lanes together;
# the result alone where that is None. `full` answers for what was before.
RULES = {
    "mov": lambda full, a, b, other: full(a, other),
    "not": lambda full, a, b, other: other == a,
    "and": lambda full, a, b, other: full(a, other) and full(b, other),
    "or": lambda full, a, b, other: (full(a, b) or full(a, other) or
                                     full(b, other)),
    "xor": lambda full, a, b, other: other in (a, b) and full(a, b),
    "andn2": lambda full, a, b, other: other == b and full(a, b),
    "orn2": lambda full, a, b, other: other == b or full(a, other),
}
RULES |= {"cselect": RULES["and"], "and_not1": RULES["andn2"],
          "or_not1": RULES["orn2"]}


def full(facts, *registers):
    """Whether registers hold all lanes together. A fact is a set of one or two that
    do."""
    return ALL in registers or any(fact.issubset(registers) for fact in facts)


def forget(facts, registers):
    return {fact for fact in facts if fact.isdisjoint(registers)}


def essential(facts):
    """Without the facts that others imply."""
    return {fact for fact in facts if not any(other < fact for other in facts)}


def apply(facts, rule, target, a, b):
    """What is known after `target` became the result of an operation on a and b."""
    def known(*registers):
        return full(facts, *registers)

    others = {register for fact in facts for register in fact} | {a, b}
    made = {frozenset([target, other]) for other in others - {target, ALL, None}
            if rule(known, a, b, other)}
    if rule(known, a, b, None):
        made = {frozenset([target])}
    return essential(forget(facts, {target}) | made)


def join(facts, others):
    return essential({fact for fact in facts if full(others, *fact)} |
                   {fact for fact in others if full(facts, *fact)})


def words(operand):
    """The registers of 32 bits of an operand, or the number that it is."""
    if several := re.fullmatch(r"([a-z]+)\[(\d+):(\d+)\]", operand):
        return [f"{several[1]}{number}" for number in
                range(int(several[2]), int(several[3]) + 1)]
    return list(HALVES.get(operand, (operand,)))


def step(facts, name, operands):
    """What is known after an instruction."""
    places = [words(operand) for operand in re.split(r",\s*", operands)]
    save = re.fullmatch(r"s_(\w+)_saveexec_b(32|64)", name)
    plain = re.fullmatch(r"s_(\w+)_b(32|64)", name)
    if save and save[1] in RULES:
        for half, before in zip(HALVES["exec"], places[0]):
            source = places[1][len(places[1]) * (half == "exec_hi") // 2]
            facts = apply(facts, RULES["mov"], OLD, half, None)
            facts = apply(facts, RULES[save[1]], half, source, OLD)
            facts = apply(facts, RULES["mov"], before, OLD, None)
        return forget(facts, {OLD})
    if plain and plain[1] in RULES:
        for number, target in enumerate(places[0]):
            a, b = ([*(place[number * len(place) // 2] for place in places[1:]),
                     None])[:2]
            facts = apply(facts, RULES[plain[1]], target, a, b)
        return facts
    if name == "v_writelane_b32":
        return apply(facts, RULES["mov"], f"{operands.split(',')[0]} lane {places[2][0]}",
                     places[1][0], None)
    if name == "v_readlane_b32":
        return apply(facts, RULES["mov"], places[0][0],
                     f"{places[1][0]} lane {places[2][0]}", None)
    written = set(places[0])
    if name.startswith("v_") and any(part in name for part in CARRIES):
        written |= set(places[1])
    if name.startswith("v_cmpx") or "exec" in name:
        written |= set(HALVES["exec"])
    return {fact for fact in facts
            if not any(register.split(" lane ")[0] in written
                       for register in fact)}


def where_none(facts):
    """What is known where EXEC is 0."""
    execs = set(HALVES["exec"])
    return essential(facts | {fact - execs for fact in facts if fact - execs})


def ways(kernel, place, facts):
    """The places after an instruction, with what is known there."""
    name, operands = kernel.code[place][:2]
    assert not name.startswith(("s_setpc", "s_swappc", "s_call")), name
    if name == "s_endpgm":
        return
    if not name.startswith(("s_branch", "s_cbranch")):
        yield place + 1, step(facts, name, operands)
        return
    yield (kernel.labels[operands.split()[0]],
           where_none(facts) if name == "s_cbranch_execz" else facts)
    if name != "s_branch":
        yield place + 1, where_none(facts) if name == "s_cbranch_execnz" else facts


def partial(kernel, lanes):
    """The places of matrix instructions that some lanes may not take part in, and
    how many there are at all, where the registers `lanes` say which are on."""
    start = {frozenset([half]) for half in lanes}
    states, work = {0: start}, [0]
    while work:
        place = work.pop()
        for after, facts in ways(kernel, place, states[place]):
            known = states.get(after)
            facts = join(facts if known is None else known, facts)
            if facts == known:
                continue
            states[after] = facts
            work.append(after)
    matrix = [place for place, (name, *_) in enumerate(kernel.code)
              if name.startswith(MATRIX)]
    return [place for place in matrix if place in states and not all(
        full(states[place], half) for half in lanes)], len(matrix)


def partial_waves(listings):
    """A line for each kernel with such an instruction, and the names of the kernels
    that have matrix instructions."""
    found, seen = [], []
    lanes = HALVES["exec"]
    if ".amdhsa_wavefront_size32 1" in listings:
        lanes = lanes[:1]
    for kernel in kernels_of(listings):
        places, matrix = partial(kernel, lanes)
        if places:
            found.append(f"{len(places)} of {matrix} matrix instructions of "
                         f"{kernel.name} may run without all lanes, the first as "
                         f"instruction {places[0]}")
        if matrix:
            seen.append(kernel.name)
    return found, seen
