// Plans with machine code for GPUs. There need be no GPU: the plan is written,
// not run; running it without a driver is an error that says so.

// RUN: rm -rf %t && mkdir -p %t
// RUN: evoformer-run %examples/triangle_attention.mlir --device=cuda \
// RUN:   --target=sm_80 --no-run --emit-plan=%t/cuda.json
// RUN: FileCheck %s --check-prefix=PTX --input-file=%t/cuda.json
// RUN: evoformer-run %examples/triangle_attention.mlir --device=hip \
// RUN:   --target=gfx942 --no-run --emit-plan=%t/hip.json
// RUN: FileCheck %s --check-prefix=HSACO --input-file=%t/hip.json
// RUN: not evoformer-run %t/hip.json --device=hip \
// RUN:   --driver-library=/does/not/exist.so 2>&1 \
// RUN:   | FileCheck %s --check-prefix=DRIVER
// RUN: not evoformer-run %examples/triangle_attention.mlir --device=hip \
// RUN:   --target=sm_80 --no-run 2>&1 | FileCheck %s --check-prefix=VENDOR
// RUN: not evoformer-run %examples/triangle_attention.mlir --target=gfx000 \
// RUN:   2>&1 | FileCheck %s --check-prefix=CHIP

// PTX: "name": "query",
// PTX: "symbol": "triangle_attention_attention"
// PTX: "format": "ptx"
// PTX: .entry triangle_attention_attention
// HSACO: "threads": {{[1-9]}}
// HSACO: "base64":
// HSACO: "format": "hsaco"
// HSACO: "target": "gfx942"
// DRIVER: error: no AMD driver here: cannot open /does/not/exist.so
// VENDOR: error: device 'hip' runs no code for target sm_80
// CHIP: error: {{.*}}gfx000
