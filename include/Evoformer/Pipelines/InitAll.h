//===- InitAll.h - Registration of everything in this project ---*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one place that knows every dialect, extension and pass of the project.
// A tool or an embedding compiler calls these two functions; each part of the
// project adds its line to InitAll.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_PIPELINES_INITALL_H
#define EVOFORMER_PIPELINES_INITALL_H

namespace mlir {
class DialectRegistry;
namespace evoformer {

/// Adds the project's dialects, the upstream dialects that its passes create,
/// and the interface implementations that both need.
void registerAllDialects(DialectRegistry &registry);

/// Registers the project's passes and pipelines with the pass registry.
void registerAllPasses();

} // namespace evoformer
} // namespace mlir

#endif // EVOFORMER_PIPELINES_INITALL_H
