//===- KernelFactory.cpp - Kernels beside a host function -------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

SmallVector<Value *> AttentionOperands::present() {
  SmallVector<Value *> all = {&query, &key, &value, &keySum.memory};
  for (Bias &bias : biases)
    all.push_back(&bias.memory);
  for (Bias &capture : captures)
    all.push_back(&capture.memory);
  all.append({&gate, &output, &keyMax, &lse, &stats});
  llvm::append_range(all, lengths.all());
  llvm::append_range(all, keyOffsets.all());
  all.push_back(&dropout);
  llvm::erase_if(all, [](Value *operand) { return !*operand; });
  return all;
}

LogitShape AttentionOperands::getShape() const {
  return {query, key, lengths, keyOffsets};
}

KernelOp
KernelFactory::create(Location loc, StringRef suffix, TypeRange arguments,
                      ScheduleAttr schedule,
                      function_ref<void(TileBuilder &, ValueRange)> body) {
  TileBuilder builder(loc, host->getContext());
  builder.setInsertionPoint(host);
  // A mask's elements take one byte each: kernels see bytes.
  SmallVector<Type> types;
  for (Type type : arguments) {
    auto memref = dyn_cast<MemRefType>(type);
    if (memref && memref.getElementType().isInteger(1))
      type = MemRefType::Builder(memref).setElementType(builder.getI8Type());
    types.push_back(type);
  }
  auto kernel = KernelOp::create(builder, (host.getName() + "_" + suffix).str(),
                                 builder.getFunctionType(types, {}));
  kernel.setTargetAttr(target);
  kernel.setScheduleAttr(schedule);
  // Renames where the name is taken.
  symbols.insert(kernel);

  Block &entry = kernel.getBody().front();
  builder.setInsertionPointToStart(&entry);
  body(builder, entry.getArguments());
  ReturnOp::create(builder);
  return kernel;
}
