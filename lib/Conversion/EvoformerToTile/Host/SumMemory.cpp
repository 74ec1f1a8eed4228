//===- SumMemory.cpp - Memory that items sum in ---------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SumMemory.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

/// `memory` [b, n, h, x, y] as [1, b, n, h, x, y] with a unit stride, or a
/// buffer of that rank, as a type that serves both.
static Value asParts(TileBuilder &builder, Value memory) {
  auto type = cast<MemRefType>(memory.getType());
  SmallVector<int64_t> strides(6, ShapedType::kDynamic);
  strides.back() = 1;
  ArrayRef<int64_t> last = type.getShape().take_back(5);
  SmallVector<int64_t> shape = {ShapedType::kDynamic};
  llvm::append_range(shape, last);
  auto layout =
      StridedLayoutAttr::get(type.getContext(), ShapedType::kDynamic, strides);
  auto result = MemRefType::get(shape, type.getElementType(), layout);
  if (type.getRank() == 6)
    return memref::CastOp::create(builder, result, memory);
  auto metadata = memref::ExtractStridedMetadataOp::create(builder, memory);
  SmallVector<OpFoldResult> allSizes = {Value(builder.index(1))},
                            allStrides = {Value(builder.index(0))};
  for (int64_t dim = 0; dim < 5; ++dim) {
    if (type.isDynamicDim(dim))
      allSizes.push_back(metadata.getSizes()[dim]);
    else
      allSizes.push_back(builder.getIndexAttr(type.getDimSize(dim)));
    if (dim < 4)
      allStrides.push_back(metadata.getStrides()[dim]);
  }
  allStrides.push_back(builder.getIndexAttr(1));
  return memref::ReinterpretCastOp::create(builder, result, memory,
                                           OpFoldResult(metadata.getOffset()),
                                           allSizes, allStrides);
}

SumMemory evoformer::prepareSums(TileBuilder &builder, HostBuilder &host,
                                 Value sum, Value copies) {
  if (!sum)
    return {};
  SmallVector<OpFoldResult> sizes = {copies};
  for (int64_t dim = 0; dim < 5; ++dim)
    sizes.push_back(builder.dim(sum, dim));
  Value buffer = host.allocate(sizes, builder.getF32Type());
  if (!cast<MemRefType>(sum.getType()).getElementType().isF32())
    return {asParts(builder, buffer), {}};
  Value isCopied = arith::CmpIOp::create(builder, arith::CmpIPredicate::ne,
                                         copies, builder.index(0));
  Value parts = asParts(builder, buffer), onlyPart = asParts(builder, sum);
  return {builder.select(isCopied, parts, onlyPart), isCopied};
}

void evoformer::launchPartSum(TileBuilder &at, HostBuilder &host,
                              KernelFactory &factory,
                              PartSumOperands operands) {
  KernelOp kernel = createPartSumKernel(factory, at.getLoc(), operands);
  host.launch(at, kernel, getPartSumSpace(at, operands, factory.getTarget()),
              getPresent(operands));
}

void evoformer::finishSums(TileBuilder &builder, HostBuilder &host,
                           KernelFactory &factory, Value sum,
                           const SumMemory &sums) {
  if (!sum)
    return;
  auto launch = [&](TileBuilder &at) {
    Value dest = castToUnitStride(at, sum);
    launchPartSum(at, host, factory, {sums.memory, dest});
  };
  if (!sums.isCopied)
    return launch(builder);
  scf::IfOp::create(builder, sums.isCopied,
                    [&](OpBuilder &nested, Location loc) {
                      TileBuilder inner(loc, nested);
                      launch(inner);
                      scf::YieldOp::create(inner);
                    });
}
