//===- Cache.cpp - Compiled programs on disk ------------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cache.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>

using namespace llvm;
using namespace mlir::evoformer::capi;

constexpr StringLiteral magic = "evoformer-cache 1 ";

std::string mlir::evoformer::capi::hashText(StringRef text) {
  return toHex(SHA256::hash(arrayRefFromStringRef(text)), /*LowerCase=*/true);
}

std::string DiskCache::getDefaultFolder() {
  if (const char *folder = std::getenv("EVOFORMER_CACHE_DIR"))
    return folder;
  SmallString<128> path;
  if (!sys::path::cache_directory(path))
    return "";
  sys::path::append(path, "evoformer");
  return path.str().str();
}

std::string DiskCache::getPath(StringRef key) const {
  SmallString<128> path(folder);
  sys::path::append(path, key + ".plan");
  return path.str().str();
}

std::optional<std::string> DiskCache::get(StringRef key) const {
  if (folder.empty())
    return std::nullopt;
  auto file = MemoryBuffer::getFile(getPath(key));
  if (!file)
    return std::nullopt;
  StringRef text = (*file)->getBuffer();
  if (!text.consume_front(magic))
    return std::nullopt;
  auto [checksum, contents] = text.split('\n');
  if (checksum != hashText(contents))
    return std::nullopt;
  return contents.str();
}

void DiskCache::put(StringRef key, StringRef contents) const {
  if (folder.empty() || sys::fs::create_directories(folder))
    return;
  // Several processes may write one entry: each its own file, renamed when it
  // is whole.
  // (sys::fs::TempFile would install handlers of signals in the host.)
  SmallString<128> model(folder), path;
  sys::path::append(model, key + "-%%%%%%%%.tmp");
  int descriptor = 0;
  if (sys::fs::createUniqueFile(model, descriptor, path))
    return;
  raw_fd_ostream os(descriptor, /*shouldClose=*/true);
  os << magic << hashText(contents) << '\n' << contents;
  os.close();
  bool good = !os.has_error();
  os.clear_error();
  if (!good || sys::fs::rename(path, getPath(key)))
    sys::fs::remove(path);
}
