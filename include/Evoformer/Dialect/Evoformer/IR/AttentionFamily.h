//===- AttentionFamily.h - What attention ops share -------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The table of operand groups from which the ops of the family get what they
// share, see AttentionFamilyOpInterface.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_DIALECT_EVOFORMER_IR_ATTENTIONFAMILY_H
#define EVOFORMER_DIALECT_EVOFORMER_IR_ATTENTIONFAMILY_H

#include "Evoformer/Dialect/Evoformer/IR/AttentionSizes.h"
#include "Evoformer/Support/KeyRange.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::evoformer {

/// How many operands a group may have.
enum class GroupArity { One, Optional, Any };

/// A group of operands with one role.
struct AttentionGroup {
  AttentionOperand role;
  /// How diagnostics call it, and how the textual form does.
  StringLiteral name, clause;
  GroupArity arity;
  /// The name of its results; empty for an input.
  StringLiteral result;

  bool isInit() const { return !result.empty(); }
};

/// What all ops that make logits have.
inline constexpr AttentionGroup kQuery = {AttentionOperand::Query, "query",
                                          "query", GroupArity::One, ""};
inline constexpr AttentionGroup kKey = {AttentionOperand::Key, "key", "key",
                                        GroupArity::One, ""};
inline constexpr AttentionGroup kBias = {AttentionOperand::Bias, "bias", "bias",
                                         GroupArity::Any, ""};
inline constexpr AttentionGroup kKeyLengths = {AttentionOperand::KeyLengths,
                                               "key_lengths", "keys",
                                               GroupArity::Optional, ""};
inline constexpr AttentionGroup kQueryLengths = {AttentionOperand::QueryLengths,
                                                 "query_lengths", "queries",
                                                 GroupArity::Optional, ""};

/// The statistics as an input.
inline constexpr AttentionGroup kStats = {AttentionOperand::Stats, "stats",
                                          "stats", GroupArity::One, ""};

/// The clause `ragged(queries %i : type, keys %j : type, most %p, %q)`, whose
/// parts are groups of their own.
inline constexpr AttentionGroup kQueryStarts = {AttentionOperand::QueryStarts,
                                                "ragged queries", "queries",
                                                GroupArity::Optional, ""};
inline constexpr AttentionGroup kKeyStarts = {AttentionOperand::KeyStarts,
                                              "ragged keys", "keys",
                                              GroupArity::Optional, ""};
inline constexpr AttentionGroup kMostQueries = {AttentionOperand::MostQueries,
                                                "most queries", "most",
                                                GroupArity::Optional, ""};
inline constexpr AttentionGroup kMostKeys = {
    AttentionOperand::MostKeys, "most keys", "", GroupArity::Optional, ""};

/// What a score reads, with the dimensions of a bias.
inline constexpr AttentionGroup kCaptures = {
    AttentionOperand::Capture, "capture", "capture", GroupArity::Any, ""};

/// The clause `dropout(p, %state : type)`.
inline constexpr AttentionGroup kDropout = {
    AttentionOperand::Dropout, "dropout", "dropout", GroupArity::Optional, ""};

/// The operands of the clause `keys(from #map[%a, %b], to #map[%c])`.
inline constexpr AttentionGroup kKeysFrom = {AttentionOperand::KeysFrom,
                                             "operand of keys(from)", "",
                                             GroupArity::Any, ""};
inline constexpr AttentionGroup kKeysTo = {
    AttentionOperand::KeysTo, "operand of keys(to)", "", GroupArity::Any, ""};

/// Whether the role's dimensions are those of a query, of a bias, which may
/// broadcast, of pairs (a bias or weights), of statistics (b, n, h, q), or of
/// lengths (b, n); whether it says where sequences start (e), or is a number,
/// the most of a sequence or of a bound; whether it is the state of random
/// numbers (2).
bool isSequence(AttentionOperand role);
bool isBias(AttentionOperand role);
bool isOfPairs(AttentionOperand role);
bool isStatistic(AttentionOperand role);
bool isLengths(AttentionOperand role);
bool isStarts(AttentionOperand role);
bool isNumber(AttentionOperand role);
bool isMost(AttentionOperand role);
bool isOfBound(AttentionOperand role);
inline bool isRandomState(AttentionOperand role) {
  return role == AttentionOperand::Dropout;
}

/// Whether operands with the role have their dimensions in an order of choice.
inline bool hasOrder(AttentionOperand role) {
  return isSequence(role) || isOfPairs(role);
}

namespace family {

// Of AttentionFamilyOpInterface, see there.
std::pair<AttentionOperand, unsigned> getOperandRole(Operation *op,
                                                     OpOperand &operand);
MutableArrayRef<OpOperand> getRoleOperands(Operation *op,
                                           AttentionOperand role);
StringRef getOperandLetters(Operation *op, OpOperand &operand);
AttentionSize getOperandSize(Operation *op, OpOperand &operand, char letter);
bool isBroadcast(Operation *op, OpOperand &operand, int64_t dim);
std::string getOperandName(Operation *op, OpOperand &operand);
AttentionSizes getSizes(Operation *op);
AttentionMixedSizes getMixedSizes(Operation *op, OpBuilder &builder,
                                  Location loc);
std::array<bool, 5> getBiasBroadcast(Operation *op, unsigned index);
std::array<bool, 5> getSummedDims(Operation *op, unsigned index);
bool isLogitGradient(Operation *op, unsigned index);
bool isMask(Operation *op, unsigned index);
bool isCapture(Operation *op, unsigned index);
Type getInputElementType(Operation *op);
int64_t getGroupSize(Operation *op);
/// Whether all b, and all n, of queries share the only one of keys and values:
/// a static 1 there, but not of queries.
std::array<bool, 2> getSharedKeyDims(Operation *op);
bool isRagged(Operation *op);
SmallVector<OpFoldResult> getStatisticSizes(Operation *op, OpBuilder &builder,
                                            Location loc);
/// The names of the attributes of bounds; that of the one whose operands have a
/// role.
inline constexpr StringLiteral kKeysFromName("keys_from");
inline constexpr StringLiteral kKeysToName("keys_to");
inline StringRef getBoundName(AttentionOperand role) {
  return role == AttentionOperand::KeysFrom ? kKeysFromName : kKeysToName;
}
KeyRange getKeyRange(Operation *op);
/// The name of the attribute of a probability.
inline constexpr StringLiteral kDropoutName("dropout_p");
/// The name of the attribute that says how weights are made; its value, null:
/// by softmax.
inline constexpr StringLiteral kWeightsName("weights");
WeightsAttr getWeights(Operation *op);
/// Of 2^16 draws those whose weight is dropped; 0 without dropout.
int64_t getDropoutThreshold(Operation *op);
KeyRange getNarrowKeyRange(Operation *op);
/// Patterns that fold operands of bounds and drop bounds which every key keeps
/// to, and lengths that none exceeds.
void addKeyRangePatterns(RewritePatternSet &patterns, StringRef op);
void addLengthsPatterns(RewritePatternSet &patterns, StringRef op);
/// Patterns that remove dropout which drops nothing.
void addDropoutPatterns(RewritePatternSet &patterns, StringRef op);
float getScaleValue(Operation *op);
/// How many entries a capture has that is a table; 0: it is none.
int64_t getTableEntries(Operation *op, unsigned capture);
/// Whether an operand is a table, or the gradient of one.
bool isTable(Operation *op, OpOperand &operand);
Block *getScoreBody(Operation *op);

// Of other interfaces, for all ops of the family.
MutableOperandRange getInits(Operation *op);
Speculation::Speculatability getSpeculatability(Operation *op);
void getEffects(
    Operation *op,
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects);
LogicalResult
reifyResultShapes(Operation *op, OpBuilder &builder,
                  ReifiedRankedShapedTypeDims &reifiedReturnShapes);
/// By segment sizes alone: also ops that did not verify have names.
void setResultNames(Operation *op, ArrayRef<AttentionGroup> groups,
                    ArrayRef<int32_t> segments, OpAsmSetValueNameFn setNameFn);

/// Every rule that follows from the groups.
LogicalResult verifySegments(Operation *op, ArrayRef<AttentionGroup> groups,
                             ArrayRef<int32_t> segments);
LogicalResult verifyFamily(Operation *op);

/// What parsing the clauses found besides operands and types.
struct ParsedClauses {
  SmallVector<int32_t> segments;
  /// Null where there is none.
  SmallVector<DimOrderAttr> orders;
  /// The biases that the gradients of biases name.
  SmallVector<int64_t> biasGradients;
  /// Null without dropout.
  FloatAttr dropout;
};
ParseResult parseClauses(OpAsmParser &parser, OperationState &state,
                         ArrayRef<AttentionGroup> groups,
                         ParsedClauses &clauses);
ParseResult parseScale(OpAsmParser &parser, FloatAttr &scale);
ParseResult parseGroupSize(OpAsmParser &parser, IntegerAttr &groupSize);
/// `keys(from #map[%a], to #map[%b, %c])`, either of the two alone, or nothing.
/// Operands go to their groups among those of the clauses.
ParseResult parseKeyRange(OpAsmParser &parser, OperationState &state,
                          ArrayRef<AttentionGroup> groups,
                          ParsedClauses &clauses, AffineMapAttr &from,
                          AffineMapAttr &to);
/// `weights(linear)`, `weights(retention<min = 1.0>)`, or nothing.
ParseResult parseWeights(OpAsmParser &parser, WeightsAttr &weights);
/// `score(%x: f32, ...) {...}`, or nothing.
ParseResult parseScore(OpAsmParser &parser, OperationState &state);
void printScore(OpAsmPrinter &printer, Operation *op);
void printClauses(OpAsmPrinter &printer, Operation *op,
                  ArrayRef<int64_t> biasGradients = {});
void printScale(OpAsmPrinter &printer, FloatAttr scale);
void printGroupSize(OpAsmPrinter &printer, uint64_t groupSize);
void printKeyRange(OpAsmPrinter &printer, Operation *op);
void printWeights(OpAsmPrinter &printer, WeightsAttr weights);

// `operand_orders`: empty, or an order for every operand that has one.
DimOrderAttr getOrder(Operation *op, ArrayAttr orders, OpOperand &operand);
ArrayAttr withOrder(Operation *op, ArrayAttr orders, OpOperand &operand,
                    DimOrderAttr order);
LogicalResult verifyNumOrders(Operation *op, ArrayAttr orders);
/// Empty where all are the default ones.
ArrayAttr makeOrders(MLIRContext *context, ArrayRef<DimOrderAttr> orders);

} // namespace family
} // namespace mlir::evoformer

#endif // EVOFORMER_DIALECT_EVOFORMER_IR_ATTENTIONFAMILY_H
