//===- DecoderBoxes.cpp - Copies of boxes and barrier objects -------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"
#include "Handlers.h"

using namespace mlir;
using namespace mlir::evoformer::sim;

/// NVVM's ops by their names without the dialect's.
std::optional<LogicalResult> Decoder::decodeBoxes(Operation *op,
                                                  StringRef name) {
  auto in = [&](unsigned operand) {
    return single(op->getOperand(operand)).offset;
  };
  auto isInLDS = [&](unsigned operand) {
    return single(op->getOperand(operand)).kind == Kind::I32;
  };
  if (name == "fence.mbarrier.init") {
    emit(fenceHandler());
    return success();
  }
  bool isBox = name == "cp.async.bulk.tensor.shared.cluster.global";
  if (!isBox && !name.starts_with("mbarrier."))
    return std::nullopt;
  if (!isInLDS(0))
    return unsupported(op, "the pointer must be in address space 3");
  if (isBox) {
    auto segments = op->getAttrOfType<DenseI32ArrayAttr>("operandSegmentSizes");
    // Destination, map, coordinates, barrier, and what is not modelled.
    if (!segments || segments.size() < 4 ||
        op->getNumOperands() != unsigned(3 + segments[2]) || segments[2] < 1 ||
        segments[2] > 5 || !isInLDS(op->getNumOperands() - 1))
      return unsupported(op, "copies of tiles within a workgroup only");
    uint32_t coordinates = program.table.size();
    for (int32_t d = 0; d < segments[2]; ++d)
      program.table.push_back(in(2 + d));
    Inst &inst = emit(copyBoxesHandler());
    inst.a = in(0);
    inst.b = in(1);
    inst.c = in(op->getNumOperands() - 1);
    inst.imm = coordinates;
    inst.n = segments[2];
    return success();
  }
  if (name == "mbarrier.init" || name == "mbarrier.expect_tx") {
    if (op->getNumOperands() != 2)
      return unsupported(op, "with a predicate");
    Inst &inst = emit(name == "mbarrier.init" ? initBarrierHandler()
                                              : expectBytesHandler());
    inst.a = in(0);
    inst.b = in(1);
    return success();
  }
  if (name == "mbarrier.arrive") {
    if (op->getNumOperands() != 1 ||
        (op->getNumResults() == 1 && !op->getResult(0).use_empty()))
      return unsupported(op, "with a count, or whose state is used");
    // Registers of their own for what nobody reads.
    if (op->getNumResults() == 1 && failed(defineScalar(op->getResult(0))))
      return failure();
    emit(arriveHandler()).a = in(0);
    return success();
  }
  if (name == "mbarrier.try_wait") {
    if (op->getNumOperands() != 2 || !op->getOperand(1).getType().isInteger(32))
      return unsupported(op, "of other than a parity");
    FailureOr<Part> to = defineScalar(op->getResult(0));
    if (failed(to))
      return failure();
    Inst &inst = emit(waitForArrivalHandler());
    inst.dst = to->offset;
    inst.a = in(0);
    inst.b = in(1);
    return success();
  }
  return unsupported(op);
}
