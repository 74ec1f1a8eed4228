//===- ProgramReader.h - Decoding a plan's functions ------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_RUNTIME_PROGRAMREADER_H
#define EVOFORMER_LIB_RUNTIME_PROGRAMREADER_H

#include "JSONReader.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::evoformer::runtime {

/// Decodes one function. What it accepts, the interpreter can run without
/// further checks of kinds, counts or definedness: every operand is defined in
/// an enclosing region before its use and has the kind that the op takes.
class ProgramReader {
public:
  ProgramReader(JSONReader &reader, llvm::ArrayRef<KernelInfo> kernels,
                const llvm::StringMap<unsigned> &kernelNumbers)
      : reader(reader), kernels(kernels), kernelNumbers(kernelNumbers) {}

  PlanFunction read(const llvm::json::Object &object);

private:
  using Object = llvm::json::Object;
  using Kind = PlanType::Kind;

  std::vector<PlanOp> readBody(const llvm::json::Array &array, unsigned depth,
                               PlanOpcode terminator,
                               llvm::ArrayRef<PlanType> yielded);
  PlanOp readOp(const Object &object, unsigned depth);
  void readArith(PlanOp &op, const Object &object);
  void readMemRef(PlanOp &op, const Object &object);
  void readView(PlanOp &op, const Object &object);
  void readLaunch(PlanOp &op, const Object &object);
  void readIf(PlanOp &op, const Object &object, unsigned depth);
  void readFor(PlanOp &op, const Object &object, unsigned depth);
  llvm::SmallVector<PlanType> readResultTypes(const Object &object);

  void define(ValueId id, const PlanType &type);
  /// What a region defines is unknown outside of it.
  void dropFrom(size_t firstOwn);
  /// Takes `count` operands out of the op's list, or fails.
  bool expectOperands(const PlanOp &op, size_t count);
  void expectType(ValueId id, const PlanType &type);
  void expectKind(ValueId id, Kind kind);
  void expectIndex(ValueId id);
  ValueId readUse(const llvm::json::Value &value);
  llvm::SmallVector<PlanIndex, 6>
  readIndices(const Object &object, llvm::StringRef key, size_t count);
  void setResults(PlanOp &op, llvm::ArrayRef<PlanType> types);

  JSONReader &reader;
  llvm::ArrayRef<KernelInfo> kernels;
  const llvm::StringMap<unsigned> &kernelNumbers;
  std::string functionName;
  unsigned opNumber = 0;
  std::vector<std::optional<PlanType>> types;
  /// The values defined so far, in order: regions drop theirs at their end.
  std::vector<ValueId> defined;
};

} // namespace mlir::evoformer::runtime

#endif // EVOFORMER_LIB_RUNTIME_PROGRAMREADER_H
