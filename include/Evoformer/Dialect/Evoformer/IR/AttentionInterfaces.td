//===- AttentionInterfaces.td - What attentions share ------*- tablegen -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The interface of attention, its gradient and the steps of that, and the one
// by which automatic differentiation asks for the gradient.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_DIALECT_EVOFORMER_IR_ATTENTIONINTERFACES_TD
#define EVOFORMER_DIALECT_EVOFORMER_IR_ATTENTIONINTERFACES_TD

include "mlir/Interfaces/DestinationStyleOpInterface.td"

def Evoformer_AttentionFamilyInterface
    : OpInterface<"AttentionFamilyOpInterface", [DestinationStyleOpInterface]> {
  let cppNamespace = "::mlir::evoformer";
  let description = [{
    Ops whose operands are those of an attention and of its gradient, in groups
    with a role each. Verification, sizes, bufferization, runtime checks,
    effects and the textual form follow from the table of groups.
  }];
  let methods = [
    StaticInterfaceMethod<"The operand groups in their order, inputs first.",
      "::llvm::ArrayRef<::mlir::evoformer::AttentionGroup>", "getGroups">,
    InterfaceMethod<"First operand and number of operands of a group.",
      "::std::pair<unsigned, unsigned>", "getGroupRange",
      (ins "unsigned":$group), "",
      [{ return $_op.getODSOperandIndexAndLength(group); }]>,
    InterfaceMethod<"The order of an operand, null where it has none.",
      "::mlir::evoformer::DimOrderAttr", "getOperandOrder",
      (ins "::mlir::OpOperand &":$operand)>,
    InterfaceMethod<"Sets the order of an operand that has one.",
      "void", "setOperandOrder",
      (ins "::mlir::OpOperand &":$operand,
           "::mlir::evoformer::DimOrderAttr":$order)>
  ];
  let extraSharedClassDeclaration = [{
    /// Which operand this is; the number counts those of its group.
    ::std::pair<::mlir::evoformer::AttentionOperand, unsigned>
    getOperandRole(::mlir::OpOperand &operand) {
      return ::mlir::evoformer::family::getOperandRole($_op, operand);
    }

    /// The operands with this role, none where the op has no such group.
    ::llvm::MutableArrayRef<::mlir::OpOperand>
    getRoleOperands(::mlir::evoformer::AttentionOperand role) {
      return ::mlir::evoformer::family::getRoleOperands($_op, role);
    }

    /// The letters of an operand's dimensions: its order, `bnhq` for
    /// statistics, `2bnhq` for stats, `bn` for lengths, `e` for what says where
    /// sequences start, none for numbers.
    ::llvm::StringRef getOperandLetters(::mlir::OpOperand &operand) {
      return ::mlir::evoformer::family::getOperandLetters($_op, operand);
    }

    /// The size of the dimension that an operand's order calls `letter`.
    ::mlir::evoformer::AttentionSize
    getOperandSize(::mlir::OpOperand &operand, char letter) {
      return ::mlir::evoformer::family::getOperandSize($_op, operand, letter);
    }

    /// How many heads of queries share one of keys and values, H / Hk.
    int64_t getGroupSizeOrOne() {
      return ::mlir::evoformer::family::getGroupSize($_op);
    }

    /// Whether sequences lie one behind the other: b, which is 1 in memory, is
    /// their number in all else.
    bool isRagged() {
      return ::mlir::evoformer::family::isRagged($_op);
    }

    /// The sizes [b, n, h, q] of statistics, read by ops that `builder` inserts.
    ::llvm::SmallVector<::mlir::OpFoldResult>
    getStatisticSizes(::mlir::OpBuilder &builder, ::mlir::Location loc) {
      return ::mlir::evoformer::family::getStatisticSizes($_op, builder, loc);
    }

    /// What makes logits of scores, see Score.h; null: they are these.
    ::mlir::Block *getScoreBody() {
      return ::mlir::evoformer::family::getScoreBody($_op);
    }

    /// Which keys a query sees, as far as it is not all of them.
    ::mlir::evoformer::KeyRange getKeyRange() {
      return ::mlir::evoformer::family::getKeyRange($_op);
    }

    /// The same without bounds that all keys keep to, as sizes tell. Where rows
    /// have lengths, bounds are of these, which nobody knows.
    ::mlir::evoformer::KeyRange getNarrowKeyRange() {
      return ::mlir::evoformer::family::getNarrowKeyRange($_op);
    }

    /// Whether dimension `dim` of an operand broadcasts (a static 1 of a bias,
    /// of its gradient or of lengths).
    bool isBroadcast(::mlir::OpOperand &operand, int64_t dim) {
      return ::mlir::evoformer::family::isBroadcast($_op, operand, dim);
    }

    /// How diagnostics call an operand: 'query', 'bias #1', ...
    ::std::string getOperandName(::mlir::OpOperand &operand) {
      return ::mlir::evoformer::family::getOperandName($_op, operand);
    }

    /// Sizes: what any operand's type tells, ShapedType::kDynamic elsewhere.
    ::mlir::evoformer::AttentionSizes getSizes() {
      return ::mlir::evoformer::family::getSizes($_op);
    }

    /// The same with dynamic sizes read (tensor.dim, memref.dim) by ops that
    /// `builder` inserts; null for a size that no operand has.
    ::mlir::evoformer::AttentionMixedSizes
    getMixedSizes(::mlir::OpBuilder &builder, ::mlir::Location loc) {
      return ::mlir::evoformer::family::getMixedSizes($_op, builder, loc);
    }

    /// For each of b, n, h, q, k (in this order, whatever the bias's own):
    /// whether bias `index` broadcasts there, that is, has a static size 1.
    ::std::array<bool, 5> getBiasBroadcast(unsigned index) {
      return ::mlir::evoformer::family::getBiasBroadcast($_op, index);
    }

    /// Whether bias `index` takes part in the query-independent sum c_j.
    bool isQueryIndependent(unsigned index) {
      return getBiasBroadcast(index)[3];
    }

    /// For each of b, n, h, q, k: whether the gradient of bias `index` is a sum
    /// over it. That is where it broadcasts, unless the size is known to be 1.
    ::std::array<bool, 5> getSummedDims(unsigned index) {
      return ::mlir::evoformer::family::getSummedDims($_op, index);
    }

    /// Whether the gradient of bias `index` is that of the logits, of which
    /// nothing is summed.
    bool isLogitGradient(unsigned index) {
      return ::mlir::evoformer::family::isLogitGradient($_op, index);
    }

    /// Whether `index`, of a gradient, is that of a capture, which are counted
    /// behind the biases.
    bool isCapture(unsigned index) {
      return ::mlir::evoformer::family::isCapture($_op, index);
    }

    /// Whether bias `index` is a mask of i1.
    bool isMask(unsigned index) {
      return ::mlir::evoformer::family::isMask($_op, index);
    }

    /// The element type of query, key and value; null where there is no query.
    ::mlir::Type getInputElementType() {
      return ::mlir::evoformer::family::getInputElementType($_op);
    }

    /// The scale to use: `scale`, or D^(-1/2) rounded to f32.
    float getScaleValue() {
      return ::mlir::evoformer::family::getScaleValue($_op);
    }
  }];
}

def Evoformer_DifferentiableInterface
    : OpInterface<"DifferentiableAttentionOpInterface"> {
  let cppNamespace = "::mlir::evoformer";
  let description = [{
    Reverse-mode differentiation of an attention on tensors: another compiler
    asks for the gradients with respect to some operands and gets one op that
    computes them.
  }];
  let methods = [
    InterfaceMethod<[{
      Makes sure that the op has the statistics that its gradient needs: the op
      itself, or one that replaces it.
    }], "::mlir::FailureOr<::mlir::Operation *>", "ensureStatistics",
      (ins "::mlir::RewriterBase &":$rewriter)>,
    InterfaceMethod<[{
      Builds the gradients of the sum over all elements of output *
      `outputGradient` with respect to the operands of these numbers, in their
      order and in the operands' types and dimension orders. Inserts at
      `builder`; nothing is inserted and a diagnostic emitted where an operand
      has no gradient (i1, destinations) or the op has no statistics or is on
      memrefs.
    }], "::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>",
      "buildGradients",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Value":$outputGradient,
           "::llvm::ArrayRef<unsigned>":$operands)>
  ];
}

def Evoformer_DifferentiableScalarInterface
    : OpInterface<"DifferentiableScalarOpInterface"> {
  let cppNamespace = "::mlir::evoformer";
  let description = [{
    Reverse-mode differentiation of an op on numbers, as a score region has it:
    arith and math have external models.
  }];
  let methods = [
    InterfaceMethod<[{
      For each operand its gradient, where that of the op's result is `gradient`;
      null where there is none, as of integers. Inserts at `builder`, where the
      op's operands and its result are known.
    }], "::llvm::SmallVector<::mlir::Value>", "buildAdjoint",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Value":$gradient)>
  ];
}

#endif // EVOFORMER_DIALECT_EVOFORMER_IR_ATTENTIONINTERFACES_TD
