//===- Interfaces.h - External interface implementations --------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implementations of upstream interfaces by the ops of the evoformer dialect
// that live outside the dialect's own library.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_DIALECT_EVOFORMER_TRANSFORMS_INTERFACES_H
#define EVOFORMER_DIALECT_EVOFORMER_TRANSFORMS_INTERFACES_H

namespace mlir {
class DialectRegistry;
namespace evoformer {

/// Registers the dialect with everything below: all that a tool needs.
void registerEvoformer(DialectRegistry &registry);

/// BufferizableOpInterface: ops on tensors become ops on memrefs. A query, key,
/// value or gate whose depth would not have stride 1 is copied once into the
/// default order.
void registerEvoformerBufferization(DialectRegistry &registry);

/// RuntimeVerifiableOpInterface: `-generate-runtime-verification` asserts what
/// the verifier cannot see, the equality of dynamic sizes and the stride of
/// the depth.
void registerEvoformerRuntimeVerification(DialectRegistry &registry);

/// DifferentiableScalarOpInterface of arith's and math's ops: what scores are
/// made of has derivatives.
void registerScoreAdjoints(DialectRegistry &registry);

} // namespace evoformer
} // namespace mlir

#endif // EVOFORMER_DIALECT_EVOFORMER_TRANSFORMS_INTERFACES_H
