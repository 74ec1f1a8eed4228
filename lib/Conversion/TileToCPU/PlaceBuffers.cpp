//===- PlaceBuffers.cpp - One block of memory for all buffers -------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::evoformer {
#define GEN_PASS_DEF_PLACEBUFFERSPASS
#include "Evoformer/Conversion/TileToCPU/Passes.h.inc"
} // namespace mlir::evoformer

using namespace mlir;
using namespace mlir::evoformer;

/// Buffers start at cache lines.
static constexpr int64_t kAlignment = 64;

/// Elements from the first to the last one of a static strided memref.
static FailureOr<int64_t> getSpan(MemRefType type) {
  int64_t offset;
  SmallVector<int64_t> strides;
  if (!type.hasStaticShape() ||
      failed(type.getStridesAndOffset(strides, offset)) || offset != 0 ||
      llvm::is_contained(strides, ShapedType::kDynamic))
    return failure();
  int64_t span = 1;
  for (auto [size, stride] : llvm::zip_equal(type.getShape(), strides)) {
    if (size == 0)
      return 0;
    span += (size - 1) * stride;
  }
  return span;
}

/// Bytes of an element in memory.
static FailureOr<int64_t> getElementBytes(Type type) {
  if (type.isIndex())
    return 8;
  if (!type.isIntOrFloat())
    return failure();
  return std::max<int64_t>(1, llvm::PowerOf2Ceil(type.getIntOrFloatBitWidth()) /
                                  8);
}

namespace {

/// One buffer and where it goes.
struct Buffer {
  memref::AllocOp alloc;
  int64_t bytes = 0, place = 0;
  /// Numbers of the first and the last op that may use it.
  int64_t first = 0, last = 0;

  bool livesWith(const Buffer &other) const {
    return first <= other.last && other.first <= last;
  }
};

/// Numbers the ops of a function in order, so that an op with regions spans
/// the numbers of what is inside.
class Lifetimes {
public:
  explicit Lifetimes(func::FuncOp function) { number(function); }

  /// Sets the buffer's lifetime; fails where the function frees it itself.
  LogicalResult find(Buffer &buffer) const;

private:
  void number(Operation *op) {
    int64_t start = next++;
    for (Region &region : op->getRegions())
      for (Operation &inner : region.getOps())
        number(&inner);
    spans[op] = {start, next - 1};
  }

  int64_t next = 0;
  llvm::DenseMap<Operation *, std::pair<int64_t, int64_t>> spans;
};

} // namespace

LogicalResult Lifetimes::find(Buffer &buffer) const {
  Block *home = buffer.alloc->getBlock();
  auto [first, last] = spans.lookup(buffer.alloc);
  // All names under which the memory is known: results of views, what regions
  // yield and what loops carry.
  SetVector<Value> names;
  names.insert(buffer.alloc.getResult());
  auto addNames = [&](Operation *op) {
    for (Value result : op->getResults())
      if (isa<BaseMemRefType>(result.getType()))
        names.insert(result);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value argument : block.getArguments())
          if (isa<BaseMemRefType>(argument.getType()))
            names.insert(argument);
  };
  for (unsigned i = 0; i < names.size(); ++i)
    for (Operation *user : names[i].getUsers()) {
      if (isa<memref::DeallocOp>(user))
        return failure();
      addNames(user);
      if (user->hasTrait<OpTrait::IsTerminator>())
        addNames(user->getParentOp());
      Operation *ancestor = home->findAncestorOpInBlock(*user);
      if (!ancestor) {
        // It leaves its block: let it live always.
        buffer.first = 0;
        buffer.last = next;
        return success();
      }
      last = std::max(last, spans.lookup(ancestor).second);
    }
  buffer.first = first;
  buffer.last = last;
  return success();
}

/// Buffers whose lifetimes do not meet may share memory, large ones first.
/// Returns the bytes of all.
static int64_t assignPlaces(MutableArrayRef<Buffer> buffers) {
  SmallVector<Buffer *> order;
  for (Buffer &buffer : buffers)
    order.push_back(&buffer);
  llvm::sort(order, [](const Buffer *a, const Buffer *b) {
    return std::pair(-a->bytes, a->first) < std::pair(-b->bytes, b->first);
  });
  int64_t total = 0;
  SmallVector<Buffer *> placed;
  for (Buffer *buffer : order) {
    // `placed` is sorted by place: the first gap that is wide enough.
    int64_t place = 0;
    for (Buffer *other : placed) {
      if (!buffer->livesWith(*other))
        continue;
      if (other->place >= place + buffer->bytes)
        break;
      place = std::max(place, other->place + other->bytes);
    }
    buffer->place = place;
    total = std::max(total, place + buffer->bytes);
    placed.insert(llvm::upper_bound(placed, buffer,
                                    [](const Buffer *a, const Buffer *b) {
                                      return a->place < b->place;
                                    }),
                  buffer);
  }
  return total;
}

/// The buffer as a part of the block of all.
static void replaceAlloc(OpBuilder &b, Buffer &buffer, Value block) {
  memref::AllocOp alloc = buffer.alloc;
  Location loc = alloc.getLoc();
  MemRefType type = alloc.getType();
  Value start = arith::ConstantIndexOp::create(b, loc, buffer.place);
  auto viewType = MemRefType::get({*getSpan(type)}, type.getElementType());
  Value view =
      memref::ViewOp::create(b, loc, viewType, block, start, ValueRange{});
  int64_t offset;
  SmallVector<int64_t> strides;
  (void)type.getStridesAndOffset(strides, offset);
  view = memref::ReinterpretCastOp::create(b, loc, type, view, offset,
                                           type.getShape(), strides);
  alloc.replaceAllUsesWith(view);
  alloc.erase();
}

namespace {
class PlaceBuffers
    : public evoformer::impl::PlaceBuffersPassBase<PlaceBuffers> {
protected:
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function->removeAttr(tile_to_cpu::kKernelAttr))
      return;
    Lifetimes lifetimes(function);
    SmallVector<Buffer> buffers;
    WalkResult walk = function.walk([&](memref::AllocOp alloc) -> WalkResult {
      Buffer buffer{alloc};
      if (failed(lifetimes.find(buffer)))
        return WalkResult::advance();
      FailureOr<int64_t> span = getSpan(alloc.getType());
      FailureOr<int64_t> bytes =
          getElementBytes(alloc.getType().getElementType());
      if (failed(span) || failed(bytes))
        return alloc.emitOpError("a buffer of type ")
               << alloc.getType()
               << " has no static place; static strides, offset 0 and integer "
                  "or float elements do";
      buffer.bytes = llvm::alignTo(*span * *bytes, kAlignment);
      buffers.push_back(buffer);
      return WalkResult::advance();
    });
    if (walk.wasInterrupted())
      return signalPassFailure();
    if (buffers.empty())
      return;

    int64_t total = assignPlaces(buffers);
    OpBuilder b = OpBuilder::atBlockBegin(&function.getBody().front());
    Location loc = function.getLoc();
    auto blockType = MemRefType::get({total}, b.getI8Type());
    Value block = memref::AllocOp::create(b, loc, blockType,
                                          b.getI64IntegerAttr(kAlignment));
    for (Buffer &buffer : buffers)
      replaceAlloc(b, buffer, block);
    b.setInsertionPoint(function.getBody().front().getTerminator());
    memref::DeallocOp::create(b, loc, block);
  }
};
} // namespace
