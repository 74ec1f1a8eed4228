//===- Support.cpp - Errors and texts of the C API ------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <link.h>
#include <string>

using namespace llvm;
using namespace mlir::evoformer;

static thread_local std::string lastError;

EvoformerStatus capi::fail(const Twine &message) {
  // A message may quote what the caller gave.
  lastError = json::fixUTF8(message.str());
  return EVOFORMER_FAILURE;
}

EvoformerStatus capi::fail(Error error) {
  return fail(toString(std::move(error)));
}

char *capi::copyText(StringRef text) {
  char *copy = static_cast<char *>(std::malloc(text.size() + 1));
  std::memcpy(copy, text.data(), text.size());
  copy[text.size()] = 0;
  return copy;
}

Error capi::forEachWord(
    StringRef text,
    function_ref<Error(StringRef key, StringRef value)> handle) {
  SmallVector<StringRef> words;
  SplitString(text, words);
  for (StringRef word : words) {
    auto [key, value] = word.split('=');
    if (Error error = handle(key, value))
      return error;
  }
  return Error::success();
}

/// Whether the object holds this library; then its build identifier is taken
/// (System V ABI, "Note Section"; the type is NT_GNU_BUILD_ID).
static int findBuildId(dl_phdr_info *info, size_t, void *result) {
  // An object of this library.
  static const char anchor = 0;
  ArrayRef headers(info->dlpi_phdr, info->dlpi_phnum);
  auto getAddress = [&](const ElfW(Phdr) & header) {
    return info->dlpi_addr + header.p_vaddr;
  };
  uintptr_t own = reinterpret_cast<uintptr_t>(&anchor);
  bool isOwn = any_of(headers, [&](const ElfW(Phdr) & header) {
    return header.p_type == PT_LOAD && own >= getAddress(header) &&
           own - getAddress(header) < header.p_memsz;
  });
  if (!isOwn)
    return 0;
  for (const ElfW(Phdr) &header : headers) {
    if (header.p_type != PT_NOTE)
      continue;
    const auto *at = reinterpret_cast<const char *>(getAddress(header));
    const char *end = at + header.p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      ElfW(Nhdr) note;
      std::memcpy(&note, at, sizeof(note));
      const char *contents = at + sizeof(note) + alignTo<4>(note.n_namesz);
      if (note.n_type == NT_GNU_BUILD_ID)
        *static_cast<std::string *>(result) =
            toHex(ArrayRef(reinterpret_cast<const uint8_t *>(contents),
                           note.n_descsz),
                  /*LowerCase=*/true);
      at = contents + alignTo<4>(note.n_descsz);
    }
  }
  return 1;
}

StringRef capi::getBuildId() {
  static const std::string identifier = [] {
    std::string found;
    dl_iterate_phdr(findBuildId, &found);
    return found;
  }();
  return identifier;
}

const char *evoformerGetVersion(void) { return EVOFORMER_VERSION; }
int evoformerGetInterfaceVersion(void) { return 4; }
const char *evoformerGetLastError(void) { return lastError.c_str(); }
void evoformerFreeText(char *text) { std::free(text); }
