//===- LayoutPropagation.cpp - Spreading layouts ----------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayoutPropagation.h"

#include "../KernelMemory.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::evoformer::tile;

Attribute mlir::evoformer::tile::permuteLayout(Attribute layout,
                                               ArrayRef<int64_t> shape,
                                               ArrayRef<int64_t> permutation) {
  MLIRContext *context = layout.getContext();
  auto frag = dyn_cast<FragAttr>(layout);
  if (!frag) {
    FailureOr<LaneMap> map =
        cast<LayoutAttrInterface>(layout).getLaneMap(shape, nullptr);
    if (failed(map))
      return {};
    return LaneMapAttr::get(context, map->permuteDims(permutation));
  }
  SmallVector<int64_t> inverse(permutation.size());
  for (auto [i, d] : llvm::enumerate(permutation))
    inverse[d] = i;
  SmallVector<int64_t> dims, subgroups(frag.getSubgroups().asArrayRef());
  for (int64_t d : frag.getDims())
    dims.push_back(inverse[d]);
  for (size_t i = 1; i < subgroups.size(); i += 2)
    if (subgroups[i] >= 0)
      subgroups[i] = inverse[subgroups[i]];
  SmallVector<Attribute> order;
  for (int64_t d : permutation)
    order.push_back(d < (int64_t)frag.getOrder().size()
                        ? frag.getOrder()[d]
                        : DenseI64ArrayAttr::get(context, {}));
  return FragAttr::get(context, frag.getInstr(), frag.getRole(), dims,
                       DenseI64ArrayAttr::get(context, subgroups),
                       ArrayAttr::get(context, order));
}

void LayoutPropagation::set(Value value, Attribute layout) {
  if (!layout || !isa<RankedTensorType>(value.getType()))
    return;
  if (layouts.try_emplace(value, layout).second)
    worklist.push_back(value);
}

void LayoutPropagation::seed(Value value, Attribute layout) {
  set(value, layout);
  while (!worklist.empty()) {
    Value next = worklist.front();
    worklist.pop_front();
    spread(next);
  }
}

void LayoutPropagation::seedReduced() {
  // More come meanwhile.
  for (size_t i = 0; i < reduced.size(); ++i) {
    auto [value, layout] = reduced[i];
    seed(value, layout);
  }
  reduced.clear();
}

SmallVector<Value> mlir::evoformer::tile::getCarriedGroup(Operation *op,
                                                          Value value) {
  SmallVector<Value> group;
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (unsigned i = 0, e = loop.getNumResults(); i < e; ++i) {
      SmallVector<Value> all{loop.getResult(i), loop.getRegionIterArg(i),
                             loop.getInitArgs()[i],
                             loop.getBody()->getTerminator()->getOperand(i)};
      if (llvm::is_contained(all, value))
        llvm::append_range(group, all);
    }
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    for (unsigned i = 0, e = branch.getNumResults(); i < e; ++i) {
      SmallVector<Value> all{branch.getResult(i),
                             branch.thenYield().getOperand(i),
                             branch.elseYield().getOperand(i)};
      if (llvm::is_contained(all, value))
        llvm::append_range(group, all);
    }
  } else if (auto where = dyn_cast<WhereOp>(op)) {
    for (unsigned i = 0, e = where.getNumResults(); i < e; ++i) {
      SmallVector<Value> all{where.getResult(i), where.getInits()[i],
                             where.getYield().getOperand(i)};
      if (llvm::is_contained(all, value))
        llvm::append_range(group, all);
    }
  }
  return group;
}

void LayoutPropagation::spreadToOp(Operation *op, Value value,
                                   Attribute layout) {
  auto typeOf = [](Value v) { return cast<RankedTensorType>(v.getType()); };
  auto tieAll = [&]() {
    for (Value result : op->getResults())
      tie(result, layout);
    for (Value operand : op->getOperands())
      tie(operand, layout);
  };
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    RankedTensorType source = typeOf(reduce.getSource());
    int64_t dim = reduce.getDim(), size = source.getDimSize(dim);
    if (value == reduce.getSource())
      tie(reduce.getResult(),
          SliceAttr::get(op->getContext(), dim, size, layout));
    else if (auto slice = dyn_cast<SliceAttr>(layout);
             slice && (int64_t)slice.getDim() == dim && slice.getSize() == size)
      reduced.emplace_back(reduce.getSource(), slice.getParent());
    return;
  }
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    // Only from the result: who uses it knows, while a row vector may be
    // repeated into tiles of different layouts.
    int64_t dim = broadcast.getDim();
    if (value == broadcast.getResult())
      tie(broadcast.getSource(),
          SliceAttr::get(op->getContext(), dim,
                         typeOf(broadcast.getResult()).getDimSize(dim),
                         layout));
    return;
  }
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    ArrayRef<int64_t> permutation = transpose.getPermutation();
    if (value == transpose.getSource()) {
      tie(transpose.getResult(),
          permuteLayout(layout, typeOf(value).getShape(), permutation));
    } else {
      SmallVector<int64_t> inverse(permutation.size());
      for (auto [i, d] : llvm::enumerate(permutation))
        inverse[d] = i;
      tie(transpose.getSource(),
          permuteLayout(layout, typeOf(value).getShape(), inverse));
    }
    return;
  }
  if (mapsElements(op))
    tieAll();
}

void LayoutPropagation::spread(Value value) {
  Attribute layout = layouts.lookup(value);
  auto tieGroup = [&](Operation *op) {
    for (Value other : getCarriedGroup(op, value))
      tie(other, layout);
  };
  if (Operation *def = value.getDefiningOp()) {
    // Each use of a constant gets its own, so one use says nothing of others.
    if (def->hasTrait<OpTrait::ConstantLike>() || isa<tensor::SplatOp>(def))
      return;
    tieGroup(def);
    spreadToOp(def, value, layout);
  } else if (Operation *parent = value.getParentBlock()->getParentOp()) {
    tieGroup(parent);
  }
  for (Operation *user : value.getUsers()) {
    tieGroup(isa<scf::YieldOp, YieldOp>(user) ? user->getParentOp() : user);
    spreadToOp(user, value, layout);
  }
}
