// Sequences of which a program says that they may have more rows than all of them have:
// items are counted by the rows there are, so that this ends, and gives what the right
// number does; of a constant as well, whether the rows are known or not. All logits are
// equal: the output is the mean of the keys of a sequence.

// RUN: rm -rf %t && mkdir -p %t
// RUN: %python %S/Inputs/npy.py write %t/starts.npy i4 3 0,1,4
// RUN: %python %S/Inputs/npy.py write %t/zeros.npy f4 1,1,4,1,1 0,0,0,0
// RUN: %python %S/Inputs/npy.py write %t/ones.npy f4 1,1,4,1,1 1,1,1,1
// RUN: %python %S/Inputs/npy.py write %t/values.npy f4 1,1,4,1,1 1,3,8,16

// RUN: sed 's/%most: index.*/%unused: index {evoformer.name = "most"}) { %most = arith.constant 2147483647 : index/' \
// RUN:   %s > %t/constant.mlir
// RUN: sed 's/<1x1x?x1x1xf32>/<1x1x4x1x1xf32>/; s/<2x1x1x1x?xf32>/<2x1x1x1x4xf32>/' %t/constant.mlir \
// RUN:   > %t/static.mlir

// DEFINE: %{file} = %s
// DEFINE: %{target} =
// DEFINE: %{most} =
// DEFINE: %{run} = evoformer-run %{file} %{target} --input=q=%t/zeros.npy --input=v=%t/values.npy \
// DEFINE:   --input=dout=%t/ones.npy --input=starts=%t/starts.npy --scalar=most=%{most} \
// DEFINE:   --shape=stats=2x1x1x1x4 --shape=out=1x1x4x1x1 --shape=dv=1x1x4x1x1 \
// DEFINE:   --output=out=%t/out.npy --output=dv=%t/dv.npy --check && \
// DEFINE:   %python %S/Inputs/npy.py print %t/out.npy %t/dv.npy

// REDEFINE: %{most} = 3
// RUN: %{run} | FileCheck %s
// REDEFINE: %{most} = 1099511627776
// RUN: %{run} | FileCheck %s
// REDEFINE: %{target} = --target=gfx942 --device=sim
// RUN: %{run} | FileCheck %s
// REDEFINE: %{target} = --target=sm_80 --device=sim
// RUN: %{run} | FileCheck %s
// REDEFINE: %{file} = %t/constant.mlir
// RUN: %{run} | FileCheck %s
// REDEFINE: %{file} = %t/static.mlir
// RUN: %{run} | FileCheck %s
// REDEFINE: %{target} =
// RUN: %{run} | FileCheck %s
// REDEFINE: %{file} = %t/constant.mlir
// RUN: %{run} | FileCheck %s
// CHECK: (1, 1, 4, 1, 1) 1 9 9 9{{$}}
// CHECK: (1, 1, 4, 1, 1) 1 1 1 1{{$}}

!s = memref<1x1x?x1x1xf32>
!t = memref<2x1x1x1x?xf32>
!i = memref<?xi32>
func.func @packed(%q: !s {evoformer.name = "q"}, %v: !s {evoformer.name = "v"}, %out: !s {evoformer.name = "out"},
                  %stats: !t {evoformer.name = "stats"}, %dout: !s {evoformer.name = "dout"}, %dv: !s {evoformer.name = "dv"},
                  %i: !i {evoformer.name = "starts"}, %most: index {evoformer.name = "most"}) {
  evoformer.attention query(%q : !s) key(%v : !s) value(%v : !s)
      ragged(queries %i : !i, keys %i : !i, most %most, %most) outs(%out : !s) stats(%stats : !t)
  evoformer.attention_backward query(%q : !s) key(%v : !s) value(%v : !s)
      ragged(queries %i : !i, keys %i : !i, most %most, %most)
      output(%out : !s) stats(%stats : !t) output_grad(%dout : !s) value_grad(%dv : !s)
  return
}
