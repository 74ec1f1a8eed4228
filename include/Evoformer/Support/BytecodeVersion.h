//===- BytecodeVersion.h - The version of a dialect in bytecode -*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bytecode of another form of a dialect is refused by its version, before its
// ops are read as what they are not.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_SUPPORT_BYTECODEVERSION_H
#define EVOFORMER_SUPPORT_BYTECODEVERSION_H

#include "mlir/Bytecode/BytecodeImplementation.h"

namespace mlir::evoformer {

/// Changes with every op or attribute that a file may hold and that is written
/// otherwise than before.
inline constexpr uint64_t kBytecodeVersion = 1;

struct BytecodeVersion : DialectVersion {};

struct BytecodeVersionInterface : BytecodeDialectInterface {
  explicit BytecodeVersionInterface(Dialect *dialect)
      : BytecodeDialectInterface(dialect) {}

  void writeVersion(DialectBytecodeWriter &writer) const override {
    writer.writeVarInt(kBytecodeVersion);
  }

  std::unique_ptr<DialectVersion>
  readVersion(DialectBytecodeReader &reader) const override {
    uint64_t version;
    if (failed(reader.readVarInt(version)))
      return nullptr;
    if (version == kBytecodeVersion)
      return std::make_unique<BytecodeVersion>();
    reader.emitError() << "the file has version " << version << " of dialect '"
                       << getDialect()->getNamespace() << "'; accepted is "
                       << kBytecodeVersion;
    return nullptr;
  }
};

} // namespace mlir::evoformer

#endif // EVOFORMER_SUPPORT_BYTECODEVERSION_H
