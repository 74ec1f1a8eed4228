// Machine code whose barrier does not wait for LDS is no code: a store without a fence, one
// on only one of two ways to the barrier, and one that a loop leaves under way at its end.
//
// RUN: evoformer-opt %s --split-input-file --verify-diagnostics --evoformer-serialize=format=isa -o /dev/null
//
// A wait before the barrier mends all of them: lgkmcnt(0).
// RUN: sed 's/^ *rocdl.s.barrier/rocdl.s.waitcnt 49279\n&/; /expected-error/d' %s > %t.waits.mlir
// RUN: evoformer-opt %t.waits.mlir --split-input-file --evoformer-serialize=format=isa -o /dev/null
//
// A fence does where it is in no loop; of that in the header of one LLVM 22 deletes the wait.
// RUN: sed 's/^ *rocdl.s.barrier/llvm.fence syncscope("workgroup") release\n&/; /expected-error/d' %s > %t.fences.mlir
// RUN: not evoformer-opt %t.fences.mlir --split-input-file --evoformer-serialize=format=isa -o /dev/null 2>&1 | FileCheck %s --check-prefix=FENCES
// FENCES-NOT: error:
// FENCES: error: kernel 'loop': the code generator's output reaches a barrier
// FENCES-NOT: error:

#gfx942 = #evo_tile.target<chip = "gfx942", triple = "amdgcn-amd-amdhsa", features = "",
  subgroup_size = 64, max_workgroup = 1024, registers = 512,
  lds_bytes = 65536, lds_banks = 32, matrix = [], properties = {}>
// expected-error @below {{kernel 'straight': the code generator's output reaches a barrier while an access to workgroup memory may be under way; a wait (fence or s.waitcnt) before the barrier is missing or was lost}}
gpu.module @m attributes {evo_tile.target = #gfx942} {
  llvm.mlir.global internal @lds() {addr_space = 3 : i32} : !llvm.array<1024 x i32>
  llvm.func @straight(%n: i32, %out: !llvm.ptr<1>) attributes {gpu.kernel, rocdl.kernel} {
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %lane = rocdl.workitem.id.x : i32
    %own = llvm.getelementptr %lds[%lane] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %other = llvm.xor %lane, %one : i32
    %read = llvm.getelementptr %lds[%other] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %to = llvm.getelementptr %out[%lane] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    llvm.store %n, %own : i32, !llvm.ptr<3>
    rocdl.s.barrier
    %x = llvm.load volatile %read : !llvm.ptr<3> -> i32
    llvm.store %x, %to : i32, !llvm.ptr<1>
    llvm.return
  }
}

// -----

#gfx942 = #evo_tile.target<chip = "gfx942", triple = "amdgcn-amd-amdhsa", features = "",
  subgroup_size = 64, max_workgroup = 1024, registers = 512,
  lds_bytes = 65536, lds_banks = 32, matrix = [], properties = {}>
// expected-error @below {{kernel 'branch': the code generator's output reaches a barrier while an access to workgroup memory may be under way; a wait (fence or s.waitcnt) before the barrier is missing or was lost}}
gpu.module @m attributes {evo_tile.target = #gfx942} {
  llvm.mlir.global internal @lds() {addr_space = 3 : i32} : !llvm.array<1024 x i32>
  llvm.func @branch(%n: i32, %out: !llvm.ptr<1>) attributes {gpu.kernel, rocdl.kernel} {
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %lane = rocdl.workitem.id.x : i32
    %own = llvm.getelementptr %lds[%lane] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %other = llvm.xor %lane, %one : i32
    %read = llvm.getelementptr %lds[%other] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %to = llvm.getelementptr %out[%lane] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %stores = llvm.icmp "eq" %n, %one : i32
    llvm.cond_br %stores, ^store, ^join
  ^store:
    llvm.store volatile %n, %own : i32, !llvm.ptr<3>
    llvm.br ^join
  ^join:
    rocdl.s.barrier
    %x = llvm.load volatile %read : !llvm.ptr<3> -> i32
    llvm.store %x, %to : i32, !llvm.ptr<1>
    llvm.return
  }
}

// -----

#gfx942 = #evo_tile.target<chip = "gfx942", triple = "amdgcn-amd-amdhsa", features = "",
  subgroup_size = 64, max_workgroup = 1024, registers = 512,
  lds_bytes = 65536, lds_banks = 32, matrix = [], properties = {}>
// expected-error @below {{kernel 'loop': the code generator's output reaches a barrier while an access to workgroup memory may be under way; a wait (fence or s.waitcnt) before the barrier is missing or was lost}}
gpu.module @m attributes {evo_tile.target = #gfx942} {
  llvm.mlir.global internal @lds() {addr_space = 3 : i32} : !llvm.array<1024 x i32>
  llvm.func @loop(%n: i32, %out: !llvm.ptr<1>) attributes {gpu.kernel, rocdl.kernel} {
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %lane = rocdl.workitem.id.x : i32
    %own = llvm.getelementptr %lds[%lane] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %other = llvm.xor %lane, %one : i32
    %read = llvm.getelementptr %lds[%other] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %to = llvm.getelementptr %out[%lane] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    llvm.br ^loop(%lane : i32)
  ^loop(%i: i32):
    rocdl.s.barrier
    llvm.store volatile %i, %own : i32, !llvm.ptr<3>
    %next = llvm.sub %i, %one : i32
    %again = llvm.icmp "ne" %next, %one : i32
    llvm.cond_br %again, ^loop(%next : i32), ^end
  ^end:
    llvm.return
  }
}
