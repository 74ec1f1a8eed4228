//===- Plugin.cpp - The project as a plugin of mlir-opt -------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For `mlir-opt --load-dialect-plugin=EvoformerPlugin.so
// --load-pass-plugin=EvoformerPlugin.so` and every other tool that is built on
// MlirOptMain and the shared MLIR.
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Pipelines/InitAll.h"

#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/Compiler.h"

static constexpr const char kName[] = "EvoformerMLIR";

extern "C" LLVM_ATTRIBUTE_WEAK mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, kName, LLVM_VERSION_STRING,
          [](mlir::DialectRegistry *registry) {
            mlir::evoformer::registerAllDialects(*registry);
          }};
}

extern "C" LLVM_ATTRIBUTE_WEAK mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, kName, LLVM_VERSION_STRING,
          [] { mlir::evoformer::registerAllPasses(); }};
}
