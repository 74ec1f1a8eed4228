// What is rarely run loads its arguments again and computes its addresses anew,
// so that the loops before it have their registers; what it shares with the rest
// other than addresses it takes from there. A branch of which nothing is known
// takes all from there. A loop of products there computes in each iteration what
// follows from the number of its lane.
// RUN: evoformer-opt %s --evoformer-serialize="format=isa out-dir=%t" -o %t.mlir
// RUN: FileCheck %s < %t/kernels.s

// CHECK-LABEL: rare:
//       CHECK:   s_load_{{.*}} s[0:1], 0x0
//       CHECK:   v_sqrt_f32
//       CHECK:   s_cbranch
//   CHECK-DAG:   s_load_dword s[[STRIDE:[0-9]+]], {{.*}} 0xc
//   CHECK-DAG:   s_load_dwordx2 {{.*}} 0x10
//   CHECK-DAG:   s_load_dword s[[LAST:[0-9]+]], {{.*}} 0x1c
//   CHECK-NOT:   v_sqrt_f32
//   CHECK-DAG:   v_mul_lo_u32 {{.*}}, s[[STRIDE]], v0
//   CHECK-DAG:   v_mul_lo_u32 {{.*}}, s[[LAST]], v0
//       CHECK:   s_endpgm

// CHECK-LABEL: usual:
//       CHECK:   s_load_{{.*}} s[0:1], 0x0
//       CHECK:   v_sqrt_f32
//       CHECK:   s_cbranch
//   CHECK-NOT:   s_load_{{.*}} 0xc
//   CHECK-NOT:   s_load_{{.*}} 0x10
//       CHECK:   s_endpgm

// CHECK-LABEL: loop:
//       CHECK:   s_cbranch
//       CHECK: ; =>This Inner Loop Header
//       CHECK:   v_mul_lo_u32
//       CHECK:   v_mfma_f32_16x16x4
//       CHECK:   s_cbranch
//       CHECK:   s_endpgm
#gfx942 = #evo_tile.target<chip = "gfx942", triple = "amdgcn-amd-amdhsa",
  features = "", subgroup_size = 64, max_workgroup = 1024, registers = 512,
  lds_bytes = 65536, lds_banks = 32, matrix = [], properties = {}>
gpu.module @kernels attributes {evo_tile.target = #gfx942} {
  llvm.func @rare(%from: !llvm.ptr<1>, %odd: i8, %half: i16, %stride: i32, %to: !llvm.ptr<1>, %limit: f32, %last: i32)
      attributes {gpu.kernel, rocdl.kernel} {
    %no = llvm.mlir.constant(false) : i1
    %lane = rocdl.workitem.id.x : i32
    %offset = llvm.mul %lane, %stride : i32
    %wide = llvm.sext %offset : i32 to i64
    %source = llvm.getelementptr %from[%wide] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %target = llvm.getelementptr %to[%wide] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %x = llvm.load %source : !llvm.ptr<1> -> f32
    %root = llvm.intr.sqrt(%x) {fastmathFlags = #llvm.fastmath<afn>} : (f32) -> f32
    llvm.store %root, %target : f32, !llvm.ptr<1>
    %zero = llvm.mlir.constant(0 : i64) : i64
    %is_bad = llvm.fcmp "ogt" %x, %limit : f32
    %votes = llvm.call_intrinsic "llvm.amdgcn.ballot"(%is_bad) : (i1) -> i64
    %any = llvm.icmp "ne" %votes, %zero : i64
    %likely = llvm.intr.expect %any, %no : i1
    llvm.cond_br %likely, ^again, ^end
  ^again:
    %again = llvm.mul %lane, %last : i32
    %number = llvm.sitofp %again : i32 to f32
    %twice = llvm.fadd %root, %number : f32
    llvm.store volatile %twice, %target : f32, !llvm.ptr<1>
    llvm.br ^end
  ^end:
    llvm.return
  }

  llvm.func @usual(%from: !llvm.ptr<1>, %odd: i8, %half: i16, %stride: i32, %to: !llvm.ptr<1>, %limit: f32, %last: i32)
      attributes {gpu.kernel, rocdl.kernel} {
    %lane = rocdl.workitem.id.x : i32
    %offset = llvm.mul %lane, %stride : i32
    %wide = llvm.sext %offset : i32 to i64
    %source = llvm.getelementptr %from[%wide] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %target = llvm.getelementptr %to[%wide] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %x = llvm.load %source : !llvm.ptr<1> -> f32
    %root = llvm.intr.sqrt(%x) {fastmathFlags = #llvm.fastmath<afn>} : (f32) -> f32
    llvm.store %root, %target : f32, !llvm.ptr<1>
    %zero = llvm.mlir.constant(0 : i64) : i64
    %is_bad = llvm.fcmp "ogt" %x, %limit : f32
    %votes = llvm.call_intrinsic "llvm.amdgcn.ballot"(%is_bad) : (i1) -> i64
    %any = llvm.icmp "ne" %votes, %zero : i64
    llvm.cond_br %any, ^again, ^end
  ^again:
    %again = llvm.mul %lane, %last : i32
    %number = llvm.sitofp %again : i32 to f32
    %twice = llvm.fadd %root, %number : f32
    llvm.store volatile %twice, %target : f32, !llvm.ptr<1>
    llvm.br ^end
  ^end:
    llvm.return
  }

  llvm.func @loop(%from: !llvm.ptr<1>, %stride: i32, %to: !llvm.ptr<1>, %limit: f32, %last: i32)
      attributes {gpu.kernel, rocdl.kernel} {
    %no = llvm.mlir.constant(false) : i1
    %none = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %sum = llvm.mlir.constant(dense<0.0> : vector<4xf32>) : vector<4xf32>
    %lane = rocdl.workitem.id.x : i32
    %source = llvm.getelementptr %from[%lane] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %x = llvm.load %source : !llvm.ptr<1> -> f32
    %zero = llvm.mlir.constant(0 : i64) : i64
    %is_bad = llvm.fcmp "ogt" %x, %limit : f32
    %votes = llvm.call_intrinsic "llvm.amdgcn.ballot"(%is_bad) : (i1) -> i64
    %any = llvm.icmp "ne" %votes, %zero : i64
    %likely = llvm.intr.expect %any, %no : i1
    llvm.cond_br %likely, ^again(%none, %sum : i32, vector<4xf32>), ^end
  ^again(%i: i32, %sums: vector<4xf32>):
    %offset = llvm.mul %lane, %stride : i32
    %row = llvm.add %offset, %i : i32
    %place = llvm.getelementptr %from[%row] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %a = llvm.load %place : !llvm.ptr<1> -> f32
    %added = llvm.call_intrinsic "llvm.amdgcn.mfma.f32.16x16x4f32"(%a, %a, %sums, %none, %none, %none) : (f32, f32, vector<4xf32>, i32, i32, i32) -> vector<4xf32>
    %next = llvm.add %i, %one : i32
    %more = llvm.icmp "slt" %next, %last : i32
    llvm.cond_br %more, ^again(%next, %added : i32, vector<4xf32>), ^done
  ^done:
    llvm.store %added, %to : vector<4xf32>, !llvm.ptr<1>
    llvm.br ^end
  ^end:
    llvm.return
  }
}
