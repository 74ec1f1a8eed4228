// Narrowing rounds as the program says: to even by the machine, away from zero
// and toward zero by integer arithmetic; tiles and scalars. Run.
// RUN: evoformer-opt %s --evo-tile-to-cpu-llvm \
// RUN:   | mlir-runner -e main -entry-point-result=void -O1 \
// RUN:       -shared-libs=%mlir_lib/libmlir_runner_utils.so,%mlir_lib/libmlir_c_runner_utils.so | FileCheck %s

// 1 + a tie, the next above with a tie, just below one, negative, an infinity,
// the largest number, and NaN with its payload in the lower half.
evo_tile.kernel @round(%x: memref<8xi32>, %y: memref<3x8xi16>, %z: memref<1xi16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %words = evo_tile.load %x[%c0] : memref<8xi32> -> tensor<8xi32>
  %t = arith.bitcast %words : tensor<8xi32> to tensor<8xf32>
  %even = arith.truncf %t to_nearest_even : tensor<8xf32> to tensor<8xbf16>
  %away = arith.truncf %t to_nearest_away : tensor<8xf32> to tensor<8xbf16>
  %zero = arith.truncf %t toward_zero : tensor<8xf32> to tensor<8xbf16>
  %a = arith.bitcast %even : tensor<8xbf16> to tensor<8xi16>
  %b = arith.bitcast %away : tensor<8xbf16> to tensor<8xi16>
  %c = arith.bitcast %zero : tensor<8xbf16> to tensor<8xi16>
  %row0 = evo_tile.broadcast %a dim 0 : tensor<8xi16> -> tensor<1x8xi16>
  %row1 = evo_tile.broadcast %b dim 0 : tensor<8xi16> -> tensor<1x8xi16>
  %row2 = evo_tile.broadcast %c dim 0 : tensor<8xi16> -> tensor<1x8xi16>
  evo_tile.store %row0, %y[%c0, %c0] : tensor<1x8xi16>, memref<3x8xi16>
  evo_tile.store %row1, %y[%c1, %c0] : tensor<1x8xi16>, memref<3x8xi16>
  evo_tile.store %row2, %y[%c2, %c0] : tensor<1x8xi16>, memref<3x8xi16>
  %word = memref.load %x[%c0] : memref<8xi32>
  %f = arith.bitcast %word : i32 to f32
  %g = arith.truncf %f to_nearest_away : f32 to bf16
  %h = arith.bitcast %g : bf16 to i16
  %wide = arith.extui %h : i16 to i32
  %number = arith.index_cast %wide : i32 to index
  %tile = evo_tile.iota %number dim 0 : tensor<1xi32>
  %narrow = arith.trunci %tile : tensor<1xi32> to tensor<1xi16>
  evo_tile.store %narrow, %z[%c0] : tensor<1xi16>, memref<1xi16>
  evo_tile.return
}

func.func private @printMemrefI32(%ptr: memref<*xi32>)

func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %x = memref.alloc() : memref<8xi32>
  // 0x3f808000, 0x3f818000, 0x3f807fff, 0xbf808000, 0x7f800000, 0x7f7fffff,
  // 0x7f800001, 0x40490fdb
  %values = arith.constant dense<[1065385984, 1065451520, 1065385983, -1082097664, 2139095040, 2139095039, 2139095041, 1078530011]> : tensor<8xi32>
  scf.for %i = %c0 to %c8 step %c1 {
    %v = tensor.extract %values[%i] : tensor<8xi32>
    memref.store %v, %x[%i] : memref<8xi32>
  }
  %y = memref.alloc() : memref<3x8xi16>
  %z = memref.alloc() : memref<1xi16>
  evo_tile.launch @round space(%c1) args(%x, %y, %z : memref<8xi32>, memref<3x8xi16>, memref<1xi16>)
  %w = memref.alloc() : memref<3x8xi32>
  scf.for %r = %c0 to %c3 step %c1 {
    scf.for %i = %c0 to %c8 step %c1 {
      %v = memref.load %y[%r, %i] : memref<3x8xi16>
      %e = arith.extui %v : i16 to i32
      memref.store %e, %w[%r, %i] : memref<3x8xi32>
    }
  }
  // CHECK:      {{\[\[}}16256, 16258, 16256, 49024, 32640, 32640, 32704, 16457],
  // CHECK-NEXT: [16257, 16258, 16256, 49025, 32640, 32640, 32704, 16457],
  // CHECK-NEXT: [16256, 16257, 16256, 49024, 32640, 32639, 32704, 16457]]
  %u = memref.cast %w : memref<3x8xi32> to memref<*xi32>
  call @printMemrefI32(%u) : (memref<*xi32>) -> ()
  %scalar = memref.load %z[%c0] : memref<1xi16>
  %s = arith.extui %scalar : i16 to i32
  %o = memref.alloc() : memref<1xi32>
  memref.store %s, %o[%c0] : memref<1xi32>
  %p = memref.cast %o : memref<1xi32> to memref<*xi32>
  // CHECK: [16257]
  call @printMemrefI32(%p) : (memref<*xi32>) -> ()
  return
}
