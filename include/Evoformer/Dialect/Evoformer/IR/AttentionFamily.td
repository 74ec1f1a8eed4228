//===- AttentionFamily.td - What attention ops share -------*- tablegen -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The base classes of attention, its weights, its gradient and the steps of
// that.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_DIALECT_EVOFORMER_IR_ATTENTIONFAMILY_TD
#define EVOFORMER_DIALECT_EVOFORMER_IR_ATTENTIONFAMILY_TD

include "mlir/IR/OpAsmInterface.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "Evoformer/Dialect/Evoformer/IR/AttentionInterfaces.td"
include "Evoformer/Dialect/Evoformer/IR/EvoformerAttrs.td"

def Evoformer_Shaped : AnyTypeOf<[AnyRankedTensor, AnyStridedMemRef],
                                 "ranked tensor or strided memref">;

def Evoformer_Orders
    : TypedArrayAttrBase<Evoformer_DimOrderAttr, "array of dimension orders">;

def Evoformer_SequenceOrder
    : DefaultValuedAttr<Evoformer_DimOrderAttr, "\"bnshd\"">;

def Evoformer_BiasOrders
    : DefaultValuedAttr<Evoformer_Orders, "{}">;

def Evoformer_GroupSize : DefaultValuedAttr<I64Attr, "1">;

/// A bound of the keys that a query sees, see KeyRange.h.
def Evoformer_KeyBound : OptionalAttr<AffineMapAttr>;

/// The probability with which weights are dropped.
def Evoformer_DropoutP : OptionalAttr<F32Attr>;

/// How weights are made of logits; none: softmax.
def Evoformer_Weights : OptionalAttr<Evoformer_WeightsAttr>;

/// What the score of a pair becomes before biases are added, see Score.h: none
/// or one.
def Evoformer_ScoreRegion : VariadicRegion<MaxSizedRegion<1>>;

/// An op of the family: what it declares follows from its table of groups.
class Evoformer_FamilyOp<string mnemonic, list<Trait> traits = []>
    : Op<Evoformer_Dialect, mnemonic, [
        AttrSizedOperandSegments,
        IsolatedFromAbove,
        DestinationStyleOpInterface,
        ConditionallySpeculatable,
        DeclareOpInterfaceMethods<Evoformer_AttentionFamilyInterface>,
        DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
                                  ["reifyResultShapes"]>,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
        DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>
      ] # traits> {
  code familyClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return ::mlir::evoformer::family::getInits(getOperation());
    }
    ::mlir::Speculation::Speculatability getSpeculatability() {
      return ::mlir::evoformer::family::getSpeculatability(getOperation());
    }

    /// Work and traffic for given sizes, all of them static; and for the op's
    /// own sizes if these are static.
    ::mlir::evoformer::AttentionCost
    getCost(::mlir::evoformer::AttentionSizes sizes);
    ::std::optional<::mlir::evoformer::AttentionCost> getCost() {
      AttentionSizes sizes = getSizes();
      if (!sizes.isStatic())
        return ::std::nullopt;
      return getCost(sizes);
    }
  }];
  code familyClassDefinition = [{
    void $cppClass::getEffects(
        ::llvm::SmallVectorImpl<::mlir::SideEffects::EffectInstance<
            ::mlir::MemoryEffects::Effect>> &effects) {
      ::mlir::evoformer::family::getEffects(getOperation(), effects);
    }
    ::llvm::LogicalResult $cppClass::reifyResultShapes(
        ::mlir::OpBuilder &builder,
        ::mlir::ReifiedRankedShapedTypeDims &reifiedReturnShapes) {
      return ::mlir::evoformer::family::reifyResultShapes(
          getOperation(), builder, reifiedReturnShapes);
    }
    void $cppClass::getAsmResultNames(
        ::mlir::OpAsmSetValueNameFn setNameFn) {
      ::mlir::evoformer::family::setResultNames(
          getOperation(), getGroups(), getProperties().operandSegmentSizes,
          setNameFn);
    }
    ::llvm::LogicalResult $cppClass::fold(
        FoldAdaptor, ::llvm::SmallVectorImpl<::mlir::OpFoldResult> &) {
      return ::mlir::memref::foldMemRefCast(getOperation());
    }
  }];
  let extraClassDefinition = familyClassDefinition;
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasFolder = 1;
}

/// A family op with one attribute for all orders.
class Evoformer_OperandOrdersOp<string mnemonic, list<Trait> traits = []>
    : Evoformer_FamilyOp<mnemonic, traits> {
  let extraClassDefinition = familyClassDefinition # [{
    ::mlir::evoformer::DimOrderAttr
    $cppClass::getOperandOrder(::mlir::OpOperand &operand) {
      return ::mlir::evoformer::family::getOrder(
          getOperation(), getOperandOrders(), operand);
    }
    void $cppClass::setOperandOrder(::mlir::OpOperand &operand,
                                    ::mlir::evoformer::DimOrderAttr order) {
      setOperandOrdersAttr(::mlir::evoformer::family::withOrder(
          getOperation(), getOperandOrders(), operand, order));
    }
  }];
  let extraClassDeclaration = familyClassDeclaration;
}

#endif // EVOFORMER_DIALECT_EVOFORMER_IR_ATTENTIONFAMILY_TD
