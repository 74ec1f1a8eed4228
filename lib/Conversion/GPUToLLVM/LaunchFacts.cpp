//===- LaunchFacts.cpp - What a launch reads of a lowered kernel ----------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Conversion/GPUToLLVM/GPUToLLVM.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"

using namespace mlir;

int64_t evoformer::getWorkgroupThreads(LLVM::LLVMFuncOp kernel) {
  for (StringRef name :
       {StringRef(ROCDL::ROCDLDialect::getReqdWorkGroupSizeAttrName()),
        StringRef(NVVM::NVVMDialect::getReqntidAttrName())}) {
    auto sizes = kernel->getAttrOfType<DenseI32ArrayAttr>(name);
    if (!sizes)
      continue;
    int64_t product = 1;
    for (int32_t size : sizes.asArrayRef())
      product *= size;
    return product;
  }
  return 0;
}

int64_t evoformer::getDynamicLDSBytes(LLVM::LLVMFuncOp kernel) {
  auto bytes = kernel->getAttrOfType<IntegerAttr>(kDynamicLDSAttrName);
  return bytes ? bytes.getInt() : 0;
}
