//===- TileAttrs.td - Layouts, targets, schedules ----------*- tablegen -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_DIALECT_TILE_IR_TILEATTRS_TD
#define EVOFORMER_DIALECT_TILE_IR_TILEATTRS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "Evoformer/Dialect/Tile/IR/TileDialect.td"
include "Evoformer/Dialect/Tile/IR/LayoutInterface.td"
include "Evoformer/Dialect/Tile/IR/TargetEntries.td"

class Tile_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Tile_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def Tile_OperandRole : I32EnumAttr<"OperandRole", "operand of a matrix instruction", [
    I32EnumAttrCase<"A", 0>, I32EnumAttrCase<"B", 1>, I32EnumAttrCase<"C", 2>]> {
  let cppNamespace = "::mlir::evoformer::tile";
}

def Tile_ReduceKind : I32EnumAttr<"ReduceKind", "how a reduction combines", [
    I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"Max", 1, "max">,
    I32EnumAttrCase<"Min", 2, "min">]> {
  let cppNamespace = "::mlir::evoformer::tile";
}

def Tile_LaneMapAttr : Tile_Attr<"LaneMap", "lane_map",
    [DeclareAttrInterfaceMethods<LayoutAttrInterface>]> {
  let summary = "a layout by its axes";
  let description = [{
    Lists of axes, fastest first, each `[size, stride per tile dimension]`. The
    element at (subgroup, lane, register) has the index sum(digit * stride).
    All-zero strides replicate. The first `inner` register axes make up one
    register vector (default: all of them).

    A 32x32 accumulator of mfma (rows in registers):

    ```mlir
    #evo_tile.lane_map<registers = [[4, 1, 0], [4, 8, 0]],
                       lanes = [[32, 0, 1], [2, 4, 0]], subgroups = []>
    ```
  }];
  let parameters = (ins "int64_t":$rank,
    ArrayRefParameter<"int64_t">:$registers,
    ArrayRefParameter<"int64_t">:$lanes,
    ArrayRefParameter<"int64_t">:$subgroups,
    "int64_t":$inner);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The attribute of a map's axes.
    static LaneMapAttr get(::mlir::MLIRContext *context,
                           const ::mlir::evoformer::tile::LaneMap &map);
    /// The map as it is, for a tile that its box covers exactly.
    ::mlir::evoformer::tile::LaneMap toLaneMap() const;
  }];
}

def Tile_MatrixInstrAttr : Tile_Attr<"MatrixInstr", "matrix_instr"> {
  let summary = "one matrix instruction of a target";
  let description = [{
    D[m,n] = sum_k A[m,k] B[k,n] + C[m,n] for one subgroup (or, as a plain FMA
    row, per lane). `a`, `b`, `c` map (lane, register) to the operand's two
    indices: A to (m, k), B to (k, n), C and D to (m, n). `intrinsic` is the
    LLVM intrinsic's full name; it takes the registers of A, B and C bit-cast
    to `a_regs`, `b_regs`, `c_regs` and then the i32 `immediates`; it returns
    `c_regs` (as a struct where there are several). `cycles` is how long one
    keeps a SIMD or tensor unit busy, for the cost model.

    Operands of tf32 are held as f32, of which the instruction reads the upper 19
    bits. With `terms` above 1 the row also serves products of f32, each operand
    of which is the sum of so many terms of its element type
    (`evo-tile-split-products`).
  }];
  let parameters = (ins
    StringRefParameter<>:$name,
    "int64_t":$m, "int64_t":$n, "int64_t":$k,
    "::mlir::Type":$a_type, "::mlir::Type":$b_type, "::mlir::Type":$c_type,
    "::mlir::evoformer::tile::LaneMapAttr":$a,
    "::mlir::evoformer::tile::LaneMapAttr":$b,
    "::mlir::evoformer::tile::LaneMapAttr":$c,
    StringRefParameter<>:$intrinsic,
    "::mlir::ArrayAttr":$a_regs, "::mlir::ArrayAttr":$b_regs,
    "::mlir::ArrayAttr":$c_regs,
    DefaultValuedParameter<"::mlir::ArrayAttr",
      "::mlir::ArrayAttr::get($_ctxt, {})">:$immediates,
    DefaultValuedParameter<"int64_t", "1">:$terms,
    "int64_t":$cycles);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Whether it serves products of tiles of this type, and with how many
    /// products of its own.
    bool multiplies(::mlir::Type type) const;
    int64_t countProducts(::mlir::Type type) const;

    /// The map, element type and (rows, columns) of an operand.
    LaneMapAttr getMap(OperandRole role) const;
    ::mlir::Type getElementType(OperandRole role) const;
    std::pair<int64_t, int64_t> getExtents(OperandRole role) const;
    ::mlir::ArrayAttr getRegisterTypes(OperandRole role) const;
  }];
}

def Tile_GroupMatrixInstrAttr : Tile_Attr<"GroupMatrixInstr", "group_matrix_instr"> {
  let summary = "a matrix instruction of several subgroups";
  let description = [{
    `subgroups` subgroups that follow each other, the first a multiple of so many,
    execute it together. Each gives rows of its own and holds their result, as
    with `each`, an instruction of one subgroup; all share the other operand,
    which lies in workgroup memory, up to `most_n` columns at once. Rows may lie
    there, too, those of the subgroups one behind the other. `opcode` is the
    assembler's, with `{n}` for the columns. `cycles` is how long rows of one
    subgroup and as many columns as `each` has keep the unit busy; 0: as long as
    `each`. Kernels use it where their schedule has `products = group`.

    Operands in workgroup memory have rows of 32, 64 or 128 bytes, XORed among
    eight of them ("Parallel Thread Execution ISA", "Asynchronous warpgroup level
    matrix multiply-accumulate instructions", "Strides" and "Swizzling modes");
    longer ones lie in panels (`#evo_tile.swizzled_lds`).
  }];
  let parameters = (ins
    StringRefParameter<>:$name,
    "::mlir::evoformer::tile::MatrixInstrAttr":$each,
    "int64_t":$subgroups, "int64_t":$most_n,
    StringRefParameter<>:$opcode,
    DefaultValuedParameter<"int64_t", "0">:$cycles);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Tile_UnitOverlap : I32EnumAttr<"UnitOverlap", "which units of a processor work at the same time", [
    I32EnumAttrCase<"Matrix", 0, "matrix">,
    I32EnumAttrCase<"Transcendental", 1, "transcendental">,
    I32EnumAttrCase<"Issue", 2, "issue">]> {
  let cppNamespace = "::mlir::evoformer::tile";
  let genSpecializedAttr = 0;
}

def Tile_UnitRatesAttr : Tile_Attr<"UnitRates", "unit_rates"> {
  let summary = "how long a processor's units take for an instruction";
  let description = [{
    From these and the counts of final code the modelled cycles of a report
    follow (docs/rationale/modelled-cycles.md). A processor is a compute unit of
    AMD, a streaming multiprocessor of NVIDIA. It has `simds` parts that each have
    vector and matrix units; the others are shared.

    | parameter | meaning |
    |---|---|
    | `simds` | parts of a processor |
    | `vector`, `multiply`, `transcendental` | cycles of a part's unit for an instruction of a subgroup: plain, a 32-bit integer product, 2^x and the like |
    | `lds_bytes` | bytes of workgroup memory a cycle of the processor |
    | `cache_bytes`, `cache_access` | bytes of the first cache a cycle of the processor; the fewest cycles of an access |
    | `overlap` | which units work at the same time, below |

    Memory always works beside the other units. Of these, `matrix`: the matrix
    unit beside the vector unit, which issues its instructions and executes
    transcendentals; `transcendental`: that unit beside the vector unit, which
    waits for products; `issue`: all of them, but a part issues one instruction a
    cycle of whatever kind. How long a matrix instruction takes says its row
    (`#evo_tile.matrix_instr`).

    ```mlir
    #evo_tile.unit_rates<overlap = matrix, simds = 4, vector = 4, multiply = 16, transcendental = 16,
                         lds_bytes = 128, cache_bytes = 64, cache_access = 4>
    ```
  }];
  let parameters = (ins
    EnumParameter<Tile_UnitOverlap>:$overlap,
    "int64_t":$simds, "int64_t":$vector, "int64_t":$multiply,
    "int64_t":$transcendental, "int64_t":$lds_bytes, "int64_t":$cache_bytes,
    "int64_t":$cache_access);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Tile_CopyEngineKind : I32EnumAttr<"CopyEngineKind", "how an engine copies to LDS", [
    I32EnumAttrCase<"PerLane", 0, "per_lane">,
    I32EnumAttrCase<"Consecutive", 1, "consecutive">]> {
  let cppNamespace = "::mlir::evoformer::tile";
  let genSpecializedAttr = 0;
}

def Tile_CopyEngineAttr : Tile_Attr<"CopyEngine", "copy_engine"> {
  let summary = "what copies from global memory to LDS beside compute";
  let description = [{
    An engine takes `evo_tile.async_copy`, and is done with it at the
    `evo_tile.wait` for the copy's token. Its kind says how a copy is issued and
    how it is known to be complete:

    | kind | a copy of a lane | what lies outside | complete |
    |---|---|---|---|
    | `per_lane` | each lane names source and destination | is written as zeros | by groups, in order |
    | `consecutive` | each lane names its source, the subgroup one destination, from which its lanes' pieces follow each other | is written as zeros | by a count of the subgroup's reads of memory, in order |

    Either leaves a slot free for the next copy to it when a barrier tells that
    every subgroup has read it. `bytes` are the sizes of one copy of a lane, least
    first.

    ```mlir
    #evo_tile.copy_engine<per_lane, bytes = [4, 8, 16]>
    ```
  }];
  let parameters = (ins
    EnumParameter<Tile_CopyEngineKind>:$kind,
    ArrayRefParameter<"int64_t">:$bytes);
  let assemblyFormat = "`<` $kind `,` `bytes` `=` `[` $bytes `]` `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getLeastBytes() const { return getBytes().front(); }
    int64_t getMostBytes() const { return getBytes().back(); }
    bool copies(int64_t size) const {
      return ::llvm::is_contained(getBytes(), size);
    }
  }];
}

/// What an asynchronous copy gives. It is no value of a lane.
def Tile_Token : TypeDef<Tile_Dialect, "Token">,
    BuildableType<"$_builder.getType<::mlir::evoformer::tile::TokenType>()"> {
  let mnemonic = "token";
  let summary = "copies under way";
  let description = [{
    Made by `evo_tile.async_copy` for one copy and by `evo_tile.async_group` for
    several; `evo_tile.wait` waits for it. Loops and branches may carry tokens.
  }];
}

/// What a launch tells a kernel of memory that boxes are copied from.
def Tile_TensorMap : TypeDef<Tile_Dialect, "TensorMap"> {
  let mnemonic = "tensor_map";
  let summary = "an argument of a kernel as copies of boxes see it";
  let description = [{
    The type of further arguments of a kernel, behind all others, which no launch
    names: whoever launches makes them of the memref that is argument `of`, and passes
    them by value. `box` has a size for each of its dimensions, of which there are at
    most five; the last one is contiguous. `ends` has two numbers for each: where the
    dimension ends, behind which copies read zeros, is a dimension of an argument, or,
    where the argument is -1, the number that follows. With `swizzle`, the bytes of a
    row of a box, 32, 64 or 128, pieces of 16 bytes of the box change places in
    workgroup memory as with `#evo_tile.swizzled_lds<base = 4, from = [7]>`, `[7, 8]`
    or `[7, 8, 9]`.

    When the kernel is launched, the address of the memory's first element and the
    strides of all dimensions of more than one element are multiples of 16 bytes.

    ```mlir
    !evo_tile.tensor_map<of = 1, box = [1, 1, 1, 32, 32], ends = [1, 0, 1, 1, 1, 2, 1, 3, -1, 32]>
    ```
  }];
  let parameters = (ins "int64_t":$of, ArrayRefParameter<"int64_t">:$box,
    ArrayRefParameter<"int64_t">:$ends,
    DefaultValuedParameter<"int64_t", "0">:$swizzle);
  let assemblyFormat = "`<` `of` `=` $of `,` `box` `=` `[` $box `]` `,` `ends` `=` `[` $ends `]` (`,` `swizzle` `=` $swizzle^)? `>`";
  let genVerifyDecl = 1;
}

/// A barrier object in workgroup memory and the state in which it was left.
def Tile_Slot : TypeDef<Tile_Dialect, "Slot">,
    BuildableType<"$_builder.getType<::mlir::evoformer::tile::SlotType>()"> {
  let mnemonic = "slot";
  let summary = "what tells that copies of boxes have arrived";
  let description = [{
    `evo_tile.copy_slots` makes free ones. Copies of boxes are put in one,
    `evo_tile.close_slot` gives the slot with these copies under way, and after
    `evo_tile.wait_slot` for that it is free again. Loops may carry slots.
  }];
}

def Tile_TargetAttr : Tile_Attr<"Target", "target"> {
  let summary = "a chip, as data";
  let description = !strconcat([{
    What passes may ask of a target. `matrix` lists its matrix instructions in
    order of preference. The CPU is a target with subgroups of one lane and no
    matrix instruction. Keys may come in any order; the last two may be absent:

    ```mlir
    #evo_tile.target<chip = "gfx1100", triple = "amdgcn-amd-amdhsa", features = "",
      subgroup_size = 32, max_workgroup = 1024, registers = 256, lds_bytes = 65536,
      lds_banks = 32, matrix = [], properties = {uniform_registers},
      tuning = {work_items = 384}>
    ```

    `properties` holds facts that only some chips have; an unknown key or a value
    of another type is an error:}], Tile_TargetProperties.rows, [{

    `tuning` says what schedules should aim at; programs are right with any of
    its values:}], Tile_TargetTuning.rows);
  let parameters = (ins
    StringRefParameter<>:$chip,
    StringRefParameter<>:$triple,
    StringRefParameter<>:$features,
    "int64_t":$subgroup_size,
    "int64_t":$max_workgroup,
    "int64_t":$registers,
    "int64_t":$lds_bytes,
    "int64_t":$lds_banks,
    "::mlir::ArrayAttr":$matrix,
    DefaultValuedParameter<"::mlir::DictionaryAttr",
      "::mlir::DictionaryAttr::get($_ctxt)">:$properties,
    DefaultValuedParameter<"::mlir::DictionaryAttr",
      "::mlir::DictionaryAttr::get($_ctxt)">:$tuning);
  // In TargetSyntax.cpp.
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = !strconcat([{
    /// All entries that the dictionaries may have.
    static ::llvm::ArrayRef<TargetEntry> getKnownProperties();
    static ::llvm::ArrayRef<TargetEntry> getKnownTuning();

    bool isCPU() const { return getSubgroupSize() == 1 && getMatrix().empty(); }

  }], Tile_TargetProperties.methods, Tile_TargetTuning.methods);
  let extraClassDefinition = !strconcat([{
    ::llvm::ArrayRef<TargetEntry> $cppClass::getKnownProperties() {
      static const TargetEntry entries[] = {
  }], Tile_TargetProperties.descriptors, [{
      };
      return entries;
    }
    ::llvm::ArrayRef<TargetEntry> $cppClass::getKnownTuning() {
      static const TargetEntry entries[] = {
  }], Tile_TargetTuning.descriptors, [{
      };
      return entries;
    }
  }]);
}

def Tile_OwnOperands : I32EnumAttr<"OwnOperands", "where a loop has the operands that it does not change", [
    I32EnumAttrCase<"Registers", 0, "registers">, I32EnumAttrCase<"LDS", 1, "lds">]> {
  let cppNamespace = "::mlir::evoformer::tile";
}

def Tile_ProductScope : I32EnumAttr<"ProductScope", "who executes a matrix instruction", [
    I32EnumAttrCase<"Subgroup", 0, "subgroup">, I32EnumAttrCase<"Group", 1, "group">,
    I32EnumAttrCase<"Handed", 2, "handed">]> {
  let cppNamespace = "::mlir::evoformer::tile";
}

def Tile_ScheduleAttr : Tile_Attr<"Schedule", "schedule"> {
  let summary = "how a kernel's work is cut";
  let description = [{
    `block` are the tile sizes that the tiling step used (for the reader and
    the cost model), `subgroups` the subgroups along [batch, M, N] of the
    matrix products, `stages` how many iterations' copies are under way.
    `resident`, where it is given, is the number of workgroups that a processor
    (a multiprocessor, a compute unit) shall hold at once: the code generator
    then gives a lane the registers that this leaves. With `own = lds` what is
    loaded before a loop for its products lies in workgroup memory, from which
    each iteration reads it, and not in registers. With `products = group` loops
    use the target's matrix instructions of several subgroups where these can, with
    `handed` for products whose rows the kernel itself has stored to workgroup
    memory.

    ```mlir
    #evo_tile.schedule<v1, block = [1, 256, 64], subgroups = [1, 4, 1], stages = 2>
    #evo_tile.schedule<v1, block = [1, 128, 32], subgroups = [1, 8, 1], stages = 2, own = lds, products = group>
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t">:$block,
    ArrayRefParameter<"int64_t">:$subgroups,
    "int64_t":$stages,
    DefaultValuedParameter<"int64_t", "0">:$resident,
    DefaultValuedParameter<"::mlir::evoformer::tile::OwnOperands",
        "::mlir::evoformer::tile::OwnOperands::Registers">:$own,
    DefaultValuedParameter<"::mlir::evoformer::tile::ProductScope",
        "::mlir::evoformer::tile::ProductScope::Subgroup">:$products);
  let builders = [AttrBuilder<(ins "::llvm::ArrayRef<int64_t>":$block,
      "::llvm::ArrayRef<int64_t>":$subgroups, "int64_t":$stages), [{
    return $_get($_ctxt, block, subgroups, stages, /*resident=*/0,
                 ::mlir::evoformer::tile::OwnOperands::Registers,
                 ::mlir::evoformer::tile::ProductScope::Subgroup);
  }]>];
  let assemblyFormat = [{
    `<` `v1` `,` `block` `=` `[` $block `]` `,`
        `subgroups` `=` `[` $subgroups `]` `,` `stages` `=` $stages
        `` custom<ScheduleOptions>($resident, $own, $products) `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getNumSubgroups() const {
      int64_t count = 1;
      for (int64_t size : getSubgroups())
        count *= size;
      return count;
    }
  }];
}

def Tile_FragAttr : Tile_Attr<"Frag", "frag",
    [DeclareAttrInterfaceMethods<LayoutAttrInterface>]> {
  let summary = "a tile spread over atoms of a matrix instruction's operand";
  let description = [{
    The tile is covered by atoms of operand `role` of `instr`. `dims` names the
    tile dimensions of the operand's rows and columns, so a swapped pair is the
    transposed orientation; other tile dimensions are batches. `order` gives,
    per tile dimension, how the hardware's index along it (the atoms of one
    subgroup included) maps to the tile's: a list of size, stride pairs, lowest
    digit first; empty is the identity. A contracted dimension may have any
    order as long as both operands share it. `subgroups` lists count, dimension
    pairs, fastest first; dimension -1 replicates.
  }];
  let parameters = (ins
    "::mlir::evoformer::tile::MatrixInstrAttr":$instr,
    "::mlir::evoformer::tile::OperandRole":$role,
    ArrayRefParameter<"int64_t">:$dims,
    "::mlir::DenseI64ArrayAttr":$subgroups,
    "::mlir::ArrayAttr":$order);
  let assemblyFormat = [{
    `<` $instr `,` $role `,` `dims` `=` `[` $dims `]` `,`
    `subgroups` `=` $subgroups `,` `order` `=` $order `>`
  }];
  let genVerifyDecl = 1;
}

def Tile_SliceAttr : Tile_Attr<"Slice", "slice",
    [DeclareAttrInterfaceMethods<LayoutAttrInterface>]> {
  let summary = "a layout with one dimension taken away";
  let description = [{
    What a reduction over `dim` of a tile with layout `parent` yields: the same
    placement without that dimension, replicated over the lanes and subgroups
    that it was spread over. `size` is the parent's extent of that dimension.
  }];
  let parameters = (ins "int64_t":$dim, "int64_t":$size, "::mlir::Attribute":$parent);
  let assemblyFormat = "`<` `dim` `=` $dim `,` `size` `=` $size `,` $parent `>`";
  let genVerifyDecl = 1;
}

def Tile_SwizzledLDSAttr : Tile_Attr<"SwizzledLDS", "swizzled_lds"> {
  let summary = "workgroup memory whose addresses are XORed";
  let description = [{
    The memory space of a buffer in workgroup memory. Indices give a byte of the
    buffer by its strides, as everywhere; that byte lies where bit `base` + i of
    its address is XORed with bit `from`[i], which is above all those that change.
    Rows whose starts share a bank get apart, without padding between them.

    Views begin at multiples of the period, twice the highest of those bits; they
    are moved alike. Rows of 64 bytes, of which no eight neighbours may meet in a
    bank:

    ```mlir
    memref<64x32xbf16, #evo_tile.swizzled_lds<base = 4, from = [7, 8]>>
    ```

    With `panels = [low, pieces, rows]` the 2^pieces pieces of a row, told by the
    bits of its address from `low` on, first get apart: the first of all 2^rows
    rows, then the second of all. `from` counts bits after that. Instructions that
    read matrices from workgroup memory want rows of at most 128 bytes; here are
    two of them for each of 64 rows:

    ```mlir
    memref<64x128xbf16, #evo_tile.swizzled_lds<base = 4, from = [7, 8, 9], panels = [7, 1, 6]>>
    ```
  }];
  let parameters = (ins "int64_t":$base, ArrayRefParameter<"int64_t">:$from,
                        OptionalArrayRefParameter<"int64_t">:$panels);
  let assemblyFormat = "`<` `base` `=` $base `,` `from` `=` `[` $from `]` (`,` `panels` `=` `[` $panels^ `]`)? `>`";
  let genVerifyDecl = 1;
}

#endif
