//===- NpyTest.cpp - Reading and writing .npy files -----------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Runtime/Npy.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace llvm;
using namespace mlir::evoformer::runtime;

namespace {
/// A file with this header and data.
std::string npy(StringRef header, StringRef data, char major = 1) {
  std::string text = "\x93NUMPY";
  text += major;
  text += '\0';
  text += static_cast<char>(header.size() & 0xff);
  text += static_cast<char>(header.size() >> 8);
  if (major > 1)
    text += std::string(2, '\0');
  return text + header.str() + data.str();
}

std::string problem(StringRef contents) {
  Expected<HostTensor> tensor = parseNpy(contents);
  return tensor ? "" : toString(tensor.takeError());
}

const char floatHeader[] =
    "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
} // namespace

TEST(Npy, ReadsAllVersions) {
  std::string data(24, '\1');
  for (char version : {1, 2, 3}) {
    Expected<HostTensor> tensor = parseNpy(npy(floatHeader, data, version));
    ASSERT_TRUE(bool(tensor)) << toString(tensor.takeError());
    EXPECT_EQ(tensor->elementType, ElementType::F32);
    EXPECT_EQ(tensor->shape, (SmallVector<int64_t>{2, 3}));
    EXPECT_EQ(tensor->getNumElements(), 6);
  }
}

TEST(Npy, ReadsTypes) {
  auto type = [](StringRef descr, std::optional<ElementType> wanted =
                                      std::nullopt) -> std::string {
    std::string header = "{'descr': '" + descr.str() +
                         "', 'fortran_order': False, 'shape': (0,), }";
    Expected<HostTensor> tensor = parseNpy(npy(header, ""), wanted);
    return tensor ? getName(tensor->elementType).str()
                  : toString(tensor.takeError());
  };
  EXPECT_EQ(type("|b1"), "i1");
  EXPECT_EQ(type("|i1"), "i8");
  EXPECT_EQ(type("<f2"), "f16");
  EXPECT_EQ(type("<V2"), "bf16");
  EXPECT_EQ(type("|V2"), "bf16");
  EXPECT_EQ(type("bfloat16"), "bf16");
  EXPECT_EQ(type("<u2"), "i16");
  EXPECT_EQ(type("<u2", ElementType::BF16), "bf16");
  EXPECT_NE(type(">f4").find("big-endian"), std::string::npos);
  EXPECT_NE(type("<c8").find("unsupported element type"), std::string::npos);
}

TEST(Npy, ColumnMajorBecomesRowMajor) {
  std::string header =
      "{'descr': '|i1', 'fortran_order': True, 'shape': (2, 3), }";
  Expected<HostTensor> tensor = parseNpy(npy(header, "adbecf"));
  ASSERT_TRUE(bool(tensor)) << toString(tensor.takeError());
  EXPECT_EQ(std::string(tensor->data.begin(), tensor->data.end()), "abcdef");
}

TEST(Npy, BooleansAreZeroOrOne) {
  std::string header =
      "{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }";
  Expected<HostTensor> tensor = parseNpy(npy(header, StringRef("\0\7", 2)));
  ASSERT_TRUE(bool(tensor)) << toString(tensor.takeError());
  EXPECT_EQ(tensor->data, (std::vector<char>{0, 1}));
}

TEST(Npy, TheLastOfEqualKeysCounts) {
  HostTensor tensor =
      cantFail(parseNpy(npy("{'shape': (7, 7), 'descr': '|i1', 'descr': '<f4', "
                            "'fortran_order': True, "
                            "'fortran_order': False, 'shape': (2,), }",
                            std::string(8, 0))));
  EXPECT_EQ(tensor.elementType, ElementType::F32);
  EXPECT_EQ(tensor.shape, SmallVector<int64_t>({2}));
}

TEST(Npy, RefusesGarbage) {
  std::string good = npy(floatHeader, std::string(24, 'x'));
  EXPECT_EQ(problem(good), "");
  for (size_t length = 0; length < good.size(); ++length)
    EXPECT_NE(problem(StringRef(good).take_front(length)), "") << length;
  EXPECT_NE(problem(good + "x").find("holds 25"), std::string::npos);
  EXPECT_NE(problem(npy("{'descr': '<f4', 'fortran_order': False, 'shape': "
                        "(4611686018427387904, 4), }",
                        ""))
                .find("overflows"),
            std::string::npos);
  for (StringRef header :
       {"", "{", "{'descr'", "{'descr': '<f4'}", "{'shape': (-1,)}",
        "{'shape': (1", "{'descr': [('a', '<f4')]}", "{'other': 1}",
        "{'fortran_order': Maybe}"})
    EXPECT_NE(problem(npy(header, "")), "") << header.str();
}

TEST(Npy, RoundTripsThroughAFile) {
  SmallString<128> folder;
  ASSERT_FALSE(sys::fs::createUniqueDirectory("evoformer-npy", folder));
  SmallString<128> path(folder);
  sys::path::append(path, "x.npy");
  const SmallVector<int64_t> shapes[] = {{}, {3}, {2, 0}, {2, 3, 1}};
  for (const SmallVector<int64_t> &shape : shapes) {
    for (ElementType type : {ElementType::I1, ElementType::BF16,
                             ElementType::F32, ElementType::F64}) {
      HostTensor tensor;
      tensor.elementType = type;
      tensor.shape = shape;
      tensor.data.resize(*getByteCount(type, shape), 1);
      ASSERT_FALSE(errorToBool(writeNpy(path, tensor)));
      Expected<HostTensor> read = readNpy(path);
      ASSERT_TRUE(bool(read)) << toString(read.takeError());
      EXPECT_EQ(read->elementType, type);
      EXPECT_EQ(read->shape, tensor.shape);
      EXPECT_EQ(read->data, tensor.data);
    }
  }
  HostTensor deep;
  deep.elementType = ElementType::F32;
  deep.shape.assign(40000, 1);
  deep.data.resize(4);
  EXPECT_EQ(toString(writeNpy(path, deep)), "rank too large for a .npy file");
  sys::fs::remove_directories(folder);
  EXPECT_TRUE(errorToBool(writeNpy(path, HostTensor())));
  EXPECT_TRUE(errorToBool(readNpy(path).takeError()));
}

TEST(ElementType, RoundsToNearestEven) {
  auto roundTrip = [](ElementType type, double value) {
    char bytes[8];
    writeElement(type, value, bytes);
    return readElement(type, bytes);
  };
  EXPECT_EQ(roundTrip(ElementType::BF16, 1.0 + 1.0 / 256), 1.0);
  EXPECT_EQ(roundTrip(ElementType::BF16, 1.0 + 3.0 / 256), 1.0 + 1.0 / 64);
  EXPECT_EQ(roundTrip(ElementType::F16, 65519.0), 65504.0);
  EXPECT_TRUE(std::isinf(roundTrip(ElementType::F16, 65520.0)));
  EXPECT_TRUE(std::isnan(roundTrip(ElementType::BF16, NAN)));
  EXPECT_EQ(roundTrip(ElementType::F16, 0x1p-24), 0x1p-24);
}
