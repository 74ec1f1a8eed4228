//===- TileOps.td - Operations on tiles --------------------*- tablegen -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_DIALECT_TILE_IR_TILEOPS_TD
#define EVOFORMER_DIALECT_TILE_IR_TILEOPS_TD

include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "Evoformer/Dialect/Tile/IR/TileAttrs.td"

class Tile_Op<string mnemonic, list<Trait> traits = []>
    : Op<Tile_Dialect, mnemonic, traits>;

def Tile_Tile : StaticShapeTensorOf<[AnyType]>;

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

def Tile_KernelOp : Tile_Op<"kernel", [AutomaticAllocationScope,
    FunctionOpInterface, IsolatedFromAbove, OpAsmOpInterface]> {
  let summary = "a program run once for every work item of a space";
  let description = [{
    Arguments are memrefs and scalars, behind them tensor maps that launches do not
    pass; `evo_tile.work_item_id` tells which item this is. `target` and `schedule`
    guide the passes below; without a target the kernel is target-independent. After
    layouts are assigned every item is a workgroup of `schedule`'s subgroups.

    ```mlir
    evo_tile.kernel @copy(%x: memref<?x?xf32>, %y: memref<?x?xf32>) {
      %i = evo_tile.work_item_id 0
      %c16 = arith.constant 16 : index
      %c0 = arith.constant 0 : index
      %r = arith.muli %i, %c16 : index
      %t = evo_tile.load %x[%r, %c0] : memref<?x?xf32> -> tensor<16x32xf32>
      evo_tile.store %t, %y[%r, %c0] : tensor<16x32xf32>, memref<?x?xf32>
      evo_tile.return
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
    TypeAttrOf<FunctionType>:$function_type,
    OptionalAttr<Tile_TargetAttr>:$target,
    OptionalAttr<Tile_ScheduleAttr>:$schedule,
    OptionalAttr<DictArrayAttr>:$arg_attrs,
    OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region AnyRegion:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name,
                                 "::mlir::FunctionType":$type)>];
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
  }];
}

def Tile_ReturnOp : Tile_Op<"return", [Pure, Terminator, ReturnLike,
                                       HasParent<"KernelOp">]> {
  let summary = "ends a kernel";
  let assemblyFormat = "attr-dict";
}

def Tile_WorkItemIdOp : Tile_Op<"work_item_id", [Pure]> {
  let summary = "a coordinate of this work item in the launch's space";
  let description = [{
    Dimension `dimension` of the space, counted from the slowest (0).
  }];
  let arguments = (ins ConfinedAttr<I64Attr,
    [IntNonNegative, IntMaxValue<15>]>:$dimension);
  let results = (outs Index:$result);
  let assemblyFormat = "$dimension attr-dict";
}

def Tile_LaunchOp : Tile_Op<"launch", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "runs a kernel for every work item of a space";
  let description = [{
    The space is given by its extents, the last one fastest. An empty space
    launches nothing. Launches of one host function run in order. A memref of
    i1, whose elements take one byte each, may be passed as one of i8.

    ```mlir
    evo_tile.launch @copy space(%n) args(%x, %y : memref<?x?xf32>, memref<?x?xf32>)
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<Index>:$space,
                       Variadic<AnyType>:$args);
  let assemblyFormat = [{
    $kernel `space` `(` $space `)` `args` `(` ($args^ `:` type($args))? `)` attr-dict
  }];
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

def Tile_LoadOp : Tile_Op<"load"> {
  let summary = "reads a tile from memory";
  let description = [{
    The tile's element [a, b, ..] is source[indices + (a, b, ..)]. A dimension
    that `in_bounds` does not promise is checked against the source's own size:
    outside, elements read as `padding`; without `padding`, as some element of
    the source that is in bounds (the source then must not be empty). What the
    result's layout holds beyond the tile reads as `padding`, without it as 0.

    `alignment`, in bytes, promises that an element whose index along the
    source's contiguous dimension is a multiple of alignment / element size has
    an address that is a multiple of `alignment`, that the tile starts at such
    an index, and that the size of that dimension is a multiple of it, too.
    Without it only the element's own alignment is assumed.
  }];
  let arguments = (ins Arg<AnyMemRef, "memory", [MemRead]>:$source,
    Variadic<Index>:$indices,
    DefaultValuedAttr<DenseBoolArrayAttr, "{}">:$in_bounds,
    OptionalAttr<TypedAttrInterface>:$padding,
    OptionalAttr<I64Attr>:$alignment);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $source `[` $indices `]` (`padding` $padding^)? attr-dict
    `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getTileType() { return ::llvm::cast<::mlir::RankedTensorType>(getType()); }
    ::mlir::MemRefType getSourceType() { return ::llvm::cast<::mlir::MemRefType>(getSource().getType()); }
    bool isDimInBounds(int64_t dim) {
      return dim < (int64_t)getInBounds().size() && getInBounds()[dim];
    }
  }];
}

def Tile_StoreOp : Tile_Op<"store"> {
  let summary = "writes a tile to memory";
  let description = [{
    Elements outside the destination's sizes are not written; `in_bounds`
    promises, per dimension, that there are none. `alignment` is as in `load`.
  }];
  let arguments = (ins Tile_Tile:$value,
    Arg<AnyMemRef, "memory", [MemWrite]>:$dest, Variadic<Index>:$indices,
    DefaultValuedAttr<DenseBoolArrayAttr, "{}">:$in_bounds,
    OptionalAttr<I64Attr>:$alignment);
  let assemblyFormat = [{
    $value `,` $dest `[` $indices `]` attr-dict `:` type($value) `,` type($dest)
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getTileType() { return ::llvm::cast<::mlir::RankedTensorType>(getValue().getType()); }
    ::mlir::MemRefType getDestType() { return ::llvm::cast<::mlir::MemRefType>(getDest().getType()); }
    bool isDimInBounds(int64_t dim) {
      return dim < (int64_t)getInBounds().size() && getInBounds()[dim];
    }
  }];
}

def Tile_AllocLDSOp : Tile_Op<"alloc_lds"> {
  let summary = "workgroup memory for the kernel's life";
  let description = [{
    A static memref in `#gpu.address_space<workgroup>`. A strided layout with
    wider pitches than the sizes pads rows against bank conflicts. Contents are
    undefined at first.
  }];
  let results = (outs Res<AnyMemRef, "workgroup memory", [MemAlloc]>:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Tile_AsyncCopyOp : Tile_Op<"async_copy", [AttrSizedOperandSegments]> {
  let summary = "copies a tile from global memory to LDS without waiting";
  let description = [{
    Copies the tile of the shape and layout of `tile` (a type; its encoding, a
    LaneMap, says which lane copies what) from source to dest. Bounds, padding
    and alignment are as in `load`; the padding may be zero or absent. With
    `predicate`, which is the same for all lanes, false the destination's
    elements are unspecified. The data is there after a `wait` for the token of
    the copy, or of its group, followed by a `barrier`; what another subgroup
    reads there must be read before a `barrier` that precedes the copy.
  }];
  let arguments = (ins Arg<AnyMemRef, "memory", [MemRead]>:$source,
    Variadic<Index>:$source_indices,
    Arg<AnyMemRef, "workgroup memory", [MemWrite]>:$dest,
    Variadic<Index>:$dest_indices,
    Optional<I1>:$predicate,
    TypeAttrOf<AnyRankedTensor>:$tile,
    DefaultValuedAttr<DenseBoolArrayAttr, "{}">:$in_bounds,
    OptionalAttr<TypedAttrInterface>:$padding,
    OptionalAttr<I64Attr>:$alignment);
  let results = (outs Tile_Token:$token);
  let assemblyFormat = [{
    $source `[` $source_indices `]` `to` $dest `[` $dest_indices `]`
    (`if` $predicate^)? (`padding` $padding^)? `as` $tile attr-dict
    `:` type($source) `,` type($dest)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getTileType() { return ::llvm::cast<::mlir::RankedTensorType>(getTile()); }
    bool isDimInBounds(int64_t dim) {
      return dim < (int64_t)getInBounds().size() && getInBounds()[dim];
    }
  }];
}

def Tile_AsyncGroupOp : Tile_Op<"async_group",
    [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "one token for the copies issued since the last group";
  let description = [{
    Its operands are the tokens of all copies since the group before; there may
    be none. Groups complete in the order in which they were made.
  }];
  let arguments = (ins Variadic<Tile_Token>:$copies);
  let results = (outs Tile_Token:$token);
  let assemblyFormat = "`(` $copies `)` attr-dict";
}

def Tile_WaitOp : Tile_Op<"wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits until a group's copies, as this subgroup issued them, are complete";
  let description = [{
    Groups that were made after the token's may stay under way. How many do
    follows from where they are made.
  }];
  let arguments = (ins Tile_Token:$token);
  let assemblyFormat = "$token attr-dict";
}

def Tile_CopySlotsOp
    : Tile_Op<"copy_slots", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "free slots for copies of boxes";
  let description = [{
    Takes workgroup memory for the kernel's life. Executed once; subgroups may wait
    for a slot after the next `barrier`. With `released` subgroups tell by
    `release_slot` that they have read what a slot held, and `claim_slot` waits for
    that.
  }];
  let arguments = (ins UnitAttr:$released);
  let results = (outs Variadic<Tile_Slot>:$slots);
  let assemblyFormat = "(`released` $released^)? attr-dict `:` type($slots)";
}

def Tile_BoxCopyOp : Tile_Op<"box_copy", [AttrSizedOperandSegments]> {
  let summary = "copies a box from global memory to LDS without waiting";
  let description = [{
    Copies the box of `map` whose first element has these coordinates to `dest`,
    which holds nothing else, the last dimension in consecutive bytes, the others
    around it. Where `dest` lies in panels (`#evo_tile.swizzled_lds`) each of them
    has a box, side by side. A row of a box may be longer than one of `dest`: the
    bytes between its rows are overwritten then. Elements outside of the memory
    arrive as zeros. With `predicate`, which is the same for all lanes, false nothing
    is copied. The data is there after a `wait_slot` for the slot as `close_slot`
    gives it; what another subgroup reads in `dest` must be read before a `barrier`
    that precedes the copy, or before it releases a slot that was claimed since.
  }];
  let arguments = (ins Tile_TensorMap:$map, Variadic<Index>:$coordinates,
    Arg<AnyMemRef, "workgroup memory", [MemWrite]>:$dest, Tile_Slot:$slot,
    Optional<I1>:$predicate);
  let assemblyFormat = [{
    $map `[` $coordinates `]` `to` $dest `in` $slot (`if` $predicate^)? attr-dict
    `:` type($map) `,` type($dest)
  }];
  let hasVerifier = 1;
}

def Tile_CloseSlotOp
    : Tile_Op<"close_slot", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "the slot, with all copies that were put in it";
  let description = [{
    The slot was free, and all subgroups have waited for what it held before and met
    at a `barrier` since, or it was claimed.
  }];
  let arguments = (ins Tile_Slot:$slot);
  let results = (outs Tile_Slot:$result);
  let assemblyFormat = "$slot attr-dict";
}

def Tile_ReleaseSlotOp
    : Tile_Op<"release_slot", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "tells that the subgroup has read what a slot brought";
  let description = [{
    Of a slot for which the subgroup has waited; each does so once before it waits
    for the slot again. The slot is one of `copy_slots released`.
  }];
  let arguments = (ins Tile_Slot:$slot);
  let assemblyFormat = "$slot attr-dict";
}

def Tile_ClaimSlotOp
    : Tile_Op<"claim_slot", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits until all subgroups have released a slot";
  let description = [{
    Only who copies waits. What the slot brought before may then be overwritten. A
    slot that has held nothing yet is free.
  }];
  let arguments = (ins Tile_Slot:$slot);
  let assemblyFormat = "$slot attr-dict";
}

def Tile_WaitSlotOp
    : Tile_Op<"wait_slot", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits until the copies of a closed slot have arrived";
  let arguments = (ins Tile_Slot:$slot);
  let assemblyFormat = "$slot attr-dict";
}

def Tile_BarrierOp : Tile_Op<"barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "all subgroups of the workgroup arrive before any goes on";
  let description = [{
    Orders accesses to workgroup memory; the CPU ignores it. With `handover` it is
    the program's own: subgroups hand each other what they store to a buffer of its
    (`alloc_lds`), and a loop that copies ahead keeps it. With `apart` it stays a
    barrier of its own beside another one: other subgroups, elsewhere in the program,
    have work between the two.
  }];
  let arguments = (ins UnitAttr:$handover, UnitAttr:$apart);
  let assemblyFormat = "(`handover` $handover^)? (`apart` $apart^)? attr-dict";
}

def Tile_ProxyFenceOp
    : Tile_Op<"proxy_fence", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "hands what lanes wrote to instructions that read matrices";
  let description = [{
    What a lane has written to workgroup memory, its copies included that it has
    waited for, is seen by instructions of several subgroups (`group_mma`) that come
    after the next barrier. The CPU ignores it.
  }];
  let assemblyFormat = "attr-dict";
}

def Tile_IssueFenceOp
    : Tile_Op<"issue_fence", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "keeps loads where they are issued";
  let description = [{
    Changes nothing in what a kernel computes. Code generators move a load down
    to where its result is used, and what uses an earlier one's up to it; where
    loads run ahead of compute, both undo that. No access to memory moves across
    an `issue_fence`. With `compute`, accesses to global memory do not, and
    arithmetic stays behind it.

    Targets without the property `sched_barrier`, and the CPU, ignore it.
  }];
  let arguments = (ins UnitAttr:$compute);
  let assemblyFormat = "(`compute` $compute^)? attr-dict";
}

//===----------------------------------------------------------------------===//
// Computation
//===----------------------------------------------------------------------===//

def Tile_MmaOp : Tile_Op<"mma", [Pure, AllTypesMatch<["c", "result"]>]> {
  let summary = "c + a * b";
  let description = [{
    For tiles a [batch.., M, K], b [batch.., K, N], c [batch.., M, N]. Products
    are exact in c's type and summed there in an unspecified order.

    With `reads = tf32` only the upper 19 bits of each element of a and b count,
    which are f32: the others are cut off.
  }];
  let arguments = (ins Tile_Tile:$a, Tile_Tile:$b, Tile_Tile:$c,
                       OptionalAttr<TypeAttr>:$reads);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$a `,` $b `,` $c attr-dict `:` type($a) `,` type($b) `,` type($c)";
  let builders = [OpBuilder<(ins "::mlir::Value":$a, "::mlir::Value":$b, "::mlir::Value":$c), [{
    build($_builder, $_state, c.getType(), a, b, c, /*reads=*/::mlir::TypeAttr());
  }]>];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// What of each element of a and b counts.
    ::mlir::Type getMultipliedType();
  }];
}

def Tile_GroupMmaOp : Tile_Op<"group_mma", [AllTypesMatch<["c", "result"]>]> {
  let summary = "c + a * b, with operands in workgroup memory";
  let description = [{
    As `mma`, by an instruction of several subgroups (`#evo_tile.group_matrix_instr`)
    that reads the operand which they share where it lies in workgroup memory, and
    the rows of their own, if these are memory, too. c and what is no memory have
    the layouts of an instruction for a subgroup; which of a and b is shared follows
    from that of c. All subgroups of the workgroup execute it, and what it reads has
    been written before a `proxy_fence` and then a `barrier`.

    With `async` it goes on while the subgroup does other things: registers that it
    reads come from a `group_fence`, its result is read after a `group_wait` in the
    same block, or as the c of a later such product.
  }];
  let arguments = (ins Arg<AnyTypeOf<[Tile_Tile, AnyMemRef]>, "rows", [MemRead]>:$a,
                       Arg<AnyTypeOf<[Tile_Tile, AnyMemRef]>, "columns", [MemRead]>:$b,
                       Tile_Tile:$c, UnitAttr:$async);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$a `,` $b `,` $c (`async` $async^)? attr-dict `:` type($a) `,` type($b) `,` type($c)";
  let hasVerifier = 1;
}

def Tile_GroupFenceOp
    : Tile_Op<"group_fence", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "hands registers to products of several subgroups";
  let description = [{
    The tiles, in registers that asynchronous products (`group_mma`) may read and add
    to from here on; `none` where all that these read is in workgroup memory and they
    start from zero. The CPU passes them on.
  }];
  let arguments = (ins Variadic<Tile_Tile>:$tiles);
  let results = (outs Variadic<Tile_Tile>:$results);
  let assemblyFormat = "($tiles^ `:` type($tiles) `->` type($results)) : (`none`)? attr-dict";
  let hasVerifier = 1;
}

def Tile_GroupWaitOp
    : Tile_Op<"group_wait", [AttrSizedOperandSegments,
                             MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits for asynchronous products";
  let description = [{
    Waits until at most the last `pending` asynchronous products (`group_mma`) are
    under way, and gives the results of `products`, which are earlier ones of the
    same block. `rows` are the registers that these read; until now nothing else may
    have them. The CPU passes the products on.
  }];
  let arguments = (ins Variadic<Tile_Tile>:$products, Variadic<Tile_Tile>:$rows,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$pending);
  let results = (outs Variadic<Tile_Tile>:$results);
  let assemblyFormat = [{
    $products (`rows` `(` $rows^ `:` type($rows) `)`)? `pending` $pending attr-dict
    `:` type($products) `->` type($results)
  }];
  let hasVerifier = 1;
}

def Tile_ReduceOp : Tile_Op<"reduce", [Pure]> {
  let summary = "combines the elements along one dimension";
  let description = [{
    `max` and `min` ignore NaN unless all elements are NaN (maximumNumber of
    IEEE 754-2019). Sums run in an unspecified order that depends on the layout
    only.

    With `held`, lanes that share an element of the result have different numbers
    for it, each what the lane holds itself gives. That takes no exchange between
    lanes. It serves a condition of `evo_tile.where` that may hold for what any
    lane has, and sums that `evo_tile.combine` makes whole.
  }];
  let arguments = (ins Tile_ReduceKind:$kind, Tile_Tile:$source,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$dim,
                       UnitAttr:$held);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$kind $source `dim` $dim (`held` $held^)? attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_CombineOp : Tile_Op<"combine", [Pure, SameOperandsAndResultType]> {
  let summary = "the whole of sums of which lanes hold parts";
  let description = [{
    Adds up, for each element, what the lanes that share it have: results of
    `evo_tile.reduce add %tile dim $dim held` of tiles of type `source`, sums of
    these, and such times numbers that lanes agree on. It is for tiles with
    layouts, which nothing changes on the way: `evo-tile-defer-lane-sums` writes
    it, and `convert-tile-to-gpu` reads it.

    ```mlir
    %sum = evo_tile.combine %own dim 2 of tensor<1x128x32xf32, #frag_c> : tensor<1x128xf32, #rows>
    ```
  }];
  let arguments = (ins StaticShapeTensorOf<[AnyFloat]>:$own,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$dim,
                       TypeAttrOf<StaticShapeTensorOf<[AnyFloat]>>:$source);
  let results = (outs StaticShapeTensorOf<[AnyFloat]>:$result);
  let assemblyFormat = "$own `dim` $dim `of` $source attr-dict `:` type($own)";
  let hasVerifier = 1;
}

def Tile_BroadcastOp : Tile_Op<"broadcast", [Pure]> {
  let summary = "repeats a tile along a new dimension";
  let description = "`dim` is the position of the new dimension in the result.";
  let arguments = (ins Tile_Tile:$source,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$dim);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$source `dim` $dim attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_TransposeOp : Tile_Op<"transpose", [Pure]> {
  let summary = "permutes the dimensions of a tile";
  let description = [{
    Result dimension i is source dimension permutation[i]. With layouts it is
    free: the same registers under other names.
  }];
  let arguments = (ins Tile_Tile:$source, DenseI64ArrayAttr:$permutation);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$source $permutation attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_IotaOp : Tile_Op<"iota", [Pure]> {
  let summary = "offset + the index along one dimension";
  let description = [{
    With `minus`, less the index along that dimension: how far a key lies behind
    a query. The offset is taken modulo 2^32; sums with the indices must not
    leave i32.
  }];
  let arguments = (ins Index:$offset,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$dim,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>
                           :$minus);
  let results = (outs StaticShapeTensorOf<[I32]>:$result);
  let assemblyFormat = [{
    $offset `dim` $dim (`minus` $minus^)? attr-dict `:` type($result)
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Type":$type, "::mlir::Value":$offset,
                   "int64_t":$dim, CArg<"::mlir::IntegerAttr", "{}">:$minus), [{
      build($_builder, $_state, type, offset,
            $_builder.getI64IntegerAttr(dim), minus);
    }]>
  ];
  let hasVerifier = 1;
}

def Tile_RandomOp : Tile_Op<"random", [Pure]> {
  let summary = "which elements' random draws reach a threshold";
  let description = [{
    An element is true where its draw, 16 random bits, is at least `threshold`. Draws
    are those of a generator that counts (Philox-4x32 with 7 rounds, Salmon et al.,
    "Parallel random numbers: as easy as 1, 2, 3", 2011): each is a function of seed,
    offset and stream, and of the element's row i and column j, which are `row` and
    `column` plus its indices along the dimensions `rowDim` and `columnDim`. They do
    not depend on how tiles are cut and laid out. All four numbers
    of 32 bits (i and j, stream and both halves of seed and offset) are taken modulo
    2^32:

    ```
    key     = (seed[31:0], seed[63:32] xor offset[63:32])
    counter = (floor(j / 8), i, stream, offset[31:0])
    x       = philox4x32-7(counter, key)              four words
    draw    = 16 bits of x[floor(j / 2) mod 4]: the lower ones where j is even
    ```

    A call of the generator serves eight columns of one row. `multiple` promises that
    `column` is a multiple of it.

    ```mlir
    %keep = evo_tile.random %seed, %offset, %stream at [%i along 1, %j along 2]
        threshold 6554 multiple 64 : tensor<1x64x64xi1>
    ```
  }];
  let arguments = (ins I64:$seed, I64:$offset, Index:$stream, Index:$row,
                       Index:$column,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$rowDim,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$columnDim,
                       ConfinedAttr<I64Attr, [IntNonNegative,
                                              IntMaxValue<65535>]>:$threshold,
                       DefaultValuedAttr<ConfinedAttr<I64Attr, [IntPositive]>,
                                         "1">:$multiple);
  let results = (outs StaticShapeTensorOf<[I1]>:$result);
  let assemblyFormat = [{
    $seed `,` $offset `,` $stream `at` `[` $row `along` $rowDim `,`
    $column `along` $columnDim `]` `threshold` $threshold
    (`multiple` $multiple^)? attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_ConvertLayoutOp : Tile_Op<"convert_layout", [Pure]> {
  let summary = "the same tile under another layout";
  let description = [{
    Its cost follows from the relation of the two LaneMaps: nothing, a renaming
    of registers, an exchange between lanes, or a pass through LDS.
  }];
  let arguments = (ins Tile_Tile:$source);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_ExchangeOp : Tile_Op<"exchange"> {
  let summary = "the same tile under another layout, by workgroup memory";
  let description = [{
    The lanes write the tile to the buffer, which nothing else uses, and read it
    again. Where what a lane gets a lane of its own subgroup has had, subgroups
    wait for no others. Elsewhere all of the workgroup do, between writing and
    reading; what another subgroup has read there must be read before a
    `barrier` that precedes the exchange. `alignment` is as in `load`. The CPU
    has nothing to exchange.

    ```mlir
    %wide = evo_tile.exchange %tile through %buffer {alignment = 16}
        : tensor<64x64xbf16, #rows> -> tensor<64x64xbf16, #wide>, memref<64x64xbf16, strided<[72, 1]>, #gpu.address_space<workgroup>>
    ```
  }];
  let arguments = (ins Tile_Tile:$source,
    Arg<AnyMemRef, "memory", [MemRead, MemWrite]>:$buffer,
    OptionalAttr<I64Attr>:$alignment);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $source `through` $buffer attr-dict
    `:` type($source) `->` type($result) `,` type($buffer)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether lanes get what lanes of other subgroups have had.
    bool crossesSubgroups();
  }];
}

//===----------------------------------------------------------------------===//
// Control
//===----------------------------------------------------------------------===//

def Tile_WhereOp : Tile_Op<"where", [SingleBlock, NoRegionArguments,
    RecursiveMemoryEffects, AllTypesMatch<["inits", "results"]>]> {
  let summary = "work that few elements need, if any";
  let description = [{
    Where the condition holds, the results are what the region yields; elsewhere
    they are `inits` or what the region yields, whichever is at hand: a subgroup
    runs the region if the condition holds for any element that any of its lanes
    has, which need not agree (`evo_tile.reduce ... held`), and not at all
    otherwise. A program must be right either way. So an algorithm may be
    quick in the usual case, see afterwards that a case was not the usual one
    and do that part again with care.

    The condition's dimensions are the first ones of every result. Subgroups
    decide on their own: the region does not wait for others, and what it reads
    comes straight from where it is. It may store again, to memory that the
    kernel reads nowhere, what was stored without care: tiles whose first
    dimensions are the condition's.

    ```mlir
    %again = evo_tile.where %isNaN, %sum {
      %careful = scf.for %k = %c0 to %end step %c32 iter_args(%s = %zero) -> (tensor<64xf32>) {
        ...
      }
      evo_tile.yield %careful : tensor<64xf32>
    } : tensor<64xi1>, tensor<64xf32>
    ```
  }];
  let arguments = (ins StaticShapeTensorOf<[I1]>:$condition,
                       Variadic<Tile_Tile>:$inits);
  let results = (outs Variadic<Tile_Tile>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $condition (`,` $inits^)? $body attr-dict `:` type($condition) (`,` type($inits)^)?
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    YieldOp getYield();
  }];
}

def Tile_SkipIdleOp : Tile_Op<"skip_idle",
    [Pure, AllTypesMatch<["value", "otherwise", "result"]>]> {
  let summary = "a tile of which some subgroups may have nothing that counts";
  let description = [{
    `value`, or, in subgroups whose elements all lie at or behind an extent along its
    dimension, `value` or `otherwise`, whichever is at hand. So these need not compute
    `value`, and what runs beside them has their share of the processor: a
    workgroup at the end of a sequence may have keys for one subgroup of four.
    A program must be right either way (`evo-tile-skip-idle-subgroups`): behind the
    extents both are equal, or nobody reads them.

    ```mlir
    %next = evo_tile.skip_idle %sum else %before within [%queries] along [1]
        : tensor<1x128x32xf32>
    ```
  }];
  let arguments = (ins Tile_Tile:$value, Tile_Tile:$otherwise,
                       Variadic<Index>:$extents, DenseI64ArrayAttr:$dims);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $value `else` $otherwise `within` `[` $extents `]` `along` $dims attr-dict
    `:` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_HoldsWithinOp : Tile_Op<"holds_within", [Pure]> {
  let summary = "whether the subgroup holds elements before extents";
  let description = [{
    Whether any element of a tile of type `tile` that the subgroup holds lies
    before each of the extents along its dimension. Subgroups differ; all lanes of
    one get the same. What depends on it must meet the other subgroups at as many
    barriers either way: it is made after pipelining, when copies and barriers are
    where they stay. Extents are signed.

    ```mlir
    %works = evo_tile.holds_within [%queries] along [1]
        of tensor<1x128x32xf32, #frag_c>
    ```
  }];
  let arguments = (ins Variadic<Index>:$extents, DenseI64ArrayAttr:$dims,
                       TypeAttrOf<Tile_Tile>:$tile);
  let results = (outs I1:$result);
  let assemblyFormat = [{
    `[` $extents `]` `along` $dims `of` $tile attr-dict
  }];
  let hasVerifier = 1;
}

def Tile_YieldOp : Tile_Op<"yield", [Pure, Terminator, ReturnLike,
                                     HasParent<"WhereOp">]> {
  let summary = "the results of the region around it";
  let arguments = (ins Variadic<Tile_Tile>:$results);
  let assemblyFormat = "attr-dict ($results^ `:` type($results))?";
}

#endif // EVOFORMER_DIALECT_TILE_IR_TILEOPS_TD
