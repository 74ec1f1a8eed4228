//===- evoformer-sim.cpp - Runs lowered kernels in the simulator ----------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Without --kernel every kernel of the module is decoded, which names the
// first operation that the simulator does not know. With it the kernel runs on
// the arguments given; findings go to stderr. Exit code 0: nothing found, 1:
// the input cannot run, 2: findings.
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Dialect/Tile/IR/Tile.h"
#include "Mutants.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>

using namespace mlir::evoformer::sim;
namespace cl = llvm::cl;

static cl::OptionCategory category("evoformer-sim options");
static cl::opt<std::string> inputFile(cl::Positional, cl::desc("<module>"),
                                      cl::init("-"), cl::cat(category));
static cl::opt<std::string> kernel("kernel", cl::desc("Kernel to run"),
                                   cl::cat(category));
static cl::list<unsigned> grid("grid", cl::CommaSeparated,
                               cl::desc("Workgroups in x, y, z"),
                               cl::cat(category));
static cl::list<unsigned> block("block", cl::CommaSeparated,
                                cl::desc("Threads of a workgroup in x, y, z"),
                                cl::cat(category));
static cl::opt<unsigned> lds("lds", cl::desc("Bytes of dynamic LDS"),
                             cl::cat(category));
static cl::list<std::string>
    arguments("arg",
              cl::desc("An argument of the kernel, in order: i32:N, i64:N, "
                       "f32:X, f64:X, in:FILE (bytes to read), out:BYTES or "
                       "out:BYTES:FILE (memory to write, saved to FILE), "
                       "inout:FILE:FILE, ref:N (once more the address of the "
                       "N-th memory), or map:N:BYTES:SIZES:BOX:SWIZZLE (a "
                       "tensor map of that memory: bytes of an element, sizes "
                       "and box as 64x20, the fastest first, bytes of a row "
                       "that is swizzled or 0)"),
              cl::cat(category));
static cl::opt<std::string> chip("chip", cl::desc("Overrides the module's"),
                                 cl::cat(category));
static cl::opt<unsigned> subgroup("subgroup", cl::desc("32 or 64 lanes"),
                                  cl::cat(category));
static cl::opt<uint64_t>
    seed("seed", cl::desc("Interleaving of subgroups; 0: in order"),
         cl::init(0), cl::cat(category));
static cl::opt<CopyLanding>
    landing("copies", cl::desc("When asynchronous copies arrive"),
            cl::values(clEnumValN(CopyLanding::BySeed, "seed",
                                  "late for seed 0, else drawn copy by copy"),
                       clEnumValN(CopyLanding::AtWait, "late", "when awaited"),
                       clEnumValN(CopyLanding::AtIssue, "early", "at once")),
            cl::init(CopyLanding::BySeed), cl::cat(category));
static cl::opt<uint64_t>
    maxBlocks("max-blocks",
              cl::desc("A subgroup that executes more blocks than this hangs"),
              cl::init(uint64_t(1) << 32), cl::cat(category));
static cl::opt<unsigned> bankConflicts(
    "bank-conflicts",
    cl::desc("Report LDS accesses of this degree or more (0: none)"),
    cl::init(0), cl::cat(category));
static cl::opt<bool> nonFinite(
    "non-finite",
    cl::desc("Report infinite results and NaNs that no operand explains"),
    cl::cat(category));
static cl::opt<unsigned> workers("workers", cl::desc("0: those of the machine"),
                                 cl::init(0), cl::cat(category));
static cl::opt<unsigned>
    mutants("mutants",
            cl::desc("Break the kernel in so many ways and count what is "
                     "reported"),
            cl::init(0), cl::cat(category));
static cl::opt<uint64_t> mutantSeed("mutant-seed",
                                    cl::desc("Which of all ways"), cl::init(7),
                                    cl::cat(category));
static cl::list<unsigned> mutantsOnly(
    "mutants-only", cl::CommaSeparated,
    cl::desc("Of the defects drawn, make only those with these numbers"),
    cl::cat(category));
static cl::opt<std::string> mutantsFolder(
    "mutants-folder",
    cl::desc("Keep each defect's module here, unbroken and broken"),
    cl::cat(category));
static cl::opt<bool> verbose("verbose",
                             cl::desc("With --mutants: list all of them"),
                             cl::cat(category));
static cl::opt<double>
    tolerance("tolerance",
              cl::desc("With --mutants: outputs are f32 and may differ by this "
                       "(0: they must have the same bits)"),
              cl::init(0), cl::cat(category));
static cl::opt<bool> printCounters("counters", cl::desc("Print counters"),
                                   cl::cat(category));
static cl::opt<bool> json("json", cl::desc("Counters as JSON"),
                          cl::cat(category));

static llvm::Error fail(const llvm::Twine &message) {
  return llvm::createStringError(message);
}

namespace {
/// Memory of an argument, kept until the output is saved.
struct Memory {
  /// With a margin on both sides.
  std::unique_ptr<llvm::WritableMemoryBuffer> whole;
  llvm::MutableArrayRef<char> bytes;
  std::string saveTo;

  bool allocate(uint64_t size, llvm::StringRef name) {
    whole = llvm::WritableMemoryBuffer::getNewUninitMemBuffer(
        size + 2 * bufferMargin, name);
    if (!whole)
      return false;
    bytes = whole->getBuffer().slice(bufferMargin, size);
    return true;
  }
};
} // namespace

static llvm::Error parseNumber(llvm::StringRef type, llvm::StringRef text,
                               uint64_t &word) {
  word = 0;
  if (type.starts_with("i")) {
    int64_t value;
    if (text.getAsInteger(0, value))
      return fail("'" + text + "' is no integer");
    if (type == "i32" && value != int32_t(value) && value != uint32_t(value))
      return fail("'" + text + "' does not fit i32");
    word = type == "i32" ? uint32_t(value) : uint64_t(value);
    return llvm::Error::success();
  }
  double value;
  if (text.getAsDouble(value))
    return fail("'" + text + "' is no number");
  float narrow = float(value);
  if (type == "f32")
    std::memcpy(&word, &narrow, sizeof(narrow));
  else
    std::memcpy(&word, &value, sizeof(value));
  return llvm::Error::success();
}

/// "64x20" as numbers.
static bool parseExtents(llvm::StringRef text, std::array<int64_t, 5> &extents,
                         unsigned &count) {
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, 'x');
  count = parts.size();
  if (count > extents.size())
    return false;
  for (auto [part, extent] : llvm::zip(parts, extents))
    if (part.getAsInteger(10, extent) || extent < 1 || extent > INT32_MAX)
      return false;
  return true;
}

/// A tensor map of memory without gaps: its number, bytes of an element, sizes
/// and box, the fastest dimension first, bytes of a row that is swizzled.
static llvm::Error addTensorMap(llvm::StringRef text, Launch &launch) {
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, ':');
  unsigned index = 0, boxRank = 0;
  TensorMap map;
  if (parts.size() != 5 || parts[0].getAsInteger(10, index) ||
      index >= launch.buffers.size() ||
      parts[1].getAsInteger(10, map.elementBytes) ||
      !llvm::is_contained({2U, 4U}, map.elementBytes) ||
      !parseExtents(parts[2], map.sizes, map.rank) ||
      !parseExtents(parts[3], map.box, boxRank) || boxRank != map.rank ||
      llvm::any_of(map.box, [](int64_t size) { return size > 256; }) ||
      map.box[0] * map.elementBytes % 16 != 0 ||
      parts[4].getAsInteger(10, map.swizzle) ||
      !llvm::is_contained({0U, 32U, 64U, 128U}, map.swizzle))
    return fail("argument 'map:" + text +
                "': expected map:MEMORY:BYTES:SIZES:BOX:SWIZZLE, as in "
                "map:0:4:64x20:32x8:128, of memory that comes before");
  int64_t stride = map.elementBytes;
  for (unsigned d = 0; d < map.rank; stride *= map.sizes[d++])
    map.strides[d] = stride;
  map.address = reinterpret_cast<uint64_t>(launch.buffers[index].base);
  launch.maps.push_back(map);
  launch.args.push_back(launch.maps.size());
  return llvm::Error::success();
}

static llvm::Error addArgument(llvm::StringRef text, Launch &launch,
                               std::vector<Memory> &memory) {
  auto [type, rest] = text.split(':');
  uint64_t word = 0;
  if (type == "i32" || type == "i64" || type == "f32" || type == "f64") {
    if (llvm::Error error = parseNumber(type, rest, word))
      return error;
    launch.args.push_back(word);
    return llvm::Error::success();
  }
  if (type == "map")
    return addTensorMap(rest, launch);
  if (type == "ref") {
    unsigned index;
    if (rest.getAsInteger(0, index) || index >= memory.size())
      return fail("argument '" + text + "': there is no such memory before it");
    launch.args.push_back(
        reinterpret_cast<uint64_t>(launch.buffers[index].base));
    return llvm::Error::success();
  }
  if (type != "in" && type != "out" && type != "inout")
    return fail(
        "argument '" + text +
        "': expected i32, i64, f32, f64, in, out, inout, ref or map before "
        "':'");
  Memory m;
  auto [first, second] = rest.split(':');
  m.saveTo = second.str();
  if (type == "out") {
    uint64_t size;
    if (first.getAsInteger(0, size) || size > (uint64_t(1) << 40))
      return fail("argument '" + text + "': '" + first +
                  "' is no number of bytes");
    if (m.allocate(size, text))
      llvm::fill(m.bytes, 0);
  } else {
    auto file = llvm::MemoryBuffer::getFile(first, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
    if (!file)
      return fail("cannot read '" + first + "': " + file.getError().message());
    if (m.allocate((*file)->getBufferSize(), text))
      llvm::copy((*file)->getBuffer(), m.bytes.begin());
  }
  if (!m.whole)
    return fail("argument '" + text + "': not enough memory");
  Buffer b;
  b.base = m.bytes.data();
  b.size = m.bytes.size();
  b.name = text.str();
  b.readOnly = type == "in";
  b.mustBeWritten = type == "out";
  launch.buffers.push_back(b);
  launch.args.push_back(reinterpret_cast<uint64_t>(b.base));
  memory.push_back(std::move(m));
  return llvm::Error::success();
}

static llvm::Error setSizes(const cl::list<unsigned> &list,
                            llvm::StringRef name,
                            std::array<uint32_t, 3> &sizes) {
  if (list.size() > 3)
    return fail("--" + name + " takes at most three sizes");
  for (size_t k = 0; k < list.size(); ++k)
    sizes[k] = list[k];
  return llvm::Error::success();
}

/// Whether each argument has the type that the kernel wants.
static llvm::Error checkTypes(const std::vector<std::string> &types) {
  if (arguments.size() != types.size())
    return fail("kernel '" + kernel + "': " + llvm::Twine(arguments.size()) +
                " arguments given, " + llvm::Twine(types.size()) + " expected");
  for (auto [given, wanted] : llvm::zip_equal(arguments, types)) {
    llvm::StringRef type = llvm::StringRef(given).split(':').first;
    bool isMemory =
        llvm::is_contained({"in", "out", "inout", "ref", "map"}, type);
    // A pointer that is not used may be null.
    bool isNull = given == "i64:0" && wanted == "ptr";
    if (!isNull && (isMemory ? "ptr" : type) != wanted)
      return fail("argument '" + given + "': kernel '" + kernel + "' has " +
                  wanted + " there");
  }
  return llvm::Error::success();
}

static llvm::Error run(bool &hasFindings) {
  auto file = llvm::MemoryBuffer::getFileOrSTDIN(inputFile);
  if (!file)
    return fail("cannot read '" + inputFile +
                "': " + file.getError().message());
  Options options;
  options.chip = chip;
  options.subgroupSize = subgroup;
  mlir::DialectRegistry dialects;
  registerDialects(dialects);
  dialects.insert<mlir::evoformer::tile::TileDialect>();
  mlir::MLIRContext context(dialects);
  context.allowUnregisteredDialects();
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(*file), llvm::SMLoc());
  mlir::SourceMgrDiagnosticHandler diagnostics(sources, &context);
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(sources, &context);
  if (!module)
    return fail("'" + inputFile +
                "' is no module after the final conversion (LLVM dialect with "
                "rocdl or nvvm operations)");
  auto simulator = Simulator::create(*module, options);
  if (!simulator)
    return simulator.takeError();
  if (kernel.empty()) {
    if (mutants)
      return fail("--mutants needs --kernel");
    for (const std::string &name : (*simulator)->getKernelNames()) {
      if (llvm::Error error = (*simulator)->check(name))
        return error;
      llvm::outs() << name << ": every operation is known\n";
    }
    return llvm::Error::success();
  }
  Launch launch;
  launch.kernel = kernel;
  launch.dynamicLDSBytes = lds;
  launch.seed = seed;
  launch.landing = landing;
  launch.threads = workers;
  launch.bankConflictDegree = bankConflicts;
  launch.maxBlocksPerSubgroup = maxBlocks;
  launch.findNonFinite = nonFinite;
  if (llvm::Error error = setSizes(grid, "grid", launch.grid))
    return error;
  if (llvm::Error error = setSizes(block, "block", launch.block))
    return error;
  std::vector<Memory> memory;
  auto types = (*simulator)->getArgumentTypes(kernel);
  if (!types)
    return types.takeError();
  for (const std::string &text : arguments)
    if (llvm::Error error = addArgument(text, launch, memory))
      return error;
  if (llvm::Error error = checkTypes(*types))
    return error;
  if (mutants)
    return runMutants(*module, options, launch,
                      {{mutants,
                        mutantSeed,
                        {mutantsOnly.begin(), mutantsOnly.end()},
                        mutantsFolder},
                       tolerance,
                       verbose},
                      llvm::outs());
  auto result = (*simulator)->launch(launch);
  if (!result)
    return result.takeError();
  for (const Finding &f : result->findings)
    llvm::WithColor::warning() << f.text << "\n";
  hasFindings = !result->findings.empty();
  for (const Memory &m : memory) {
    if (m.saveTo.empty())
      continue;
    std::error_code code;
    llvm::ToolOutputFile out(m.saveTo, code, llvm::sys::fs::OF_None);
    if (code)
      return fail("cannot write '" + m.saveTo + "': " + code.message());
    out.os().write(m.bytes.data(), m.bytes.size());
    out.keep();
  }
  if (json) {
    llvm::outs() << result->counters.toJSON() << "\n";
  } else if (printCounters) {
    result->counters.printText(llvm::outs());
  }
  return llvm::Error::success();
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(
      argc, argv, "Runs lowered AMD and NVIDIA kernels without a GPU\n");
  bool hasFindings = false;
  if (llvm::Error error = run(hasFindings)) {
    llvm::WithColor::error(llvm::errs(), "evoformer-sim")
        << llvm::toString(std::move(error)) << "\n";
    return 1;
  }
  return hasFindings ? 2 : 0;
}
