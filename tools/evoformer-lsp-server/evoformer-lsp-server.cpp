//===- evoformer-lsp-server.cpp - What editors ask about .mlir files ------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mlir-lsp-server with the project's dialects besides the upstream ones.
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Pipelines/InitAll.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

using namespace mlir;

int main(int argc, char **argv) {
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  evoformer::registerAllDialects(registry);
  return failed(MlirLspServerMain(argc, argv, registry));
}
