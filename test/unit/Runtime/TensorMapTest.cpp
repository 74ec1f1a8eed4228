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

TEST(TensorMaps, OfMemoryWithoutElementsHaveOne) {
  std::vector<uint64_t> arguments(std::begin(kArguments), std::end(kArguments));
  arguments[5] = 0;
  EXPECT_EQ(makeArgument().make(arguments).sizes[1], 1u);
}

TEST(TensorMaps, PassThroughJSON) {
  json::Path::Root root;
  TensorMapArgument read;
  ASSERT_TRUE(fromJSON(toJSON(makeArgument()), read, root));
  EXPECT_EQ(toJSON(read), toJSON(makeArgument()));
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
