// Rows of 56 elements begin where no line of 128 bytes does and touch two. The kernel of a
// bias's gradient reads all its operands anew for each row of the problem: it takes twice
// the queries then, and half the items.
// RUN: evoformer-check --print-module="B=1 N=64 H=4 Sq=1024 Sk=1024 D=56 type=bf16 bias=bhqk:bf16:normal pass=backward" > %t.56
// RUN: evoformer-opt %t.56 --evoformer-lower="target=sm_90 stop-after=tiles" | FileCheck %s --check-prefix=STRADDLED
// RUN: evoformer-check --print-module="B=1 N=64 H=4 Sq=1024 Sk=1024 D=64 type=bf16 bias=bhqk:bf16:normal pass=backward" > %t.64
// RUN: evoformer-opt %t.64 --evoformer-lower="target=sm_90 stop-after=tiles" | FileCheck %s --check-prefix=WHOLE

// STRADDLED-LABEL: evo_tile.kernel @attention_bias_grad(
// STRADDLED:         evo_tile.store %{{.*}} : tensor<1x128x64xbf16>
// WHOLE-LABEL:     evo_tile.kernel @attention_bias_grad(
// WHOLE:             evo_tile.store %{{.*}} : tensor<1x64x64xbf16>
