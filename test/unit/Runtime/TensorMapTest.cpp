//===- TensorMapTest.cpp - Tensor maps of a launch's arguments ------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Runtime/TensorMap.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace mlir::evoformer::runtime;

namespace {

/// Of a memref of rank 3 behind one scalar.
TensorMapArgument makeArgument() {
  TensorMapArgument map;
  map.slot = 1;
  map.elementBytes = 2;
  map.box = {1, 32, 64};
  map.endSlots = {4, 10, -1};
  map.ends = {0, 0, 48};
  return map;
}

/// A scalar, the memref (addresses, offset, sizes, strides), an extent.
const uint64_t kArguments[] = {9, 4096, 4096, 8, 1, 100, 64, 7, 64, 1, 90};

TEST(TensorMaps, AreMadeOfALaunch) {
  TensorMap map = makeArgument().make(kArguments);
  EXPECT_EQ(map.address, 4096u + 8 * 2);
  // The fastest dimension first, which ends at a number; the rows at an
  // argument; and a dimension of one, whose stride nobody needs.
  EXPECT_EQ(map.sizes, (SmallVector<uint64_t, 5>{48, 90, 1}));
  EXPECT_EQ(map.strides, (SmallVector<uint64_t, 5>{2, 128, 16}));
  EXPECT_EQ(map.box, (SmallVector<uint32_t, 5>{64, 32, 1}));
}

TEST(TensorMaps, EndWithTheMemory) {
  TensorMapArgument argument = makeArgument();
  argument.ends[2] = 1000;
  EXPECT_EQ(argument.make(kArguments).sizes[0], 64u);
}

TEST(TensorMaps, OfMemoryWithoutElementsHaveOneAndAnAddress) {
  std::vector<uint64_t> arguments(std::begin(kArguments), std::end(kArguments));
  arguments[1] = arguments[2] = arguments[3] = arguments[5] = 0;
  TensorMap map = makeArgument().make(arguments);
  EXPECT_EQ(map.sizes[1], 1u);
  EXPECT_NE(map.address, 0u);
}

TEST(TensorMaps, AreWhatDriversTake) {
  auto problem = [](auto change) {
    TensorMap map;
    map.address = 4096;
    map.elementBytes = 2;
    map.sizes = {48, 90};
    map.strides = {2, 96};
    map.box = {32, 8};
    change(map);
    return toString(checkTensorMap(map));
  };
  EXPECT_EQ(problem([](TensorMap &) {}), "");
  EXPECT_EQ(problem([](TensorMap &map) { map.strides[1] = 0; }), "");
  EXPECT_EQ(problem([](TensorMap &map) { map.address = 8; }),
            "a tensor map needs an address that is a multiple of 16, got 8");
  EXPECT_EQ(problem([](TensorMap &map) { map.box[0] = 20; }),
            "a tensor map needs boxes with rows of a multiple of 16 bytes, as "
            "many as its swizzle has, got 40");
  EXPECT_EQ(problem([](TensorMap &map) { map.swizzle = 128; }),
            "a tensor map needs boxes with rows of a multiple of 16 bytes, as "
            "many as its swizzle has, got 64");
  EXPECT_EQ(problem([](TensorMap &map) { map.sizes[1] = uint64_t(1) << 33; }),
            "a tensor map needs at most 4294967296 elements a dimension, got "
            "8589934592");
  EXPECT_EQ(problem([](TensorMap &map) { map.strides[1] = uint64_t(-96); }),
            "a tensor map needs strides that are multiples of 16 bytes, from 0 "
            "to 2^40, got -96");
}

TEST(TensorMaps, PassThroughJSON) {
  json::Path::Root root;
  TensorMapArgument read;
  ASSERT_TRUE(fromJSON(toJSON(makeArgument()), read, root));
  EXPECT_EQ(toJSON(read), toJSON(makeArgument()));
  // Numbers that 32 bits do not hold are none of a map.
  json::Value large = toJSON(makeArgument());
  (*large.getAsObject())["slot"] = int64_t(1) << 40;
  ASSERT_TRUE(fromJSON(large, read, root));
  EXPECT_FALSE(read.isValidFor(11));
  EXPECT_FALSE(fromJSON(json::Object{{"slot", 1}}, read, root));
  EXPECT_FALSE(fromJSON(json::Value("map"), read, root));
}

TEST(TensorMaps, AreOfArgumentsThatThereAre) {
  EXPECT_TRUE(makeArgument().isValidFor(11));
  // The last argument is an end; the memref has six behind its pointers.
  EXPECT_FALSE(makeArgument().isValidFor(10));
  auto without = [](auto change) {
    TensorMapArgument map = makeArgument();
    change(map);
    return map.isValidFor(11);
  };
  EXPECT_FALSE(without([](auto &map) { map.slot = 3; }));
  EXPECT_FALSE(without([](auto &map) { map.slot = UINT32_MAX; }));
  EXPECT_FALSE(without([](auto &map) { map.elementBytes = 8; }));
  EXPECT_FALSE(without([](auto &map) { map.swizzle = 48; }));
  EXPECT_FALSE(without([](auto &map) { map.box[0] = 0; }));
  EXPECT_FALSE(without([](auto &map) { map.box[0] = 257; }));
  EXPECT_FALSE(without([](auto &map) { map.box.clear(); }));
  EXPECT_FALSE(without([](auto &map) { map.ends.pop_back(); }));
  EXPECT_FALSE(without([](auto &map) { map.endSlots[0] = -2; }));
  EXPECT_FALSE(without([](auto &map) { map.ends[2] = -1; }));
}

} // namespace
