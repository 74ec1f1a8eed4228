//===- TileOps.cpp - Operations on tiles ------------------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Dialect/Tile/IR/Limits.h"
#include "Evoformer/Dialect/Tile/IR/SharedLayout.h"
#include "Evoformer/Dialect/Tile/IR/Tile.h"

#include "Evoformer/Dialect/Tile/IR/Boxes.h"
#include "Evoformer/Dialect/Tile/IR/GroupProduct.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::evoformer::tile;

#define GET_OP_CLASSES
#include "Evoformer/Dialect/Tile/IR/TileOps.cpp.inc"

/// Checks a tile's layout, where it has one, against its shape.
static LogicalResult verifyLayout(Operation *op, Type type) {
  auto tile = cast<RankedTensorType>(type);
  if (!tile.getEncoding())
    return success();
  auto layout = dyn_cast<LayoutAttrInterface>(tile.getEncoding());
  if (!layout)
    return op->emitOpError("tile encoding ")
           << tile.getEncoding() << " is not a layout";
  return layout.getLaneMap(tile.getShape(),
                           [&]() { return op->emitOpError(); });
}

/// Both or neither of two tiles have a layout; if both, they place elements
/// as `expected` (of the source's map) says.
static LogicalResult
verifyRelated(Operation *op, RankedTensorType source, RankedTensorType result,
              function_ref<LaneMap(const LaneMap &)> expected) {
  if (!source.getEncoding() != !result.getEncoding())
    return op->emitOpError("mixes tiles with and without a layout");
  if (!source.getEncoding())
    return success();
  if (failed(verifyLayout(op, source)) || failed(verifyLayout(op, result)))
    return failure();
  if (expected(*getLaneMap(source)) != *getLaneMap(result))
    return op->emitOpError("result layout ")
           << result.getEncoding() << " does not follow from the source's";
  return success();
}

//===----------------------------------------------------------------------===//
// LoadOp, StoreOp, AsyncCopyOp, AllocLDSOp
//===----------------------------------------------------------------------===//

static LogicalResult verifyAccess(Operation *op, MemRefType memory,
                                  RankedTensorType tile, size_t indices,
                                  size_t inBounds) {
  if (memory.getRank() != tile.getRank())
    return op->emitOpError("a tile of rank ")
           << tile.getRank() << " and memory of rank " << memory.getRank();
  if ((int64_t)indices != memory.getRank())
    return op->emitOpError("expected ")
           << memory.getRank() << " indices, got " << indices;
  if (inBounds > (size_t)memory.getRank())
    return op->emitOpError("'in_bounds' has ")
           << inBounds << " entries for " << memory.getRank() << " dimensions";
  if (memory.getElementType() != tile.getElementType())
    return op->emitOpError("a tile of ")
           << tile.getElementType() << " and memory of "
           << memory.getElementType();
  return verifyLayout(op, tile);
}

static LogicalResult verifyAlignment(Operation *op,
                                     std::optional<uint64_t> alignment) {
  if (alignment && !llvm::isPowerOf2_64(*alignment))
    return op->emitOpError("'alignment' must be a power of two, got ")
           << static_cast<int64_t>(*alignment);
  return success();
}

LogicalResult LoadOp::verify() {
  if (failed(verifyAlignment(*this, getAlignment())))
    return failure();
  if (auto padding = getPaddingAttr();
      padding && padding.getType() != getTileType().getElementType())
    return emitOpError("padding of type ")
           << padding.getType() << " for a tile of "
           << getTileType().getElementType();
  return verifyAccess(*this, getSourceType(), getTileType(),
                      getIndices().size(), getInBounds().size());
}

LogicalResult StoreOp::verify() {
  if (failed(verifyAlignment(*this, getAlignment())))
    return failure();
  return verifyAccess(*this, getDestType(), getTileType(), getIndices().size(),
                      getInBounds().size());
}

LogicalResult AsyncCopyOp::verify() {
  if (failed(verifyAlignment(*this, getAlignment())))
    return failure();
  auto source = cast<MemRefType>(getSource().getType());
  auto dest = cast<MemRefType>(getDest().getType());
  if (isWorkgroupMemory(source) || !isWorkgroupMemory(dest))
    return emitOpError("copies from global to workgroup memory, got ")
           << source << " to " << dest;
  if (auto padding = getPaddingAttr()) {
    auto value = dyn_cast<FloatAttr>(padding);
    if (!value || !value.getValue().isPosZero())
      return emitOpError("can pad with zero only, got ") << padding;
  }
  if (failed(verifyAccess(*this, source, getTileType(),
                          getSourceIndices().size(), getInBounds().size())))
    return failure();
  return verifyAccess(*this, dest, getTileType(), getDestIndices().size(), 0);
}

LogicalResult BoxCopyOp::verify() {
  auto dest = cast<MemRefType>(getDest().getType());
  if (!isWorkgroupMemory(dest) || !dest.hasStaticShape())
    return emitOpError("copies to static workgroup memory, got ") << dest;
  auto map = cast<TensorMapType>(getMap().getType());
  ArrayRef<int64_t> box = map.getBox();
  if (box.size() != getCoordinates().size())
    return emitOpError("needs ")
           << box.size() << " coordinates, got " << getCoordinates().size();
  auto argument = dyn_cast<BlockArgument>(getMap());
  auto kernel =
      argument
          ? dyn_cast_if_present<KernelOp>(argument.getOwner()->getParentOp())
          : KernelOp();
  if (!kernel)
    return emitOpError("copies by a map that is an argument of the kernel");
  // The kernel's verifier looks at the map.
  ArrayRef<Type> types = kernel.getArgumentTypes();
  auto memory =
      map.getOf() >= 0 && map.getOf() < static_cast<int64_t>(types.size())
          ? dyn_cast<MemRefType>(types[map.getOf()])
          : MemRefType();
  std::optional<BoxTiling> tiling = findBoxTiling(dest);
  if (!tiling || tiling->sizes != getWideSizes(box) ||
      (memory && memory.getElementType() != dest.getElementType()) ||
      tiling->swizzle != map.getSwizzle())
    return emitOpError("copies all of a box of ")
           << map << ", densely and swizzled as that says, got " << dest;
  return success();
}

LogicalResult AllocLDSOp::verify() {
  auto type = cast<MemRefType>(getType());
  if (!isWorkgroupMemory(type) || !type.hasStaticShape())
    return emitOpError("needs a static memref in workgroup memory, got ")
           << type;
  int64_t offset;
  SmallVector<int64_t> strides;
  if (failed(type.getStridesAndOffset(strides, offset)) || offset != 0 ||
      llvm::is_contained(strides, ShapedType::kDynamic) ||
      llvm::any_of(strides, [](int64_t stride) { return stride < 0; }))
    return emitOpError("needs static strides and offset 0, got ") << type;
  if (!type.getElementType().isIntOrFloat())
    return emitOpError("needs numbers of a known width, got ") << type;
  int64_t width = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  if (Swizzle swizzle = getSwizzle(type);
      swizzle && (int64_t(1) << swizzle.base) < width)
    return emitOpError("would take elements apart: ") << type;
  int64_t bytes = width;
  for (auto [size, stride] : llvm::zip(type.getShape(), strides)) {
    if (size < 1)
      return emitOpError("is empty: ") << type;
    if (bytes <= kMaxLDSBytes)
      bytes += boundedProduct({size - 1, stride, width}, kMaxLDSBytes);
  }
  if (bytes > kMaxLDSBytes)
    return emitOpError("needs more than ")
           << kMaxLDSBytes << " bytes, got " << type;
  return success();
}

/// Promises bounds that follow from constant indices and static sizes.
template <typename OpTy>
static LogicalResult promiseBounds(OpTy op, MemRefType memory,
                                   RankedTensorType tile,
                                   PatternRewriter &rewriter) {
  SmallVector<bool> inBounds;
  bool changed = false;
  // A padded layout may reach beyond the tile; the tile's own size counts: its
  // padding is never read from memory.
  for (int64_t d = 0; d < tile.getRank(); ++d) {
    std::optional<int64_t> index = getConstantIntValue(op.getIndices()[d]);
    bool known = index && !memory.isDynamicDim(d) && *index >= 0 &&
                 *index + tile.getDimSize(d) <= memory.getDimSize(d);
    inBounds.push_back(op.isDimInBounds(d) || known);
    changed |= inBounds.back() != op.isDimInBounds(d);
  }
  if (!changed)
    return failure();
  rewriter.modifyOpInPlace(op, [&] { op.setInBounds(inBounds); });
  return success();
}

void LoadOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                         MLIRContext *) {
  patterns.add(+[](LoadOp op, PatternRewriter &rewriter) {
    return promiseBounds(op, op.getSourceType(), op.getTileType(), rewriter);
  });
}

void StoreOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                          MLIRContext *) {
  patterns.add(+[](StoreOp op, PatternRewriter &rewriter) {
    return promiseBounds(op, op.getDestType(), op.getTileType(), rewriter);
  });
}

//===----------------------------------------------------------------------===//
// MmaOp
//===----------------------------------------------------------------------===//

Type MmaOp::getMultipliedType() {
  return getReads().value_or(getElementTypeOrSelf(getA().getType()));
}

/// That what comes out is of the types that go in.
static LogicalResult checkPassed(Operation *op, ValueRange given) {
  if (given.getTypes() == op->getResultTypes())
    return success();
  return op->emitOpError("gives its tiles as they are: ")
         << given.getTypes() << " are no " << op->getResultTypes();
}

LogicalResult GroupFenceOp::verify() { return checkPassed(*this, getTiles()); }

LogicalResult GroupWaitOp::verify() {
  if (failed(checkPassed(*this, getProducts())))
    return failure();
  for (Value product : getProducts()) {
    auto mma = product.getDefiningOp<GroupMmaOp>();
    if (!mma || !mma.getAsync() || mma->getBlock() != (*this)->getBlock())
      return emitOpError("needs results of asynchronous products of its block, "
                         "got ")
             << product;
    int64_t later = 0;
    for (Operation *op = mma->getNextNode(); op && op != *this;
         op = op->getNextNode()) {
      auto other = dyn_cast<GroupMmaOp>(op);
      later += other && other.getAsync();
    }
    if (later < static_cast<int64_t>(getPending()))
      return emitOpError("leaves ")
             << getPending() << " products under way, but only " << later
             << " come after one of those that it waits for";
  }
  return success();
}

/// Where results of asynchronous products may be used.
static LogicalResult checkAsyncUses(GroupMmaOp op) {
  for (OpOperand &use : op.getResult().getUses()) {
    Operation *user = use.getOwner();
    auto next = dyn_cast<GroupMmaOp>(user);
    bool adds = next && next.getAsync() && use.get() == next.getC();
    if (user->getBlock() != op->getBlock() ||
        !(adds || isa<GroupWaitOp>(user))) {
      InFlightDiagnostic diagnostic =
          op.emitOpError("is asynchronous: its result may be used by a "
                         "'group_wait' of its block, or added to by another");
      diagnostic.attachNote(user->getLoc()) << "it is used here";
      return diagnostic;
    }
  }
  return success();
}

LogicalResult GroupMmaOp::verify() {
  if (getAsync() && failed(checkAsyncUses(*this)))
    return failure();
  auto a = cast<ShapedType>(getA().getType());
  auto b = cast<ShapedType>(getB().getType());
  auto c = cast<RankedTensorType>(getC().getType());
  int64_t rank = c.getRank();
  bool ok = rank >= 2 && a.getRank() == rank && b.getRank() == rank &&
            a.getDimSize(rank - 1) == b.getDimSize(rank - 2) &&
            a.getDimSize(rank - 2) == c.getDimSize(rank - 2) &&
            b.getDimSize(rank - 1) == c.getDimSize(rank - 1);
  for (int64_t d = 0; ok && d + 2 < rank; ++d)
    ok = a.getDimSize(d) == 1 && b.getDimSize(d) == 1 && c.getDimSize(d) == 1;
  if (!ok)
    return emitOpError("shapes do not fit [1.., M, K] * [1.., K, N] + [1.., M, "
                       "N]: ")
           << a << ", " << b << ", " << c;
  if (a.getElementType() != b.getElementType())
    return emitOpError("operands of ")
           << a.getElementType() << " and " << b.getElementType();
  auto layout = dyn_cast_if_present<FragAttr>(c.getEncoding());
  if (!layout || layout.getRole() != OperandRole::C)
    return emitOpError("needs a 'frag' layout of a result, got ") << c;
  MatrixInstrAttr instr = layout.getInstr();
  if (a.getElementType() != instr.getAType() ||
      c.getElementType() != instr.getCType())
    return emitOpError("does not fit '")
           << instr.getName() << "', which makes " << instr.getCType() << " of "
           << instr.getAType() << ", got " << a << " and " << c;
  if (!hasColumnsInOrder(c))
    return emitOpError("needs a result of which each subgroup has all columns "
                       "of whole instructions, in order, got ")
           << c;
  bool swapped = layout.getDims()[0] == rank - 1;
  for (auto [type, role, dim] :
       {std::tuple(a, swapped ? OperandRole::B : OperandRole::A, rank - 1),
        std::tuple(b, swapped ? OperandRole::A : OperandRole::B, rank - 2)}) {
    if (auto memory = dyn_cast<MemRefType>(type)) {
      if (!matchGroupOperand(memory, dim))
        return emitOpError(
                   "needs operands in workgroup memory with rows of 32, "
                   "64 or 128 bytes, XORed among eight, got ")
               << memory;
      if (role == OperandRole::A && !canShareRows(c))
        return emitOpError("reads rows from workgroup memory, of which each "
                           "subgroup has those of one instruction, but the "
                           "result is ")
               << c;
      continue;
    }
    if (role == OperandRole::B)
      return emitOpError("needs the operand that subgroups share in workgroup "
                         "memory, got ")
             << type;
    auto tile = cast<RankedTensorType>(type);
    auto frag = dyn_cast_if_present<FragAttr>(tile.getEncoding());
    if (!frag || frag.getRole() != role || frag.getInstr() != instr ||
        countSubgroups(frag, layout.getDims()[0]) !=
            countSubgroups(layout, layout.getDims()[0]))
      return emitOpError(
                 "needs rows in the layout of the same instruction, got ")
             << type;
  }
  return success();
}

LogicalResult MmaOp::verify() {
  auto a = cast<RankedTensorType>(getA().getType());
  auto b = cast<RankedTensorType>(getB().getType());
  auto c = cast<RankedTensorType>(getC().getType());
  int64_t rank = c.getRank();
  if (rank < 2 || a.getRank() != rank || b.getRank() != rank)
    return emitOpError("needs tiles of one rank of at least 2, got ")
           << a << ", " << b << ", " << c;
  bool ok = a.getDimSize(rank - 1) == b.getDimSize(rank - 2) &&
            a.getDimSize(rank - 2) == c.getDimSize(rank - 2) &&
            b.getDimSize(rank - 1) == c.getDimSize(rank - 1);
  for (int64_t d = 0; d + 2 < rank; ++d)
    ok &= a.getDimSize(d) == c.getDimSize(d) &&
          b.getDimSize(d) == c.getDimSize(d);
  if (!ok)
    return emitOpError("shapes do not fit [.., M, K] * [.., K, N] + [.., M, "
                       "N]: ")
           << a << ", " << b << ", " << c;
  if (a.getElementType() != b.getElementType())
    return emitOpError("operands of ")
           << a.getElementType() << " and " << b.getElementType();
  bool readsTF32 = getReads() && getReads()->isTF32();
  if ((getReads() && !(readsTF32 && a.getElementType().isF32())) ||
      a.getElementType().isTF32())
    return emitOpError("reads tf32 of f32 operands, not ")
           << getMultipliedType() << " of " << a.getElementType();
  int laidOut = !!a.getEncoding() + !!b.getEncoding() + !!c.getEncoding();
  if (laidOut == 0)
    return success();
  auto fa = dyn_cast_if_present<FragAttr>(a.getEncoding());
  auto fb = dyn_cast_if_present<FragAttr>(b.getEncoding());
  auto fc = dyn_cast_if_present<FragAttr>(c.getEncoding());
  if (!fa || !fb || !fc)
    return emitOpError("all three tiles need a 'frag' layout, or none");
  if (fa.getInstr() != fc.getInstr() || fb.getInstr() != fc.getInstr())
    return emitOpError("layouts name different matrix instructions");
  // Swapped: the instruction computes the transposed product, so its A is our
  // b. Roles say which it is.
  bool swapped = fc.getDims()[0] == rank - 1;
  OperandRole roleA = swapped ? OperandRole::B : OperandRole::A;
  OperandRole roleB = swapped ? OperandRole::A : OperandRole::B;
  if (fc.getRole() != OperandRole::C || fa.getRole() != roleA ||
      fb.getRole() != roleB)
    return emitOpError("layouts name the wrong operand roles for this "
                       "orientation");
  for (Type type : {getA().getType(), getB().getType(), getC().getType()})
    if (failed(verifyLayout(*this, type)))
      return failure();
  auto order = [](FragAttr frag, int64_t dim) -> ArrayRef<int64_t> {
    if (dim >= (int64_t)frag.getOrder().size())
      return {};
    return cast<DenseI64ArrayAttr>(frag.getOrder()[dim]).asArrayRef();
  };
  if (order(fa, rank - 1) != order(fb, rank - 2))
    return emitOpError("operands order the contracted dimension differently");
  if (order(fa, rank - 2) != order(fc, rank - 2) ||
      order(fb, rank - 1) != order(fc, rank - 1))
    return emitOpError("operands and result order a dimension differently");
  return success();
}

//===----------------------------------------------------------------------===//
// ReduceOp, CombineOp, BroadcastOp, TransposeOp, IotaOp, ConvertLayoutOp,
// SkipIdleOp
//===----------------------------------------------------------------------===//

static LogicalResult verifyDropped(Operation *op, RankedTensorType large,
                                   RankedTensorType small, int64_t dim) {
  if (dim >= large.getRank())
    return op->emitOpError("dimension ")
           << dim << " of a tile of rank " << large.getRank();
  SmallVector<int64_t> shape(large.getShape());
  shape.erase(shape.begin() + dim);
  if (small.getElementType() != large.getElementType() ||
      small.getShape() != ArrayRef(shape))
    return op->emitOpError("types do not fit: ") << large << ", " << small;
  return verifyRelated(op, large, small,
                       [&](const LaneMap &map) { return map.dropDim(dim); });
}

LogicalResult ReduceOp::verify() {
  return verifyDropped(*this, cast<RankedTensorType>(getSource().getType()),
                       cast<RankedTensorType>(getType()), getDim());
}

LogicalResult CombineOp::verify() {
  auto source = cast<RankedTensorType>(getSource());
  if (!source.getEncoding())
    return emitOpError("needs a source with a layout, got ") << source;
  return verifyDropped(*this, source, cast<RankedTensorType>(getType()),
                       getDim());
}

LogicalResult BroadcastOp::verify() {
  return verifyDropped(*this, cast<RankedTensorType>(getType()),
                       cast<RankedTensorType>(getSource().getType()), getDim());
}

LogicalResult TransposeOp::verify() {
  auto source = cast<RankedTensorType>(getSource().getType());
  auto result = cast<RankedTensorType>(getType());
  ArrayRef<int64_t> permutation = getPermutation();
  SmallVector<bool> seen(source.getRank(), false);
  bool ok = (int64_t)permutation.size() == source.getRank() &&
            result.getRank() == source.getRank() &&
            source.getElementType() == result.getElementType();
  for (int64_t i = 0; ok && i < source.getRank(); ++i) {
    int64_t d = permutation[i];
    ok = d >= 0 && d < source.getRank() && !seen[d] &&
         result.getDimSize(i) == source.getDimSize(d);
    if (ok)
      seen[d] = true;
  }
  if (!ok)
    return emitOpError("types do not fit the permutation: ")
           << source << ", " << result;
  return verifyRelated(*this, source, result, [&](const LaneMap &map) {
    return map.permuteDims(permutation);
  });
}

LogicalResult IotaOp::verify() {
  auto type = cast<RankedTensorType>(getType());
  for (uint64_t dim : {getDim(), getMinus().value_or(0)})
    if (static_cast<int64_t>(dim) >= type.getRank())
      return emitOpError("dimension ")
             << dim << " of a tile of rank " << type.getRank();
  return verifyLayout(*this, type);
}

LogicalResult RandomOp::verify() {
  auto type = cast<RankedTensorType>(getType());
  for (uint64_t dim : {getRowDim(), getColumnDim()})
    if (static_cast<int64_t>(dim) >= type.getRank())
      return emitOpError("dimension ")
             << dim << " of a tile of rank " << type.getRank();
  if (getRowDim() == getColumnDim())
    return emitOpError("rows and columns are along different dimensions, not "
                       "both along ")
           << getRowDim();
  if (std::optional<int64_t> column = getConstantIntValue(getColumn());
      column && *column % static_cast<int64_t>(getMultiple()) != 0)
    return emitOpError("the column ")
           << *column << " is no multiple of " << getMultiple();
  return verifyLayout(*this, type);
}

/// An extent along each of some dimensions of a tile.
static LogicalResult verifyExtents(Operation *op, RankedTensorType tile,
                                   size_t numExtents, ArrayRef<int64_t> dims) {
  if (numExtents != dims.size())
    return op->emitOpError("has as many extents as dimensions, not ")
           << numExtents << " and " << dims.size();
  if (dims.empty())
    return op->emitOpError("needs an extent along one dimension or more");
  for (auto [i, dim] : llvm::enumerate(dims)) {
    if (dim < 0 || dim >= tile.getRank())
      return op->emitOpError("dimension ")
             << dim << " of a tile of rank " << tile.getRank();
    if (llvm::is_contained(dims.take_front(i), dim))
      return op->emitOpError("has two extents along dimension ") << dim;
  }
  return verifyLayout(op, tile);
}

LogicalResult SkipIdleOp::verify() {
  return verifyExtents(*this, cast<RankedTensorType>(getType()),
                       getExtents().size(), getDims());
}

LogicalResult HoldsWithinOp::verify() {
  auto tile = cast<RankedTensorType>(getTile());
  if (failed(verifyExtents(*this, tile, getExtents().size(), getDims())))
    return failure();
  if (!tile.getEncoding())
    return emitOpError("needs a tile with a layout, got ") << tile;
  return success();
}

/// Both have layouts, and nothing else is different.
static LogicalResult verifyLayouts(Operation *op, RankedTensorType source,
                                   RankedTensorType result) {
  if (source.getShape() != result.getShape() ||
      source.getElementType() != result.getElementType())
    return op->emitOpError("changes more than the layout: ")
           << source << ", " << result;
  if (!source.getEncoding() || !result.getEncoding())
    return op->emitOpError("needs a layout on both sides");
  if (failed(verifyLayout(op, source)))
    return failure();
  return verifyLayout(op, result);
}

LogicalResult ConvertLayoutOp::verify() {
  return verifyLayouts(*this, cast<RankedTensorType>(getSource().getType()),
                       cast<RankedTensorType>(getType()));
}

LogicalResult ExchangeOp::verify() {
  auto source = cast<RankedTensorType>(getSource().getType());
  auto result = cast<RankedTensorType>(getType());
  auto buffer = cast<MemRefType>(getBuffer().getType());
  if (failed(verifyLayouts(*this, source, result)))
    return failure();
  if (!isWorkgroupMemory(buffer) || buffer.getShape() != source.getShape() ||
      buffer.getElementType() != source.getElementType())
    return emitOpError("needs workgroup memory of the tile's shape and "
                       "elements, not ")
           << buffer;
  return success();
}

bool mlir::evoformer::tile::crossesSubgroups(RankedTensorType from,
                                             RankedTensorType to) {
  FailureOr<LaneMap> source = getLaneMap(from), result = getLaneMap(to);
  return succeeded(source) && succeeded(result) &&
         !LaneMap::findSources(*source, *result, to.getShape());
}

bool ExchangeOp::crossesSubgroups() {
  return tile::crossesSubgroups(cast<RankedTensorType>(getSource().getType()),
                                cast<RankedTensorType>(getType()));
}

OpFoldResult ConvertLayoutOp::fold(FoldAdaptor) {
  if (getSource().getType() == getType())
    return getSource();
  if (auto inner = getSource().getDefiningOp<ConvertLayoutOp>()) {
    getSourceMutable().assign(inner.getSource());
    return getResult();
  }
  return {};
}
