// Upstream's mlir-opt lowers our op when it loads the plugin, and finds it in what
// torch-mlir wrote.
//
// REQUIRES: no-sanitizer
// RUN: mlir-opt --load-dialect-plugin=%build_dir/lib/EvoformerPlugin.so --load-pass-plugin=%build_dir/lib/EvoformerPlugin.so \
// RUN:   --pass-pipeline='builtin.module(evoformer-lower{target=gfx942 stop-after=tiles})' %examples/triangle_attention.mlir | FileCheck %s
// RUN: mlir-opt --load-dialect-plugin=%build_dir/lib/EvoformerPlugin.so --load-pass-plugin=%build_dir/lib/EvoformerPlugin.so \
// RUN:   --remarks-filter='evoformer-raise.*' --remark-format=emitRemark \
// RUN:   --pass-pipeline='builtin.module(evoformer-raise-attention,canonicalize,cse,evoformer-lower{target=gfx942 stop-after=tiles})' \
// RUN:   %source_dir/test/Conversion/LinalgToEvoformer/Inputs/modules/triangle_start.mlir 2>&1 | FileCheck %s --check-prefix=RAISED
// RUN: not mlir-opt %examples/triangle_attention.mlir 2>&1 | FileCheck %s --check-prefix=WITHOUT

// CHECK: evo_tile.kernel
// CHECK: evo_tile.launch
// CHECK-NOT: evoformer.attention
// RAISED: remark: [Passed] raised
// RAISED: evo_tile.kernel
// RAISED: evo_tile.launch
// WITHOUT: error:
