//===- KernelReport.h - What a kernel became --------------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Registers, memory, occupancy and the instructions of the hot loop, read from
// the code generator's own output.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_TARGET_KERNELREPORT_H
#define EVOFORMER_TARGET_KERNELREPORT_H

#include "Evoformer/Target/CycleModel.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace mlir::evoformer {

/// What an instruction keeps busy.
enum class InstructionClass {
  Matrix,
  Transcendental, // 2^x, log2, 1/x and the like
  Packed,         // two f32 (or two halves of a dual issue) in one
  Vector,         // all other arithmetic of lanes
  Exchange,       // between lanes
  LDSRead,
  LDSWrite,
  GlobalRead,
  GlobalWrite,
  AsyncCopy, // global memory to LDS without a register
  ScratchRead,
  ScratchWrite,
  Scalar,
  ScalarMemory,
  Wait,
  Barrier,
  Branch,
};
inline constexpr unsigned kNumInstructionClasses =
    unsigned(InstructionClass::Branch) + 1;

/// `matrix`, `transcendental`, `lds_read`, …
llvm::StringRef stringifyInstructionClass(InstructionClass kind);

struct InstructionCounts {
  std::array<int64_t, kNumInstructionClasses> byClass = {};
  /// Of the memory classes: how many of each width in bytes a lane.
  std::array<std::map<unsigned, int64_t>, kNumInstructionClasses> byWidth;
  /// Matrix instructions by their mnemonics.
  std::map<std::string, int64_t> matrixByName;
  /// Of the vector instructions, products of integers of 32 bits; of the
  /// exchanges, those through the wires of LDS.
  int64_t integerProducts = 0, ldsExchanges = 0;
  /// Waits for all outstanding global loads or asynchronous copies.
  int64_t drainingWaits = 0;

  int64_t get(InstructionClass kind) const { return byClass[unsigned(kind)]; }
  /// Multiplications and additions of the matrix instructions.
  int64_t getMatrixWork() const;
  int64_t getTotal() const;
  /// Accesses to global memory or LDS of at most two bytes a lane.
  int64_t getNarrowAccesses() const;
};

struct KernelReport {
  std::string name;
  std::string chip;

  /// Lanes of a workgroup, 0 where the kernel does not say.
  int64_t threads = 0;
  int64_t subgroupSize = 0;

  /// Absent where only an assembler that was not run knows.
  std::optional<int64_t> vectorRegisters, accumulatorRegisters, scalarRegisters,
      spilledRegisters, spillBytes, scratchBytes, codeBytes;
  int64_t staticLDSBytes = 0, dynamicLDSBytes = 0;

  /// Subgroups that fit on one SIMD (AMD) or multiprocessor (NVIDIA).
  std::optional<int64_t> occupancy;
  std::string occupancyUnit;

  /// All instructions, and those of one pass through the hot loop: of the
  /// innermost loops that with the most work of matrix instructions, then the
  /// most instructions.
  InstructionCounts whole;
  std::optional<InstructionCounts> hotLoop;
  /// Of the hot loop, the shortest way through a pass: without work for cases
  /// that are rare. And the shortest way from the kernel's start to the loop
  /// and from there to its end.
  std::optional<InstructionCounts> steadyPass, outside;

  /// Modelled cycles of a processor for a subgroup's steady pass and for what
  /// is outside of the loop; empty where the target has no rates.
  UnitCycles passCycles, outsideCycles;
  /// Logits of a subgroup's steady pass: its exponentials. With a score that
  /// has exponentials of its own they are fewer.
  int64_t getPassLogits() const;

  /// What one pass through the hot loop needs at least, from the kernel's
  /// attribute `evo_tile.ideal_loop`; an unrolled loop holds a multiple.
  std::optional<int64_t> idealMatrix, idealTranscendental;
  /// Stages of the hot loop, from the same attribute: with one, it has no
  /// copies that a wait could leave under way.
  std::optional<int64_t> stages;
  /// Of the kernel's schedule: rows n, rows of the side that a work item owns,
  /// and those of a step of the other one; and how many workgroups are to be on
  /// a processor, 0 where the code generator chooses.
  std::vector<int64_t> block;
  int64_t resident = 0;
  /// That a lane needs, by the estimate that the schedule was chosen by.
  std::optional<int64_t> estimatedRegisters;

  /// What a reader should look at, as sentences.
  std::vector<std::string> getFindings() const;

  llvm::json::Object toJSON() const;
  void print(llvm::raw_ostream &os) const;
};

/// Rows, columns and depth of a matrix instruction from its mnemonic, which has
/// them as 32x32x8 or m16n8k16.
std::optional<std::array<int64_t, 3>>
parseMatrixExtents(llvm::StringRef mnemonic);

/// Reads counts of a kernel from assembly: ISA text of AMD, or PTX.
void countAMDInstructions(llvm::StringRef assembly, KernelReport &report);
void countPTXInstructions(llvm::StringRef assembly, KernelReport &report);

} // namespace mlir::evoformer

#endif // EVOFORMER_TARGET_KERNELREPORT_H
