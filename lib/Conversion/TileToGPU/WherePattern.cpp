//===- WherePattern.cpp - Work that few lanes need --------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace mlir::evoformer::tile;

/// Whether every subgroup asks the condition of all elements that it has
/// results of.
static bool covers(const LaneMap &condition, const LaneMap &result,
                   ArrayRef<int64_t> shape) {
  // Indices along the condition's dimensions, as one number each.
  auto collect = [&](const LaneMap &map, int64_t subgroup) {
    llvm::DenseSet<int64_t> held;
    for (int64_t lane = 0, l = map.getNumLanes(); lane < l; ++lane)
      for (int64_t reg = 0, r = map.getNumRegisters(); reg < r; ++reg) {
        SmallVector<int64_t> at = map.at(subgroup, lane, reg);
        int64_t linear = 0;
        bool inside = true;
        for (auto [d, size] : llvm::enumerate(shape)) {
          inside &= at[d] < size;
          linear = linear * size + at[d];
        }
        if (inside)
          held.insert(linear);
      }
    return held;
  };
  for (int64_t subgroup = 0, e = result.getNumSubgroups(); subgroup < e;
       ++subgroup) {
    llvm::DenseSet<int64_t> asked =
        collect(condition, subgroup % condition.getNumSubgroups());
    if (!llvm::all_of(collect(result, subgroup),
                      [&](int64_t index) { return asked.contains(index); }))
      return false;
  }
  return true;
}

LogicalResult mlir::evoformer::tile::checkVotes(KernelOp kernel) {
  WalkResult walk = kernel.walk([](WhereOp op) -> WalkResult {
    auto condition = cast<RankedTensorType>(op.getCondition().getType());
    auto check = [&](Type type, StringRef what) -> LogicalResult {
      auto tile = cast<RankedTensorType>(type);
      if (covers(*getLaneMap(condition), *getLaneMap(tile),
                 condition.getShape()))
        return success();
      return op.emitOpError("the layout ")
             << condition.getEncoding()
             << " of the condition gives subgroups other elements than "
             << tile.getEncoding() << " of " << what;
    };
    for (Type type : op.getResultTypes())
      if (failed(check(type, "a result")))
        return WalkResult::interrupt();
    WalkResult stores = op.getBody().walk([&](StoreOp store) -> WalkResult {
      return check(store.getValue().getType(), "a tile that is stored");
    });
    if (stores.wasInterrupted())
      return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

namespace {
struct WherePattern : KernelPattern<WhereOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(WhereOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    SmallVector<Type> types;
    SmallVector<size_t> counts;
    for (Type type : op.getResultTypes()) {
      size_t before = types.size();
      if (failed(getTypeConverter()->convertType(type, types)))
        return failure();
      counts.push_back(types.size() - before);
    }

    Value any;
    auto add = [&](Value bit) {
      any =
          any ? arith::OrIOp::create(rewriter, loc, any, bit).getResult() : bit;
    };
    for (Value vector : adaptor.getCondition())
      for (int64_t i = 0, e = cast<VectorType>(vector.getType()).getDimSize(0);
           i < e; ++i)
        add(vector::ExtractOp::create(rewriter, loc, vector, i));
    any = gpu::SubgroupReduceOp::create(
        rewriter, loc, any, gpu::AllReduceOperation::OR, /*uniform=*/true);
    any = LLVM::ExpectOp::create(
        rewriter, loc, any,
        arith::ConstantOp::create(rewriter, loc, rewriter.getBoolAttr(false)));

    auto branch = scf::IfOp::create(rewriter, loc, types, any,
                                    /*addThenBlock=*/false,
                                    /*addElseBlock=*/types.size() > 0);
    bool stores = op.getBody()
                      .walk([](StoreOp) { return WalkResult::interrupt(); })
                      .wasInterrupted();
    rewriter.inlineRegionBefore(op.getBody(), branch.getThenRegion(),
                                branch.getThenRegion().end());
    // What is stored again may have been another lane's, whose store comes
    // first.
    if (stores) {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(branch.thenBlock());
      LaneBuilder(rewriter, loc, kernel).meetLanes();
    }
    if (!types.empty()) {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(branch.elseBlock());
      SmallVector<Value> inits;
      for (ValueRange init : adaptor.getInits())
        llvm::append_range(inits, init);
      scf::YieldOp::create(rewriter, loc, inits);
    }
    SmallVector<ValueRange> results;
    ValueRange all = branch.getResults();
    for (size_t count : counts) {
      results.push_back(all.take_front(count));
      all = all.drop_front(count);
    }
    rewriter.replaceOpWithMultiple(op, results);
    return success();
  }
};

struct YieldPattern : OpConversionPattern<YieldOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(YieldOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> results;
    for (ValueRange result : adaptor.getResults())
      llvm::append_range(results, result);
    rewriter.replaceOpWithNewOp<scf::YieldOp>(op, results);
    return success();
  }
};
} // namespace

void mlir::evoformer::tile::populateWherePattern(const TypeConverter &converter,
                                                 RewritePatternSet &patterns,
                                                 const KernelContext &kernel) {
  patterns.add<WherePattern>(converter, patterns.getContext(), kernel);
  patterns.add<YieldPattern>(converter, patterns.getContext());
}
