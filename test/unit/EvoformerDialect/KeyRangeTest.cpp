//===- KeyRangeTest.cpp - The keys that a query sees ----------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Dialect/Evoformer/IR/Evoformer.h"
#include "Evoformer/Dialect/Evoformer/IR/KeyBoundMap.h"

#include "mlir/AsmParser/AsmParser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::evoformer;

namespace {
struct KeyRanges : testing::Test {
  KeyRanges() : context(MLIRContext::Threading::DISABLED) {}

  KeyBound parse(StringRef text) {
    return llvm::cantFail(KeyBound::parse(text));
  }
  std::string refuse(StringRef text) {
    auto bound = KeyBound::parse(text);
    return bound ? "" : llvm::toString(bound.takeError());
  }
  /// What is wrong with a map, or "".
  std::string refuseMap(StringRef map, unsigned numOperands = 0) {
    std::string message;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      message = diagnostic.str();
      return success();
    });
    auto attr = cast<AffineMapAttr>(parseAttribute(map, &context));
    auto emit = [&] { return emitError(UnknownLoc::get(&context)); };
    EXPECT_EQ(failed(readKeyBound(attr.getValue(), numOperands, emit)),
              !message.empty());
    return message;
  }
  bool mentions(const std::string &message, StringRef part) {
    return StringRef(message).contains(part);
  }

  MLIRContext context;
};
} // namespace

TEST_F(KeyRanges, TextAndMapsSayTheSame) {
  const llvm::SmallVector<int64_t, 2> operands[] = {{}, {-1}, {1, 0, -1}};
  for (StringRef text : {"0", "i", "i+sk-sq+1", "i/32*32-48", "-sq+7", "sk-3",
                         "i-1073741824", "sk+sq", "i/7*7+sq"})
    for (const auto &factors : operands) {
      KeyBound bound = parse(text);
      bound.ofOperands = factors;
      auto emit = [&] { return emitError(UnknownLoc::get(&context)); };
      FailureOr<KeyBound> same =
          readKeyBound(makeKeyBoundMap(bound, &context), factors.size(), emit);
      ASSERT_TRUE(succeeded(same)) << text.str();
      EXPECT_TRUE(*same == bound) << text.str();
      auto printed = cast<AffineMapAttr>(parseAttribute(bound.str(), &context));
      same = readKeyBound(printed.getValue(), factors.size(), emit);
      ASSERT_TRUE(succeeded(same)) << text.str();
      EXPECT_TRUE(*same == bound) << text.str();
      EXPECT_FALSE(*same == parse("i+99"));
    }
}

TEST_F(KeyRanges, OperandsAreHeld) {
  KeyBound bound = parse("i-4");
  EXPECT_FALSE(bound.hasOperands());
  bound.ofOperands = {1, -1};
  EXPECT_FALSE(bound == parse("i-4"));
  EXPECT_TRUE(bound.hasOperands());
  EXPECT_EQ(bound.sumOperands({9, 4}), 5);
  EXPECT_EQ(bound.at(10, 1, 1, 5), 11);
  constexpr int64_t most = (int64_t(1) << 30) - 1;
  EXPECT_EQ(bound.sumOperands({INT64_MAX, 0}), most);
  EXPECT_EQ(bound.sumOperands({0, INT64_MIN}), most);
  EXPECT_EQ(bound.sumOperands({INT64_MAX, INT64_MIN}), most);
  EXPECT_EQ(bound.sumOperands({INT64_MIN, INT64_MAX}), -most);
  EXPECT_EQ(bound.sumOperands({INT64_MIN, INT64_MIN}), 0);
}

TEST_F(KeyRanges, OperandsAreNamed) {
  KeyBound from = parse("i"), to = parse("sk");
  from.ofOperands = {-1};
  to.ofOperands = {1, 1};
  KeyRange range{from, to};
  EXPECT_EQ(range.str(),
            "keys(from affine_map<(i)[sq, sk, x0] -> (i + x0 * -1 + sq * 0 + "
            "sk * 0 + 0)>[%from0], to affine_map<(i)[sq, sk, x0, x1] -> (x0 * "
            "1 + x1 * 1 + sq * 0 + sk * 1 + 0)>[%to0, %to1])");
}

TEST_F(KeyRanges, HaveValues) {
  EXPECT_EQ(parse("i+sk-sq+1").at(3, 10, 12), 6);
  EXPECT_EQ(parse("i/32*32-48").at(95, 100, 100), 16);
  EXPECT_EQ(parse("sk-3").at(95, 100, 50), 47);
}

TEST_F(KeyRanges, TermsCancel) {
  EXPECT_TRUE(parse("i/4*4-i/4*4") == parse("0"));
  EXPECT_TRUE(parse("i/4*4-i/4*4+i") == parse("i"));
}

TEST_F(KeyRanges, RefuseTextThatIsNoBound) {
  for (StringRef text : {"", "j", "i*2", "i+i", "-i", "i/0*0", "i/4*5", "i/4",
                         "1+", "sk+sk", "i 1", "4294967296", "+-3", "i/2*2+i",
                         "sqsk", "i-i/4*4", "i-i/4*4+i", "i/8*8+i/4*4-i"})
    EXPECT_TRUE(mentions(refuse(text), "accepted are sums of i or i/c*c"))
        << text.str();
}

TEST_F(KeyRanges, RefuseMapsThatAreNoBound) {
  auto map = [](StringRef result) {
    return ("affine_map<(i)[sq, sk] -> (" + result + ")>").str();
  };
  EXPECT_EQ(refuseMap(map("i + sk - sq")), "");
  EXPECT_EQ(refuseMap(map("(i floordiv 8) * 8")), "");
  EXPECT_TRUE(mentions(refuseMap(map("2 * i")), "coefficient 0 or 1"));
  EXPECT_TRUE(mentions(refuseMap(map("3 - i")), "coefficient 0 or 1"));
  EXPECT_TRUE(mentions(refuseMap(map("i floordiv 8")), "(i floordiv c) * c"));
  EXPECT_TRUE(mentions(refuseMap(map("i mod 8")), "accepted are sums"));
  EXPECT_TRUE(
      mentions(refuseMap(map("i + (i floordiv 8) * 8")), "accepted are sums"));
  EXPECT_TRUE(mentions(refuseMap(map("sk ceildiv 2")), "accepted are sums"));
  EXPECT_TRUE(mentions(refuseMap(map("sk * 2")), "sq and sk must have"));
  EXPECT_TRUE(mentions(refuseMap(map("i + 1073741825")), "from -2^30 to 2^30"));
  EXPECT_TRUE(mentions(refuseMap(map("sq * -4611686018427387904 + "
                                     "sq * -4611686018427387904")),
                       "sq and sk must have"));
  EXPECT_TRUE(mentions(refuseMap("affine_map<(i) -> (i)>"),
                       "must be a map (i)[sq, sk]"));
  EXPECT_TRUE(mentions(refuseMap("affine_map<(i)[a, b] -> (i, a)>"),
                       "must be a map (i)[sq, sk]"));
  StringRef ofOne = "affine_map<(i)[sq, sk, w] -> (i - w)>";
  EXPECT_EQ(refuseMap(ofOne, 1), "");
  EXPECT_TRUE(mentions(refuseMap(ofOne, 0), "symbols behind sq and sk, 1"));
  EXPECT_TRUE(mentions(refuseMap(ofOne, 2), "but has 2; the map is"));
  EXPECT_TRUE(mentions(refuseMap("affine_map<(i)[sq, sk, w] -> (w * 2)>", 1),
                       "operands must have the coefficient -1, 0 or 1"));
}

TEST_F(KeyRanges, BoundsThatAllKeysKeepToGo) {
  std::optional<int64_t> unknown;
  auto simplify = [&](StringRef from, StringRef to,
                      std::optional<int64_t> queries,
                      std::optional<int64_t> keys) {
    KeyRange range{parse(from), parse(to)};
    KeyRange left = range.simplified(queries, keys);
    return std::pair(left.from.has_value(), left.to.has_value());
  };
  using Left = std::pair<bool, bool>;
  EXPECT_EQ(simplify("0", "sk", unknown, unknown), Left(false, false));
  EXPECT_EQ(simplify("-5", "i+sk+1", unknown, unknown), Left(false, false));
  EXPECT_EQ(simplify("i-8", "i+8", unknown, unknown), Left(true, true));
  EXPECT_EQ(simplify("i-8", "i+8", 9, 8), Left(false, false));
  EXPECT_EQ(simplify("i-8", "i+8", 10, 9), Left(true, true));
  EXPECT_EQ(simplify("1", "sk-1", unknown, unknown), Left(true, true));
  EXPECT_EQ(simplify("i-sq+1", "i+sk-sq+1", 5, unknown), Left(false, true));
  KeyRange range{parse("0"), parse("sk")};
  range.from->ofOperands = range.to->ofOperands = {0};
  EXPECT_TRUE(range.simplified(4, 4) == range);
}

TEST_F(KeyRanges, CountPairs) {
  KeyRange causal{std::nullopt, parse("i+sk-sq+1")};
  EXPECT_EQ(countPairs(causal, 4, 4), 10);
  EXPECT_EQ(countPairs(causal, 2, 4), 7);
  KeyRange window{parse("i-1"), parse("i+2")};
  EXPECT_EQ(countPairs(window, 4, 4), 10);
  EXPECT_EQ(countPairs({}, 3, 5), 15);
  // A bound that nobody knows may leave out none.
  window.from->ofOperands = {-1};
  EXPECT_EQ(countPairs(window, 4, 4), 13);
  window.to->ofOperands = {1};
  EXPECT_EQ(countPairs(window, 4, 4), 16);
}
