//===- SeenKeysTest.cpp - Which keys go with which queries ----------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The blocks that are found, against every pair of a query and a key.
//
//===----------------------------------------------------------------------===//

#include "../../../lib/Conversion/EvoformerToTile/Kernels/SeenKeys.h"

#include "mlir/IR/Matchers.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

/// The value of arithmetic on constants.
static int64_t evaluate(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  Operation *op = value.getDefiningOp();
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return evaluate(evaluate(select.getCondition()) ? select.getTrueValue()
                                                    : select.getFalseValue());
  int64_t a = evaluate(op->getOperand(0)), b = evaluate(op->getOperand(1));
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return arith::applyCmpPredicate(compare.getPredicate(), APInt(64, a, true),
                                    APInt(64, b, true));
  if (isa<arith::AddIOp>(op))
    return a + b;
  if (isa<arith::SubIOp>(op))
    return a - b;
  if (isa<arith::MulIOp>(op))
    return a * b;
  if (isa<arith::MinSIOp>(op))
    return std::min(a, b);
  if (isa<arith::MaxSIOp>(op))
    return std::max(a, b);
  EXPECT_TRUE(isa<arith::DivUIOp>(op)) << op->getName().getStringRef().str();
  EXPECT_GE(a, 0);
  return a / b;
}

namespace {
struct Seen : testing::Test {
  Seen()
      : context(MLIRContext::Threading::DISABLED),
        loc(UnknownLoc::get(&context)) {
    context.loadDialect<TileDialect, arith::ArithDialect>();
  }

  /// Checks the blocks along `dim` for every block of the other dimension.
  void check(const KeyRange &range, int64_t queries, int64_t keys, LogitDim dim,
             int64_t block, int64_t otherBlock, bool withOperands);

  MLIRContext context;
  Location loc;
};
} // namespace

/// Takes a number from a bound, and gives it as what kernels have of operands.
static Value takeOperand(TileBuilder &b, std::optional<KeyBound> &bound,
                         int64_t number) {
  if (!bound)
    return {};
  bound->constant -= number;
  bound->ofOperands = {1};
  return b.index(number + KeyOffsets::kZero);
}

void Seen::check(const KeyRange &range, int64_t queries, int64_t keys,
                 LogitDim dim, int64_t block, int64_t otherBlock,
                 bool withOperands) {
  bool ofKeys = dim == LogitDim::Keys;
  int64_t size = ofKeys ? keys : queries, others = ofKeys ? queries : keys;
  auto sees = [&](int64_t moving, int64_t fixed) {
    int64_t i = ofKeys ? fixed : moving, j = ofKeys ? moving : fixed;
    return range.sees(i, j, queries, keys);
  };
  // Bounds that cross leave blocks between them that no one sees.
  bool cross = llvm::any_of(llvm::seq<int64_t>(0, queries), [&](int64_t i) {
    return range.from && range.to &&
           range.from->at(i, queries, keys) >= range.to->at(i, queries, keys);
  });
  for (int64_t start = 0; start < others; start += otherBlock) {
    OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
    TileBuilder b(loc, OpBuilder::atBlockEnd(module->getBody()));
    // A part of constants as operands, which kernels are given.
    KeyRange given = range;
    KeyOffsets offsets;
    if (withOperands) {
      offsets.from = takeOperand(b, given.from, 7);
      offsets.to = takeOperand(b, given.to, -KeyBound::kMaxOperand);
    }
    SeenKeys seen(given, b.index(queries), b.index(keys), {}, offsets);
    int64_t last = std::min(start + otherBlock, others) - 1;
    SeenBlocks blocks = seen.find(b, dim, block, b.index(start), b.index(last));
    int64_t begin = evaluate(blocks.begin), end = evaluate(blocks.end);
    int64_t fullBegin = evaluate(blocks.fullBegin),
            fullEnd = evaluate(blocks.fullEnd);
    ASSERT_LE(begin, fullBegin);
    ASSERT_LE(fullBegin, fullEnd);
    ASSERT_LE(fullEnd, end);
    EXPECT_TRUE(blocks.hasLow || fullBegin == begin);
    EXPECT_TRUE(blocks.hasHigh || fullEnd == end);
    int64_t numSeen = 0, numFull = 0;
    for (int64_t number = 0; number * block < size; ++number) {
      int64_t some = 0, all = 0;
      for (int64_t m = number * block; m < std::min((number + 1) * block, size);
           ++m)
        for (int64_t f = start; f <= last; ++f)
          (sees(m, f) ? some : all)++;
      bool isVisited = number >= begin && number < end;
      bool isFull = number >= fullBegin && number < fullEnd;
      EXPECT_TRUE(isVisited || some == 0) << "block " << number;
      EXPECT_TRUE(!isFull || all == 0) << "block " << number;
      numSeen += some > 0;
      numFull += all == 0;
    }
    if (cross)
      continue;
    EXPECT_EQ(end - begin, numSeen);
    EXPECT_EQ(fullEnd - fullBegin, numFull);
  }
}

TEST_F(Seen, BlocksHoldWhatIsSeen) {
  const char *bounds[] = {"",      "0",     "5",          "i",
                          "i+3",   "i-9",   "i+sk-sq+1",  "sk-4",
                          "sq-40", "i/8*8", "i/12*12-16", "i/12*12+sk-sq+7",
                          "i+90",  "i-90",  "-7",         "i/100*100+30"};
  auto parse = [](StringRef text) -> std::optional<KeyBound> {
    if (text.empty())
      return std::nullopt;
    return llvm::cantFail(KeyBound::parse(text));
  };
  for (const char *from : bounds)
    for (const char *to : bounds)
      for (auto [queries, keys] :
           {std::pair(40, 40), std::pair(17, 50), std::pair(61, 13),
            std::pair(1, 33), std::pair(64, 64)})
        for (LogitDim dim : {LogitDim::Keys, LogitDim::Queries})
          for (auto [block, other] : {std::pair(16, 8), std::pair(8, 32)}) {
            SCOPED_TRACE(testing::Message()
                         << "from " << from << " to " << to << ", " << queries
                         << " x " << keys << ", blocks of " << block << " for "
                         << other << (dim == LogitDim::Keys ? " keys" : ""));
            for (bool withOperands : {false, true})
              check({parse(from), parse(to)}, queries, keys, dim, block, other,
                    withOperands);
          }
}
