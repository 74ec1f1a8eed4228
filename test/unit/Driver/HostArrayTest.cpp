//===- HostArrayTest.cpp - Strided arrays ---------------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Driver/HostArray.h"
#include "Evoformer/Driver/Measure.h"
#include "gtest/gtest.h"

using namespace mlir::evoformer;
using namespace mlir::evoformer::runtime;
using llvm::cantFail;

TEST(HostArray, OrdersAndGaps) {
  ArrayLayout layout = makeDense(ElementType::I8, {2, 3}, {1, 0});
  EXPECT_EQ(layout.strides, (llvm::SmallVector<int64_t, 6>{1, 2}));
  layout.strides[1] = 3;
  layout.offset = 1;
  EXPECT_EQ(layout.getStorageElements(), 9);
  HostTensor tensor;
  tensor.elementType = ElementType::I8;
  tensor.shape = {2, 3};
  tensor.data = {1, 2, 3, 4, 5, 6};
  HostArray array = fromTensor(tensor, layout);
  EXPECT_EQ(array.storage, (std::vector<char>{-1, 1, 4, -1, 2, 5, -1, 3, 6}));
  EXPECT_EQ(toTensor(array).data, tensor.data);
  EXPECT_EQ(array.read({1, 2}), 6);
  EXPECT_TRUE(array.gapsAreUntouched());
  array.storage[3] = 0;
  EXPECT_FALSE(array.gapsAreUntouched());
}

TEST(HostArray, EmptyAndRepeated) {
  HostArray empty(makeDense(ElementType::F32, {3, 0, 2}));
  EXPECT_EQ(empty.storage.size(), 0u);
  EXPECT_TRUE(toTensor(empty).data.empty());
  ArrayLayout layout = makeDense(ElementType::F32, {4, 2});
  layout.strides[0] = 0;
  EXPECT_EQ(HostArray(layout).storage.size(), 8u);
}

TEST(Measure, RunsWarmupsAndRepeats) {
  std::unique_ptr<Device> device = cantFail(createCPUDevice(1));
  unsigned runs = 0;
  Times times = cantFail(measure(*device, {5, 2, false}, [&] {
    ++runs;
    return llvm::Error::success();
  }));
  EXPECT_EQ(runs, 7u);
  EXPECT_EQ(times.repeats, 5u);
  EXPECT_LE(times.minimum, times.median);
  EXPECT_LE(times.median, times.maximum);
}
