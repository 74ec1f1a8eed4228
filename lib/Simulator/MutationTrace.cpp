//===- MutationTrace.cpp - Follows what a defect changes ------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Why does a defect survive? Because what it breaks does not run, because the
// broken operation makes the same values, or because something makes them
// equal again. The trace asks which: next to each operation that depends on
// the defect there is another one that makes the value of the broken kernel,
// loops included, and a comparison of both.
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Simulator/Mutation.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::evoformer::sim;

namespace {
constexpr StringRef probeName = "probe ";

class Tracer {
public:
  Tracer(MutationTrace &trace, LLVM::LLVMFuncOp function)
      : trace(trace), function(function) {}

  void run(const Mutation &mutation);

private:
  /// Whether what `op` makes can be made twice.
  static bool canRepeat(Operation *op);
  /// Finds all values that depend on `value`, but through memory.
  void findDependents(Value value);
  void addBlockArguments();
  void repeat(Operation *op);
  void passBlockArguments();
  /// The value of the broken kernel.
  Value broken(Value value) const {
    return shadows.contains(value) ? shadows.lookup(value) : value;
  }
  void probe(OpBuilder &b, Value value, Operation *op, bool isEnd);
  void divide(OpBuilder &b, Value isEqual, MutationTrace::Probe probe);

  MutationTrace &trace;
  LLVM::LLVMFuncOp function;
  llvm::SetVector<Value> dependents;
  llvm::DenseMap<Value, Value> shadows;
  llvm::DenseMap<Value, unsigned> probeOf;
};
} // namespace

static std::string print(Operation *op) {
  std::string text;
  llvm::raw_string_ostream os(text);
  op->print(os, OpPrintingFlags().useLocalScope().skipRegions());
  return text;
}

bool Tracer::canRepeat(Operation *op) {
  return op->getNumResults() == 1 && !isa<LLVM::AtomicRMWOp>(op) &&
         !isa<LLVM::AtomicCmpXchgOp>(op);
}

void Tracer::findDependents(Value value) {
  dependents.insert(value);
  for (size_t k = 0; k < dependents.size(); ++k)
    for (OpOperand &use : dependents[k].getUses()) {
      Operation *op = use.getOwner();
      if (auto branch = dyn_cast<BranchOpInterface>(op)) {
        if (auto argument =
                branch.getSuccessorBlockArgument(use.getOperandNumber()))
          dependents.insert(*argument);
      } else if (canRepeat(op)) {
        dependents.insert(op->getResult(0));
      }
    }
}

void Tracer::addBlockArguments() {
  // In the order in which branches pass them.
  for (Block &block : function.getBody())
    for (BlockArgument argument : llvm::to_vector(block.getArguments()))
      if (dependents.contains(argument))
        shadows[argument] =
            block.addArgument(argument.getType(), argument.getLoc());
}

/// A descriptor of four words, which no cast makes an integer.
static bool isBufferResource(Type type) {
  auto pointer = dyn_cast<LLVM::LLVMPointerType>(type);
  return pointer && pointer.getAddressSpace() == 8;
}

/// As integers that can be compared, or null.
static Value toBits(OpBuilder &b, Location loc, Value value) {
  Type type = value.getType();
  Type element = type;
  auto vector = dyn_cast<VectorType>(type);
  if (vector)
    element = vector.getElementType();
  if (isBufferResource(type))
    return {};
  if (isa<LLVM::LLVMPointerType>(element) && !vector)
    return LLVM::PtrToIntOp::create(b, loc, b.getI64Type(), value);
  if (isa<IntegerType>(element))
    return value;
  if (!isa<FloatType>(element))
    return {};
  Type bits = b.getIntegerType(element.getIntOrFloatBitWidth());
  return LLVM::BitcastOp::create(b, loc, vector ? vector.clone(bits) : bits,
                                 value);
}

/// Divides by zero where `isEqual` is false.
static void divide(OpBuilder &b, Value isEqual, unsigned number) {
  Location loc = NameLoc::get(b.getStringAttr(probeName + Twine(number)));
  Type type = b.getI32Type();
  Attribute one = b.getI32IntegerAttr(1);
  if (auto vector = dyn_cast<VectorType>(isEqual.getType())) {
    auto many = vector.clone(type);
    type = many;
    one = DenseElementsAttr::get(many, one);
  }
  Value ones = LLVM::ConstantOp::create(b, loc, type, cast<TypedAttr>(one));
  Value divisor = LLVM::ZExtOp::create(b, loc, type, isEqual);
  LLVM::UDivOp::create(b, loc, ones, divisor);
}

static void divideAlways(OpBuilder &b, Location loc, unsigned number) {
  divide(b, LLVM::ConstantOp::create(b, loc, b.getBoolAttr(false)), number);
}

void Tracer::divide(OpBuilder &b, Value isEqual, MutationTrace::Probe probe) {
  ::divide(b, isEqual, trace.probes.size());
  trace.probes.push_back(std::move(probe));
}

void Tracer::probe(OpBuilder &b, Value value, Operation *op, bool isEnd) {
  Location loc = function.getLoc();
  Value with = toBits(b, loc, broken(value));
  if (!with)
    return;
  Value without = toBits(b, loc, value);
  MutationTrace::Probe probe{print(op), {}, isEnd};
  if (isEnd) {
    if (auto found = probeOf.find(value); found != probeOf.end())
      probe.sources.push_back(found->second);
  } else {
    for (Value operand : op->getOperands())
      if (auto found = probeOf.find(operand); found != probeOf.end())
        probe.sources.push_back(found->second);
    probeOf[value] = trace.probes.size();
  }
  divide(b,
         LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::eq, without, with),
         std::move(probe));
}

void Tracer::repeat(Operation *op) {
  if (!llvm::any_of(op->getOperands(),
                    [&](Value v) { return shadows.contains(v); }))
    return;
  OpBuilder b(op);
  if (!isa<BranchOpInterface>(op) && canRepeat(op)) {
    b.setInsertionPointAfter(op);
    IRMapping mapping;
    for (Value operand : op->getOperands())
      mapping.map(operand, broken(operand));
    Operation *again = b.clone(*op, mapping);
    shadows[op->getResult(0)] = again->getResult(0);
    probe(b, op->getResult(0), op, false);
    return;
  }
  auto branch = dyn_cast<BranchOpInterface>(op);
  for (OpOperand &use : op->getOpOperands())
    if (shadows.contains(use.get()) &&
        !(branch && branch.getSuccessorBlockArgument(use.getOperandNumber())))
      probe(b, use.get(), op, true);
}

void Tracer::passBlockArguments() {
  function.walk([&](BranchOpInterface branch) {
    for (unsigned k = 0; k < branch->getNumSuccessors(); ++k) {
      SuccessorOperands operands = branch.getSuccessorOperands(k);
      Block *successor = branch->getSuccessor(k);
      SmallVector<Value> more;
      for (unsigned n = 0, e = operands.size(); n < e; ++n)
        if (shadows.contains(successor->getArgument(n)))
          more.push_back(broken(operands[n]));
      operands.append(more);
    }
  });
}

void Tracer::run(const Mutation &mutation) {
  Operation *target = nullptr;
  std::vector<Operation *> operations;
  function.walk([&](Operation *op) { operations.push_back(op); });
  target = operations[mutation.index];
  OpBuilder b(target);
  if (target->getNumResults() != 1) {
    divideAlways(b, target->getLoc(), trace.probes.size());
    trace.probes.push_back({print(target), {}, true});
    return;
  }
  trace.runProbe = trace.probes.size();
  divideAlways(b, target->getLoc(), *trace.runProbe);
  trace.probes.push_back({print(target), {}, false});
  // The defect in a copy, of which a user says what became.
  Value value = target->getResult(0);
  b.setInsertionPointAfter(target);
  Operation *copy = b.clone(*target);
  auto user = LLVM::FreezeOp::create(b, target->getLoc(), copy->getResult(0));
  applyMutation(copy, mutation.kind);
  findDependents(value);
  shadows[value] = user.getOperand();
  user.erase();
  addBlockArguments();
  if (Operation *last = shadows[value].getDefiningOp();
      last && last->getBlock() == target->getBlock() &&
      target->isBeforeInBlock(last))
    b.setInsertionPointAfter(last);
  if (!isa<LLVM::ConstantOp>(target))
    probe(b, value, target, false);
  for (Operation *op : operations)
    if (op != target)
      repeat(op);
  passBlockArguments();
}

MutationTrace mlir::evoformer::sim::traceMutation(Operation *module,
                                                  StringRef kernel,
                                                  const Mutation &mutation) {
  MutationTrace trace;
  trace.module = module->clone();
  trace.module->walk([&](LLVM::LLVMFuncOp function) {
    if (function.getName() == kernel)
      Tracer(trace, function).run(mutation);
  });
  return trace;
}

BlockTrace mlir::evoformer::sim::traceBlocks(Operation *module,
                                             StringRef kernel) {
  BlockTrace trace;
  // How many there are up to each operation, by its position in a walk.
  llvm::DenseMap<unsigned, unsigned> mutations;
  for (const Mutation &mutation : listMutations(module, kernel))
    ++mutations[mutation.index];
  trace.module = module->clone();
  trace.module->walk([&](LLVM::LLVMFuncOp function) {
    if (function.getName() != kernel)
      return;
    // The function itself is visited last.
    unsigned index = 0;
    for (Block &block : function.getBody()) {
      BlockTrace::Block entry = {print(&block.front()), print(&block.back()),
                                 0};
      for (size_t k = 0, e = block.getOperations().size(); k < e; ++k)
        entry.mutations += mutations.lookup(index++);
      OpBuilder b = OpBuilder::atBlockBegin(&block);
      divideAlways(b, function.getLoc(), trace.blocks.size());
      trace.blocks.push_back(std::move(entry));
    }
  });
  return trace;
}

std::optional<unsigned> MutationTrace::getProbe(StringRef location) {
  unsigned number = 0;
  size_t at = location.find(probeName);
  if (at == StringRef::npos ||
      location.substr(at + probeName.size()).consumeInteger(10, number))
    return std::nullopt;
  return number;
}

std::string MutationTrace::explain(ArrayRef<uint64_t> counts) const {
  constexpr unsigned most = 8;
  std::string text;
  llvm::raw_string_ostream os(text);
  if (runProbe && !counts[*runProbe]) {
    os << "\n  it does not run";
    return text;
  }
  auto differs = [&](unsigned k) { return counts[k] != 0 && runProbe != k; };
  if (llvm::none_of(llvm::seq<unsigned>(counts.size()), differs)) {
    os << (runProbe ? "\n  nothing differs" : "\n  it does not run");
    return text;
  }
  auto list = [&](StringRef what, auto &&wanted) {
    unsigned found = 0;
    for (auto [k, probe] : llvm::enumerate(probes))
      if (wanted(k) && ++found <= most)
        os << "\n  " << what << " (" << counts[k] << "): " << probe.operation;
    if (found > most)
      os << "\n  " << what << ": " << found - most << " more";
  };
  list("reaches", [&](unsigned k) { return differs(k) && probes[k].isEnd; });
  list("is equal again at", [&](unsigned k) {
    return !differs(k) && llvm::any_of(probes[k].sources, differs);
  });
  return text;
}
