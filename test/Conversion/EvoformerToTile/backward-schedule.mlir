// RUN: evoformer-opt %s --convert-evoformer-to-tile='target=gfx942 schedule=v1:q=128,k=128,subgroups=4x1,stages=1' | FileCheck %s
// RUN: evoformer-opt %s --convert-evoformer-to-tile='target=gfx942' --remarks-filter=evo-schedule --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: not evoformer-opt %s --convert-evoformer-to-tile='target=gfx942 schedule=v1:q=100' 2>&1 | FileCheck %s --check-prefix=MULTIPLE
// RUN: not evoformer-opt %s --convert-evoformer-to-tile='target=gfx942 schedule=v1:q=1024,k=1024' 2>&1 | FileCheck %s --check-prefix=LARGE
// RUN: not evoformer-opt %s --convert-evoformer-to-tile='target=cpu schedule=v1:subgroups=2x1' 2>&1 | FileCheck %s --check-prefix=CPU

// The gradient of a bias; of one that has neither queries nor keys.
// RUN: evoformer-check --print-module 'N=3 H=2 Sq=32 Sk=32 D=32 type=bf16 bias=bhqk:bf16:normal static=heads pass=backward' > %t.bias
// RUN: not evoformer-opt %t.bias --evoformer-lower='target=gfx942 schedule=v1:rows=2' 2>&1 | FileCheck %s --check-prefix=ROWS
// ROWS: error: schedule: rows=2, but the gradient of a bias takes one row at a time

// RUN: evoformer-check --print-module='N=2 Sq=16 Sk=16 D=16 lens=half' > %t.lengths
// RUN: not evoformer-opt %t.lengths --evoformer-lower='target=gfx942 schedule=v1:rows=2' 2>&1 | FileCheck %s --check-prefix=LENGTHS
// LENGTHS: error: schedule: rows=2, but rows that have lengths are taken one at a time
// RUN: evoformer-check --print-module='N=2 Sq=16 Sk=16 D=16 share=n' > %t.shared
// RUN: not evoformer-opt %t.shared --evoformer-lower='target=gfx942 schedule=v1:rows=2' 2>&1 | FileCheck %s --check-prefix=SHARED
// SHARED: error: schedule: rows=2, but rows that share keys and values are taken one at a time
// RUN: evoformer-check --print-module='N=2 Sq=16 Sk=16 D=16 dropout=0.5' > %t.dropout
// RUN: not evoformer-opt %t.dropout --evoformer-lower='target=gfx942 schedule=v1:rows=2' 2>&1 | FileCheck %s --check-prefix=DROPOUT
// DROPOUT: error: schedule: rows=2, but rows that drop weights are taken one at a time
// RUN: evoformer-check --print-module 'N=3 H=2 Sq=32 Sk=32 D=32 type=bf16 bias=bh:f32:normal static=heads pass=backward' > %t.sum
// RUN: not evoformer-opt %t.sum --evoformer-lower='target=gfx942 schedule=v1:subgroups=2x1' 2>&1 | FileCheck %s --check-prefix=SUBGROUPS
// SUBGROUPS: error: schedule: one subgroup sums over queries and keys, not 2

// Kernels with cuts of their own; subgroups along keys are for the sum of a bias.
// RUN: evoformer-opt %t.bias --evoformer-lower='target=sm_80 stop-after=tiles schedule=v1:stages=1;query_grad:v1:q=64,k=32,own=lds;bias_grad:v1:q=64,k=64,subgroups=4x2' | FileCheck %s --check-prefix=NAMED
// NAMED-DAG: kernel @{{.*}}query_grad{{.*}}block = [1, 64, 32], subgroups = [1, 4, 1], stages = 3, {{.*}}own = lds>
// NAMED-DAG: kernel @{{.*}}key_value_grad{{.*}}stages = 1, resident = 3>
// NAMED-DAG: kernel @{{.*}}bias_grad{{.*}}block = [1, 64, 64], subgroups = [1, 4, 2], stages = 2
// RUN: not evoformer-opt %t.bias --evoformer-lower='target=sm_80 schedule=query_grad:v1:subgroups=4x2' 2>&1 | FileCheck %s --check-prefix=ALONG-OTHER
// ALONG-OTHER: error: schedule: subgroups=4x2, but this kernel sums over what it does not own, which its subgroups cannot share

// RUN: not evoformer-opt %t.bias --evoformer-lower='target=sm_80 schedule=bias_grad:v1:own=lds' 2>&1 | FileCheck %s --check-prefix=OWN-BIAS
// OWN-BIAS: error: schedule: own=lds, but each step of this kernel, which sums a bias's gradient, reads all of its operands anew

// Blocks of queries in parts, of which registers hold one: where more workgroups
// are resident then, and have the memory; two subgroups, where twice as many are. One
// loop goes through the blocks, one in it through the parts that there are.
// RUN: evoformer-check --print-module 'N=3 H=2 Sq=384 Sk=384 D=32 type=bf16 bias=hqk:bf16:normal pass=backward' > %t.parts
// RUN: evoformer-opt %t.parts --evoformer-lower='target=sm_90 stop-after=tiles' --remarks-filter=evo-schedule --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefixes=PARTS,CHOSEN
// RUN: evoformer-opt %t.parts --evoformer-lower='target=gfx942 stop-after=tiles schedule=key_value_grad:v1:q=64,steps=2' | FileCheck %s --check-prefixes=PARTS,FORCED
// RUN: evoformer-check --print-module 'N=3 H=2 Sq=384 Sk=384 D=32 type=bf16 bias=hqk:f32:normal bias=bhqk:f32:normal pass=backward' > %t.memory
// RUN: evoformer-opt %t.memory --evoformer-lower='target=sm_90 stop-after=tiles' --remarks-filter=evo-schedule --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=MEMORY
// CHOSEN: gradient="key, value"{{.*}} k=64,{{.*}} q=64,{{.*}} steps=4
// MEMORY: gradient="key, value"{{.*}} k=128,{{.*}} q=64,{{.*}} steps=1
// PARTS-LABEL: evo_tile.kernel @{{.*}}key_value_grad
// CHOSEN-SAME: block = [1, 64, 64], subgroups = [1, 2, 1], stages = 3, resident = 6>
// PARTS: scf.for %[[BLOCK:.+]] = %{{.+}} to %{{.+}} step %c64
// PARTS:   %[[LEFT:.+]] = arith.subi %{{.+}}, %[[BLOCK]]
// PARTS:   arith.divui
// CHOSEN:  %[[SOME:.+]] = arith.minui %{{.+}}, %c4
// FORCED:  %[[SOME:.+]] = arith.minui %{{.+}}, %c2
// PARTS:   %[[COUNT:.+]] = arith.maxui %[[SOME]], %c1
// PARTS:   scf.for %[[PART:.+]] = %c0 to %[[COUNT]] step %c1
// CHOSEN:    arith.muli %[[PART]], %c16
// CHOSEN:    evo_tile.load {{.+}} -> tensor<1x16x32xbf16>
// FORCED:    arith.muli %[[PART]], %c32
// FORCED:    evo_tile.load {{.+}} -> tensor<1x32x32xbf16>
// RUN: not evoformer-opt %t.parts --evoformer-lower='target=sm_80 schedule=key_value_grad:v1:q=64,steps=8' 2>&1 | FileCheck %s --check-prefix=ATOMS
// ATOMS: error: schedule: steps=8, but blocks of q=64 have no so many equal parts of atoms of 16 queries
// RUN: not evoformer-opt %t.parts --evoformer-lower='target=sm_80 schedule=query_grad:v1:steps=2' 2>&1 | FileCheck %s --check-prefix=ELSEWHERE
// RUN: not evoformer-opt %t.parts --evoformer-lower='target=sm_80 schedule=attention:v1:steps=2' 2>&1 | FileCheck %s --check-prefix=ELSEWHERE
// ELSEWHERE: error: schedule: steps=2, but only the kernel of the gradients of key and value computes blocks of queries in parts

// Two pieces of keys in each step, where two subgroups fit on a SIMD with them: both
// take the queries that are read once, and the sums of each are stored.
// RUN: evoformer-opt %t.parts --evoformer-lower='target=gfx942 stop-after=tiles' --remarks-filter=evo-schedule --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefixes=PIECES
// PIECES: gradient="key, value"{{.*}} k=128,{{.*}} pieces=2, {{.*}} q=32,{{.*}} stages=1, {{.*}} subgroups=2
// PIECES-LABEL: evo_tile.kernel @{{.*}}key_value_grad
// PIECES: scf.for {{.+}} step %c32 iter_args({{.+}}) -> (tensor<1x64x32xf32>, tensor<1x64x32xf32>, tensor<1x64x32xf32>, tensor<1x64x32xf32>) {
// PIECES-COUNT-4: evo_tile.mma {{.+}}tensor<1x64x32xf32>
// PIECES-COUNT-4: evo_tile.mma {{.+}}tensor<1x64x32xf32>
// PIECES: scf.yield
// PIECES-COUNT-4: evo_tile.store
// RUN: evoformer-check --print-module 'N=3 H=2 Sq=384 Sk=384 D=64 type=bf16 bias=hqk:bf16:normal pass=backward' | evoformer-opt --evoformer-lower='target=gfx942 stop-after=tiles' --remarks-filter=evo-schedule --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHOLE
// RUN: evoformer-check --print-module 'N=3 H=2 group=2 Sq=384 Sk=384 D=32 type=bf16 pass=backward' > %t.group
// RUN: evoformer-opt %t.group --evoformer-lower='target=gfx942 stop-after=tiles' --remarks-filter=evo-schedule --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHOLE
// WHOLE: gradient="key, value"{{.*}} pieces=1, {{.*}} subgroups=4
// RUN: not evoformer-opt %t.group --evoformer-lower='target=gfx942 schedule=key_value_grad:v1:pieces=2' 2>&1 | FileCheck %s --check-prefix=NO-PIECES
// RUN: not evoformer-opt %t.parts --evoformer-lower='target=gfx942 schedule=bias_grad:v1:pieces=2' 2>&1 | FileCheck %s --check-prefix=NO-PIECES
// NO-PIECES: error: schedule: pieces=2, but only the kernel of the gradients of key and value cuts its block of keys, where no heads, rows or batches share keys and no slab is stored
// RUN: not evoformer-opt %t.parts --evoformer-lower='target=gfx942 schedule=key_value_grad:v1:q=32,k=128,subgroups=4x1,pieces=3' 2>&1 | FileCheck %s --check-prefix=PIECE-ATOMS
// RUN: not evoformer-opt %t.parts --evoformer-lower='target=cpu schedule=key_value_grad:v1:k=33,pieces=2' 2>&1 | FileCheck %s --check-prefix=UNEQUAL
// UNEQUAL: error: schedule: k=33 is not a multiple of 2 (pieces)
// PIECE-ATOMS: error: schedule: k=128 is not a multiple of 384 (subgroups times pieces times atoms of matrix instruction mfma_f32_32x32x8_bf16)

// Where the smallest cut takes more registers than a lane has, own operands lie
// in LDS.
// RUN: evoformer-check --print-module 'N=3 H=2 Sq=32 Sk=32 D=96 type=f16 bias=bhqk:f16:normal static=heads pass=backward' > %t.deep
// RUN: evoformer-opt %t.deep --evoformer-lower='target=gfx1100 stop-after=tiles' | FileCheck %s --check-prefix=DEEP
// RUN: evoformer-opt %t.deep --evoformer-lower='target=gfx942 stop-after=tiles' | FileCheck %s --check-prefix=ROOM
// DEEP-DAG: kernel @{{.*}}query_grad{{.*}}own = lds>
// DEEP-DAG: kernel @{{.*}}key_value_grad{{.*}}own = lds>
// DEEP-DAG: kernel @{{.*}}bias_grad{{.*}}stages = 1>
// ROOM-NOT: own = lds

// Groups of subgroups have no registers for both sums of keys at large depths: each
// gradient has a kernel. Queries lie in LDS then, and groups read all keys.
// RUN: evoformer-check --print-module 'N=3 H=2 Sq=128 Sk=128 D=256 type=f16 pass=backward' > %t.apart
// RUN: evoformer-opt %t.apart --evoformer-lower='target=sm_90 stop-after=tiles' | FileCheck %s --check-prefix=APART
// RUN: evoformer-check --print-module 'N=3 H=2 Sq=128 Sk=128 D=192 type=f16 pass=backward' > %t.together
// RUN: evoformer-opt %t.together --evoformer-lower='target=sm_90 stop-after=tiles' | FileCheck %s --check-prefix=TOGETHER
// APART: kernel @{{.*}}query_grad{{.*}}own = lds, products = group>
// APART-COUNT-4: kernel @{{.*}}key_value_grad{{.*}}products = group>
// TOGETHER-COUNT-2: kernel @{{.*}}key_value_grad{{.*}}products = group>
// TOGETHER-NOT: kernel @{{.*}}key_value_grad

// So has each where both sums would take more than half of a lane's registers; fewer
// subgroups own what fits LDS.
// RUN: evoformer-opt %t.apart --evoformer-lower='target=gfx1100 stop-after=tiles' | FileCheck %s --check-prefix=HALF
// RUN: evoformer-opt %t.deep --evoformer-lower='target=gfx1100 stop-after=tiles' | FileCheck %s --check-prefix=LESS
// HALF: kernel @{{.*}}query_grad{{.*}}subgroups = [1, 2, 1]{{.*}}own = lds>
// HALF-COUNT-4: kernel @{{.*}}key_value_grad{{.*}}own = lds>
// LESS-COUNT-2: kernel @{{.*}}key_value_grad{{.*}}own = lds>
// LESS-NOT: kernel @{{.*}}key_value_grad

// A forced cut counts for every kernel: queries in blocks of q, keys in blocks
// of k, whichever of them an item owns.
// CHECK: evo_tile.kernel @f_query_grad{{.*}}schedule = #evo_tile.schedule<v1, block = [1, 128, 128], subgroups = [1, 4, 1], stages = 1>
// CHECK: evo_tile.kernel @f_key_value_grad{{.*}}schedule = #evo_tile.schedule<v1, block = [1, 128, 128], subgroups = [1, 4, 1], stages = 1>

// REMARK: gradient-schedule{{.*}}gradient=query{{.*}}instruction=mfma_f32_32x32x8_f16
// REMARK: gradient-schedule{{.*}}gradient="key, value"

// MULTIPLE: error: schedule: q=100 is not a multiple of 128 (subgroups times atoms of matrix instruction mfma_f32_32x32x8_f16)
// LARGE: error: schedule q=1024, k=1024, stages=1 of a gradient needs about {{[0-9]+}} registers a lane and {{[0-9]+}} bytes of LDS; target 'gfx942' has
// CPU: error: schedule: target 'cpu' has one subgroup, not 2
func.func @f(%x: memref<1x2x64x4x32xf16>, %s: memref<1x2x4x64xf32>,
             %stats: memref<2x1x2x4x64xf32>,
             %dq: memref<1x2x64x4x32xf16>, %dk: memref<1x2x64x4x32xf16>) {
  evoformer.attention_gradient
      query(%x : memref<1x2x64x4x32xf16>) key(%x : memref<1x2x64x4x32xf16>)
      value(%x : memref<1x2x64x4x32xf16>)
      weighted_grad(%x : memref<1x2x64x4x32xf16>)
      stats(%stats : memref<2x1x2x4x64xf32>) delta(%s : memref<1x2x4x64xf32>)
      query_grad(%dq : memref<1x2x64x4x32xf16>)
  evoformer.attention_gradient
      query(%x : memref<1x2x64x4x32xf16>) key(%x : memref<1x2x64x4x32xf16>)
      value(%x : memref<1x2x64x4x32xf16>)
      weighted_grad(%x : memref<1x2x64x4x32xf16>)
      stats(%stats : memref<2x1x2x4x64xf32>) delta(%s : memref<1x2x4x64xf32>)
      key_grad(%dk : memref<1x2x64x4x32xf16>)
  return
}
