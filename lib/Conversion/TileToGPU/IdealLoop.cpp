//===- IdealLoop.cpp - What a kernel's main loop must execute -------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IdealLoop.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::evoformer::tile;

/// Matrix instructions that one subgroup executes for a product, padding
/// included; one of several subgroups has all columns.
static int64_t countMatrix(Operation *op) {
  if (!isa<MmaOp, GroupMmaOp>(op))
    return 0;
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  auto frag = dyn_cast_if_present<FragAttr>(type.getEncoding());
  // Products of single numbers are ordinary arithmetic.
  if (!frag || frag.getInstr().getK() == 1)
    return 0;
  MatrixInstrAttr instr = frag.getInstr();
  int64_t rank = type.getRank();
  int64_t depth =
      cast<ShapedType>(op->getOperand(0).getType()).getDimSize(rank - 1);
  FailureOr<LaneMap> result = getLaneMap(type);
  if (failed(result))
    return 0;
  int64_t atoms =
      result->getNumRegisters() / instr.getC().toLaneMap().getNumRegisters();
  if (isa<GroupMmaOp>(op))
    atoms /= llvm::divideCeil(type.getDimSize(frag.getDims()[1]), instr.getN());
  return atoms * llvm::divideCeil(depth, instr.getK());
}

/// One for each element that a lane holds.
static int64_t countTranscendental(Operation *op) {
  if (!isa<math::Exp2Op, math::Log2Op>(op))
    return 0;
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type)
    return 1;
  FailureOr<LaneMap> map = getLaneMap(type);
  return succeeded(map) ? map->getNumRegisters() : 0;
}

/// Whether the loop fills workgroup memory.
static bool copies(scf::ForOp loop) {
  return llvm::any_of(*loop.getBody(), [](Operation &op) {
    auto store = dyn_cast<StoreOp>(op);
    return isa<AsyncCopyOp>(op) ||
           (store && isWorkgroupMemory(store.getDestType()));
  });
}

DictionaryAttr mlir::evoformer::tile::getIdealLoop(KernelOp kernel) {
  int64_t bestMatrix = 0, bestTranscendental = 0, bestStages = 1;
  kernel.walk([&](scf::ForOp loop) {
    int64_t matrix = 0, transcendental = 0;
    for (Operation &op : *loop.getBody()) {
      matrix += countMatrix(&op);
      transcendental += countTranscendental(&op);
    }
    if (std::tie(matrix, transcendental) >
        std::tie(bestMatrix, bestTranscendental)) {
      bestMatrix = matrix;
      bestTranscendental = transcendental;
      bestStages = copies(loop) && kernel.getSchedule()
                       ? kernel.getSchedule()->getStages()
                       : 1;
    }
  });
  Builder builder(kernel.getContext());
  if (bestMatrix == 0 && bestTranscendental == 0)
    return {};
  NamedAttrList ideal;
  auto set = [&](StringRef name, int64_t number) {
    ideal.set(name, builder.getI64IntegerAttr(number));
  };
  set("matrix", bestMatrix);
  set("transcendental", bestTranscendental);
  set("stages", bestStages);
  if (auto schedule = kernel.getSchedule()) {
    ideal.set("block", builder.getDenseI64ArrayAttr(schedule->getBlock()));
    set("resident", schedule->getResident());
  }
  if (Attribute registers = kernel->getAttr(kEstimatedRegistersAttr))
    ideal.set("registers", registers);
  return ideal.getDictionary(kernel.getContext());
}
