// A window whose width a program is told when it runs: one launch plan for all widths,
// on the processor, by a chip's program on it, and in the simulator. All logits are
// equal, so that the output is the mean of the values that a query sees; dV is the sum
// of the weights with which a key is seen.

// RUN: rm -rf %t && mkdir -p %t
// RUN: evoformer-run %s --no-run --emit-plan=%t/cpu.json
// RUN: evoformer-run %s --no-run --target=gfx942 --device=sim --emit-plan=%t/gfx942.json
// RUN: evoformer-run %s --no-run --target=sm_80 --device=sim --emit-plan=%t/sm_80.json
// RUN: %python %S/Inputs/npy.py write %t/zeros.npy f4 1,1,4,1,1 0,0,0,0
// RUN: %python %S/Inputs/npy.py write %t/ones.npy f4 1,1,4,1,1 1,1,1,1
// RUN: %python %S/Inputs/npy.py write %t/values.npy f4 1,1,4,1,1 1,3,8,16

// DEFINE: %{args} =
// DEFINE: %{w} =
// DEFINE: %{window} = evoformer-run %{args} --input=q=%t/zeros.npy --input=v=%t/values.npy \
// DEFINE:   --input=dout=%t/ones.npy --scalar=w=%{w} --output=out=%t/out.npy --output=dv=%t/dv.npy \
// DEFINE:   --check && %python %S/Inputs/npy.py print %t/out.npy %t/dv.npy
// REDEFINE: %{w} = 1
// REDEFINE: %{args} = %t/cpu.json
// RUN: %{window} | FileCheck %s --check-prefix=ONE
// REDEFINE: %{args} = %t/gfx942.json --device=sim
// RUN: %{window} | FileCheck %s --check-prefix=ONE
// REDEFINE: %{args} = %t/sm_80.json --device=sim
// RUN: %{window} | FileCheck %s --check-prefix=ONE
// REDEFINE: %{args} = %s --target=gfx942 --level=fragments
// RUN: %{window} | FileCheck %s --check-prefix=ONE
// ONE: (1, 1, 4, 1, 1) 1 2 5.5 12{{$}}
// ONE: (1, 1, 4, 1, 1) 1.5 1 1 0.5{{$}}

// REDEFINE: %{w} = 0
// REDEFINE: %{args} = %t/cpu.json
// RUN: %{window} | FileCheck %s --check-prefix=ZERO
// REDEFINE: %{args} = %t/gfx942.json --device=sim
// RUN: %{window} | FileCheck %s --check-prefix=ZERO
// ZERO: (1, 1, 4, 1, 1) 1 3 8 16{{$}}
// ZERO: (1, 1, 4, 1, 1) 1 1 1 1{{$}}

// A negative width: no key.
// REDEFINE: %{w} = -1
// REDEFINE: %{args} = %t/cpu.json
// RUN: %{window} | FileCheck %s --check-prefix=NONE
// REDEFINE: %{args} = %t/sm_80.json --device=sim
// RUN: %{window} | FileCheck %s --check-prefix=NONE
// REDEFINE: %{w} = -9223372036854775808
// RUN: %{window} | FileCheck %s --check-prefix=NONE
// NONE: (1, 1, 4, 1, 1) 0 0 0 0{{$}}
// NONE: (1, 1, 4, 1, 1) 0 0 0 0{{$}}

// As many as there are, and more.
// REDEFINE: %{w} = 3
// RUN: %{window} | FileCheck %s --check-prefix=ALL
// REDEFINE: %{w} = 9223372036854775807
// RUN: %{window} | FileCheck %s --check-prefix=ALL
// REDEFINE: %{args} = %t/cpu.json
// RUN: %{window} | FileCheck %s --check-prefix=ALL
// REDEFINE: %{args} = %t/gfx942.json --device=sim
// RUN: %{window} | FileCheck %s --check-prefix=ALL
// ALL: (1, 1, 4, 1, 1) 1 2 4 7{{$}}
// ALL: (1, 1, 4, 1, 1) 2.08333 1.08333 0.583333 0.25{{$}}

!s = memref<1x1x4x1x1xf32>
!t = memref<2x1x1x1x4xf32>
func.func @window(%q: !s {evoformer.name = "q"}, %v: !s {evoformer.name = "v"}, %out: !s {evoformer.name = "out"},
                  %stats: !t {evoformer.name = "stats"}, %dout: !s {evoformer.name = "dout"}, %dv: !s {evoformer.name = "dv"},
                  %w: index {evoformer.name = "w"}) {
  evoformer.attention query(%q : !s) key(%v : !s) value(%v : !s) outs(%out : !s) stats(%stats : !t)
      keys(from affine_map<(i)[sq, sk, w] -> (i - w)>[%w], to affine_map<(i)[sq, sk] -> (i + 1)>)
  evoformer.attention_backward query(%q : !s) key(%v : !s) value(%v : !s)
      output(%out : !s) stats(%stats : !t) output_grad(%dout : !s) value_grad(%dv : !s)
      keys(from affine_map<(i)[sq, sk, w] -> (i - w)>[%w], to affine_map<(i)[sq, sk] -> (i + 1)>)
  return
}
