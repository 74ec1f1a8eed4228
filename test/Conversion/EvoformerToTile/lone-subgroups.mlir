// Where copies that run ahead would leave one subgroup alone on each SIMD of CDNA and
// there is room for two without, they do not run ahead; nor are steps so long that the
// memory does for one workgroup only. Where two fit in any case they do, and so they do
// where none would help and on other chips.

// RUN: evoformer-check --print-module 'H=2 Sq=384 Sk=384 D=64 type=bf16 bias=bhqk:bf16:normal static=heads pass=backward' > %t.64.mlir
// RUN: evoformer-opt %t.64.mlir --evoformer-lower='target=gfx942 stop-after=tiles' --remarks-filter=evo-schedule --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=ONE
// ONE-DAG: attention-schedule {{.*}}, stages=1,
// ONE-DAG: gradient=query, {{.*}}, stages=2,
// ONE-DAG: gradient="key, value", {{.*}}, q=32, {{.*}}, stages=1,
// ONE-DAG: gradient=bias, {{.*}}, stages=2,

// gfx950 has more memory: steps are long.
// RUN: evoformer-opt %t.64.mlir --evoformer-lower='target=gfx950 stop-after=tiles' --remarks-filter=evo-schedule --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REGISTERS
// REGISTERS-DAG: attention-schedule {{.*}}, stages=1,
// REGISTERS-DAG: gradient=query, {{.*}}, stages=2,
// REGISTERS-DAG: gradient="key, value", {{.*}}, q=64, {{.*}}, stages=1,
// REGISTERS-DAG: gradient=bias, {{.*}}, stages=2,

// RUN: evoformer-opt %t.64.mlir --evoformer-lower='target=gfx1201 stop-after=tiles' --remarks-filter=evo-schedule --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: attention-schedule {{.*}}, stages=2,

// RUN: evoformer-check --print-module 'H=2 Sq=384 Sk=384 D=32 type=bf16 bias=bhqk:bf16:normal static=heads pass=backward' > %t.32.mlir
// RUN: evoformer-opt %t.32.mlir --evoformer-lower='target=gfx942 stop-after=tiles' --remarks-filter=evo-schedule --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=SHALLOW
// SHALLOW-DAG: attention-schedule {{.*}}, stages=2,
// SHALLOW-DAG: gradient=query, {{.*}}, stages=2,
// SHALLOW-DAG: gradient="key, value", {{.*}}, stages=1,
// SHALLOW-DAG: gradient=bias, {{.*}}, stages=2,

// Two do not fit: copies run ahead.
// RUN: evoformer-check --print-module 'H=2 Sq=384 Sk=384 D=256 type=bf16' > %t.256.mlir
// RUN: evoformer-opt %t.256.mlir --evoformer-lower='target=gfx950 stop-after=tiles' --remarks-filter=evo-schedule --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=DEEP
// DEEP: attention-schedule {{.*}}, stages=2,

// The estimate is little more than what forward takes: too many registers for two.
// RUN: evoformer-check --print-module 'H=2 Sq=384 Sk=384 D=72 type=bf16 bias=bnk:i1:normal bias=bhqk:bf16:normal static=heads' > %t.72.mlir
// RUN: evoformer-opt %t.72.mlir --evoformer-lower='target=gfx942 stop-after=tiles' --remarks-filter=evo-schedule --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=DEEP

// What is asked for stays.
// RUN: evoformer-opt %t.64.mlir --evoformer-lower='target=gfx942 stop-after=tiles schedule=v1:stages=2' --remarks-filter=evo-schedule --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=ASKED
// ASKED: attention-schedule {{.*}}, stages=2,
