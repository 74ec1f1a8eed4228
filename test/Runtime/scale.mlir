// A host function over a tile kernel, compiled for the CPU, run on files and
// on random numbers.

// RUN: rm -rf %t && mkdir -p %t
// RUN: %python %S/Inputs/npy.py write %t/x.npy f4 4,2 1,2,3,4,5,6,7,8
// RUN: evoformer-run %s --input %t/x.npy --output %t/y.npy --shape y=4 \
// RUN:   --scalar double=1 --check --emit-plan %t/plan.json | FileCheck %s
// RUN: %python %S/Inputs/npy.py print %t/y.npy \
// RUN:   | FileCheck %s --check-prefix=VALUES
// RUN: evoformer-run %t/plan.json --input x=%t/x.npy --output y=%t/z.npy \
// RUN:   --shape y=4 --scalar double=0
// RUN: %python %S/Inputs/npy.py print %t/z.npy \
// RUN:   | FileCheck %s --check-prefix=SINGLE
// RUN: evoformer-run %t/plan.json --random 7 --shape x=100x2 --shape y=100 \
// RUN:   --scalar double=0 --repeat 3 --cold-cache --cpu-threads 2 \
// RUN:   | FileCheck %s --check-prefix=TIME

// CHECK: ran 'f' on cpu
// CHECK-SAME: workspace 768 bytes
// VALUES: <f4 (4,) 8 16 24 32
// SINGLE: <f4 (4,) 2 4 6 8
// TIME: time: median {{[0-9.]+}} ms, min {{[0-9.]+}}, max {{[0-9.]+}}, 3 runs with cold caches

// What does not fit is named; nothing is written.
// RUN: not evoformer-run %t/plan.json --input %t/x.npy --output %t/none.npy \
// RUN:   --scalar double=0 2>&1 | FileCheck %s --check-prefix=SHAPE
// SHAPE: error: argument 'y' needs an input file or --shape=y=<sizes>
// RUN: not evoformer-run %t/plan.json --input %t/x.npy --output %t/none.npy \
// RUN:   --shape y=5 --scalar double=0 2>&1 | FileCheck %s --check-prefix=ASSERT
// ASSERT: error: function 'f': x and y differ in length
// RUN: not evoformer-run %t/plan.json --input %t/y.npy 2>&1 \
// RUN:   | FileCheck %s --check-prefix=RANK
// RANK: error: {{.*}}y.npy: argument 'x' is ?x2xf32, not 4xf32
// RUN: not evoformer-run %t/plan.json --input a --input b --input c 2>&1 \
// RUN:   | FileCheck %s --check-prefix=MANY
// MANY: error: function 'f' has too few arguments for the files given
// RUN: not evoformer-run %t/plan.json --random 1 --shape x=4x2 --shape y=4 2>&1 \
// RUN:   | FileCheck %s --check-prefix=SCALAR
// SCALAR: error: argument 'double' needs --scalar=double=<number>
// RUN: not evoformer-run %t/plan.json --function g 2>&1 \
// RUN:   | FileCheck %s --check-prefix=FUNCTION
// FUNCTION: error: there is no function 'g'
// RUN: not evoformer-run %t/plan.json --device tpu 2>&1 \
// RUN:   | FileCheck %s --check-prefix=DEVICE
// DEVICE: error: unknown device 'tpu'
// RUN: not evoformer-run %t/x.npy 2>&1 | FileCheck %s --check-prefix=GARBAGE
// GARBAGE: x.npy{{.*}}error:
// RUN: cp %t/x.npy %t/bad.json
// RUN: not evoformer-run %t/bad.json 2>&1 | FileCheck %s --check-prefix=NOJSON
// NOJSON: error: {{.*}}bad.json': launch plan: no valid JSON
// RUN: not evoformer-run %t/missing.json 2>&1 \
// RUN:   | FileCheck %s --check-prefix=MISSING
// MISSING: error: {{.*}}missing.json': No such file or directory
// RUN: not evoformer-run %t/plan.json --input %t/x.npy --shape y=4 \
// RUN:   --output %t/no/such/y.npy --scalar double=0
// RUN: not ls %t/none.npy

evo_tile.kernel @scale(%x: memref<?xf32, strided<[?], offset: ?>>,
                       %y: memref<?xf32>, %factor: f32) {
  %i = evo_tile.work_item_id 0
  %c16 = arith.constant 16 : index
  %at = arith.muli %i, %c16 : index
  %t = evo_tile.load %x[%at] : memref<?xf32, strided<[?], offset: ?>>
      -> tensor<16xf32>
  %f = tensor.splat %factor : tensor<16xf32>
  %s = arith.mulf %t, %f : tensor<16xf32>
  evo_tile.store %s, %y[%at] : tensor<16xf32>, memref<?xf32>
  evo_tile.return
}

func.func @f(%x: memref<?x2xf32> {evoformer.name = "x"},
             %y: memref<?xf32> {evoformer.name = "y"},
             %double: i1 {evoformer.name = "double"}) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %n = memref.dim %x, %c0 : memref<?x2xf32>
  %m = memref.dim %y, %c0 : memref<?xf32>
  %same = arith.cmpi eq, %n, %m : index
  cf.assert %same, "x and y differ in length"
  %column = memref.subview %x[0, 1] [%n, 1] [1, 1]
      : memref<?x2xf32> to memref<?xf32, strided<[2], offset: 1>>
  %any = memref.cast %column : memref<?xf32, strided<[2], offset: 1>>
      to memref<?xf32, strided<[?], offset: ?>>
  %tmp = memref.alloc(%n) : memref<?xf32>
  %factor = scf.if %double -> f32 {
    scf.yield %two : f32
  } else {
    scf.yield %one : f32
  }
  %tiles = arith.ceildivsi %n, %c16 : index
  evo_tile.launch @scale space(%tiles) args(%any, %tmp, %factor
      : memref<?xf32, strided<[?], offset: ?>>, memref<?xf32>, f32)
  %again = memref.cast %tmp : memref<?xf32>
      to memref<?xf32, strided<[?], offset: ?>>
  evo_tile.launch @scale space(%tiles) args(%again, %y, %factor
      : memref<?xf32, strided<[?], offset: ?>>, memref<?xf32>, f32)
  memref.dealloc %tmp : memref<?xf32>
  return
}
