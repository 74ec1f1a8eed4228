//===- VectorizeContract.cpp - Matrix products in registers ---------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block of sums, rows by two vectors, stays in registers while the contracted
// dimension runs: each step loads a row of the right operand and multiplies it
// by one element of the left operand per row of the block.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "VectorLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile_to_cpu;

namespace {

class ProductEmitter {
public:
  ProductEmitter(OpBuilder &b, linalg::ContractOp op, bool isLeftTransposed,
                 VectorTarget target)
      : b(b), loc(op.getLoc()), lhs(op.getInputs()[0]), rhs(op.getInputs()[1]),
        sum(op.getOutputs()[0]), isLeftTransposed(isLeftTransposed),
        isFromZero(op->hasAttr(kFromZeroAttr)),
        sizes(op.getStaticLoopRanges()) {
    int64_t rank = cast<MemRefType>(sum.getType()).getRank();
    rows = sizes[rank - 2];
    columns = sizes[rank - 1];
    depth = sizes[rank];
    element = cast<MemRefType>(sum.getType()).getElementType();
    lanes = target.getLanes(element);
    // Blocks of one height where rows divide so.
    blockRows = std::min(target.getBlockRows(), rows);
    for (int64_t height = blockRows; 2 * height > blockRows; --height)
      if (rows % height == 0) {
        blockRows = height;
        break;
      }
  }

  void run() { emitBatch(sizes.size() - 3); }

private:
  void emitBatch(int64_t loops);
  void emitBlock(Value row, int64_t height, Value column, int64_t width);
  SmallVector<Value> at(Value row, Value column) const {
    SmallVector<Value> indices(batch);
    indices.append({row, column});
    return indices;
  }
  Value shifted(Value iv, int64_t by) {
    if (by == 0)
      return iv;
    Value offset = arith::ConstantIndexOp::create(b, loc, by);
    return arith::AddIOp::create(b, loc, iv, offset);
  }
  Value multiplyAdd(Value x, Value y, Value z);

  OpBuilder &b;
  Location loc;
  Value lhs, rhs, sum;
  bool isLeftTransposed, isFromZero;
  SmallVector<int64_t> sizes;
  int64_t rows, columns, depth, lanes, blockRows;
  Type element;
  SmallVector<Value> batch;
};

} // namespace

Value ProductEmitter::multiplyAdd(Value x, Value y, Value z) {
  if (isa<IntegerType>(element)) {
    Value product = arith::MulIOp::create(b, loc, x, y);
    return arith::AddIOp::create(b, loc, product, z);
  }
  // A processor with fused multiply-add may use it: products are exact then.
  auto contract = arith::FastMathFlags::contract;
  Value product = arith::MulFOp::create(b, loc, x, y, contract);
  return arith::AddFOp::create(b, loc, product, z, contract);
}

void ProductEmitter::emitBlock(Value row, int64_t height, Value column,
                               int64_t width) {
  SmallVector<int64_t> starts, widths;
  for (int64_t at = 0; at < width; at += lanes) {
    starts.push_back(at);
    widths.push_back(std::min(lanes, width - at));
  }
  SmallVector<Value> sums;
  for (int64_t i = 0; i < height; ++i)
    for (auto [start, lanes] : llvm::zip_equal(starts, widths)) {
      auto type = VectorType::get(lanes, element);
      sums.push_back(
          isFromZero
              ? Value(arith::ConstantOp::create(b, loc, b.getZeroAttr(type)))
              : vector::LoadOp::create(
                    b, loc, type, sum,
                    at(shifted(row, i), shifted(column, start))));
    }
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value end = arith::ConstantIndexOp::create(b, loc, depth);
  auto loop = scf::ForOp::create(b, loc, zero, end, one, sums);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value k = loop.getInductionVar();
    SmallVector<Value> right, next;
    for (auto [start, lanes] : llvm::zip_equal(starts, widths))
      right.push_back(
          vector::LoadOp::create(b, loc, VectorType::get(lanes, element), rhs,
                                 at(k, shifted(column, start))));
    auto *running = loop.getRegionIterArgs().begin();
    for (int64_t i = 0; i < height; ++i) {
      Value m = shifted(row, i);
      Value left = memref::LoadOp::create(
          b, loc, lhs, isLeftTransposed ? at(k, m) : at(m, k));
      for (Value vectorValue : right) {
        Value splat =
            vector::BroadcastOp::create(b, loc, vectorValue.getType(), left);
        next.push_back(multiplyAdd(splat, vectorValue, *running++));
      }
    }
    scf::YieldOp::create(b, loc, next);
  }
  auto result = loop.getResults().begin();
  for (int64_t i = 0; i < height; ++i)
    for (int64_t start : starts)
      vector::StoreOp::create(b, loc, *result++, sum,
                              at(shifted(row, i), shifted(column, start)));
}

void ProductEmitter::emitBatch(int64_t loops) {
  if (loops > 0) {
    int64_t size = sizes[batch.size()];
    emitStrips(b, loc, Strips(size, 1), [&](OpBuilder &, Value iv, int64_t) {
      batch.push_back(iv);
      emitBatch(loops - 1);
      batch.pop_back();
    });
    return;
  }
  // The panel of the right operand stays in the nearest cache.
  emitStrips(b, loc, Strips(columns, 2 * lanes),
             [&](OpBuilder &, Value column, int64_t width) {
               emitStrips(b, loc, Strips(rows, blockRows),
                          [&](OpBuilder &, Value row, int64_t height) {
                            emitBlock(row, height, column, width);
                          });
             });
}

LogicalResult tile_to_cpu::vectorizeContract(RewriterBase &rewriter,
                                             linalg::ContractOp op,
                                             VectorTarget target) {
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  if (!op.hasPureBufferSemantics() || ShapedType::isDynamicShape(sizes) ||
      llvm::is_contained(sizes, 0) || sizes.size() < 3)
    return failure();
  Type type = getElementTypeOrSelf(op.getOutputs()[0].getType());
  for (Value operand : op->getOperands())
    if (!isVectorMemory(operand.getType()) ||
        getElementTypeOrSelf(operand.getType()) != type)
      return failure();
  // The loops of this library's own products: batch.., M, N, K.
  int64_t rank = sizes.size() - 1;
  SmallVector<int64_t> whole = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  SmallVector<int64_t> left(whole), right(whole);
  left[rank - 1] = rank;
  right[rank - 2] = rank;
  SmallVector<int64_t> transposed(left);
  std::swap(transposed[rank - 2], transposed[rank - 1]);
  auto isMap = [&](AffineMap map, ArrayRef<int64_t> dims) {
    return map == AffineMap::getMultiDimMapWithTargets(
                      rank + 1, SmallVector<unsigned>(dims.begin(), dims.end()),
                      op.getContext());
  };
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  bool isLeftTransposed = isMap(maps[0], transposed);
  if ((!isLeftTransposed && !isMap(maps[0], left)) || !isMap(maps[1], right) ||
      !isMap(maps[2], whole))
    return failure();
  rewriter.setInsertionPoint(op);
  ProductEmitter(rewriter, op, isLeftTransposed, target).run();
  rewriter.eraseOp(op);
  return success();
}
