//===- AssemblyText.h - Pieces of an assembly text -------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_TARGET_SERIALIZATION_ASSEMBLYTEXT_H
#define EVOFORMER_LIB_TARGET_SERIALIZATION_ASSEMBLYTEXT_H

#include "Evoformer/Target/KernelReport.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::evoformer {

/// One instruction; `operands` as written.
struct AssemblyInstruction {
  llvm::StringRef mnemonic, operands;
};

/// Instructions up to a label or after a jump; `label` may be empty.
struct AssemblyBlock {
  llvm::StringRef label;
  llvm::SmallVector<AssemblyInstruction> instructions;
};

/// What the listings of two assemblers differ in.
struct AssemblySyntax {
  llvm::StringRef comment;
  /// A line that is no instruction, e.g. a directive.
  bool (*isSkipped)(llvm::StringRef line);
  /// The label that an instruction may jump to, or empty.
  llvm::StringRef (*getBranch)(const AssemblyInstruction &);
  /// Whether control never goes on to the next instruction.
  bool (*isEnd)(const AssemblyInstruction &);
  /// Whether it is a jump over what lanes do, taken where none of them does it.
  bool (*skipsLanes)(const AssemblyInstruction &);
  /// Adds an instruction to the counts.
  void (*count)(const AssemblyInstruction &, InstructionCounts &);
};

/// Splits the lines of one function into blocks.
llvm::SmallVector<AssemblyBlock> parseBlocks(llvm::StringRef body,
                                             const AssemblySyntax &syntax);

/// The blocks that may follow each one.
llvm::SmallVector<llvm::SmallVector<unsigned, 2>>
getSuccessors(llvm::ArrayRef<AssemblyBlock> blocks,
              const AssemblySyntax &syntax);

const AssemblySyntax &getAMDSyntax();

/// The lines of a function in AMD's listing; empty where there is none.
llvm::StringRef getAMDFunction(llvm::StringRef assembly, llvm::StringRef name);

/// Whether AMD's instruction of that name reads or writes LDS and nothing else.
bool isLDSAccess(llvm::StringRef mnemonic);

/// Counts a function's instructions and those of its hot loop.
void countFunction(llvm::StringRef body, const AssemblySyntax &syntax,
                   KernelReport &report);

/// Adds one instruction of a class to the counts, with its width in bytes
/// where it accesses memory.
void addInstruction(InstructionCounts &counts, InstructionClass kind,
                    unsigned width = 0);

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_TARGET_SERIALIZATION_ASSEMBLYTEXT_H
