// Which defects are drawn: none of a field that nothing reads, and none of a sum that is only asked whether it is NaN before
// the subgroup votes, where another sign or a lost exchange changes nothing.
// RUN: evoformer-sim %s --kernel=votes --block=32 --arg=out:128 --mutants=1000 --verbose | FileCheck %s

// One of two sums and one of two exchanges, and each is reported.
// CHECK-DAG: subtract floats {{ *}}0 {{ *}}1 {{ *}}0 {{ *}}0 {{ *}}0
// CHECK-DAG: drop exchange {{ *}}0 {{ *}}1 {{ *}}0 {{ *}}0 {{ *}}0
// RUN: evoformer-sim %s --kernel=fields --block=32 --arg=out:128 --mutants=1000 --verbose | FileCheck %s --check-prefix=FIELDS
// The shift of the field that is read, not that of the other one.
// FIELDS: exchange operands {{ *}}0 {{ *}}1 {{ *}}0 {{ *}}0 {{ *}}0
// FIELDS-NOT: constant(5 : i32)
// RUN: evoformer-sim %s --kernel=limits --block=32 --arg=out:128 --mutants=1000 --verbose | FileCheck %s --check-prefix=LIMITS
// The limit of what is stored, not the one that no size reaches.
// LIMITS-NOT: constant(-1073741824 : i64)
// LIMITS: decrement constant {{ *}}0 {{ *}}1 {{ *}}0 {{ *}}0 {{ *}}0
// LIMITS-NOT: constant(-1073741824 : i64)
// RUN: evoformer-sim %s --kernel=threads --block=32 --arg=out:128 --mutants=1000 --verbose | FileCheck %s --check-prefix=THREADS
// A lane's partner is below 32, so that dropping the choice or comparing with 33 is none; comparing with 31 is one.
// THREADS-NOT: drop mask
// THREADS: increment constant {{ *}}0 {{ *}}1 {{ *}}0 {{ *}}0 {{ *}}0
// THREADS: total {{ *}}2 {{ *}}6 {{ *}}0 {{ *}}0 {{ *}}0
// THREADS: increment constant: {{.*}}constant(1 : i32)
// THREADS: wrong: {{.*}} decrement constant: {{.*}}constant(32 : i32)
// RUN: evoformer-sim %s --kernel=exchanges --block=32 --arg=i32:7 --arg=out:128 --mutants=1000 --verbose | FileCheck %s --check-prefix=EXCHANGES
// Odd lanes take what even ones have, lane 31 that of 30, so that lane 30 may as well be the last to be read, or only lanes
// below the reader. All lanes have the number that is read of lane 0. Only lanes below four come to where the sum with lanes
// below eight is used, which does not go through 31 either.
// EXCHANGES: drop exchange {{ *}}0 {{ *}}2 {{ *}}0 {{ *}}0 {{ *}}0
// EXCHANGES: exchange operands {{ *}}0 {{ *}}1 {{ *}}0 {{ *}}0 {{ *}}0
// EXCHANGES: total {{ *}}2 {{ *}}13 {{ *}}0 {{ *}}0 {{ *}}0
// EXCHANGES-NOT: increment constant: {{.*}}constant(1 : i32)
module attributes {gpu.container_module} {
  gpu.module @kernels [#nvvm.target<chip = "sm_80">] {
    llvm.func @votes(%out: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel} {
      %all = llvm.mlir.constant(-1 : i32) : i32
      %one = llvm.mlir.constant(1 : i32) : i32
      %clamp = llvm.mlir.constant(31 : i32) : i32
      %zero = llvm.mlir.constant(0.0 : f32) : f32
      %t = nvvm.read.ptx.sreg.tid.x : i32
      %f = llvm.sitofp %t : i32 to f32

      // What is stored.
      %bits = llvm.bitcast %f : f32 to i32
      %other = nvvm.shfl.sync bfly %all, %bits, %one, %clamp : i32 -> i32
      %moved = llvm.bitcast %other : i32 to f32
      %sum = llvm.fadd %f, %moved : f32

      // What is asked.
      %sumBits = llvm.bitcast %sum : f32 to i32
      %otherSum = nvvm.shfl.sync bfly %all, %sumBits, %one, %clamp : i32 -> i32
      %movedSum = llvm.bitcast %otherSum : i32 to f32
      %asked = llvm.fadd %sum, %movedSum : f32
      %isNaN = llvm.fcmp "uno" %asked, %asked : f32
      %any = nvvm.vote.sync any %all, %isNaN -> i1

      %v = llvm.select %any, %zero, %sum : i1, f32
      %p = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
      llvm.store %v, %p : f32, !llvm.ptr<1>
      llvm.return
    }

    llvm.func @fields(%out: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel} {
      %read = llvm.mlir.constant(3 : i32) : i32
      %unread = llvm.mlir.constant(5 : i32) : i32
      %t = nvvm.read.ptx.sreg.tid.x : i32
      %a = llvm.sub %t, %read : i32
      %b = llvm.sub %t, %unread : i32
      %none = llvm.mlir.poison : !llvm.struct<(i32, i32)>
      %one = llvm.insertvalue %a, %none[0] : !llvm.struct<(i32, i32)>
      %both = llvm.insertvalue %b, %one[1] : !llvm.struct<(i32, i32)>
      %v = llvm.extractvalue %both[0] : !llvm.struct<(i32, i32)>
      %p = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      llvm.store %v, %p : i32, !llvm.ptr<1>
      llvm.return
    }

    llvm.func @limits(%out: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel} {
      %lowest = llvm.mlir.constant(-1073741824 : i64) : i64
      %least = llvm.mlir.constant(7 : i64) : i64
      %t = nvvm.read.ptx.sreg.tid.x : i32
      %i = llvm.zext %t : i32 to i64
      %a = llvm.intr.smax(%i, %lowest) : (i64, i64) -> i64
      %b = llvm.intr.smax(%a, %least) : (i64, i64) -> i64
      %v = llvm.trunc %b : i64 to i32
      %p = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      llvm.store %v, %p : i32, !llvm.ptr<1>
      llvm.return
    }

    llvm.func @threads(%out: !llvm.ptr<1>) attributes {gpu.kernel, gpu.known_block_size = array<i32: 32, 1, 1>, nvvm.kernel} {
      %width = llvm.mlir.constant(32 : i32) : i32
      %bit = llvm.mlir.constant(1 : i32) : i32
      %t = nvvm.read.ptx.sreg.tid.x : i32
      %other = llvm.xor %t, %bit : i32
      %valid = llvm.icmp "slt" %other, %width : i32
      %v = llvm.select %valid, %other, %t : i1, i32
      %p = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      llvm.store %v, %p : i32, !llvm.ptr<1>
      llvm.return
    }

    llvm.func @exchanges(%n: i32, %out: !llvm.ptr<1>) attributes {gpu.kernel, gpu.known_block_size = array<i32: 32, 1, 1>, nvvm.kernel} {
      %all = llvm.mlir.constant(-1 : i32) : i32
      %last = llvm.mlir.constant(31 : i32) : i32
      %zero = llvm.mlir.constant(0 : i32) : i32
      %lanes = llvm.mlir.constant(32 : i32) : i32
      %one = llvm.mlir.constant(1 : i32) : i32
      %bit = llvm.mlir.constant(1 : i32) : i32
      %four = llvm.mlir.constant(4 : i32) : i32
      %t = nvvm.read.ptx.sreg.tid.x : i32
      %f = llvm.sitofp %t : i32 to f32
      %bits = llvm.bitcast %f : f32 to i32

      %clamp = llvm.sub %lanes, %one : i32
      %other = nvvm.shfl.sync bfly %all, %bits, %bit, %clamp : i32 -> i32
      %isOdd = llvm.trunc %t : i32 to i1
      %chosen = llvm.select %isOdd, %other, %bits : i1, i32

      %same = nvvm.shfl.sync idx %all, %n, %zero, %last : i32 -> i32
      %v = llvm.add %chosen, %same : i32
      %p = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      llvm.store %v, %p : i32, !llvm.ptr<1>

      %lanes2 = llvm.mlir.constant(32 : i32) : i32
      %last2 = llvm.mlir.constant(1 : i32) : i32
      %clamp2 = llvm.sub %lanes2, %last2 : i32
      %far = nvvm.shfl.sync bfly %all, %bits, %four, %clamp2 : i32 -> i32
      %moved = llvm.bitcast %far : i32 to f32
      %sum = llvm.fadd %f, %moved : f32
      %isLow = llvm.icmp "ult" %t, %four : i32
      llvm.cond_br %isLow, ^low, ^end
    ^low:
      llvm.store %sum, %p : f32, !llvm.ptr<1>
      llvm.br ^end
    ^end:
      llvm.return
    }
  }
}
