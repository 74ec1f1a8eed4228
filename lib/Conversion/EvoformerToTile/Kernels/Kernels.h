//===- Kernels.h - The kernels of an attention ----------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_KERNELS_KERNELS_H
#define EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_KERNELS_KERNELS_H

#include "../AttentionProblem.h"
#include "RowCounts.h"
#include "TileBuilder.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::evoformer {

/// How the main kernel is cut: rows of the batch, queries and keys of a tile.
struct AttentionBlocks {
  int64_t rows, queries, keys;
  /// Parts of a block that are computed one after the other, where a kernel
  /// sums over the blocks of the queries.
  int64_t steps = 1;
  /// Of a block of keys: a step over queries takes these one after the other,
  /// each with sums of its own.
  int64_t pieces = 1;

  int64_t getKeysOfPiece() const { return keys / pieces; }
};

/// The values of operands that are there, in a kernel's argument order.
template <typename OperandsTy>
SmallVector<Value> getPresent(OperandsTy &operands) {
  return llvm::map_to_vector(operands.present(),
                             [](Value *operand) { return *operand; });
}

/// Makes kernels beside the host function, with names derived from its own.
class KernelFactory {
public:
  KernelFactory(SymbolTable &symbols, FunctionOpInterface host,
                tile::TargetAttr target)
      : symbols(symbols), host(host), target(target) {}

  /// A kernel with arguments of these types; `body` writes what it does.
  tile::KernelOp create(Location loc, StringRef suffix, TypeRange arguments,
                        tile::ScheduleAttr schedule,
                        function_ref<void(TileBuilder &, ValueRange)> body);

  /// A kernel whose arguments are `operands.present()`; `body` is given the
  /// operands as they are inside.
  template <typename OperandsTy>
  tile::KernelOp
  create(Location loc, StringRef suffix, OperandsTy operands,
         tile::ScheduleAttr schedule,
         function_ref<void(TileBuilder &, const OperandsTy &)> body) {
    SmallVector<Value> present = getPresent(operands);
    return create(loc, suffix, ValueRange(present).getTypes(), schedule,
                  [&](TileBuilder &builder, ValueRange arguments) {
                    for (auto [operand, argument] :
                         llvm::zip_equal(operands.present(), arguments))
                      *operand = argument;
                    body(builder, operands);
                  });
  }

  tile::TargetAttr getTarget() const { return target; }

private:
  SymbolTable &symbols;
  FunctionOpInterface host;
  tile::TargetAttr target;
};

/// Keeps a schedule's estimate on its kernel; 0: it has none.
inline void noteRegisters(tile::KernelOp kernel, int64_t registers) {
  if (registers > 0)
    kernel->setAttr(tile::kEstimatedRegistersAttr,
                    Builder(kernel.getContext()).getI64IntegerAttr(registers));
}

/// The space of the main kernel, slowest extent first, and the same order as
/// coordinates of a work item: the one place that knows it.
SmallVector<Value, 4> getAttentionSpace(TileBuilder &builder,
                                        const AttentionOperands &operands,
                                        const AttentionBlocks &blocks,
                                        const KeyRange &keys);

/// The main kernel; its arguments are `operands.present()`. With `alignedRows`
/// rows of queries, keys, values, gates and outputs start at multiples of
/// getVectorBytes of their size.
tile::KernelOp createAttentionKernel(KernelFactory &factory, Location loc,
                                     const AttentionFacts &facts,
                                     const AttentionOperands &operands,
                                     const AttentionBlocks &blocks,
                                     bool alignedRows,
                                     tile::ScheduleAttr schedule);

/// The same where weights are logits: no running maximum, and a sum of absolute
/// values at most.
tile::KernelOp createLogitWeightsKernel(KernelFactory &factory, Location loc,
                                        const AttentionFacts &facts,
                                        const AttentionOperands &operands,
                                        const AttentionBlocks &blocks,
                                        bool alignedRows,
                                        tile::ScheduleAttr schedule);

/// The rows' numbers of keys: lengths [b, n], or starts [b + 1] and the number
/// of all keys. Null: all.
struct RowKeys {
  Value lengths, starts, allKeys;

  SmallVector<Value> present() const {
    SmallVector<Value> values = {lengths, starts, allKeys};
    llvm::erase(values, Value());
    return values;
  }
};

/// The kernel that prepares the sum of query-independent biases. Arguments: the
/// biases' memories, the sums [units, b, n, h, keys], the maximum [b, n, h] if
/// there is a float bias, what `rows` has, and the number of keys. Space: b, n,
/// h of the sums, which are in `units` of so many binary exponents. Their rows
/// are whole key blocks.
tile::KernelOp createKeySumKernel(KernelFactory &factory, Location loc,
                                  ArrayRef<Bias> biases, Value sum,
                                  Value maximum, const RowKeys &rows,
                                  ArrayRef<double> units, int64_t keyBlock);

/// The kernel that copies a bias to rows that whole vectors can read.
/// Arguments: source and destination. Space: b, n, h, query blocks, key blocks.
struct CopyBlocks {
  int64_t queries, keys;
};
/// For copies in whole blocks of queries and keys.
CopyBlocks getCopyBlocks(int64_t queryBlock, int64_t keyBlock);
/// The space of the kernel that copies to `dest`.
SmallVector<Value> getCopySpace(TileBuilder &builder, Value dest,
                                const CopyBlocks &blocks);
tile::KernelOp createCopyKernel(KernelFactory &factory, Location loc,
                                const Bias &source, Value dest,
                                int64_t alignment, const CopyBlocks &blocks);

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_KERNELS_KERNELS_H
