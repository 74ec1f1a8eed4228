// Upstream's mlir-opt lowers our op when it loads the plugin.
//
// REQUIRES: no-sanitizer
// RUN: mlir-opt --load-dialect-plugin=%build_dir/lib/EvoformerPlugin.so --load-pass-plugin=%build_dir/lib/EvoformerPlugin.so \
// RUN:   --pass-pipeline='builtin.module(evoformer-lower{target=gfx942 stop-after=tiles})' %examples/triangle_attention.mlir | FileCheck %s
// RUN: not mlir-opt %examples/triangle_attention.mlir 2>&1 | FileCheck %s --check-prefix=WITHOUT

// CHECK: evo_tile.kernel
// CHECK: evo_tile.launch
// CHECK-NOT: evoformer.attention
// WITHOUT: error:
