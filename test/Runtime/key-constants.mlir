// Constants among the operands of a bound: what operands add is held to less than 2^30
// in size together, so that a constant which is taken out of the sum could give another
// bound. With and without canonicalization, all queries see the same keys.

// RUN: rm -rf %t && mkdir -p %t
// RUN: %python %S/Inputs/npy.py write %t/zeros.npy f4 1,1,4,1,1 0,0,0,0
// RUN: %python %S/Inputs/npy.py write %t/values.npy f4 1,1,4,1,1 1,3,8,16
// RUN: evoformer-opt %s --canonicalize -o %t/simple.mlir

// DEFINE: %{function} =
// DEFINE: %{numbers} =
// DEFINE: %{run} = --function=%{function} --input=q=%t/zeros.npy --input=v=%t/values.npy \
// DEFINE:   %{numbers} --output=out=%t/out.npy && %python %S/Inputs/npy.py print %t/out.npy

// The sum is held before the map's constant is added: no key.
// REDEFINE: %{function} = held
// REDEFINE: %{numbers} = --scalar=w=1073741823
// RUN: evoformer-run %s %{run} | FileCheck %s --check-prefix=NONE
// RUN: evoformer-run %t/simple.mlir %{run} | FileCheck %s --check-prefix=NONE
// NONE: (1, 1, 4, 1, 1) 0 0 0 0{{$}}

// Operands are added up before the sum is held: all keys.
// REDEFINE: %{function} = added
// REDEFINE: %{numbers} = --scalar=w=1073741823 --scalar=x=4
// RUN: evoformer-run %s %{run} | FileCheck %s --check-prefix=ALL
// RUN: evoformer-run %t/simple.mlir %{run} | FileCheck %s --check-prefix=ALL
// ALL: (1, 1, 4, 1, 1) 7 7 7 7{{$}}

// Constants alone: both are held, and so is their sum.
// REDEFINE: %{function} = alone
// REDEFINE: %{numbers} =
// RUN: evoformer-run %s %{run} | FileCheck %s --check-prefix=NONE
// RUN: evoformer-run %t/simple.mlir %{run} | FileCheck %s --check-prefix=NONE

// A small one becomes a part of the map, whatever the others are.
// REDEFINE: %{function} = small
// REDEFINE: %{numbers} = --scalar=w=1
// RUN: evoformer-run %s %{run} | FileCheck %s --check-prefix=TWO
// RUN: evoformer-run %t/simple.mlir %{run} | FileCheck %s --check-prefix=TWO
// TWO: (1, 1, 4, 1, 1) 2 2 2 2{{$}}
// REDEFINE: %{numbers} = --scalar=w=9223372036854775807
// RUN: evoformer-run %s %{run} | FileCheck %s --check-prefix=ALL
// RUN: evoformer-run %t/simple.mlir %{run} | FileCheck %s --check-prefix=ALL

!s = memref<1x1x4x1x1xf32>
func.func @held(%q: !s {evoformer.name = "q"}, %v: !s {evoformer.name = "v"},
                %out: !s {evoformer.name = "out"}, %w: index {evoformer.name = "w"}) {
  %c = arith.constant 1073741824 : index
  evoformer.attention query(%q : !s) key(%v : !s) value(%v : !s) outs(%out : !s)
      keys(to affine_map<(i)[sq, sk, w, c] -> (w + c - 1073741824)>[%w, %c])
  return
}

func.func @added(%q: !s {evoformer.name = "q"}, %v: !s {evoformer.name = "v"},
                 %out: !s {evoformer.name = "out"}, %w: index {evoformer.name = "w"},
                 %x: index {evoformer.name = "x"}) {
  %c = arith.constant -4611686018427387904 : index
  evoformer.attention query(%q : !s) key(%v : !s) value(%v : !s) outs(%out : !s)
      keys(to affine_map<(i)[sq, sk, w, x, c] -> (w + x + c)>[%w, %x, %c])
  return
}

func.func @alone(%q: !s {evoformer.name = "q"}, %v: !s {evoformer.name = "v"},
                 %out: !s {evoformer.name = "out"}) {
  %c = arith.constant 1073741824 : index
  %d = arith.constant 7 : index
  evoformer.attention query(%q : !s) key(%v : !s) value(%v : !s) outs(%out : !s)
      keys(to affine_map<(i)[sq, sk, c, d] -> (c + d - 1073741824)>[%c, %d])
  return
}

func.func @small(%q: !s {evoformer.name = "q"}, %v: !s {evoformer.name = "v"},
                 %out: !s {evoformer.name = "out"}, %w: index {evoformer.name = "w"}) {
  %c = arith.constant 1 : index
  evoformer.attention query(%q : !s) key(%v : !s) value(%v : !s) outs(%out : !s)
      keys(to affine_map<(i)[sq, sk, w, c] -> (w + c)>[%w, %c])
  return
}
