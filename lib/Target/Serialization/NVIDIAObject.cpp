//===- NVIDIAObject.cpp - From PTX to a cubin -----------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CodeGeneration.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"

using namespace mlir;
using namespace mlir::evoformer;

std::string mlir::evoformer::findPtxas() {
  SmallVector<std::string> folders;
  if (auto path = llvm::sys::Process::GetEnv("CUDA_PATH"))
    folders.push_back(*path + "/bin");
  for (const std::string &folder : folders)
    if (auto found = llvm::sys::findProgramByName("ptxas", {folder}))
      return *found;
  if (auto found = llvm::sys::findProgramByName("ptxas"))
    return *found;
  if (auto found =
          llvm::sys::findProgramByName("ptxas", {"/usr/local/cuda/bin"}))
    return *found;
  return "";
}

namespace {
/// What limits the subgroups of a multiprocessor. Source: "CUDA C++
/// Programming Guide", "Compute Capabilities", technical specifications.
struct Multiprocessor {
  StringLiteral chip;
  int64_t maxSubgroups, maxWorkgroups, sharedBytes;
};
} // namespace

static const Multiprocessor multiprocessors[] = {
    {"sm_80", 64, 32, 164 << 10},  {"sm_86", 48, 16, 100 << 10},
    {"sm_87", 48, 16, 164 << 10},  {"sm_89", 48, 24, 100 << 10},
    {"sm_90", 64, 32, 228 << 10},  {"sm_100", 64, 32, 228 << 10},
    {"sm_120", 48, 24, 100 << 10},
};

static std::optional<int64_t> getOccupancy(StringRef chip,
                                           const KernelReport &report) {
  chip = chip.rtrim("af");
  const auto *facts = llvm::find_if(
      multiprocessors, [&](const Multiprocessor &m) { return m.chip == chip; });
  if (facts == std::end(multiprocessors) || !report.vectorRegisters ||
      !report.threads || !report.subgroupSize)
    return std::nullopt;
  int64_t subgroups = llvm::divideCeil(report.threads, report.subgroupSize);
  // A register file of 64 K registers in units of 256 a warp; a workgroup
  // takes one KiB of shared memory for itself, in units of 128 bytes.
  int64_t perSubgroup = llvm::alignTo(
      std::max<int64_t>(*report.vectorRegisters, 1) * report.subgroupSize, 256);
  int64_t shared =
      llvm::alignTo(report.staticLDSBytes + report.dynamicLDSBytes + 1024, 128);
  int64_t workgroups =
      std::min({facts->maxSubgroups / subgroups, facts->maxWorkgroups,
                65536 / perSubgroup / subgroups, facts->sharedBytes / shared});
  return workgroups * subgroups;
}

/// Reads ptxas -v: one block of lines a kernel, starting with its name.
static void readMessages(StringRef messages,
                         MutableArrayRef<KernelReport> kernels) {
  KernelReport *report = nullptr;
  auto numberBefore = [](StringRef line, StringRef unit) -> int64_t {
    size_t position = line.find(unit);
    if (position == StringRef::npos)
      return 0;
    StringRef digits = line.substr(0, position).rtrim();
    size_t start = digits.find_last_not_of("0123456789");
    digits = digits.substr(start == StringRef::npos ? 0 : start + 1);
    int64_t value = 0;
    return digits.getAsInteger(10, value) ? 0 : value;
  };
  while (!messages.empty()) {
    auto [line, rest] = messages.split('\n');
    messages = rest;
    if (line.contains("Compiling entry function")) {
      StringRef name = line.split('\'').second.split('\'').first;
      auto *found = llvm::find_if(
          kernels, [&](const KernelReport &r) { return r.name == name; });
      report = found == kernels.end() ? nullptr : &*found;
    }
    if (!report)
      continue;
    if (line.contains("bytes spill stores")) {
      report->scratchBytes = numberBefore(line, " bytes stack frame");
      report->spillBytes = numberBefore(line, " bytes spill stores") +
                           numberBefore(line, " bytes spill loads");
    }
    if (line.contains("Used ") && line.contains(" registers")) {
      report->vectorRegisters = numberBefore(line, " registers");
      report->staticLDSBytes = numberBefore(line, " bytes smem");
    }
  }
}

/// Code sizes from the sections `.text.<kernel>`.
static void readSections(StringRef cubin,
                         MutableArrayRef<KernelReport> kernels) {
  auto file = llvm::object::ELFFile<llvm::object::ELF64LE>::create(cubin);
  if (!file)
    return llvm::consumeError(file.takeError());
  auto sections = file->sections();
  if (!sections)
    return llvm::consumeError(sections.takeError());
  for (const auto &section : *sections) {
    auto name = file->getSectionName(section);
    if (!name) {
      llvm::consumeError(name.takeError());
      continue;
    }
    for (KernelReport &report : kernels)
      if (*name == ".text." + report.name)
        report.codeBytes = section.sh_size;
  }
}

FailureOr<std::string> mlir::evoformer::assemblePTX(
    StringRef ptx, StringRef chip, tile::TargetAttr target,
    MutableArrayRef<KernelReport> kernels, Location loc) {
  std::string ptxas = findPtxas();
  if (ptxas.empty())
    return emitError(loc, "a cubin needs ptxas, which is neither in "
                          "$CUDA_PATH/bin nor in the PATH nor in "
                          "/usr/local/cuda/bin; PTX needs nothing");
  llvm::SmallString<128> input, output, log;
  for (auto [path, suffix] :
       {std::pair(&input, "ptx"), {&output, "cubin"}, {&log, "log"}})
    if (std::error_code error =
            llvm::sys::fs::createTemporaryFile("evoformer", suffix, *path))
      return emitError(loc, "cannot create a temporary file: ")
             << error.message();
  llvm::FileRemover removeInput(input), removeOutput(output), removeLog(log);
  {
    std::error_code error;
    llvm::raw_fd_ostream os(input, error);
    os << ptx;
    os.close();
    if (error || os.has_error()) {
      error = error ? error : os.error();
      os.clear_error();
      return emitError(loc, "cannot write ")
             << input << ": " << error.message();
    }
  }
  StringRef arguments[] = {ptxas,           "-v",  "--gpu-name", chip, input,
                           "--output-file", output};
  std::optional<StringRef> redirects[] = {StringRef(), log.str(), log.str()};
  std::string error;
  int status = llvm::sys::ExecuteAndWait(ptxas, arguments, std::nullopt,
                                         redirects, /*SecondsToWait=*/300,
                                         /*MemoryLimit=*/0, &error);
  auto messages = llvm::MemoryBuffer::getFile(log);
  StringRef text = messages ? (*messages)->getBuffer().trim() : StringRef();
  if (status != 0)
    return emitError(loc, "ptxas failed: ")
           << (text.empty() ? StringRef(error) : text);
  auto buffer = llvm::MemoryBuffer::getFile(output);
  if (!buffer)
    return emitError(loc, "cannot read the cubin: ")
           << buffer.getError().message();
  std::string cubin = (*buffer)->getBuffer().str();
  readMessages(text, kernels);
  readSections(cubin, kernels);
  for (KernelReport &report : kernels) {
    report.occupancy = getOccupancy(chip, report);
    report.occupancyUnit = "warps a multiprocessor";
  }
  return cubin;
}
