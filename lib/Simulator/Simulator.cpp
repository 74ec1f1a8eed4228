//===- Simulator.cpp - The public interface -------------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Simulator/Simulator.h"
#include "Decoder.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/SourceMgr.h"
#include <map>
#include <mutex>

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::sim;

struct Simulator::Impl {
  /// Only for modules that the simulator parsed itself.
  std::unique_ptr<MLIRContext> context;
  OwningOpRef<Operation *> owned;

  Operation *module = nullptr;
  Options options;
  std::mutex mutex;
  /// By kernel and whether results are checked for being finite.
  std::map<std::pair<std::string, bool>, std::unique_ptr<Program>> programs;

  llvm::Expected<LLVM::LLVMFuncOp> find(llvm::StringRef kernel);
  llvm::Expected<Target> targetOf(LLVM::LLVMFuncOp function);
  llvm::Expected<const Program *> get(const std::string &kernel,
                                      bool checksNonFinite);
};

Simulator::Simulator() : impl(std::make_unique<Impl>()) {}
Simulator::~Simulator() = default;

static bool isKernel(LLVM::LLVMFuncOp function) {
  for (StringRef name : {"gpu.kernel", "rocdl.kernel", "nvvm.kernel"})
    if (function->hasAttr(name))
      return true;
  return false;
}

llvm::Expected<std::unique_ptr<Simulator>>
Simulator::create(Operation *module, const Options &options) {
  if (options.subgroupSize && options.subgroupSize != 32 &&
      options.subgroupSize != 64)
    return llvm::createStringError("subgroups have 32 or 64 lanes, not " +
                                   std::to_string(options.subgroupSize));
  std::unique_ptr<Simulator> simulator(new Simulator());
  simulator->impl->module = module;
  simulator->impl->options = options;
  if (simulator->getKernelNames().empty())
    return llvm::createStringError(
        "the module holds no kernel: an llvm.func with the attribute "
        "gpu.kernel, rocdl.kernel or nvvm.kernel is expected");
  return simulator;
}

llvm::Expected<std::unique_ptr<Simulator>>
Simulator::parse(llvm::StringRef text, llvm::StringRef name,
                 const Options &options, const DialectRegistry *hostDialects) {
  DialectRegistry registry;
  registerDialects(registry);
  if (hostDialects)
    hostDialects->appendTo(registry);
  auto context = std::make_unique<MLIRContext>(registry);
  // Attributes of the levels above may still hang on the module.
  context->allowUnregisteredDialects();
  std::string diagnostics;
  llvm::raw_string_ostream os(diagnostics);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, name),
                             llvm::SMLoc());
  OwningOpRef<Operation *> module;
  {
    SourceMgrDiagnosticHandler handler(sources, context.get(), os);
    module = OwningOpRef<Operation *>(
        parseSourceFile<ModuleOp>(sources, context.get()).release());
  }
  if (!module)
    return llvm::createStringError(diagnostics.empty() ? "the module is empty"
                                                       : diagnostics);
  auto simulator = create(*module, options);
  if (simulator) {
    (*simulator)->impl->owned = std::move(module);
    (*simulator)->impl->context = std::move(context);
  } else {
    module = nullptr;
  }
  return simulator;
}

Operation *Simulator::getModule() const { return impl->module; }

std::vector<std::string> Simulator::getKernelNames() const {
  std::vector<std::string> names;
  impl->module->walk([&](LLVM::LLVMFuncOp function) {
    if (isKernel(function))
      names.push_back(function.getName().str());
  });
  return names;
}

llvm::Expected<LLVM::LLVMFuncOp> Simulator::Impl::find(StringRef kernel) {
  LLVM::LLVMFuncOp found;
  std::string known;
  module->walk([&](LLVM::LLVMFuncOp function) {
    if (!isKernel(function))
      return;
    known += (known.empty() ? "" : ", ") + function.getName().str();
    if (function.getName() == kernel)
      found = function;
  });
  if (!found)
    return llvm::createStringError("no kernel '" + kernel +
                                   "' in the module; it has " + known);
  return found;
}

/// What a workgroup may have at most. AMD: 'Local Data Share' of the CDNA3,
/// CDNA4 and RDNA3 ISA; NVIDIA: "CUDA C++ Programming Guide", 'Technical
/// Specifications per Compute Capability', shared memory per thread block.
static uint32_t maxLDSBytesOf(StringRef chip) {
  if (chip.starts_with("gfx"))
    return (chip.starts_with("gfx95") ? 160 : 64) << 10;
  unsigned capability = 0;
  chip.consume_front("sm_");
  chip.consumeInteger(10, capability);
  switch (capability) {
  case 75:
    return 64 << 10;
  case 80:
  case 87:
    return 163 << 10;
  case 86:
  case 89:
  case 120:
  case 121:
    return 99 << 10;
  default:
    return (capability < 75 ? 96 : 227) << 10;
  }
}

/// The size of workgroups that the kernel is made for, if it says so.
static std::optional<std::array<uint32_t, 3>>
requiredBlockOf(LLVM::LLVMFuncOp function) {
  for (StringRef name :
       {"gpu.known_block_size", "rocdl.reqd_work_group_size", "nvvm.reqntid"}) {
    auto sizes = function->getAttrOfType<DenseI32ArrayAttr>(name);
    if (!sizes || sizes.size() > 3)
      continue;
    std::array<uint32_t, 3> block = {1, 1, 1};
    llvm::copy(sizes.asArrayRef(), block.begin());
    return block;
  }
  return std::nullopt;
}

/// The chip decides the subgroup size: 32 but for AMD's gfx9. What its matrix
/// operations flush a target may say of any chip; the simulator itself knows it
/// of MI200, whatever the target says ("AMD Instinct MI200 Instruction Set
/// Architecture", 'Matrix Arithmetic Instructions'; MI300 no longer does).
llvm::Expected<Target> Simulator::Impl::targetOf(LLVM::LLVMFuncOp function) {
  Target target;
  target.chip = options.chip;
  auto read = [&](Attribute attribute) {
    // #rocdl.target<chip = "gfx942">, #nvvm.target<chip = "sm_80">, or any
    // other attribute that names a chip.
    std::string text;
    llvm::raw_string_ostream(text) << attribute;
    StringRef rest = text;
    target.flushesSubnormals |= rest.contains("flushes_subnormals");
    size_t at = rest.find("chip = \"");
    if (at != StringRef::npos)
      target.chip = rest.drop_front(at + 8).split('"').first.str();
    else if (rest.contains("rocdl.target"))
      target.chip = "gfx900"; // the attribute's default
    else if (rest.contains("nvvm.target"))
      target.chip = "sm_50";
  };
  auto gpuModule = function->getParentOfType<gpu::GPUModuleOp>();
  if (target.chip.empty() && gpuModule) {
    for (NamedAttribute attribute : gpuModule->getDiscardableAttrs())
      if (attribute.getName().strref().ends_with(".target"))
        read(attribute.getValue());
    if (target.chip.empty() && gpuModule.getTargetsAttr())
      for (Attribute attribute : gpuModule.getTargetsAttr())
        read(attribute);
  }
  StringRef chip = target.chip;
  target.flushesSubnormals |= chip == "gfx90a";
  target.isAMD = chip.starts_with("gfx") || function->hasAttr("rocdl.kernel");
  if (options.subgroupSize)
    target.lanes = options.subgroupSize;
  else if (chip.starts_with("gfx9"))
    target.lanes = 64;
  else if (chip.starts_with("gfx1") || chip.starts_with("sm_") ||
           (chip.empty() && function->hasAttr("nvvm.kernel")))
    target.lanes = 32;
  else
    return llvm::createStringError(
        "kernel '" + function.getName() +
        "': the module names no chip that the simulator knows (gfx9*, gfx1*, "
        "sm_*)" +
        (chip.empty() ? std::string() : ", but '" + target.chip + "'"));
  return target;
}

llvm::Expected<const Program *> Simulator::Impl::get(const std::string &kernel,
                                                     bool checksNonFinite) {
  std::lock_guard<std::mutex> lock(mutex);
  std::unique_ptr<Program> &slot = programs[{kernel, checksNonFinite}];
  if (slot)
    return slot.get();
  auto function = find(kernel);
  if (!function)
    return function.takeError();
  auto target = targetOf(*function);
  if (!target)
    return target.takeError();
  target->checksNonFinite = checksNonFinite;
  auto program = std::make_unique<Program>();
  Decoder decoder(*function, *target, *program);
  if (llvm::Error error = decoder.run())
    return std::move(error);
  program->maxLDSBytes = maxLDSBytesOf(target->chip);
  // "CDNA4 Instruction Set Architecture", chapter 11 'Data Share Operations'.
  program->ldsBanks = StringRef(target->chip).starts_with("gfx95") ? 64 : 32;
  program->requiredBlock = requiredBlockOf(*function);
  slot = std::move(program);
  return slot.get();
}

llvm::Error Simulator::check(llvm::StringRef kernel) {
  return impl->get(kernel.str(), false).takeError();
}

llvm::Expected<std::vector<std::string>>
Simulator::getArgumentTypes(llvm::StringRef kernel) const {
  auto function = impl->find(kernel);
  if (!function)
    return function.takeError();
  std::vector<std::string> types;
  for (Type type : function->getArgumentTypes()) {
    std::string &text = types.emplace_back();
    if (isa<LLVM::LLVMPointerType>(type))
      text = "ptr";
    else
      llvm::raw_string_ostream(text) << type;
  }
  return types;
}

static std::string printLocation(const void *location) {
  std::string text;
  if (location) {
    llvm::raw_string_ostream os(text);
    Location::getFromOpaquePointer(location).print(os);
  }
  return text;
}

static Finding describe(const RawFinding &raw, const Program &program) {
  Finding f;
  const Site &site = program.sites[raw.site];
  f.kind = raw.kind;
  f.operation = site.operation;
  f.location = printLocation(site.location);
  f.kernel = program.name;
  f.workgroup = raw.workgroup;
  f.subgroup = raw.subgroup;
  f.lane = raw.lane;
  f.address = raw.address;
  f.count = raw.count;
  llvm::raw_string_ostream os(f.text);
  os << getName(raw.kind) << ": " << raw.detail;
  if (raw.kind != FindingKind::UnwrittenOutput) {
    os << "; operation '" << f.operation << "' at " << f.location
       << ", workgroup (" << f.workgroup[0] << ", " << f.workgroup[1] << ", "
       << f.workgroup[2] << "), subgroup " << f.subgroup << ", lane " << f.lane
       << ", address " << llvm::format_hex(f.address, 1);
    if (f.count > 1)
      os << " (" << f.count << " times)";
  }
  os << "; kernel '" << f.kernel << "'";
  return f;
}

llvm::Expected<LaunchResult> Simulator::launch(const Launch &launch) {
  auto program = impl->get(launch.kernel, launch.findNonFinite);
  if (!program)
    return program.takeError();
  auto refuse = [&](const llvm::Twine &why) {
    return llvm::createStringError("kernel '" + launch.kernel + "': " + why);
  };
  if (launch.args.size() != (*program)->args.size())
    return refuse(llvm::Twine(launch.args.size()) + " arguments given, " +
                  llvm::Twine((*program)->args.size()) + " expected");
  uint64_t threads = 1, workgroups = 1;
  for (unsigned d = 0; d < 3; ++d) {
    threads *= launch.block[d];
    workgroups *= launch.grid[d];
    if (workgroups > UINT32_MAX)
      return refuse("more than 2^32 - 1 workgroups");
    if (threads > 1024)
      return refuse("a workgroup has at most 1024 threads");
  }
  if (threads == 0 || workgroups == 0)
    return refuse("the grid or the workgroup is empty");
  uint64_t lds = std::max<uint64_t>((*program)->staticLDSBytes,
                                    (*program)->usesDynamicLDS
                                        ? (*program)->dynamicLDSOffset +
                                              uint64_t(launch.dynamicLDSBytes)
                                        : 0);
  if (lds > (*program)->maxLDSBytes)
    return refuse(llvm::Twine(lds) + " bytes of LDS; a workgroup has at most " +
                  llvm::Twine((*program)->maxLDSBytes));
  if (const auto &block = (*program)->requiredBlock;
      block && *block != launch.block)
    return refuse("it is for workgroups of " + llvm::Twine((*block)[0]) +
                  " x " + llvm::Twine((*block)[1]) + " x " +
                  llvm::Twine((*block)[2]) + " threads");
  for (const Inst &inst : (*program)->code)
    if (inst.fn == barrierHandler() && inst.b && inst.b < threads)
      return refuse("a barrier of " + llvm::Twine(inst.b) + " of the " +
                    llvm::Twine(threads) +
                    " threads is not modelled; each barrier takes the whole "
                    "workgroup");
  std::vector<RawFinding> raw;
  auto result = runLaunch(**program, launch, raw);
  if (!result)
    return result.takeError();
  for (const RawFinding &f : raw)
    result->findings.push_back(describe(f, **program));
  return result;
}

llvm::StringRef mlir::evoformer::sim::getName(FindingKind kind) {
  switch (kind) {
  case FindingKind::OutOfBounds:
    return "out of bounds";
  case FindingKind::Misaligned:
    return "misaligned";
  case FindingKind::UnwrittenLDS:
    return "unwritten LDS";
  case FindingKind::LDSRace:
    return "race on LDS";
  case FindingKind::GlobalRace:
    return "race on global memory";
  case FindingKind::CopyNotAwaited:
    return "copy not awaited";
  case FindingKind::AccessNotAwaited:
    return "access not awaited";
  case FindingKind::AccessNotFenced:
    return "access not fenced";
  case FindingKind::DivergentBarrier:
    return "divergent barrier";
  case FindingKind::DivergentOperation:
    return "divergent operation";
  case FindingKind::OperandNotReplicated:
    return "operand not replicated";
  case FindingKind::Deadlock:
    return "deadlock";
  case FindingKind::UnwrittenOutput:
    return "unwritten output";
  case FindingKind::BankConflict:
    return "bank conflict";
  case FindingKind::NonFinite:
    return "not finite";
  case FindingKind::DivisionByZero:
    return "division by zero";
  case FindingKind::UndefinedShift:
    return "undefined shift";
  case FindingKind::UnreachableExecuted:
    return "unreachable executed";
  }
  return "";
}
