// Which keys a query sees, in numbers that a reader can check: where all logits are
// equal the output is the mean of the values that a query sees. Written as ops of the
// dialect, through its textual and generic forms and its canonicalisation, and run by
// the processor, by a chip's program on it, and in the simulator.

// RUN: rm -rf %t && mkdir -p %t
// RUN: evoformer-opt %s --mlir-print-op-generic | evoformer-opt --canonicalize --cse -o %t/ops.mlir
// RUN: evoformer-run %t/ops.mlir --no-run --function=causal --emit-plan=%t/cpu.json
// RUN: evoformer-run %t/ops.mlir --no-run --function=causal --target=gfx942 --device=sim --emit-plan=%t/gfx942.json
// RUN: evoformer-run %t/ops.mlir --no-run --function=causal --target=sm_80 --device=sim --emit-plan=%t/sm_80.json

// RUN: %python %S/Inputs/npy.py write %t/zeros.npy f4 1,1,4,1,1 0,0,0,0
// RUN: %python %S/Inputs/npy.py write %t/ones.npy f4 1,1,4,1,1 1,1,1,1
// RUN: %python %S/Inputs/npy.py write %t/values.npy f4 1,1,4,1,1 1,3,8,16
// RUN: %python %S/Inputs/npy.py write %t/bias.npy f4 1,1,1,4,4 0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0

// A range of all keys is none: the machine code is that of attention without a range,
// byte by byte, forward and backward.
// DEFINE: %{window} =
// DEFINE: %{code} = evoformer-check --print-module %{window} \
// DEFINE:   | evoformer-opt --evoformer-lower=target=sm_80
// REDEFINE: %{window} = 'Sq=70 Sk=90 D=32 type=bf16 bias=hqk:bf16:normal static=all pass=backward'
// RUN: %{code} -o %t/none.mlir
// REDEFINE: %{window} = 'Sq=70 Sk=90 D=32 type=bf16 bias=hqk:bf16:normal static=all pass=backward window=-5:sk+3'
// RUN: %{code} | cmp - %t/none.mlir
// REDEFINE: %{window} = 'Sq=70 Sk=90 D=32 type=bf16 bias=hqk:bf16:normal static=all pass=backward window=i-69:i+90'
// RUN: %{code} | cmp - %t/none.mlir
// REDEFINE: %{window} = 'Sq=70 Sk=90 D=32 type=bf16 bias=hqk:bf16:normal static=all pass=backward window=i-69:i+89'
// RUN: %{code} | not cmp - %t/none.mlir

//===----------------------------------------------------------------------===//
// Causal: 1, the mean of 1 and 3, of 1, 3 and 8, of all. dBias is
// weight * (value - output): 0 where no key was.
//===----------------------------------------------------------------------===//

// DEFINE: %{args} =
// DEFINE: %{causal} = evoformer-run %{args} --function=causal --input=q=%t/ones.npy \
// DEFINE:   --input=k=%t/zeros.npy --input=v=%t/values.npy --input=bias=%t/bias.npy \
// DEFINE:   --input=dout=%t/ones.npy --output=out=%t/out.npy --output=dk=%t/dk.npy \
// DEFINE:   --output=dv=%t/dv.npy --output=dbias=%t/dbias.npy --check \
// DEFINE:   && %python %S/Inputs/npy.py print %t/out.npy %t/dk.npy %t/dv.npy %t/dbias.npy
// REDEFINE: %{args} = %t/cpu.json
// RUN: %{causal} | FileCheck %s --check-prefix=CAUSAL
// REDEFINE: %{args} = %t/gfx942.json --device=sim
// RUN: %{causal} | FileCheck %s --check-prefix=CAUSAL
// REDEFINE: %{args} = %t/sm_80.json --device=sim
// RUN: %{causal} | FileCheck %s --check-prefix=CAUSAL
// REDEFINE: %{args} = %t/ops.mlir --target=gfx942 --level=fragments
// RUN: %{causal} | FileCheck %s --check-prefix=CAUSAL
// CAUSAL: (1, 1, 4, 1, 1) 1 2 4 7{{$}}
// CAUSAL: (1, 1, 4, 1, 1) -3 -0.833333 1.58333 2.25{{$}}
// CAUSAL: (1, 1, 4, 1, 1) 2.08333 1.08333 0.583333 0.25{{$}}
// CAUSAL: (1, 1, 1, 4, 4) 0 0 0 0 -0.5 0.5 0 0 -1 -0.333333 1.33333 0 -1.5 -1 0.25 2.25{{$}}

func.func @causal(%q: memref<1x1x4x1x1xf32> {evoformer.name = "q"}, %k: memref<1x1x4x1x1xf32> {evoformer.name = "k"}, %v: memref<1x1x4x1x1xf32> {evoformer.name = "v"},
                  %bias: memref<1x1x1x4x4xf32> {evoformer.name = "bias"}, %out: memref<1x1x4x1x1xf32> {evoformer.name = "out"},
                  %stats: memref<2x1x1x1x4xf32> {evoformer.name = "stats"}, %dout: memref<1x1x4x1x1xf32> {evoformer.name = "dout"},
                  %dk: memref<1x1x4x1x1xf32> {evoformer.name = "dk"}, %dv: memref<1x1x4x1x1xf32> {evoformer.name = "dv"}, %dbias: memref<1x1x1x4x4xf32> {evoformer.name = "dbias"}) {
  evoformer.attention
      query(%q : memref<1x1x4x1x1xf32>)
      key(%k : memref<1x1x4x1x1xf32>)
      value(%v : memref<1x1x4x1x1xf32>)
      bias(%bias : memref<1x1x1x4x4xf32>)
      outs(%out : memref<1x1x4x1x1xf32>)
      stats(%stats : memref<2x1x1x1x4xf32>)
      keys(to affine_map<(i)[sq, sk] -> (i + 1)>)
  evoformer.attention_backward
      query(%q : memref<1x1x4x1x1xf32>)
      key(%k : memref<1x1x4x1x1xf32>)
      value(%v : memref<1x1x4x1x1xf32>)
      bias(%bias : memref<1x1x1x4x4xf32>)
      output(%out : memref<1x1x4x1x1xf32>)
      stats(%stats : memref<2x1x1x1x4xf32>)
      output_grad(%dout : memref<1x1x4x1x1xf32>)
      key_grad(%dk : memref<1x1x4x1x1xf32>)
      value_grad(%dv : memref<1x1x4x1x1xf32>)
      bias_grad[0](%dbias : memref<1x1x1x4x4xf32>)
      keys(to affine_map<(i)[sq, sk] -> (i + 1)>)
  return
}

//===----------------------------------------------------------------------===//
// Two queries by three keys: queries 0 and 1 see the keys 0 and 1, queries 2 and 3
// the keys 1 to 3. A window of a key to the left, open to the right: all, all, but
// the first, the last two.
//===----------------------------------------------------------------------===//

// DEFINE: %{local} = evoformer-run %{args} --function=local --input=q=%t/zeros.npy \
// DEFINE:   --input=v=%t/values.npy --output=blocks=%t/blocks.npy --output=open=%t/open.npy \
// DEFINE:   --check \
// DEFINE:   && %python %S/Inputs/npy.py print %t/blocks.npy %t/open.npy
// REDEFINE: %{args} = %t/cpu.json
// RUN: %{local} | FileCheck %s --check-prefix=LOCAL
// REDEFINE: %{args} = %t/gfx942.json --device=sim
// RUN: %{local} | FileCheck %s --check-prefix=LOCAL
// REDEFINE: %{args} = %t/sm_80.json --device=sim
// RUN: %{local} | FileCheck %s --check-prefix=LOCAL
// LOCAL: (1, 1, 4, 1, 1) 2 2 9 9{{$}}
// LOCAL: (1, 1, 4, 1, 1) 7 7 9 12{{$}}

func.func @local(%q: memref<1x1x4x1x1xf32> {evoformer.name = "q"}, %v: memref<1x1x4x1x1xf32> {evoformer.name = "v"}, %blocks: memref<1x1x4x1x1xf32> {evoformer.name = "blocks"}, %open: memref<1x1x4x1x1xf32> {evoformer.name = "open"}) {
  evoformer.attention
      query(%q : memref<1x1x4x1x1xf32>)
      key(%v : memref<1x1x4x1x1xf32>)
      value(%v : memref<1x1x4x1x1xf32>)
      outs(%blocks : memref<1x1x4x1x1xf32>)
      keys(from affine_map<(i)[sq, sk] -> ((i floordiv 2) * 2 - 1)>,
           to affine_map<(i)[sq, sk] -> ((i floordiv 2) * 2 + 2)>)
  evoformer.attention
      query(%q : memref<1x1x4x1x1xf32>)
      key(%v : memref<1x1x4x1x1xf32>)
      value(%v : memref<1x1x4x1x1xf32>)
      outs(%open : memref<1x1x4x1x1xf32>)
      keys(from affine_map<(i)[sq, sk] -> (i + sk - sq - 1)>)
  return
}

//===----------------------------------------------------------------------===//
// Row 0 has two queries and three keys, row 1 all of both (9 counts as 4). Causal of
// their own lengths, so that the last query of each is beside its last key. What lies
// behind an end is NaN; outputs and gradients there are 0, lse is -inf.
//===----------------------------------------------------------------------===//

// RUN: %python %S/Inputs/npy.py write %t/rows.npy f4 1,2,4,1,1 1,3,8,nan,1,3,8,16
// RUN: %python %S/Inputs/npy.py write %t/short.npy f4 1,2,4,1,1 0,0,nan,nan,0,0,0,0
// RUN: %python %S/Inputs/npy.py write %t/given.npy f4 1,2,4,1,1 1,1,nan,nan,1,1,1,1
// RUN: %python %S/Inputs/npy.py write %t/keys.npy i4 1,2 3,9
// RUN: %python %S/Inputs/npy.py write %t/queries.npy i4 1,2 2,4
// DEFINE: %{lengths} = evoformer-run %{args} --function=lengths --input=q=%t/short.npy \
// DEFINE:   --input=v=%t/rows.npy --input=keys=%t/keys.npy --input=queries=%t/queries.npy \
// DEFINE:   --input=dout=%t/given.npy --output=out=%t/out.npy --output=lse=%t/lse.npy \
// DEFINE:   --output=dq=%t/dq.npy --output=dv=%t/dv.npy --check \
// DEFINE:   && %python %S/Inputs/npy.py print %t/out.npy %t/lse.npy %t/dq.npy %t/dv.npy
// REDEFINE: %{args} = %t/cpu.json
// RUN: %{lengths} | FileCheck %s --check-prefix=LENGTHS
// REDEFINE: %{args} = %t/gfx942.json --device=sim
// RUN: %{lengths} | FileCheck %s --check-prefix=LENGTHS
// REDEFINE: %{args} = %t/sm_80.json --device=sim
// RUN: %{lengths} | FileCheck %s --check-prefix=LENGTHS
// LENGTHS: (1, 2, 4, 1, 1) 2 4 0 0 1 2 4 7{{$}}
// LENGTHS: (1, 2, 1, 4) 0.693147 1.09861 -inf -inf 0 0.693147 1.09861 1.38629{{$}}
// LENGTHS: (1, 2, 4, 1, 1) 1 8.66667 0 0 0 1 8.66667 33.5{{$}}
// LENGTHS: (1, 2, 4, 1, 1) 0.833333 0.833333 0.333333 0 2.08333 1.08333 0.583333 0.25{{$}}

func.func @lengths(%q: memref<1x2x4x1x1xf32> {evoformer.name = "q"}, %v: memref<1x2x4x1x1xf32> {evoformer.name = "v"}, %keys: memref<1x2xi32> {evoformer.name = "keys"},
                   %queries: memref<1x2xi32> {evoformer.name = "queries"}, %out: memref<1x2x4x1x1xf32> {evoformer.name = "out"},
                   %lse: memref<1x2x1x4xf32> {evoformer.name = "lse"}, %stats: memref<2x1x2x1x4xf32> {evoformer.name = "stats"},
                   %dout: memref<1x2x4x1x1xf32> {evoformer.name = "dout"}, %dq: memref<1x2x4x1x1xf32> {evoformer.name = "dq"}, %dv: memref<1x2x4x1x1xf32> {evoformer.name = "dv"}) {
  evoformer.attention
      query(%q : memref<1x2x4x1x1xf32>)
      key(%v : memref<1x2x4x1x1xf32>)
      value(%v : memref<1x2x4x1x1xf32>)
      lengths(keys %keys : memref<1x2xi32>, queries %queries : memref<1x2xi32>)
      outs(%out : memref<1x2x4x1x1xf32>)
      lse(%lse : memref<1x2x1x4xf32>)
      stats(%stats : memref<2x1x2x1x4xf32>)
      keys(to affine_map<(i)[sq, sk] -> (i + sk - sq + 1)>)
  evoformer.attention_backward
      query(%q : memref<1x2x4x1x1xf32>)
      key(%v : memref<1x2x4x1x1xf32>)
      value(%v : memref<1x2x4x1x1xf32>)
      lengths(keys %keys : memref<1x2xi32>, queries %queries : memref<1x2xi32>)
      output(%out : memref<1x2x4x1x1xf32>)
      stats(%stats : memref<2x1x2x1x4xf32>)
      output_grad(%dout : memref<1x2x4x1x1xf32>)
      query_grad(%dq : memref<1x2x4x1x1xf32>)
      value_grad(%dv : memref<1x2x4x1x1xf32>)
      keys(to affine_map<(i)[sq, sk] -> (i + sk - sq + 1)>)
  return
}

//===----------------------------------------------------------------------===//
// Three sequences: queries 0 and 1 with keys 0 to 2, none with none, query 2 with key
// 3. Two heads of queries for one of keys. A bias of each sequence drops its key 1.
// Query 3 is of no sequence: what is there stays, so that only the others are looked at.
//===----------------------------------------------------------------------===//

// RUN: %python %S/Inputs/npy.py write %t/two.npy f4 1,1,4,2,1 0,0,0,0,0,0,nan,nan
// RUN: %python %S/Inputs/npy.py write %t/weights.npy f4 1,1,4,2,1 1,2,1,2,1,2,nan,nan
// RUN: %python %S/Inputs/npy.py write %t/at-queries.npy i4 4 0,2,2,3
// RUN: %python %S/Inputs/npy.py write %t/at-keys.npy i4 4 0,3,3,4
// RUN: %python %S/Inputs/npy.py write %t/drop.npy f4 3,1,1,1,3 0,-inf,0,0,-inf,0,0,-inf,0
// DEFINE: %{ragged} = evoformer-run %{args} --function=ragged --input=q=%t/two.npy \
// DEFINE:   --input=v=%t/values.npy --input=bias=%t/drop.npy --input=at_q=%t/at-queries.npy \
// DEFINE:   --input=at_k=%t/at-keys.npy --input=dout=%t/weights.npy \
// DEFINE:   --output=out=%t/out.npy --output=dv=%t/dv.npy --output=dbias=%t/dbias.npy \
// DEFINE:   --check \
// DEFINE:   && %python %S/Inputs/npy.py print %t/out.npy %t/dv.npy %t/dbias.npy
// REDEFINE: %{args} = %t/cpu.json
// RUN: %{ragged} | FileCheck %s --check-prefix=RAGGED
// REDEFINE: %{args} = %t/gfx942.json --device=sim
// RUN: %{ragged} | FileCheck %s --check-prefix=RAGGED
// REDEFINE: %{args} = %t/sm_80.json --device=sim
// RUN: %{ragged} | FileCheck %s --check-prefix=RAGGED
// RAGGED: (1, 1, 4, 2, 1) 4.5 4.5 4.5 4.5 16 16
// RAGGED: (1, 1, 4, 1, 1) 3 0 3 3{{$}}
// RAGGED: (3, 1, 1, 1, 3) -10.5 0 10.5 0 0 0 0 0 0{{$}}

func.func @ragged(%q: memref<1x1x4x2x1xf32> {evoformer.name = "q"}, %v: memref<1x1x4x1x1xf32> {evoformer.name = "v"}, %bias: memref<3x1x1x1x3xf32> {evoformer.name = "bias"}, %at_q: memref<4xi32> {evoformer.name = "at_q"},
                  %at_k: memref<4xi32> {evoformer.name = "at_k"}, %out: memref<1x1x4x2x1xf32> {evoformer.name = "out"},
                  %stats: memref<2x1x1x2x4xf32> {evoformer.name = "stats"}, %dout: memref<1x1x4x2x1xf32> {evoformer.name = "dout"},
                  %dv: memref<1x1x4x1x1xf32> {evoformer.name = "dv"}, %dbias: memref<3x1x1x1x3xf32> {evoformer.name = "dbias"}) {
  %two = arith.constant 2 : index
  %three = arith.constant 3 : index
  evoformer.attention
      query(%q : memref<1x1x4x2x1xf32>)
      key(%v : memref<1x1x4x1x1xf32>)
      value(%v : memref<1x1x4x1x1xf32>)
      bias(%bias : memref<3x1x1x1x3xf32>)
      ragged(queries %at_q : memref<4xi32>, keys %at_k : memref<4xi32>, most %two, %three)
      outs(%out : memref<1x1x4x2x1xf32>)
      stats(%stats : memref<2x1x1x2x4xf32>)
      group_size(2)
  evoformer.attention_backward
      query(%q : memref<1x1x4x2x1xf32>)
      key(%v : memref<1x1x4x1x1xf32>)
      value(%v : memref<1x1x4x1x1xf32>)
      bias(%bias : memref<3x1x1x1x3xf32>)
      ragged(queries %at_q : memref<4xi32>, keys %at_k : memref<4xi32>, most %two, %three)
      output(%out : memref<1x1x4x2x1xf32>)
      stats(%stats : memref<2x1x1x2x4xf32>)
      output_grad(%dout : memref<1x1x4x2x1xf32>)
      value_grad(%dv : memref<1x1x4x1x1xf32>)
      bias_grad[0](%dbias : memref<3x1x1x1x3xf32>)
      group_size(2)
  return
}
