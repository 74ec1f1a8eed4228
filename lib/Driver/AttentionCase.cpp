//===- AttentionCase.cpp - An attention as a line of text -----------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Driver/AttentionCase.h"
#include "CaseRagged.h"
#include "CaseScore.h"
#include "Evoformer/Support/HostResources.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir::evoformer;
using namespace mlir::evoformer::runtime;
using llvm::createStringError;
using llvm::Expected;
using llvm::SmallVector;
using llvm::StringRef;

const char mlir::evoformer::kCaseWords[] = R"(
B N H Sq Sk D Dv   sizes (Dv: as D)
group              heads of queries that share one of keys and values;
                   divides H
share              b, n or bn: where keys and values have one for all
window             FROM:TO, the bounds of the keys that query i sees,
                   each a sum of i or i/c*c, sq, sk and numbers or
                   empty: window=i+sk-sq-8:i+sk-sq+1. A number behind
                   an @, of 64 bits, is one that the program is given
                   when it runs: window=i-@8:i+@-1
lens               KEYS[:QUERIES][/b|/n], how long rows are: each
                   random, half, full, none or numbers, '5.0.99', that
                   rows have in turn; with /b for each b alone, with /n
                   for each n alone. What lies behind them is NaN
ragged             QUERIES:KEYS, the B sequences lie one behind the
                   other, each with at most Sq queries and Sk keys:
                   random, or where they start and the last one ends,
                   and behind a / how many there are:
                   ragged=0.7.7.20/25:random. What is of no sequence is
                   NaN, and must not be written
type, out, gate    bf16, f16, f32; gate may be none
bias               DIMS:TYPE:VALUES[:MEMORY], any number of times: letters of
                   bnhqk; i1, bf16, f16 or f32; normal, all-false,
                   all-true, sparse, large, huge, all-huge, lowest,
                   infinite, columns, all-lowest, mixed, rows, nan or
                   growing; bnhqk outermost first in memory
score              NAME:NUMBER, what makes logits of scaled scores:
                   softcap, fastcap, alibi, temperature, swish, distance,
                   buckets, slopes, matrix, keywise, querywise, table or
                   leaky; alibi, slopes and matrix have no number.
                   Captures are normal numbers
dropout            P[:SEED], the probability with which weights are
                   dropped, and a number of which seed and offset are
                   made; default: the case's
weights            linear, or retention:MIN; default: softmax. Without
                   lse and biases of numbers
lse, stats         0 or 1
scale              a number; default D^-1/2
order              dimension order of q, k, v, gate, out in the IR
memory             their dimensions outermost first in memory: bnshd in an
                   order that ends in d
pad, offset        unused elements per row; before the first
zero               b, n, s or h: stride 0 of k and v there
static             none, heads, all: sizes known when compiling
nan                1: keys that a mask drops hold NaN; some: of the second
                   sequence some that only some queries drop, too
nan_values         1: so do their values
first              1: the first element of queries, values and gate is
                   NaN where the result shows it in one row or column
                   only: loads outside of a tile fall back to it
put                operand:number:index, any number of times: the
                   number (nan, inf and -inf too) in one element of an
                   input; operands as the modules name them (out_grad,
                   bias0), indices in the default order, '0.0.3.0.1'
large              1: every third query is 2^122 times as large, beyond
                   f16
pass               forward, or backward: every gradient as well; or weights:
                   those as well
grads              bf16, f16, f32: type of gradients, or of weights; default:
                   operands'
seed               of the numbers
sample             check this many rows n only; 0: all
)";

static constexpr std::pair<BiasValues, const char *> biasValueNames[] = {
    {BiasValues::Normal, "normal"},    {BiasValues::AllFalse, "all-false"},
    {BiasValues::Sparse, "sparse"},    {BiasValues::Large, "large"},
    {BiasValues::Huge, "huge"},        {BiasValues::AllHuge, "all-huge"},
    {BiasValues::Lowest, "lowest"},    {BiasValues::Infinite, "infinite"},
    {BiasValues::Columns, "columns"},  {BiasValues::AllLowest, "all-lowest"},
    {BiasValues::Mixed, "mixed"},      {BiasValues::Rows, "rows"},
    {BiasValues::AllTrue, "all-true"}, {BiasValues::NaN, "nan"},
    {BiasValues::Growing, "growing"},
};

bool AttentionCase::broadcasts(const BiasCase &bias, char letter) const {
  int64_t size = llvm::StringSwitch<int64_t>(StringRef(&letter, 1))
                     .Case("b", batch)
                     .Case("n", rows)
                     .Case("h", heads)
                     .Case("q", queries)
                     .Default(keys);
  return !StringRef(bias.dims).contains(letter) ||
         (isStatic(letter) && size == 1);
}

KeyRange AttentionCase::getKnownRange() const {
  KeyRange range = seen;
  auto fold = [](std::optional<KeyBound> &bound,
                 const std::vector<int64_t> &operands) {
    if (!bound)
      return;
    bound->constant += bound->sumOperands(operands);
    bound->ofOperands.clear();
  };
  fold(range.from, fromOperands);
  fold(range.to, toOperands);
  return range;
}

std::string AttentionCase::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "B=" << batch << " N=" << rows << " H=" << heads << " Sq=" << queries
     << " Sk=" << keys << " D=" << depth << " Dv=" << getValueDepth()
     << " type=" << getName(type) << " out=" << getName(getOutputType());
  if (gateType)
    os << " gate=" << getName(*gateType);
  for (const BiasCase &bias : biases) {
    os << " bias=" << bias.dims << ':' << getName(bias.type) << ':';
    for (auto [values, name] : biasValueNames)
      if (values == bias.values)
        os << name;
    if (!bias.memory.empty())
      os << ':' << bias.memory;
  }
  os << " lse=" << lse << " stats=" << stats;
  if (groupSize != 1)
    os << " group=" << groupSize;
  if (!share.empty())
    os << " share=" << share;
  if (!window.empty())
    os << " window=" << window;
  if (!lens.empty())
    os << " lens=" << lens;
  if (!ragged.empty())
    os << " ragged=" << ragged;
  if (!score.empty())
    os << " score=" << score;
  if (!weights.empty())
    os << " weights=" << weights;
  if (!dropout.empty())
    os << " dropout=" << dropout;
  if (scale)
    os << " scale=" << llvm::format("%.9g", *scale);
  if (order != "bnshd")
    os << " order=" << order;
  if (!memory.empty())
    os << " memory=" << memory;
  if (pad)
    os << " pad=" << pad;
  if (offset)
    os << " offset=" << offset;
  if (!zero.empty())
    os << " zero=" << zero;
  if (staticSizes != "none")
    os << " static=" << staticSizes;
  if (nanKeys)
    os << " nan=" << (nanSome ? "some" : "1");
  if (nanValues)
    os << " nan_values=1";
  if (nanFirst)
    os << " first=1";
  for (const PutNumber &put : puts) {
    os << " put=" << put.operand << ':' << llvm::format("%.9g", put.number)
       << ':';
    llvm::interleave(put.index, os, ".");
  }
  if (largeScores)
    os << " large=1";
  if (backward)
    os << " pass=backward";
  if (showsWeights)
    os << " pass=weights";
  if (gradientType)
    os << " grads=" << getName(*gradientType);
  if (sample)
    os << " sample=" << sample;
  os << " seed=" << seed;
  return text;
}

static bool isPermutation(StringRef text, StringRef letters) {
  std::string a = text.str(), b = letters.str();
  llvm::sort(a);
  llvm::sort(b);
  return a == b;
}

static std::optional<ElementType> parseFloat(StringRef name) {
  std::optional<ElementType> type = parseElementType(name);
  if (!type || *type == ElementType::F64 || !isFloat(*type))
    return std::nullopt;
  return type;
}

static bool parseBias(StringRef text, AttentionCase &result) {
  SmallVector<StringRef> parts;
  text.split(parts, ':');
  if (parts.size() != 3 && parts.size() != 4)
    return false;
  BiasCase bias;
  bias.dims = parts[0].str();
  std::optional<ElementType> type = parseFloat(parts[1]);
  if (parts[1] == "i1")
    type = ElementType::I1;
  auto *values = llvm::find_if(
      biasValueNames, [&](auto &entry) { return parts[2] == entry.second; });
  if (!type || values == std::end(biasValueNames) ||
      parts[0].find_first_not_of("bnhqk") != StringRef::npos)
    return false;
  bias.type = *type;
  bias.values = values->first;
  if (parts.size() == 4)
    bias.memory = parts[3].str();
  if (!bias.memory.empty() && !isPermutation(bias.memory, "bnhqk"))
    return false;
  result.biases.push_back(std::move(bias));
  return true;
}

static bool parsePut(StringRef text, AttentionCase &result) {
  SmallVector<StringRef> parts, indices;
  text.split(parts, ':');
  PutNumber put;
  if (parts.size() != 3 || parts[1].getAsDouble(put.number))
    return false;
  put.operand = parts[0].str();
  parts[2].split(indices, '.');
  for (StringRef index : indices)
    if (index.getAsInteger(10, put.index.emplace_back()))
      return false;
  result.puts.push_back(std::move(put));
  return true;
}

/// Whether all numbers are put into elements that there are.
static bool hasPlaces(const AttentionCase &result) {
  std::vector<CaseOperand> operands = getOperands(result);
  return llvm::all_of(result.puts, [&](const PutNumber &put) {
    auto operand = llvm::find_if(operands, [&](const CaseOperand &operand) {
      return operand.name == put.operand && !operand.isOutput;
    });
    return operand != operands.end() &&
           operand->layout.sizes.size() == put.index.size() &&
           llvm::all_of(llvm::zip_equal(put.index, operand->layout.sizes),
                        [](auto entry) {
                          auto [index, size] = entry;
                          return index >= 0 && index < size;
                        });
  });
}

/// A bound of `window`, or nothing: `i+sk-@5`, with the numbers that are given
/// when the program runs.
static llvm::Error parseBound(StringRef text, std::optional<KeyBound> &into,
                              std::vector<int64_t> &operands) {
  if (text.empty())
    return llvm::Error::success();
  std::string known;
  SmallVector<int64_t, 2> factors;
  StringRef rest = text;
  for (size_t at = rest.find('@'); at != StringRef::npos; at = rest.find('@')) {
    StringRef before = rest.take_front(at);
    rest = rest.drop_front(at + 1);
    factors.push_back(before.ends_with("-") ? -1 : 1);
    bool hasSign = before.consume_back("-") || before.consume_back("+");
    if (rest.consumeInteger(10, operands.emplace_back()) ||
        (!hasSign && !(before.empty() && known.empty())))
      return createStringError("'" + text +
                               "': expected + or - before @, and a number "
                               "of 64 bits behind it, like i-@8");
    known += before;
  }
  known += rest;
  into.emplace();
  if (!known.empty()) {
    Expected<KeyBound> parsed = KeyBound::parse(known);
    if (!parsed)
      return parsed.takeError();
    into = *parsed;
  }
  into->ofOperands = factors;
  return llvm::Error::success();
}

static llvm::Error parseWindow(StringRef text, AttentionCase &result) {
  auto [from, to] = text.split(':');
  if (!text.contains(':'))
    return createStringError("window is FROM:TO, each empty or a sum like "
                             "i+sk-sq-8 or i/32*32, not '" +
                             text + "'");
  result.window = text.str();
  if (llvm::Error error =
          parseBound(from, result.seen.from, result.fromOperands))
    return error;
  return parseBound(to, result.seen.to, result.toOperands);
}

/// Numbers of 32 bits like 5.0.99.
static bool parseNumbers(StringRef text, std::vector<int64_t> &into) {
  SmallVector<StringRef> numbers;
  text.split(numbers, '.');
  return llvm::all_of(numbers, [&](StringRef number) {
    int32_t value;
    if (number.getAsInteger(10, value))
      return false;
    into.push_back(value);
    return true;
  });
}

/// One of the two parts of `lens`; none: `into` stays empty.
static bool parseLengths(StringRef text, std::optional<LengthsCase> &into) {
  into = std::nullopt;
  if (text == "none")
    return true;
  into.emplace();
  if (text == "random" || text == "half" || text == "full") {
    into->values = text == "random" ? LengthsCase::Random
                   : text == "half" ? LengthsCase::Half
                                    : LengthsCase::Full;
    return true;
  }
  return parseNumbers(text, into->list);
}

static llvm::Error parseLens(StringRef text, AttentionCase &result) {
  StringRef rest = text;
  bool ofBatch = rest.consume_back("/b"), ofRows = rest.consume_back("/n");
  auto [keys, queries] = rest.split(':');
  if (!parseLengths(keys, result.keyLengths) || (ofBatch && ofRows) ||
      !parseLengths(rest.contains(':') ? queries : "none", result.queryLengths))
    return createStringError(
        "lens is KEYS[:QUERIES][/b|/n], each of them random, half, full, none "
        "or numbers like 5.0.99, not '" +
        text + "'");
  result.lens = text.str();
  result.lengthsOfBatch = !ofRows;
  result.lengthsOfRows = !ofBatch;
  return llvm::Error::success();
}

/// One of the two parts of `ragged`.
static bool parseStarts(StringRef text, std::optional<RaggedCase> &into) {
  into.emplace();
  if (text == "random")
    return true;
  auto [list, all] = text.split('/');
  if (text.contains('/') && (all.getAsInteger(10, into->all.emplace()) ||
                             *into->all < 0 || *into->all > INT32_MAX))
    return false;
  return parseNumbers(list, into->starts);
}

static llvm::Error parseRagged(StringRef text, AttentionCase &result) {
  auto [queries, keys] = text.split(':');
  if (!parseStarts(queries, result.raggedQueries) ||
      !parseStarts(keys, result.raggedKeys))
    return createStringError(
        "ragged is QUERIES:KEYS, each of them random or numbers like 0.5.9 or "
        "0.5.9/12, not '" +
        text + "'");
  result.ragged = text.str();
  return llvm::Error::success();
}

static llvm::Error parseDropout(StringRef text, AttentionCase &result) {
  auto [probability, seed] = text.split(':');
  double p;
  uint64_t number;
  if (probability.getAsDouble(p) || !(p >= 0 && p < 1) ||
      (text.contains(':') && seed.getAsInteger(10, number)))
    return createStringError("dropout is P[:SEED], a number from 0 to before 1 "
                             "and one from 0, not '" +
                             text + "'");
  result.dropout = text.str();
  result.dropProbability = p;
  if (text.contains(':'))
    result.dropSeed = number;
  return llvm::Error::success();
}

static llvm::Error parseWeights(StringRef text, AttentionCase &result) {
  auto [name, number] = text.split(':');
  double least = 0;
  bool hasNumber = text.contains(':');
  if ((name != "linear" || hasNumber) &&
      (name != "retention" || number.getAsDouble(least) || !(least >= 0)))
    return createStringError(
        "weights is linear, or retention with a number from "
        "0 on like retention:1, not '" +
        text + "'");
  result.weights = text.str();
  result.logitWeights.emplace();
  if (hasNumber)
    result.logitWeights->least = static_cast<float>(least);
  return llvm::Error::success();
}

/// What sizes and other words must be where there are ragged sequences.
static llvm::Error checkRagged(const AttentionCase &result, StringRef text) {
  auto fail = [&](const llvm::Twine &why) {
    return createStringError("the case '" + text + "' " + why);
  };
  if (!result.lens.empty())
    return fail("has both lens and ragged");
  for (const RaggedCase *side : {&*result.raggedQueries, &*result.raggedKeys})
    if (!side->starts.empty() &&
        static_cast<int64_t>(side->starts.size()) != result.batch + 1)
      return fail("has not B + 1 numbers in ragged");
  if (result.shares('b'))
    return fail("has both share=b and ragged");
  if (haveOverlap(findPlaces(result, /*ofKeys=*/false)) ||
      (result.backward && haveOverlap(findPlaces(result, /*ofKeys=*/true))))
    return fail("has ragged sequences that share what is written");
  return llvm::Error::success();
}

/// One `key=value`; whether it means something.
static bool parseEntry(StringRef key, StringRef value, AttentionCase &result) {
  int64_t *number = llvm::StringSwitch<int64_t *>(key)
                        .Case("B", &result.batch)
                        .Case("N", &result.rows)
                        .Case("H", &result.heads)
                        .Case("group", &result.groupSize)
                        .Case("Sq", &result.queries)
                        .Case("Sk", &result.keys)
                        .Case("D", &result.depth)
                        .Case("Dv", &result.valueDepth)
                        .Case("pad", &result.pad)
                        .Case("offset", &result.offset)
                        .Case("sample", &result.sample)
                        .Default(nullptr);
  if (number)
    return !value.getAsInteger(10, *number) && *number >= 0 &&
           *number <= INT32_MAX;
  if (key == "seed")
    return !value.getAsInteger(10, result.seed);
  bool *flag = llvm::StringSwitch<bool *>(key)
                   .Case("lse", &result.lse)
                   .Case("stats", &result.stats)
                   .Case("nan_values", &result.nanValues)
                   .Case("first", &result.nanFirst)
                   .Case("large", &result.largeScores)
                   .Default(nullptr);
  if (flag) {
    *flag = value == "1";
    return value == "0" || value == "1";
  }
  if (key == "nan") {
    result.nanKeys = value != "0";
    result.nanSome = value == "some";
    return value == "0" || value == "1" || value == "some";
  }
  if (key == "bias")
    return parseBias(value, result);
  if (key == "put")
    return parsePut(value, result);
  if (key == "type") {
    std::optional<ElementType> type = parseFloat(value);
    result.type = type.value_or(result.type);
    return type.has_value();
  }
  if (key == "out")
    return (result.outputType = parseFloat(value)).has_value();
  if (key == "grads")
    return (result.gradientType = parseFloat(value)).has_value();
  if (key == "pass") {
    result.backward = value == "backward";
    result.showsWeights = value == "weights";
    return result.backward || result.showsWeights || value == "forward";
  }
  if (key == "gate")
    return (result.gateType = parseFloat(value)).has_value() || value == "none";
  if (key == "scale") {
    double scale;
    if (value.getAsDouble(scale))
      return false;
    result.scale = scale;
    return true;
  }
  if (key == "order") {
    result.order = value.str();
    return isPermutation(value, "bnshd");
  }
  if (key == "memory") {
    result.memory = value.str();
    return isPermutation(value, "bnshd") && value.ends_with("d");
  }
  if (key == "share") {
    result.share = value.str();
    return value == "b" || value == "n" || value == "bn";
  }
  if (key == "zero") {
    result.zero = value.str();
    return value.size() == 1 && StringRef("bnsh").contains(value);
  }
  if (key == "static") {
    result.staticSizes = value.str();
    return value == "none" || value == "heads" || value == "all";
  }
  return false;
}

Expected<AttentionCase> mlir::evoformer::parseAttentionCase(StringRef text) {
  AttentionCase result;
  SmallVector<StringRef> entries;
  llvm::SplitString(text, entries);
  for (StringRef entry : entries) {
    auto [key, value] = entry.split('=');
    if (key == "window") {
      if (llvm::Error error = parseWindow(value, result))
        return std::move(error);
      continue;
    }
    if (key == "lens") {
      if (llvm::Error error = parseLens(value, result))
        return std::move(error);
      continue;
    }
    if (key == "ragged") {
      if (llvm::Error error = parseRagged(value, result))
        return std::move(error);
      continue;
    }
    if (key == "weights") {
      if (llvm::Error error = parseWeights(value, result))
        return std::move(error);
      continue;
    }
    if (key == "dropout") {
      if (llvm::Error error = parseDropout(value, result))
        return std::move(error);
      continue;
    }
    if (key == "score") {
      if (llvm::Error error = parseScore(value, result))
        return std::move(error);
      continue;
    }
    if (!parseEntry(key, value, result))
      return createStringError("malformed '" + entry + "' in the case '" +
                               text +
                               "'; evoformer-check --help lists what is "
                               "accepted");
  }
  if (result.groupSize == 0 || result.heads % result.groupSize != 0)
    return createStringError("the case '" + text +
                             "' has a group that does not divide H");
  // What a value holds that a range leaves out counts for some queries of its
  // block, and for others not.
  if (result.nanValues && !result.seen.isWhole())
    return createStringError("the case '" + text +
                             "' has both a window and nan_values");
  // Of which the sign tells nothing.
  if (result.showsWeights && result.logitWeights && result.dropProbability)
    return createStringError("the case '" + text +
                             "' has pass=weights and both weights and dropout");
  // Which the slopes are of.
  if (result.scoreCase && result.scoreCase->kind == reference::ScoreKind::ALiBi)
    result.scoreCase->parameter = static_cast<double>(result.heads);
  if (result.isRagged())
    if (llvm::Error error = checkRagged(result, text))
      return std::move(error);
  if (!result.puts.empty() && !hasPlaces(result))
    return createStringError("the case '" + text +
                             "' puts a number where no input has an element");
  return result;
}

Expected<std::vector<AttentionCase>>
mlir::evoformer::readCases(llvm::ArrayRef<std::string> texts, StringRef file) {
  std::vector<std::string> all = texts.vec();
  if (!file.empty()) {
    auto buffer = readFile(file);
    if (!buffer)
      return buffer.takeError();
    llvm::SmallVector<StringRef> lines;
    (*buffer)->getBuffer().split(lines, '\n');
    for (StringRef line : lines)
      if (!line.trim().empty() && !line.starts_with("#"))
        all.push_back(line.str());
  }
  std::vector<AttentionCase> cases;
  for (const std::string &text : all) {
    Expected<AttentionCase> parsed = parseAttentionCase(text);
    if (!parsed)
      return parsed.takeError();
    cases.push_back(std::move(*parsed));
  }
  return cases;
}
