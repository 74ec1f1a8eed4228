//===- LoweringFacts.cpp - What differs between vendors -------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoweringFacts.h"

using namespace mlir;
using namespace mlir::evoformer;

const LoweringFacts *
mlir::evoformer::getLoweringFacts(tile::TargetAttr target) {
  StringRef arch = target.getTriple().split('-').first;
  for (const LoweringFacts *facts : {&getAMDFacts(), &getNVIDIAFacts()})
    if (facts->arch == arch)
      return facts;
  return nullptr;
}
