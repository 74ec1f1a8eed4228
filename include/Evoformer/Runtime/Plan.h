//===- Plan.h - The launch plan -------------------------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A launch plan is the host function around a module's kernels, op by op, with
// the kernels' machine code. Its JSON form is described in docs/launch-plan.md;
// here is its decoded form.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_RUNTIME_PLAN_H
#define EVOFORMER_RUNTIME_PLAN_H

#include "Evoformer/Runtime/Device.h"
#include "Evoformer/Runtime/ElementType.h"
#include <optional>
#include <vector>

namespace mlir::evoformer::runtime {

/// What the JSON's top-level `version` must say.
constexpr int64_t planVersion = 1;

/// The ops of a plan's program, by the names they have in MLIR.
enum class PlanOpcode {
#define EVOFORMER_PLAN_OP(ENUM, NAME) ENUM,
#include "Evoformer/Runtime/PlanOps.def"
};

/// The name in MLIR: `arith.addi`.
llvm::StringRef getName(PlanOpcode code);
std::optional<PlanOpcode> parsePlanOpcode(llvm::StringRef name);

/// Marks a size, stride or offset that is known at run time only.
constexpr int64_t dynamicExtent = INT64_MIN;

/// The type of a value: an integer (index is a 64-bit one), a float or a
/// memref.
struct PlanType {
  enum class Kind { Integer, Float, MemRef };
  Kind kind = Kind::Integer;
  /// Integers and floats.
  unsigned width = 64;
  /// Memrefs. `strides` and `offset` may be dynamic like `shape`.
  ElementType elementType = ElementType::F32;
  llvm::SmallVector<int64_t> shape, strides;
  int64_t offset = 0;

  int64_t getRank() const { return shape.size(); }
};

using ValueId = uint32_t;

/// A number known when compiling, or a value of the program.
struct PlanIndex {
  std::optional<ValueId> value;
  int64_t constant = 0;
};

/// One op. Which of the later fields mean something depends on the opcode.
struct PlanOp {
  PlanOpcode code;
  llvm::SmallVector<ValueId, 4> operands, results;
  /// The operation's type: of a comparison or cast the operands', otherwise the
  /// result's; `resultType` is that of a cast's result.
  PlanType type, resultType;
  /// Constants: the bits. Comparisons: the predicate's number in MLIR.
  int64_t integer = 0;
  /// subview, reinterpret_cast, alloc (sizes only).
  llvm::SmallVector<PlanIndex, 6> offsets, sizes, strides;
  /// transpose: the permutation; subview: the dropped dimensions; launch: of
  /// each operand a memref's rank or minus a scalar's width.
  llvm::SmallVector<int64_t, 6> dimensions;
  /// launch: the extents of the space.
  llvm::SmallVector<ValueId, 6> space;
  /// launch: whether the kernel takes them after its arguments.
  bool passesExtents = true;
  /// launch: the kernel's number.
  unsigned kernel = 0;
  /// cf.assert: the message.
  std::string message;
  /// scf.if; the body of scf.for is `thenBody`.
  std::vector<PlanOp> thenBody, elseBody;
  /// scf.for: the counter, and what a trip hands on to the next.
  llvm::SmallVector<ValueId, 2> loopArguments;
};

struct PlanArgument {
  std::string name;
  ValueId value = 0;
  PlanType type;
  /// Memrefs: where any launch takes it, every element is written and none is
  /// read before. What is in it until then does not count.
  bool isOverwritten = false;
};

struct PlanFunction {
  std::string name;
  std::vector<PlanArgument> arguments;
  /// Ends with func.return.
  std::vector<PlanOp> body;
  unsigned numValues = 0;
};

struct Plan {
  std::vector<PlanFunction> functions;
  std::vector<KernelInfo> kernels;

  const PlanFunction *lookup(llvm::StringRef name) const;
};

/// Decodes a plan. Files that it names are relative to `folder`. Every value
/// is checked to be defined before its use, and to have the right kind.
llvm::Expected<Plan> parsePlan(llvm::StringRef json, llvm::StringRef folder);
llvm::Expected<Plan> decodePlan(const llvm::json::Value &json,
                                llvm::StringRef folder);

/// Reads a file; errors name it.
llvm::Expected<Plan> readPlan(llvm::StringRef path);

} // namespace mlir::evoformer::runtime

#endif // EVOFORMER_RUNTIME_PLAN_H
