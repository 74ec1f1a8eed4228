//===- Simulator.h - Executes lowered GPU kernels on the host ---*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs kernels given as a module after the final conversion (LLVM dialect with
// rocdl or nvvm operations) lane by lane, and reports what a GPU hides:
// accesses out of bounds, races, divergent barriers. docs/simulator.md says
// what is modelled and what is not.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_SIMULATOR_SIMULATOR_H
#define EVOFORMER_SIMULATOR_SIMULATOR_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace mlir {
class DialectRegistry;
class Operation;

namespace evoformer::sim {

/// Memory of the host that the kernel may access. Device addresses are host
/// addresses. An access that lies in no registered buffer is a finding, one
/// that lies in another buffer than was meant is not: whoever allocates leaves
/// `bufferMargin` bytes between them.
struct Buffer {
  void *base = nullptr;
  uint64_t size = 0;
  /// Shown in findings.
  std::string name;
  bool readOnly = false;
  /// The launch must write every byte of it; what stays unwritten is a finding.
  bool mustBeWritten = false;
};

inline constexpr uint64_t bufferMargin = uint64_t(1) << 20;

enum class FindingKind {
  OutOfBounds,
  Misaligned,
  UnwrittenLDS,
  LDSRace,
  GlobalRace,
  CopyNotAwaited,
  AccessNotAwaited,
  AccessNotFenced,
  DivergentBarrier,
  DivergentOperation,
  OperandNotReplicated,
  Deadlock,
  UnwrittenOutput,
  BankConflict,
  NonFinite,
  DivisionByZero,
  UndefinedShift,
  UnreachableExecuted,
};
llvm::StringRef getName(FindingKind kind);

/// One defect, reported once per operation; `count` says how often it occurred.
struct Finding {
  FindingKind kind;
  /// Complete message with everything below in it.
  std::string text;
  std::string operation;
  std::string location;
  std::string kernel;
  std::array<uint32_t, 3> workgroup = {0, 0, 0};
  unsigned subgroup = 0;
  unsigned lane = 0;
  /// Address in its own space: a host address, or an offset into LDS.
  uint64_t address = 0;
  uint64_t count = 1;
};

/// What a launch executed. Operations count once per subgroup, an operation on
/// a vector of n elements as n (32-bit) or n/2 (packed 16-bit) operations.
struct Counters {
  uint64_t matrix = 0, matrixMultiplyAdds = 0;
  uint64_t transcendental = 0;
  uint64_t arithmetic = 0;
  uint64_t crossLane = 0;
  uint64_t ldsLoads = 0, ldsStores = 0, ldsBytes = 0;
  /// Cycles of LDS under the bank model, and those without any conflict.
  uint64_t ldsCycles = 0, ldsIdealCycles = 0;
  /// How many times as long as without conflicts the worst access takes.
  unsigned bankConflictDegree = 0;
  uint64_t globalLoads = 0, globalStores = 0;
  uint64_t globalBytesRead = 0, globalBytesWritten = 0;
  /// Bytes that the launch reads or writes at least once: what a cache that
  /// holds everything would fetch.
  uint64_t distinctBytesRead = 0, distinctBytesWritten = 0;
  uint64_t asyncCopies = 0, asyncBytes = 0;
  uint64_t barriers = 0, waits = 0;
  uint64_t branches = 0;
  /// All lane-operations: active lanes summed over executed operations.
  uint64_t laneOperations = 0;

  void add(const Counters &other);
  /// Of one of so many equal launches.
  void divide(uint64_t launches);
  void printText(llvm::raw_ostream &os) const;
  llvm::json::Value toJSON() const;
};

/// When the data of an asynchronous copy arrives: as late as waits allow, at
/// once, or (at wait for seed 0) one or the other by the seed, copy by copy.
enum class CopyLanding { BySeed, AtWait, AtIssue };

/// Memory that boxes are copied from: the fastest dimension, of stride 1
/// element, first. Strides are in bytes.
struct TensorMap {
  uint64_t address = 0;
  unsigned rank = 0, elementBytes = 0;
  std::array<int64_t, 5> sizes{}, strides{}, box{};
  /// Bytes of a row whose pieces of 16 bytes change places; 0: none do.
  unsigned swizzle = 0;
};

struct Launch {
  std::string kernel;
  std::array<uint32_t, 3> grid = {1, 1, 1};
  std::array<uint32_t, 3> block = {1, 1, 1};
  /// Bytes behind an external LDS array of unknown size.
  uint32_t dynamicLDSBytes = 0;
  /// One word per kernel argument: pointers, integers, and floats in the low
  /// bits.
  std::vector<uint64_t> args;
  /// An argument that is a tensor map is the number of one of these, from 1 on.
  std::vector<TensorMap> maps;
  std::vector<Buffer> buffers;

  /// 0: subgroups run in order from barrier to barrier. Anything else draws
  /// the interleaving, with pre-emption between memory operations.
  uint64_t seed = 0;
  CopyLanding landing = CopyLanding::BySeed;
  /// Threads that share the workgroups; 0 takes those of the machine.
  unsigned threads = 0;
  /// A subgroup that executes more blocks than this hangs.
  uint64_t maxBlocksPerSubgroup = uint64_t(1) << 32;
  /// Report LDS accesses that take so many times as long as without bank
  /// conflicts, or longer; 0: none.
  unsigned bankConflictDegree = 0;
  /// Report infinite results and NaNs that no operand explains.
  bool findNonFinite = false;
  /// Only ask whether there are findings: no workgroup starts after the first,
  /// and distinct bytes are not counted.
  bool stopAtFinding = false;
};

struct LaunchResult {
  std::vector<Finding> findings;
  Counters counters;
  unsigned subgroupSize = 0;
  /// The most blocks that a subgroup executed.
  uint64_t longestSubgroup = 0;
};

/// Overrides of what the module says about its target.
struct Options {
  /// 32 or 64; 0 takes it from the chip of the module's target attribute.
  unsigned subgroupSize = 0;
  /// "gfx942", "gfx1100", "sm_80", …; empty takes the module's.
  std::string chip;
};

/// A loaded module of kernels. Launches do not change it; several may run at
/// the same time.
class Simulator {
public:
  ~Simulator();

  /// Takes the kernels of `module` (a builtin.module or a gpu.module), which
  /// must outlive the simulator.
  static llvm::Expected<std::unique_ptr<Simulator>>
  create(mlir::Operation *module, const Options &options = {});

  /// Parses `text` in a context of its own. A host program around the kernels
  /// is ignored; `hostDialects` are those that it needs to be parsed.
  static llvm::Expected<std::unique_ptr<Simulator>>
  parse(llvm::StringRef text, llvm::StringRef name, const Options &options = {},
        const mlir::DialectRegistry *hostDialects = nullptr);

  std::vector<std::string> getKernelNames() const;

  mlir::Operation *getModule() const;

  /// Decodes a kernel without running it: an error names the first operation
  /// that the simulator does not know.
  llvm::Error check(llvm::StringRef kernel);

  /// The types of a kernel's arguments: "ptr", "i32", "i64", "f32", …
  llvm::Expected<std::vector<std::string>>
  getArgumentTypes(llvm::StringRef kernel) const;

  /// Runs a kernel to its end. Errors are inputs that cannot run at all;
  /// defects of the kernel are findings.
  llvm::Expected<LaunchResult> launch(const Launch &launch);

private:
  Simulator();
  struct Impl;
  std::unique_ptr<Impl> impl;
};

/// The dialects that a module for the simulator may use.
void registerDialects(mlir::DialectRegistry &registry);

} // namespace evoformer::sim
} // namespace mlir

#endif // EVOFORMER_SIMULATOR_SIMULATOR_H
