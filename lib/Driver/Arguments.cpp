//===- Arguments.cpp - A run's arguments from the command line ------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Driver/Arguments.h"
#include "Evoformer/Support/HostResources.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include <map>
#include <random>

using namespace mlir::evoformer;
using namespace mlir::evoformer::runtime;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;
using llvm::SmallVector;
using llvm::SmallVectorImpl;
using llvm::StringRef;

namespace {
/// The texts sorted by argument.
struct Requests {
  std::map<std::string, std::string> inputs, outputs, shapes, layouts, scalars;
};
} // namespace

/// Files `text` under its name. Without one, or where the part before '=' is no
/// argument's name, it is returned in `rest`.
static Error sortText(const PlanFunction &function, StringRef text,
                      std::map<std::string, std::string> &byName,
                      std::vector<std::string> *rest) {
  StringRef name = text.split('=').first, value = text.split('=').second;
  bool isName = llvm::any_of(function.arguments, [&](const PlanArgument &arg) {
    return arg.name == name;
  });
  if (!isName || !text.contains('=')) {
    // A path with '=' is told from a misspelled name by a separator before it.
    if (!rest || (text.contains('=') && !name.contains('/'))) {
      std::string hint =
          rest ? " (a file of this name is './" + text.str() + "')" : "";
      return createStringError("'" + text +
                               "' names no argument of function '" +
                               function.name + "'" + hint);
    }
    if (text.empty())
      return createStringError("an input or output names no file");
    rest->push_back(text.str());
    return Error::success();
  }
  if (rest && value.empty())
    return createStringError("argument '" + name + "': '" + text +
                             "' names no file");
  if (!byName.try_emplace(name.str(), value.str()).second)
    return createStringError("argument '" + name + "' is given twice");
  return Error::success();
}

static Expected<Requests> sortTexts(const PlanFunction &function,
                                    const ArgumentTexts &texts) {
  Requests requests;
  std::vector<std::string> inputs, outputs;
  auto sortAll = [&](const std::vector<std::string> &list,
                     std::map<std::string, std::string> &byName,
                     std::vector<std::string> *rest) -> Error {
    for (const std::string &text : list)
      if (Error error = sortText(function, text, byName, rest))
        return error;
    return Error::success();
  };
  if (Error error = sortAll(texts.inputs, requests.inputs, &inputs))
    return error;
  if (Error error = sortAll(texts.outputs, requests.outputs, &outputs))
    return error;
  if (Error error = sortAll(texts.shapes, requests.shapes, nullptr))
    return error;
  if (Error error = sortAll(texts.layouts, requests.layouts, nullptr))
    return error;
  if (Error error = sortAll(texts.scalars, requests.scalars, nullptr))
    return error;
  size_t nextInput = 0, nextOutput = 0;
  for (const PlanArgument &argument : function.arguments) {
    if (argument.type.kind != PlanType::Kind::MemRef ||
        requests.inputs.count(argument.name) ||
        requests.outputs.count(argument.name))
      continue;
    if (nextInput < inputs.size())
      requests.inputs[argument.name] = inputs[nextInput++];
    else if (nextOutput < outputs.size())
      requests.outputs[argument.name] = outputs[nextOutput++];
  }
  if (nextInput < inputs.size() || nextOutput < outputs.size())
    return createStringError("function '" + function.name +
                             "' has too few arguments for the files given");
  return requests;
}

/// Reads `1x2x3` (separator 'x') or `0,2,1` (',').
static bool parseNumbers(StringRef text, char separator,
                         SmallVectorImpl<int64_t> &numbers) {
  if (text.empty())
    return true;
  SmallVector<StringRef> parts;
  text.split(parts, separator);
  for (StringRef part : parts) {
    int64_t number;
    if (part.getAsInteger(10, number) || number < 0)
      return false;
    numbers.push_back(number);
  }
  return true;
}

static Error checkShape(const PlanArgument &argument, ElementType type,
                        llvm::ArrayRef<int64_t> shape) {
  const PlanType &wanted = argument.type;
  // A mask of bytes is a mask.
  bool sameType =
      type == wanted.elementType ||
      (getByteSize(type) == 1 && getByteSize(wanted.elementType) == 1);
  bool fits = sameType && shape.size() == wanted.shape.size();
  for (size_t dim = 0; fits && dim < shape.size(); ++dim)
    fits =
        wanted.shape[dim] == dynamicExtent || wanted.shape[dim] == shape[dim];
  if (fits)
    return Error::success();
  std::string expected;
  for (int64_t size : wanted.shape)
    expected += (size == dynamicExtent ? "?" : std::to_string(size)) + "x";
  return createStringError("argument '" + argument.name + "' is " + expected +
                           getName(wanted.elementType) + ", not " +
                           formatShape(type, shape));
}

static Expected<ArrayLayout> makeLayout(const PlanArgument &argument,
                                        ElementType type,
                                        llvm::ArrayRef<int64_t> shape,
                                        const Requests &requests,
                                        bool onlyDescribes) {
  SmallVector<unsigned> order;
  auto it = requests.layouts.find(argument.name);
  if (it != requests.layouts.end()) {
    SmallVector<int64_t> numbers;
    bool valid = parseNumbers(it->second, ',', numbers) &&
                 numbers.size() == shape.size();
    for (int64_t number : numbers) {
      valid = valid && number < static_cast<int64_t>(shape.size()) &&
              !llvm::is_contained(order, number);
      order.push_back(number);
    }
    if (!valid)
      return createStringError("layout '" + it->second + "' of argument '" +
                               argument.name +
                               "' is no order of its dimensions");
  }
  std::optional<uint64_t> bytes = getByteCount(type, shape);
  if (!bytes)
    return createStringError("argument '" + argument.name + "' of " +
                             formatShape(type, shape) + " is too large");
  if (!onlyDescribes)
    if (Error error =
            checkMemory(*bytes, "argument '" + argument.name + "' of " +
                                    formatShape(type, shape)))
      return error;
  return makeDense(type, shape, order);
}

/// Normal numbers; masks keep nine of ten.
static void fillRandom(HostArray &array, uint64_t seed) {
  std::mt19937_64 engine(seed);
  ElementType type = array.layout.type;
  auto uniform = [&] { return (engine() >> 11) * 0x1p-53; };
  array.forEach([&](llvm::ArrayRef<int64_t>, int64_t at) {
    double value = 0;
    if (isFloat(type)) {
      for (int i = 0; i < 12; ++i)
        value += uniform();
      value -= 6;
    } else {
      value = uniform() < 0.9;
    }
    writeElement(type, value, array.storage.data() + at);
  });
}

static Error bindScalar(const PlanArgument &argument, const Requests &requests,
                        BoundArgument &bound) {
  auto it = requests.scalars.find(argument.name);
  if (it == requests.scalars.end())
    return createStringError("argument '" + argument.name +
                             "' needs --scalar=" + argument.name + "=<number>");
  double number;
  int64_t integer;
  if (argument.type.kind == PlanType::Kind::Integer) {
    if (StringRef(it->second).getAsInteger(0, integer))
      return createStringError("'" + it->second + "' is no integer");
    bound.value.bits = integer;
    return Error::success();
  }
  if (StringRef(it->second).getAsDouble(number))
    return createStringError("'" + it->second + "' is no number");
  bound.value.bits = argument.type.width == 64
                         ? llvm::bit_cast<int64_t>(number)
                         : llvm::bit_cast<uint32_t>(static_cast<float>(number));
  return Error::success();
}

static Error bindMemRef(const PlanArgument &argument, const Requests &requests,
                        const ArgumentTexts &texts, unsigned number,
                        const Device *device, BoundArgument &bound) {
  const PlanType &wanted = argument.type;
  if (auto it = requests.inputs.find(argument.name);
      it != requests.inputs.end()) {
    Expected<HostTensor> tensor = readNpy(it->second, wanted.elementType);
    if (!tensor)
      return tensor.takeError();
    if (Error error = checkShape(argument, tensor->elementType, tensor->shape))
      return createStringError(it->second + ": " + toString(std::move(error)));
    Expected<ArrayLayout> layout = makeLayout(argument, wanted.elementType,
                                              tensor->shape, requests, false);
    if (!layout)
      return layout.takeError();
    bound.layout = *layout;
    bound.initial = fromTensor(*tensor, *layout);
    return Error::success();
  }
  SmallVector<int64_t> shape(wanted.shape);
  if (auto it = requests.shapes.find(argument.name);
      it != requests.shapes.end()) {
    shape.clear();
    if (!parseNumbers(it->second, 'x', shape))
      return createStringError("'" + it->second + "' is no shape like 1x2x3");
    if (Error error = checkShape(argument, wanted.elementType, shape))
      return error;
  } else if (llvm::is_contained(shape, dynamicExtent)) {
    return createStringError(
        "argument '" + argument.name +
        "' needs an input file or --shape=" + argument.name + "=<sizes>");
  }
  Expected<ArrayLayout> layout =
      makeLayout(argument, wanted.elementType, shape, requests, !device);
  if (!layout)
    return layout.takeError();
  bound.layout = *layout;
  if (texts.seed && !requests.outputs.count(argument.name)) {
    bound.initial.emplace(*layout);
    fillRandom(*bound.initial, *texts.seed + number);
  }
  return Error::success();
}

Expected<std::vector<BoundArgument>>
mlir::evoformer::bindArguments(const PlanFunction &function,
                               const ArgumentTexts &texts, Device *device) {
  Expected<Requests> requests = sortTexts(function, texts);
  if (!requests)
    return requests.takeError();
  std::vector<BoundArgument> result;
  for (const PlanArgument &argument : function.arguments) {
    BoundArgument bound;
    bound.name = argument.name;
    if (argument.type.kind != PlanType::Kind::MemRef) {
      if (Error error = bindScalar(argument, *requests, bound))
        return error;
      result.push_back(std::move(bound));
      continue;
    }
    if (Error error = bindMemRef(argument, *requests, texts, result.size(),
                                 device, bound))
      return error;
    if (auto it = requests->outputs.find(argument.name);
        it != requests->outputs.end())
      bound.outputPath = it->second;
    if (!device) {
      // Far from null and from one another, at no odd place.
      bound.value = describe(bound.layout, (result.size() + 1) << 44);
      result.push_back(std::move(bound));
      continue;
    }
    Expected<DeviceArray> array = DeviceArray::create(
        *device, argument.name, bound.layout, texts.guardBytes);
    if (!array)
      return array.takeError();
    bound.array.emplace(std::move(*array));
    if (bound.initial)
      if (Error error = bound.array->upload(*bound.initial))
        return error;
    bound.value = bound.array->getValue();
    result.push_back(std::move(bound));
  }
  return result;
}
