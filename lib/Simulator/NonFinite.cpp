//===- NonFinite.cpp - Results that are infinite or NaN by themselves -----===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An optional check behind each elementwise operation: a result that is
// infinite or NaN although no operand of the lane is, or NaN although none is
// NaN, was not in the input.
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"
#include "Float.h"

using namespace mlir;
using namespace mlir::evoformer::sim;

static float readFloat(const Wave &w, Kind kind, uint32_t offset, uint32_t k) {
  switch (kind) {
  case Kind::F16:
    return halfToFloat(w.reg<uint16_t>(offset)[k]);
  case Kind::BF16:
    return bf16ToFloat(w.reg<uint16_t>(offset)[k]);
  case Kind::F32:
    return w.reg<float>(offset)[k];
  default: {
    // Only whether it is finite counts.
    double v = w.reg<double>(offset)[k];
    return std::isfinite(v) ? 0.0f : float(v);
  }
  }
}

/// dst: what to check, imm its kind, n its elements over all lanes; a: where in
/// the table the b operands start, each a kind and an offset.
static const Inst *checkFinite(Wave &w, const Inst *i) {
  const uint32_t *operands = w.program->table.data() + i->a;
  for (uint32_t first = 0; first < i->n; first += w.lanes)
    forLanes(w.mask, [&](unsigned lane) {
      uint32_t k = first + lane;
      float v = readFloat(w, Kind(i->imm), i->dst, k);
      if (std::isfinite(v))
        return;
      for (uint32_t o = 0; o < i->b; ++o) {
        float x = readFloat(w, Kind(operands[2 * o]), operands[2 * o + 1], k);
        if (std::isnan(x) || (std::isinf(x) && std::isinf(v)))
          return;
      }
      report(w, i, FindingKind::NonFinite, lane, 0, [&] {
        return std::string("the result is ") +
               (std::isnan(v) ? "NaN"
                : v > 0       ? "inf"
                              : "-inf") +
               ", but no operand is";
      });
    });
  return i + 1;
}

static bool isFloat(Kind kind) {
  return kind == Kind::F16 || kind == Kind::BF16 || kind == Kind::F32 ||
         kind == Kind::F64;
}

/// Whether the operation computes each element from those of its operands.
static bool isElementwise(Operation *op) {
  StringRef name = op->getName().getStringRef();
  if (auto call = dyn_cast<LLVM::CallIntrinsicOp>(op))
    name = call.getIntrin();
  // Matrix.cpp looks at products of matrices as a whole.
  if (name.contains("mfma") || name.contains("wmma") || name.contains("mma."))
    return false;
  if (op->getNumResults() != 1 || !isPure(op) ||
      isa<LLVM::BitcastOp, LLVM::SelectOp, LLVM::ExtractElementOp,
          LLVM::InsertElementOp, LLVM::ShuffleVectorOp, LLVM::ExtractValueOp,
          LLVM::InsertValueOp, LLVM::ConstantOp, LLVM::FreezeOp>(op))
    return name.contains("exp2") || name.contains("ex2.") ||
           name.contains(".rcp") || name.contains(".log") ||
           name.contains(".lg2") || name.contains(".rsq");
  return !name.contains("shfl") && !name.contains("dpp") &&
         !name.contains("permlane") && !name.contains("swizzle") &&
         !name.contains("readlane") && !name.contains("readfirstlane");
}

void Decoder::checkNonFinite(Operation *op) {
  if (op->getNumResults() != 1 || !isElementwise(op))
    return;
  auto result = values.find(op->getResult(0));
  if (result == values.end() || result->second.size() != 1)
    return;
  Part to = result->second.front();
  if (!isFloat(to.kind))
    return;
  uint32_t first = program.table.size(), count = 0;
  for (Value operand : op->getOperands()) {
    auto parts = values.find(operand);
    if (parts == values.end() || parts->second.size() != 1)
      continue;
    Part from = parts->second.front();
    if (!isFloat(from.kind) || from.count != to.count)
      continue;
    program.table.push_back(uint32_t(from.kind));
    program.table.push_back(from.offset);
    ++count;
  }
  // What no number went into, such as a conversion from integers, is finite or
  // meant.
  if (!count)
    return;
  Inst &inst = emit(checkFinite);
  --counts->instructions;
  inst.dst = to.offset;
  inst.imm = uint32_t(to.kind);
  inst.n = elements(to);
  inst.a = first;
  inst.b = count;
}
