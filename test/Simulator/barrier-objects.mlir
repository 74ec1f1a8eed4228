// Barrier objects that count arrivals and bytes, used as none may be.
//
// RUN: not evoformer-sim %s --kernel=nobody --block=32 2>&1 | FileCheck %s --check-prefix=NOBODY
// RUN: not evoformer-sim %s --kernel=early --block=64 2>&1 | FileCheck %s --check-prefix=EARLY
// RUN: not evoformer-sim %s --kernel=crowd --block=32 2>&1 | FileCheck %s --check-prefix=CROWD
// RUN: not evoformer-sim %s --kernel=never --block=32 2>&1 | FileCheck %s --check-prefix=NEVER
// RUN: not evoformer-sim %s --kernel=left --block=1 --arg=out:1024 --arg=map:0:4:16x16:16x8:0 2>&1 | FileCheck %s --check-prefix=LEFT
// RUN: not evoformer-sim %s --kernel=left --block=1 --arg=out:1024 --arg=map:0:4:256:32:0 2>&1 | FileCheck %s --check-prefix=RANK
// RUN: not evoformer-sim %s --kernel=again --block=1 --arg=out:1024 --arg=map:0:4:16x16:16x8:0 2>&1 | FileCheck %s --check-prefix=AGAIN
// RUN: not evoformer-sim %s --kernel=left --block=1 --arg=out:1024 --arg=map:0:4:16x16:16x512:0 2>&1 | FileCheck %s --check-prefix=MAP
//
// RUN: not evoformer-sim %s --kernel=unordered --block=64 --seed=1 2>&1 | FileCheck %s --check-prefix=UNORDERED
// RUN: evoformer-sim %s --kernel=ordered --block=64 --seed=0
// RUN: evoformer-sim %s --kernel=ordered --block=64 --seed=1
// RUN: not evoformer-sim %s --kernel=ahead --block=64 --seed=0 2>&1 | FileCheck %s --check-prefix=AHEAD
//
// NOBODY: unwritten LDS: uses a barrier object that nothing has initialised
// EARLY: race on LDS: uses a barrier object that subgroup 0 has initialised since the last barrier
// CROWD: deadlock: more arrive in a phase than the barrier object counts
// NEVER: deadlock: the subgroup waits for arrivals or bytes that never come
// LEFT: copy not awaited: the workgroup ends before the copy has arrived
// RANK: out of bounds: copies by what is no tensor map of this launch with as many dimensions
// AGAIN: copy not awaited: initialises a barrier object again while copies that it counts are under way
// UNORDERED: race on LDS: writes LDS that subgroup {{[01]}} accessed since the last barrier
// AHEAD: race on LDS: writes LDS that subgroup 1 accessed since the last barrier
// MAP: error: argument 'map:0:4:16x16:16x512:0': expected map:MEMORY:BYTES:SIZES:BOX:SWIZZLE

gpu.module @kernels [#nvvm.target<chip = "sm_90">] {
  llvm.mlir.global internal @lds() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<1024 x i8>

  llvm.func @nobody() attributes {gpu.kernel, nvvm.kernel} {
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %bytes = llvm.mlir.constant(16 : i32) : i32
    nvvm.mbarrier.expect_tx %lds, %bytes : !llvm.ptr<3>, i32
    llvm.return
  }

  llvm.func @early() attributes {gpu.kernel, nvvm.kernel} {
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %one = llvm.mlir.constant(1 : i32) : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %thread = nvvm.read.ptx.sreg.tid.x : i32
    %first = llvm.icmp "eq" %thread, %zero : i32
    llvm.cond_br %first, ^make, ^use
  ^make:
    nvvm.mbarrier.init %lds, %one : !llvm.ptr<3>, i32
    llvm.br ^use
  ^use:
    nvvm.mbarrier.expect_tx %lds, %zero : !llvm.ptr<3>, i32
    llvm.return
  }

  llvm.func @crowd() attributes {gpu.kernel, nvvm.kernel} {
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %one = llvm.mlir.constant(1 : i32) : i32
    %bytes = llvm.mlir.constant(16 : i32) : i32
    nvvm.mbarrier.init %lds, %one : !llvm.ptr<3>, i32
    nvvm.mbarrier.expect_tx %lds, %bytes : !llvm.ptr<3>, i32
    %state = nvvm.mbarrier.arrive %lds : !llvm.ptr<3> -> i64
    llvm.return
  }

  llvm.func @never() attributes {gpu.kernel, nvvm.kernel} {
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %one = llvm.mlir.constant(1 : i32) : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    nvvm.mbarrier.init %lds, %one : !llvm.ptr<3>, i32
    %done = nvvm.mbarrier.try_wait %lds, %zero : !llvm.ptr<3>, i32 -> i1
    llvm.return
  }

  llvm.func @left(%out: !llvm.ptr, %map: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %barrier = llvm.getelementptr %lds[512] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %cluster = llvm.addrspacecast %lds : !llvm.ptr<3> to !llvm.ptr<7>
    %one = llvm.mlir.constant(1 : i32) : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %bytes = llvm.mlir.constant(512 : i32) : i32
    nvvm.mbarrier.init %barrier, %one : !llvm.ptr<3>, i32
    nvvm.mbarrier.expect_tx %barrier, %bytes : !llvm.ptr<3>, i32
    nvvm.cp.async.bulk.tensor.shared.cluster.global %cluster, %map, %barrier, box[%zero, %zero] : !llvm.ptr<7>, !llvm.ptr
    %state = nvvm.mbarrier.arrive %barrier : !llvm.ptr<3> -> i64
    llvm.return
  }

  llvm.func @again(%out: !llvm.ptr, %map: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %barrier = llvm.getelementptr %lds[512] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %cluster = llvm.addrspacecast %lds : !llvm.ptr<3> to !llvm.ptr<7>
    %one = llvm.mlir.constant(1 : i32) : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    nvvm.mbarrier.init %barrier, %one : !llvm.ptr<3>, i32
    nvvm.cp.async.bulk.tensor.shared.cluster.global %cluster, %map, %barrier, box[%zero, %zero] : !llvm.ptr<7>, !llvm.ptr
    nvvm.mbarrier.init %barrier, %one : !llvm.ptr<3>, i32
    llvm.return
  }

  // Subgroup 0 writes what both have read: with the objects' arrivals, without them,
  // and when subgroup 1 has arrived for what it read before only.
  llvm.func @ordered() attributes {gpu.kernel, nvvm.kernel} {
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %barrier = llvm.getelementptr %lds[512] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %zero = llvm.mlir.constant(0 : i32) : i32
    %two = llvm.mlir.constant(2 : i32) : i32
    %size = llvm.mlir.constant(32 : i32) : i32
    %thread = nvvm.read.ptx.sreg.tid.x : i32
    %lane = llvm.urem %thread, %size : i32
    %isFirst = llvm.icmp "eq" %thread, %zero : i32
    %isLeader = llvm.icmp "eq" %lane, %zero : i32
    llvm.cond_br %isFirst, ^make, ^meet
  ^make:
    nvvm.mbarrier.init %barrier, %two : !llvm.ptr<3>, i32
    llvm.store %zero, %lds : i32, !llvm.ptr<3>
    llvm.br ^meet
  ^meet:
    nvvm.barrier0
    %x = llvm.load volatile %lds : !llvm.ptr<3> -> i32
    llvm.cond_br %isLeader, ^arrive, ^wait
  ^arrive:
    %state = nvvm.mbarrier.arrive %barrier : !llvm.ptr<3> -> i64
    llvm.br ^wait
  ^wait:
    llvm.cond_br %isFirst, ^write, ^end
  ^write:
    %done = nvvm.mbarrier.try_wait %barrier, %zero : !llvm.ptr<3>, i32 -> i1
    llvm.store %two, %lds : i32, !llvm.ptr<3>
    llvm.br ^end
  ^end:
    llvm.return
  }

  llvm.func @unordered() attributes {gpu.kernel, nvvm.kernel} {
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %barrier = llvm.getelementptr %lds[512] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %zero = llvm.mlir.constant(0 : i32) : i32
    %two = llvm.mlir.constant(2 : i32) : i32
    %thread = nvvm.read.ptx.sreg.tid.x : i32
    %isFirst = llvm.icmp "eq" %thread, %zero : i32
    llvm.cond_br %isFirst, ^make, ^meet
  ^make:
    nvvm.mbarrier.init %barrier, %two : !llvm.ptr<3>, i32
    llvm.store %zero, %lds : i32, !llvm.ptr<3>
    llvm.br ^meet
  ^meet:
    nvvm.barrier0
    %x = llvm.load volatile %lds : !llvm.ptr<3> -> i32
    llvm.store %two, %lds : i32, !llvm.ptr<3>
    llvm.return
  }

  llvm.func @ahead() attributes {gpu.kernel, nvvm.kernel} {
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %barrier = llvm.getelementptr %lds[512] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %zero = llvm.mlir.constant(0 : i32) : i32
    %two = llvm.mlir.constant(2 : i32) : i32
    %size = llvm.mlir.constant(32 : i32) : i32
    %thread = nvvm.read.ptx.sreg.tid.x : i32
    %lane = llvm.urem %thread, %size : i32
    %isFirst = llvm.icmp "eq" %thread, %zero : i32
    %isLeader = llvm.icmp "eq" %lane, %zero : i32
    llvm.cond_br %isFirst, ^make, ^meet
  ^make:
    nvvm.mbarrier.init %barrier, %two : !llvm.ptr<3>, i32
    llvm.store %zero, %lds : i32, !llvm.ptr<3>
    llvm.br ^meet
  ^meet:
    nvvm.barrier0
    llvm.cond_br %isLeader, ^arrive, ^wait
  ^arrive:
    %state = nvvm.mbarrier.arrive %barrier : !llvm.ptr<3> -> i64
    llvm.br ^wait
  ^wait:
    %x = llvm.load volatile %lds : !llvm.ptr<3> -> i32
    llvm.cond_br %isFirst, ^write, ^end
  ^write:
    %done = nvvm.mbarrier.try_wait %barrier, %zero : !llvm.ptr<3>, i32 -> i1
    llvm.store %two, %lds : i32, !llvm.ptr<3>
    llvm.br ^end
  ^end:
    llvm.return
  }
}
