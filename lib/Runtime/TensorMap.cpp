//===- TensorMap.cpp - What kernels are told of memory --------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Runtime/Device.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace llvm;

namespace mlir::evoformer::runtime {

/// A memref expands to two addresses, an offset, sizes and strides.
constexpr unsigned alignedSlot = 1, offsetSlot = 2, firstSize = 3;

/// What addresses, strides and rows are multiples of ("CUDA Driver API",
/// cuTensorMapEncodeTiled).
constexpr uint64_t alignment = 16;

TensorMap TensorMapArgument::make(ArrayRef<uint64_t> arguments) const {
  ArrayRef<uint64_t> memref = arguments.drop_front(slot);
  unsigned rank = box.size();
  bool isEmpty = false;
  TensorMap map;
  map.elementBytes = elementBytes;
  map.swizzle = swizzle;
  map.address = memref[alignedSlot] + memref[offsetSlot] * elementBytes;
  for (unsigned d = rank; d-- > 0;) {
    uint64_t end = endSlots[d] < 0 ? uint64_t(ends[d]) : arguments[endSlots[d]];
    uint64_t size = std::min(memref[firstSize + d], end);
    // Kernels copy nothing of memory without elements, and nobody goes along a
    // dimension of one, whatever its stride.
    isEmpty |= size == 0;
    map.sizes.push_back(std::max<uint64_t>(size, 1));
    uint64_t stride = memref[firstSize + rank + d] * elementBytes;
    map.strides.push_back(size > 1 ? stride : alignment);
    map.box.push_back(box[d]);
  }
  // It may have no address, which drivers do not take.
  if (isEmpty)
    map.address = tensorMapBytes;
  return map;
}

bool TensorMapArgument::isValidFor(size_t numArguments) const {
  size_t rank = box.size();
  auto isArgument = [&](int64_t number) {
    return number >= 0 && static_cast<size_t>(number) < numArguments;
  };
  bool isValid = rank >= 1 && rank <= maxTensorMapRank &&
                 endSlots.size() == rank && ends.size() == rank &&
                 isArgument(int64_t(slot) + firstSize + 2 * rank - 1) &&
                 (elementBytes == 2 || elementBytes == 4) &&
                 is_contained({0U, 32U, 64U, 128U}, swizzle);
  for (uint32_t size : box)
    isValid &= size >= 1 && size <= maxBoxSize;
  for (auto [end, number] : zip(endSlots, ends))
    isValid &= end == -1 ? number >= 0 : isArgument(end);
  return isValid;
}

std::vector<TensorMap> makeTensorMaps(const KernelInfo &kernel,
                                      ArrayRef<LaunchArgument> arguments) {
  std::vector<TensorMap> maps;
  if (kernel.tensorMaps.empty())
    return maps;
  SmallVector<uint64_t, 64> slots;
  for (const LaunchArgument &argument : arguments)
    slots.push_back(argument.bits);
  for (const TensorMapArgument &map : kernel.tensorMaps)
    maps.push_back(map.make(slots));
  return maps;
}

Error checkTensorMap(const TensorMap &map) {
  auto fail = [](const Twine &what) {
    return createStringError("a tensor map needs " + what);
  };
  constexpr uint64_t mostElements = uint64_t(1) << 32, mostBytes = uint64_t(1)
                                                                   << 40;
  if (map.address == 0 || map.address % alignment != 0)
    return fail("an address that is a multiple of 16, got " +
                Twine(map.address));
  uint64_t rowBytes = uint64_t(map.box.front()) * map.elementBytes;
  if (rowBytes % alignment != 0 || (map.swizzle && map.swizzle != rowBytes))
    return fail("boxes with rows of a multiple of 16 bytes, as many as its "
                "swizzle has, got " +
                Twine(rowBytes));
  for (uint64_t size : map.sizes)
    if (size > mostElements)
      return fail("at most 4294967296 elements a dimension, got " +
                  Twine(size));
  for (uint64_t stride : ArrayRef(map.strides).drop_front())
    if (stride % alignment != 0 || stride >= mostBytes)
      return fail("strides that are multiples of 16 bytes, from 0 to 2^40, "
                  "got " +
                  Twine(static_cast<int64_t>(stride)));
  return Error::success();
}

json::Value toJSON(const TensorMapArgument &map) {
  return json::Object{{"slot", map.slot},
                      {"elementBytes", map.elementBytes},
                      {"swizzle", map.swizzle},
                      {"box", json::Array(map.box)},
                      {"endSlots", json::Array(map.endSlots)},
                      {"ends", json::Array(map.ends)}};
}

/// A number that is not truncated; nothing is this large.
static unsigned narrow(int64_t number) {
  return number >= 0 && number < UINT32_MAX ? number : UINT32_MAX;
}

bool fromJSON(const json::Value &value, TensorMapArgument &map,
              json::Path path) {
  json::ObjectMapper mapper(value, path);
  int64_t slot = 0, elementBytes = 0, swizzle = 0;
  std::vector<int64_t> box, endSlots, ends;
  if (!mapper || !mapper.map("slot", slot) ||
      !mapper.map("elementBytes", elementBytes) ||
      !mapper.map("swizzle", swizzle) || !mapper.map("box", box) ||
      !mapper.map("endSlots", endSlots) || !mapper.map("ends", ends))
    return false;
  map.slot = narrow(slot);
  map.elementBytes = narrow(elementBytes);
  map.swizzle = narrow(swizzle);
  map.box.clear();
  for (int64_t size : box)
    map.box.push_back(narrow(size));
  map.endSlots.assign(endSlots.begin(), endSlots.end());
  map.ends.assign(ends.begin(), ends.end());
  return true;
}

} // namespace mlir::evoformer::runtime
