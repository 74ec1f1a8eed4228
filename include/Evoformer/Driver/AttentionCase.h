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

/// An attention problem as a line of text, `key=value` separated by spaces:
///
///     B N H Sq Sk D Dv   sizes (Dv: as D)
///     group              heads of queries that share one of keys and values;
///                        divides H
///     share              b, n or bn: where keys and values have one for all
///     window             FROM:TO, the bounds of the keys that query i sees,
///                        each a sum of i or i/c*c, sq, sk and numbers or
///                        empty: window=i+sk-sq-8:i+sk-sq+1. A number behind
///                        an @, of 64 bits, is one that the program is given
///                        when it runs: window=i-@8:i+@-1
///     lens               KEYS[:QUERIES][/b|/n], how long rows are: each
///                        random, half, full, none or numbers, '5.0.99', that
///                        rows have in turn; with /b for each b alone, with /n
///                        for each n alone. What lies behind them is NaN
///     ragged             QUERIES:KEYS, the B sequences lie one behind the
///                        other, each with at most Sq queries and Sk keys:
///                        random, or where they start and the last one ends,
///                        and behind a / how many there are:
///                        ragged=0.7.7.20/25:random. What is of no sequence is
///                        NaN, and must not be written
///     type, out, gate    bf16, f16, f32; gate may be none
///     bias               dims:type:values[:memory], any number of times
///     score              NAME:NUMBER, what makes logits of scaled scores:
///     softcap,
///                        fastcap, alibi, temperature, swish, distance,
///                        buckets, slopes, matrix, keywise, querywise, table or
///                        leaky,
///                        see Evoformer/Reference/Score.h; alibi, slopes and
///                        matrix have no number. Captures are normal numbers
///     dropout            P[:SEED], the probability with which weights are
///                        dropped, and a number of which seed and offset are
///                        made; default: the case's
///     weights            linear, or retention:MIN; default: softmax. Without
///                        lse and biases of numbers
///     lse, stats         0 or 1
///     scale              a number; default D^-1/2
///     order              dimension order of q, k, v, gate, out in the IR
///     memory             their dimensions outermost first in memory
///     pad, offset        unused elements per row; before the first
///     zero               a letter: stride 0 of k and v there
///     static             none, heads, all: sizes known when compiling
///     nan                1: keys that a mask drops hold NaN
///     nan_values         1: so do their values
///     first              1: the first element of queries, values and gate is
///                        NaN where the result shows it in one row or column
///                        only: loads outside of a tile fall back to it
///     put                operand:number:index, any number of times: the
///                        number (nan, inf and -inf too) in one element of an
///                        input;
///                        operands as the modules name them (out_grad, bias0),
///                        indices in the default order, '0.0.3.0.1'
///     large              1: every third query is 2^122 times as large, beyond
///                        f16
///     pass               forward, or backward: every gradient as well
///     grads              bf16, f16, f32: type of gradients; default: operands'
///     seed               of the numbers
///     sample             check this many rows n only; 0: all
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
/// keys, the state of dropout, output, lse, stats; then, of the backward pass,
/// the output's gradient and the gradients of query, key, value, float biases
/// and gate.
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
/// `backward-` before it.
llvm::Expected<std::vector<AttentionCase>> makeCover(llvm::StringRef size);

} // namespace mlir::evoformer

#endif // EVOFORMER_DRIVER_ATTENTIONCASE_H
