//===- Recording.cpp - Launches of one run, ready to repeat ---------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The run that is recorded gets imaginary addresses, each in a range of its own
// that no size of a real tensor leaves, so that every address that reaches a
// kernel tells which argument it came from.
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Runtime/Recording.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace mlir::evoformer::runtime {

/// Ranges of 2^48 bytes: addresses of real processors are smaller.
constexpr unsigned rangeBits = 48;
/// Where an unlimited workspace lies (Workspace::unlimited).
constexpr uint64_t workspaceBase = uint64_t(1) << 60;
constexpr size_t maxArguments = (workspaceBase >> rangeBits) - 2;
/// Above it, recordings would rarely be repeated.
constexpr uint64_t maxMask = 255;

namespace {
/// Finds what a program makes of addresses: only a remainder by a constant
/// power of two, or the low bits, may be taken of them.
class AddressUses {
public:
  bool visit(ArrayRef<PlanOp> body);
  uint64_t mask = 0;

private:
  bool visitOp(const PlanOp &op);
  DenseMap<ValueId, int64_t> constants;
  SmallVector<ValueId> addresses;
};
} // namespace

bool AddressUses::visitOp(const PlanOp &op) {
  if (op.code == PlanOpcode::Constant &&
      op.type.kind == PlanType::Kind::Integer)
    constants[op.results[0]] = op.integer;
  if (op.code == PlanOpcode::ExtractAlignedPointer) {
    addresses.push_back(op.results[0]);
    return true;
  }
  auto isAddress = [&](ValueId id) { return is_contained(addresses, id); };
  if (none_of(op.operands, isAddress) && none_of(op.space, isAddress))
    return visit(op.thenBody) && visit(op.elseBody);
  bool isRemainder = op.code == PlanOpcode::RemUI;
  if ((!isRemainder && op.code != PlanOpcode::AndI) ||
      isAddress(op.operands[1]))
    return false;
  auto constant = constants.find(op.operands[1]);
  if (constant == constants.end() || constant->second <= 0 ||
      (isRemainder && !isPowerOf2_64(constant->second)))
    return false;
  mask |=
      isRemainder ? constant->second - 1 : NextPowerOf2(constant->second) - 1;
  return mask <= maxMask;
}

bool AddressUses::visit(ArrayRef<PlanOp> body) {
  return all_of(body, [&](const PlanOp &op) { return visitOp(op); });
}

std::optional<uint64_t>
Recording::getAddressMask(const PlanFunction &function) {
  AddressUses uses;
  if (!uses.visit(function.body))
    return std::nullopt;
  return uses.mask;
}

Expected<Recording> Recording::create(const Plan &plan,
                                      const PlanFunction &function,
                                      ArrayRef<HostValue> arguments) {
  if (arguments.size() > maxArguments)
    return createStringError("a function of " + Twine(arguments.size()) +
                             " arguments is too large to be recorded");
  std::vector<HostValue> imaginary(arguments.begin(), arguments.end());
  for (auto [index, value] : enumerate(imaginary)) {
    MemRefDescriptor &memref = value.memref;
    uint64_t low = memref.aligned & maxMask;
    memref.allocated = memref.aligned =
        (uint64_t(index + 1) << rangeBits) | low;
  }

  Recording recording;
  Workspace workspace = Workspace::unlimited();
  // Where a memory begins that buffers may lie in.
  auto findLender = [&](uint64_t address) -> std::optional<uint64_t> {
    for (MemoryRange lender : workspace.getLenders())
      for (MemoryRange buffer : workspace.getLive(lender))
        if (buffer.address == address)
          return lender.address;
    return std::nullopt;
  };
  auto record = [&](unsigned number, uint64_t workItems,
                    ArrayRef<LaunchArgument> launchArguments) -> Error {
    Launch launch{number, workItems, launchArguments.vec(), {}};
    for (auto [slot, argument] : enumerate(launch.arguments)) {
      uint64_t range = argument.bits >> rangeBits;
      // Sizes, strides and offsets are far below the first range; a negative
      // one is above the last.
      if (argument.bits >= workspaceBase) {
        if (argument.bits < 2 * workspaceBase)
          launch.patches.push_back(
              {uint32_t(slot), uint32_t(arguments.size()),
               static_cast<int64_t>(argument.bits - workspaceBase)});
      } else if (range >= 1 && range <= arguments.size()) {
        const MemRefDescriptor &memref = imaginary[range - 1].memref;
        Patch patch{uint32_t(slot), uint32_t(range - 1),
                    static_cast<int64_t>(argument.bits - memref.aligned)};
        if (std::optional<uint64_t> lender = findLender(argument.bits)) {
          patch.lentFrom = *lender - memref.aligned;
          patch.delta = static_cast<int64_t>(argument.bits -
                                             alignTo(*lender, bufferAlignment));
        }
        launch.patches.push_back(patch);
      }
    }
    recording.launches.push_back(std::move(launch));
    return Error::success();
  };
  auto results = interpret(plan, function, imaginary, workspace, record);
  if (!results)
    return results.takeError();
  recording.workspaceBytes = workspace.getHighWater();
  return recording;
}

Error Recording::replay(
    ArrayRef<uint64_t> addresses, uint64_t workspace,
    function_ref<Error(unsigned, uint64_t, ArrayRef<LaunchArgument>)> launch) {
  for (Launch &next : launches) {
    for (const Patch &patch : next.patches) {
      uint64_t base =
          patch.base < addresses.size() ? addresses[patch.base] : workspace;
      if (patch.lentFrom)
        base = alignTo(base + *patch.lentFrom, bufferAlignment);
      next.arguments[patch.slot].bits = base + patch.delta;
    }
    if (Error error = launch(next.kernel, next.workItems, next.arguments))
      return error;
  }
  return Error::success();
}

SmallVector<unsigned> Recording::getKernels() const {
  return map_to_vector(launches, [](const Launch &l) { return l.kernel; });
}

SmallVector<std::pair<unsigned, uint64_t>> Recording::getLaunches() const {
  return map_to_vector(launches, [](const Launch &l) {
    return std::make_pair(l.kernel, l.workItems);
  });
}

} // namespace mlir::evoformer::runtime
