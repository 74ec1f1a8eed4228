// The step of a load that runs ahead, i + (i + 1 < n ? 1 : 0), stays apart from
// the products with i, which become additions; what does not fit stays.
// RUN: evoformer-opt %s --pass-pipeline='builtin.module(gpu.module(convert-gpu-lanes-to-llvm))' | FileCheck %s

#target = #evo_tile.target<chip = "gfx942", triple = "amdgcn-amd-amdhsa", features = "", subgroup_size = 64, max_workgroup = 1024, registers = 512, lds_bytes = 65536, lds_banks = 32, matrix = [], properties = {}>

gpu.module @kernels attributes {evo_tile.target = #target} {
  // CHECK-LABEL: llvm.func @ahead(
  //  CHECK-SAME:     %[[N:[^ ]+]]: i64, %[[STRIDE:[^ ]+]]: i64, %[[BASE:[^ ]+]]: i64)
  //       CHECK:   ^bb1(%[[I:.+]]: i64):
  //       CHECK:   ^bb2:
  //       CHECK:   %[[NEXT:.+]] = llvm.add %[[I]], %{{.+}} : i64
  //       CHECK:   %[[LEFT:.+]] = llvm.sub %[[NEXT]], %[[N]] : i64
  //       CHECK:   %[[SIGN:.+]] = llvm.ashr %[[LEFT]], %{{.+}} : i64
  //       CHECK:   %[[STEP:.+]] = llvm.and %[[STRIDE]], %[[SIGN]] : i64
  //       CHECK:   %[[PRODUCT:.+]] = llvm.mul %[[I]], %[[STRIDE]] : i64
  //       CHECK:   %[[REST:.+]] = llvm.add %[[PRODUCT]], %[[BASE]] : i64
  //       CHECK:   llvm.add %[[REST]], %[[STEP]] : i64
  gpu.func @ahead(%m: memref<?xf32>, %n: index, %stride: index, %base: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      %next = arith.addi %i, %c1 : index
      %inside = arith.cmpi slt, %next, %n : index
      %by = arith.select %inside, %c1, %c0 : index
      %ahead = arith.addi %i, %by : index
      %product = arith.muli %ahead, %stride : index
      %at = arith.addi %base, %product : index
      %x = memref.load %m[%at] : memref<?xf32>
      memref.store %x, %m[%c0] : memref<?xf32>
    }
    gpu.return
  }

  // 32 bits are cheap.
  // CHECK-LABEL: llvm.func @not_ahead
  //   CHECK-NOT:   llvm.ashr
  //       CHECK:   llvm.select %{{.+}} : i1, i32
  //   CHECK-NOT:   llvm.ashr
  //       CHECK:   llvm.return
  gpu.func @not_ahead(%m: memref<?xf32>, %n: i32, %stride: i32) kernel {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant 0 : index
    scf.for %i = %c0 to %n step %c1 : i32 {
      %next = arith.addi %i, %c1 : i32
      %inside = arith.cmpi slt, %next, %n : i32
      %by = arith.select %inside, %c1, %c0 : i32
      %ahead = arith.addi %i, %by : i32
      %product = arith.muli %ahead, %stride : i32
      %at = arith.index_cast %product : i32 to index
      %x = memref.load %m[%at] : memref<?xf32>
      memref.store %x, %m[%zero] : memref<?xf32>
    }
    gpu.return
  }
}
