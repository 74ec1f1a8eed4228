//===- Describe.cpp - The module of an attention from words ---------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Support/KeyRange.h"
#include "Support.h"
#include "evoformer-c/Compile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <optional>

using namespace llvm;
using namespace mlir::evoformer;
using namespace mlir::evoformer::capi;

namespace {
struct Bias {
  StringRef dims, type;
  /// Of a table, in the place of keys; 0: it is none.
  int64_t entries = 0;
};

struct Description {
  StringRef type, outputType, gateType;
  int64_t batch = -1, rows = -1, heads = -1, groupSize = 1, depth = 0,
          valueDepth = 0;
  /// Letters of bn of which keys and values have one for all.
  StringRef shared;
  KeyRange keys;
  /// The letters of bn that they have, where there are any.
  std::optional<StringRef> keyLengths, queryLengths;
  SmallVector<Bias> biases, captures;
  /// The ops of the region, one a line.
  std::string score;
  /// As the op's clause says it.
  std::string weights;
  std::optional<double> scale, dropout;
  bool lse = false, stats = false, backward = false, ragged = false;
  /// The weights instead.
  bool ofWeights = false;
  std::optional<SmallVector<StringRef>> gradients;
};

struct Operand {
  std::string name, clause, type;
};
} // namespace

static Error expect(StringRef key, StringRef value, StringRef accepted) {
  return createStringError("'" + key + "=" + value + "': " + key + " is " +
                           accepted);
}

static Error setType(StringRef key, StringRef value, StringRef &type) {
  if (!is_contained({"f16", "bf16", "f32"}, value))
    return expect(key, value, "f16, bf16 or f32");
  type = value;
  return Error::success();
}

static Error setNumber(StringRef key, StringRef value, int64_t limit,
                       int64_t &number) {
  if (value.getAsInteger(10, number) || number < 1 || number > limit)
    return expect(key, value, ("a number from 1 to " + Twine(limit)).str());
  return Error::success();
}

/// How many entries the op's tables have at most.
static constexpr int64_t kMostEntries = 64;

/// A bias or a capture, as `key` says.
static Error addBias(StringRef key, StringRef value,
                     SmallVectorImpl<Bias> &biases) {
  auto [dims, rest] = value.split(':');
  auto [type, entries] = rest.split(':');
  StringRef letters = "bnhqk";
  for (char letter : dims) {
    size_t at = letters.find(letter);
    if (at == StringRef::npos)
      return expect(key, value,
                    "letters of bnhqk in that order, ':' and a type");
    letters = letters.drop_front(at + 1);
  }
  if (!is_contained({"f16", "bf16", "f32"}, type) &&
      type != (key == "bias" ? "i1" : "i32"))
    return expect(key, value,
                  key == "bias" ? "of type f16, bf16, f32 or i1"
                                : "of type f16, bf16, f32 or i32");
  int64_t count = 0;
  if (rest.contains(':') &&
      (key == "bias" || entries.getAsInteger(10, count) || count < 1 ||
       count > kMostEntries || type == "i32" ||
       dims.find_first_not_of("bh") != StringRef::npos))
    return expect(key, value,
                  "a table where so many entries from 1 to 64 are given: of "
                  "letters of bh and floats");
  biases.push_back({dims, type, count});
  return Error::success();
}

static Error setShared(StringRef key, StringRef value, StringRef &shared) {
  if (!is_contained({"b", "n", "bn"}, value))
    return expect(key, value,
                  "the letters of bn of which keys and values have one for "
                  "all: bn, b or n");
  shared = value;
  return Error::success();
}

static Error setLengths(StringRef key, StringRef value,
                        std::optional<StringRef> &lengths) {
  if (!is_contained({"", "b", "n", "bn"}, value))
    return expect(
        key, value,
        "the letters of bn whose dimensions it has: bn, b, n or none");
  lengths = value;
  return Error::success();
}

static Error setWeights(StringRef key, StringRef value, std::string &weights) {
  auto [kind, number] = value.split(':');
  double least = 0;
  if (value == "softmax" || value == "linear") {
    weights = value == "linear" ? "linear" : "";
    return Error::success();
  }
  if (kind != "retention" || number.getAsDouble(least) || !(least >= 0) ||
      !std::isfinite(static_cast<float>(least)))
    return expect(key, value,
                  "softmax, linear, or retention:M with a finite M from 0 on");
  raw_string_ostream(weights)
      << "retention<min = " << format("%.9e", least) << ">";
  return Error::success();
}

/// A word that has no value.
static Error setFlag(StringRef key, StringRef value, bool &flag) {
  if (!value.empty())
    return expect(key, value, "a word without a value");
  flag = true;
  return Error::success();
}

static Error addWord(StringRef key, StringRef value, Description &result) {
  if (key == "type")
    return setType(key, value, result.type);
  if (key == "out")
    return setType(key, value, result.outputType);
  if (key == "gate")
    return setType(key, value, result.gateType);
  if (key == "batch")
    return setNumber(key, value, int64_t(1) << 30, result.batch);
  if (key == "rows")
    return setNumber(key, value, int64_t(1) << 30, result.rows);
  if (key == "heads")
    return setNumber(key, value, int64_t(1) << 20, result.heads);
  if (key == "group_size")
    return setNumber(key, value, int64_t(1) << 16, result.groupSize);
  if (key == "shared")
    return setShared(key, value, result.shared);
  if (key == "keys_from" || key == "keys_to") {
    Expected<KeyBound> bound = KeyBound::parse(value);
    if (!bound)
      return createStringError(key + "=" + toString(bound.takeError()));
    (key == "keys_from" ? result.keys.from : result.keys.to) = *bound;
    return Error::success();
  }
  if (key == "key_lengths")
    return setLengths(key, value, result.keyLengths);
  if (key == "query_lengths")
    return setLengths(key, value, result.queryLengths);
  if (key == "ragged")
    return setFlag(key, value, result.ragged);
  if (key == "depth")
    return setNumber(key, value, 256, result.depth);
  if (key == "value_depth")
    return setNumber(key, value, 256, result.valueDepth);
  if (key == "bias")
    return addBias(key, value, result.biases);
  if (key == "capture")
    return addBias(key, value, result.captures);
  if (key == "score") {
    // Words have no spaces.
    result.score = value.str();
    llvm::replace(result.score, '~', ' ');
    llvm::replace(result.score, ';', '\n');
    return Error::success();
  }
  if (key == "lse" || key == "stats")
    return setFlag(key, value, key == "lse" ? result.lse : result.stats);
  if (key == "scale") {
    double scale = 0;
    if (value.getAsDouble(scale) || !std::isfinite(static_cast<float>(scale)))
      return expect(key, value, "a finite f32");
    result.scale = scale;
    return Error::success();
  }
  if (key == "dropout") {
    double probability = 0;
    if (value.getAsDouble(probability) ||
        !(probability >= 0 && static_cast<float>(probability) < 1))
      return expect(key, value, "a probability, from 0 to before 1");
    result.dropout = probability;
    return Error::success();
  }
  if (key == "weights")
    return setWeights(key, value, result.weights);
  if (key == "pass") {
    if (!is_contained({"forward", "backward", "weights"}, value))
      return expect(key, value, "forward, backward or weights");
    result.backward = value == "backward";
    result.ofWeights = value == "weights";
    return Error::success();
  }
  if (key == "grad") {
    result.gradients.emplace();
    value.split(*result.gradients, ',', -1, /*KeepEmpty=*/false);
    return Error::success();
  }
  return createStringError("unknown word '" + key +
                           "' in the description of an attention");
}

namespace {
/// Writes the module of a description.
class ModuleWriter {
public:
  explicit ModuleWriter(const Description &description)
      : description(description) {}

  Expected<std::string> write();

private:
  /// Of queries, and of keys, which may have fewer heads.
  std::string sequence(StringRef type, int64_t depth) const {
    return sequence(type, packedBatch(), rows(), description.heads, depth);
  }
  std::string keySequence(StringRef type, int64_t depth) const {
    int64_t heads = description.heads;
    StringRef shared = description.shared;
    return sequence(type, shared.contains('b') ? "1" : packedBatch(),
                    shared.contains('n') ? "1" : rows(),
                    heads < 0 ? heads : heads / description.groupSize, depth);
  }
  static std::string sequence(StringRef type, const std::string &batch,
                              const std::string &rows, int64_t heads,
                              int64_t depth);
  std::string bias(const Bias &bias) const;
  std::string lengths(StringRef dims) const;
  /// [B, N, H, Sq], or so many of them.
  std::string statistic(StringRef count = "") const;
  static std::string size(int64_t size) {
    return size < 0 ? "?" : std::to_string(size);
  }
  std::string batch() const { return size(description.batch); }
  /// Of sequences and statistics.
  std::string packedBatch() const { return description.ragged ? "1" : batch(); }
  std::string starts() const {
    int64_t batch = description.batch;
    return "memref<" + size(batch < 0 ? batch : batch + 1) +
           "xi32, strided<[?]>>";
  }
  std::string rows() const { return size(description.rows); }
  std::string heads() const { return size(description.heads); }
  void add(const Twine &name, const Twine &clause, std::string type) {
    operands.push_back({name.str(), clause.str(), std::move(type)});
  }
  void addInputs();
  Error addGradients();

  const Description &description;
  SmallVector<Operand> operands;
};
} // namespace

std::string ModuleWriter::sequence(StringRef type, const std::string &batch,
                                   const std::string &rows, int64_t heads,
                                   int64_t depth) {
  return "memref<" + batch + "x" + rows + "x?x" + size(heads) + "x" +
         std::to_string(depth) + "x" + type.str() +
         ", strided<[?, ?, ?, ?, 1]>>";
}

std::string ModuleWriter::bias(const Bias &bias) const {
  std::string result = "memref<";
  for (char letter : StringRef("bnhqk"))
    result += (letter == 'k' && bias.entries ? std::to_string(bias.entries)
               : !bias.dims.contains(letter) ? "1"
               : letter == 'b'               ? batch()
               : letter == 'n'               ? rows()
               : letter == 'h'               ? heads()
                                             : "?") +
              "x";
  return result + bias.type.str() + ", strided<[?, ?, ?, ?, ?]>>";
}

std::string ModuleWriter::lengths(StringRef dims) const {
  return "memref<" + (dims.contains('b') ? batch() : "1") + "x" +
         (dims.contains('n') ? rows() : "1") + "xi32, strided<[?, ?]>>";
}

std::string ModuleWriter::statistic(StringRef count) const {
  return "memref<" + count.str() + packedBatch() + "x" + rows() + "x" +
         heads() + "x?xf32>";
}

void ModuleWriter::addInputs() {
  const Description &d = description;
  add("query", "query", sequence(d.type, d.depth));
  add("key", "key", keySequence(d.type, d.depth));
  if (!d.ofWeights)
    add("value", "value", keySequence(d.type, d.valueDepth));
  for (auto [number, value] : enumerate(d.biases))
    add("bias" + Twine(number), "bias", bias(value));
  for (auto [number, value] : enumerate(d.captures))
    add("capture" + Twine(number), "capture", bias(value));
  if (!d.gateType.empty() && !d.ofWeights)
    add("gate", "gate", sequence(d.gateType, d.valueDepth));
  if (d.keyLengths)
    add("key_lengths", "", lengths(*d.keyLengths));
  if (d.queryLengths)
    add("query_lengths", "", lengths(*d.queryLengths));
  if (d.ragged) {
    add("query_starts", "", starts());
    add("key_starts", "", starts());
  }
  if (d.dropout)
    add("dropout", "dropout", "memref<2xi64, strided<[?]>>");
  if (d.ofWeights) {
    add("stats", "stats", statistic("2x"));
    add("weights", "outs", bias({"bnhqk", d.outputType}));
    return;
  }
  add("out", d.backward ? "output" : "outs",
      sequence(d.outputType, d.valueDepth));
  if (d.lse && !d.backward)
    add("lse", "lse", statistic());
  if (d.stats || d.backward)
    add("stats", "stats", statistic("2x"));
}

Error ModuleWriter::addGradients() {
  const Description &d = description;
  SmallVector<StringRef> wanted;
  if (d.gradients)
    wanted = *d.gradients;
  auto add = [&](const Twine &name, const Twine &clause, std::string type) {
    std::string text = name.str();
    bool isWanted = is_contained(wanted, text);
    erase(wanted, text);
    if (isWanted || !d.gradients)
      this->add(text + "_grad", clause, std::move(type));
  };
  this->add("out_grad", "output_grad", sequence(d.outputType, d.valueDepth));
  add("query", "query_grad", sequence(d.type, d.depth));
  add("key", "key_grad", keySequence(d.type, d.depth));
  add("value", "value_grad", keySequence(d.type, d.valueDepth));
  for (auto [number, value] : enumerate(d.biases))
    if (value.type != "i1")
      add("bias" + Twine(number), "bias_grad[" + Twine(number) + "]",
          bias(value));
  // Counted behind the biases.
  for (auto [number, value] : enumerate(d.captures))
    if (value.type != "i32")
      add("capture" + Twine(number),
          "bias_grad[" + Twine(d.biases.size() + number) + "]", bias(value));
  if (!d.gateType.empty())
    add("gate", "gate_grad", sequence(d.gateType, d.valueDepth));
  if (!wanted.empty())
    return createStringError("grad=" + wanted.front() +
                             ": there is no such float operand");
  return Error::success();
}

Expected<std::string> ModuleWriter::write() {
  addInputs();
  if (description.backward)
    if (Error error = addGradients())
      return std::move(error);
  std::string text;
  raw_string_ostream os(text);
  os << "func.func @attention(\n    ";
  interleave(
      operands, os,
      [&](const Operand &operand) {
        os << '%' << operand.name << ": " << operand.type;
      },
      ",\n    ");
  if (description.ragged)
    os << ",\n    %most_queries: index,\n    %most_keys: index";
  os << ") {\n  evoformer.attention"
     << (description.backward    ? "_backward"
         : description.ofWeights ? "_weights"
                                 : "")
     << '\n';
  for (const Operand &operand : operands) {
    if (operand.name == "query_starts")
      os << "      ragged(queries %query_starts : " << operand.type
         << ", keys %key_starts : " << operand.type
         << ", most %most_queries, %most_keys)\n";
    if (operand.name == "key_lengths")
      os << "      lengths(keys %key_lengths : " << operand.type
         << (description.queryLengths ? ", " : ")\n");
    if (operand.name == "query_lengths")
      os << (description.keyLengths ? "" : "      lengths(")
         << "queries %query_lengths : " << operand.type << ")\n";
    if (operand.clause.empty())
      continue;
    os << "      " << operand.clause << "(";
    if (operand.name == "dropout")
      os << format("%.9e", *description.dropout) << ", ";
    os << "%" << operand.name << " : " << operand.type << ")\n";
  }
  if (description.scale)
    os << "      scale(" << format("%.9e", *description.scale) << ")\n";
  if (description.groupSize != 1)
    os << "      group_size(" << description.groupSize << ")\n";
  os << "      " << description.keys.str() << "\n";
  if (!description.weights.empty())
    os << "      weights(" << description.weights << ")\n";
  if (!description.score.empty()) {
    os << "      score(%x: f32, %b: i32, %n: i32, %h: i32, %i: i32, %j: i32, "
          "%sq: i32, %sk: i32";
    for (auto [number, capture] : enumerate(description.captures)) {
      os << ", %c" << number << ": ";
      if (capture.entries)
        os << "vector<" << capture.entries << "xf32>";
      else
        os << (capture.type == "i32" ? "i32" : "f32");
    }
    os << ") {\n" << description.score << "\n      }\n";
  }
  os << "  return\n}\n";
  return text;
}

static Expected<std::string> describe(StringRef text) {
  Description description;
  StringSet<> given;
  if (Error error = forEachWord(text, [&](StringRef key, StringRef value) {
        bool mayRepeat = key == "bias" || key == "capture";
        if (!given.insert(key).second && !mayRepeat)
          return expect(key, value, "there already; accepted is one of it");
        return addWord(key, value, description);
      }))
    return std::move(error);
  if (description.type.empty() || !description.depth)
    return createStringError("an attention needs type= and depth=");
  if (description.heads >= 0 && description.heads % description.groupSize != 0)
    return createStringError(
        "heads=" + Twine(description.heads) +
        " must be a multiple of group_size=" + Twine(description.groupSize));
  if (description.ragged && description.shared.contains('b'))
    return createStringError("shared=" + description.shared +
                             ": ragged sequences lie in one b already");
  if (description.ragged &&
      (description.keyLengths || description.queryLengths))
    return createStringError("ragged sequences have no key_lengths or "
                             "query_lengths beside their starts");
  if (description.score.empty() && !description.captures.empty())
    return createStringError(
        "capture= is what score= reads, which is not there");
  if (description.outputType.empty())
    description.outputType = description.type;
  if (!description.valueDepth)
    description.valueDepth = description.depth;
  return ModuleWriter(description).write();
}

EvoformerStatus evoformerDescribeAttention(const char *description,
                                           char **text) {
  Expected<std::string> module = describe(description);
  if (!module)
    return fail(module.takeError());
  *text = copyText(*module);
  return EVOFORMER_SUCCESS;
}
