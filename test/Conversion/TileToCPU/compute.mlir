// Computation on tiles, run.
//
// RUN: evoformer-opt %s --evo-tile-to-cpu-llvm \
// RUN:   | mlir-runner -e main -entry-point-result=void -O1 \
// RUN:       -shared-libs=%mlir_lib/libmlir_runner_utils.so,%mlir_lib/libmlir_c_runner_utils.so | FileCheck %s

// max and min ignore NaN unless there is nothing else, in vectors and in the
// elements after them.
evo_tile.kernel @nan(%x: memref<3x21xf32>, %y: memref<3x3xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %t = evo_tile.load %x[%c0, %c0] : memref<3x21xf32> -> tensor<3x21xf32>
  %max = evo_tile.reduce max %t dim 1 : tensor<3x21xf32> -> tensor<3xf32>
  %min = evo_tile.reduce min %t dim 1 : tensor<3x21xf32> -> tensor<3xf32>
  %sum = evo_tile.reduce add %t dim 1 : tensor<3x21xf32> -> tensor<3xf32>
  %a = evo_tile.broadcast %max dim 0 : tensor<3xf32> -> tensor<1x3xf32>
  %b = evo_tile.broadcast %min dim 0 : tensor<3xf32> -> tensor<1x3xf32>
  %c = evo_tile.broadcast %sum dim 0 : tensor<3xf32> -> tensor<1x3xf32>
  evo_tile.store %a, %y[%c0, %c0] : tensor<1x3xf32>, memref<3x3xf32>
  evo_tile.store %b, %y[%c1, %c0] : tensor<1x3xf32>, memref<3x3xf32>
  evo_tile.store %c, %y[%c2, %c0] : tensor<1x3xf32>, memref<3x3xf32>
  evo_tile.return
}

// Sums over every dimension of 2 x 3 x 5, and a permutation, from indices.
evo_tile.kernel @reduce3(%d0: memref<3x5xi32>, %d1: memref<2x5xi32>,
                         %d2: memref<2x3xi32>, %t: memref<5x2x3xi32>) {
  %c0 = arith.constant 0 : index
  %c100 = arith.constant 100 : index
  %i = evo_tile.iota %c100 dim 0 : tensor<2x3x5xi32>
  %j = evo_tile.iota %c0 dim 1 : tensor<2x3x5xi32>
  %k = evo_tile.iota %c0 dim 2 : tensor<2x3x5xi32>
  %ten = arith.constant dense<10> : tensor<2x3x5xi32>
  %j10 = arith.muli %j, %ten : tensor<2x3x5xi32>
  %ij = arith.addi %i, %j10 : tensor<2x3x5xi32>
  %x = arith.addi %ij, %k : tensor<2x3x5xi32>
  %s0 = evo_tile.reduce add %x dim 0 : tensor<2x3x5xi32> -> tensor<3x5xi32>
  %s1 = evo_tile.reduce max %x dim 1 : tensor<2x3x5xi32> -> tensor<2x5xi32>
  %s2 = evo_tile.reduce min %x dim 2 : tensor<2x3x5xi32> -> tensor<2x3xi32>
  %p = evo_tile.transpose %x [2, 0, 1] : tensor<2x3x5xi32> -> tensor<5x2x3xi32>
  evo_tile.store %s0, %d0[%c0, %c0] : tensor<3x5xi32>, memref<3x5xi32>
  evo_tile.store %s1, %d1[%c0, %c0] : tensor<2x5xi32>, memref<2x5xi32>
  evo_tile.store %s2, %d2[%c0, %c0] : tensor<2x3xi32>, memref<2x3xi32>
  evo_tile.store %p, %t[%c0, %c0, %c0] : tensor<5x2x3xi32>, memref<5x2x3xi32>
  evo_tile.return
}

// Products: i8 in i32; f16 added to an f16 tile is rounded once, at the end.
evo_tile.kernel @products(%y: memref<2x2xi32>, %z: memref<3x2xf32>) {
  %c0 = arith.constant 0 : index
  %a = arith.constant dense<[[-128, 127, 1], [2, 3, 4]]> : tensor<2x3xi8>
  %b = arith.constant dense<[[-128, 0], [127, 1], [5, 6]]> : tensor<3x2xi8>
  %c = arith.constant dense<1000> : tensor<2x2xi32>
  %r = evo_tile.mma %a, %b, %c : tensor<2x3xi8>, tensor<3x2xi8>, tensor<2x2xi32>
  evo_tile.store %r, %y[%c0, %c0] : tensor<2x2xi32>, memref<2x2xi32>
  %u = arith.constant dense<1.0> : tensor<2x4xf16>
  %v = arith.constant dense<0.5> : tensor<4x2xf16>
  // 2048 + 0.5 is 2048 in f16, 2048 + 4 * 0.5 is 2050.
  %w = arith.constant dense<2048.0> : tensor<2x2xf16>
  %h = evo_tile.mma %u, %v, %w : tensor<2x4xf16>, tensor<4x2xf16>, tensor<2x2xf16>
  // Sums of bf16 too: 256 + 1 is 256 in bf16, 256 + 7 * 1 is 264 after rounding.
  %s = arith.constant dense<[[256.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]]> : tensor<1x8xbf16>
  %total = evo_tile.reduce add %s dim 1 : tensor<1x8xbf16> -> tensor<1xbf16>
  %total_row = evo_tile.broadcast %total dim 1 : tensor<1xbf16> -> tensor<1x2xbf16>
  %total_f32 = arith.extf %total_row : tensor<1x2xbf16> to tensor<1x2xf32>
  %c2 = arith.constant 2 : index
  evo_tile.store %total_f32, %z[%c2, %c0] : tensor<1x2xf32>, memref<3x2xf32>
  %f = arith.extf %h : tensor<2x2xf16> to tensor<2x2xf32>
  evo_tile.store %f, %z[%c0, %c0] : tensor<2x2xf32>, memref<3x2xf32>
  evo_tile.return
}

// A loop that exchanges its tiles, one that stops by a condition, a choice,
// and layouts, which are nothing here.
#l = #evo_tile.lane_map<registers = [[4, 1]], lanes = [], subgroups = []>
#m = #evo_tile.lane_map<registers = [[2, 2], [2, 1]], lanes = [], subgroups = []>
evo_tile.kernel @control(%y: memref<4x4xf32>, %n: index, %flag: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %one = arith.constant dense<1.0> : tensor<1x4xf32>
  %two = arith.constant dense<[[2.0, 3.0, 4.0, 5.0]]> : tensor<1x4xf32>
  %s:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %one, %b = %two)
      -> (tensor<1x4xf32>, tensor<1x4xf32>) {
    scf.yield %b, %a : tensor<1x4xf32>, tensor<1x4xf32>
  }
  evo_tile.store %s#0, %y[%c0, %c0] : tensor<1x4xf32>, memref<4x4xf32>
  evo_tile.store %s#1, %y[%c1, %c0] : tensor<1x4xf32>, memref<4x4xf32>
  %w:2 = scf.while (%i = %c0, %a = %one) : (index, tensor<1x4xf32>) -> (index, tensor<1x4xf32>) {
    %more = arith.cmpi ult, %i, %n : index
    scf.condition(%more) %i, %a : index, tensor<1x4xf32>
  } do {
  ^bb0(%i: index, %a: tensor<1x4xf32>):
    %d = arith.addf %a, %a : tensor<1x4xf32>
    %next = arith.addi %i, %c1 : index
    scf.yield %next, %d : index, tensor<1x4xf32>
  }
  evo_tile.store %w#1, %y[%c2, %c0] : tensor<1x4xf32>, memref<4x4xf32>
  %row = arith.constant dense<[6.0, 7.0, 8.0, 9.0]> : tensor<4xf32, #l>
  %same = evo_tile.convert_layout %row : tensor<4xf32, #l> -> tensor<4xf32, #m>
  %negative = arith.negf %same : tensor<4xf32, #m>
  %chosen = scf.if %flag -> tensor<4xf32, #m> {
    scf.yield %negative : tensor<4xf32, #m>
  } else {
    scf.yield %same : tensor<4xf32, #m>
  }
  %last = memref.subview %y[3, 0] [1, 4] [1, 1] : memref<4x4xf32> to memref<4xf32, strided<[1], offset: 12>>
  evo_tile.store %chosen, %last[%c0] : tensor<4xf32, #m>, memref<4xf32, strided<[1], offset: 12>>
  evo_tile.return
}

// A tile of rank 0.
evo_tile.kernel @scalar(%y: memref<f32>) {
  %t = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<5xf32>
  %s = evo_tile.reduce add %t dim 0 : tensor<5xf32> -> tensor<f32>
  %n = arith.negf %s : tensor<f32>
  evo_tile.store %n, %y[] : tensor<f32>, memref<f32>
  evo_tile.return
}

// Batches of odd products against the definition: all sums are exact.
evo_tile.kernel @odd(%a: memref<2x25x13xf32>, %b: memref<2x21x13xf32>, %c: memref<2x25x21xf32>) {
  %c0 = arith.constant 0 : index
  %x = evo_tile.load %a[%c0, %c0, %c0] : memref<2x25x13xf32> -> tensor<2x25x13xf32>
  %y = evo_tile.load %b[%c0, %c0, %c0] : memref<2x21x13xf32> -> tensor<2x21x13xf32>
  %yt = evo_tile.transpose %y [0, 2, 1] : tensor<2x21x13xf32> -> tensor<2x13x21xf32>
  %one = arith.constant dense<1.0> : tensor<2x25x21xf32>
  %z = evo_tile.mma %x, %yt, %one : tensor<2x25x13xf32>, tensor<2x13x21xf32>, tensor<2x25x21xf32>
  evo_tile.store %z, %c[%c0, %c0, %c0] : tensor<2x25x21xf32>, memref<2x25x21xf32>
  evo_tile.return
}

func.func private @printMemrefF32(memref<*xf32>) attributes {llvm.emit_c_interface}
func.func private @printMemrefI32(memref<*xi32>) attributes {llvm.emit_c_interface}

func.func private @small(%i: index, %j: index, %k: index) -> f32 {
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %c7 = arith.constant 7 : index
  %c11 = arith.constant 11 : index
  %a = arith.muli %i, %c3 : index
  %b = arith.muli %j, %c5 : index
  %c = arith.muli %k, %c7 : index
  %d = arith.addi %a, %b : index
  %e = arith.addi %d, %c : index
  %f = arith.remui %e, %c11 : index
  %g = arith.index_cast %f : index to i32
  %h = arith.sitofp %g : i32 to f32
  return %h : f32
}

func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c13 = arith.constant 13 : index
  %c17 = arith.constant 17 : index
  %c19 = arith.constant 19 : index
  %c21 = arith.constant 21 : index
  %c25 = arith.constant 25 : index
  %true = arith.constant true
  %nan = arith.constant 0x7FC00000 : f32
  %inf = arith.constant 0x7F800000 : f32
  %five = arith.constant 5.0 : f32

  // Row 0: NaN but for one 5 in the last elements; row 1: all NaN; row 2: 5,
  // one NaN, -inf and inf not among them.
  %x = memref.alloc() : memref<3x21xf32>
  scf.for %j = %c0 to %c21 step %c1 {
    memref.store %nan, %x[%c0, %j] : memref<3x21xf32>
    memref.store %nan, %x[%c1, %j] : memref<3x21xf32>
    memref.store %five, %x[%c2, %j] : memref<3x21xf32>
  }
  memref.store %five, %x[%c0, %c19] : memref<3x21xf32>
  %y = memref.alloc() : memref<3x3xf32>
  evo_tile.launch @nan space(%c1) args(%x, %y : memref<3x21xf32>, memref<3x3xf32>)
  %yu = memref.cast %y : memref<3x3xf32> to memref<*xf32>
  func.call @printMemrefF32(%yu) : (memref<*xf32>) -> ()
  // CHECK:      data =
  // CHECK-NEXT: [5, nan, 5]
  // CHECK-NEXT: [5, nan, 5]
  // CHECK-NEXT: [nan, nan, 105]

  %d0 = memref.alloc() : memref<3x5xi32>
  %d1 = memref.alloc() : memref<2x5xi32>
  %d2 = memref.alloc() : memref<2x3xi32>
  %dt = memref.alloc() : memref<5x2x3xi32>
  evo_tile.launch @reduce3 space(%c1) args(%d0, %d1, %d2, %dt : memref<3x5xi32>, memref<2x5xi32>, memref<2x3xi32>, memref<5x2x3xi32>)
  %u0 = memref.cast %d0 : memref<3x5xi32> to memref<*xi32>
  %u1 = memref.cast %d1 : memref<2x5xi32> to memref<*xi32>
  %u2 = memref.cast %d2 : memref<2x3xi32> to memref<*xi32>
  %ut = memref.cast %dt : memref<5x2x3xi32> to memref<*xi32>
  func.call @printMemrefI32(%u0) : (memref<*xi32>) -> ()
  // CHECK:      data =
  // CHECK-NEXT: [201, 203, 205, 207, 209]
  // CHECK-NEXT: [221, 223, 225, 227, 229]
  // CHECK-NEXT: [241, 243, 245, 247, 249]
  func.call @printMemrefI32(%u1) : (memref<*xi32>) -> ()
  // CHECK:      data =
  // CHECK-NEXT: [120, 121, 122, 123, 124]
  // CHECK-NEXT: [121, 122, 123, 124, 125]
  func.call @printMemrefI32(%u2) : (memref<*xi32>) -> ()
  // CHECK:      data =
  // CHECK-NEXT: [100, 110, 120]
  // CHECK-NEXT: [101, 111, 121]
  func.call @printMemrefI32(%ut) : (memref<*xi32>) -> ()
  // CHECK:      data =
  // CHECK-NEXT: [100, 110, 120],
  // CHECK-NEXT: [101, 111, 121]
  // CHECK-NEXT: [101, 111, 121],
  // CHECK-NEXT: [102, 112, 122]
  // CHECK-NEXT: [102, 112, 122],
  // CHECK-NEXT: [103, 113, 123]

  %pi = memref.alloc() : memref<2x2xi32>
  %pf = memref.alloc() : memref<3x2xf32>
  evo_tile.launch @products space(%c1) args(%pi, %pf : memref<2x2xi32>, memref<3x2xf32>)
  %piu = memref.cast %pi : memref<2x2xi32> to memref<*xi32>
  %pfu = memref.cast %pf : memref<3x2xf32> to memref<*xf32>
  func.call @printMemrefI32(%piu) : (memref<*xi32>) -> ()
  // CHECK:      data =
  // CHECK-NEXT: [33518, 1133]
  // CHECK-NEXT: [1145, 1027]
  func.call @printMemrefF32(%pfu) : (memref<*xf32>) -> ()
  // CHECK:      data =
  // CHECK-NEXT: [2050, 2050]
  // CHECK-NEXT: [2050, 2050]
  // CHECK-NEXT: [264, 264]

  %cy = memref.alloc() : memref<4x4xf32>
  evo_tile.launch @control space(%c1) args(%cy, %c3, %true : memref<4x4xf32>, index, i1)
  %cu = memref.cast %cy : memref<4x4xf32> to memref<*xf32>
  func.call @printMemrefF32(%cu) : (memref<*xf32>) -> ()
  // CHECK:      data =
  // CHECK-NEXT: [2, 3, 4, 5]
  // CHECK-NEXT: [1, 1, 1, 1]
  // CHECK-NEXT: [8, 8, 8, 8]
  // CHECK-NEXT: [-6, -7, -8, -9]

  %point = memref.alloc() : memref<f32>
  evo_tile.launch @scalar space(%c1) args(%point : memref<f32>)
  %value = memref.load %point[] : memref<f32>
  memref.dealloc %point : memref<f32>
  vector.print %value : f32
  // CHECK: -15

  %a = memref.alloc() : memref<2x25x13xf32>
  %b = memref.alloc() : memref<2x21x13xf32>
  %c = memref.alloc() : memref<2x25x21xf32>
  scf.for %n = %c0 to %c2 step %c1 {
    scf.for %k = %c0 to %c13 step %c1 {
      scf.for %i = %c0 to %c25 step %c1 {
        %v = func.call @small(%n, %i, %k) : (index, index, index) -> f32
        memref.store %v, %a[%n, %i, %k] : memref<2x25x13xf32>
      }
      scf.for %j = %c0 to %c21 step %c1 {
        %v = func.call @small(%j, %n, %k) : (index, index, index) -> f32
        memref.store %v, %b[%n, %j, %k] : memref<2x21x13xf32>
      }
    }
  }
  evo_tile.launch @odd space(%c1) args(%a, %b, %c : memref<2x25x13xf32>, memref<2x21x13xf32>, memref<2x25x21xf32>)
  %one = arith.constant 1.0 : f32
  %wrong = scf.for %n = %c0 to %c2 step %c1 iter_args(%w0 = %c0) -> index {
    %wn = scf.for %i = %c0 to %c25 step %c1 iter_args(%w1 = %w0) -> index {
      %wi = scf.for %j = %c0 to %c21 step %c1 iter_args(%w2 = %w1) -> index {
        %want = scf.for %k = %c0 to %c13 step %c1 iter_args(%s = %one) -> f32 {
          %p = memref.load %a[%n, %i, %k] : memref<2x25x13xf32>
          %q = memref.load %b[%n, %j, %k] : memref<2x21x13xf32>
          %pq = arith.mulf %p, %q : f32
          %t = arith.addf %s, %pq : f32
          scf.yield %t : f32
        }
        %got = memref.load %c[%n, %i, %j] : memref<2x25x21xf32>
        %differs = arith.cmpf une, %got, %want : f32
        %more = arith.index_castui %differs : i1 to index
        %w3 = arith.addi %w2, %more : index
        scf.yield %w3 : index
      }
      scf.yield %wi : index
    }
    scf.yield %wn : index
  }
  vector.print str "wrong products: "
  vector.print %wrong : index
  // CHECK: wrong products: 0
  memref.dealloc %x : memref<3x21xf32>
  memref.dealloc %y : memref<3x3xf32>
  memref.dealloc %d0 : memref<3x5xi32>
  memref.dealloc %d1 : memref<2x5xi32>
  memref.dealloc %d2 : memref<2x3xi32>
  memref.dealloc %dt : memref<5x2x3xi32>
  memref.dealloc %pi : memref<2x2xi32>
  memref.dealloc %pf : memref<3x2xf32>
  memref.dealloc %cy : memref<4x4xf32>
  memref.dealloc %a : memref<2x25x13xf32>
  memref.dealloc %b : memref<2x21x13xf32>
  memref.dealloc %c : memref<2x25x21xf32>
  return
}
