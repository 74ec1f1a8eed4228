//===- AttentionCase.h - An attention to check ------------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_DRIVER_ATTENTIONCASE_H
#define EVOFORMER_DRIVER_ATTENTIONCASE_H

#include "Evoformer/Driver/HostArray.h"
#include "Evoformer/Reference/Attention.h"
#include "Evoformer/Support/KeyRange.h"
#include <functional>

namespace mlir::evoformer {

/// What a bias holds.
enum class BiasValues {
  Normal,    // normal numbers; of i1: true with probability 0.8
  AllFalse,  // i1: false throughout; floats: -inf
  AllTrue,   // i1: true throughout; floats: 0
  Sparse,    // i1: one key in sixteen is kept
  Large,     // 0, or -1e4 for three keys in ten
  Huge,      // 0, or -1e9 for three keys in ten
  AllHuge,   // -1e9 throughout
  Lowest,    // 0, or the type's lowest finite number for three keys in ten
  Infinite,  // normal numbers, -inf for three keys in ten
  Columns,   // the same, but of every third key for all queries
  AllLowest, // the type's lowest finite number throughout
  Mixed,     // normal numbers, and about as many of -1e4 (not for inputs of
             // f32), -1e9, the lowest and -inf
  Rows,    // normal numbers, plus one of these for every other query, or every
           // other row n where the bias has no queries
  NaN,     // normal numbers, and NaN at the first key of every sixteenth query
  Growing, // normal numbers, plus the number of the key
};

struct BiasCase {
  /// The letters of bnhqk whose dimensions are full; the others broadcast.
  std::string dims;
  runtime::ElementType type = runtime::ElementType::F32;
  BiasValues values = BiasValues::Normal;
  /// Dimensions outermost first in memory; empty: bnhqk.
  std::string memory;
};

/// How many keys, or queries, rows have.
struct LengthsCase {
  /// In turn, row by row; none of these: Random, Half or Full.
  std::vector<int64_t> list;
  enum { Random, Half, Full } values = Random;
};

/// Where sequences start that lie one behind the other.
struct RaggedCase {
  /// Of all, and the end of the last one; none: random ones.
  std::vector<int64_t> starts;
  /// How many queries, or keys, there are.
  std::optional<int64_t> all;
};

/// A number in one element of an operand.
struct PutNumber {
  std::string operand;
  double number = 0;
  std::vector<int64_t> index;
};

/// What a case may hold, word by word: a table for people.
extern const char kCaseWords[];

/// An attention problem as a line of text, `key=value` separated by spaces, as
/// kCaseWords has them.
struct AttentionCase {
  int64_t batch = 1, rows = 1, heads = 1, queries = 16, keys = 16, depth = 32;
  int64_t groupSize = 1;
  /// Letters of bn.
  std::string share;
  bool shares(char letter) const {
    return llvm::StringRef(share).contains(letter);
  }
  /// The word `window`, and what it says.
  std::string window;
  KeyRange seen;
  /// The operands of its bounds.
  std::vector<int64_t> fromOperands, toOperands;
  /// With constants in the place of operands.
  KeyRange getKnownRange() const;
  /// The word `lens`, and what it says: lengths, and dimensions that they have.
  std::string lens;
  std::optional<LengthsCase> keyLengths, queryLengths;
  bool lengthsOfBatch = true, lengthsOfRows = true;
  /// The word `ragged`, and what it says.
  std::string ragged;
  std::optional<RaggedCase> raggedQueries, raggedKeys;
  /// The word `score`, and what it says.
  std::string score;
  std::optional<reference::Score> scoreCase;
  /// The word `weights`, and what it says.
  std::string weights;
  std::optional<reference::LogitWeights> logitWeights;
  /// The word `dropout`, and what it says.
  std::string dropout;
  std::optional<double> dropProbability;
  std::optional<uint64_t> dropSeed;
  /// 0: as depth.
  int64_t valueDepth = 0;
  runtime::ElementType type = runtime::ElementType::F32;
  std::optional<runtime::ElementType> outputType, gateType;
  std::vector<BiasCase> biases;
  std::vector<PutNumber> puts;
  bool lse = false, stats = false, nanFirst = false, largeScores = false;
  /// NaN in keys that biases drop for all queries; `nanSome`: in some that they
  /// drop for at least one query; `nanValues`: in the values of the former.
  bool nanKeys = false, nanSome = false, nanValues = false;
  bool backward = false;
  /// The weights as well.
  bool showsWeights = false;
  std::optional<runtime::ElementType> gradientType;
  std::optional<double> scale;
  std::string order = "bnshd", memory, zero, staticSizes = "none";
  int64_t pad = 0, offset = 0, sample = 0;
  uint64_t seed = 1;

  int64_t getValueDepth() const { return valueDepth ? valueDepth : depth; }
  int64_t getKeyHeads() const { return heads / groupSize; }
  runtime::ElementType getOutputType() const {
    return outputType.value_or(type);
  }
  bool isRagged() const { return raggedQueries.has_value(); }
  /// Whether a dimension's size is known when compiling.
  bool isStatic(char letter) const {
    return letter == 'd' || staticSizes == "all" ||
           (letter == 'h' && staticSizes == "heads");
  }
  /// Whether a dimension (of bnhqk) of the bias has a static size of 1.
  bool broadcasts(const BiasCase &bias, char letter) const;
  std::string str() const;
};

llvm::Expected<AttentionCase> parseAttentionCase(llvm::StringRef text);
/// Cases of texts, then of a file with one a line, where lines that start with
/// `#` are comments; empty: no file.
llvm::Expected<std::vector<AttentionCase>>
readCases(llvm::ArrayRef<std::string> texts, llvm::StringRef file);

/// One operand of the attention.
struct CaseOperand {
  std::string name;
  /// The clause in which the ops name it; empty: the name.
  std::string clause;
  ArrayLayout layout; // in the default order of dimensions
  /// The op's dimensions in terms of the default ones.
  llvm::SmallVector<unsigned> order;
  /// Its memref type.
  std::string type;
  bool isOutput = false;
  /// Of the backward pass only.
  bool isBackward = false;
};

/// The operands in the order of the function's arguments: query, key, value,
/// biases, gate, lengths of keys and queries, starts of ragged queries and
/// keys, the state of dropout, output, lse, stats; then the weights, or of the
/// backward pass the output's gradient and the gradients of query, key, value,
/// float biases and gate.
std::vector<CaseOperand> getOperands(const AttentionCase &problem);

/// Numbers that the function takes behind the operands, by name.
std::vector<std::pair<std::string, int64_t>>
getNumbers(const AttentionCase &problem);

/// Whether an output's element is written: between ragged sequences none is.
std::function<bool(llvm::ArrayRef<int64_t>)>
findWritten(const AttentionCase &problem, llvm::StringRef operand);

/// How many keys (queries) the row has by the operand of lengths among
/// `arrays`, which are those of `getOperands`.
int64_t countKeys(const AttentionCase &problem,
                  llvm::ArrayRef<HostArray> arrays, int64_t b, int64_t n);
int64_t countQueries(const AttentionCase &problem,
                     llvm::ArrayRef<HostArray> arrays, int64_t b, int64_t n);

/// Seed and offset of a case with dropout.
std::pair<uint64_t, uint64_t> getDropoutState(const AttentionCase &problem);

/// A module with a function `attention` over them.
std::string makeModule(const AttentionCase &problem);

/// Fills the inputs with the case's numbers.
void fillInputs(const AttentionCase &problem, std::vector<HostArray> &arrays);

/// Cases that hold every pair of values of any two properties, with a fixed
/// seed: `small` (some forty), `quick` or `full`; of the backward pass with
/// `backward-` before it, of weights with `weights-`.
llvm::Expected<std::vector<AttentionCase>> makeCover(llvm::StringRef size);

} // namespace mlir::evoformer

#endif // EVOFORMER_DRIVER_ATTENTIONCASE_H
