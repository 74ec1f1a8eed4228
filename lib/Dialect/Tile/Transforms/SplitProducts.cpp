//===- SplitProducts.cpp - Wide products as sums of narrow ones -----------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Dialect/Tile/IR/Levels.h"
#include "Evoformer/Dialect/Tile/Transforms/Passes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"

namespace mlir::evoformer::tile {
#define GEN_PASS_DEF_SPLITPRODUCTS
#include "Evoformer/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::evoformer::tile

using namespace mlir;
using namespace mlir::evoformer::tile;

static Value splat(ImplicitLocOpBuilder &b, Type type, TypedAttr value) {
  return arith::ConstantOp::create(
      b, DenseElementsAttr::get(cast<ShapedType>(type), value));
}

/// The f32 elements rounded to the nearest tf32, which is f32 without the lower
/// 13 bits; halves away from zero. A NaN may become another number: it stays in
/// what is left.
static Value roundToTF32(ImplicitLocOpBuilder &b, Value tile) {
  Type words = cast<ShapedType>(tile.getType()).clone(b.getI32Type());
  auto number = [&](int32_t value) {
    return splat(b, words, b.getI32IntegerAttr(value));
  };
  Value bits = arith::BitcastOp::create(b, words, tile);
  bits = arith::AddIOp::create(b, bits, number(0x1000));
  bits = arith::AndIOp::create(b, bits, number(-0x2000));
  return arith::BitcastOp::create(b, tile.getType(), bits);
}

namespace {
/// The terms of a tile, largest first, as products take them: tf32 as f32.
using Terms = SmallVector<Value>;

/// Splits the products of one kernel.
class ProductSplitter {
public:
  void split(MmaOp op, MatrixInstrAttr instr);

private:
  const Terms &getTerms(Value tile, MatrixInstrAttr instr);

  DenseMap<std::pair<Value, Attribute>, Terms> known;
};
} // namespace

/// Right behind the tile, so that what a loop does not change is split once.
const Terms &ProductSplitter::getTerms(Value tile, MatrixInstrAttr instr) {
  Terms &terms = known[{tile, instr}];
  if (!terms.empty())
    return terms;
  ImplicitLocOpBuilder b(tile.getLoc(), tile.getContext());
  b.setInsertionPointAfterValue(tile);
  Type narrow = instr.getAType();
  auto type = cast<RankedTensorType>(tile.getType());
  Value left = tile;
  for (int64_t i = 0, last = instr.getTerms() - 1; i <= last; ++i) {
    Value wide;
    if (narrow.isTF32()) {
      // The instruction cuts off what the last term has too much.
      wide = i == last ? left : roundToTF32(b, left);
      terms.push_back(wide);
    } else {
      // Cut off, no term is infinite.
      Value term = arith::TruncFOp::create(
          b, type.clone(narrow), left,
          arith::RoundingModeAttr::get(b.getContext(),
                                       arith::RoundingMode::toward_zero),
          arith::FastMathFlagsAttr());
      terms.push_back(term);
      if (i != last)
        wide = arith::ExtFOp::create(b, type, term);
    }
    if (i != last)
      left = arith::SubFOp::create(b, left, wide);
  }
  return terms;
}

void ProductSplitter::split(MmaOp op, MatrixInstrAttr instr) {
  Terms a = getTerms(op.getA(), instr), b = getTerms(op.getB(), instr);
  ImplicitLocOpBuilder builder(op.getLoc(), op);
  bool isTF32 = instr.getAType().isTF32();
  auto multiply = [&](Value x, Value y, Value start) -> Value {
    return MmaOp::create(builder, start.getType(), x, y, start,
                         isTF32 ? TypeAttr::get(instr.getAType()) : TypeAttr());
  };
  auto add = [&](Value x, Value y) -> Value {
    return x ? arith::AddFOp::create(builder, x, y).getResult() : y;
  };
  Value c = op.getC();
  Value zero = splat(builder, c.getType(), builder.getF32FloatAttr(0));
  // Small products first. The sum is the same with a and b exchanged: a kernel
  // that computes the transposed product rounds it alike.
  Value sum;
  for (int64_t order = instr.getTerms() - 1; order > 0; --order) {
    for (int64_t i = 0; 2 * i < order; ++i)
      sum = add(sum, add(multiply(a[i], b[order - i], zero),
                         multiply(a[order - i], b[i], zero)));
    if (order % 2 == 0)
      sum = multiply(a[order / 2], b[order / 2], sum);
  }
  if (!matchPattern(c, m_AnyZeroFloat()))
    sum = add(c, sum);
  Value result = multiply(a[0], b[0], sum);
  // What is left of an infinity is NaN, and so is its product with what is left
  // of an exact number. There the first terms alone say what the product is;
  // that is looked for where work is rare.
  if (op->getParentOfType<WhereOp>()) {
    Value first =
        isTF32 ? multiply(op.getA(), op.getB(), c) : multiply(a[0], b[0], c);
    Value isNaN = arith::CmpFOp::create(builder, arith::CmpFPredicate::UNO,
                                        result, result);
    result = arith::SelectOp::create(builder, isNaN, first, result);
  }
  op.replaceAllUsesWith(result);
  op.erase();
}

static constexpr StringLiteral kPass = "evo-tile-split-products";

/// Whether an instruction of the kernel's products multiplies their operands'
/// terms only.
static bool isSplit(MmaOp op) {
  auto frag = dyn_cast<FragAttr>(op.getType().getEncoding());
  return frag && op.getMultipliedType() != frag.getInstr().getAType() &&
         frag.getInstr().multiplies(op.getMultipliedType());
}

namespace {
struct SplitProductsPass
    : mlir::evoformer::tile::impl::SplitProductsBase<SplitProductsPass> {
protected:
  void runOnOperation() override {
    WalkResult result = getOperation()->walk([&](KernelOp kernel) {
      if (kernel.getTarget() && kernel.getTarget()->isCPU())
        return WalkResult::skip();
      if (failed(requireFragments(kernel, kPass)))
        return WalkResult::interrupt();
      SmallVector<MmaOp> products;
      kernel.walk([&](MmaOp op) {
        if (isSplit(op))
          products.push_back(op);
      });
      ProductSplitter splitter;
      for (MmaOp op : products) {
        MatrixInstrAttr instr =
            cast<FragAttr>(op.getType().getEncoding()).getInstr();
        remark::passed(
            op.getLoc(),
            remark::RemarkOpts::name("split-product").category(kPass))
            << remark::metric("instruction", instr.getName())
            << remark::metric("terms", instr.getTerms())
            << remark::metric("products",
                              instr.countProducts(op.getMultipliedType()));
        splitter.split(op, instr);
      }
      return WalkResult::skip();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
