//===- Mutation.cpp - Breaks a lowered kernel on purpose ------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Simulator/Mutation.h"
#include "LLVMOps.h"
#include "ThreadNumbers.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::evoformer::sim;

/// The name of the intrinsic or of the dialect operation.
static StringRef nameOf(Operation *op) {
  if (auto call = dyn_cast<LLVM::CallIntrinsicOp>(op))
    return call.getIntrin();
  return op->getName().getStringRef();
}

static bool isBarrier(StringRef name) {
  return llvm::StringSwitch<bool>(name)
      .Cases({"rocdl.barrier", "rocdl.s.barrier", "nvvm.barrier",
              "nvvm.barrier0", "llvm.amdgcn.s.barrier"},
             true)
      .Default(name.starts_with("llvm.nvvm.barrier"));
}
static bool isWait(StringRef name) {
  return name.contains("cp.async.wait") || name.contains("s.waitcnt") ||
         name.contains("s.wait.");
}
static bool isCopy(StringRef name) {
  return name.contains("cp.async.shared") ||
         name.contains("cp.async.ca.shared") ||
         name.contains("cp.async.cg.shared") || name.contains("load.lds") ||
         name.contains("load.to.lds");
}
static bool isMatrixOp(StringRef name) {
  return name.contains("mfma.") || name.contains("wmma.") ||
         name.contains("nvvm.mma.m");
}

/// The operand that an exchange between lanes moves, or -1.
static int exchangedOperand(StringRef name) {
  if (name.contains("update.dpp") || name.contains("ds_bpermute") ||
      name.contains("ds.bpermute") || name.contains("shfl.sync") ||
      name.contains("permlanex16"))
    return 1;
  return name.contains("ds_swizzle") || name.contains("ds.swizzle") ? 0 : -1;
}

/// Whether a value only makes addresses of stores. A lane whose store is
/// branched around may have any address, so masking one changes nothing.
static bool onlyAddressesStores(Value v) {
  return llvm::all_of(v.getUsers(), [&](Operation *user) {
    if (auto store = dyn_cast<LLVM::StoreOp>(user))
      return store.getValue() != v;
    return isa<LLVM::ZExtOp, LLVM::SExtOp, LLVM::GEPOp, LLVM::AddOp>(user) &&
           onlyAddressesStores(user->getResult(0));
  });
}
static bool isMask(Operation *op) {
  return isa<LLVM::SelectOp>(op) && !onlyAddressesStores(op->getResult(0));
}

static bool isIntegerConstant(Operation *op) {
  auto constant = dyn_cast<LLVM::ConstantOp>(op);
  if (!constant || !isa<IntegerAttr>(constant.getValue()) ||
      constant.getType().isInteger(1) || op->use_empty())
    return false;
  // Positions in vectors and immediates must stay valid.
  return llvm::none_of(op->getUsers(), [](Operation *user) {
    return isa<LLVM::ExtractElementOp, LLVM::InsertElementOp,
               LLVM::CallIntrinsicOp, LLVM::AllocaOp>(user) ||
           !isa<LLVM::LLVMDialect>(user->getDialect());
  });
}

/// An offset behind a buffer, which lanes choose that must not reach it: one
/// more lies behind it as well.
static bool isBehindBuffers(Operation *op) {
  constexpr int64_t kFarthest = int64_t(1) << 14;
  auto value =
      cast<IntegerAttr>(cast<LLVM::ConstantOp>(op).getValue()).getInt();
  return op->getResult(0).getType().isInteger(32) && value < 0 &&
         value > -kFarthest &&
         llvm::all_of(op->getUsers(), [](Operation *user) {
           return isa<LLVM::SelectOp>(user);
         });
}

/// A number that sizes stay below, by which what may be larger is held to 32
/// bits: one more or less than that makes no difference.
static bool isBeyondSizes(Operation *op) {
  constexpr int64_t kLargest = int64_t(1) << 30;
  auto value =
      cast<IntegerAttr>(cast<LLVM::ConstantOp>(op).getValue()).getInt();
  return op->getResult(0).getType().isInteger(64) &&
         (value >= kLargest || value <= -kLargest) &&
         llvm::all_of(op->getUsers(), [](Operation *user) {
           return isa<LLVM::SMaxOp, LLVM::SMinOp>(user);
         });
}

/// A vector of equal elements.
static bool isSplat(Value v) {
  auto shuffle = v.getDefiningOp<LLVM::ShuffleVectorOp>();
  return shuffle && llvm::all_equal(shuffle.getMask());
}

/// The operand that says how many copies may stay under way, or none.
static std::optional<int64_t> outstandingCopies(Operation *op) {
  if (!isWait(nameOf(op)))
    return std::nullopt;
  if (auto n = op->getAttrOfType<IntegerAttr>("n"))
    return n.getInt();
  return std::nullopt;
}

/// One value, or constants of the same value.
static bool areEqual(Value a, Value b) {
  auto x = a.getDefiningOp<LLVM::ConstantOp>(),
       y = b.getDefiningOp<LLVM::ConstantOp>();
  return a == b || (x && y && x.getValue() == y.getValue());
}

static Value skipCasts(Value v) {
  while (Operation *op = v.getDefiningOp()) {
    if (!isa<LLVM::TruncOp, LLVM::ZExtOp, LLVM::SExtOp>(op))
      break;
    v = op->getOperand(0);
  }
  return v;
}

/// Whether an address of LDS is made from `v`.
static bool reachesLDSAddress(Value v, unsigned depth = 8) {
  return depth && llvm::any_of(v.getUsers(), [&](Operation *user) {
           if (isa<LLVM::GEPOp>(user))
             return isLDSPointer(user->getResult(0));
           return isa<LLVM::TruncOp, LLVM::ZExtOp, LLVM::SExtOp, LLVM::AddOp,
                      LLVM::MulOp>(user) &&
                  reachesLDSAddress(user->getResult(0), depth - 1);
         });
}

/// The position in a ring of buffers, times the size of a buffer: an integer
/// that a loop carries, in an address of LDS.
static bool isRingOffset(Operation *op) {
  if (!isa<LLVM::MulOp, LLVM::ShlOp>(op))
    return false;
  auto carried = dyn_cast<BlockArgument>(skipCasts(op->getOperand(0)));
  return carried && !carried.getOwner()->isEntryBlock() &&
         reachesLDSAddress(op->getResult(0));
}

/// The value of the constant that `op` multiplies by if rows of a power of two
/// elements are padded to that many.
static std::optional<int64_t> paddedPitch(Operation *op) {
  if (!isa<LLVM::MulOp>(op))
    return std::nullopt;
  auto constant = op->getOperand(1).getDefiningOp<LLVM::ConstantOp>();
  auto value =
      constant ? dyn_cast<IntegerAttr>(constant.getValue()) : IntegerAttr();
  if (!value || value.getInt() < 16 || llvm::isPowerOf2_64(value.getInt()) ||
      !reachesLDSAddress(op->getResult(0)))
    return std::nullopt;
  return value.getInt();
}

static Value makeInteger(Operation *at, Type type, int64_t value) {
  OpBuilder b(at);
  return LLVM::ConstantOp::create(b, at->getLoc(), type,
                                  b.getIntegerAttr(type, value));
}

namespace {
/// A way to break an operation: whether it applies, and what it does.
struct Operator {
  StringRef kind;
  bool (*applies)(Operation *);
  void (*apply)(Operation *);
};
} // namespace

static void erase(Operation *op) { op->erase(); }
static void swapFirstTwo(Operation *op) {
  Value first = op->getOperand(0);
  op->setOperand(0, op->getOperand(1));
  op->setOperand(1, first);
}
static void replaceWith(Operation *op, Value value) {
  op->getResult(0).replaceAllUsesWith(value);
  op->erase();
}
static LLVM::ICmpPredicate negation(LLVM::ICmpPredicate p) {
  using P = LLVM::ICmpPredicate;
  switch (p) {
  case P::eq:
    return P::ne;
  case P::ne:
    return P::eq;
  case P::slt:
    return P::sge;
  case P::sle:
    return P::sgt;
  case P::sgt:
    return P::sle;
  case P::sge:
    return P::slt;
  case P::ult:
    return P::uge;
  case P::ule:
    return P::ugt;
  case P::ugt:
    return P::ule;
  case P::uge:
    return P::ult;
  }
  return p;
}

/// Puts what `change` makes of the last statement of assembly that begins with
/// `what` in its place.
static void
changeInAssembly(Operation *op, StringRef what,
                 function_ref<std::string(StringRef statement)> change) {
  auto assembly = cast<LLVM::InlineAsmOp>(op);
  StringRef text = assembly.getAsmString();
  size_t begin = text.rfind(what), end = text.find(';', begin);
  assembly.setAsmString((text.take_front(begin) +
                         change(text.slice(begin, end)) + text.drop_front(end))
                            .str());
}

static constexpr StringLiteral kGroupProduct = "wgmma.mma_async",
                               kGroupStep = "add.s64",
                               kGroupWait = "wgmma.wait_group",
                               kProxyFence = "fence.proxy",
                               kDropExchange = "drop exchange";

/// One of a single thread orders what the compiler emits, nothing else.
static bool isHardwareFence(Operation *op) {
  auto fence = dyn_cast<LLVM::FenceOp>(op);
  return isInAssembly(op, kProxyFence) ||
         (fence &&
          !fence.getSyncscope().value_or("").starts_with("singlethread"));
}

static const Operator operators[] = {
    {"drop barrier", [](Operation *op) { return isBarrier(nameOf(op)); },
     erase},
    {"drop wait", [](Operation *op) { return isWait(nameOf(op)); }, erase},
    {"weaken wait",
     [](Operation *op) { return outstandingCopies(op).has_value(); },
     [](Operation *op) {
       auto n = op->getAttrOfType<IntegerAttr>("n");
       op->setAttr("n", IntegerAttr::get(n.getType(), n.getInt() + 1));
     }},
    {"drop fence", isHardwareFence, erase},
    {"shrink ring", isRingOffset,
     [](Operation *op) {
       replaceWith(op, makeInteger(op, op->getResult(0).getType(), 0));
     }},
    {"drop padding", [](Operation *op) { return paddedPitch(op).has_value(); },
     [](Operation *op) {
       op->setOperand(1,
                      makeInteger(op, op->getResult(0).getType(),
                                  llvm::bit_floor(uint64_t(*paddedPitch(op)))));
     }},
    {"drop copy", [](Operation *op) { return isCopy(nameOf(op)); }, erase},
    {"drop commit",
     [](Operation *op) { return nameOf(op).contains("cp.async.commit"); },
     erase},
    {"drop box",
     [](Operation *op) {
       return nameOf(op).contains("cp.async.bulk.tensor.shared");
     },
     erase},
    {"expect fewer bytes",
     [](Operation *op) { return nameOf(op).contains("mbarrier.expect_tx"); },
     [](Operation *op) {
       OpBuilder b(op);
       Value bytes = op->getOperand(1);
       Value one = makeInteger(op, bytes.getType(), 1);
       op->setOperand(1, LLVM::LShrOp::create(b, op->getLoc(), bytes, one));
     }},
    {"drop arrival",
     [](Operation *op) {
       return nameOf(op).ends_with("mbarrier.arrive") && op->use_empty();
     },
     erase},
    {"drop slot wait",
     [](Operation *op) { return nameOf(op).contains("mbarrier.try_wait"); },
     [](Operation *op) {
       replaceWith(op, makeInteger(op, op->getResult(0).getType(), 1));
     }},
    {"wait for the other phase",
     [](Operation *op) { return nameOf(op).contains("mbarrier.try_wait"); },
     [](Operation *op) {
       OpBuilder b(op);
       Value parity = op->getOperand(1);
       Value one = makeInteger(op, parity.getType(), 1);
       op->setOperand(1, LLVM::XOrOp::create(b, op->getLoc(), parity, one));
     }},
    {"drop LDS store",
     [](Operation *op) {
       auto store = dyn_cast<LLVM::StoreOp>(op);
       return store && isLDSPointer(store.getAddr());
     },
     erase},
    {"drop global store",
     [](Operation *op) {
       auto store = dyn_cast<LLVM::StoreOp>(op);
       return store && !isLDSPointer(store.getAddr());
     },
     erase},
    {kDropExchange,
     [](Operation *op) {
       int k = exchangedOperand(nameOf(op));
       return k >= 0 && op->getNumResults() == 1 &&
              op->getResult(0).getType() == op->getOperand(k).getType();
     },
     [](Operation *op) {
       replaceWith(op, op->getOperand(exchangedOperand(nameOf(op))));
     }},
    {"exchange A and B",
     [](Operation *op) {
       return isMatrixOp(nameOf(op)) && op->getNumOperands() > 1 &&
              op->getOperand(0).getType() == op->getOperand(1).getType() &&
              !areEqual(op->getOperand(0), op->getOperand(1));
     },
     swapFirstTwo},
    {"drop matrix operation",
     [](Operation *op) {
       return isMatrixOp(nameOf(op)) && op->getNumOperands() > 2 &&
              op->getOperand(2).getType() == op->getResult(0).getType();
     },
     [](Operation *op) { replaceWith(op, op->getOperand(2)); }},
    {"drop group product",
     [](Operation *op) { return isInAssembly(op, kGroupProduct); },
     [](Operation *op) {
       changeInAssembly(op, kGroupProduct, [](StringRef) { return ""; });
     }},
    {"transpose group product",
     [](Operation *op) { return isInAssembly(op, kGroupProduct); },
     [](Operation *op) {
       changeInAssembly(op, kGroupProduct, [](StringRef product) {
         return (product.drop_back() + (product.ends_with("1") ? "0" : "1"))
             .str();
       });
     }},
    {"shift group operand",
     [](Operation *op) { return isInAssembly(op, kGroupStep); },
     [](Operation *op) {
       changeInAssembly(op, kGroupStep, [](StringRef sum) {
         int64_t step = 0;
         sum.rsplit(' ').second.getAsInteger(10, step);
         return (sum.rsplit(' ').first + " " + Twine(step + 2)).str();
       });
     }},
    {"weaken group wait",
     [](Operation *op) {
       return isInAssembly(op, kGroupWait) && !isInAssembly(op, kGroupProduct);
     },
     [](Operation *op) {
       changeInAssembly(op, kGroupWait, [](StringRef wait) {
         int64_t pending = 0;
         wait.rsplit(' ').second.getAsInteger(10, pending);
         return (wait.rsplit(' ').first + " " + Twine(pending + 1)).str();
       });
     }},
    {"exchange operands",
     [](Operation *op) {
       return isa<LLVM::SubOp, LLVM::FSubOp, LLVM::ShlOp, LLVM::LShrOp,
                  LLVM::UDivOp, LLVM::URemOp, LLVM::FDivOp>(op) &&
              !areEqual(op->getOperand(0), op->getOperand(1));
     },
     swapFirstTwo},
    {"shift index", [](Operation *op) { return isa<LLVM::GEPOp>(op); },
     [](Operation *op) {
       auto gep = cast<LLVM::GEPOp>(op);
       OpBuilder b(op->getContext());
       b.setInsertionPointAfter(op);
       auto shifted = LLVM::GEPOp::create(
           b, op->getLoc(), gep.getType(), gep.getElemType(), gep.getResult(),
           ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(1)});
       gep.getResult().replaceAllUsesExcept(shifted, shifted);
     }},
    {"break swizzle",
     [](Operation *op) {
       return isa<LLVM::XOrOp>(op) && !op->getResult(0).getType().isInteger(1);
     },
     [](Operation *op) {
       OpBuilder b(op);
       replaceWith(op, LLVM::OrOp::create(b, op->getLoc(), op->getOperand(0),
                                          op->getOperand(1)));
     }},
    {"drop mask", isMask,
     [](Operation *op) { replaceWith(op, op->getOperand(1)); }},
    {"mask all", isMask,
     [](Operation *op) { replaceWith(op, op->getOperand(2)); }},
    {"negate comparison", [](Operation *op) { return isa<LLVM::ICmpOp>(op); },
     [](Operation *op) {
       auto compare = cast<LLVM::ICmpOp>(op);
       compare.setPredicate(negation(compare.getPredicate()));
     }},
    {"subtract", [](Operation *op) { return isa<LLVM::AddOp>(op); },
     [](Operation *op) {
       OpBuilder b(op);
       replaceWith(op, LLVM::SubOp::create(b, op->getLoc(), op->getOperand(0),
                                           op->getOperand(1)));
     }},
    {"subtract floats", [](Operation *op) { return isa<LLVM::FAddOp>(op); },
     [](Operation *op) {
       OpBuilder b(op);
       replaceWith(op, LLVM::FSubOp::create(b, op->getLoc(), op->getOperand(0),
                                            op->getOperand(1)));
     }},
    {"increment constant",
     [](Operation *op) {
       return isIntegerConstant(op) && !isBehindBuffers(op) &&
              !isBeyondSizes(op);
     },
     [](Operation *op) {
       auto constant = cast<LLVM::ConstantOp>(op);
       auto value = cast<IntegerAttr>(constant.getValue());
       constant.setValueAttr(
           IntegerAttr::get(value.getType(), value.getValue() + 1));
     }},
    {"decrement constant",
     [](Operation *op) { return isIntegerConstant(op) && !isBeyondSizes(op); },
     [](Operation *op) {
       auto constant = cast<LLVM::ConstantOp>(op);
       auto value = cast<IntegerAttr>(constant.getValue());
       constant.setValueAttr(
           IntegerAttr::get(value.getType(), value.getValue() - 1));
     }},
    // Not an exchange of two: what follows often only adds them up.
    {"repeat an element",
     [](Operation *op) {
       auto shuffle = dyn_cast<LLVM::ShuffleVectorOp>(op);
       return shuffle && shuffle.getMask().size() > 1 &&
              shuffle.getMask()[0] != shuffle.getMask()[1] &&
              !isSplat(shuffle.getV1());
     },
     [](Operation *op) {
       auto shuffle = cast<LLVM::ShuffleVectorOp>(op);
       SmallVector<int32_t> mask(shuffle.getMask());
       mask[0] = mask[1];
       shuffle.setMask(mask);
     }},
};

static LLVM::LLVMFuncOp findKernel(Operation *module, StringRef kernel) {
  LLVM::LLVMFuncOp found;
  module->walk([&](LLVM::LLVMFuncOp function) {
    if (function.getName() == kernel)
      found = function;
  });
  return found;
}

/// Whether anything reads field `position` of an aggregate.
static bool readsField(Value aggregate, ArrayRef<int64_t> position) {
  return llvm::any_of(aggregate.getUsers(), [&](Operation *user) {
    if (auto extract = dyn_cast<LLVM::ExtractValueOp>(user))
      return extract.getPosition().take_front(position.size()) == position;
    auto insert = dyn_cast<LLVM::InsertValueOp>(user);
    // What is put there instead hides it.
    return !insert || insert.getContainer() != aggregate ||
           (insert.getPosition() != position &&
            readsField(insert.getResult(), position));
  });
}

/// What anything depends on: breaking the rest would change nothing. So with
/// fields of memory's descriptors that nothing reads.
static llvm::DenseSet<Operation *> findUsed(LLVM::LLVMFuncOp function) {
  llvm::DenseSet<Operation *> used;
  std::vector<Operation *> work;
  auto use = [&](Operation *op) {
    if (used.insert(op).second)
      work.push_back(op);
  };
  function.walk([&](Operation *op) {
    if (!isPure(op) || op->hasTrait<OpTrait::IsTerminator>())
      use(op);
  });
  while (!work.empty()) {
    Operation *op = work.back();
    work.pop_back();
    auto insert = dyn_cast<LLVM::InsertValueOp>(op);
    for (Value operand : op->getOperands())
      if (Operation *definition = operand.getDefiningOp())
        if (!insert || operand == insert.getContainer() ||
            insert.getPosition().size() != 1 ||
            readsField(insert.getResult(), insert.getPosition()))
          use(definition);
  }
  return used;
}

/// Whether an operation only adds up, moves or exchanges what it gets, or says
/// with which lane.
static bool gathers(Operation *op) {
  return exchangedOperand(nameOf(op)) >= 0 ||
         isa<LLVM::FAddOp, LLVM::BitcastOp, LLVM::ExtractElementOp,
             LLVM::InsertElementOp, LLVM::ShuffleVectorOp, LLVM::ConstantOp,
             LLVM::XOrOp, LLVM::AndOp, LLVM::AddOp, LLVM::SubOp, LLVM::ShlOp,
             LLVM::LShrOp, LLVM::ICmpOp, LLVM::SelectOp>(op);
}

/// What only gathers sums of which the lanes are asked whether they are NaN.
/// The lanes vote on the answers and keep what they had before, so that neither
/// the sign of a term nor what comes from another lane changes the outcome.
static llvm::DenseSet<Operation *> findAsked(LLVM::LLVMFuncOp function) {
  std::vector<Operation *> operations;
  function.walk([&](Operation *op) { operations.push_back(op); });
  llvm::DenseSet<Operation *> asked;
  // Users come before what they use.
  for (Operation *op : llvm::reverse(operations)) {
    auto compare = dyn_cast<LLVM::FCmpOp>(op);
    bool asks = compare && compare.getLhs() == compare.getRhs() &&
                compare.getPredicate() == LLVM::FCmpPredicate::uno;
    if (asks || (gathers(op) && !op->use_empty() &&
                 llvm::all_of(op->getUsers(), [&](Operation *user) {
                   return asked.contains(user);
                 })))
      asked.insert(op);
  }
  return asked;
}

/// Whether a defect can be shown to change no number that is made of the
/// thread's number alone, in any thread: `lane ^ 32` is below the 64 lanes, so
/// that it makes no difference what a comparison with 64 would choose
/// otherwise.
static bool changesNoThread(ThreadNumbers &numbers, Operation *op,
                            const Operator &o) {
  if (op->getNumResults() != 1)
    return false;
  if (auto shuffle = dyn_cast<NVVM::ShflOp>(op))
    return o.kind == kDropExchange && numbers.isNeedless(shuffle);
  if (!numbers.has(op))
    return false;
  // A copy is broken, whose value another operation keeps hold of.
  OpBuilder b(op->getContext());
  b.setInsertionPointAfter(op);
  Operation *copy = b.clone(*op);
  auto keeper = LLVM::FreezeOp::create(
      b, op->getLoc(), copy->getResult(0).getType(), copy->getResult(0));
  o.apply(copy);
  bool isEqual = numbers.isEqual(op, keeper.getVal());
  Operation *last = keeper->getPrevNode();
  keeper->erase();
  while (last != op) {
    Operation *before = last->getPrevNode();
    last->erase();
    last = before;
  }
  return isEqual;
}

std::vector<Mutation> mlir::evoformer::sim::listMutations(Operation *module,
                                                          StringRef kernel) {
  std::vector<Mutation> list;
  unsigned index = 0;
  if (LLVM::LLVMFuncOp function = findKernel(module, kernel)) {
    llvm::DenseSet<Operation *> used = findUsed(function);
    llvm::DenseSet<Operation *> asked = findAsked(function);
    ThreadNumbers numbers(function);
    std::vector<Operation *> operations;
    function.walk([&](Operation *op) { operations.push_back(op); });
    for (Operation *op : operations) {
      if (used.contains(op) && !asked.contains(op))
        for (const Operator &o : operators)
          if (o.applies(op) && !changesNoThread(numbers, op, o))
            list.push_back({o.kind, index});
      ++index;
    }
  }
  return list;
}

std::string mlir::evoformer::sim::applyMutation(Operation *module,
                                                StringRef kernel,
                                                const Mutation &mutation) {
  Operation *target = nullptr;
  unsigned index = 0;
  findKernel(module, kernel).walk([&](Operation *op) {
    if (index++ == mutation.index)
      target = op;
  });
  std::string text;
  llvm::raw_string_ostream os(text);
  os << mutation.kind << ": ";
  target->print(os, OpPrintingFlags().useLocalScope().skipRegions());
  os << " at " << target->getLoc();
  // A constant says little without what it is for.
  if (isa<LLVM::ConstantOp>(target) && target->hasOneUse()) {
    os << ", used by ";
    target->getUsers().begin()->print(
        os, OpPrintingFlags().useLocalScope().skipRegions());
  }
  applyMutation(target, mutation.kind);
  return text;
}

void mlir::evoformer::sim::applyMutation(Operation *op, StringRef kind) {
  llvm::find_if(operators, [&](const Operator &o) {
    return o.kind == kind;
  })->apply(op);
}
