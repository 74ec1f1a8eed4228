//===- CaseModule.cpp - The module of an attention to check ---------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CaseRagged.h"
#include "CaseScore.h"
#include "Evoformer/Driver/AttentionCase.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/Format.h"

using namespace mlir::evoformer;
using namespace mlir::evoformer::runtime;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

/// Positions of `text`'s letters in `letters`.
static SmallVector<unsigned> findLetters(StringRef text, StringRef letters) {
  SmallVector<unsigned> result;
  for (char letter : text)
    result.push_back(letters.find(letter));
  return result;
}

namespace {
/// Makes the operands of one case.
class OperandMaker {
public:
  explicit OperandMaker(const AttentionCase &problem)
      : problem(problem), batch(problem.isRagged() ? 1 : problem.batch),
        queries(problem.queries), keys(problem.keys) {
    if (!problem.isRagged())
      return;
    queries = findPlaces(problem, /*ofKeys=*/false).all;
    keys = findPlaces(problem, /*ofKeys=*/true).all;
  }

  CaseOperand sequence(StringRef name, ElementType type, int64_t length,
                       int64_t heads, int64_t depth, bool mayRepeat,
                       bool ofKeys = false);
  CaseOperand bias(const BiasCase &bias, unsigned number);
  CaseOperand biasGradient(const BiasCase &bias, unsigned number);
  CaseOperand capture(StringRef dims, unsigned number);
  CaseOperand weights();
  CaseOperand statistic(StringRef name);
  CaseOperand lengths(StringRef name);
  CaseOperand starts(StringRef name);
  CaseOperand dropout();

private:
  /// `isStrided`: arbitrary strides but for `unitDim` (-1: none).
  void setType(CaseOperand &operand, ArrayRef<bool> isStatic, bool isStrided,
               int unitDim);
  const AttentionCase &problem;

public:
  /// Of sequences in memory.
  int64_t batch, queries, keys;
};
} // namespace

void OperandMaker::setType(CaseOperand &operand, ArrayRef<bool> isStatic,
                           bool isStrided, int unitDim) {
  llvm::raw_string_ostream os(operand.type);
  os << "memref<";
  for (unsigned dim : operand.order) {
    if (isStatic[dim])
      os << operand.layout.sizes[dim] << 'x';
    else
      os << "?x";
  }
  os << getName(operand.layout.type);
  if (isStrided) {
    os << ", strided<[";
    llvm::interleaveComma(operand.order, os, [&](unsigned dim) {
      os << (static_cast<int>(dim) == unitDim ? "1" : "?");
    });
    os << "], offset: ?>";
  }
  os << '>';
}

CaseOperand OperandMaker::sequence(StringRef name, ElementType type,
                                   int64_t length, int64_t heads, int64_t depth,
                                   bool mayRepeat, bool ofKeys) {
  CaseOperand operand;
  operand.name = name.str();
  operand.order = findLetters(problem.order, "bnshd");
  bool isStrided = !problem.memory.empty() || problem.pad || problem.offset ||
                   (mayRepeat && !problem.zero.empty()) ||
                   !StringRef(problem.order).ends_with("d");
  // An order that ends in another letter than d is one of the IR only: in
  // memory d stays innermost.
  StringRef memory = problem.memory;
  if (memory.empty() && StringRef(problem.order).ends_with("d"))
    memory = problem.order;
  bool sharesBatch = ofKeys && problem.shares('b'),
       sharesRows = ofKeys && problem.shares('n');
  SmallVector<int64_t, 5> sizes = {sharesBatch ? 1 : batch,
                                   sharesRows ? 1 : problem.rows, length, heads,
                                   depth};
  SmallVector<int64_t, 5> padded = sizes;
  padded[4] += problem.pad;
  operand.layout = makeDense(type, padded, findLetters(memory, "bnshd"));
  operand.layout.sizes.assign(sizes.begin(), sizes.end());
  operand.layout.offset = problem.offset;
  if (mayRepeat && !problem.zero.empty())
    operand.layout.strides[StringRef("bnsh").find(problem.zero)] = 0;
  bool statics[] = {problem.isRagged() || sharesBatch || problem.isStatic('b'),
                    sharesRows || problem.isStatic('n'), problem.isStatic('s'),
                    problem.isStatic('h'), true};
  setType(operand, statics, isStrided, 4);
  return operand;
}

CaseOperand OperandMaker::bias(const BiasCase &bias, unsigned number) {
  CaseOperand operand;
  operand.name = "bias" + std::to_string(number);
  operand.order = {0, 1, 2, 3, 4};
  StringRef letters = "bnhqk";
  int64_t full[] = {problem.batch, problem.rows, problem.heads, problem.queries,
                    problem.keys};
  SmallVector<int64_t, 5> sizes;
  SmallVector<bool> statics;
  for (auto [letter, size] : llvm::zip_equal(letters, full)) {
    bool isFull = StringRef(bias.dims).contains(letter);
    sizes.push_back(isFull ? size : 1);
    statics.push_back(!isFull || problem.isStatic(letter));
  }
  operand.layout =
      makeDense(bias.type, sizes, findLetters(bias.memory, letters));
  setType(operand, statics, !bias.memory.empty(), -1);
  return operand;
}

CaseOperand OperandMaker::biasGradient(const BiasCase &bias, unsigned number) {
  BiasCase gradient = bias;
  if (problem.gradientType && bias.type != *problem.gradientType)
    gradient.type = ElementType::F32;
  CaseOperand operand = this->bias(gradient, number);
  operand.name += "_grad";
  operand.clause = "bias_grad[" + std::to_string(number) + "]";
  operand.isOutput = true;
  return operand;
}

CaseOperand OperandMaker::capture(StringRef dims, unsigned number) {
  BiasCase model;
  model.dims = dims.str();
  CaseOperand operand = bias(model, number);
  if (problem.scoreCase->kind == reference::ScoreKind::Table) {
    SmallVector<int64_t, 5> sizes(operand.layout.sizes.begin(),
                                  operand.layout.sizes.end());
    sizes[4] = reference::kTableEntries;
    operand.layout = makeDense(model.type, sizes);
    operand.type.clear();
    setType(operand, {true, true, problem.isStatic('h'), true, true},
            /*isStrided=*/false, -1);
  }
  operand.name = "capture" + std::to_string(number);
  operand.clause = "capture";
  return operand;
}

CaseOperand OperandMaker::weights() {
  BiasCase model;
  model.dims = "bnhqk";
  model.type = problem.gradientType.value_or(problem.type);
  CaseOperand operand = bias(model, 0);
  operand.name = "weights";
  operand.clause = "outs";
  operand.isOutput = true;
  return operand;
}

CaseOperand OperandMaker::statistic(StringRef name) {
  CaseOperand operand;
  operand.name = name.str();
  operand.isOutput = true;
  SmallVector<int64_t> sizes = {batch, problem.rows, problem.heads, queries};
  SmallVector<bool> statics = {problem.isRagged() || problem.isStatic('b'),
                               problem.isStatic('n'), problem.isStatic('h'),
                               problem.isStatic('s')};
  if (name == "stats") {
    sizes.insert(sizes.begin(), 2);
    statics.insert(statics.begin(), true);
  }
  operand.order = llvm::to_vector(
      llvm::seq<unsigned>(0, static_cast<unsigned>(sizes.size())));
  operand.layout = makeDense(ElementType::F32, sizes);
  setType(operand, statics, false, -1);
  return operand;
}

CaseOperand OperandMaker::lengths(StringRef name) {
  CaseOperand operand;
  operand.name = name.str();
  operand.order = {0, 1};
  bool ofBatch = problem.lengthsOfBatch, ofRows = problem.lengthsOfRows;
  operand.layout = makeDense(ElementType::I32, {ofBatch ? problem.batch : 1,
                                                ofRows ? problem.rows : 1});
  bool statics[] = {!ofBatch || problem.isStatic('b'),
                    !ofRows || problem.isStatic('n')};
  setType(operand, statics, false, -1);
  return operand;
}

CaseOperand OperandMaker::starts(StringRef name) {
  CaseOperand operand;
  operand.name = name.str();
  operand.order = {0};
  operand.layout = makeDense(ElementType::I32, {problem.batch + 1});
  setType(operand, problem.isStatic('b'), false, -1);
  return operand;
}

CaseOperand OperandMaker::dropout() {
  CaseOperand operand;
  operand.name = "dropout";
  operand.order = {0};
  operand.layout = makeDense(ElementType::I64, {2});
  setType(operand, true, false, -1);
  return operand;
}

/// Whether the function is told the most queries and keys of a sequence.
static bool takesMost(const AttentionCase &problem) {
  return problem.isRagged() && !problem.isStatic('s');
}

std::vector<std::pair<std::string, int64_t>>
mlir::evoformer::getNumbers(const AttentionCase &problem) {
  std::vector<std::pair<std::string, int64_t>> numbers;
  if (takesMost(problem))
    numbers = {{"most_queries", problem.queries}, {"most_keys", problem.keys}};
  for (auto [number, operand] : llvm::enumerate(problem.fromOperands))
    numbers.emplace_back("from" + std::to_string(number), operand);
  for (auto [number, operand] : llvm::enumerate(problem.toOperands))
    numbers.emplace_back("to" + std::to_string(number), operand);
  return numbers;
}

std::vector<CaseOperand>
mlir::evoformer::getOperands(const AttentionCase &problem) {
  OperandMaker maker(problem);
  int64_t valueDepth = problem.getValueDepth();
  std::vector<CaseOperand> operands;
  int64_t heads = problem.heads, keyHeads = problem.getKeyHeads();
  operands.push_back(maker.sequence("query", problem.type, maker.queries, heads,
                                    problem.depth, false));
  operands.push_back(maker.sequence("key", problem.type, maker.keys, keyHeads,
                                    problem.depth, true, /*ofKeys=*/true));
  operands.push_back(maker.sequence("value", problem.type, maker.keys, keyHeads,
                                    valueDepth, true, /*ofKeys=*/true));
  for (auto [number, bias] : llvm::enumerate(problem.biases))
    operands.push_back(maker.bias(bias, number));
  if (problem.scoreCase)
    for (auto [number, capture] :
         llvm::enumerate(getCaptures(*problem.scoreCase)))
      operands.push_back(maker.capture(capture, number));
  if (problem.gateType)
    operands.push_back(maker.sequence("gate", *problem.gateType, maker.queries,
                                      heads, valueDepth, false));
  if (problem.keyLengths)
    operands.push_back(maker.lengths("key_lengths"));
  if (problem.queryLengths)
    operands.push_back(maker.lengths("query_lengths"));
  if (problem.isRagged()) {
    operands.push_back(maker.starts("query_starts"));
    operands.push_back(maker.starts("key_starts"));
  }
  if (problem.dropProbability)
    operands.push_back(maker.dropout());
  operands.push_back(maker.sequence("out", problem.getOutputType(),
                                    maker.queries, heads, valueDepth, false));
  operands.back().isOutput = true;
  if (problem.lse)
    operands.push_back(maker.statistic("lse"));
  if (problem.stats || problem.backward || problem.showsWeights)
    operands.push_back(maker.statistic("stats"));
  if (problem.showsWeights)
    operands.push_back(maker.weights());
  if (!problem.backward)
    return operands;

  size_t first = operands.size();
  auto sequence = [&](StringRef name, StringRef clause, ElementType type,
                      int64_t length, int64_t ofHeads, int64_t depth,
                      bool isOutput) {
    bool ofKeys = name == "key_grad" || name == "value_grad";
    operands.push_back(
        maker.sequence(name, type, length, ofHeads, depth, false, ofKeys));
    operands.back().clause = clause.str();
    operands.back().isOutput = isOutput;
  };
  ElementType type = problem.gradientType.value_or(problem.type);
  sequence("out_grad", "output_grad", problem.getOutputType(), maker.queries,
           heads, valueDepth, false);
  sequence("query_grad", "query_grad", type, maker.queries, heads,
           problem.depth, true);
  sequence("key_grad", "key_grad", type, maker.keys, keyHeads, problem.depth,
           true);
  sequence("value_grad", "value_grad", type, maker.keys, keyHeads, valueDepth,
           true);
  for (auto [number, bias] : llvm::enumerate(problem.biases))
    if (bias.type != ElementType::I1)
      operands.push_back(maker.biasGradient(bias, number));
  if (problem.scoreCase)
    for (auto [number, capture] :
         llvm::enumerate(getCaptures(*problem.scoreCase))) {
      operands.push_back(maker.capture(capture, number));
      operands.back().name += "_grad";
      operands.back().clause =
          "bias_grad[" + std::to_string(problem.biases.size() + number) + "]";
      operands.back().isOutput = true;
    }
  if (problem.gateType)
    sequence("gate_grad", "gate_grad",
             problem.gradientType ? ElementType::F32 : *problem.gateType,
             maker.queries, heads, valueDepth, true);
  for (CaseOperand &operand : llvm::drop_begin(operands, first))
    operand.isBackward = true;
  return operands;
}

/// Writes an op over those of the operands that it has; `output` is the clause
/// of the output.
static void writeOp(llvm::raw_ostream &os, const AttentionCase &problem,
                    StringRef op, ArrayRef<CaseOperand> operands,
                    StringRef output,
                    llvm::function_ref<bool(const CaseOperand &)> isOperand) {
  os << "  evoformer." << op << '\n';
  for (const CaseOperand &operand : operands) {
    if (!isOperand(operand))
      continue;
    StringRef name = operand.name;
    if (name == "query_starts")
      os << "      ragged(queries %query_starts : " << operand.type;
    else if (name == "key_starts")
      os << ", keys %key_starts : " << operand.type
         << ", most %most_queries, %most_keys)\n";
    else if (name == "key_lengths")
      os << "      lengths(keys %key_lengths : " << operand.type
         << (problem.queryLengths ? ", " : ")\n");
    else if (name == "query_lengths")
      os << (problem.keyLengths ? "" : "      lengths(")
         << "queries %query_lengths : " << operand.type << ")\n";
    if (name.ends_with("_starts") || name.ends_with("_lengths"))
      continue;
    std::string clause = !operand.clause.empty()    ? operand.clause
                         : name.starts_with("bias") ? "bias"
                         : name == "out"            ? output.str()
                                                    : operand.name;
    os << "      " << clause << "(";
    if (name == "dropout")
      os << llvm::format("%.9e", *problem.dropProbability) << ", ";
    os << "%" << operand.name;
    if (operand.order.size() == 5 && name != "stats" &&
        !name.starts_with("bias") && !name.starts_with("capture") &&
        name != "weights" && problem.order != "bnshd")
      os << " as " << problem.order;
    os << " : " << operand.type << ")\n";
  }
  if (problem.scale)
    os << "      scale(" << llvm::format("%.9e", *problem.scale) << ")\n";
  if (problem.groupSize != 1)
    os << "      group_size(" << problem.groupSize << ")\n";
  os << "      " << problem.seen.str() << "\n";
  if (problem.logitWeights) {
    os << "      weights(";
    if (std::optional<double> least = problem.logitWeights->least)
      os << "retention<min = " << llvm::format("%.9e", *least) << ">";
    else
      os << "linear";
    os << ")\n";
  }
  if (problem.scoreCase)
    writeScore(os, *problem.scoreCase);
}

std::string mlir::evoformer::makeModule(const AttentionCase &problem) {
  std::vector<CaseOperand> operands = getOperands(problem);
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "func.func @attention(\n    ";
  llvm::interleave(
      operands, os,
      [&](const CaseOperand &operand) {
        os << '%' << operand.name << ": " << operand.type
           << " {evoformer.name = \"" << operand.name << "\"}";
      },
      ",\n    ");
  for (auto &[name, number] : getNumbers(problem))
    os << ",\n    %" << name << ": index {evoformer.name = \"" << name << "\"}";
  os << ") {\n";
  if (problem.isRagged() && !takesMost(problem))
    os << "  %most_queries = arith.constant " << problem.queries
       << " : index\n  %most_keys = arith.constant " << problem.keys
       << " : index\n";
  writeOp(os, problem, "attention", operands, "outs",
          [](const CaseOperand &operand) {
            return !operand.isBackward && operand.name != "weights";
          });
  if (problem.backward)
    writeOp(os, problem, "attention_backward", operands, "output",
            [](const CaseOperand &operand) { return operand.name != "lse"; });
  if (problem.showsWeights)
    writeOp(os, problem, "attention_weights", operands, "",
            [](const CaseOperand &operand) {
              return !llvm::is_contained({"value", "gate", "out", "lse"},
                                         operand.name);
            });
  os << "  return\n}\n";
  return text;
}
