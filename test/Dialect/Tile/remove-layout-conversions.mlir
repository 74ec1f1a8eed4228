// RUN: %python %S/Inputs/with_target.py gfx1100 %s 'block = [1], subgroups = [1, 1, 1], stages = 1' > %t.mlir
// RUN: evoformer-opt %t.mlir --evo-tile-remove-layout-conversions --mlir-print-local-scope | FileCheck %s
// RUN: evoformer-opt %t.mlir --evo-tile-remove-layout-conversions --remarks-filter='evo-tile-remove.*' --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

#a = #evo_tile.lane_map<registers = [[8, 0, 1]], lanes = [[2, 0, 8], [16, 1, 0]], subgroups = []>
#b = #evo_tile.lane_map<registers = [[8, 1, 0]], lanes = [[16, 0, 1], [2, 8, 0]], subgroups = []>
#row = #evo_tile.slice<dim = 1, size = 16, #a>

// A load that is only converted is made in the other layout; so is a constant.
// CHECK-LABEL: evo_tile.kernel @sources
//   CHECK-NOT:   convert_layout
//       CHECK:   evo_tile.return
// REMARK: remark: [Passed] conversions {{.*}}after=0, before=2
evo_tile.kernel @sources(%m: memref<16x16xf32>, %o: memref<16x16xf32>) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : tensor<16x16xf32, #a>
  %x = evo_tile.load %m[%c0, %c0] : memref<16x16xf32> -> tensor<16x16xf32, #a>
  %y = evo_tile.convert_layout %x : tensor<16x16xf32, #a> -> tensor<16x16xf32, #b>
  %two = evo_tile.convert_layout %one : tensor<16x16xf32, #a> -> tensor<16x16xf32, #b>
  %z = arith.addf %y, %two : tensor<16x16xf32, #b>
  evo_tile.store %z, %o[%c0, %c0] : tensor<16x16xf32, #b>, memref<16x16xf32>
  evo_tile.return
}

// A load with another use stays what it is.
// CHECK-LABEL: evo_tile.kernel @two_uses
//       CHECK:   %[[X:.+]] = evo_tile.load
//       CHECK:   evo_tile.convert_layout %[[X]]
// REMARK: remark: [Passed] conversions {{.*}}after=1, before=1
evo_tile.kernel @two_uses(%m: memref<16x16xf32>, %o: memref<16x16xf32>, %p: memref<16x16xf32>) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %x = evo_tile.load %m[%c0, %c0] : memref<16x16xf32> -> tensor<16x16xf32, #a>
  %y = evo_tile.convert_layout %x : tensor<16x16xf32, #a> -> tensor<16x16xf32, #b>
  evo_tile.store %x, %o[%c0, %c0] : tensor<16x16xf32, #a>, memref<16x16xf32>
  evo_tile.store %y, %p[%c0, %c0] : tensor<16x16xf32, #b>, memref<16x16xf32>
  evo_tile.return
}

// There and back around elementwise work.
// CHECK-LABEL: evo_tile.kernel @elementwise
//       CHECK:   %[[X:.+]] = evo_tile.load {{.*}}registers = {{\[}}[8, 0, 1]]
//       CHECK:   %[[Y:.+]] = math.exp2 %[[X]]
//       CHECK:   %[[Z:.+]] = math.log2 %[[Y]]
//       CHECK:   %[[W:.+]] = arith.addf %[[Z]], %[[X]]
//       CHECK:   evo_tile.store %[[W]]
// REMARK: remark: [Passed] conversions {{.*}}after=0, before=2
evo_tile.kernel @elementwise(%m: memref<16x16xf32>, %o: memref<16x16xf32>) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %x = evo_tile.load %m[%c0, %c0] : memref<16x16xf32> -> tensor<16x16xf32, #a>
  %xb = evo_tile.convert_layout %x : tensor<16x16xf32, #a> -> tensor<16x16xf32, #b>
  %y = math.exp2 %xb : tensor<16x16xf32, #b>
  %z = math.log2 %y : tensor<16x16xf32, #b>
  %za = evo_tile.convert_layout %z : tensor<16x16xf32, #b> -> tensor<16x16xf32, #a>
  %w = arith.addf %za, %x : tensor<16x16xf32, #a>
  evo_tile.store %w, %o[%c0, %c0] : tensor<16x16xf32, #a>, memref<16x16xf32>
  evo_tile.return
}

// What a loop converts at both ends is converted outside.
// CHECK-LABEL: evo_tile.kernel @carried
//       CHECK:   scf.for
//   CHECK-NOT:     convert_layout
//       CHECK:     math.fma
//  CHECK-NEXT:     scf.yield
//       CHECK:   evo_tile.convert_layout
//       CHECK:   evo_tile.return
// REMARK: remark: [Passed] conversions {{.*}}after=1, before=2
evo_tile.kernel @carried(%m: memref<16x16xf32>, %o: memref<16x16xf32>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = evo_tile.load %m[%c0, %c0] : memref<16x16xf32> -> tensor<16x16xf32, #a>
  %q = evo_tile.load %m[%c0, %c0] : memref<16x16xf32> -> tensor<16x16xf32, #b>
  %r = arith.mulf %q, %q : tensor<16x16xf32, #b>
  %end = scf.for %i = %c0 to %n step %c1 iter_args(%t = %x) -> tensor<16x16xf32, #a> {
    %y = evo_tile.convert_layout %t : tensor<16x16xf32, #a> -> tensor<16x16xf32, #b>
    %z = math.fma %y, %q, %r : tensor<16x16xf32, #b>
    %w = evo_tile.convert_layout %z : tensor<16x16xf32, #b> -> tensor<16x16xf32, #a>
    scf.yield %w : tensor<16x16xf32, #a>
  }
  evo_tile.store %end, %o[%c0, %c0] : tensor<16x16xf32, #a>, memref<16x16xf32>
  evo_tile.return
}

// So it is where a factor of each row stands between, which is repeated in the
// other layout.
// CHECK-LABEL: evo_tile.kernel @carried_factor
//       CHECK:   scf.for
//   CHECK-NOT:     convert_layout {{.*}}tensor<16x16xf32
//       CHECK:     evo_tile.broadcast
//       CHECK:     arith.mulf
//   CHECK-NOT:     convert_layout {{.*}}tensor<16x16xf32
//       CHECK:     scf.yield
//       CHECK:   evo_tile.convert_layout
//       CHECK:   evo_tile.return
// REMARK: remark: [Passed] conversions {{.*}}after=2, before=2
evo_tile.kernel @carried_factor(%m: memref<16x16xf32>, %v: memref<16xf32>, %o: memref<16x16xf32>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = evo_tile.load %m[%c0, %c0] : memref<16x16xf32> -> tensor<16x16xf32, #a>
  %q = evo_tile.load %m[%c0, %c0] : memref<16x16xf32> -> tensor<16x16xf32, #b>
  %r = arith.mulf %q, %q : tensor<16x16xf32, #b>
  %end = scf.for %i = %c0 to %n step %c1 iter_args(%t = %x) -> tensor<16x16xf32, #a> {
    %row = evo_tile.load %v[%c0] : memref<16xf32> -> tensor<16xf32, #row>
    %factor = math.exp2 %row : tensor<16xf32, #row>
    %s = arith.addf %factor, %row : tensor<16xf32, #row>
    %all = evo_tile.broadcast %s dim 1 : tensor<16xf32, #row> -> tensor<16x16xf32, #a>
    %p = arith.mulf %t, %all : tensor<16x16xf32, #a>
    %y = evo_tile.convert_layout %p : tensor<16x16xf32, #a> -> tensor<16x16xf32, #b>
    %z = math.fma %y, %q, %r : tensor<16x16xf32, #b>
    %w = evo_tile.convert_layout %z : tensor<16x16xf32, #b> -> tensor<16x16xf32, #a>
    scf.yield %w : tensor<16x16xf32, #a>
  }
  evo_tile.store %end, %o[%c0, %c0] : tensor<16x16xf32, #a>, memref<16x16xf32>
  evo_tile.return
}

// Up a chain that begins with no conversion back, before work that narrows, it
// would move more.
// CHECK-LABEL: evo_tile.kernel @narrowed
//       CHECK:   arith.truncf
//  CHECK-NEXT:   evo_tile.convert_layout
// REMARK: remark: [Passed] conversions {{.*}}after=1, before=1
evo_tile.kernel @narrowed(%m: memref<16x16xf32>, %o: memref<16x16xf16>, %p: memref<16x16xf32>) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %x = evo_tile.load %m[%c0, %c0] : memref<16x16xf32> -> tensor<16x16xf32, #a>
  evo_tile.store %x, %p[%c0, %c0] : tensor<16x16xf32, #a>, memref<16x16xf32>
  %y = arith.truncf %x : tensor<16x16xf32, #a> to tensor<16x16xf16, #a>
  %z = evo_tile.convert_layout %y : tensor<16x16xf16, #a> -> tensor<16x16xf16, #b>
  evo_tile.store %z, %o[%c0, %c0] : tensor<16x16xf16, #b>, memref<16x16xf16>
  evo_tile.return
}
