// Fences keep loads that run ahead where they are: behind those of the next
// iteration no arithmetic moves up, a prefetch does not sink behind the stores that
// wait for these, and behind a large prefetched tile nothing that touches memory
// moves either way.
// RUN: evoformer-opt %s --evo-tile-software-pipeline > %t.pipelined
// RUN: FileCheck %s --check-prefix=PIPELINED --input-file=%t.pipelined
// RUN: evoformer-opt %t.pipelined --convert-tile-to-gpu | FileCheck %s --check-prefix=LANES
// RUN: evoformer-opt %t.pipelined --convert-tile-to-cpu | FileCheck %s --check-prefix=NONE

// A target whose scheduler takes none has none, and drops those it is given.
// RUN: sed 's/{sched_barrier}/{}/' %s | evoformer-opt --evo-tile-software-pipeline | FileCheck %s --check-prefix=NONE
// RUN: sed 's/{sched_barrier}/{}/' %t.pipelined | evoformer-opt --convert-tile-to-gpu | FileCheck %s --check-prefix=NONE

// NONE-NOT: {{fence|sched_barrier}}

#tiny = #evo_tile.target<chip = "gfx942", triple = "amdgcn-amd-amdhsa", features = "", subgroup_size = 32, max_workgroup = 1024, registers = 256, lds_bytes = 65536, lds_banks = 32, matrix = [], properties = {sched_barrier}>
#two = #evo_tile.schedule<v1, block = [16, 16, 16], subgroups = [1, 1, 1], stages = 2>
#rows = #evo_tile.lane_map<registers = [[8, 0, 1]], lanes = [[2, 0, 8], [16, 1, 0]], subgroups = []>
#wide = #evo_tile.lane_map<registers = [[8, 0, 1], [8, 0, 16]], lanes = [[2, 0, 8], [16, 1, 0]], subgroups = []>
!tile = tensor<16x16xf16, #rows>
!large = tensor<16x128xf16, #wide>
!lds = memref<16x16xf16, #gpu.address_space<workgroup>>

// PIPELINED-LABEL: evo_tile.kernel @small
//       PIPELINED:   scf.for
//       PIPELINED:     evo_tile.load %arg0
//  PIPELINED-NEXT:     evo_tile.issue_fence compute
//  PIPELINED-NEXT:     evo_tile.barrier
//       PIPELINED:     evo_tile.load %arg1
//   PIPELINED-NOT:     issue_fence{{$}}
//       PIPELINED:     evo_tile.issue_fence compute
//  PIPELINED-NEXT:     evo_tile.barrier
//  PIPELINED-NEXT:     evo_tile.store
//  PIPELINED-NEXT:     scf.yield
//     LANES-LABEL: gpu.func @small
//           LANES:   scf.for
//           LANES:     amdgpu.sched_barrier allow = <salu|mfma_wmma|ds_read>
//      LANES-NEXT:     gpu.barrier
//       LANES-NOT:     {{fence|sched_barrier}}
//           LANES:     amdgpu.sched_barrier allow = <salu|mfma_wmma|ds_read>
//       LANES-NOT:     {{fence|sched_barrier}}
//           LANES:   gpu.return
evo_tile.kernel @small(%m: memref<?x16xf16>, %b: memref<?x16xf16>, %o: memref<?x16xf16>, %n: index) attributes {target = #tiny, schedule = #two} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %lds = evo_tile.alloc_lds : !lds
  scf.for %i = %c0 to %n step %c16 {
    %t = evo_tile.load %m[%i, %c0] : memref<?x16xf16> -> !tile
    evo_tile.barrier
    evo_tile.store %t, %lds[%c0, %c0] : !tile, !lds
    evo_tile.barrier
    %x = evo_tile.load %lds[%c0, %c0] : !lds -> !tile
    %bias = evo_tile.load %b[%i, %c0] : memref<?x16xf16> -> !tile
    %s = arith.addf %x, %bias : !tile
    evo_tile.store %s, %o[%i, %c0] : !tile, memref<?x16xf16>
  }
  evo_tile.return
}

// Nothing fits the share that is taken without question, and there is room.
// PIPELINED-LABEL: evo_tile.kernel @large
//       PIPELINED:   scf.for
//       PIPELINED:     evo_tile.issue_fence compute
//       PIPELINED:     evo_tile.load %arg1
//  PIPELINED-NEXT:     evo_tile.issue_fence{{$}}
//     LANES-LABEL: gpu.func @large
//           LANES:   amdgpu.sched_barrier
//           LANES:   llvm.fence syncscope("singlethread") acq_rel
evo_tile.kernel @large(%m: memref<?x16xf16>, %b: memref<?x128xf16>, %o: memref<?x16xf16>, %u: memref<?x128xf16>, %n: index) attributes {target = #tiny, schedule = #two} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %lds = evo_tile.alloc_lds : !lds
  scf.for %i = %c0 to %n step %c16 {
    %t = evo_tile.load %m[%i, %c0] : memref<?x16xf16> -> !tile
    evo_tile.barrier
    evo_tile.store %t, %lds[%c0, %c0] : !tile, !lds
    evo_tile.barrier
    %x = evo_tile.load %lds[%c0, %c0] : !lds -> !tile
    evo_tile.store %x, %o[%i, %c0] : !tile, memref<?x16xf16>
    %bias = evo_tile.load %b[%i, %c0] : memref<?x128xf16> -> !large
    evo_tile.store %bias, %u[%i, %c0] : !large, memref<?x128xf16>
  }
  evo_tile.return
}

// Without a tile from the iteration before there is nothing to keep back.
// PIPELINED-LABEL: evo_tile.kernel @no_prefetch
//   PIPELINED-NOT:   issue_fence
//       PIPELINED:   evo_tile.return
evo_tile.kernel @no_prefetch(%m: memref<?x16xf16>, %o: memref<?x16xf16>, %n: index) attributes {target = #tiny, schedule = #two} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %lds = evo_tile.alloc_lds : !lds
  scf.for %i = %c0 to %n step %c16 {
    %t = evo_tile.load %m[%i, %c0] : memref<?x16xf16> -> !tile
    evo_tile.barrier
    evo_tile.store %t, %lds[%c0, %c0] : !tile, !lds
    evo_tile.barrier
    %x = evo_tile.load %lds[%c0, %c0] : !lds -> !tile
    evo_tile.store %x, %o[%i, %c0] : !tile, memref<?x16xf16>
  }
  evo_tile.return
}
