//===- TargetEntries.td - What a chip may say of itself ----*- tablegen -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The lists below are the only place that names an entry of a target's
// dictionaries: what the verifier accepts and says, the accessors and the
// reference page come from them.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_DIALECT_TILE_IR_TARGETENTRIES_TD
#define EVOFORMER_DIALECT_TILE_IR_TARGETENTRIES_TD

// An entry: its accessor, which gives `fallback` where the entry is absent; its
// type as messages and the reference write it; and when an attribute `value` is
// valid.
class Tile_TargetEntry<string entryKey, string result, string accessor,
                       string fallback, string type, string isValid,
                       string doc> {
  string key = entryKey;
  // Of the class; DICTIONARY stands for the parameter that holds the entry.
  string method = "/// " # doc # "\n" # result # " " # accessor
      # "() const {\n  return readEntry(getDICTIONARY(), \"" # key # "\", "
      # result # "(" # fallback # "));\n}\n";
  string descriptor = "{\"" # key # "\", \"" # type
      # "\", [](::mlir::Attribute value) { return " # isValid # "; }},\n";
  string row = "\n    | `" # key # "` | " # type # " | " # doc # " |";
}

class Tile_TargetFlag<string key, string accessor, string doc>
    : Tile_TargetEntry<key, "bool", accessor, "false", "unit", "isFlag(value)",
                       doc>;

class Tile_TargetIntrinsic<string key, string accessor, string doc>
    : Tile_TargetEntry<key, "::llvm::StringRef", accessor, "",
                       "string with the name of an LLVM intrinsic",
                       "isIntrinsic(value)", doc>;

class Tile_TargetChip<string key, string accessor, string fallback, string doc>
    : Tile_TargetEntry<key, "::llvm::StringRef", accessor, fallback,
                       "string with the name of a chip", "isName(value)", doc>;

class Tile_TargetNumber<string key, string accessor, string fallback,
                        list<int> accepted, string doc>
    : Tile_TargetEntry<key, "int64_t", accessor, fallback,
                       "i64, one of " # !interleave(accepted, ", "),
                       "isOneOf(value, {" # !interleave(accepted, ", ") # "})",
                       doc>;

class Tile_TargetCount<string key, string accessor, string fallback, int most,
                       string doc>
    : Tile_TargetEntry<key, "int64_t", accessor, fallback,
                       "i64 from 1 to " # most, "isCount(value, " # most # ")",
                       doc>;

// A row of facts, an attribute of the dialect.
class Tile_TargetRow<string key, string cppType, string accessor, string type,
                     string doc>
    : Tile_TargetEntry<key, cppType, accessor, "", type,
                       "::llvm::isa<" # cppType # ">(value)", doc>;

// All of a dictionary.
class Tile_TargetEntries<string getter, list<Tile_TargetEntry> entries> {
  string methods = !subst("DICTIONARY", getter,
      !foldl("", entries, text, entry, text # entry.method));
  string descriptors = !foldl("", entries, text, entry, text # entry.descriptor);
  string rows = "\n\n    | key | type | meaning |\n    |---|---|---|"
      # !foldl("", entries, text, entry, text # entry.row);
}

// What the hardware and its code generator can do.
defvar Tile_TargetProperties = Tile_TargetEntries<"Properties", [
  Tile_TargetCount<"buffer_resources", "getBufferResources", "0", 0x7fffffff,
    "the last word of the resource of a raw buffer, whose reads behind its end give 0 and whose writes there do nothing; absent: global memory is accessed by pointers only">,
  Tile_TargetFlag<"carry_conditions", "hasCarryConditions",
    "an addition also sets a condition of each lane: whether it carries out">,
  Tile_TargetChip<"code_chip", "getCodeChip", "getChip()",
    "the chip that the code generator is told, whose code runs on this one as well; absent: this one">,
  Tile_TargetRow<"copy_engine", "::mlir::evoformer::tile::CopyEngineAttr", "getCopyEngine",
    "#evo_tile.copy_engine",
    "what copies from global memory to LDS beside compute; absent: copies pass through registers">,
  Tile_TargetFlag<"early_starts", "hasEarlyStarts",
    "workgroups of a kernel may start while the kernel before it in a stream ends, and wait for its memory themselves">,
  Tile_TargetFlag<"flushes_subnormals", "flushesSubnormals",
    "matrix instructions take operands of 16 bits below the smallest normal number for 0">,
  Tile_TargetRow<"group_matrix", "::mlir::ArrayAttr", "getGroupMatrix",
    "array of #evo_tile.group_matrix_instr",
    "matrix instructions that several subgroups execute together, with operands in LDS">,
  Tile_TargetFlag<"ldmatrix", "hasLdmatrix",
    "8x8 16-bit matrix reads from LDS, plain and transposed">,
  Tile_TargetFlag<"lds_barrier", "hasLDSBarrier",
    "a barrier that waits for LDS but not for global memory">,
  Tile_TargetCount<"lds_reserved", "getLDSReserved", "0", 0x40000000,
    "LDS bytes that each resident workgroup takes besides its own; a processor has `lds_bytes` and these for one">,
  Tile_TargetFlag<"lds_transpose", "hasLDSTranspose",
    "4x16 16-bit matrix reads from LDS across their rows">,
  Tile_TargetCount<"max_lds_static", "getMaxLDSStatic", "getLdsBytes()", 0x40000000,
    "LDS bytes that a kernel may declare statically; absent: all of `lds_bytes`">,
  Tile_TargetFlag<"native_bf16_convert", "hasNativeBF16Convert",
    "hardware f32 to bf16 rounding">,
  Tile_TargetFlag<"packed_f32", "hasPackedF32",
    "two f32 operations an instruction">,
  Tile_TargetFlag<"packed_i16", "hasPackedI16",
    "two operations on integers of 16 bits an instruction, saturating ones among them">,
  Tile_TargetFlag<"permlane_x16", "hasPermlaneX16",
    "lane exchange between half waves of 16 without LDS">,
  Tile_TargetRow<"rates", "::mlir::evoformer::tile::UnitRatesAttr", "getRates",
    "#evo_tile.unit_rates",
    "how long units take for an instruction, from which reports model cycles; absent: they model none">,
  Tile_TargetCount<"registers_per_processor", "getRegistersPerProcessor", "0", 0x40000000,
    "registers that resident workgroups share; where given, schedules choose how many workgroups are resident, and kernels with `evo_tile.where` ask for those that their usual part allows">,
  Tile_TargetFlag<"rounds_products", "roundsProducts",
    "an instruction rounds the product of two f32 to f16, and none rounds two f32">,
  Tile_TargetFlag<"sched_barrier", "hasSchedBarrier",
    "the code generator's scheduler takes fences">,
  Tile_TargetFlag<"tensor_maps", "hasTensorMaps",
    "one lane copies boxes of up to five dimensions to LDS, from memory that the launch describes, beside the `copy_engine`">,
  Tile_TargetFlag<"unaligned_access", "hasUnalignedAccess",
    "wide global accesses need only the element's alignment">,
  Tile_TargetIntrinsic<"uniform", "getUniform",
    "makes an i32 known to be uniform over a subgroup">,
  Tile_TargetFlag<"uniform_registers", "hasUniformRegisters",
    "a subgroup has registers of its own beside its lanes', in which the code generator keeps sums and products of what all lanes know or have read from one of them, but no quotients">
]>;

// What schedules should aim at, as measured or estimated: nothing is wrong with
// other numbers, but slower.
defvar Tile_TargetTuning = Tile_TargetEntries<"Tuning", [
  Tile_TargetCount<"enough_lanes", "getEnoughLanes", "1", 0x100000,
    "for targets with `registers_per_processor`: lanes on a processor that hide the latencies of memory; more gain less than the registers that they cost">,
  Tile_TargetCount<"group_depth", "getGroupDepth", "0x100000", 0x100000,
    "depth of operands from which on loops use `group_matrix`; absent: never. Of smaller products a subgroup does more while it would wait">,
  Tile_TargetFlag<"indexed_exchange", "hasIndexedExchange",
    "words that lanes read from another one by its number take an instruction that the vector unit has no part in, which spares it an exchange and a choice">,
  Tile_TargetCount<"latency_lanes", "getLatencyLanes", "getEnoughLanes()", 0x100000,
    "the same for loops that read all of their operands anew in each step, where registers save no reads; absent: `enough_lanes`">,
  Tile_TargetCount<"memory_sum_items", "getMemorySumItems", "0", 0x100000,
    "for subgroups of one lane with caches: work items from which on a kernel should rather sum in memory, in copies that only it writes, than have another kernel compute the terms again; absent: never">,
  Tile_TargetCount<"most_subgroups", "getMostSubgroups", "4", 1024,
    "subgroups of a workgroup up to which it may grow to share what it copies (default 4)">,
  Tile_TargetCount<"operand_reuse", "getOperandReuse", "2", 0x100000,
    "atoms of a work item's own rows that should share one fragment of the other operand (default 2); fewer leave registers for more subgroups">,
  Tile_TargetCount<"operand_reuse_crowded", "getOperandReuseCrowded", "1", 0x100000,
    "the same in kernels of three and more products a step, whose operands and sums crowd the registers (default 1)">,
  Tile_TargetCount<"processors", "getProcessors", "0", 0x10000,
    "processors of the usual chip: sums are cut, and slabs taken, so that the workgroups that all of them hold at once take turns of which the last is almost full, and kernels are made for few items and for rows of few queries; absent: by `work_items` alone">,
  Tile_TargetCount<"shared_vector_bytes", "getSharedVectorBytes", "32", 0x100000,
    "bytes of a row vector in a lane from which on a loop copies it to workgroup memory with its tiles, where all subgroups read the same (default 32); of fewer, each lane loads its own">,
  Tile_TargetCount<"widening_rows", "getWideningRows", "0", 0x100000,
    "rows from which on a bias of 16 bits that they share is widened to f32 once for all of them, forward and in the query's gradient; absent: never">,
  Tile_TargetCount<"work_items", "getWorkItems", "1024", 0x100000,
    "work items that fill the largest device (default 1024): long sums of fewer are cut into parts">
]>;

#endif
