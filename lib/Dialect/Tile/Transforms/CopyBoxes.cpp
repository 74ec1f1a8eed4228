//===- CopyBoxes.cpp - Boxes that one lane copies -------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loop that copies ahead has tokens of the groups under way among its
// iteration arguments, the oldest first; it waits for that, and hands on the
// others and its own group. Slots go beside the tokens.
//
//===----------------------------------------------------------------------===//

#include "KernelMemory.h"

#include "Evoformer/Dialect/Tile/IR/Boxes.h"
#include "Evoformer/Dialect/Tile/IR/LDSPlacement.h"
#include "Evoformer/Dialect/Tile/IR/Levels.h"
#include "Evoformer/Dialect/Tile/IR/Limits.h"
#include "Evoformer/Dialect/Tile/IR/LoopCounts.h"
#include "Evoformer/Dialect/Tile/IR/SharedLayout.h"
#include "Evoformer/Dialect/Tile/IR/Tile.h"
#include "Evoformer/Dialect/Tile/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace mlir::evoformer::tile {
#define GEN_PASS_DEF_COPYBOXES
#include "Evoformer/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::evoformer::tile

using namespace mlir;
using namespace mlir::evoformer::tile;

static constexpr StringLiteral kPass = "evo-tile-copy-boxes";

namespace {

/// Where a dimension ends: at a number, or where one of an argument of the
/// kernel does.
struct End {
  int64_t number = 0;
  BlockArgument argument = {};
  int64_t dim = 0;

  bool operator==(const End &other) const {
    return number == other.number && argument == other.argument &&
           dim == other.dim;
  }
};

/// What a copy reads, as a box of one of the kernel's arguments.
struct Box {
  BlockArgument memory;
  SmallVector<int64_t> sizes;
  /// Behind which zeros are read.
  SmallVector<End> ends;
  /// Bytes of a row whose pieces change places; 0: none do.
  int64_t swizzle = 0;
  /// Of the first element, along each dimension of the memory: the numbers that
  /// add up to its index.
  SmallVector<SmallVector<OpFoldResult>> coordinates;

  bool isOfSameMap(const Box &other) const {
    return memory == other.memory && sizes == other.sizes &&
           ends == other.ends && swizzle == other.swizzle;
  }
};

/// A view of a kernel's argument, dimension by dimension.
struct View {
  BlockArgument memory;
  /// By dimension of the view, the argument's.
  SmallVector<int64_t> dims;
  /// By dimension of the argument: the numbers that add up to where the view
  /// starts, and where it ends; nothing where that is not known.
  SmallVector<SmallVector<OpFoldResult>> starts;
  SmallVector<std::optional<End>> ends;
};

/// The pipelined loop and its groups of copies.
struct CopyingLoop {
  scf::ForOp loop;
  AsyncGroupOp group;
  WaitOp wait;
  /// Of the first iterations, the oldest first.
  SmallVector<AsyncGroupOp> first;

  SmallVector<AsyncGroupOp> getGroups() const {
    SmallVector<AsyncGroupOp> all = first;
    all.push_back(group);
    return all;
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

/// Where dimension `dim` of an argument of the kernel ends.
static End getEnd(BlockArgument argument, int64_t dim) {
  int64_t size = cast<MemRefType>(argument.getType()).getDimSize(dim);
  if (ShapedType::isStatic(size))
    return {size};
  return {0, argument, dim};
}

/// `value` as the place where a dimension ends.
static std::optional<End> findEnd(OpFoldResult value) {
  if (std::optional<int64_t> number = getConstantIntValue(value))
    return End{*number};
  auto extent = cast<Value>(value).getDefiningOp<memref::DimOp>();
  if (!extent || !extent.getConstantIndex())
    return std::nullopt;
  auto argument = dyn_cast<BlockArgument>(extent.getSource());
  if (!argument || !isa<KernelOp>(argument.getOwner()->getParentOp()))
    return std::nullopt;
  return getEnd(argument, *extent.getConstantIndex());
}

/// Where `size` elements from `start` on end, counted from where that is.
static std::optional<End> findEnd(OpFoldResult start, OpFoldResult size) {
  std::optional<int64_t> from = getConstantIntValue(start);
  if (from == 0)
    return findEnd(size);
  if (std::optional<int64_t> count = getConstantIntValue(size))
    return from ? std::optional<End>(End{*from + *count}) : std::nullopt;
  auto rest = cast<Value>(size).getDefiningOp<arith::SubIOp>();
  if (!rest || !isEqualConstantIntOrValue(OpFoldResult(rest.getRhs()), start))
    return std::nullopt;
  return findEnd(OpFoldResult(rest.getLhs()));
}

/// `memref` as a view of an argument of the kernel; nothing where it takes each
/// second element or is a view of another kind.
static std::optional<View> findView(Value memref) {
  if (auto argument = dyn_cast<BlockArgument>(memref)) {
    if (!isa<KernelOp>(argument.getOwner()->getParentOp()))
      return std::nullopt;
    int64_t rank = cast<MemRefType>(argument.getType()).getRank();
    View view;
    view.memory = argument;
    view.dims = llvm::to_vector(llvm::seq<int64_t>(0, rank));
    view.starts.resize(rank);
    for (int64_t dim = 0; dim < rank; ++dim)
      view.ends.push_back(getEnd(argument, dim));
    return view;
  }
  // A cast hides what the type says of strides.
  if (auto cast = memref.getDefiningOp<memref::CastOp>();
      cast && isa<MemRefType>(cast.getSource().getType()))
    return findView(cast.getSource());
  auto subview = memref.getDefiningOp<memref::SubViewOp>();
  if (!subview)
    return std::nullopt;
  std::optional<View> view = findView(subview.getSource());
  if (!view)
    return std::nullopt;
  SmallVector<int64_t> kept;
  llvm::SmallBitVector dropped = subview.getDroppedDims();
  for (auto [dim, start, size, stride] :
       llvm::enumerate(subview.getMixedOffsets(), subview.getMixedSizes(),
                       subview.getMixedStrides())) {
    if (getConstantIntValue(stride) != 1)
      return std::nullopt;
    int64_t of = view->dims[dim];
    // Counted from the view's own start, which is that of the memory if nothing
    // was cut off in front.
    view->ends[of] =
        view->starts[of].empty() ? findEnd(start, size) : std::nullopt;
    if (getConstantIntValue(start) != 0)
      view->starts[of].push_back(start);
    if (!dropped.test(dim))
      kept.push_back(of);
  }
  view->dims = std::move(kept);
  return view;
}

/// Whether workgroup memory starts at multiples of so many bytes of its buffer.
static bool isAligned(Value memory, int64_t bytes) {
  while (auto view = memory.getDefiningOp<memref::SubViewOp>()) {
    MemRefType source = view.getSourceType();
    SmallVector<int64_t> strides;
    int64_t offset;
    if (failed(source.getStridesAndOffset(strides, offset)))
      return false;
    for (auto [start, stride] :
         llvm::zip_equal(view.getMixedOffsets(), strides)) {
      int64_t step = stride * source.getElementTypeBitWidth() / 8;
      if (step * getConstantIntValue(start).value_or(1) % bytes != 0)
        return false;
    }
    memory = view.getSource();
  }
  return memory.getDefiningOp<AllocLDSOp>() != nullptr;
}

/// Whether rows of a view are those of its buffer, behind which nothing lies.
static bool hasWholeRows(Value memory) {
  auto getRow = [](Value memref) {
    return cast<MemRefType>(memref.getType()).getShape().back();
  };
  return getRow(memory) == getRow(getMemoryRoot(memory));
}

static std::optional<Box> findBox(AsyncCopyOp copy) {
  RankedTensorType tile = copy.getTileType();
  Type element = tile.getElementType();
  if (!isBoxElement(element) ||
      copy.getAlignment().value_or(1) % kMapAlignment != 0)
    return std::nullopt;
  std::optional<View> view = findView(copy.getSource());
  if (!view)
    return std::nullopt;
  auto memory = cast<MemRefType>(view->memory.getType());
  int64_t rank = memory.getRank(), offset;
  SmallVector<int64_t> strides;
  if (rank > kMaxMapRank || tile.getRank() == 0 ||
      failed(memory.getStridesAndOffset(strides, offset)) ||
      strides.back() != 1 || llvm::any_of(strides, [](int64_t stride) {
        return ShapedType::isStatic(stride) && stride < 0;
      }))
    return std::nullopt;

  Box box;
  box.memory = view->memory;
  box.sizes.assign(rank, 1);
  box.coordinates = view->starts;
  for (int64_t dim = 0; dim < rank; ++dim)
    box.ends.push_back(getEnd(view->memory, dim));
  for (int64_t d = 0; d < tile.getRank(); ++d) {
    int64_t of = view->dims[d];
    // What is copied beyond a bound that is not the memory's own is no zero.
    if (!copy.isDimInBounds(d) && (!view->ends[of] || !copy.getPadding()))
      return std::nullopt;
    // Where nothing is asked, zeros beyond the memory are as good as any.
    if (!copy.isDimInBounds(d))
      box.ends[of] = *view->ends[of];
    box.sizes[of] = tile.getDimSize(d);
    box.coordinates[of].push_back(copy.getSourceIndices()[d]);
  }
  auto dest = cast<MemRefType>(copy.getDest().getType());
  auto isZero = [](Value index) { return getConstantIntValue(index) == 0; };
  std::optional<BoxTiling> tiling = findBoxTiling(dest);
  if (!tiling)
    return std::nullopt;
  // Boxes may be wider than a tile that is as wide as the buffer.
  if (tiling->count * tiling->sizes.back() > box.sizes.back() &&
      !hasWholeRows(copy.getDest()))
    return std::nullopt;
  if (box.sizes.back() != 1)
    box.sizes.back() = tiling->sizes.back();
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  if (llvm::any_of(box.sizes, [](int64_t s) { return s > kMaxBoxSize; }) ||
      box.sizes.back() * bytes % kMapAlignment != 0 ||
      !isAligned(copy.getDest(),
                 std::max(kBoxAlignment, getSwizzle(dest).getPeriod())) ||
      dest.getShape() != tile.getShape() ||
      !llvm::all_of(copy.getDestIndices(), isZero) ||
      !llvm::is_sorted(view->dims) || getWideSizes(box.sizes) != tiling->sizes)
    return std::nullopt;
  box.swizzle = tiling->swizzle;
  return box;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// The loop's groups of copies, where they are as evo-tile-software-pipeline
/// leaves them; nothing where the loop may run more than once, as slots are
/// made once.
static std::optional<CopyingLoop> findCopies(scf::ForOp loop) {
  CopyingLoop found;
  found.loop = loop;
  if (mayRunAgain(loop) || loop->getParentOfType<WhereOp>())
    return std::nullopt;
  SmallVector<AsyncGroupOp> groups;
  SmallVector<WaitOp> waits;
  loop.getBody()->walk([&](AsyncGroupOp op) { groups.push_back(op); });
  loop.getBody()->walk([&](WaitOp op) { waits.push_back(op); });
  if (groups.size() != 1 || waits.size() != 1 ||
      groups.front()->getParentOp() != loop ||
      waits.front()->getParentOp() != loop ||
      !groups.front().getToken().hasOneUse())
    return std::nullopt;
  found.group = groups.front();
  found.wait = waits.front();
  // A slot is free again when all subgroups have waited and met.
  bool waitsFirst = found.wait->isBeforeInBlock(found.group);
  if (llvm::none_of(loop.getBody()->getOps<BarrierOp>(), [&](BarrierOp op) {
        return found.wait->isBeforeInBlock(op) &&
               (!waitsFirst || op->isBeforeInBlock(found.group));
      }))
    return std::nullopt;
  Operation *yield = loop.getBody()->getTerminator();
  SmallVector<unsigned> tokens;
  for (auto [number, arg] : llvm::enumerate(loop.getRegionIterArgs()))
    if (isa<TokenType>(arg.getType()))
      tokens.push_back(number);
  if (tokens.empty() ||
      found.wait.getToken() != loop.getRegionIterArg(tokens.front()))
    return std::nullopt;
  for (auto [place, number] : llvm::enumerate(tokens)) {
    Value next = place + 1 < tokens.size()
                     ? Value(loop.getRegionIterArg(tokens[place + 1]))
                     : found.group.getToken();
    auto before = loop.getInits()[number].getDefiningOp<AsyncGroupOp>();
    if (yield->getOperand(number) != next || !before ||
        before->getBlock() != loop->getBlock() ||
        !before.getToken().hasOneUse() ||
        !loop->getResult(number).use_empty() ||
        (!before.getCopies().empty() &&
         before.getCopies().size() != found.group.getCopies().size()))
      return std::nullopt;
    found.first.push_back(before);
  }
  // What is copied for an iteration that there is not would never be awaited.
  std::optional<APInt> trips = loop.getStaticTripCount();
  for (auto [number, group] : llvm::enumerate(found.getGroups()))
    for (Value value : group.getCopies()) {
      auto copy = value.getDefiningOp<AsyncCopyOp>();
      if (!copy || copy->getBlock() != group->getBlock() ||
          (!copy.getPredicate() &&
           (group == found.group || !trips || trips->ule(number))))
        return std::nullopt;
    }
  return found;
}

/// A copy of a group that has as many as the loop's own.
static AsyncCopyOp getCopy(AsyncGroupOp group, size_t number) {
  return group.getCopies()[number].getDefiningOp<AsyncCopyOp>();
}

/// Whether lanes write workgroup memory in `op` itself.
static bool writesLDS(Operation *op) {
  auto store = dyn_cast<StoreOp>(op);
  return isa<AsyncCopyOp, ExchangeOp>(op) ||
         (store && isWorkgroupMemory(store.getDestType()));
}

/// Whether a fence and a barrier come before `op` in its block, and no write of
/// lanes between, nor the arrival of one.
static bool isFenced(Operation *op) {
  for (Operation *before = op->getPrevNode(); before;
       before = before->getPrevNode()) {
    if (isa<BarrierOp>(before) &&
        isa_and_nonnull<ProxyFenceOp>(before->getPrevNode()))
      return true;
    WalkResult found = before->walk([](Operation *inner) {
      return writesLDS(inner) || isa<WaitOp>(inner) ? WalkResult::interrupt()
                                                    : WalkResult::advance();
    });
    if (found.wasInterrupted())
      return false;
  }
  return false;
}

/// Whether lanes may have written workgroup memory before `op`, in its block or
/// one around it, and not handed it over.
static bool mayBeWrittenBefore(Operation *op) {
  if (isFenced(op))
    return false;
  auto kernel = op->getParentOfType<KernelOp>();
  WalkResult found = kernel.walk<WalkOrder::PreOrder>([&](Operation *other) {
    if (other == op)
      return WalkResult::skip();
    Operation *before = op->getBlock()->findAncestorOpInBlock(*other);
    // What is not in a block around `op` comes before it, or is left out with
    // it.
    bool isLater = before && !before->isBeforeInBlock(op);
    return writesLDS(other) && !isLater ? WalkResult::interrupt()
                                        : WalkResult::advance();
  });
  return found.wasInterrupted();
}

namespace {

/// Has the loops of one kernel copy boxes.
class BoxCopier {
public:
  explicit BoxCopier(KernelOp kernel)
      : kernel(kernel), rewriter(kernel.getContext()) {}

  /// How many copies became boxes'.
  int64_t run();

private:
  int64_t rewriteLoop(CopyingLoop found);
  bool hasRoomForSlots(int64_t count, bool released);
  void addSlots(CopyingLoop &found, ValueRange slots);
  /// Puts those copies of the group into the slot and closes it.
  Value rewriteGroup(AsyncGroupOp group, ArrayRef<size_t> numbers, Value slot);
  void rewriteCopy(AsyncCopyOp copy, Value slot);
  void dropTokens(CopyingLoop &found);
  void liftFences(scf::ForOp loop);
  void replaceBarriers(scf::ForOp loop, ArrayRef<BarrierOp> barriers,
                       Value read, Value next);
  Value getMap(const Box &box);

  KernelOp kernel;
  IRRewriter rewriter;
  SmallVector<std::pair<Box, Value>> maps;
};

} // namespace

/// The kernel's argument for the map of a box.
Value BoxCopier::getMap(const Box &box) {
  for (const auto &[known, map] : maps)
    if (known.isOfSameMap(box))
      return map;
  SmallVector<int64_t> ends;
  for (const End &end : box.ends) {
    ends.push_back(end.argument ? int64_t(end.argument.getArgNumber()) : -1);
    ends.push_back(end.argument ? end.dim : end.number);
  }
  unsigned number = kernel.getNumArguments();
  [[maybe_unused]] LogicalResult added = kernel.insertArgument(
      number,
      TensorMapType::get(kernel.getContext(), box.memory.getArgNumber(),
                         box.sizes, ends, box.swizzle),
      {}, kernel.getLoc());
  assert(succeeded(added) && "kernels take any number of arguments");
  Value map = kernel.getArgument(number);
  maps.push_back({box, map});
  return map;
}

void BoxCopier::rewriteCopy(AsyncCopyOp copy, Value slot) {
  Box box = *findBox(copy);
  Value map = getMap(box);
  Location loc = copy.getLoc();
  SmallVector<Value> coordinates;
  for (ArrayRef<OpFoldResult> parts : box.coordinates) {
    Value sum;
    for (OpFoldResult part : parts) {
      Value value = getValueOrCreateConstantIndexOp(rewriter, loc, part);
      sum = sum ? rewriter.createOrFold<arith::AddIOp>(loc, sum, value) : value;
    }
    coordinates.push_back(
        sum ? sum : arith::ConstantIndexOp::create(rewriter, loc, 0));
  }
  BoxCopyOp::create(rewriter, loc, map, coordinates, copy.getDest(), slot,
                    copy.getPredicate());
}

Value BoxCopier::rewriteGroup(AsyncGroupOp group, ArrayRef<size_t> numbers,
                              Value slot) {
  SmallVector<AsyncCopyOp> replaced;
  if (!group.getCopies().empty())
    for (size_t number : numbers)
      replaced.push_back(getCopy(group, number));
  // One behind the other, so that they are one branch.
  rewriter.setInsertionPointAfter(group);
  for (AsyncCopyOp copy : replaced)
    rewriteCopy(copy, slot);
  SmallVector<Value> left;
  for (Value copy : group.getCopies())
    if (!llvm::is_contained(replaced, copy.getDefiningOp()))
      left.push_back(copy);
  group.getCopiesMutable().assign(left);
  for (AsyncCopyOp copy : replaced)
    rewriter.eraseOp(copy);
  return CloseSlotOp::create(rewriter, group.getLoc(), slot.getType(), slot);
}

/// Carries slots: those under way, the oldest first, and behind them free ones,
/// that which the next group takes first. A group that is made after the oldest
/// has been waited for may take that.
void BoxCopier::addSlots(CopyingLoop &found, ValueRange slots) {
  FailureOr<LoopLikeOpInterface> replaced =
      found.loop.replaceWithAdditionalYields(
          rewriter, slots, /*replaceInitOperandUsesInLoop=*/false,
          [](OpBuilder &, Location, ArrayRef<BlockArgument> args) {
            return SmallVector<Value>(args.begin(), args.end());
          });
  found.loop = cast<scf::ForOp>(replaced->getOperation());
}

/// Whether workgroup memory has room for so many slots and for buffers that
/// start where boxes can.
bool BoxCopier::hasRoomForSlots(int64_t count, bool released) {
  SmallVector<LDSBuffer> buffers = getLDSBuffers(kernel);
  for (LDSBuffer &buffer : buffers)
    buffer.period = std::max(buffer.period, kBoxAlignment);
  int64_t bytes = placeLDS(buffers).bytes + count * getSlotBytes(released);
  kernel.walk([&](CopySlotsOp slots) {
    bytes += slots.getNumResults() * getSlotBytes(slots.getReleased());
  });
  return bytes <= kernel.getTarget()->getLdsBytes();
}

/// How much a step's products of several subgroups multiply and add.
static int64_t countGroupProducts(scf::ForOp loop) {
  int64_t count = 0;
  loop.getBody()->walk([&](GroupMmaOp mma) {
    auto a = cast<ShapedType>(mma.getA().getType());
    auto result = cast<ShapedType>(mma.getType());
    count += result.getNumElements() * a.getShape().back();
  });
  return count;
}

/// Boxes arrive later than what lanes copy, most of all those of short rows,
/// and products of several subgroups have little else to do meanwhile: with one
/// step under way, and a barrier that has all subgroups wait, they do so, too,
/// unless they multiply often what a byte holds.
static bool waitsForBoxes(CopyingLoop &found, int64_t bytes, bool released) {
  constexpr int64_t kProductsOfByte = 32, kLongRow = 128;
  int64_t products = countGroupProducts(found.loop);
  bool hasShortRows = llvm::any_of(found.group.getCopies(), [](Value copy) {
    RankedTensorType tile = copy.getDefiningOp<AsyncCopyOp>().getTileType();
    int64_t row = tile.getRank() == 0 ? 1 : tile.getShape().back();
    return row * tile.getElementTypeBitWidth() / 8 < kLongRow;
  });
  return found.first.size() == 1 && products != 0 && !released &&
         hasShortRows && products < kProductsOfByte * bytes;
}

/// Whether a product is of all subgroups of the workgroup together, which then
/// meet in any case.
static bool isOfAllSubgroups(GroupMmaOp mma) {
  auto kernel = mma->getParentOfType<KernelOp>();
  auto sums =
      dyn_cast<FragAttr>(cast<RankedTensorType>(mma.getType()).getEncoding());
  return sums &&
         llvm::any_of(kernel.getTarget()
                          ->getGroupMatrix()
                          .getAsRange<GroupMatrixInstrAttr>(),
                      [&](GroupMatrixInstrAttr instr) {
                        return instr.getEach() == sums.getInstr() &&
                               instr.getSubgroups() >=
                                   kernel.getSchedule()->getNumSubgroups();
                      });
}

/// The loop's barriers, where it needs them for nothing but its copies and
/// subgroups go their own way without them; none elsewhere.
static SmallVector<BarrierOp> findBarriersOfCopies(scf::ForOp loop) {
  SmallVector<BarrierOp> barriers;
  WalkResult found = loop.getBody()->walk([&](Operation *op) {
    bool isOther = isa<ExchangeOp>(op);
    if (auto barrier = dyn_cast<BarrierOp>(op)) {
      barriers.push_back(barrier);
      isOther = barrier.getHandover() || barrier->getParentOp() != loop;
    } else if (auto mma = dyn_cast<GroupMmaOp>(op)) {
      isOther = isOfAllSubgroups(mma);
    } else if (auto store = dyn_cast<StoreOp>(op)) {
      isOther = isWorkgroupMemory(store.getDestType());
    }
    return isOther ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found.wasInterrupted() ? SmallVector<BarrierOp>() : barriers;
}

/// A loop that has nothing but boxes under way carries no tokens.
void BoxCopier::dropTokens(CopyingLoop &found) {
  scf::ForOp loop = found.loop;
  rewriter.eraseOp(found.wait);
  llvm::BitVector isToken(loop.getNumRegionIterArgs() + 1);
  SmallVector<Value> inits, results;
  for (auto [number, init] : llvm::enumerate(loop.getInits())) {
    if (isa<TokenType>(init.getType()))
      isToken.set(number + 1);
    else
      inits.push_back(init);
  }
  rewriter.setInsertionPoint(loop);
  auto fresh = scf::ForOp::create(
      rewriter, loop.getLoc(), loop.getLowerBound(), loop.getUpperBound(),
      loop.getStep(), inits, /*bodyBuilder=*/nullptr, loop.getUnsignedCmp());
  fresh->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  Operation *yield = loop.getBody()->getTerminator();
  for (int64_t number = isToken.size() - 1; number > 0; --number)
    if (isToken.test(number))
      yield->eraseOperand(number - 1);
  loop.getBody()->eraseArguments(isToken);
  fresh.getRegion().takeBody(loop.getRegion());
  unsigned next = 0;
  for (OpResult result : loop.getResults())
    if (!isToken.test(result.getResultNumber() + 1))
      result.replaceAllUsesWith(fresh.getResult(next++));
  rewriter.eraseOp(loop);
  for (AsyncGroupOp group : found.getGroups())
    rewriter.eraseOp(group);
  found.loop = fresh;
}

/// What the loop's barrier has handed to products of groups was written before
/// the loop.
void BoxCopier::liftFences(scf::ForOp loop) {
  SmallVector<ProxyFenceOp> fences(loop.getBody()->getOps<ProxyFenceOp>());
  if (!fences.empty() && !isFenced(loop))
    ProxyFenceOp::create(rewriter, loop.getLoc());
  for (ProxyFenceOp fence : fences)
    rewriter.eraseOp(fence);
}

/// How many steps' tiles the buffers of these copies hold; 0: that is not
/// known.
static int64_t getRingSize(AsyncGroupOp group) {
  int64_t size = 0;
  for (size_t i = 0; i < group.getCopies().size(); ++i) {
    Value dest = getCopy(group, i).getDest();
    auto view = dest.getDefiningOp<memref::SubViewOp>();
    if (!view || !view.getSource().getDefiningOp<AllocLDSOp>() ||
        !view.getDroppedDims().test(0))
      return 0;
    int64_t slots = view.getSourceType().getDimSize(0);
    size = size ? std::min(size, slots) : slots;
  }
  return size;
}

/// Has subgroups release the slot that they have read, instead of meeting: only
/// who copies to the next one waits for the others.
void BoxCopier::replaceBarriers(scf::ForOp loop, ArrayRef<BarrierOp> barriers,
                                Value read, Value next) {
  for (BarrierOp barrier : barriers)
    rewriter.eraseOp(barrier);
  Operation *copy = loop.getBody()->getTerminator();
  for (Operation *user : next.getUsers())
    if (user->isBeforeInBlock(copy))
      copy = user;
  rewriter.setInsertionPoint(copy);
  ClaimSlotOp::create(rewriter, loop.getLoc(), next);
  rewriter.setInsertionPoint(loop.getBody()->getTerminator());
  ReleaseSlotOp::create(rewriter, loop.getLoc(), read);
}

int64_t BoxCopier::rewriteLoop(CopyingLoop found) {
  SmallVector<AsyncGroupOp> groups = found.getGroups();
  SmallVector<size_t> numbers;
  for (size_t i = 0; i < found.group.getCopies().size(); ++i)
    if (llvm::all_of(groups, [&](AsyncGroupOp group) {
          return group.getCopies().empty() || findBox(getCopy(group, i));
        }))
      numbers.push_back(i);
  // One lane issues them all, and a loop that waits for both kinds waits twice.
  int64_t boxBytes = 0, allBytes = 0;
  for (size_t i = 0; i < found.group.getCopies().size(); ++i) {
    RankedTensorType tile = getCopy(found.group, i).getTileType();
    int64_t bytes = tile.getNumElements() * tile.getElementTypeBitWidth() / 8;
    allBytes += bytes;
    boxBytes += llvm::is_contained(numbers, i) ? bytes : 0;
  }
  bool areAll = numbers.size() == found.group.getCopies().size();
  int64_t underWay = found.first.size(), ringSize = getRingSize(found.group);
  SmallVector<BarrierOp> barriers;
  if (areAll && ringSize > underWay)
    barriers = findBarriersOfCopies(found.loop);
  bool released = !barriers.empty();
  // A group that is made behind the barrier after the wait takes the slot that
  // this has freed.
  bool reuses = !released && found.wait->isBeforeInBlock(found.group);
  // One that is released stands for the buffers that hold what it brought.
  int64_t numSlots = released ? ringSize : underWay + (reuses ? 0 : 1);
  if (2 * boxBytes <= allBytes || waitsForBoxes(found, allBytes, released) ||
      !hasRoomForSlots(numSlots, released))
    return 0;

  Operation *top = found.first.front();
  for (Value copy : found.first.front().getCopies())
    if (copy.getDefiningOp()->isBeforeInBlock(top))
      top = copy.getDefiningOp();
  rewriter.setInsertionPoint(top);
  Location loc = found.loop.getLoc();
  // What lanes have written may lie where boxes are written next.
  if (mayBeWrittenBefore(top)) {
    ProxyFenceOp::create(rewriter, loc);
    BarrierOp::create(rewriter, loc);
  }
  auto type = rewriter.getType<SlotType>();
  auto made = CopySlotsOp::create(rewriter, loc,
                                  SmallVector<Type>(numSlots, type), released);
  SmallVector<Value> slots(made.getSlots());
  for (int64_t i = 0; i < underWay; ++i)
    slots[i] = rewriteGroup(found.first[i], numbers, slots[i]);
  // Nobody looks at a slot before it is one.
  rewriter.setInsertionPoint(found.loop);
  if (released)
    liftFences(found.loop);
  BarrierOp::create(rewriter, loc);

  unsigned firstSlot = found.loop.getNumRegionIterArgs();
  addSlots(found, slots);
  auto carried = [&](size_t i) {
    return found.loop.getRegionIterArg(firstSlot + i);
  };
  rewriter.setInsertionPoint(found.wait);
  WaitSlotOp::create(rewriter, loc, carried(0));
  Value closed = rewriteGroup(found.group, numbers,
                              reuses ? carried(0) : carried(underWay));
  // What has been read is the last to be copied to again.
  Operation *yield = found.loop.getBody()->getTerminator();
  for (int64_t i = 0; i < numSlots; ++i)
    yield->setOperand(firstSlot + i, i + 1 == underWay
                                         ? closed
                                         : Value(carried((i + 1) % numSlots)));
  if (released)
    replaceBarriers(found.loop, barriers, carried(0), carried(underWay));
  if (areAll)
    dropTokens(found);
  return numbers.size();
}

int64_t BoxCopier::run() {
  SmallVector<scf::ForOp> loops;
  kernel.walk([&](scf::ForOp loop) { loops.push_back(loop); });
  int64_t count = 0;
  for (scf::ForOp loop : loops)
    if (std::optional<CopyingLoop> found = findCopies(loop))
      count += rewriteLoop(*found);
  return count;
}

namespace {
struct CopyBoxesPass : evoformer::tile::impl::CopyBoxesBase<CopyBoxesPass> {
protected:
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<KernelOp>()) {
      if (!kernel.getTarget() || !kernel.getTarget()->hasTensorMaps())
        continue;
      if (failed(requireStaged(kernel, kPass)))
        return signalPassFailure();
      numBoxes += BoxCopier(kernel).run();
    }
  }
};
} // namespace
