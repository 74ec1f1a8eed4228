// RUN: not evoformer-opt %s --convert-evoformer-to-tile 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not evoformer-opt %s --convert-evoformer-to-tile="target=gfx9999" 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not evoformer-opt %s --convert-evoformer-to-tile="target=cpu schedule=q=1" 2>&1 | FileCheck %s --check-prefix=VERSION
// RUN: not evoformer-opt %s --convert-evoformer-to-tile="target=cpu schedule=v1:z=1" 2>&1 | FileCheck %s --check-prefix=ENTRY
// RUN: not evoformer-opt %s --convert-evoformer-to-tile="target=cpu schedule=v1:q=1,q=2" 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not evoformer-opt %s --convert-evoformer-to-tile="target=cpu schedule=v1:q=0" 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not evoformer-opt %s --convert-evoformer-to-tile="target=cpu schedule=v1:q=99999999999999999999" 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not evoformer-opt %s --convert-evoformer-to-tile="target=cpu schedule=v1:q" 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not evoformer-opt %s --convert-evoformer-to-tile="target=sm_80 schedule=v1:subgroups=4x2" 2>&1 | FileCheck %s --check-prefix=ALONG-KEYS
// RUN: not evoformer-opt %s --convert-evoformer-to-tile="target=cpu schedule=v1:subgroups=4x1" 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: not evoformer-opt %s --convert-evoformer-to-tile="target=sm_80 schedule=v1:subgroups=64x1" 2>&1 | FileCheck %s --check-prefix=LANES
// RUN: not evoformer-opt %s --convert-evoformer-to-tile="target=sm_80 schedule=v1:q=100" 2>&1 | FileCheck %s --check-prefix=QUERIES
// RUN: not evoformer-opt %s --convert-evoformer-to-tile="target=sm_80 schedule=v1:k=24" 2>&1 | FileCheck %s --check-prefix=KEYS
// RUN: not evoformer-opt %s --convert-evoformer-to-tile="target=sm_80 schedule=v1:q=1024,k=64" 2>&1 | FileCheck %s --check-prefix=FIT
// RUN: not evoformer-opt %s --convert-evoformer-to-tile="target=gfx1100 schedule=v1:k=64,stages=64" 2>&1 | FileCheck %s --check-prefix=LDS

// NONE:       error: no target: give the option 'target' or the module an 'evo_tile.target'
// CHIP:       error: {{.*}}gfx9999{{.*}}sm_80
// RUN: not evoformer-opt %s --convert-evoformer-to-tile="target=gfx942 schedule=v1:stages=1000" 2>&1 | FileCheck %s --check-prefix=STAGES
// RUN: not evoformer-opt %s --convert-evoformer-to-tile="target=cpu schedule=v1:q=1024,k=4096" 2>&1 | FileCheck %s --check-prefix=TILE
// RUN: not evoformer-opt %s --convert-evoformer-to-tile="target=gfx942 schedule=v1:resident=65" 2>&1 | FileCheck %s --check-prefix=RESIDENT
// RESIDENT:   at most 64 resident workgroups, not 65
// STAGES:     at most {{[0-9]+}} stages, not 1000
// TILE:       error: schedule: a tile of rows=1, q=1024, k=4096 has more than 1048576 elements
// VERSION:    error: schedule 'q=1': unknown version; expected 'v1:' and any of rows=<n>, q=<n>, k=<n>, subgroups=<n>x<n>, stages=<n>, resident=<n>, steps=<n>, pieces=<n>, own=registers|lds, products=subgroup|group, separated by commas, for all kernels
// ENTRY:      error: schedule 'v1:z=1': unknown entry 'z'
// TWICE:      error: schedule 'v1:q=1,q=2': 'q' is there twice
// NUMBER:     is not a number from 1 to 4096
// ALONG-KEYS: error: schedule: subgroups along the keys are not supported
// RUN: not evoformer-opt %s --convert-evoformer-to-tile="target=sm_80 schedule=v1:subgroups=4" 2>&1 | FileCheck %s --check-prefix=ALONG
// ALONG:      error: schedule 'v1:subgroups=4': 'subgroups=4' is not subgroups=<n>x<n>
// RUN: not evoformer-opt %s --convert-evoformer-to-tile="target=sm_80 schedule=v1:own=here" 2>&1 | FileCheck %s --check-prefix=OWN
// OWN:        error: schedule 'v1:own=here': 'own=here' is neither own=registers nor own=lds
// RUN: not evoformer-opt %s --convert-evoformer-to-tile="target=sm_80 schedule=v1:own=lds,own=lds" 2>&1 | FileCheck %s --check-prefix=OWN-TWICE
// OWN-TWICE:  'own' is there twice
// RUN: not evoformer-opt %s --convert-evoformer-to-tile="target=sm_90 schedule=v1:products=all" 2>&1 | FileCheck %s --check-prefix=PRODUCTS
// PRODUCTS:   error: schedule 'v1:products=all': 'products=all' is neither products=subgroup nor products=group
// RUN: not evoformer-opt %s --convert-evoformer-to-tile="target=sm_90 schedule=v1:products=group,products=group" 2>&1 | FileCheck %s --check-prefix=PRODUCTS-TWICE
// PRODUCTS-TWICE: 'products' is there twice
// RUN: not evoformer-opt %s --convert-evoformer-to-tile="target=sm_80 schedule=v1:products=group" 2>&1 | FileCheck %s --check-prefix=GROUP
// GROUP:      error: schedule: products=group, but target 'sm_80' has no matrix instruction that {{[0-9]+}}x1 subgroups execute together for steps of {{[0-9]+}} and depths of {{[0-9]+}} and {{[0-9]+}}
// RUN: not evoformer-opt %s --convert-evoformer-to-tile="target=sm_90 schedule=v1:products=group,subgroups=2x1" 2>&1 | FileCheck %s --check-prefix=GROUP-OF
// GROUP-OF:   error: schedule: products=group, but target 'sm_90' has no matrix instruction that 2x1 subgroups execute together for steps of {{[0-9]+}} and depths of {{[0-9]+}} and {{[0-9]+}}
// RUN: not evoformer-opt %s --convert-evoformer-to-tile="target=sm_80 schedule=delta:v1:q=16" 2>&1 | FileCheck %s --check-prefix=KERNEL
// KERNEL:     error: schedule 'delta:v1:q=16': unknown kernel 'delta'; expected 'v1:' {{.*}} or after 'attention:', 'query_grad:', 'key_value_grad:', 'bias_grad:' or 'weights:'
// RUN: not evoformer-opt %s --convert-evoformer-to-tile="target=sm_80 schedule=attention:v1:q=64;attention:v1:q=64" 2>&1 | FileCheck %s --check-prefix=KERNEL-TWICE
// KERNEL-TWICE: 'attention' is there twice
// RUN: not evoformer-opt %s --convert-evoformer-to-tile="target=sm_80 schedule=v1:q=64;v1:k=64" 2>&1 | FileCheck %s --check-prefix=ALL-TWICE
// ALL-TWICE:  what is for all kernels is there twice
// RUN: not evoformer-opt %s --convert-evoformer-to-tile="target=sm_80 schedule=attention:v1:q=64;v1:k=64" 2>&1 | FileCheck %s --check-prefix=ALL-FIRST
// ALL-FIRST:  what is for all kernels comes first
// ONE:        error: schedule: target 'cpu' has one subgroup, not 4
// LANES:      error: schedule: 64 subgroups are 2048 lanes, target 'sm_80' has workgroups of at most 1024
// QUERIES:    error: schedule: q=100 is not a multiple of 64 (subgroups times atoms of matrix instruction mma_m16n8k16_bf16)
// KEYS:       error: schedule: k=24 is not a multiple of 16 (atoms of matrix instruction mma_m16n8k16_bf16)
// FIT:        error: schedule q=1024, k=64, rows=1, stages=1 needs about {{[0-9]+}} registers a lane and 9728 bytes of LDS; target 'sm_80' has 239 usable registers and 166912 bytes of LDS
// LDS:        error: schedule {{.*}} k=64, rows=1, stages=64 needs about {{[0-9]+}} registers a lane and 622592 bytes of LDS; target 'gfx1100' has 240 usable registers and 65536 bytes of LDS
func.func @f(%x: memref<?x?x?x?x32xbf16>, %o: memref<?x?x?x?x32xbf16>) {
  evoformer.attention
      query(%x : memref<?x?x?x?x32xbf16>)
      key(%x : memref<?x?x?x?x32xbf16>)
      value(%x : memref<?x?x?x?x32xbf16>)
      outs(%o : memref<?x?x?x?x32xbf16>)
  return
}
