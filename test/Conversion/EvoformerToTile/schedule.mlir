// RUN: evoformer-opt %s --convert-evoformer-to-tile="target=cpu" --remarks-filter='evo.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=CPU
// RUN: evoformer-opt %s --convert-evoformer-to-tile="target=gfx942" --remarks-filter='evo.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=GFX942
// RUN: evoformer-opt %s --convert-evoformer-to-tile="target=gfx1100" --remarks-filter='evo.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=GFX1100
// RUN: evoformer-opt %s --convert-evoformer-to-tile="target=sm_80" --remarks-filter='evo.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=SM80
// RUN: evoformer-opt %s --convert-evoformer-to-tile="target=gfx942 schedule=v1:rows=2,q=64,subgroups=2x1,stages=1" | FileCheck %s --check-prefix=FORCED
// RUN: evoformer-opt %s --convert-evoformer-to-tile="target=sm_80 schedule=v1:k=32,resident=3" | FileCheck %s --check-prefix=KEYS

// RUN: evoformer-opt %s --convert-evoformer-to-tile="target=sm_80 schedule=v1:k=32;query_grad:v1:q=64;attention:v1:k=16" | FileCheck %s --check-prefix=NAMED

// NAMED:  #evo_tile.schedule<v1, block = [1, {{[0-9]+}}, 16], subgroups
// FORCED: #evo_tile.schedule<v1, block = [2, 64, 64], subgroups = [1, 2, 1], stages = 1>
// KEYS:   #evo_tile.schedule<v1, block = [1, 64, 32], subgroups = [1, 4, 1], stages = 2, resident = 3>

// CPU-DAG:     Function=d32 {{.*}} k=64, lds_bytes=0, own=registers, products=subgroup, q=32, registers=0, rows=1, stages=1, subgroups=1
// GFX942-DAG:  Function=d32 {{.*}} instruction=mfma_f32_32x32x8_bf16, k=64, lds_bytes=9728, own=registers, products=subgroup, q=256,
// GFX1100-DAG: Function=d32 {{.*}} instruction=wmma_f32_16x16x16_bf16, k=32, lds_bytes={{[0-9]+}}, own=registers, products=subgroup, q=128,
// SM80-DAG:    Function=d32 {{.*}} instruction=mma_m16n8k16_bf16, k=32, lds_bytes=15360, own=registers, products=subgroup, q=128, {{.*}} stages=3, subgroups=4
func.func @d32(%x: memref<?x?x?x?x32xbf16>, %o: memref<?x?x?x?x32xbf16>) {
  evoformer.attention
      query(%x : memref<?x?x?x?x32xbf16>)
      key(%x : memref<?x?x?x?x32xbf16>)
      value(%x : memref<?x?x?x?x32xbf16>)
      outs(%o : memref<?x?x?x?x32xbf16>)
  return
}

// Large depths and f32 take smaller tiles, and the remark tells what did not
// fit.
// GFX1100-DAG: [Missed] attention-schedule {{.*}} Function=d128 {{.*}}q=128, k=64, stages=2 needs
// SM80-DAG: [Passed] attention-schedule {{.*}} Function=d128 {{.*}} k=64, {{.*}} q=64, {{.*}} subgroups=4
func.func @d128(%x: memref<?x?x?x?x128xbf16>, %o: memref<?x?x?x?x128xbf16>) {
  evoformer.attention
      query(%x : memref<?x?x?x?x128xbf16>)
      key(%x : memref<?x?x?x?x128xbf16>)
      value(%x : memref<?x?x?x?x128xbf16>)
      outs(%o : memref<?x?x?x?x128xbf16>)
  return
}

// SM80-DAG: [Passed] {{.*}} Function=wide {{.*}} instruction=fma_f32_8x4x1,
// GFX942-DAG: [Passed] {{.*}} Function=wide {{.*}} instruction=mfma_f32_32x32x2_f32,
func.func @wide(%x: memref<?x?x?x?x32xf32>, %o: memref<?x?x?x?x32xf32>) {
  evoformer.attention
      query(%x : memref<?x?x?x?x32xf32>)
      key(%x : memref<?x?x?x?x32xf32>)
      value(%x : memref<?x?x?x?x32xf32>)
      outs(%o : memref<?x?x?x?x32xf32>)
  return
}

// Few queries need few subgroups.
// SM80-DAG: [Passed] {{.*}} Function=short {{.*}} q=32, {{.*}} subgroups=2
func.func @short(%x: memref<1x4x20x4x32xf16>, %o: memref<1x4x20x4x32xf16>) {
  evoformer.attention
      query(%x : memref<1x4x20x4x32xf16>)
      key(%x : memref<1x4x20x4x32xf16>)
      value(%x : memref<1x4x20x4x32xf16>)
      outs(%o : memref<1x4x20x4x32xf16>)
  return
}

// Three subgroups cover 384 queries without a rest, four would cover 512.
// GFX942-DAG: [Passed] {{.*}} Function=whole {{.*}} q=192, {{.*}} subgroups=3
// SM80-DAG: [Passed] {{.*}} Function=whole {{.*}} q=128, {{.*}} subgroups=4
func.func @whole(%x: memref<1x4x384x4x32xbf16>, %o: memref<1x4x384x4x32xbf16>) {
  evoformer.attention
      query(%x : memref<1x4x384x4x32xbf16>)
      key(%x : memref<1x4x384x4x32xbf16>)
      value(%x : memref<1x4x384x4x32xbf16>)
      outs(%o : memref<1x4x384x4x32xbf16>)
  return
}
