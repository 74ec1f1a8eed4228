//===- VectorizeTranspose.cpp - Transposed copies in registers ------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VectorLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile_to_cpu;

/// Transposes a square of vectors: for each power of two, the blocks of that
/// size off the diagonal change places.
static void transposeSquare(OpBuilder &b, Location loc,
                            MutableArrayRef<Value> rows) {
  int64_t size = rows.size();
  for (int64_t distance = size / 2; distance > 0; distance /= 2) {
    SmallVector<int64_t> upper, lower;
    for (int64_t lane = 0; lane < size; ++lane) {
      bool second = lane & distance;
      upper.push_back(second ? size + lane - distance : lane);
      lower.push_back(second ? size + lane : lane + distance);
    }
    for (int64_t row = 0; row < size; ++row) {
      if (row & distance)
        continue;
      Value first = rows[row], second = rows[row + distance];
      rows[row] = vector::ShuffleOp::create(b, loc, first, second, upper);
      rows[row + distance] =
          vector::ShuffleOp::create(b, loc, first, second, lower);
    }
  }
}

LogicalResult tile_to_cpu::vectorizeTranspose(RewriterBase &rewriter,
                                              linalg::GenericOp op,
                                              VectorTarget target) {
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  if (!op.hasPureBufferSemantics() || op.getNumDpsInputs() != 1 ||
      op.getNumDpsInits() != 1 || op.getNumReductionLoops() != 0 ||
      ShapedType::isDynamicShape(sizes) || llvm::is_contained(sizes, 0) ||
      op.getBody()->getTerminator()->getOperand(0) !=
          op.getBody()->getArgument(0))
    return failure();
  Value source = op.getDpsInputs()[0], dest = op.getDpsInits()[0];
  AffineMap from = op.getIndexingMapsArray()[0];
  AffineMap to = op.getIndexingMapsArray()[1];
  if (!isVectorMemory(source.getType()) || !isVectorMemory(dest.getType()) ||
      !from.isPermutation() || !to.isPermutation() || sizes.size() < 2)
    return failure();
  unsigned rowDim = cast<AffineDimExpr>(from.getResults().back()).getPosition();
  unsigned colDim = cast<AffineDimExpr>(to.getResults().back()).getPosition();
  if (rowDim == colDim)
    return failure();

  Type element = cast<MemRefType>(source.getType()).getElementType();
  int64_t width = target.getLanes(element);
  auto isExact = [&](int64_t lanes) {
    return sizes[rowDim] % lanes == 0 && sizes[colDim] % lanes == 0;
  };
  while (width > 4 && !isExact(width))
    width /= 2;

  rewriter.setInsertionPoint(op);
  OpBuilder &b = rewriter;
  Location loc = op.getLoc();
  SmallVector<Value> ivs(sizes.size());
  auto indices = [&](AffineMap map) {
    SmallVector<Value> result;
    for (AffineExpr expr : map.getResults())
      result.push_back(ivs[cast<AffineDimExpr>(expr).getPosition()]);
    return result;
  };
  auto shifted = [&](Value iv, int64_t by) -> Value {
    Value offset = arith::ConstantIndexOp::create(b, loc, by);
    return arith::AddIOp::create(b, loc, iv, offset);
  };
  auto square = [&] {
    auto type = VectorType::get(width, element);
    SmallVector<Value> rows;
    Value row = ivs[rowDim], col = ivs[colDim];
    for (int64_t i = 0; i < width; ++i) {
      ivs[colDim] = shifted(col, i);
      rows.push_back(
          vector::LoadOp::create(b, loc, type, source, indices(from)));
    }
    transposeSquare(b, loc, rows);
    ivs[colDim] = col;
    for (int64_t i = 0; i < width; ++i) {
      ivs[rowDim] = shifted(row, i);
      vector::StoreOp::create(b, loc, rows[i], dest, indices(to));
    }
  };
  // Rectangles at the edges, one element at a time.
  auto edge = [&](Value row, int64_t rows, Value col, int64_t cols) {
    emitStrips(b, loc, Strips(rows, 1), [&](OpBuilder &, Value i, int64_t) {
      emitStrips(b, loc, Strips(cols, 1), [&](OpBuilder &, Value j, int64_t) {
        ivs[rowDim] = arith::AddIOp::create(b, loc, row, i);
        ivs[colDim] = arith::AddIOp::create(b, loc, col, j);
        Value value = memref::LoadOp::create(b, loc, source, indices(from));
        memref::StoreOp::create(b, loc, value, dest, indices(to));
      });
    });
  };
  std::function<void(unsigned)> emit = [&](unsigned dim) {
    if (dim == rowDim || dim == colDim)
      return emit(dim + 1);
    if (dim < sizes.size())
      return emitStrips(b, loc, Strips(sizes[dim], 1),
                        [&](OpBuilder &, Value iv, int64_t) {
                          ivs[dim] = iv;
                          emit(dim + 1);
                        });
    emitStrips(b, loc, Strips(sizes[rowDim], width),
               [&](OpBuilder &, Value row, int64_t rows) {
                 emitStrips(b, loc, Strips(sizes[colDim], width),
                            [&](OpBuilder &, Value col, int64_t cols) {
                              if (rows < width || cols < width)
                                return edge(row, rows, col, cols);
                              ivs[rowDim] = row;
                              ivs[colDim] = col;
                              square();
                            });
               });
  };
  emit(0);
  rewriter.eraseOp(op);
  return success();
}
