//===- AMDObject.cpp - From ISA text to a code object ---------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Source of the metadata's keys: LLVM's "User Guide for AMDGPU Backend", "Code
// Object V5 Metadata".
//
//===----------------------------------------------------------------------===//

#include "CodeGeneration.h"
#include "lld/Common/Driver.h"
#include "mlir/Target/LLVM/ROCDL/Utils.h"
#include "llvm/BinaryFormat/MsgPackDocument.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <mutex>

LLD_HAS_DRIVER(elf)

using namespace mlir;
using namespace mlir::evoformer;

/// A file that goes away with this object.
static FailureOr<std::string> makeTemporary(StringRef suffix, Location loc) {
  llvm::SmallString<128> path;
  if (std::error_code error =
          llvm::sys::fs::createTemporaryFile("evoformer", suffix, path))
    return emitError(loc, "cannot create a temporary file: ")
           << error.message();
  return path.str().str();
}

static LogicalResult writeFile(StringRef path, ArrayRef<char> contents,
                               Location loc) {
  std::error_code error;
  llvm::raw_fd_ostream os(path, error);
  if (!error) {
    os << StringRef(contents.data(), contents.size());
    os.close();
    error = os.error();
    os.clear_error();
  }
  if (error)
    return emitError(loc, "cannot write ") << path << ": " << error.message();
  return success();
}

FailureOr<std::string> mlir::evoformer::linkCodeObject(StringRef isa,
                                                       tile::TargetAttr target,
                                                       Location loc) {
  FailureOr<SmallVector<char, 0>> object =
      ROCDL::assembleIsa(isa, target.getTriple(), target.getChip(),
                         target.getFeatures(), [&] { return emitError(loc); });
  if (failed(object))
    return failure();
  FailureOr<std::string> input = makeTemporary("o", loc);
  FailureOr<std::string> output = makeTemporary("hsaco", loc);
  if (failed(input) || failed(output))
    return failure();
  llvm::FileRemover removeInput(*input), removeOutput(*output);
  if (failed(writeFile(*input, *object, loc)))
    return failure();

  // The linker has global state.
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  std::string messages;
  llvm::raw_string_ostream os(messages);
  const char *arguments[] = {"ld.lld",       "-shared", "--no-undefined",
                             input->c_str(), "-o",      output->c_str()};
  lld::Result result =
      lld::lldMain(arguments, os, os, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode != 0)
    return emitError(loc, "linking the code object failed: ")
           << StringRef(messages).trim();
  auto buffer = llvm::MemoryBuffer::getFile(*output);
  if (!buffer)
    return emitError(loc, "cannot read the code object: ")
           << buffer.getError().message();
  return (*buffer)->getBuffer().str();
}

/// The number after `key` in a comment of the listing.
static std::optional<int64_t> findNumber(StringRef text, StringRef key) {
  size_t position = text.find(key);
  int64_t value;
  if (position == StringRef::npos ||
      text.substr(position + key.size()).trim(" :=").consumeInteger(10, value))
    return std::nullopt;
  return value;
}

LogicalResult mlir::evoformer::readAMDMetadata(
    StringRef isa, MutableArrayRef<KernelReport> kernels, Location loc) {
  StringRef yaml = isa.split("\t.amdgpu_metadata\n").second;
  yaml = yaml.split("\t.end_amdgpu_metadata").first;
  llvm::msgpack::Document document;
  if (yaml.empty() || !document.fromYAML(yaml))
    return emitError(loc, "the listing has no readable kernel metadata");
  auto &root = document.getRoot().getMap(/*Convert=*/true);
  auto &entries = root["amdhsa.kernels"].getArray(/*Convert=*/true);
  for (llvm::msgpack::DocNode &node : entries) {
    auto &entry = node.getMap(/*Convert=*/true);
    auto number = [&](StringRef key) -> std::optional<int64_t> {
      auto found = entry.find(key);
      if (found == entry.end())
        return std::nullopt;
      if (found->second.getKind() == llvm::msgpack::Type::UInt)
        return found->second.getUInt();
      if (found->second.getKind() == llvm::msgpack::Type::Int)
        return found->second.getInt();
      return std::nullopt;
    };
    std::string name = entry[".name"].toString();
    auto *report = llvm::find_if(
        kernels, [&](const KernelReport &r) { return r.name == name; });
    if (report == kernels.end())
      continue;
    report->vectorRegisters = number(".vgpr_count");
    report->accumulatorRegisters = number(".agpr_count");
    report->scalarRegisters = number(".sgpr_count");
    report->spilledRegisters = number(".vgpr_spill_count").value_or(0) +
                               number(".sgpr_spill_count").value_or(0);
    report->scratchBytes = number(".private_segment_fixed_size");
    report->staticLDSBytes = number(".group_segment_fixed_size").value_or(0);
  }
  for (KernelReport &report : kernels) {
    // The summary of a function follows its end.
    size_t begin = isa.find("\n" + report.name + ":");
    StringRef rest = isa.substr(begin == StringRef::npos ? isa.size() : begin);
    rest = rest.substr(std::min(rest.find(".Lfunc_end"), rest.size()));
    report.codeBytes = findNumber(rest, "; codeLenInByte");
    report.occupancy = findNumber(rest, "; Occupancy");
    report.occupancyUnit = "waves a SIMD";
  }
  return success();
}
