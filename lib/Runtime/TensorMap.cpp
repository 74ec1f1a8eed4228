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

TensorMap TensorMapArgument::make(ArrayRef<uint64_t> arguments) const {
  ArrayRef<uint64_t> memref = arguments.drop_front(slot);
  unsigned rank = box.size();
  TensorMap map;
  map.elementBytes = elementBytes;
  map.swizzle = swizzle;
  map.address = memref[alignedSlot] + memref[offsetSlot] * elementBytes;
  for (unsigned d = rank; d-- > 0;) {
    uint64_t end = endSlots[d] < 0 ? uint64_t(ends[d]) : arguments[endSlots[d]];
    uint64_t size = std::min(memref[firstSize + d], end);
    // Of memory without elements nothing is copied, and nobody goes along a
    // dimension of one, whatever its stride.
    map.sizes.push_back(std::max<uint64_t>(size, 1));
    uint64_t stride = memref[firstSize + rank + d] * elementBytes;
    map.strides.push_back(size > 1 ? stride : 16);
    map.box.push_back(box[d]);
  }
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

json::Value toJSON(const TensorMapArgument &map) {
  return json::Object{{"slot", map.slot},
                      {"elementBytes", map.elementBytes},
                      {"swizzle", map.swizzle},
                      {"box", json::Array(map.box)},
                      {"endSlots", json::Array(map.endSlots)},
                      {"ends", json::Array(map.ends)}};
}

bool fromJSON(const json::Value &value, TensorMapArgument &map,
              json::Path path) {
  json::ObjectMapper mapper(value, path);
  std::vector<unsigned> box;
  std::vector<int64_t> endSlots, ends;
  if (!mapper || !mapper.map("slot", map.slot) ||
      !mapper.map("elementBytes", map.elementBytes) ||
      !mapper.map("swizzle", map.swizzle) || !mapper.map("box", box) ||
      !mapper.map("endSlots", endSlots) || !mapper.map("ends", ends))
    return false;
  map.box.assign(box.begin(), box.end());
  map.endSlots.assign(endSlots.begin(), endSlots.end());
  map.ends.assign(ends.begin(), ends.end());
  return true;
}

} // namespace mlir::evoformer::runtime
