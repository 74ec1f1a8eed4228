//===- HostArray.h - Strided arrays between host and device -----*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_DRIVER_HOSTARRAY_H
#define EVOFORMER_DRIVER_HOSTARRAY_H

#include "Evoformer/Runtime/Npy.h"
#include "Evoformer/Runtime/Session.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::evoformer {

/// How an array lies in memory, in elements.
struct ArrayLayout {
  runtime::ElementType type = runtime::ElementType::F32;
  llvm::SmallVector<int64_t, 6> sizes, strides;
  /// Elements before the first one.
  int64_t offset = 0;

  int64_t getNumElements() const;
  /// Elements from the start of the storage to behind the last one.
  int64_t getStorageElements() const;
};

/// Dense, the dimensions listed outermost first in `order` (empty: as they
/// come).
ArrayLayout makeDense(runtime::ElementType type, llvm::ArrayRef<int64_t> sizes,
                      llvm::ArrayRef<unsigned> order = {});

/// An array in host memory. Bytes that belong to no element are all ones, as in
/// a fresh device buffer.
struct HostArray {
  explicit HostArray(ArrayLayout layout);

  ArrayLayout layout;
  std::vector<char> storage;

  double read(llvm::ArrayRef<int64_t> index) const;
  void write(llvm::ArrayRef<int64_t> index, double number);
  /// Calls `function` with the byte offset of every element, row-major.
  void forEach(llvm::function_ref<void(llvm::ArrayRef<int64_t> index,
                                       int64_t byteOffset)>
                   function) const;
  /// Whether the bytes between the elements, those that `isElement` says where
  /// there is one, are still all ones.
  bool gapsAreUntouched(
      llvm::function_ref<bool(llvm::ArrayRef<int64_t>)> isElement = {}) const;
};

HostArray fromTensor(const runtime::HostTensor &tensor, ArrayLayout layout);
runtime::HostTensor toTensor(const HostArray &array);

/// The descriptor of an array at an address; `order` permutes the dimensions
/// (empty: as they are).
runtime::HostValue describe(const ArrayLayout &layout, uint64_t address,
                            llvm::ArrayRef<unsigned> order = {});

/// An array's place on a device.
class DeviceArray {
public:
  static llvm::Expected<DeviceArray> create(runtime::Device &device,
                                            std::string name,
                                            const ArrayLayout &layout,
                                            uint64_t guardBytes);

  llvm::Error upload(const HostArray &array) {
    return buffer.write(array.storage);
  }
  llvm::Error download(HostArray &array) const {
    return buffer.read(array.storage);
  }
  llvm::Error poison() { return buffer.poison(); }
  llvm::Error checkGuards() const { return buffer.checkGuards(); }
  /// The descriptor; `order` permutes the dimensions (empty: as they are).
  runtime::HostValue getValue(llvm::ArrayRef<unsigned> order = {}) const;

private:
  DeviceArray(runtime::DeviceBuffer buffer, ArrayLayout layout)
      : buffer(std::move(buffer)), layout(std::move(layout)) {}

  runtime::DeviceBuffer buffer;
  ArrayLayout layout;
};

} // namespace mlir::evoformer

#endif // EVOFORMER_DRIVER_HOSTARRAY_H
