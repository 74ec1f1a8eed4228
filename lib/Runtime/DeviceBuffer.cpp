//===- DeviceBuffer.cpp - Device memory between guard zones ---------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Runtime/Session.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace mlir::evoformer::runtime {

constexpr char untouchedByte = static_cast<char>(0xff);
/// Large buffers are filled and checked in pieces of this size.
constexpr uint64_t pieceBytes = uint64_t(16) << 20;

static Error fillUntouched(Device &device, uint64_t address, uint64_t bytes) {
  std::vector<char> piece(std::min(bytes, pieceBytes), untouchedByte);
  for (uint64_t at = 0; at < bytes; at += pieceBytes)
    if (Error error = device.copyIn(
            address + at,
            ArrayRef(piece).take_front(std::min(pieceBytes, bytes - at))))
      return error;
  return Error::success();
}

Error checkUntouched(Device &device, uint64_t address, uint64_t bytes,
                     const Twine &what) {
  std::vector<char> piece(std::min(bytes, pieceBytes));
  for (uint64_t at = 0; at < bytes; at += pieceBytes) {
    piece.resize(std::min(pieceBytes, bytes - at));
    if (Error error = device.copyOut(piece, address + at))
      return error;
    auto it = find_if(piece, [](char c) { return c != untouchedByte; });
    if (it != piece.end())
      return createStringError(what + " was written to, first at byte " +
                               Twine(at + (it - piece.begin())) + " of " +
                               Twine(bytes));
  }
  return Error::success();
}

DeviceBuffer::DeviceBuffer(DeviceBuffer &&other) noexcept
    : device(other.device), name(std::move(other.name)), bytes(other.bytes),
      guardBytes(other.guardBytes), address(std::exchange(other.address, 0)) {}

DeviceBuffer &DeviceBuffer::operator=(DeviceBuffer &&other) noexcept {
  std::swap(device, other.device);
  std::swap(name, other.name);
  std::swap(bytes, other.bytes);
  std::swap(guardBytes, other.guardBytes);
  std::swap(address, other.address);
  return *this;
}

DeviceBuffer::~DeviceBuffer() {
  // A failing release leaves nothing to do.
  if (address)
    consumeError(device->release(address));
}

Expected<DeviceBuffer> DeviceBuffer::create(Device &device, std::string name,
                                            uint64_t bytes,
                                            uint64_t guardBytes) {
  guardBytes = alignTo(guardBytes, bufferAlignment);
  if (bytes > UINT64_MAX / 4 || guardBytes > UINT64_MAX / 4)
    return createStringError("buffer '" + name + "' is impossibly large");
  DeviceBuffer buffer(device, std::move(name), bytes, guardBytes);
  uint64_t total = bytes + 2 * guardBytes;
  Expected<uint64_t> address = device.allocate(total);
  if (!address)
    return createStringError("buffer '" + buffer.name +
                             "': " + toString(address.takeError()));
  buffer.address = *address;
  if (Error error = fillUntouched(device, *address, total))
    return error;
  return buffer;
}

Error DeviceBuffer::write(ArrayRef<char> data, uint64_t offset) {
  if (offset > bytes || data.size() > bytes - offset)
    return createStringError("buffer '" + name + "' is too small");
  return device->copyIn(getAddress() + offset, data);
}

Error DeviceBuffer::read(MutableArrayRef<char> data, uint64_t offset) const {
  if (offset > bytes || data.size() > bytes - offset)
    return createStringError("buffer '" + name + "' is too small");
  return device->copyOut(data, getAddress() + offset);
}

Error DeviceBuffer::poison() {
  return fillUntouched(*device, getAddress(), bytes);
}

Error DeviceBuffer::checkGuards() const {
  if (Error error = checkUntouched(*device, address, guardBytes,
                                   "the guard zone before '" + name + "'"))
    return error;
  return checkUntouched(*device, getAddress() + bytes, guardBytes,
                        "the guard zone after '" + name + "'");
}

} // namespace mlir::evoformer::runtime
