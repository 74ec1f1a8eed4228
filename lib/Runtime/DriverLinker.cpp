//===- DriverLinker.cpp - PTX to machine code by CUDA's driver ------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DriverLinker.h"

using namespace llvm;
using namespace mlir::evoformer::runtime;

DriverLinker::DriverLinker(sys::DynamicLibrary driver, std::string isFor,
                           std::unique_ptr<CodeStore> store)
    : isFor(std::move(isFor)), store(std::move(store)) {
  auto resolve = [&](auto &member, const char *symbol) {
    member = reinterpret_cast<std::decay_t<decltype(member)>>(
        driver.getAddressOfSymbol(symbol));
  };
  resolve(create, "cuLinkCreate_v2");
  resolve(addData, "cuLinkAddData_v2");
  resolve(complete, "cuLinkComplete");
  resolve(destroy, "cuLinkDestroy");
}

std::string DriverLinker::getKey(StringRef ptx) const {
  return ("cubin for " + isFor + "\n" + ptx).str();
}

std::optional<std::string> DriverLinker::link(StringRef ptx) {
  if (!create || !addData || !complete || !destroy)
    return std::nullopt;
  // A driver that fails leaves no code behind; what was wrong is found when the
  // PTX is loaded instead.
  Handle state = nullptr;
  if (create(0, nullptr, nullptr, &state) != 0)
    return std::nullopt;
  // Number of the driver API (cuda.h, CUjitInputType). The size counts the
  // terminating zero.
  constexpr int inputPTX = 1;
  std::string text = ptx.str();
  void *code = nullptr;
  size_t bytes = 0;
  std::optional<std::string> result;
  if (addData(state, inputPTX, text.data(), text.size() + 1, "kernel", 0,
              nullptr, nullptr) == 0 &&
      complete(state, &code, &bytes) == 0)
    // The state owns it.
    result.emplace(static_cast<const char *>(code), bytes);
  destroy(state);
  if (result && store)
    store->put(getKey(ptx), *result);
  return result;
}

void DriverLinker::prepare(StringRef ptx) {
  std::optional<std::string> code;
  if (store)
    code = store->get(getKey(ptx));
  if (!code)
    code = link(ptx);
  if (!code)
    return;
  std::lock_guard<std::mutex> lock(mutex);
  prepared[ptx] = std::move(*code);
}

std::optional<std::string> DriverLinker::get(StringRef ptx) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (auto it = prepared.find(ptx); it != prepared.end()) {
      std::string code = std::move(it->second);
      prepared.erase(it);
      return code;
    }
  }
  if (store)
    if (std::optional<std::string> code = store->get(getKey(ptx)))
      return code;
  return link(ptx);
}
