// A host program's buffers are apart: what a kernel reads or writes beyond one,
// or after its end, is found, wherever the next one lies.
//
// RUN: evoformer-run %s --device=sim --target=gfx942 --function=inside --guard-bytes=0 --shape=out=64 --random=1 | FileCheck %s
// RUN: not evoformer-run %s --device=sim --target=gfx942 --function=writes --guard-bytes=0 --shape=out=64 --random=1 2>&1 | FileCheck %s --check-prefix=WRITES
// RUN: not evoformer-run %s --device=sim --target=gfx942 --function=reads --guard-bytes=0 --shape=out=64 --random=1 2>&1 | FileCheck %s --check-prefix=READS
// RUN: not evoformer-run %s --device=sim --target=gfx942 --function=freed --guard-bytes=0 --shape=out=64 --random=1 2>&1 | FileCheck %s --check-prefix=FREED

// CHECK: ran 'inside' on sim
// WRITES: error: function 'writes': the simulator found:
// WRITES: out of bounds: writes {{[0-9]+}} bytes at offset 256 of 'buffer 0 of the host program', which has 256 bytes
// READS: error: function 'reads': the simulator found:
// READS: out of bounds: reads {{[0-9]+}} bytes at offset 256 of 'buffer 0 of the host program', which has 256 bytes
// FREED: error: function 'freed': the simulator found:
// FREED: out of bounds: writes

#schedule = #evo_tile.schedule<v1, block = [1], subgroups = [1, 1, 1], stages = 1>

evo_tile.kernel @copy(%from: memref<?xf32>, %to: memref<?xf32>) attributes {schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %x = evo_tile.load %from[%c0] padding 0.0 : f32 : memref<?xf32> -> tensor<128xf32>
  evo_tile.store %x, %to[%c0] : tensor<128xf32>, memref<?xf32>
  evo_tile.return
}

func.func @inside(%in: memref<64xf32>, %out: memref<?xf32>) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %from = memref.cast %in : memref<64xf32> to memref<?xf32>
  %a = memref.alloc(%c64) : memref<?xf32>
  %b = memref.alloc(%c64) : memref<?xf32>
  evo_tile.launch @copy space(%c1) args(%from, %a : memref<?xf32>, memref<?xf32>)
  evo_tile.launch @copy space(%c1) args(%a, %b : memref<?xf32>, memref<?xf32>)
  evo_tile.launch @copy space(%c1) args(%b, %out : memref<?xf32>, memref<?xf32>)
  memref.dealloc %b : memref<?xf32>
  memref.dealloc %a : memref<?xf32>
  return
}

// %beyond has twice the size that was allocated; the next buffer lies behind.
func.func @writes(%in: memref<128xf32>, %out: memref<?xf32>) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %from = memref.cast %in : memref<128xf32> to memref<?xf32>
  %a = memref.alloc(%c64) : memref<?xf32>
  %b = memref.alloc(%c64) : memref<?xf32>
  %beyond = memref.reinterpret_cast %a to offset: [0], sizes: [%c128], strides: [1] : memref<?xf32> to memref<?xf32>
  evo_tile.launch @copy space(%c1) args(%from, %beyond : memref<?xf32>, memref<?xf32>)
  evo_tile.launch @copy space(%c1) args(%b, %out : memref<?xf32>, memref<?xf32>)
  memref.dealloc %b : memref<?xf32>
  memref.dealloc %a : memref<?xf32>
  return
}

func.func @reads(%in: memref<128xf32>, %out: memref<?xf32>) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %from = memref.cast %in : memref<128xf32> to memref<?xf32>
  %a = memref.alloc(%c64) : memref<?xf32>
  %b = memref.alloc(%c64) : memref<?xf32>
  evo_tile.launch @copy space(%c1) args(%from, %a : memref<?xf32>, memref<?xf32>)
  evo_tile.launch @copy space(%c1) args(%from, %b : memref<?xf32>, memref<?xf32>)
  %beyond = memref.reinterpret_cast %a to offset: [0], sizes: [%c128], strides: [1] : memref<?xf32> to memref<?xf32>
  evo_tile.launch @copy space(%c1) args(%beyond, %out : memref<?xf32>, memref<?xf32>)
  memref.dealloc %b : memref<?xf32>
  memref.dealloc %a : memref<?xf32>
  return
}

func.func @freed(%in: memref<64xf32>, %out: memref<?xf32>) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %from = memref.cast %in : memref<64xf32> to memref<?xf32>
  %a = memref.alloc(%c64) : memref<?xf32>
  memref.dealloc %a : memref<?xf32>
  evo_tile.launch @copy space(%c1) args(%from, %a : memref<?xf32>, memref<?xf32>)
  return
}
