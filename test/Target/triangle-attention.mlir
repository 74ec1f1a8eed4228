// The steady loop of triangle attention on every chip: 64 keys by 64 (gfx942),
// 32 (gfx1100) or 16 (sm_80) queries a wave. At D = 32 the ideal number of
// matrix instructions is 32; each lane has 64 logits on AMD and 32 on NVIDIA, so
// as many exponentials and one for each of its two rows. Nothing in scratch
// memory.
// RUN: evoformer-opt %examples/triangle_attention.mlir --evoformer-lower=target=gfx942 \
// RUN:   --evoformer-serialize="format=isa report=%t.gfx942" -o /dev/null
// RUN: FileCheck %s --check-prefixes=CHECK,AMD --input-file=%t.gfx942
// RUN: evoformer-opt %examples/triangle_attention.mlir --evoformer-lower=target=gfx1100 \
// RUN:   --evoformer-serialize="format=isa report=%t.gfx1100" -o /dev/null
// RUN: FileCheck %s --check-prefixes=CHECK,AMD --input-file=%t.gfx1100
// RUN: evoformer-opt %examples/triangle_attention.mlir --evoformer-lower=target=sm_80 \
// RUN:   --evoformer-serialize="format=ptx report=%t.sm_80" -o /dev/null
// RUN: FileCheck %s --check-prefixes=CHECK,NVIDIA --input-file=%t.sm_80

// CHECK: kernel triangle_attention_attention for
// AMD: scratch 0 bytes a lane
// CHECK: hot loop:
// AMD-NEXT: matrix 32
// AMD-NEXT: transcendental 66
// NVIDIA-NEXT: matrix 32
// NVIDIA-NEXT: transcendental 34
// CHECK-NOT: scratch_
// CHECK-NOT: accesses of at most 2 bytes
// CHECK: kernel triangle_attention_attention_0 for
