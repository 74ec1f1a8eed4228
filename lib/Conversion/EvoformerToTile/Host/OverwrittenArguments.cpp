//===- OverwrittenArguments.cpp - Arguments that results go to ------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OverwrittenArguments.h"

#include "Evoformer/Conversion/HostToPlan/OverwrittenAttr.h"
#include "Evoformer/Dialect/Evoformer/IR/Evoformer.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::evoformer;

/// Whether all that an op takes of a memory is where to put a result, each
/// element of it.
static bool overwrites(OpOperand &use) {
  auto op = dyn_cast<AttentionFamilyOpInterface>(use.getOwner());
  return op && op.isDpsInit(&use) && !op.isRagged();
}

void evoformer::markOverwrittenArguments(FunctionOpInterface function) {
  for (BlockArgument argument : function.getArguments()) {
    bool isWritten = false, isOther = false;
    for (OpOperand &use : argument.getUses()) {
      bool isResult = overwrites(use);
      isWritten |= isResult;
      isOther |= !isResult && !isa<memref::DimOp>(use.getOwner());
    }
    if (isa<MemRefType>(argument.getType()) && isWritten && !isOther)
      function.setArgAttr(argument.getArgNumber(), kOverwrittenAttrName,
                          UnitAttr::get(function.getContext()));
  }
}
