//===- Interpreter.cpp - Running a launch plan's program ------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Runtime/Interpreter.h"
#include "Arithmetic.h"
#include "LentMemory.h"
#include "Views.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace mlir::evoformer::runtime {

/// A trip launches something: more of them are a mistake, and would look like
/// a hang.
static constexpr uint64_t maxTrips = uint64_t(1) << 20;

namespace {
class Interpreter {
public:
  Interpreter(const Plan &plan, const PlanFunction &function,
              Workspace &workspace, LaunchHandler &launch,
              LentMemory *follower = nullptr)
      : plan(plan), function(function), values(function.numValues),
        workspace(workspace), launchHandler(launch), follower(follower) {}

  Error run(ArrayRef<HostValue> arguments);
  std::vector<HostValue> takeResults() { return std::move(results); }

private:
  Error bind(const PlanArgument &argument, const HostValue &value);
  Error run(ArrayRef<PlanOp> body);
  Error runOp(const PlanOp &op);
  Error runLaunch(const PlanOp &op);
  Error runFor(const PlanOp &op);
  Error runAlloc(const PlanOp &op);
  Error runScalar(const PlanOp &op);
  int64_t evaluate(const PlanIndex &index) const {
    return index.value ? values[*index.value].bits : index.constant;
  }
  SmallVector<int64_t, 6> evaluate(ArrayRef<PlanIndex> indices) const {
    return map_to_vector<6>(indices,
                            [&](const PlanIndex &i) { return evaluate(i); });
  }

  const Plan &plan;
  const PlanFunction &function;
  std::vector<HostValue> values;
  Workspace &workspace;
  LaunchHandler &launchHandler;
  /// Told of buffers and launches; may be null.
  LentMemory *follower;
  /// What the terminator that ran last hands out.
  std::vector<HostValue> results;
  uint64_t tripsDone = 0;
};
} // namespace

Error Interpreter::bind(const PlanArgument &argument, const HostValue &value) {
  HostValue &slot = values[argument.value];
  slot = value;
  if (argument.type.kind == PlanType::Kind::Integer)
    slot.bits = normalizeInteger(value.bits, argument.type.width);
  if (argument.type.kind == PlanType::Kind::MemRef)
    if (Error error = checkDescriptor(argument.type, value.memref))
      return createStringError("argument '" + argument.name +
                               "': " + toString(std::move(error)));
  return Error::success();
}

Error Interpreter::run(ArrayRef<HostValue> arguments) {
  for (auto [argument, value] : zip_equal(function.arguments, arguments))
    if (Error error = bind(argument, value))
      return error;
  if (Error error = run(function.body))
    return createStringError("function '" + function.name +
                             "': " + toString(std::move(error)));
  return Error::success();
}

Error Interpreter::run(ArrayRef<PlanOp> body) {
  for (const PlanOp &op : body)
    if (Error error = runOp(op))
      return error;
  return Error::success();
}

Error Interpreter::runOp(const PlanOp &op) {
  auto operand = [&](unsigned i) -> HostValue & {
    return values[op.operands[i]];
  };
  auto result = [&]() -> HostValue & { return values[op.results[0]]; };

  switch (op.code) {
  case PlanOpcode::Dim: {
    ArrayRef<int64_t> sizes = operand(0).memref.sizes;
    int64_t dim = operand(1).bits;
    if (dim < 0 || dim >= static_cast<int64_t>(sizes.size()))
      return createStringError("memref.dim of dimension " + Twine(dim) +
                               " of a memref of rank " + Twine(sizes.size()));
    result().bits = sizes[dim];
    return Error::success();
  }
  case PlanOpcode::ExtractAlignedPointer:
    result().bits = operand(0).memref.aligned;
    return Error::success();
  case PlanOpcode::ExtractStridedMetadata: {
    MemRefDescriptor source = operand(0).memref;
    result().memref = {source.allocated, source.aligned, 0, {}, {}};
    SmallVector<int64_t> numbers{source.offset};
    append_range(numbers, source.sizes);
    append_range(numbers, source.strides);
    for (auto [id, number] :
         zip_equal(ArrayRef(op.results).drop_front(), numbers))
      values[id].bits = number;
    return Error::success();
  }
  case PlanOpcode::Alloc:
    return runAlloc(op);
  case PlanOpcode::Dealloc:
    if (Error error = workspace.release(operand(0).memref.allocated))
      return error;
    if (follower)
      follower->release(operand(0).memref.allocated);
    return Error::success();
  case PlanOpcode::SubView:
  case PlanOpcode::ReinterpretCast:
  case PlanOpcode::MemRefCast:
  case PlanOpcode::Transpose: {
    Expected<MemRefDescriptor> view =
        computeView(op, operand(0).memref, evaluate(op.offsets),
                    evaluate(op.sizes), evaluate(op.strides));
    if (!view)
      return view.takeError();
    result().memref = std::move(*view);
    return Error::success();
  }
  case PlanOpcode::If: {
    if (Error error = run(operand(0).bits ? op.thenBody : op.elseBody))
      return error;
    for (auto [id, value] : zip_equal(op.results, results))
      values[id] = value;
    return Error::success();
  }
  case PlanOpcode::For:
    return runFor(op);
  case PlanOpcode::Yield:
  case PlanOpcode::Return: {
    results.clear();
    for (ValueId id : op.operands)
      results.push_back(values[id]);
    return Error::success();
  }
  case PlanOpcode::Assert:
    if (operand(0).bits)
      return Error::success();
    return createStringError(op.message);
  case PlanOpcode::Launch:
    return runLaunch(op);
  case PlanOpcode::Select: {
    HostValue chosen = operand(0).bits ? operand(1) : operand(2);
    result() = std::move(chosen);
    return Error::success();
  }
  default:
    return runScalar(op);
  }
}

Error Interpreter::runFor(const PlanOp &op) {
  int64_t begin = values[op.operands[0]].bits;
  int64_t end = values[op.operands[1]].bits;
  int64_t step = values[op.operands[2]].bits;
  if (step <= 0)
    return createStringError("scf.for with a step of " + Twine(step) +
                             ", which is not positive");
  uint64_t trips =
      begin < end ? (uint64_t(end) - uint64_t(begin) - 1) / uint64_t(step) + 1
                  : 0;
  std::vector<HostValue> carried;
  for (ValueId id : ArrayRef(op.operands).drop_front(3))
    carried.push_back(values[id]);
  for (uint64_t trip = 0; trip < trips; ++trip) {
    if (++tripsDone > maxTrips)
      return createStringError("all loops of a run together have at most " +
                               Twine(maxTrips) + " trips");
    values[op.loopArguments.front()].bits =
        static_cast<int64_t>(uint64_t(begin) + trip * uint64_t(step));
    for (auto [id, value] :
         zip_equal(ArrayRef(op.loopArguments).drop_front(), carried))
      values[id] = value;
    if (Error error = run(op.thenBody))
      return error;
    carried = results;
  }
  for (auto [id, value] : zip_equal(op.results, carried))
    values[id] = value;
  return Error::success();
}

Error Interpreter::runScalar(const PlanOp &op) {
  int64_t &result = values[op.results[0]].bits;
  if (op.code == PlanOpcode::Constant) {
    result = op.type.kind == PlanType::Kind::Integer
                 ? normalizeInteger(op.integer, op.type.width)
                 : op.integer;
    return Error::success();
  }
  SmallVector<int64_t, 2> operands;
  for (ValueId id : op.operands)
    operands.push_back(values[id].bits);
  Expected<int64_t> value = evaluateArith(op, operands);
  if (!value)
    return value.takeError();
  result = *value;
  return Error::success();
}

Error Interpreter::runAlloc(const PlanOp &op) {
  SmallVector<int64_t, 6> sizes = evaluate(op.sizes);
  std::optional<int64_t> bytes = getByteCount(op.type.elementType, sizes);
  if (!bytes)
    return createStringError("memref.alloc of an impossible size " +
                             formatShape(op.type.elementType, sizes));
  Expected<uint64_t> address = workspace.allocate(*bytes);
  if (!address)
    return address.takeError();
  if (follower)
    follower->allocate(*address, *bytes);
  MemRefDescriptor &memref = values[op.results[0]].memref;
  memref = {*address, *address, 0, sizes, rowMajorStrides(sizes)};
  return checkDescriptor(op.type, memref);
}

Error Interpreter::runLaunch(const PlanOp &op) {
  const KernelInfo &kernel = plan.kernels[op.kernel];
  SmallVector<LaunchArgument, 32> arguments;
  SmallVector<const MemRefDescriptor *> memrefs;
  auto append = [&](uint64_t bits) {
    arguments.push_back({bits, kernel.argumentBytes[arguments.size()]});
  };
  // Reading the plan has checked that each operand expands to what the kernel
  // takes: a scalar to one argument, a memref of rank r to 3 + 2 r.
  for (auto [id, rank] : zip_equal(op.operands, op.dimensions)) {
    const HostValue &value = values[id];
    const MemRefDescriptor &memref = value.memref;
    if (rank < 0) {
      // An i1 is passed as 0 or 1.
      append(rank == -1 ? value.bits & 1 : value.bits);
      continue;
    }
    memrefs.push_back(&memref);
    append(memref.allocated);
    append(memref.aligned);
    append(memref.offset);
    for (int64_t size : memref.sizes)
      append(size);
    for (int64_t stride : memref.strides)
      append(stride);
  }
  int64_t workItems = 1;
  bool isEmpty = false, overflows = false;
  for (ValueId id : op.space) {
    int64_t extent = values[id].bits;
    if (op.passesExtents)
      append(extent);
    if (extent < 0)
      return createStringError("the space of kernel '" + kernel.name +
                               "' has a negative extent");
    isEmpty |= extent == 0;
    overflows |=
        MulOverflow(workItems, std::max<int64_t>(extent, 1), workItems) != 0;
  }
  if (isEmpty)
    return Error::success();
  if (overflows)
    return createStringError("the space of kernel '" + kernel.name +
                             "' has too many work items");
  if (follower)
    follower->launch(memrefs);
  return launchHandler(op.kernel, workItems, arguments);
}

/// Launches nothing.
static Error skip(unsigned, uint64_t, ArrayRef<LaunchArgument>) {
  return Error::success();
}

Expected<std::vector<HostValue>> interpret(const Plan &plan,
                                           const PlanFunction &function,
                                           ArrayRef<HostValue> arguments,
                                           Workspace &workspace,
                                           LaunchHandler launch) {
  if (arguments.size() != function.arguments.size())
    return createStringError("function '" + function.name + "' takes " +
                             Twine(function.arguments.size()) +
                             " arguments, not " + Twine(arguments.size()));
  LentMemory lent(function, arguments);
  if (!lent.isEmpty()) {
    Workspace imaginary = Workspace::unlimited();
    LaunchHandler none = skip;
    if (Error error =
            Interpreter(plan, function, imaginary, none, &lent).run(arguments))
      return error;
    workspace.borrow(lent.place(workspace.getGuardBytes()));
  }
  Interpreter interpreter(plan, function, workspace, launch);
  if (Error error = interpreter.run(arguments))
    return error;
  return interpreter.takeResults();
}

Expected<uint64_t> queryWorkspace(const Plan &plan,
                                  const PlanFunction &function,
                                  ArrayRef<HostValue> arguments,
                                  uint64_t guardBytes) {
  Workspace workspace = Workspace::unlimited(guardBytes);
  if (auto results = interpret(plan, function, arguments, workspace, skip);
      !results)
    return results.takeError();
  return workspace.getHighWater();
}

} // namespace mlir::evoformer::runtime
