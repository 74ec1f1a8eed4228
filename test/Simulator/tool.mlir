// RUN: evoformer-sim %s | FileCheck %s --check-prefix=DECODE
// RUN: evoformer-sim %s --kernel=square --grid=2 --block=64 --arg=i32:7 --arg=out:512:%t.bin --counters | FileCheck %s --check-prefix=COUNT
// RUN: od -An -t d4 -N 24 %t.bin | FileCheck %s --check-prefix=DATA
// RUN: evoformer-sim %s --kernel=square --grid=2 --block=64 --arg=i32:7 --arg=inout:%t.bin --json | FileCheck %s --check-prefix=JSON
// RUN: not evoformer-sim %s --kernel=square --grid=2 --block=64 --arg=i32:7 --arg=out:508 2>&1 | FileCheck %s --check-prefix=FINDING
// RUN: not evoformer-sim %s --kernel=square --grid=2 --block=64 --arg=i32:7 --arg=in:%t.bin 2>&1 | FileCheck %s --check-prefix=READONLY
// RUN: not evoformer-sim %s --kernel=square --arg=i32:x 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not evoformer-sim %s --kernel=square --arg=memory:8 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: not evoformer-sim %s --kernel=square --arg=in:%t.none 2>&1 | FileCheck %s --check-prefix=FILE
// RUN: not evoformer-sim %t.bin 2>&1 | FileCheck %s --check-prefix=GARBAGE
// RUN: not evoformer-sim %s.none 2>&1 | FileCheck %s --check-prefix=MISSING

// DECODE: square: every operation is known
// COUNT: global stores {{ *}}4
// COUNT: global bytes written {{ *}}512
// DATA: 0 7 28 63
// JSON: "global_bytes_written":512
// FINDING: out of bounds: writes 4 bytes at offset 508 of 'out:508', which has 508 bytes; operation 'llvm.store'
// FINDING-SAME: tool.mlir
// FINDING-SAME: workgroup (1, 0, 0), subgroup 1, lane 31
// READONLY: writes to read-only buffer
// NUMBER: error: 'x' is no integer
// KIND: error: argument 'memory:8': expected i32, i64
// FILE: error: cannot read
// GARBAGE: error:
// MISSING: error: cannot read

gpu.module @m [#nvvm.target<chip = "sm_80">] {
  llvm.func @square(%k: i32, %out: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %b = nvvm.read.ptx.sreg.ctaid.x : i32
    %d = nvvm.read.ptx.sreg.ntid.x : i32
    %bd = llvm.mul %b, %d : i32
    %i = llvm.add %bd, %t : i32
    %ii = llvm.mul %i, %i : i32
    %v = llvm.mul %ii, %k : i32
    %p = llvm.getelementptr %out[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    llvm.store %v, %p : i32, !llvm.ptr<1>
    llvm.return
  }
}
