// RUN: evoformer-sim %s | FileCheck %s --check-prefix=DECODE
// RUN: evoformer-sim %s --kernel=square --grid=2 --block=64 --arg=i32:7 --arg=out:512:%t.bin --counters | FileCheck %s --check-prefix=COUNT
// RUN: od -An -t d4 -N 24 %t.bin | FileCheck %s --check-prefix=DATA
// RUN: evoformer-sim %s --kernel=square --grid=2 --block=64 --arg=i32:7 --arg=inout:%t.bin --json | FileCheck %s --check-prefix=JSON
// RUN: not evoformer-sim %s --kernel=square --grid=2 --block=64 --arg=i32:7 --arg=out:508 2>&1 | FileCheck %s --check-prefix=FINDING
// RUN: not evoformer-sim %s --kernel=square --grid=2 --block=64 --arg=i32:7 --arg=in:%t.bin 2>&1 | FileCheck %s --check-prefix=READONLY
// RUN: not evoformer-sim %s --kernel=far --block=32 --arg=in:%t.bin --arg=out:1000000 2>&1 | FileCheck %s --check-prefix=FAR
// RUN: not evoformer-sim %s --mutants=3 2>&1 | FileCheck %s --check-prefix=MUTANTS
// RUN: evoformer-sim %s --kernel=square --block=64 --arg=i32:7 --arg=out:256 --mutants=9 --mutants-only=0,2 --mutants-folder=%t.mutants --verbose | FileCheck %s --check-prefix=AGAIN
// RUN: ls %t.mutants | FileCheck %s --check-prefix=KEPT
// RUN: not evoformer-sim %s --kernel=square --block=64 --arg=i32:7 --arg=out:256 --mutants=9 --mutants-folder=%t.bin 2>&1 | FileCheck %s --check-prefix=FOLDER
// RUN: not evoformer-sim %s --kernel=square --arg=i32:x 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not evoformer-sim %s --kernel=square --arg=memory:8 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: not evoformer-sim %s --kernel=square --arg=in:%t.none 2>&1 | FileCheck %s --check-prefix=FILE
// RUN: not evoformer-sim %s --kernel=square --arg=i32:99999999999 --arg=out:8 2>&1 | FileCheck %s --check-prefix=WIDE
// RUN: not evoformer-sim %s --kernel=square --block=64 --arg=i32:7 2>&1 | FileCheck %s --check-prefix=FEW
// RUN: not evoformer-sim %s --kernel=square --block=64 --arg=out:512 --arg=i32:7 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not evoformer-sim %s --kernel=square --block=64 --arg=i64:7 --arg=out:512 2>&1 | FileCheck %s --check-prefix=WIDTH
// RUN: not evoformer-sim %s --kernel=square --arg=i32:7 --arg=ref:0 2>&1 | FileCheck %s --check-prefix=REF
// RUN: not evoformer-sim %s --kernel=square --grid=0 --arg=i32:7 --arg=out:8 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not evoformer-sim %s --kernel=square --block=2048 --arg=i32:7 --arg=out:8 2>&1 | FileCheck %s --check-prefix=THREADS
// RUN: not evoformer-sim %s --kernel=circle 2>&1 | FileCheck %s --check-prefix=KERNEL
// RUN: not evoformer-sim %s --chip=gfx42 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not evoformer-sim %examples/triangle_attention.mlir 2>&1 | FileCheck %s --check-prefix=GRAPH
// RUN: evoformer-opt %examples/triangle_attention.mlir --evoformer-lower='target=sm_80 stop-after=lanes' -o %t.lanes.mlir
// RUN: not evoformer-sim %t.lanes.mlir 2>&1 | FileCheck %s --check-prefix=LANES
// RUN: evoformer-opt %examples/triangle_attention.mlir --evoformer-lower=target=sm_80 -o %t.machine.mlir
// RUN: evoformer-sim %t.machine.mlir | FileCheck %s --check-prefix=MACHINE
// RUN: head -c 60000 %t.machine.mlir > %t.truncated.mlir
// RUN: not evoformer-sim %t.truncated.mlir 2>&1 | FileCheck %s --check-prefix=TRUNCATED
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
// FAR: out of bounds: reads 4 bytes at offset 40000 of 'in:
// MUTANTS: error: --mutants needs --kernel
// AGAIN: total {{ *}}2 {{ *}}0
// AGAIN-NEXT: finding: 0:
// AGAIN-NEXT: finding: 2: drop global store: llvm.store
// KEPT: 0.broken.mlir
// KEPT-NEXT: 0.mlir
// KEPT-NEXT: 2.broken.mlir
// KEPT-NEXT: 2.mlir
// FOLDER: error: '{{.*}}.bin{{.*}}': Not a directory
// READONLY: writes to read-only buffer
// NUMBER: error: 'x' is no integer
// KIND: error: argument 'memory:8': expected i32, i64
// WIDE: error: '99999999999' does not fit i32
// FEW: error: kernel 'square': 1 arguments given, 2 expected
// TYPE: error: argument 'out:512': kernel 'square' has i32 there
// WIDTH: error: argument 'i64:7': kernel 'square' has i32 there
// REF: error: argument 'ref:0': there is no such memory before it
// EMPTY: error: kernel 'square': the grid or the workgroup is empty
// THREADS: error: kernel 'square': a workgroup has at most 1024 threads
// KERNEL: error: no kernel 'circle' in the module; it has square
// CHIP: error: kernel 'square': the module names no chip that the simulator knows {{.*}} but 'gfx42'
// GRAPH: error: '{{.*}}triangle_attention.mlir' is no module after the final conversion
// LANES: error: '{{.*}}lanes.mlir' is no module after the final conversion
// MACHINE: triangle_attention_attention: every operation is known
// TRUNCATED: truncated.mlir:{{[0-9:]+}}: error:
// TRUNCATED: error: '{{.*}}truncated.mlir' is no module after the final conversion
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
  // Reads where the other argument lies if nothing is between them.
  llvm.func @far(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %far = llvm.getelementptr %in[10000] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
    %from = llvm.getelementptr %far[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %to = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %v = llvm.load %from : !llvm.ptr<1> -> i32
    llvm.store %v, %to : i32, !llvm.ptr<1>
    llvm.return
  }
}
