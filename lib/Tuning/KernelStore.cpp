//===- KernelStore.cpp - Kernels that many programs share -----------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelStore.h"
#include "Evoformer/Dialect/Tile/IR/Tile.h"
#include "Evoformer/Driver/DeferredKernels.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::runtime;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;

Expected<std::vector<KernelText>>
mlir::evoformer::getKernelTexts(MLIRContext &context, StringRef tiles,
                                ArrayRef<std::string> symbols) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(tiles, &context);
  std::vector<KernelText> texts;
  for (const std::string &symbol : symbols) {
    auto kernel = module ? module->lookupSymbol<tile::KernelOp>(symbol)
                         : tile::KernelOp();
    if (!kernel)
      return createStringError("there is no kernel '" + symbol + "'");
    OwningOpRef<tile::KernelOp> copy = kernel.clone();
    copy->setSymName("kernel");
    llvm::raw_string_ostream os(texts.emplace_back());
    (*copy)->print(os);
  }
  return texts;
}

Error KernelStore::compileTogether(ArrayRef<KernelText> texts) {
  DialectRegistry registry;
  registerForCompilation(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  OwningOpRef<ModuleOp> all = ModuleOp::create(UnknownLoc::get(&context));
  std::vector<std::string> symbols;
  for (const KernelText &text : texts) {
    auto one = parseSourceString<ModuleOp>(text, &context);
    assert(one && "what was printed cannot be read");
    auto kernel = *one->getOps<tile::KernelOp>().begin();
    symbols.push_back("kernel_" + std::to_string(numNamed++));
    kernel.setSymName(symbols.back());
    kernel->remove();
    all->push_back(kernel);
  }
  std::string tiles;
  llvm::raw_string_ostream(tiles) << *all;
  auto infos = compileKernelInfos(tiles, symbols, options, threads,
                                  [&](StringRef format, StringRef contents) {
                                    if (device)
                                      device->prepare(format, contents);
                                  });
  if (!infos)
    return infos.takeError();
  for (auto [text, info] : llvm::zip_equal(texts, *infos))
    kernels[text].info = std::move(info);
  return Error::success();
}

void KernelStore::compile(ArrayRef<KernelText> texts) {
  std::vector<KernelText> missing;
  for (const KernelText &text : texts)
    if (!has(text) && !llvm::is_contained(missing, text))
      missing.push_back(text);
  if (missing.empty())
    return;
  Error problem = compileTogether(missing);
  if (!problem)
    return;
  llvm::consumeError(std::move(problem));
  // One of them does not compile.
  for (const KernelText &text : missing)
    if (Error own = compileTogether(text))
      kernels[text].problem = toString(std::move(own));
}

Expected<const KernelInfo *> KernelStore::get(const KernelText &text) const {
  auto found = kernels.find(text);
  assert(found != kernels.end() && "not compiled");
  if (!found->second.problem.empty())
    return createStringError(found->second.problem);
  return &found->second.info;
}
