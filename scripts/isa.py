"""Reads what LLVM wrote for a GPU (AMD assembly or PTX): resources of each
kernel, its loops, and what kinds of instructions they hold.

    python scripts/isa.py FILE.s|FILE.ptx ...
"""

import collections
import dataclasses
import os
import re
import shutil
import subprocess
import sys
import tempfile

# Kinds of instructions, first match wins. Keys are used in reports and tests.
AMD_KINDS = (
    ("matrix", r"v_(s?mfma|s?wmma|swmmac)"),
    ("exponential", r"v_exp_(f32|f16)"),
    ("accumulator move", r"v_accvgpr_"),
    ("global load", r"(global|buffer|flat)_load_"),
    ("global store", r"(global|buffer|flat)_(store|atomic)_"),
    ("lds load", r"ds_(load|read)"),
    ("lane exchange", r"ds_(swizzle|bpermute|permute)|v_permlane"),
    ("lds store", r"ds_(store|write)"),
    ("scratch", r"scratch_"),
    ("barrier", r"s_barrier"),
    ("wait", r"s_wait"),
    ("vector", r"v_"),
    ("scalar", r"s_"),
)
PTX_KINDS = (
    ("matrix", r"(mma|wgmma|wmma)\."),
    ("exponential", r"ex2\."),
    ("asynchronous copy", r"cp\.async\.(ca|cg|bulk)"),
    ("wait", r"cp\.async\.(wait|commit)|mbarrier"),
    ("matrix load", r"ldmatrix"),
    ("global load", r"ld\.(global|param\.global|weak\.global|volatile\.global)"),
    ("global store", r"(st|red|atom)\.(global)"),
    ("lds load", r"ld\.shared"),
    ("lds store", r"st\.shared"),
    ("scratch", r"(ld|st)\.local"),
    ("lane exchange", r"shfl"),
    ("barrier", r"bar(rier)?\."),
    ("vector", r"\w"),
)
# Bytes of one lane's access by the instruction's ending.
AMD_WIDTHS = (("b128", 16), ("dwordx4", 16), ("b96", 12), ("dwordx3", 12),
              ("b64", 8), ("dwordx2", 8), ("b32", 4), ("dword", 4),
              ("16", 2), ("short", 2), ("8", 1), ("byte", 1))


@dataclasses.dataclass
class Instruction:
    opcode: str
    text: str
    kind: str

    def access_bytes(self):
        """Bytes that one lane loads or stores, or None."""
        if "load" not in self.kind and "store" not in self.kind:
            return None
        if self.opcode.startswith(("ld", "st", "red", "atom")):
            bits = re.search(r"\.[bfsu](\d+)$", self.opcode)
            vector = re.search(r"\.v(\d)\.", self.opcode)
            return int(bits[1]) // 8 * (int(vector[1]) if vector else 1) if bits \
                else None
        pieces = 2 if self.opcode.startswith(("ds_read2", "ds_write2",
                                              "ds_load_2", "ds_store_2")) else 1
        for part, size in AMD_WIDTHS:
            if re.search(rf"{part}(_d16)?(_hi)?(_tr)?(_e\d+)?$|_{part}_",
                         self.opcode):
                return size * pieces
        return None

    def drains_all_loads(self):
        """Whether it waits until no load or copy is outstanding."""
        return bool(re.search(r"vmcnt\(0\)|^s_wait_loadcnt 0x0$|"
                              r"cp\.async\.wait_(all|group\s+0)", self.text))


@dataclasses.dataclass
class Loop:
    begin: int
    end: int
    body: list
    innermost: bool = True

    def counts(self):
        return collections.Counter(instruction.kind for instruction in self.body)

    def narrow_accesses(self, bytes_below=4):
        """Loads and stores of fewer bytes a lane."""
        return [instruction for instruction in self.body
                if (instruction.access_bytes() or bytes_below) < bytes_below]


@dataclasses.dataclass
class Kernel:
    name: str
    instructions: list
    loops: list
    resources: dict

    def steady_loop(self):
        """The innermost loop with most matrix instructions (then with most
        exponentials, then the longest), or None."""
        inner = [loop for loop in self.loops if loop.innermost]
        return max(inner, key=lambda loop: (
            loop.counts()["matrix"], loop.counts()["exponential"],
            len(loop.body)), default=None)


def kind_of(opcode, kinds):
    for kind, pattern in kinds:
        if re.match(pattern, opcode):
            return kind
    return "other"


def find_loops(lines):
    """Loops of (label or None, instruction or None) lines: each branch back to
    an earlier label. Branches to one label make one loop."""
    place = {label: index for index, (label, _) in enumerate(lines) if label}
    ends = {}
    for index, (_, instruction) in enumerate(lines):
        if not instruction or not re.match(r"s_c?branch|bra", instruction.opcode):
            continue
        target = re.split(r"[\s,;]+", instruction.text.rstrip("; "))[-1]
        if target in place and place[target] <= index:
            ends[place[target]] = max(index, ends.get(place[target], 0))
    loops = [Loop(begin, end, [instruction for _, instruction
                               in lines[begin:end + 1] if instruction])
             for begin, end in sorted(ends.items())]
    for loop in loops:
        loop.innermost = not any(
            loop is not other and loop.begin <= other.begin and
            other.end <= loop.end for other in loops)
    return loops


def parse_lines(text, kinds, comment):
    lines = []
    for line in text.splitlines():
        line = line.split(comment)[0].strip()
        if not line or line in "{}":
            continue
        label = re.match(r"([.$\w]+):$", line)
        if label:
            lines.append((label[1], None))
            continue
        if line.startswith((".", "//")):
            continue
        code = re.sub(r"^@!?%?\w+\s+", "", line)  # PTX predicate
        opcode = code.split()[0].rstrip(";")
        if re.match(r"[a-z]\w*", opcode):
            lines.append((None, Instruction(opcode, line, kind_of(opcode, kinds))))
    return lines


def amd_kernels(text):
    notes = {}
    metadata = re.search(r"\.amdgpu_metadata\n(.*?)\.end_amdgpu_metadata", text,
                         re.DOTALL)
    for block in re.split(r"\n  - (?=\.agpr_count|\.args)",
                          metadata[1] if metadata else "")[1:]:
        values = dict(re.findall(r"^\s+(?:- )?\.(\w+):\s+(\S+)$",
                                 "\n    ." + block.lstrip("."), re.MULTILINE))
        notes[values.get("name")] = values
    # Arguments have names too; the kernel's own entry has a symbol.
    for match in re.finditer(r"^(\w+):\s+; @\1$(.*?)^\.Lfunc_end\d+:", text,
                             re.DOTALL | re.MULTILINE):
        name, body = match[1], match[2]
        values = next((v for v in notes.values()
                       if v.get("symbol") in (f"{name}.kd", f"'{name}.kd'")), {})
        tail = text[match.end():]

        def number(key, pattern=None):
            if key in values:
                return int(values[key])
            found = pattern and re.search(pattern, tail)
            return int(found[1]) if found else None

        resources = {
            "vgprs": number("vgpr_count"), "agprs": number("agpr_count"),
            "sgprs": number("sgpr_count"),
            "spills": (number("vgpr_spill_count") or 0) +
                      (number("sgpr_spill_count") or 0),
            "scratch bytes": number("private_segment_fixed_size"),
            "lds bytes": number("group_segment_fixed_size"),
            "threads": number("max_flat_workgroup_size"),
            "subgroup": number("wavefront_size"),
            "occupancy": number("", r"; Occupancy: (\d+)"),
            "code bytes": number("", r"; codeLenInByte = (\d+)"),
        }
        lines = parse_lines(body, AMD_KINDS, ";")
        yield Kernel(name, [i for _, i in lines if i], find_loops(lines),
                     resources)


def find_ptxas():
    return shutil.which("ptxas") or next(
        (path for path in ("/usr/local/cuda/bin/ptxas",)
         if os.access(path, os.X_OK)), None)


def ptxas_resources(text, chip):
    """What ptxas says of each kernel: registers, spills, shared bytes."""
    ptxas = find_ptxas()
    if not ptxas:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "kernel.ptx")
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
        run = subprocess.run(
            [ptxas, "-v", f"-arch={chip}", source, "-o",
             os.path.join(folder, "kernel.cubin")], capture_output=True, text=True)
    if run.returncode:
        raise ValueError(f"ptxas refuses the code: {run.stderr.strip()}")
    found = {}
    for part in re.split(r"Compiling entry function '", run.stderr)[1:]:
        def number(pattern):
            match = re.search(pattern, part)
            return int(match[1]) if match else 0
        found[part.split("'")[0]] = {
            "registers": number(r"Used (\d+) registers"),
            "spills": number(r"(\d+) bytes spill stores") // 4 +
                      number(r"(\d+) bytes spill loads") // 4,
            "scratch bytes": number(r"(\d+) bytes stack frame"),
            "lds bytes": number(r"(\d+) bytes smem")}
    return found


def ptx_kernels(text):
    chip = re.search(r"^\.target\s+(\w+)", text, re.MULTILINE)
    resources = ptxas_resources(text, chip[1] if chip else "sm_80")
    for match in re.finditer(r"\.entry\s+([\w$]+)(.*?)^}", text,
                             re.DOTALL | re.MULTILINE):
        name, body = match[1], match[2]
        threads = re.search(r"\.(?:max|req)ntid\s+(\d+)", body)
        lines = parse_lines(body[body.find("{"):], PTX_KINDS, "//")
        yield Kernel(name, [i for _, i in lines if i], find_loops(lines), {
            **resources.get(name, {}),
            "threads": int(threads[1]) if threads else None, "subgroup": 32})


def kernels(text):
    """The kernels of an assembly text, AMD's or PTX."""
    return list(ptx_kernels(text) if re.search(r"^\.version", text, re.MULTILINE)
                else amd_kernels(text))


def report(kernel):
    """The lines that describe a kernel to a person."""
    known = [f"{key} {value}" for key, value in kernel.resources.items()
             if value is not None]
    lines = [f"{kernel.name}: {', '.join(known)}"]
    loop = kernel.steady_loop()
    if loop:
        counts = loop.counts()
        lines.append(f"  steady loop, {len(loop.body)} instructions: " + ", ".join(
            f"{kind} {count}" for kind, count in counts.most_common()))
    return lines


def main():
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            found = kernels(file.read())
        if not found:
            sys.exit(f"{path}: no kernel found")
        for kernel in found:
            print("\n".join(report(kernel)))


if __name__ == "__main__":
    main()
