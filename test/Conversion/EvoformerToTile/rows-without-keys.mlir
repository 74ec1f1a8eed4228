// RUN: evoformer-opt %s --convert-evoformer-to-tile=target=sm_80 --canonicalize --cse | FileCheck %s
// RUN: evoformer-opt %s --convert-evoformer-to-tile=target=gfx942 --canonicalize --cse | FileCheck %s --check-prefix=AMD

// A row without a key so far first looks whether the prepared sum keeps any key of
// the block: one that sees no key at all has less to do with each block.
// CHECK-LABEL: evo_tile.kernel @masked_attention
// CHECK:         scf.for {{.*}} iter_args({{.*}}, %[[OFFSET:[^ ]+]] = {{.*}}, %{{[^ ]+}} = {{.*}})
// CHECK:           %[[SIZE:.*]] = math.absf %[[OFFSET]]
// CHECK:           %[[NEW:.*]] = arith.cmpf oeq, %[[SIZE]], %{{.*}}
// CHECK:           evo_tile.where %[[NEW]], %[[OFFSET]] {
// CHECK:             %[[LARGEST:.*]] = evo_tile.reduce max {{.*}} dim 2
// CHECK:             %[[KEEPS:.*]] = arith.cmpf ugt, %[[LARGEST]], %{{.*}}
// CHECK:             %[[HAS:.*]] = arith.andi %[[NEW]], %[[KEEPS]]
// CHECK:             evo_tile.where %[[HAS]], %[[OFFSET]] {
// CHECK:               %[[MAXIMUM:.*]] = evo_tile.reduce max {{.*}} dim 2
// All keys that the sum keeps may have been lost.
// CHECK:               %[[NONE:.*]] = arith.cmpf oeq, %[[MAXIMUM]], %{{.*}}
// CHECK:               %[[FIRST:.*]] = arith.select %[[NONE]], %[[LOST:[^,]+]],
// CHECK:               arith.select %[[HAS]], %[[FIRST]], %[[OFFSET]]
// CHECK:         arith.cmpf oeq, {{.*}}, %[[LOST]]

// Where loads pass through registers it would wait for those of later blocks.
// AMD-LABEL: evo_tile.kernel @masked_attention
// AMD:         scf.for {{.*}} iter_args({{.*}}, %[[OFFSET:[^ ]+]] = {{.*}}, %{{[^ ]+}} = {{.*}})
// AMD:           evo_tile.where %{{.*}}, %[[OFFSET]] {
// AMD-NOT:         evo_tile.where
// AMD:             evo_tile.yield
func.func @masked(
    %query: memref<?x?x?x?x32xbf16>, %key: memref<?x?x?x?x32xbf16>, %value: memref<?x?x?x?x32xbf16>,
    %mask: memref<?x?x1x1x?xi1>, %pair: memref<?x1x?x?x?xbf16>, %out: memref<?x?x?x?x32xbf16>) {
  evoformer.attention
      query(%query : memref<?x?x?x?x32xbf16>) key(%key : memref<?x?x?x?x32xbf16>)
      value(%value : memref<?x?x?x?x32xbf16>)
      bias(%mask : memref<?x?x1x1x?xi1>) bias(%pair : memref<?x1x?x?x?xbf16>)
      outs(%out : memref<?x?x?x?x32xbf16>)
  return
}
