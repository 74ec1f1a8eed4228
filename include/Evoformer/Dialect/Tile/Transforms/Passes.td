//===- Passes.td - Passes on tiles -------------------------*- tablegen -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_DIALECT_TILE_TRANSFORMS_PASSES_TD
#define EVOFORMER_DIALECT_TILE_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def ShareLaunches : Pass<"evo-tile-share-launches", "::mlir::ModuleOp"> {
  let summary = "Launch once what several launches would prepare alike";
  let description = [{
    Stays at the level tiles, and changes host functions only. The steps of
    one computation each prepare sums and copies for themselves. A launch
    is left out where an earlier one of the same block, or of one around it, ran an
    equal kernel on the same values, wrote nothing but whole buffers of its block,
    which nothing else writes, and nothing in between may have changed what it read.
    Its buffers take the place of the later one's, and are freed where the last of
    both were, or behind the branch or loop that the later one is in.
    Different arguments of the function are different memory, as they are in
    kernels. A kernel that nobody launches any more is erased, whatever its
    visibility. A remark names each launch that is left out.

    ```mlir
    %a = memref.alloc(%n) : memref<?xf32>
    evo_tile.launch @sum space(%c1) args(%x, %a : memref<?xf32>, memref<?xf32>)
    evo_tile.launch @use space(%c1) args(%a, %y : memref<?xf32>, memref<?xf32>)
    memref.dealloc %a : memref<?xf32>
    %b = memref.alloc(%n) : memref<?xf32>
    evo_tile.launch @sum space(%c1) args(%x, %b : memref<?xf32>, memref<?xf32>)
    evo_tile.launch @use space(%c1) args(%b, %z : memref<?xf32>, memref<?xf32>)
    memref.dealloc %b : memref<?xf32>
    ```
    becomes
    ```mlir
    %a = memref.alloc(%n) : memref<?xf32>
    evo_tile.launch @sum space(%c1) args(%x, %a : memref<?xf32>, memref<?xf32>)
    evo_tile.launch @use space(%c1) args(%a, %y : memref<?xf32>, memref<?xf32>)
    evo_tile.launch @use space(%c1) args(%a, %z : memref<?xf32>, memref<?xf32>)
    memref.dealloc %a : memref<?xf32>
    ```
  }];
  let dependentDialects = ["::mlir::evoformer::tile::TileDialect"];
}

def AssignLayouts : Pass<"evo-tile-assign-layouts"> {
  let summary = "Give every tile of a kernel a layout";
  let description = [{
    Leaves the level of tiles for that of fragments. Matrix products are the
    anchors: for each one a row of the target's table and an orientation are
    chosen so that what one product yields feeds the next with as little lane
    exchange as possible (the dimension that the next product contracts lies in
    registers), and so that every lane owns consecutive elements of that
    dimension. From there layouts spread through elementwise work, reductions,
    broadcasts and loops; where two meet, `evo_tile.convert_layout` mends it.
    Kernels without products get rows over lanes.

    ```mlir
    %s = evo_tile.mma %q, %k, %z : tensor<64x32xbf16>, tensor<32x64xbf16>, tensor<64x64xf32>
    ```
    becomes, for mfma,
    ```mlir
    %s = evo_tile.mma %q, %k, %z : tensor<64x32xbf16, #frag_b>,
           tensor<32x64xbf16, #frag_a>, tensor<64x64xf32, #frag_c>
    ```

    Kernels need a target and a schedule; kernels for the CPU are left alone.
    Remarks name the instruction, the orientation, and each conversion with its
    cost.
  }];
  let dependentDialects = ["::mlir::evoformer::tile::TileDialect"];
}

def RemoveLayoutConversions : Pass<"evo-tile-remove-layout-conversions"> {
  let summary = "Remove conversions between layouts that need not be";
  let description = [{
    Stays at the level of fragments. A load, an iota or a constant that is only
    converted is made in the other layout. A conversion of elementwise work
    moves to its operands where there it undoes others. What a loop converts at
    the begin of each iteration and back at the end is carried in the layout in
    between:

    ```mlir
    %r = scf.for ... iter_args(%x = %init) -> (tensor<32x16xf32, #a>) {
      %y = evo_tile.convert_layout %x : tensor<32x16xf32, #a> -> tensor<32x16xf32, #b>
      %z = math.exp2 %y : tensor<32x16xf32, #b>
      %w = evo_tile.convert_layout %z : tensor<32x16xf32, #b> -> tensor<32x16xf32, #a>
      scf.yield %w : tensor<32x16xf32, #a>
    }
    ```
    becomes
    ```mlir
    %start = evo_tile.convert_layout %init : tensor<32x16xf32, #a> -> tensor<32x16xf32, #b>
    %b = scf.for ... iter_args(%x = %start) -> (tensor<32x16xf32, #b>) {
      %z = math.exp2 %x : tensor<32x16xf32, #b>
      scf.yield %z : tensor<32x16xf32, #b>
    }
    %r = evo_tile.convert_layout %b : tensor<32x16xf32, #b> -> tensor<32x16xf32, #a>
    ```

    A remark gives the number of conversions before and after. Kernels for the
    CPU are left alone.
  }];
  let dependentDialects = ["::mlir::evoformer::tile::TileDialect",
                           "::mlir::arith::ArithDialect"];
}

def PromoteToLDS : Pass<"evo-tile-promote-to-lds"> {
  let summary = "Stage tiles in workgroup memory where that pays";
  let description = [{
    Leaves the level of fragments for the staged level. A load from global
    memory goes through workgroup memory (LDS) if

    * it is in a loop and several subgroups read the same elements, or
    * a lane's registers run so short along the memory's contiguous dimension
      that its accesses are below four bytes (a transposed fragment), while
      workgroup memory allows wider ones; outside a loop only from
      `min-narrow-accesses` such accesses per lane on.

    Loads that are wide and not shared stay as they are; so do row vectors (the
    cache serves them), but for those in a loop with other staged tiles that all
    subgroups read and that take 32 bytes or more of a lane's registers. A staged load
    becomes a buffer, a cooperative copy by all lanes of the workgroup and a
    read of the buffer; the copies of a block are issued together, before the
    first of them. Elementwise work on what is copied through registers is done
    by the copying lanes, once. What needs elements of other subgroups, a
    conversion between layouts or a reduction, goes through a buffer as well:

    ```mlir
    scf.for %k = %c0 to %n step %c32 {
      %a = evo_tile.load %A[%i, %k] : memref<?x?xbf16> -> tensor<64x32xbf16, #frag_a>
      ...
    ```
    becomes, where copies pass through registers,
    ```mlir
    %lds = evo_tile.alloc_lds : memref<64x32xbf16, strided<[40, 1]>, #gpu.address_space<workgroup>>
    scf.for %k = %c0 to %n step %c32 {
      %t = evo_tile.load %A[%i, %k] : memref<?x?xbf16> -> tensor<64x32xbf16, #lanes>
      evo_tile.barrier
      evo_tile.store %t, %lds[%c0, %c0] {in_bounds = [true, true]} : ...
      evo_tile.barrier
      %a = evo_tile.load %lds[%c0, %c0] {in_bounds = [true, true]} : ... -> tensor<64x32xbf16, #frag_a>
      ...
    ```
    and, where the target has a `copy_engine` that can do it,
    ```mlir
      evo_tile.barrier
      %copy = evo_tile.async_copy %A[%i, %k] to %lds[%c0, %c0] as tensor<64x32xbf16, #lanes> : ...
      %group = evo_tile.async_group(%copy)
      evo_tile.wait %group
      evo_tile.barrier
    ```

    A loop of at least one iteration and eight at most (from 0 by 1 to a
    constant, or to `maxui(minui(count, constant), 1)`) inside of another one
    whose staged tiles lie behind each other in memory is copied for before it,
    with one wider tile for all of its iterations, if workgroup memory holds
    two such tiles.

    If the fragment's registers run along another dimension than memory does,
    and the target cannot transpose while it reads (`ldmatrix`), the buffer is
    transposed: each lane copies a small block of rows and columns, which makes
    both its loads and its stores wide.

    Copy and row padding (0, 8, 16 or 32 bytes beyond alignment) are those of
    the fewest LDS cycles, counted from the lane maps of writers and readers.
    Remarks name each decision and the conflicts that remain. Kernel arguments
    that are written must not alias others. All buffers must fit the target's
    `lds_bytes`. Kernels for the CPU are left alone.
  }];
  let options = [
    Option<"minNarrowAccesses", "min-narrow-accesses", "int64_t",
           /*default=*/"16",
           "Accesses per lane below four bytes from which a load outside "
           "loops is staged">];
  let dependentDialects = ["::mlir::evoformer::tile::TileDialect",
                           "::mlir::gpu::GPUDialect"];
}

def SoftwarePipeline : Pass<"evo-tile-software-pipeline"> {
  let summary = "Let copies run ahead of compute";
  let description = [{
    Leaves the staged level for the pipelined one. In kernels whose schedule has
    two or more stages, the copies of later iterations of every `scf.for` that
    fills workgroup memory are under way while it works on what has arrived.

    Asynchronous copies run `stages - 1` iterations ahead, in a ring of `stages`
    slots:

    ```mlir
    scf.for %i = %lb to %ub step %s {
      evo_tile.barrier
      %copy = evo_tile.async_copy %A[%r, %i] to %lds[%c0, %c0] as ...
      %group = evo_tile.async_group(%copy)
      evo_tile.wait %group
      evo_tile.barrier
      %a = evo_tile.load %lds[%c0, %c0] ...
    ```
    becomes, with three stages,
    ```mlir
    %ring = evo_tile.alloc_lds : memref<3x64x32xbf16, strided<[2560, 40, 1]>, ...>
    // Prologue: the copies of the first two iterations, a group each.
    scf.for %i = %lb to %ub step %s iter_args(%read = %c0, %now = %g0, %next = %g1) {
      %write = ...                        // read + 2, wrapped
      evo_tile.wait %now                  // this iteration's group has landed
      evo_tile.barrier                    // for all; slot %write is free
      %copy = evo_tile.async_copy ... to %slot_write[..] if %inside  // iteration i + 2
      %later = evo_tile.async_group(%copy)
      %slot = memref.subview %ring[%read, 0, 0] [1, 64, 32] [1, 1, 1] : ...
      %a = evo_tile.load %slot[%c0, %c0] ...
      scf.yield %next_read, %next, %later
    ```
    Beyond the last iteration the predicate is false. With two stages that wait
    would have to drain all copies; instead the next iteration's copies are
    issued before it, into a third slot, or, where that does not fit, into the
    second one behind a second barrier. So no wait of a loop ever drains all
    outstanding copies.

    Tiles that pass through registers are loaded one iteration ahead, before
    the barrier (which keeps schedulers from sinking the loads to their uses)
    unless the loop's tiles leave less than a quarter of the registers free,
    and stored after compute, behind a barrier that tells that no subgroup reads
    the buffer any more. On targets with a `copy_engine`, and in loops that load
    more than waits can tell apart, they go to the other one of two slots,
    without that barrier. Loads beyond the last iteration repeat the last one; a loop
    without iterations loads nothing.

    Loads straight to registers are issued one iteration ahead, too, as soon as
    the registers that hold this iteration's tile are free, as long as all of
    them take at most `prefetch-registers` 32-bit registers of a lane. Row
    vectors do not count: those that a product starts from or multiplies are
    loaded ahead if a lane has one or two registers of them, the others are
    issued first in their iteration. In this order, waiting for one
    tile leaves others under way; `evo_tile.issue_fence` keeps it on targets
    with the property `sched_barrier`.

    What does not fit in workgroup memory gets fewer stages. Loops that cannot
    be pipelined (copies that depend on carried values, memory that the loop
    writes, buffers used elsewhere) stay as they are, with a remark.
    Those of one iteration at most, which their constant bounds or a choice of
    two show, have no later one to copy ahead of, and stay as they are, too.

    A kernel with pipelined loops gets the attribute `evo_tile.pipelined`. One
    that has it stays as it is: its registers for prefetched tiles are spent,
    which the loops themselves do not show.
  }];
  let options = [
    Option<"prefetchRegisters", "prefetch-registers", "int64_t",
           /*default=*/"-1",
           "Registers per lane for tiles loaded an iteration ahead; 0 turns "
           "this off, -1 is a sixteenth of the target's registers. Where copies "
           "go through registers, -1 also allows what the loop's tiles leave of "
           "three quarters for tiles that products multiply, and an eighth for "
           "others if a sixteenth is too little for any">];
  let dependentDialects = ["::mlir::evoformer::tile::TileDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
}

def ShareOperands : Pass<"evo-tile-share-operands"> {
  let summary = "Let products read what subgroups share in workgroup memory";
  let description = [{
    Stays at the level pipelined. Where the target has matrix instructions of
    several subgroups (`group_matrix`), a product whose shared operand is loaded from
    workgroup memory, laid out as these want it, reads it there; so it does its rows,
    where these lie there.

    ```mlir
    %b = evo_tile.load %lds[%c0, %c0, %c0] : memref<1x64x64xbf16, ...> -> tensor<1x64x64xbf16, #frag_b>
    %s = evo_tile.mma %a, %b, %c : ...
    ```
    becomes
    ```mlir
    %s = evo_tile.group_mma %a, %lds, %c : ...
    ```

    Barriers after which such a product reads what lanes have written get an
    `evo_tile.proxy_fence`. A remark names the instruction and where the rows lie.
    Other targets' kernels are left alone.
  }];
  let dependentDialects = ["::mlir::evoformer::tile::TileDialect",
                           "::mlir::memref::MemRefDialect"];
}

def OverlapProducts : Pass<"evo-tile-overlap-products"> {
  let summary = "Let products of several subgroups go on beside other work";
  let description = [{
    Stays at the level pipelined. Products in workgroup memory
    (`evo_tile.group_mma`) none of which needs another's result, between which no
    memory changes, are issued together and become asynchronous. Registers that they
    read are handed over before by an `evo_tile.group_fence`. An `evo_tile.group_wait`
    stands before the first use of a result, and before what may change memory, and
    lets go on what was issued later. Products that need others stay as they are.

    ```mlir
    %s = evo_tile.group_mma %q, %k, %c : ...
    %w = math.exp2 %s : ...
    %d = evo_tile.group_mma %o, %v, %e : ...
    ```
    becomes
    ```mlir
    %f:2 = evo_tile.group_fence %c, %e : ...
    %i = evo_tile.group_mma %q, %k, %f#0 async : ...
    %j = evo_tile.group_mma %o, %v, %f#1 async : ...
    %s = evo_tile.group_wait %i pending 1 : ...
    %w = math.exp2 %s : ...
    ```
  }];
  let dependentDialects = ["::mlir::evoformer::tile::TileDialect"];
}

def CarryDivisions : Pass<"evo-tile-carry-divisions"> {
  let summary = "Carry quotients and remainders from an iteration to the next";
  let description = [{
    Stays at its level, whichever that is. The number of a step is taken apart
    into places along several dimensions by unsigned divisions, each of which
    takes a GPU about a hundred instructions. In a loop whose variable, or the
    sum of that and what the loop does not change, is divided by what the loop
    does not change, quotient and remainder are carried instead: an addition,
    and a subtraction where the remainder has reached the divisor. So is the
    division of a quotient that is carried.

    ```mlir
    scf.for %i = %a to %b step %c1 {
      %q = arith.divui %i, %n : index
      %r = arith.remui %i, %n : index
    ```
    becomes
    ```mlir
    scf.for %i = %a to %b step %c1 iter_args(%q = %q0, %r = %r0) {
      ...
      %sum = arith.addi %r, %one_modulo_n : index
      %over = arith.cmpi uge, %sum, %n : index
      %less = arith.subi %sum, %n : index
      %r1 = arith.select %over, %less, %sum : index
    ```

    It comes after `evo-tile-software-pipeline`, which copies ahead only what
    depends on nothing that a loop carries. A remark says how many divisions a
    loop carries. Kernels for the CPU are left alone.
  }];
  let dependentDialects = ["::mlir::evoformer::tile::TileDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

def DeferLaneSums : Pass<"evo-tile-defer-lane-sums"> {
  let summary = "Add up over lanes after a loop instead of in each step";
  let description = [{
    For tiles with layouts, behind all passes that change these. Where all that a
    loop does with a number that it carries is to add sums of tiles to it, and to
    multiply it by numbers, lanes carry their parts of it (`evo_tile.reduce add ...
    held`) and exchange them after the loop (`evo_tile.combine`). Work of
    `evo_tile.where` may do the same. The order of sums changes, and is the same in
    each run; a lane's part may leave its type, or be NaN, where the whole would not.

    ```mlir
    %sum = scf.for ... iter_args(%x = %zero) {
      %y = evo_tile.reduce add %tile dim 2 : tensor<1x128x32xf32, #frag_c> -> tensor<1x128xf32, #rows>
      %next = arith.addf %x, %y
      scf.yield %next
    }
    ```
    becomes
    ```mlir
    %own = scf.for ... iter_args(%x = %zero) {
      %y = evo_tile.reduce add %tile dim 2 held : tensor<1x128x32xf32, #frag_c> -> tensor<1x128xf32, #rows>
      %next = arith.addf %x, %y
      scf.yield %next
    }
    %sum = evo_tile.combine %own dim 2 of tensor<1x128x32xf32, #frag_c> : tensor<1x128xf32, #rows>
    ```
    A remark says how many sums of a loop are deferred. Kernels for the CPU are left
    alone.
  }];
  let dependentDialects = ["::mlir::evoformer::tile::TileDialect",
                           "::mlir::arith::ArithDialect"];
}

def SplitProducts : Pass<"evo-tile-split-products"> {
  let summary = "Make products of f32 of products of narrower types";
  let description = [{
    Stays at its level, from fragments to pipelined. A product of f32 whose
    layouts are those of a matrix instruction of a narrower type becomes several
    of that type: each operand is the sum of so many terms as the instruction's
    row says (`terms`), and products of terms that are not below f32's last digit
    are added up, small ones first. The order is the same for the transposed
    product.

    ```mlir
    %d = evo_tile.mma %a, %b, %c : tensor<16x8xf32, #a>, tensor<8x8xf32, #b>,
           tensor<16x8xf32, #c>
    ```
    becomes, with two terms of tf32,
    ```mlir
    %a0 = ...                          // %a rounded to tf32, as f32
    %a1 = arith.subf %a, %a0 : tensor<16x8xf32, #a>
    %b0 = ...
    %b1 = arith.subf %b, %b0 : tensor<8x8xf32, #b>
    %x = evo_tile.mma %a0, %b1, %zero {reads = tf32} : ...
    %y = evo_tile.mma %a1, %b0, %zero {reads = tf32} : ...
    %small = arith.addf %x, %y : tensor<16x8xf32, #c>
    %sum = arith.addf %c, %small : tensor<16x8xf32, #c>
    %d = evo_tile.mma %a0, %b0, %sum {reads = tf32} : ...
    ```

    Terms are made where the tile is: once for all products that multiply it, and
    outside of a loop that does not change it. What is left of an infinity is NaN.
    So a product of infinities is NaN, but inside `evo_tile.where`, whose work is
    rare: there products that come out as NaN are those of the first terms alone.

    A remark names instruction, terms and products. Kernels for the CPU are left
    alone.
  }];
  let dependentDialects = ["::mlir::evoformer::tile::TileDialect",
                           "::mlir::arith::ArithDialect"];
}

def SkipIdleSubgroups : Pass<"evo-tile-skip-idle-subgroups"> {
  let summary = "Let subgroups without anything that counts compute nothing";
  let description = [{
    A loop whose tiles `evo_tile.skip_idle` may leave out becomes two: that of
    subgroups which hold something within the extents, and one of the others, in
    which only copies, waits, barriers and what is stored are left. So a subgroup
    goes through one of them, and meets the others at as many barriers.

    ```mlir
    %sum = scf.for %i = ... iter_args(%x = %zero) {
      evo_tile.barrier
      %s = evo_tile.mma %p, %v, %x : ...
      %next = evo_tile.skip_idle %s else %x within [%n] along [1] : tensor<1x128x32xf32, #frag_c>
      scf.yield %next
    }
    ```
    becomes
    ```mlir
    %works = evo_tile.holds_within [%n] along [1] of tensor<1x128x32xf32, #frag_c>
    %sum = scf.if %works {
      %busy = scf.for %i = ... iter_args(%x = %zero) {
        evo_tile.barrier
        %s = evo_tile.mma %p, %v, %x : ...
        scf.yield %s
      }
      scf.yield %busy
    } else {
      scf.for %i = ... {
        evo_tile.barrier
      }
      scf.yield %zero
    }
    ```

    Where a loop over the parts of a step makes the tile, that goes, with what only
    it needs, into a loop of one iteration or none. Where only one subgroup holds all,
    where products are of several subgroups, which wait for each other, and where a
    loop leaves something besides such tiles, `evo_tile.skip_idle` becomes `value`.
  }];
  let dependentDialects = ["::mlir::evoformer::tile::TileDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

def CopyBoxes : Pass<"evo-tile-copy-boxes", "::mlir::ModuleOp"> {
  let summary = "Have one lane copy boxes of memory that the launch describes";
  let description = [{
    For targets with `tensor_maps`, behind `evo-tile-software-pipeline`. An
    `evo_tile.async_copy` of a pipelined loop whose tile is a box of a kernel's
    argument becomes an `evo_tile.box_copy`, which one lane issues without computing
    an address; the kernel gets an argument of type `!evo_tile.tensor_map` for it. A box
    has at most five dimensions of at most 256 elements; its memory is aligned to 16
    bytes, as is promised of the copy, it lies densely in workgroup memory, as it is
    or with a swizzle that maps know, and where it may reach beyond a bound that is
    the argument's own, behind which copies read zeros. What is no box is copied as
    before, and all of a loop where boxes are not most of the bytes, whose copies have
    other waits than the pipeliner's, or which may run more than once.

    ```mlir
    %copy = evo_tile.async_copy %rows[%c0, %j, %c0] to %lds[%c0, %c0, %c0] if %inside padding 0.0 : bf16 as tensor<1x32x32xbf16, #lanes> ...
    ```
    becomes
    ```mlir
    evo_tile.box_copy %map[%b, %n, %h, %j, %c0] to %lds in %slot if %inside : <of = 1, box = [1, 1, 1, 32, 32], ...>, memref<1x32x32xbf16, ...>
    ```

    A loop carries a slot for each step that is under way, and one more where it copies
    ahead before it waits.
  }];
  let dependentDialects = ["::mlir::evoformer::tile::TileDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
  let statistics = [Statistic<"numBoxes", "num-boxes", "copies of boxes">];
}

#endif
