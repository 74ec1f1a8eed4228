// 2^x of f32 by polynomial against libm's of f64, in vectors and scalars.
//
// RUN: evoformer-opt %s --evo-tile-to-cpu-llvm \
// RUN:   | mlir-runner -e main -entry-point-result=void -O2 \
// RUN:       -shared-libs=%mlir_lib/libmlir_runner_utils.so,%mlir_lib/libmlir_c_runner_utils.so | FileCheck %s

evo_tile.kernel @power(%x: memref<?xf32>, %y: memref<?xf32>) {
  %i = evo_tile.work_item_id 0
  %c37 = arith.constant 37 : index
  %at = arith.muli %i, %c37 : index
  %t = evo_tile.load %x[%at] padding 0.0 : f32 : memref<?xf32> -> tensor<37xf32>
  %e = math.exp2 %t : tensor<37xf32>
  evo_tile.store %e, %y[%at] : tensor<37xf32>, memref<?xf32>
  evo_tile.return
}

func.func private @printMemrefF32(memref<*xf32>) attributes {llvm.emit_c_interface}

func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c37 = arith.constant 37 : index
  // -1024 * 148 / 1024 ... 128 in steps of 1/1024 + 1/65536
  %count = arith.constant 278276 : index
  %step = arith.constant 0.0009918212890625 : f32
  %start = arith.constant -148.0 : f32
  %x = memref.alloc(%count) : memref<?xf32>
  %y = memref.alloc(%count) : memref<?xf32>
  scf.for %i = %c0 to %count step %c1 {
    %n = arith.index_cast %i : index to i32
    %f = arith.sitofp %n : i32 to f32
    %p = arith.mulf %f, %step : f32
    %s = arith.addf %p, %start : f32
    memref.store %s, %x[%i] : memref<?xf32>
  }
  %items = arith.ceildivui %count, %c37 : index
  evo_tile.launch @power space(%items) args(%x, %y : memref<?xf32>, memref<?xf32>)
  // 1.25 units in the last place of a normal result, one of any other.
  %unit = arith.constant 1.49012e-07 : f64
  %least = arith.constant 1.4012985e-45 : f64
  %wrong = scf.for %i = %c0 to %count step %c1 iter_args(%w = %c0) -> index {
    %a = memref.load %x[%i] : memref<?xf32>
    %b = memref.load %y[%i] : memref<?xf32>
    %ad = arith.extf %a : f32 to f64
    %bd = arith.extf %b : f32 to f64
    %want = math.exp2 %ad : f64
    %d = arith.subf %bd, %want : f64
    %e = math.absf %d : f64
    %relative = arith.mulf %want, %unit : f64
    %bound = arith.maximumf %relative, %least : f64
    %far = arith.cmpf ugt, %e, %bound : f64
    %more = arith.index_castui %far : i1 to index
    %next = arith.addi %w, %more : index
    scf.yield %next : index
  }
  vector.print str "wrong: "
  vector.print %wrong : index
  // CHECK: wrong: 0

  %minus_inf = arith.constant 0xFF800000 : f32
  %inf = arith.constant 0x7F800000 : f32
  %nan = arith.constant 0x7FC00000 : f32
  %low = arith.constant -3.0e+38 : f32
  %zero = arith.constant 0.0 : f32
  %high = arith.constant 128.0 : f32
  memref.store %minus_inf, %x[%c0] : memref<?xf32>
  memref.store %inf, %x[%c1] : memref<?xf32>
  memref.store %nan, %x[%c2] : memref<?xf32>
  memref.store %low, %x[%c3] : memref<?xf32>
  memref.store %zero, %x[%c4] : memref<?xf32>
  memref.store %high, %x[%c5] : memref<?xf32>
  evo_tile.launch @power space(%c1) args(%x, %y : memref<?xf32>, memref<?xf32>)
  %view = memref.reinterpret_cast %y to offset: [0], sizes: [6], strides: [1] : memref<?xf32> to memref<6xf32>
  %u = memref.cast %view : memref<6xf32> to memref<*xf32>
  func.call @printMemrefF32(%u) : (memref<*xf32>) -> ()
  // CHECK: [0, inf, nan, 0, 1, inf]
  memref.dealloc %x : memref<?xf32>
  memref.dealloc %y : memref<?xf32>
  return
}
