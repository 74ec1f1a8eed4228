//===- ScheduleTable.cpp - Schedules by chip and shape --------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Driver/ScheduleTable.h"
#include "Evoformer/Support/HostResources.h"
#include "Evoformer/Target/Targets.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace mlir::evoformer;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;

/// Files of another one are refused.
static constexpr int64_t kVersion = 1;

//===----------------------------------------------------------------------===//
// ProblemShape
//===----------------------------------------------------------------------===//

int64_t ProblemShape::roundUp(int64_t number, unsigned step) {
  return llvm::divideCeil(llvm::Log2_64_Ceil(std::max<int64_t>(number, 1)),
                          step);
}

std::string ProblemShape::str() const {
  return llvm::formatv("{0},{1},{2},{3},{4}", type, depth, queries, keys,
                       items);
}

Expected<ProblemShape> mlir::evoformer::parseProblemShape(StringRef text) {
  llvm::SmallVector<StringRef> parts;
  text.split(parts, ',');
  ProblemShape shape;
  int64_t *numbers[] = {&shape.depth, &shape.queries, &shape.keys,
                        &shape.items};
  bool isGood = parts.size() == 5 && llvm::is_contained({"bf16", "f16", "f32"},
                                                        parts.front().trim());
  for (auto [part, number] :
       llvm::zip(llvm::ArrayRef(parts).drop_front(), numbers))
    isGood &= !part.trim().getAsInteger(10, *number) && *number > 0;
  if (!isGood)
    return createStringError(
        "shape '" + text +
        "' is not a type (bf16, f16 or f32), depth, queries, keys and batches "
        "times rows times heads, as in bf16,32,384,384,1536");
  shape.type = parts.front().trim().str();
  return shape;
}

ProblemShape mlir::evoformer::getShape(const AttentionCase &problem) {
  // Of nothing, the table's least.
  auto count = [](int64_t number) { return std::max<int64_t>(number, 1); };
  constexpr uint64_t kMost = std::numeric_limits<int64_t>::max();
  uint64_t items = llvm::SaturatingMultiply<uint64_t>(
      llvm::SaturatingMultiply<uint64_t>(count(problem.batch),
                                         count(problem.rows)),
      count(problem.heads));
  return {getName(problem.type).str(),
          count(std::max(problem.depth, problem.getValueDepth())),
          count(problem.queries), count(problem.keys),
          static_cast<int64_t>(std::min(items, kMost))};
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

bool mlir::evoformer::fromJSON(const llvm::json::Value &value,
                               ScheduleEntry &entry, llvm::json::Path path) {
  llvm::json::ObjectMapper map(value, path);
  std::string shape;
  if (!map || !map.map("chip", entry.chip) ||
      !map.map("kernel", entry.kernel) || !map.map("shape", shape) ||
      !map.map("schedule", entry.schedule) ||
      !map.mapOptional("measured", entry.isMeasured) ||
      !map.mapOptional("cost", entry.cost) ||
      !map.mapOptional("default_cost", entry.defaultCost))
    return false;
  Expected<ProblemShape> parsed = parseProblemShape(shape);
  if (!parsed) {
    llvm::consumeError(parsed.takeError());
    path.field("shape").report("expected <type>,<depth>,<queries>,<keys>,"
                               "<batches times rows times heads>");
    return false;
  }
  entry.shape = std::move(*parsed);
  static constexpr llvm::StringLiteral kernels[] = {
      "attention", "query_grad", "key_value_grad", "bias_grad", "weights"};
  if (!llvm::is_contained(kernels, entry.kernel)) {
    path.field("kernel").report("expected attention, query_grad, "
                                "key_value_grad, bias_grad or weights");
    return false;
  }
  return true;
}

Expected<ScheduleTable> ScheduleTable::read(StringRef path) {
  auto buffer = readFile(path);
  if (!buffer)
    return buffer.takeError();
  auto fail = [&](Error error) {
    return createStringError("'" + path + "' is no table of schedules: " +
                             toString(std::move(error)));
  };
  Expected<llvm::json::Value> json = llvm::json::parse((*buffer)->getBuffer());
  if (!json)
    return fail(json.takeError());
  llvm::json::Path::Root root("table");
  llvm::json::ObjectMapper map(*json, root);
  int64_t version = 0;
  ScheduleTable table;
  if (!map || !map.map("version", version) ||
      !map.map("schedules", table.entries))
    return fail(root.getError());
  if (version != kVersion)
    return createStringError(llvm::formatv(
        "'{0}' has version {1}; known is {2}", path, version, kVersion));
  for (auto [i, entry] : llvm::enumerate(table.entries))
    for (const ScheduleEntry &other :
         llvm::ArrayRef(table.entries).take_front(i))
      if (entry.isOfSameClass(other))
        return createStringError(llvm::formatv(
            "'{0}' has two schedules of {1} for {2} and shapes like {3}", path,
            entry.kernel, entry.chip, entry.shape.str()));
  return table;
}

Error ScheduleTable::write(StringRef path) const {
  llvm::json::Array list;
  for (const ScheduleEntry &entry : entries)
    list.push_back(llvm::json::Object{{"chip", llvm::json::fixUTF8(entry.chip)},
                                      {"kernel", entry.kernel},
                                      {"shape", entry.shape.str()},
                                      {"schedule", entry.schedule},
                                      {"measured", entry.isMeasured},
                                      {"cost", entry.cost},
                                      {"default_cost", entry.defaultCost}});
  llvm::json::Object table{{"version", kVersion},
                           {"schedules", std::move(list)}};
  return writeFile(path, [&](llvm::raw_ostream &os) {
    os << llvm::formatv("{0:2}\n", llvm::json::Value(std::move(table)));
  });
}

bool ScheduleEntry::isOfSameClass(const ScheduleEntry &other) const {
  return other.chip == chip && other.kernel == kernel &&
         other.shape.getClass() == shape.getClass();
}

bool ScheduleTable::add(ScheduleEntry entry) {
  auto known = llvm::find_if(entries, [&](const ScheduleEntry &other) {
    return other.isOfSameClass(entry);
  });
  if (known == entries.end()) {
    entries.push_back(std::move(entry));
    return true;
  }
  if (known->isMeasured && !entry.isMeasured)
    return false;
  *known = std::move(entry);
  return true;
}

std::string ScheduleTable::find(StringRef chip,
                                const ProblemShape &shape) const {
  std::string schedules;
  for (const ScheduleEntry &entry : entries) {
    if (entry.chip != chip || entry.schedule.empty() ||
        entry.shape.getClass() != shape.getClass())
      continue;
    if (!schedules.empty())
      schedules += ';';
    schedules += entry.kernel + ":v1:" + entry.schedule;
  }
  return schedules;
}

Error mlir::evoformer::chooseFromTable(CompileOptions &options,
                                       const ProblemShape &shape) {
  if (options.schedules.empty() || !options.schedule.empty())
    return Error::success();
  Expected<ScheduleTable> table = ScheduleTable::read(options.schedules);
  if (!table)
    return table.takeError();
  std::string chip = options.target;
  if (StringRef(chip).ends_with(".mlir")) {
    MLIRContext context(MLIRContext::Threading::DISABLED);
    ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) {});
    // Compiling says what is wrong with a file.
    auto target = tile::getTarget(UnknownLoc::get(&context), chip);
    if (failed(target))
      return Error::success();
    chip = target->getChip().str();
  }
  options.schedule = table->find(chip, shape);
  options.mayDropSchedule = !options.schedule.empty();
  return Error::success();
}
