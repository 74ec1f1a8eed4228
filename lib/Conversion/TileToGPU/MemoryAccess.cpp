//===- MemoryAccess.cpp - A lane's part of memory ---------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MemoryAccess.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

#include <map>
#include <numeric>

using namespace mlir;
using namespace mlir::evoformer::tile;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static LogicalResult describe(Memory &memory, MemRefType type) {
  int64_t offset;
  if (failed(type.getStridesAndOffset(memory.staticStrides, offset)))
    return failure();
  memory.elementType = type.getElementType();
  memory.elementBytes = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  memory.staticSizes = llvm::to_vector(type.getShape());
  memory.strides.resize(type.getRank());
  memory.sizes.resize(type.getRank());
  for (int64_t d = type.getRank() - 1; d >= 0; --d)
    if (memory.staticStrides[d] == 1 && type.getDimSize(d) != 1) {
      memory.contiguous = d;
      break;
    }
  return success();
}

/// LDS: a chain of subviews down to its allocation.
static FailureOr<Memory> resolveLDS(LaneBuilder &lane, Value memref) {
  Memory memory;
  memory.isLDS = true;
  if (failed(describe(memory, cast<MemRefType>(memref.getType()))))
    return failure();
  int64_t bytes = memory.elementBytes;
  memory.swizzle = getSwizzle(cast<MemRefType>(memref.getType()));
  int64_t period = memory.swizzle.getPeriod();
  memory.alignment =
      memory.swizzle ? int64_t(1) << std::min<int64_t>(4, memory.swizzle.base)
                     : 16;
  for (auto [d, stride] : llvm::enumerate(memory.staticStrides))
    if (stride == ShapedType::kDynamic)
      return failure();
    else if ((int64_t)d != memory.contiguous)
      memory.alignment = std::gcd(memory.alignment, stride * bytes);
  Value current = memref;
  for (;;) {
    Operation *def = current.getDefiningOp();
    if (!def)
      return failure();
    if (isa<AllocLDSOp>(def)) {
      memory.constantBytes += lane.context.ldsOffsets.lookup(def);
      break;
    }
    if (auto cast = dyn_cast<memref::CastOp>(def)) {
      current = cast.getSource();
      continue;
    }
    if (auto transpose = dyn_cast<memref::TransposeOp>(def)) {
      current = transpose.getIn();
      continue;
    }
    auto subview = dyn_cast<memref::SubViewOp>(def);
    if (!subview)
      return failure();
    SmallVector<int64_t> strides;
    int64_t offset;
    if (failed(subview.getSourceType().getStridesAndOffset(strides, offset)))
      return failure();
    for (auto [d, position] : llvm::enumerate(subview.getMixedOffsets())) {
      if (strides[d] * bytes % period != 0 &&
          getConstantIntValue(position).value_or(1) * strides[d] * bytes %
                  period !=
              0)
        return failure();
      if (std::optional<int64_t> value = getConstantIntValue(position)) {
        memory.constantBytes += *value * strides[d] * bytes;
        continue;
      }
      memory.alignment = std::gcd(memory.alignment, strides[d] * bytes);
      memory.dynamicBytes = lane.add(
          memory.dynamicBytes, lane.mul(lane.toI32(cast<Value>(position)),
                                        lane.constant(strides[d] * bytes)));
    }
    current = subview.getSource();
  }
  memory.alignment = std::gcd(memory.alignment, memory.constantBytes);
  auto type = LLVM::LLVMPointerType::get(lane.builder.getContext(), 3);
  memory.base =
      LLVM::AddressOfOp::create(lane.builder, lane.loc, type,
                                FlatSymbolRefAttr::get(lane.context.ldsName));
  return memory;
}

/// How often two divides an index, whatever it is; at least.
static int64_t countTwos(Value index, int64_t depth = 6) {
  constexpr int64_t kMost = 20; // bits of an address in LDS
  if (std::optional<int64_t> value = getConstantIntValue(index))
    return std::min<int64_t>(kMost,
                             llvm::countr_zero(static_cast<uint64_t>(*value)));
  Operation *op = index.getDefiningOp();
  if (!isa_and_nonnull<arith::MulIOp, arith::AddIOp>(op) || depth == 0)
    return 0;
  int64_t a = countTwos(op->getOperand(0), depth - 1);
  int64_t b = countTwos(op->getOperand(1), depth - 1);
  return isa<arith::MulIOp>(op) ? std::min(kMost, a + b) : std::min(a, b);
}

SmallVector<Value> mlir::evoformer::tile::startAt(LaneBuilder &lane,
                                                  Memory &memory,
                                                  ValueRange indices,
                                                  ArrayRef<int64_t> shape,
                                                  ArrayRef<bool> inBounds) {
  SmallVector<Value> left(indices);
  if (!memory.isLDS)
    return left;
  int64_t period = std::max<int64_t>(memory.swizzle.getPeriod(), 1);
  for (auto [d, index] : llvm::enumerate(left)) {
    // Bounds are those of the index.
    bool isInside = (d < inBounds.size() && inBounds[d]) ||
                    memory.staticSizes[d] >= shape[d];
    int64_t stride = memory.staticStrides[d] * memory.elementBytes;
    int64_t step = stride << countTwos(index);
    if (getConstantIntValue(index) || !isInside || step % period != 0)
      continue;
    memory.alignment = std::gcd(memory.alignment, step);
    memory.dynamicBytes =
        lane.add(memory.dynamicBytes,
                 lane.mul(lane.toI32(index), lane.constant(stride)));
    index = arith::ConstantIndexOp::create(lane.builder, lane.loc, 0);
  }
  return left;
}

FailureOr<Memory> mlir::evoformer::tile::resolveMemory(LaneBuilder &lane,
                                                       Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  if (isWorkgroupMemory(type))
    return resolveLDS(lane, memref);
  Memory memory;
  if (failed(describe(memory, type)))
    return failure();
  memory.alignment = memory.elementBytes;
  OpBuilder &builder = lane.builder;
  // Next to the memref's own definition: outside of loops.
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(memref);
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, lane.loc, memref);
  for (int64_t d = 0; d < type.getRank(); ++d) {
    if (memory.staticStrides[d] == ShapedType::kDynamic)
      memory.strides[d] = lane.toI32(metadata.getStrides()[d]);
    if (type.isDynamicDim(d))
      memory.sizes[d] = lane.toI32(metadata.getSizes()[d]);
  }
  Value address =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, lane.loc, memref);
  Value bytes = arith::MulIOp::create(
      builder, lane.loc, metadata.getOffset(),
      arith::ConstantIndexOp::create(builder, lane.loc, memory.elementBytes));
  address = arith::AddIOp::create(builder, lane.loc, address, bytes);
  address = arith::IndexCastOp::create(builder, lane.loc, builder.getI64Type(),
                                       address);
  memory.base = LLVM::IntToPtrOp::create(
      builder, lane.loc, LLVM::LLVMPointerType::get(builder.getContext(), 1),
      address);
  memory.buffer = makeBuffer(lane, memory.base, /*addressSpace=*/8);
  return memory;
}

//===----------------------------------------------------------------------===//
// Swizzles
//===----------------------------------------------------------------------===//

LaneMap mlir::evoformer::tile::getByteMap(const LaneMap &map,
                                          const Memory &memory) {
  LaneMap bytes(1);
  auto convert = [&](ArrayRef<LayoutAxis> from,
                     SmallVectorImpl<LayoutAxis> &to) {
    for (const LayoutAxis &axis : from) {
      int64_t stride = 0;
      for (auto [steps, ofDim] : llvm::zip(axis.strides, memory.staticStrides))
        stride += steps * ofDim * memory.elementBytes;
      // Digits that go on where the one before ends are one.
      if (!to.empty() && stride == to.back().size * to.back().strides[0])
        to.back().size *= axis.size;
      else
        to.push_back({axis.size, {stride}});
    }
  };
  convert(map.lanes, bytes.lanes);
  convert(map.subgroups, bytes.subgroups);
  return bytes;
}

LaneOffset LaneOffset::get(LaneBuilder &lane, const LaneMap &map) {
  LaneOffset offset{lane.getPosition(map, 0)};
  for (int64_t s = 0, e = map.getNumSubgroups(); s < e; ++s)
    for (int64_t l = 0, f = map.getNumLanes(); l < f; ++l)
      offset.bits |= map.subgroupOffset(s)[0] + map.laneOffset(l)[0];
  return offset;
}

std::pair<Value, int64_t> mlir::evoformer::tile::applySwizzle(LaneBuilder &lane,
                                                              Swizzle swizzle,
                                                              LaneOffset offset,
                                                              int64_t known) {
  if (!swizzle)
    return {offset.bytes, known};
  OpBuilder &builder = lane.builder;
  // Neighbouring bits that come from as far above move together.
  auto bitsOf = [&](Value address, int64_t shift, int64_t mask) {
    if (shift > 0)
      address = builder.createOrFold<arith::ShRUIOp>(lane.loc, address,
                                                     lane.constant(shift));
    else if (shift < 0)
      address = builder.createOrFold<arith::ShLIOp>(lane.loc, address,
                                                    lane.constant(-shift));
    return builder.createOrFold<arith::AndIOp>(lane.loc, address,
                                               lane.constant(mask));
  };
  auto setApart = [&](Value address, int64_t mayBe) {
    const Panels &panels = swizzle.panels;
    if (!panels || (mayBe & panels.getMask()) == 0)
      return address;
    auto ones = [](int64_t low, int64_t count) {
      return ((int64_t(1) << count) - 1) << low;
    };
    Value moved = bitsOf(address, 0, ~panels.getMask());
    moved = lane.add(
        moved, bitsOf(address, panels.pieces, ones(panels.low, panels.rows)));
    return lane.add(moved,
                    bitsOf(address, -panels.rows,
                           ones(panels.low + panels.rows, panels.pieces)));
  };
  auto apply = [&](Value address, int64_t mayBe) {
    address = setApart(address, mayBe);
    if (swizzle.panels && mayBe >= 0)
      mayBe = swizzle.panels.apply(mayBe);
    Value moved = address;
    for (size_t i = 0, e = swizzle.from.size(), next = 0; i < e; i = next) {
      int64_t shift = swizzle.from[i] - swizzle.base - i, mask = 0;
      for (next = i; next < e &&
                     swizzle.from[next] - swizzle.base - (int64_t)next == shift;
           ++next)
        mask |= int64_t(1) << (swizzle.base + next);
      if (((mayBe >> shift) & mask) == 0)
        continue;
      Value above = builder.createOrFold<arith::ShRUIOp>(lane.loc, address,
                                                         lane.constant(shift));
      above = builder.createOrFold<arith::AndIOp>(lane.loc, above,
                                                  lane.constant(mask));
      moved = builder.createOrFold<arith::XOrIOp>(lane.loc, moved, above);
    }
    return moved;
  };
  // Whole periods are moved as they are.
  int64_t periods = known & -swizzle.getPeriod();
  known -= periods;
  // A sum of numbers without common bits is their XOR, and XORs commute: what
  // is known stays so, but for the bits that are exchanged.
  if (offset.bits & known)
    return {apply(lane.add(offset.bytes, lane.constant(known)), -1), periods};
  known = swizzle.apply(known) + periods;
  if (!offset.bytes)
    return {Value(), known};
  Value bytes = apply(offset.bytes, offset.bits);
  if (int64_t exchanged = known & swizzle.getMask())
    bytes = builder.createOrFold<arith::XOrIOp>(lane.loc, bytes,
                                                lane.constant(exchanged));
  return {bytes, known & ~swizzle.getMask()};
}

//===----------------------------------------------------------------------===//
// MemoryAccess
//===----------------------------------------------------------------------===//

MemoryAccess::MemoryAccess(LaneBuilder &lane, const Memory &memory,
                           const LaneMap &map, ArrayRef<int64_t> shape,
                           ValueRange indices, ArrayRef<bool> inBounds,
                           Outside outside, std::optional<int64_t> alignment)
    : lane(lane), memory(memory), map(map), shape(shape), box(map.getBox()),
      inBounds(inBounds), outside(outside) {
  this->inBounds.resize(shape.size(), false);
  // LDS tiles are ours: what the memory does not hold is only padding.
  if (memory.isLDS)
    for (auto [d, size] : llvm::enumerate(memory.staticSizes))
      if (size >= shape[d])
        this->inBounds[d] = true;
  for (int64_t d = 0; d < map.rank; ++d) {
    this->indices.push_back(getConstantIntValue(indices[d]) == 0
                                ? Value()
                                : lane.toI32(indices[d]));
    positions.push_back(lane.getPosition(map, d));
    int64_t most = 0;
    for (ArrayRef<LayoutAxis> axes :
         {ArrayRef(map.lanes), ArrayRef(map.subgroups)})
      for (const LayoutAxis &axis : axes)
        most += (axis.size - 1) * axis.strides[d];
    maxPosition.push_back(most);
  }
  knownAlignment = std::max<int64_t>(alignment.value_or(1), memory.alignment);
  if (memory.swizzle) {
    // Pieces stay whole.
    knownAlignment =
        std::min(knownAlignment, int64_t(1) << memory.swizzle.base);
    laneBits = LaneOffset::get(lane, getByteMap(map, memory)).bits;
  }
  makePieces(getMaxWidth(alignment));
  inBuffer = fitsBuffer();
}

int64_t MemoryAccess::getMaxWidth(std::optional<int64_t> alignment) const {
  int64_t c = memory.contiguous;
  if (c < 0)
    return 1;
  int64_t promised = alignment.value_or(0) / memory.elementBytes;
  int64_t width = 16 / memory.elementBytes;
  auto fits = [&](int64_t w) {
    // Pieces start at multiples of w in the tile.
    for (ArrayRef<LayoutAxis> axes :
         {ArrayRef(map.lanes), ArrayRef(map.subgroups)})
      for (const LayoutAxis &axis : axes)
        if (axis.size > 1 && axis.strides[c] % w != 0)
          return false;
    // All or nothing of a piece is padding of the layout.
    if (box[c] > shape[c] && shape[c] % w != 0)
      return false;
    // All or nothing of a piece is inside the memory.
    bool starts = !indices[c] || w <= promised;
    bool whole = memory.staticSizes[c] != ShapedType::kDynamic &&
                 memory.staticSizes[c] % w == 0 && starts;
    if (!inBounds[c] && !whole && w > promised)
      return false;
    if (memory.isLDS || !lane.context.target.hasUnalignedAccess())
      return starts && w * memory.elementBytes <=
                           std::max(knownAlignment, memory.elementBytes);
    return true;
  };
  while (width > 1 && !fits(width))
    width /= 2;
  return width;
}

void MemoryAccess::makePieces(int64_t maxWidth) {
  int64_t c = memory.contiguous;
  // Registers by the rest of their index, then along the contiguous dimension.
  std::map<SmallVector<int64_t>, std::map<int64_t, int64_t>> rows;
  for (int64_t r = 0, e = map.getNumRegisters(); r < e; ++r) {
    SmallVector<int64_t> offset = map.registerOffset(r);
    int64_t along = 0;
    if (c >= 0)
      std::swap(along, offset[c]);
    rows[offset].try_emplace(along, r);
  }
  for (auto &entry : rows) {
    auto &row = entry.second;
    for (auto it = row.begin(); it != row.end();) {
      int64_t start = it->first, width = maxWidth;
      auto holds = [&](int64_t w) {
        if (start % w != 0)
          return false;
        auto next = it;
        for (int64_t i = 0; i < w; ++i, ++next)
          if (next == row.end() || next->first != start + i)
            return false;
        return true;
      };
      while (!holds(width))
        width /= 2;
      Piece piece;
      for (int64_t i = 0; i < width; ++i, ++it)
        piece.push_back(it->second);
      pieces.push_back(piece);
    }
  }
}

int64_t MemoryAccess::getAlignment(const Piece &piece) const {
  int64_t bytes = piece.size() * memory.elementBytes;
  return std::gcd(bytes, std::max(knownAlignment, memory.elementBytes));
}

Value MemoryAccess::scale(Value index, int64_t dim) {
  if (!index)
    return {};
  if (!memory.strides[dim])
    return lane.mul(
        index, lane.constant(memory.staticStrides[dim] * memory.elementBytes));
  return lane.mul(index, getStrideBytes(dim));
}

Value MemoryAccess::getStrideBytes(int64_t dim) {
  return lane.mul(memory.strides[dim], lane.constant(memory.elementBytes));
}

Value MemoryAccess::getSize(int64_t dim) {
  return memory.sizes[dim] ? memory.sizes[dim]
                           : lane.constant(memory.staticSizes[dim]);
}

Value MemoryAccess::lessThan(Value x, Value y) {
  return lane.builder.createOrFold<arith::CmpIOp>(
      lane.loc, arith::CmpIPredicate::ult, x, y);
}

Value MemoryAccess::advance(Value pointer, Value bytes) {
  OpBuilder &builder = lane.builder;
  if (!memory.isLDS)
    bytes =
        arith::ExtUIOp::create(builder, lane.loc, builder.getI64Type(), bytes);
  return LLVM::GEPOp::create(builder, lane.loc, pointer.getType(),
                             builder.getI8Type(), pointer, ValueRange{bytes},
                             LLVM::GEPNoWrapFlags::inbounds);
}

MemoryAccess::Address MemoryAccess::getAddress(const Piece &piece) {
  if (inBuffer)
    return getInBuffer(piece);
  OpBuilder &builder = lane.builder;
  SmallVector<int64_t> offset = map.registerOffset(piece.front());
  int64_t width = piece.size();
  // Uniform over the workgroup, then per lane, then known.
  Value uniform, perLane, valid;
  int64_t known = 0;
  bool clamped = false;
  for (int64_t d = 0; d < map.rank; ++d) {
    int64_t reg = offset[d];
    // Beyond the tile: padding of the layout.
    if (maxPosition[d] + reg >= shape[d]) {
      if (reg >= shape[d]) {
        Address never;
        never.never = true;
        return never;
      }
      if (positions[d])
        valid = lane.andI(
            valid, lessThan(positions[d], lane.constant(shape[d] - reg)));
    }
    bool beyond = !inBounds[d];
    if (beyond) {
      Value index = lane.add(indices[d], positions[d]);
      index = reg     ? lane.add(index, lane.constant(reg))
              : index ? index
                      : lane.constant(0);
      if (outside != Outside::Clamp) {
        valid = lane.andI(valid, lessThan(index, getSize(d)));
      } else {
        int64_t last = d == memory.contiguous ? width : 1;
        Value limit = lane.add(getSize(d), lane.constant(-last));
        perLane = lane.add(perLane, scale(lane.minUnsigned(index, limit), d));
        clamped = true;
        continue;
      }
    }
    uniform = lane.add(uniform, scale(indices[d], d));
    perLane = lane.add(perLane, scale(positions[d], d));
    if (reg == 0)
      continue;
    if (memory.strides[d])
      uniform =
          lane.add(uniform, lane.mul(getStrideBytes(d), lane.constant(reg)));
    else
      known += reg * memory.staticStrides[d] * memory.elementBytes;
  }
  if (memory.swizzle) {
    int64_t bits = uniform || clamped ? -1 : laneBits;
    perLane = lane.add(uniform, perLane);
    uniform = Value();
    std::tie(perLane, known) =
        applySwizzle(lane, memory.swizzle, {perLane, bits}, known);
  }
  known += memory.constantBytes;
  Value pointer = memory.base;
  if (valid && outside != Outside::Guard) {
    // Where nothing is valid, read the first element instead: of the memory,
    // or of the LDS buffer, whose neighbours may be being written.
    if (memory.isLDS) {
      if (memory.dynamicBytes)
        pointer = advance(pointer, memory.dynamicBytes);
      pointer = advance(pointer, lane.constant(memory.constantBytes));
      known -= memory.constantBytes;
    }
    Value bytes = lane.add(lane.add(uniform, perLane),
                           known ? lane.constant(known) : Value());
    if (bytes)
      pointer =
          advance(pointer, arith::SelectOp::create(builder, lane.loc, valid,
                                                   bytes, lane.constant(0)));
    return {pointer, valid, false, Value(), Value()};
  }
  uniform = lane.add(memory.dynamicBytes, uniform);
  if (uniform)
    pointer = advance(pointer, uniform);
  if (perLane)
    pointer = advance(pointer, perLane);
  if (known)
    pointer = LLVM::GEPOp::create(
        builder, lane.loc, pointer.getType(), builder.getI8Type(), pointer,
        ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(static_cast<int32_t>(known))},
        LLVM::GEPNoWrapFlags::inbounds);
  return {pointer, valid, false, Value(), Value()};
}
