# RUN: %python %s
"""Loops that copy ahead in other ways than the pipeliner leaves them keep their copies:
slots would be taken too early, or what was copied be read unawaited. The program that
they are made of has boxes, and no barrier in its loop; that stays where it stands for
more than the copies."""

import subprocess
import sys

PROGRAM = """
#target = #evo_tile.target<chip = "sm_90", triple = "nvptx64-nvidia-cuda", features = "",
  subgroup_size = 32, max_workgroup = 1024, registers = 128, lds_bytes = LDS,
  lds_banks = 32, matrix = [], properties = {tensor_maps,
    copy_engine = #evo_tile.copy_engine<per_lane, bytes = [16]>}>
#schedule = #evo_tile.schedule<v1, block = [1], subgroups = [1, 2, 1], stages = 2>
#tile = #evo_tile.lane_map<registers = [[4, 0, 1]], lanes = [[4, 0, 4], [8, 1, 0]], subgroups = [[2, 8, 0]]>
!ring = memref<2x16x16xf32, strided<[PITCH, 16, 1]>, #gpu.address_space<workgroup>>
!slot = memref<16x16xf32, strided<[16, 1], offset: ?>, #gpu.address_space<workgroup>>
evo_tile.kernel @k(%rows: memref<?x16xf32>, %other: memref<?x16xf32>)
    attributes {target = #target, schedule = #schedule, evo_tile.num_extents = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %n = memref.dim %rows, %c0 : memref<?x16xf32>
  %any = arith.cmpi slt, %c0, %n : index
  %ring = evo_tile.alloc_lds : !ring
  %first = memref.subview %ring[%c0, 0, 0] [1, 16, 16] [1, 1, 1] : !ring to !slot
  %copy = evo_tile.async_copy %rows[%c0, %c0] to %first[%c0, %c0] if %any padding 0.0 : f32
    as tensor<16x16xf32, #tile> {alignment = 16 : i64, in_bounds = array<i1: false, true>}
    : memref<?x16xf32>, !slot
  %group = evo_tile.async_group(%copy)
  // before
  scf.for %i = %c0 to %n step %c16 iter_args(%slot = %c0, %token = %group) -> (index, !evo_tile.token) {
    %next = arith.addi %i, %c16 : index
    %more = arith.cmpi slt, %next, %n : index
    %write = arith.subi %c1, %slot : index
    %into = memref.subview %ring[%write, 0, 0] [1, 16, 16] [1, 1, 1] : !ring to !slot
    evo_tile.wait %token
    evo_tile.barrier
    %ahead = evo_tile.async_copy %rows[%next, %c0] to %into[%c0, %c0] if %more padding 0.0 : f32
      as tensor<16x16xf32, #tile> {alignment = 16 : i64, in_bounds = array<i1: false, true>}
      : memref<?x16xf32>, !slot
    %made = evo_tile.async_group(%ahead)
    // behind
    %from = memref.subview %ring[%slot, 0, 0] [1, 16, 16] [1, 1, 1] : !ring to !slot
    %x = evo_tile.load %from[%c0, %c0] {in_bounds = array<i1: true, true>} : !slot -> tensor<16x16xf32, #tile>
    evo_tile.store %x, %other[%i, %c0] {in_bounds = array<i1: false, true>} : tensor<16x16xf32, #tile>, memref<?x16xf32>
    scf.yield %write, %made : index, !evo_tile.token
  }
  evo_tile.return
}
"""
DEFAULTS = {"LDS": "65536", "PITCH": "256"}
VARIANTS = {
    "no barrier before the slot is taken": (
        "    evo_tile.barrier\n    %ahead", "    %ahead"),
    "a barrier behind that only": (
        "    evo_tile.wait %token\n    evo_tile.barrier\n    %ahead",
        "    evo_tile.barrier\n    evo_tile.wait %token\n    %ahead"),
    "the first group is awaited before": (
        "  // before", "  evo_tile.wait %group"),
    "the loop's group is awaited, too": (
        "    // behind", "    evo_tile.wait %made"),
    "a wait in a branch": (
        "    // behind", "    scf.if %more {\n      evo_tile.wait %token\n    }"),
    "one group for two iterations": (
        "iter_args(%slot = %c0, %token = %group) -> (index, !evo_tile.token)",
        "iter_args(%slot = %c0, %token = %group, %later = %group)"
        " -> (index, !evo_tile.token, !evo_tile.token)",
        "scf.yield %write, %made : index, !evo_tile.token",
        "scf.yield %write, %later, %made : index, !evo_tile.token, !evo_tile.token"),
    "slots that do not start where boxes do": ("PITCH", "272"),
    "a first copy for a loop that may not run": ("if %any ", ""),
    "copies behind the last iteration": ("if %more ", ""),
    "no room for slots": ("LDS", "2048"),
    "every second row": (
        "  %any =",
        "  %half = arith.divui %n, %c1 : index\n"
        "  %odd = memref.subview %rows[0, 0] [%half, 16] [2, 1]"
        " : memref<?x16xf32> to memref<?x16xf32, strided<[32, 1]>>\n  %any =",
        "async_copy %rows", "async_copy %odd",
        "    : memref<?x16xf32>, !slot",
        "    : memref<?x16xf32, strided<[32, 1]>>, !slot"),
}
BOX_AND_BARRIER = {
    "what the loop stores to workgroup memory": (
        "    // behind",
        "    %zero = arith.constant dense<0.0> : tensor<16x16xf32, #tile>\n"
        "    evo_tile.store %zero, %own[%c0, %c0] {in_bounds = array<i1: true, true>}"
        " : tensor<16x16xf32, #tile>, memref<16x16xf32, #gpu.address_space<workgroup>>",
        "  // before",
        "  %own = evo_tile.alloc_lds : memref<16x16xf32, #gpu.address_space<workgroup>>"),
    "a barrier of the program's own": (
        "    // behind", "    evo_tile.barrier handover"),
    "a barrier in a branch": (
        "    // behind", "    scf.if %any {\n      evo_tile.barrier\n    }"),
}


def lower(text):
    for name, value in DEFAULTS.items():
        text = text.replace(name, value)
    done = subprocess.run(["evoformer-opt", "-", "--evo-tile-copy-boxes"], input=text,
                          capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


def count_boxes(text):
    return lower(text).count("evo_tile.box_copy")


def keeps_barrier(text):
    return "released" not in lower(text)


def main():
    problems = []
    if count_boxes(PROGRAM) != 2:
        problems.append("the program itself has no boxes")
    if keeps_barrier(PROGRAM):
        problems.append("the program itself has a barrier in its loop")
    for name, changes in {**VARIANTS, **BOX_AND_BARRIER}.items():
        text = PROGRAM
        for old, new in zip(changes[::2], changes[1::2]):
            if old not in text:
                problems.append(f"{name}: nothing to change")
            text = text.replace(old, new)
        boxes = count_boxes(text)
        if name in VARIANTS and boxes:
            problems.append(f"{name}: {boxes} boxes")
        if name in BOX_AND_BARRIER and not (boxes == 2 and keeps_barrier(text)):
            problems.append(f"{name}: {boxes} boxes, no barrier")
    if problems:
        sys.exit("\n".join(problems))


main()
