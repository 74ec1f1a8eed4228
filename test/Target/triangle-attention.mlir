// The steady loop of triangle attention on gfx942, gfx1100 and sm_80: 64 keys by 64
// queries a wave on the first, 32 by 32 on the others. At D = 32 the ideal
// number of matrix instructions is 32, 16 and 32; each lane has 64, 32 and 32
// logits, so as many exponentials and one for each of its two or four rows. At most 8
// (gfx942) and 12 (gfx1100) instructions a logit, a tenth more than the 466 and 346 of
// all that are counted; nothing in scratch memory, no wait that drains what was
// loaded ahead.
// RUN: evoformer-opt %examples/triangle_attention.mlir --evoformer-lower=target=gfx942 \
// RUN:   --evoformer-serialize="format=isa report=%t.gfx942" -o /dev/null
// RUN: FileCheck %s --check-prefixes=CHECK,AMD,GFX942 --input-file=%t.gfx942
// RUN: evoformer-opt %examples/triangle_attention.mlir --evoformer-lower=target=gfx1100 \
// RUN:   --evoformer-serialize="format=isa report=%t.gfx1100" -o /dev/null
// RUN: FileCheck %s --check-prefixes=CHECK,AMD,GFX1100 --input-file=%t.gfx1100
// RUN: evoformer-opt %examples/triangle_attention.mlir --evoformer-lower=target=sm_80 \
// RUN:   --evoformer-serialize="format=ptx report=%t.sm_80" -o /dev/null
// RUN: FileCheck %s --check-prefixes=CHECK,NVIDIA --input-file=%t.sm_80

// CHECK: kernel triangle_attention_attention for
// AMD: scratch 0 bytes a lane
// GFX942: hot loop: {{[1-4][0-9][0-9]|50[0-9]|51[0-2]}} instructions
// GFX942-NEXT: matrix 32
// GFX942-NEXT: transcendental 64
// GFX1100: hot loop: {{[12][0-9][0-9]|3[0-7][0-9]}} instructions
// GFX1100-NEXT: matrix 16
// GFX1100-NEXT: transcendental 32
// NVIDIA: hot loop:
// NVIDIA-NEXT: matrix 32
// NVIDIA-NEXT: transcendental 32
// CHECK-NOT: scratch_
// Scalar registers may go to lanes of vector registers.
// CHECK-NOT: finding: {{.*(instructions|scratch|spills|accesses|waits)}}
// CHECK: kernel triangle_attention_attention_0 for
