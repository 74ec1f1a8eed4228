# REQUIRES: python-library
# RUN: %pytest %s
"""The shared library itself: what it exports, its cache, its errors, threads and
forks."""

import concurrent.futures
import ctypes
import fcntl
import hashlib
import multiprocessing
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

sys.path.append(str(pathlib.Path(__file__).parents[1] / "Inputs"))
import bounded
import evoformer
import numpy as np
import pytest
from evoformer import _library, _runtime

MODULE = """
func.func @f(%q: memref<?x?x?x2x8xf32>, %out: memref<?x?x?x2x8xf32>) {
  evoformer.attention query(%q : memref<?x?x?x2x8xf32>)
      key(%q : memref<?x?x?x2x8xf32>) value(%q : memref<?x?x?x2x8xf32>)
      outs(%out : memref<?x?x?x2x8xf32>)
  return
}
"""


def readelf(*options):
    return subprocess.run(["readelf", "-W", *options, _library._path()],
                          check=True, capture_output=True, text=True).stdout


def test_refuses_other_libraries(tmp_path):
    """Those of other builds and other things, before a function is called with
    arguments that it does not take."""
    for body, text in (("int evoformerGetInterfaceVersion(void) { return 99; }",
                        "has interface 99"), ("int f;", "is no libevoformer")):
        (tmp_path / "other.c").write_text(body)
        other = tmp_path / "other.so"
        # The set-up installs clang, and no 'cc'.
        compiler = (os.environ.get("CC") or shutil.which("cc")
                    or shutil.which("clang-22") or "/usr/lib/llvm-22/bin/clang")
        subprocess.run([compiler, "-shared", "-fPIC", "-o", other,
                        tmp_path / "other.c"], check=True)
        done = subprocess.run(
            [sys.executable, "-c", "import evoformer; evoformer.chips()"],
            capture_output=True, text=True,
            env={**os.environ, "EVOFORMER_LIBRARY": str(other)})
        assert done.returncode == 1 and text in done.stderr
    whole = pathlib.Path(_library._path()).read_bytes()
    for size in (10, 63, 10000, len(whole) - 1):
        (tmp_path / "part.so").write_bytes(whole[:size])
        done = subprocess.run(
            [sys.executable, "-c", "import evoformer; evoformer.chips()"],
            capture_output=True, text=True,
            env={**os.environ, "EVOFORMER_LIBRARY": str(tmp_path / "part.so")})
        assert done.returncode == 1 and "cannot open" in done.stderr


def test_interface_version():
    """ctypes cannot see that a function takes other arguments: whoever changes
    one raises evoformerGetInterfaceVersion and INTERFACE, then this."""
    folder = pathlib.Path(__file__).parents[2] / "include" / "evoformer-c"
    code = "".join(path.read_text() for path in sorted(folder.glob("*.h")))
    words = " ".join(re.sub(r"//.*", "", code).split())
    functions = hashlib.sha256(words.encode()).hexdigest()[:8]
    assert (_library.INTERFACE, functions) == (4, "628e7091")


def test_exports_the_interface_alone():
    names = [line.split()[7].split("@")[0] for line in
             readelf("--dyn-syms").splitlines()
             if len(line.split()) == 8 and line.split()[4] != "LOCAL" and
             line.split()[6] not in ("UND", "Ndx")]
    assert names and all(name.startswith("evoformer") for name in names)


def test_needs_no_young_library():
    """glibc 2.34 and no shared LLVM, MLIR or C++ library."""
    versions = {tuple(map(int, version.split("."))) for version in
                re.findall(r"GLIBC_([0-9.]+)", readelf("--version-info"))}
    assert versions and max(versions) <= (2, 34)
    needed = [line for line in readelf("--dynamic").splitlines()
              if "(NEEDED)" in line]
    assert needed and not any("LLVM" in line or "MLIR" in line or
                              "stdc++" in line for line in needed)


def test_errors_are_readable():
    with pytest.raises(evoformer.EvoformerError, match="line 3: .*unknown"):
        evoformer.Program("\n\n!x = !unknown.type\n")
    with pytest.raises(ValueError, match=f"module: character {len(MODULE)} is NUL"):
        evoformer.Program(MODULE + "\0 junk")
    with pytest.raises(ValueError, match="options: character 10 is NUL"):
        evoformer.Program(MODULE, "target=cpu\0")
    for options, text in (("target=sm_11", "sm_80"), ("device=tpu", "is unknown: it is cpu, cuda or hip"),
                          ("colour=red", "unknown option 'colour'"),
                          ("partial_sum_bytes=all", "partial_sum_bytes=all is no number of bytes"),
                          ("bias_gradients=nowhere", "'auto', 'apart' or 'with-query', not 'nowhere'"),
                          ("f32_products=tf32", "is split or exact, not 'tf32'"),
                          ("partial_sum_bytes=-2", "or a number of bytes, not -2"),
                          ("device=cuda", "needs a target other than cpu")):
        with pytest.raises(evoformer.EvoformerError, match=text):
            evoformer.Program(MODULE, options)
    for words, text in (("type=f64 depth=8", "f16, bf16 or f32"),
                        ("type=f32 depth=0", "from 1 to 256"),
                        ("type=f32 depth=8 rows=none", "rows is a number from 1"),
                        ("type=f32 depth=8 bias=kq:f32", "in that order"),
                        ("type=f32 depth=8 bias=k:i8", "f32 or i1"),
                        ("type=f32 depth=8 scale=inf", "finite"),
                        ("type=f32 depth=8 pass=sideways", "backward"),
                        ("type=f32 depth=8 pass=backward grad=bias0",
                         "there is no such float operand"),
                        ("type=f32 depth=8 heads=6 group_size=4",
                         "heads=6 must be a multiple of group_size=4"),
                        ("type=f32 depth=8 keys_from=", "a bound is empty"),
                        ("type=f32 depth=8 keys_to=i1",
                         "'i1': expected + or - before '1'"),
                        ("type=f32 depth=8 keys_to=i/4*5",
                         "'i/4*5': expected i/c*c with one number c"),
                        ("type=f32 depth=8 keys_from=i+j",
                         "'i+j': expected a term at 'j'; accepted are sums of i "
                         "or i/c*c, sq, sk and numbers, like i/32*32+sk-sq-48"),
                        ("type=f32 depth=8 keys_from=i-i/4*4",
                         "expected i with one divisor"),
                        ("type=f32 depth=8 keys_from=i+i",
                         "the query's index must have the coefficient 0 or 1"),
                        ("type=f32 depth=8 shared=h",
                         "'shared=h': shared is the letters of bn of which keys and "
                         "values have one for all: bn, b or n"),
                        ("type=f32 depth=8 ragged shared=b",
                         "shared=b: ragged sequences lie in one b already"),
                        ("type=f32 depth=8 capture=h:f32",
                         "capture= is what score= reads, which is not there"),
                        ("type=f32 depth=8 capture=h:i1",
                         "'capture=h:i1': capture is of type f16, bf16, f32 or i32"),
                        ("type=f32 depth=8 capture=hq:f32:8",
                         "'capture=hq:f32:8': capture is a table where so many entries "
                         "from 1 to 64 are given: of letters of bh and floats"),
                        ("type=f32 depth=8 ragged key_lengths=n",
                         "ragged sequences have no key_lengths or query_lengths "
                         "beside their starts"),
                        ("type=f32 depth=8 key_lengths=nb",
                         "'key_lengths=nb': key_lengths is the letters of bn whose "
                         "dimensions it has: bn, b, n or none"),
                        ("type=f32 depth=8 query_lengths=q", "query_lengths is the"),
                        ("type=f32 depth=8 group_size=0",
                         "'group_size=0': group_size is a number from 1 to 65536"),
                        ("type=f32 depth=8 weights=retention:-1",
                         "'weights=retention:-1': weights is softmax, linear, or "
                         "retention:M with a finite M from 0 on"),
                        ("type=f32 depth=8 dropout=1",
                         "'dropout=1': dropout is a probability, from 0 to before 1"),
                        ("type=f32 depth=8 ragged=1",
                         "'ragged=1': ragged is a word without a value"),
                        ("type=f32 depth=8 stats=0", "stats is a word without a value"),
                        ("type=f32 depth=8 keys_to=i+1 keys_to=i+2",
                         "'keys_to=i+2': keys_to is there already; accepted is one of it"),
                        ("type=f32 depth=8 lse lse", "lse is there already"),
                        ("type=f32 depth=8 fast", "unknown word 'fast' in the description of an attention"),
                        ("depth=8", "an attention needs type= and depth=")):
        with pytest.raises(evoformer.EvoformerError, match=re.escape(text)):
            _runtime.describe(words)
    with pytest.raises(evoformer.EvoformerError, match="no NVIDIA driver|device"):
        _runtime.Device("cuda", 99)
    with pytest.raises(evoformer.EvoformerError, match="kind 'tpu'"):
        _runtime.Device("tpu")
    with pytest.raises(evoformer.EvoformerError, match="of 1 processor does not exist"):
        _runtime.Device("cpu", 1)
    with pytest.raises(evoformer.EvoformerError, match="has 2 functions: name one"):
        call([], MODULE + MODULE.replace("@f", "@g"))


def test_ways_to_split():
    """What the description and the options of the compiler say arrives."""
    words = "type=f32 heads=1 depth=8 bias=hqk:f32 pass=backward"

    def kernels(words, options=""):
        program = evoformer.Program(_runtime.describe(words), options)
        return [kernel["name"] for kernel in program.plan["kernels"]]

    def count(names, part):
        return sum(part in name for name in names)

    known = words + " batch=1 rows=1"
    assert count(kernels(known), "bias_grad") == 0
    assert count(kernels(known, "bias_gradients=apart"), "bias_grad") > 0
    alone = words + " grad=bias0"
    assert count(kernels(alone), "bias_grad") == 2  # sums and parts of sums
    assert count(kernels(alone), "sum_parts") == 1
    assert count(kernels(alone, "partial_sum_bytes=0"), "sum_parts") == 0
    assert count(kernels(words), "all_grads") == 1


def call(arguments, module=MODULE):
    return _runtime.Call(evoformer.Program(module), evoformer.device("cpu"),
                         arguments)


def test_checks_arguments():
    good = ((1, 1, 3, 2, 8), (48, 48, 16, 8, 1))
    for arguments, text in (
            ([good], "takes 2 arguments, not 1"),
            ([good, ((1, 3), (3, 1))], "'out' is a memref of rank 5, given rank 2"),
            ([good, ((1, 1, 3, 3, 8), (72, 72, 24, 8, 1))], "argument 'out': .* is expected"),
            ([good, ((1, 1, 4, 2, 8), (64, 64, 16, 8, 1))], "must equal"),
            ([good, ((1, 1, 3, 2, 8), (48, 48, 16, 8, 2))], "stride 2")):
        with pytest.raises(evoformer.EvoformerError, match=text):
            call(arguments).prepare([0, 0])


def test_workspace_may_lie_anywhere():
    """Small workspaces are refused before anything runs, odd addresses used."""
    sizes = (1, 1, 20, 2, 8)
    strides = (320, 320, 16, 8, 1)
    program = evoformer.Program(_runtime.describe(
        "type=f32 heads=2 depth=8 bias=bhqk:f32"))
    bias_sizes, bias_strides = (1, 1, 2, 20, 20), (800, 1, 400, 1, 20)
    views = [(sizes, strides)] * 3 + [(bias_sizes, bias_strides),
                                      (sizes, strides)]
    run = _runtime.Call(program, evoformer.device("cpu"), views)
    arrays = [np.random.default_rng(i).standard_normal(size).astype(np.float32)
              for i, size in enumerate((320, 320, 320, 800, 320))]
    addresses = [a.ctypes.data for a in arrays]
    results = []
    for shift in (0, 1, 77):
        def allocate(size):
            memory = np.full(size + 256, 255, np.uint8)
            return memory, memory.ctypes.data + shift
        run.run(addresses, allocate)
        results.append(arrays[4].copy())
    assert np.isfinite(results[0]).all()
    assert all((r == results[0]).all() for r in results)


def origin(folder, module=MODULE, **options):
    """Where another process finds a program."""
    return origin_and_errors(folder, module, **options)[0]


def origin_and_errors(folder, module=MODULE, wait=""):
    script = ("import evoformer, sys; "
              "print(evoformer.Program(sys.stdin.read()).origin)")
    done = bounded.run([sys.executable, "-c", script], input=module, check=True,
                       env={**os.environ, "EVOFORMER_CACHE_DIR": str(folder),
                            "EVOFORMER_CACHE_WAIT": wait})
    return done.stdout.strip(), done.stderr


def test_cache(tmp_path):
    folder = tmp_path / "made" / "here"
    assert origin(folder) == "compiled"
    assert origin(folder) == "disk"
    assert origin(folder, MODULE + "\n") == "compiled"
    entries = sorted(folder.iterdir())
    assert len(entries) == 2 and all(e.suffix == ".plan" for e in entries)
    for damage in (lambda text: text[:-1], lambda text: text[:40],
                   lambda text: text[:-9] + b"?" + text[-8:], lambda text: b""):
        whole = [entry.read_bytes() for entry in entries]
        for entry, text in zip(entries, whole):
            entry.write_bytes(damage(text))
        assert origin(folder) == "compiled"
        assert origin(folder) == "disk"
    assert origin("") == "compiled"
    blocked = tmp_path / "file"
    blocked.write_text("")
    assert origin(blocked / "below") == "compiled"


def entry_of(key, contents):
    """A file of the cache, as this version of the library writes it."""
    checksum = hashlib.sha256(key + b"\n" + contents).hexdigest()
    return b"evoformer-cache 2 " + checksum.encode() + b"\n" + contents


def test_cache_is_private(tmp_path):
    """Code that others may have written is not run; what is made is the user's."""
    folder = tmp_path / "a" / "b"
    old = os.umask(0)
    try:
        assert origin(folder) == "compiled"
    finally:
        os.umask(old)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert folder.parent.stat().st_mode & 0o777 == 0o700
    (entry,) = folder.iterdir()
    assert entry.stat().st_mode & 0o777 == 0o600
    for place, mode, again in ((folder, 0o777, "compiled"), (folder, 0o720, "compiled"),
                               (folder, 0o755, "disk"), (entry, 0o602, "compiled"),
                               (entry, 0o620, "compiled"), (entry, 0o644, "disk")):
        before = place.stat().st_mode
        place.chmod(mode)
        found, said = origin_and_errors(folder)
        assert found == again, (place, oct(mode))
        refused = "is not used: others can write to it (chmod go-w mends that)"
        assert said.count("evoformer:") == said.count(refused) == (again == "compiled")
        place.chmod(before)
        # An entry that was refused has been replaced.
        assert origin_and_errors(folder) == ("disk", "")
    if os.geteuid() == 0:
        for place in (entry, folder):
            os.chown(place, 12345, -1)
            found, said = origin_and_errors(folder)
            assert found == "compiled" and "it belongs to another user" in said
    shutil.rmtree(folder)


def test_cache_of_other_things(tmp_path):
    """What is no entry of this key and this program is compiled again; nothing is
    waited for."""
    assert origin(tmp_path) == "compiled"
    (entry,) = tmp_path.iterdir()
    key, whole = entry.stem.encode(), entry.read_bytes()
    contents = whole.split(b"\n", 1)[1]
    assert whole == entry_of(key, contents)
    assert origin(tmp_path, MODULE + "\n") == "compiled"
    (other,) = set(tmp_path.iterdir()) - {entry}
    for text in (other.read_bytes(),  # another program's
                 whole.replace(b"cache 2", b"cache 1"), whole[:-1],
                 entry_of(key, b"[" * 1000000), entry_of(key, b"{}"),
                 entry_of(key, b'{"version": 1}'), entry_of(key, b"\xff")):
        entry.write_bytes(text)
        assert origin(tmp_path) == "compiled"
        assert entry.read_bytes() == whole
    for make in (os.mkfifo, lambda path: path.symlink_to("/dev/zero"),
                 lambda path: path.symlink_to(other), os.mkdir):
        entry.unlink()
        make(entry)
        assert origin(tmp_path) == "compiled"
        if entry.is_dir():
            entry.rmdir()
            assert origin(tmp_path) == "compiled"
        assert origin(tmp_path) == "disk"
    # A link to a folder of the user's own is a way to it.
    (tmp_path.parent / "link").symlink_to(tmp_path)
    assert origin(tmp_path.parent / "link") == "disk"


def test_errors_are_text():
    """Whatever is quoted."""
    library = _library.library()
    pointer = ctypes.c_void_p()
    with pytest.raises(evoformer.EvoformerError, match="unknown option 'a\ufffd'"):
        _library.check(library.evoformerCompile(
            MODULE.encode(), b"a\xff=1", ctypes.byref(pointer)))
    with pytest.raises(evoformer.EvoformerError, match="line 2"):
        _library.check(library.evoformerCompile(
            b"\n\xff\xfe\n", b"", ctypes.byref(pointer)))
    assert library.evoformerCompile(b"", b"b\xff", ctypes.byref(pointer)) == 1
    library.evoformerGetLastError().decode()


def test_cache_of_several_processes(tmp_path):
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: origin(tmp_path), range(4)))
    # One compiles, the others wait for it.
    assert sorted(found) == ["compiled", "disk", "disk", "disk"]
    assert [e.suffix for e in tmp_path.iterdir()] == [".plan"]
    assert origin(tmp_path) == "disk"
    assert evoformer.Program(MODULE).origin in ("compiled", "disk", "memory")
    assert evoformer.Program(MODULE).origin == "memory"


def test_cache_lock(tmp_path):
    """Nobody waits for a process that is gone, nor for ever for one that is stuck."""
    assert origin(tmp_path) == "compiled"
    (entry,) = tmp_path.iterdir()
    entry.unlink()
    place = entry.with_suffix(".lock")
    place.write_text("left behind")
    assert origin(tmp_path) == "compiled"
    assert list(tmp_path.iterdir()) == [entry]
    entry.unlink()
    with open(place, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        started = time.monotonic()
        found, said = origin_and_errors(tmp_path, wait="3")
        assert found == "compiled" and time.monotonic() - started >= 3
        assert said.count("evoformer: waiting for another process that compiles the "
                          "same and holds") == 1
        assert str(place) in said
        entry.unlink()
        # What it holds is made while another waits for it.
        with concurrent.futures.ThreadPoolExecutor() as pool:
            other = pool.submit(origin, tmp_path, wait="none")
            assert not concurrent.futures.wait([other], timeout=3).done
            assert not entry.exists()
            fcntl.flock(file, fcntl.LOCK_UN)
            assert other.result() == "compiled"
    # A lock that cannot be had is none.
    entry.unlink()
    place.mkdir()
    assert origin(tmp_path) == "compiled"


def operands(seed):
    draw = np.random.default_rng(seed)
    return [draw.standard_normal((1, 2, 17, 2, 8)).astype(np.float32)
            for _ in range(3)]


def test_threads():
    expected = [evoformer.attention(*operands(i)) for i in range(8)]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda i: evoformer.attention(*operands(i % 8)),
                              range(64)))
    assert all((a == expected[i % 8]).all() for i, a in enumerate(found))


def in_child(queue):
    queue.put(evoformer.attention(*operands(3)))


def test_fork():
    """A forked process has none of its parent's threads."""
    expected = evoformer.attention(*operands(3))
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=in_child, args=(queue,))
    child.start()
    # One that waits for ever is ended by lit's limit.
    child.join()
    assert child.exitcode == 0
    assert (queue.get() == expected).all()


def test_choice_of_target():
    portable = ["sm_120", "sm_80", "sm_86"]
    known = ["cpu", "gfx942", *portable, "sm_90"]

    def choose(chip, known, description):
        return _runtime.choose_target(chip, known, portable, description)

    assert _runtime.portable_chips() == portable
    assert choose("sm_86", known, "") == "sm_86"
    # Of its generation: the memory is as little.
    assert choose("sm_89", known, "") == "sm_86"
    assert choose("sm_121", known, "") == "sm_120"
    # Later generations have at least the first one's.
    assert choose("sm_103", known, "") == "sm_80"
    assert choose("sm_90", known[:-1], "") == "sm_80"
    assert choose("sm_90", known, "") == "sm_90"
    assert choose("gfx942", known, "") == "gfx942"
    for chip in ("sm_75", "gfx906", ""):
        with pytest.raises(evoformer.EvoformerError, match="card.*supported are"):
            choose(chip, known, "card")


@pytest.mark.parametrize("kind,chip,target",
                         [("cuda", "sm_90", "sm_90"), ("hip", "gfx942", "gfx942")])
def test_driver(kind, chip, target):
    """A driver without a device: programs are compiled for its chip, their
    kernels loaded on first use, and errors are its own."""
    stand_in = pathlib.Path(os.environ["EVOFORMER_BUILD_DIR"], "test", "unit",
                            "lib", f"libEvoformerStandIn-{kind}.so")
    script = f"""
import evoformer
from evoformer import _runtime
where = evoformer.device("{kind}")
print(where.chip, where.target)
program = where.compile(_runtime.describe("type=bf16 heads=2 depth=8"))
view = (1, 1, 3, 2, 8), (48, 48, 16, 8, 1)
call = _runtime.Call(program, where, [view] * 4)
try:
    call.prepare([0] * 4)
except evoformer.EvoformerError as problem:
    print(problem)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True,
        env={**os.environ, "EVOFORMER_DRIVER_LIBRARY": str(stand_in)})
    lines = done.stdout.splitlines()
    assert lines[0] == f"{chip} {target}"
    assert "ERROR_OTHER (218): described" in done.stdout


def stand_in(kind, script, **environment):
    """What a script prints in a process of its own whose driver is a stand-in
    with two devices that take any code and run nothing."""
    library = pathlib.Path(os.environ["EVOFORMER_BUILD_DIR"], "test", "unit",
                           "lib", f"libEvoformerStandIn-{kind}.so")
    done = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True,
        env={**os.environ, "EVOFORMER_DRIVER_LIBRARY": str(library),
             "EVOFORMER_STAND_IN": "quiet", **environment})
    return done.stdout.split()


@pytest.mark.parametrize("kind", ["cuda", "hip"])
def test_kernels_are_compiled_once(kind, tmp_path):
    """Those that a call needs, for all devices, and kept on disk."""
    script = f"""
import ctypes, os
import evoformer
from evoformer import _runtime
text = _runtime.describe("type=bf16 heads=2 depth=8 bias=bhqk:bf16")
views = [((1, 1, 16, 2, 8), (256, 256, 16, 8, 1))] * 3
views += [((1, 1, 2, 16, 16), (512, 512, 256, 16, 1))] + views[:1]
driver = ctypes.CDLL(os.environ["EVOFORMER_DRIVER_LIBRARY"])
for number, low in ((0, 0), (1, 0), (0, 2), (1, 2)):
    where = evoformer.device("{kind}", number)
    program = where.compile(text)
    _runtime.Call(program, where, views).prepare([4096 + low] * 5)
    print(driver.standInLoads(), len(os.listdir("{tmp_path}")))
print({{o["format"] for o in program.plan["objects"]}}, program.origin)
"""
    found = stand_in(kind, script, EVOFORMER_CACHE_DIR=str(tmp_path))
    loads, files = [int(n) for n in found[:8:2]], [int(n) for n in found[1:8:2]]
    aligned, other = loads[0], loads[2] - loads[1]
    # Each device loads what was compiled for the first. The plan has a file of
    # its own, and CUDA's driver makes another one of a kernel's.
    assert aligned >= 1 and other >= 1
    assert loads == [aligned, 2 * aligned, 2 * aligned + other,
                     2 * (aligned + other)]
    each = 2 if kind == "cuda" else 1
    assert files == ([1 + each * aligned] * 2
                     + [1 + each * (aligned + other)] * 2)
    assert found[8:] == ["{'tiles'}", "memory"]
    again = stand_in(kind, script, EVOFORMER_CACHE_DIR=str(tmp_path))
    assert again[:8:2] == found[:8:2] and again[1] == found[7]
    # Entries that are cut off, or hold JSON that is no code.
    for text in (None, b"[" * 1000000, b"{}", b'{"format": "ptx"}'):
        for entry in tmp_path.iterdir():
            entry.write_bytes(entry_of(entry.stem.encode(), text) if text
                              else entry.read_bytes()[:-1])
        again = stand_in(kind, script, EVOFORMER_CACHE_DIR=str(tmp_path))
        assert again[:8:2] == found[:8:2]


@pytest.mark.parametrize("kind", ["cuda", "hip"])
@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_launch_time(kind, direction):
    """What a launch costs the host, ctypes included and the driver's own work
    excluded: at most 5 us."""
    microseconds, count = stand_in(kind, f"""
from evoformer.bench import host
options = type("Options", (), dict(device="{kind}", depth=32, repeat=100, dry=True))
print(*host.launch(options, "{direction}", "bf16"))
""")
    print(f"{direction}: {microseconds} us, {count} launches")
    assert float(microseconds) <= 5 * int(count)


def test_errors_of_deferred_kernels():
    """They come with the call that needs the kernel."""
    found = stand_in("hip", """
import evoformer
from evoformer import _runtime
text = _runtime.describe("type=bf16 heads=2 depth=8")
program = evoformer.Program(text, "target=sm_80 device=hip deferred")
view = (1, 1, 16, 2, 8), (256, 256, 16, 8, 1)
call = _runtime.Call(program, evoformer.device("hip"), [view] * 4)
for _ in range(2):
    try:
        call.prepare([4096] * 4)
    except evoformer.EvoformerError as problem:
        print(problem)
""")
    assert " ".join(found) == " ".join(
        ["line 6: device 'hip' runs no code for target sm_80"] * 2)


def test_host_time():
    """Replaying a call on the processor: far from interpreting a program. The
    bound is ten times what it takes where nothing else runs."""
    sizes, strides = (0, 1, 3, 2, 8), (48, 48, 16, 8, 1)
    run = call([(sizes, strides)] * 2)
    workspace = np.empty(1 << 16, np.uint8)
    allocate = lambda size: (workspace, workspace.ctypes.data)
    best = 1.0
    for _ in range(2000):
        begin = time.perf_counter()
        run.run([0, 0], allocate)
        best = min(best, time.perf_counter() - begin)
    assert best < 50e-6


@pytest.mark.parametrize("number", ["999999999", "0", "-1", "some"])
def test_any_number_of_threads(number):
    """No request for threads makes calls slow or fail."""
    code = ("import evoformer, numpy as np; q = np.ones((1, 8, 64, 4, 8), np.float32);"
            "print(evoformer.attention(q, q, q).shape)")
    done = bounded.run([sys.executable, "-c", code], cpu_seconds=60,
                       env={**os.environ, "EVOFORMER_NUM_THREADS": number})
    assert done.stdout == "(1, 8, 64, 4, 8)\n", done.stderr
