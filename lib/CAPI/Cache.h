//===- Cache.h - Compiled programs on disk ----------------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CAPI_CACHE_H
#define EVOFORMER_LIB_CAPI_CACHE_H

#include "llvm/ADT/StringRef.h"
#include <memory>
#include <optional>
#include <string>

namespace mlir::evoformer::capi {

/// A folder with one file an entry. A file appears whole or not at all, and
/// holds a checksum of its key and contents, so that processes may share the
/// folder, and a damaged entry or that of another key is none.
///
/// Entries are code that this process will run. So nobody else may have written
/// them: the folder and its files belong to the user of this process and can be
/// written by no other, or they are not used, which is said once on standard
/// error. What is made here only the user can read.
class DiskCache {
public:
  /// `folder` empty: no cache.
  explicit DiskCache(std::string folder) : folder(std::move(folder)) {}

  /// $EVOFORMER_CACHE_DIR, $XDG_CACHE_HOME/evoformer, ~/.cache/evoformer.
  static std::string getDefaultFolder();

  std::optional<std::string> get(llvm::StringRef key) const;
  /// A folder that cannot be written is as good as none.
  void put(llvm::StringRef key, llvm::StringRef contents) const;

  /// Held by whoever makes an entry; other processes that want it wait in here
  /// meanwhile, and then find it. It ends with its owner, however that ends.
  /// Null where there is none to be had: without a folder or a file system that
  /// knows locks, and after $EVOFORMER_CACHE_WAIT seconds, by default ten
  /// minutes, for an owner that is stuck. Then the caller goes on without.
  std::shared_ptr<void> lock(llvm::StringRef key) const;

private:
  std::string folder;
};

/// SHA-256 as hexadecimal digits.
std::string hashText(llvm::StringRef text);

} // namespace mlir::evoformer::capi

#endif // EVOFORMER_LIB_CAPI_CACHE_H
