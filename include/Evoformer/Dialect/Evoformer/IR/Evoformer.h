//===- Evoformer.h - The graph-level dialect --------------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The dialect, its attributes and its ops.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_DIALECT_EVOFORMER_IR_EVOFORMER_H
#define EVOFORMER_DIALECT_EVOFORMER_IR_EVOFORMER_H

#include "Evoformer/Dialect/Evoformer/IR/AttentionCost.h"
#include "Evoformer/Dialect/Evoformer/IR/AttentionSizes.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "Evoformer/Dialect/Evoformer/IR/EvoformerDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "Evoformer/Dialect/Evoformer/IR/EvoformerAttrs.h.inc"

// What the ops' interfaces and definitions call, over the attributes.
#include "Evoformer/Dialect/Evoformer/IR/AttentionFamily.h"

#include "Evoformer/Dialect/Evoformer/IR/AttentionInterfaces.h.inc"

#define GET_OP_CLASSES
#include "Evoformer/Dialect/Evoformer/IR/EvoformerOps.h.inc"

#endif // EVOFORMER_DIALECT_EVOFORMER_IR_EVOFORMER_H
