//===- Signature.cpp - Whether an intrinsic takes what it is given --------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The dialect does not verify operands and results of `llvm.call_intrinsic`;
// LLVM does when the module is translated. Its tables are asked here, so that
// decoding may rely on them.
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"
#include "mlir/Target/LLVMIR/TypeToLLVM.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/Intrinsics.h"

using namespace mlir;
using namespace mlir::evoformer::sim;

bool mlir::evoformer::sim::fitsIntrinsic(llvm::LLVMContext &context,
                                         llvm::StringRef name,
                                         TypeRange operands,
                                         TypeRange results) {
  llvm::Intrinsic::ID id = llvm::Intrinsic::lookupIntrinsicID(name);
  if (id == llvm::Intrinsic::not_intrinsic || results.size() > 1)
    return false;
  LLVM::TypeToLLVMIRTranslator translator(context);
  llvm::SmallVector<llvm::Type *> parameters, overloads;
  for (Type type : operands)
    parameters.push_back(translator.translateType(type));
  llvm::Type *result = results.empty()
                           ? llvm::Type::getVoidTy(context)
                           : translator.translateType(results.front());
  return llvm::Intrinsic::getIntrinsicSignature(
      id, llvm::FunctionType::get(result, parameters, /*isVarArg=*/false),
      overloads);
}
