//===- LoadModules.h - Modules loaded at the same time ----------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_RUNTIME_LOADMODULES_H
#define EVOFORMER_LIB_RUNTIME_LOADMODULES_H

#include "Evoformer/Runtime/Device.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/ThreadPool.h"
#include <atomic>

namespace mlir::evoformer::runtime {

/// Modules that some kernel still uses, by what they were made of, so that one
/// with several kernels is made once.
template <typename ModuleT>
using ModuleMap = llvm::DenseMap<const KernelObject *, std::weak_ptr<ModuleT>>;

/// Makes those modules of the kernels that are not in the map, on up to
/// `numThreads` threads, and adds them. The result keeps them alive.
template <typename ModuleT, typename MakeT>
llvm::Expected<llvm::SmallVector<std::shared_ptr<ModuleT>>>
loadModules(llvm::ArrayRef<const KernelInfo *> infos, unsigned numThreads,
            ModuleMap<ModuleT> &known, MakeT make) {
  llvm::SmallVector<std::shared_ptr<ModuleT>> kept;
  llvm::SmallVector<const KernelInfo *> missing;
  for (const KernelInfo *info : infos) {
    auto isSame = [&](const KernelInfo *other) {
      return other->object == info->object;
    };
    if (std::shared_ptr<ModuleT> module = known[info->object.get()].lock())
      kept.push_back(std::move(module));
    else if (llvm::none_of(missing, isSame))
      missing.push_back(info);
  }

  std::vector<std::shared_ptr<ModuleT>> made(missing.size());
  std::vector<std::string> problems(missing.size());
  std::atomic<size_t> next{0};
  auto work = [&] {
    for (;;) {
      size_t i = next.fetch_add(1, std::memory_order_relaxed);
      if (i >= missing.size())
        return;
      llvm::Expected<std::shared_ptr<ModuleT>> module = make(*missing[i]);
      if (module)
        made[i] = std::move(*module);
      else
        problems[i] = llvm::toString(module.takeError());
    }
  };
  if (numThreads <= 1 || missing.size() <= 1) {
    work();
  } else {
    llvm::DefaultThreadPool pool(llvm::hardware_concurrency(
        std::min<size_t>(numThreads, missing.size())));
    for (size_t i = 0; i < missing.size(); ++i)
      pool.async(work);
    pool.wait();
  }

  for (auto [i, module] : llvm::enumerate(made)) {
    if (!module)
      return llvm::createStringError("kernel '" + missing[i]->name +
                                     "': " + problems[i]);
    known[missing[i]->object.get()] = module;
    kept.push_back(module);
  }
  return kept;
}

} // namespace mlir::evoformer::runtime

#endif // EVOFORMER_LIB_RUNTIME_LOADMODULES_H
