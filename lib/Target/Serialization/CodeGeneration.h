//===- CodeGeneration.h - LLVM, assemblers and linkers ----------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_TARGET_SERIALIZATION_CODEGENERATION_H
#define EVOFORMER_LIB_TARGET_SERIALIZATION_CODEGENERATION_H

#include "Evoformer/Dialect/Tile/IR/Tile.h"
#include "Evoformer/Target/Serialize.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringSet.h"

namespace llvm {
class LLVMContext;
class Module;
class Pass;
class TargetMachine;
} // namespace llvm

namespace mlir::evoformer {

/// Makes LLVM's code generators for GPUs known to its registry.
void initializeCodeGenerators();

/// LLVM's optimizer and code generator for one target. What they complain of
/// is diagnosed at the location given.
class CodeGenerator {
public:
  static FailureOr<std::unique_ptr<CodeGenerator>>
  create(tile::TargetAttr target, unsigned optimization, Location loc);
  ~CodeGenerator();

  LogicalResult optimize(llvm::Module &module);

  /// The assembly of an optimized module, which is left as it is; without the
  /// functions that `leftOut` names.
  FailureOr<std::string> emit(const llvm::Module &module,
                              const llvm::StringSet<> &leftOut = {});

private:
  CodeGenerator(unsigned optimization, Location loc);
  LogicalResult run(llvm::LLVMContext &context,
                    llvm::function_ref<void()> function);

  std::unique_ptr<llvm::TargetMachine> machine;
  unsigned optimization;
  Location loc;
};

/// Lets what AMD kernels rarely run take few registers: it computes addresses
/// anew, and loads late.
void economizeRareWork(llvm::Module &module);

/// Has AMD's WMMA instructions stay where all lanes take part in them. No pass
/// that moves instructions of the IR may follow.
void keepWavesWhole(llvm::Module &module);

/// A pass of machine code, to be run behind the one that spills AMD's scalar
/// registers: what it leaves unused takes no scratch memory.
llvm::Pass *createUnusedSlotsPass();

/// Writes the ISA text of an optimized module and the reports on its kernels.
/// Where a kernel turns out to spill, to drain its loads in the hot loop or to
/// run as a lone wave, other choices of LLVM's scheduler are tried, except for
/// the kernels named in `pinned`.
LogicalResult generateTunedISA(CodeGenerator &generator, llvm::Module &code,
                               tile::TargetAttr target, CompiledKernels &result,
                               ArrayRef<std::string> pinned, Location loc);

/// Fails where ISA text has a barrier that a kernel may reach while an access
/// to LDS is under way.
LogicalResult checkBarrierWaits(StringRef isa, ArrayRef<KernelReport> kernels,
                                Location loc);

/// Assembles and links ISA text to a code object (HSACO).
FailureOr<std::string> linkCodeObject(StringRef isa, tile::TargetAttr target,
                                      Location loc);

/// Fills in what the ISA text says of its kernels, by their names.
LogicalResult readAMDMetadata(StringRef isa,
                              MutableArrayRef<KernelReport> kernels,
                              Location loc);

/// Runs ptxas and fills in what it says of the kernels. `chip` is the chip of
/// the cubin.
FailureOr<std::string> assemblePTX(StringRef ptx, StringRef chip,
                                   tile::TargetAttr target,
                                   MutableArrayRef<KernelReport> kernels,
                                   Location loc);

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_TARGET_SERIALIZATION_CODEGENERATION_H
