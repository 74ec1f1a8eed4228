//===- LayoutAttrs.cpp - Layouts and their lane maps ------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Dialect/Tile/IR/Limits.h"
#include "Evoformer/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::evoformer::tile;

using EmitError = function_ref<InFlightDiagnostic()>;

static InFlightDiagnostic report(EmitError emitError) {
  return emitError ? emitError() : InFlightDiagnostic();
}

/// Whether a tile has elements, and few enough to count its atoms.
static LogicalResult checkTile(ArrayRef<int64_t> shape, EmitError emitError) {
  if (llvm::is_contained(shape, 0))
    return report(emitError) << "the tile is empty";
  if (boundedProduct(shape, kMaxTileElements) <= kMaxTileElements)
    return success();
  return report(emitError) << "the tile has more than " << kMaxTileElements
                           << " elements";
}

//===----------------------------------------------------------------------===//
// LaneMapAttr
//===----------------------------------------------------------------------===//

/// `[[size, stride, …], …]`, flattened.
static ParseResult parseAxes(AsmParser &parser, SmallVectorImpl<int64_t> &flat,
                             int64_t &rank) {
  auto parseAxis = [&]() -> ParseResult {
    int64_t count = 0;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() {
          ++count;
          return parser.parseInteger(flat.emplace_back());
        }))
      return failure();
    if (count < 2)
      return parser.emitError(loc, "an axis is a size and at least one stride");
    if (rank >= 0 && rank != count - 1)
      return parser.emitError(loc, "expected ") << rank << " strides per axis";
    rank = count - 1;
    return success();
  };
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                        parseAxis);
}

Attribute LaneMapAttr::parse(AsmParser &parser, Type) {
  int64_t rank = -1, inner = -1;
  SmallVector<int64_t> registers, lanes, subgroups;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseKeyword("registers") ||
      parser.parseEqual() || parseAxes(parser, registers, rank) ||
      parser.parseComma() || parser.parseKeyword("lanes") ||
      parser.parseEqual() || parseAxes(parser, lanes, rank) ||
      parser.parseComma() || parser.parseKeyword("subgroups") ||
      parser.parseEqual() || parseAxes(parser, subgroups, rank))
    return {};
  if (succeeded(parser.parseOptionalComma())) {
    if (parser.parseKeyword("inner") || parser.parseEqual() ||
        parser.parseInteger(inner))
      return {};
  }
  if (parser.parseGreater())
    return {};
  if (rank < 0) {
    parser.emitError(loc, "a lane map needs at least one axis");
    return {};
  }
  if (inner < 0)
    inner = registers.size() / (rank + 1);
  return getChecked([&]() { return parser.emitError(loc); },
                    parser.getContext(), rank, ArrayRef(registers),
                    ArrayRef(lanes), ArrayRef(subgroups), inner);
}

void LaneMapAttr::print(AsmPrinter &printer) const {
  printer << '<';
  toLaneMap().print(printer.getStream());
  printer << '>';
}

LogicalResult LaneMapAttr::verify(EmitError emitError, int64_t rank,
                                  ArrayRef<int64_t> registers,
                                  ArrayRef<int64_t> lanes,
                                  ArrayRef<int64_t> subgroups, int64_t inner) {
  if (rank < 1 || rank > kMaxRank)
    return emitError() << "expected a rank from 1 to " << kMaxRank << ", got "
                       << rank;
  SmallVector<int64_t> sizes;
  for (ArrayRef<int64_t> axes : {registers, lanes, subgroups}) {
    if (axes.size() % (rank + 1) != 0)
      return emitError() << "expected " << rank << " strides per axis";
    for (size_t i = 0; i < axes.size(); ++i) {
      bool isSize = i % (rank + 1) == 0;
      if (axes[i] < (isSize ? 1 : 0))
        return emitError() << (isSize ? "axis size " : "axis stride ")
                           << axes[i] << " is too small";
      if (axes[i] > kMaxLayoutPositions)
        return emitError() << (isSize ? "axis size " : "axis stride ")
                           << axes[i] << " is above " << kMaxLayoutPositions;
      if (isSize)
        sizes.push_back(axes[i]);
    }
  }
  if (boundedProduct(sizes, kMaxLayoutPositions) > kMaxLayoutPositions)
    return emitError() << "the axes have more than " << kMaxLayoutPositions
                       << " positions";
  if (inner < 0 || inner * (rank + 1) > (int64_t)registers.size())
    return emitError() << "'inner' is " << inner << " of "
                       << registers.size() / (rank + 1) << " register axes";
  return success();
}

static SmallVector<LayoutAxis, 4> unflatten(ArrayRef<int64_t> flat,
                                            int64_t rank) {
  SmallVector<LayoutAxis, 4> axes;
  for (; !flat.empty(); flat = flat.drop_front(rank + 1))
    axes.push_back({flat.front(), llvm::to_vector<4>(flat.slice(1, rank))});
  return axes;
}

LaneMap LaneMapAttr::toLaneMap() const {
  LaneMap map(getRank());
  map.registers = unflatten(getRegisters(), getRank());
  map.lanes = unflatten(getLanes(), getRank());
  map.subgroups = unflatten(getSubgroups(), getRank());
  map.innerAxes = getInner();
  return map;
}

LaneMapAttr LaneMapAttr::get(MLIRContext *context, const LaneMap &map) {
  auto flatten = [](ArrayRef<LayoutAxis> axes) {
    SmallVector<int64_t> flat;
    for (const LayoutAxis &axis : axes) {
      flat.push_back(axis.size);
      llvm::append_range(flat, axis.strides);
    }
    return flat;
  };
  SmallVector<int64_t> registers = flatten(map.registers),
                       lanes = flatten(map.lanes),
                       subgroups = flatten(map.subgroups);
  return get(context, map.rank, ArrayRef(registers), ArrayRef(lanes),
             ArrayRef(subgroups), map.innerAxes);
}

/// Every element of the tile must be held somewhere, and what pads the tile
/// must stay small enough to enumerate.
static FailureOr<LaneMap> checkCovers(LaneMap map, ArrayRef<int64_t> shape,
                                      EmitError emitError) {
  if (map.rank != (int64_t)shape.size())
    return report(emitError) << "layout of rank " << map.rank
                             << " on a tile of rank " << shape.size();
  SmallVector<int64_t> box = map.getBox();
  if (boundedProduct(box, kMaxLayoutPositions) > kMaxLayoutPositions)
    return report(emitError)
           << "layout spans more than " << kMaxLayoutPositions << " elements";
  for (auto [d, extent] : llvm::enumerate(box))
    if (extent < shape[d])
      return report(emitError)
             << "layout covers " << extent << " elements of dimension " << d
             << ", the tile has " << shape[d];
  return map;
}

FailureOr<LaneMap> LaneMapAttr::getLaneMap(ArrayRef<int64_t> shape,
                                           EmitError emitError) const {
  return checkCovers(toLaneMap(), shape, emitError);
}

//===----------------------------------------------------------------------===//
// FragAttr
//===----------------------------------------------------------------------===//

LogicalResult FragAttr::verify(EmitError emitError, MatrixInstrAttr,
                               OperandRole, ArrayRef<int64_t> dims,
                               DenseI64ArrayAttr subgroups, ArrayAttr order) {
  if (dims.size() != 2 || dims[0] == dims[1] || dims[0] < 0 || dims[1] < 0)
    return emitError() << "'dims' must name two different tile dimensions";
  if (subgroups.size() % 2 != 0)
    return emitError() << "'subgroups' must be pairs of count and dimension";
  SmallVector<int64_t> counts;
  for (int64_t i = 0; i < subgroups.size(); i += 2) {
    if (subgroups[i] < 1 || subgroups[i + 1] < -1)
      return emitError() << "'subgroups' has a count below 1 or a dimension "
                            "below -1";
    counts.push_back(subgroups[i]);
  }
  if (boundedProduct(counts, kMaxSubgroups) > kMaxSubgroups)
    return emitError() << "'subgroups' are more than " << kMaxSubgroups;
  for (Attribute digits : order) {
    auto array = dyn_cast<DenseI64ArrayAttr>(digits);
    if (!array || array.size() % 2 != 0)
      return emitError() << "'order' must hold arrays of size, stride pairs";
    SmallVector<int64_t> sizes;
    for (auto [i, value] : llvm::enumerate(array.asArrayRef())) {
      if (value < 1 || value > kMaxTileElements)
        return emitError() << "sizes and strides in 'order' must be from 1 to "
                           << kMaxTileElements << ", got " << value;
      if (i % 2 == 0)
        sizes.push_back(value);
    }
    if (boundedProduct(sizes, kMaxTileElements) > kMaxTileElements)
      return emitError() << "'order' spans more than " << kMaxTileElements;
  }
  return success();
}

/// Appends to `axes` the axis of `size` steps of `stride` in the hardware's
/// index, in terms of the tile's index along `dim` as `digits` order it.
static LogicalResult appendOrdered(SmallVectorImpl<LayoutAxis> &axes,
                                   int64_t size, int64_t stride, int64_t dim,
                                   int64_t rank, ArrayRef<int64_t> digits) {
  auto append = [&](int64_t count, int64_t step) {
    LayoutAxis axis{count, SmallVector<int64_t, 4>(rank, 0)};
    if (dim >= 0)
      axis.strides[dim] = step;
    axes.push_back(axis);
  };
  if (stride == 0 || digits.empty()) {
    append(size, stride);
    return success();
  }
  int64_t base = 1;
  for (; !digits.empty() && size > 1; digits = digits.drop_front(2)) {
    int64_t digitSize = digits[0], end = base * digitSize;
    if (stride < end) {
      int64_t inDigit = stride / base;
      if (stride % base != 0 || digitSize % inDigit != 0)
        return failure();
      int64_t count = std::min(size, digitSize / inDigit);
      if (size % count != 0)
        return failure();
      append(count, inDigit * digits[1]);
      size /= count;
      stride = end;
    }
    base = end;
  }
  return success(size == 1);
}

FailureOr<LaneMap> FragAttr::getLaneMap(ArrayRef<int64_t> shape,
                                        EmitError emitError) const {
  int64_t rank = shape.size();
  if (failed(checkTile(shape, emitError)))
    return failure();
  if (getDims()[0] >= rank || getDims()[1] >= rank)
    return report(emitError)
           << "'dims' names dimension " << std::max(getDims()[0], getDims()[1])
           << " of a tile of rank " << rank;
  LaneMap map(rank);

  // Atoms per subgroup and the extent of one subgroup, per dimension.
  auto [rows, columns] = getInstr().getExtents(getRole());
  SmallVector<int64_t> atom(rank, 1), subgroupCount(rank, 1), atoms, extent;
  atom[getDims()[0]] = rows;
  atom[getDims()[1]] = columns;
  ArrayRef<int64_t> subgroups = getSubgroups().asArrayRef();
  for (size_t i = 0; i < subgroups.size(); i += 2) {
    if (subgroups[i + 1] >= rank)
      return report(emitError)
             << "'subgroups' names dimension " << subgroups[i + 1]
             << " of a tile of rank " << rank;
    if (subgroups[i + 1] >= 0)
      subgroupCount[subgroups[i + 1]] *= subgroups[i];
  }
  for (int64_t d = 0; d < rank; ++d) {
    atoms.push_back(llvm::divideCeil(shape[d], atom[d] * subgroupCount[d]));
    extent.push_back(atoms[d] * atom[d]);
  }

  auto digitsOf = [&](int64_t dim) -> ArrayRef<int64_t> {
    if (dim >= (int64_t)getOrder().size())
      return {};
    return cast<DenseI64ArrayAttr>(getOrder()[dim]).asArrayRef();
  };
  // One axis of the instruction's own map, in the tile's terms.
  auto append = [&](SmallVectorImpl<LayoutAxis> &axes,
                    const LayoutAxis &axis) -> LogicalResult {
    int64_t x = axis.strides[0], y = axis.strides[1];
    if (x != 0 && y != 0)
      return failure();
    int64_t dim = axis.isReplicated() ? -1 : getDims()[x != 0 ? 0 : 1];
    return appendOrdered(axes, axis.size, x + y, dim, rank,
                         dim < 0 ? ArrayRef<int64_t>() : digitsOf(dim));
  };
  LaneMap instrMap = getInstr().getMap(getRole()).toLaneMap();
  bool ok = true;
  for (const LayoutAxis &axis : instrMap.registers)
    ok &= succeeded(append(map.registers, axis));
  map.innerAxes = map.registers.size();
  for (const LayoutAxis &axis : instrMap.lanes)
    ok &= succeeded(append(map.lanes, axis));

  // Vectors: first along the contracted dimension (rows of B and C, columns of
  // A), then along the other one, then the batches.
  int64_t first = getDims()[getRole() == OperandRole::A ? 1 : 0];
  int64_t second = getDims()[getRole() == OperandRole::A ? 0 : 1];
  auto appendAtoms = [&](int64_t dim) {
    ok &= succeeded(appendOrdered(map.registers, atoms[dim], atom[dim], dim,
                                  rank, digitsOf(dim)));
  };
  appendAtoms(first);
  appendAtoms(second);
  for (int64_t d = rank - 1; d >= 0; --d)
    if (d != first && d != second)
      appendAtoms(d);
  if (!ok)
    return report(emitError) << "'order' does not cut the atoms at digits";

  SmallVector<int64_t> seen(rank, 1);
  for (size_t i = 0; i < subgroups.size(); i += 2) {
    int64_t dim = subgroups[i + 1];
    LayoutAxis axis{subgroups[i], SmallVector<int64_t, 4>(rank, 0)};
    if (dim >= 0) {
      axis.strides[dim] = extent[dim] * seen[dim];
      seen[dim] *= subgroups[i];
    }
    map.subgroups.push_back(axis);
  }
  return checkCovers(map, shape, emitError);
}

//===----------------------------------------------------------------------===//
// SliceAttr
//===----------------------------------------------------------------------===//

LogicalResult SliceAttr::verify(EmitError emitError, int64_t dim, int64_t size,
                                Attribute parent) {
  if (!isa_and_present<LayoutAttrInterface>(parent))
    return emitError() << "the parent of a slice must be a layout";
  if (dim < 0 || size < 1 || size > kMaxTileElements)
    return emitError() << "a slice needs a dimension >= 0 and a size from 1 to "
                       << kMaxTileElements;
  return success();
}

FailureOr<LaneMap> SliceAttr::getLaneMap(ArrayRef<int64_t> shape,
                                         EmitError emitError) const {
  SmallVector<int64_t> parentShape(shape);
  if (getDim() > (int64_t)shape.size())
    return report(emitError) << "slice of dimension " << getDim()
                             << " on a tile of rank " << shape.size();
  parentShape.insert(parentShape.begin() + getDim(), getSize());
  FailureOr<LaneMap> parent =
      cast<LayoutAttrInterface>(getParent()).getLaneMap(parentShape, emitError);
  if (failed(parent))
    return failure();
  return parent->dropDim(getDim());
}
