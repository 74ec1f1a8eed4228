//===- EvoformerAttrs.td - Attributes of the dialect -------*- tablegen -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Dimension orders, and how weights are made of logits.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_DIALECT_EVOFORMER_IR_EVOFORMERATTRS_TD
#define EVOFORMER_DIALECT_EVOFORMER_IR_EVOFORMERATTRS_TD

include "mlir/IR/AttrTypeBase.td"
include "Evoformer/Dialect/Evoformer/IR/EvoformerDialect.td"

def Evoformer_DimOrderAttr : AttrDef<Evoformer_Dialect, "DimOrder"> {
  let mnemonic = "order";
  let summary = "The order of an operand's dimensions";
  let description = [{
    One letter for each dimension of an operand, outermost first.

    A sequence order is a permutation of `bnshd`: batch, row, position in the
    sequence, head, depth (channel of a head). A bias order is a permutation of
    `bnhqk`: batch, row, head, query position, key position.

    ```mlir
    #evoformer.order<bnhsd>   // a head-major query
    #evoformer.order<bnhkq>   // a bias stored transposed
    ```
  }];
  let parameters = (ins StringRefParameter<"letters, outermost first">:$letters);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let constBuilderCall =
      "::mlir::evoformer::DimOrderAttr::get($_builder.getContext(), $0)";
  let extraClassDeclaration = [{
    /// The letters of the default orders.
    static constexpr ::llvm::StringLiteral kSequence = "bnshd";
    static constexpr ::llvm::StringLiteral kBias = "bnhqk";

    static DimOrderAttr getSequence(::mlir::MLIRContext *context) {
      return get(context, kSequence);
    }
    static DimOrderAttr getBias(::mlir::MLIRContext *context) {
      return get(context, kBias);
    }

    /// Whether `letters` is a permutation of `canonical`.
    static bool isPermutationOf(::llvm::StringRef letters,
                                ::llvm::StringRef canonical);

    /// Whether this orders the dimensions of a query, key, value, gate or
    /// output; otherwise it orders those of a bias.
    bool isSequenceOrder();

    /// The default order of the same letters.
    ::llvm::StringRef getCanonicalLetters() {
      return isSequenceOrder() ? kSequence : kBias;
    }

    /// Whether this is `bnshd` or `bnhqk`.
    bool isIdentity() { return getLetters() == getCanonicalLetters(); }

    /// The operand's dimension that `letter` names.
    int64_t getPosition(char letter) {
      return static_cast<int64_t>(getLetters().find(letter));
    }

    /// positions[c] is the operand's dimension that holds canonical dimension
    /// c. As the permutation of a `memref.transpose` (result dimension c is
    /// source dimension positions[c]) it makes the canonical view.
    ::llvm::SmallVector<int64_t, 5> getPositions();

    /// The inverse: dimension p of the operand is canonical dimension
    /// getPermutation()[p].
    ::llvm::SmallVector<int64_t, 5> getPermutation();

    /// The order of `source` if an operand with this order is
    /// `transpose(source)` where dimension p of the operand is dimension
    /// permutation[p] of the source.
    DimOrderAttr foldTranspose(::llvm::ArrayRef<int64_t> permutation);
  }];
}

def Evoformer_WeightsAttr : AttrDef<Evoformer_Dialect, "Weights"> {
  let mnemonic = "weights";
  let summary = "Weights that are logits themselves";
  let description = [{
    How the weights of a row are made of its logits, where that is not softmax:
    `linear` takes them as they are, `retention<min = M>` divides them by the sum
    of their absolute values, or by M where that is more.

    ```mlir
    #evoformer.weights<linear>
    #evoformer.weights<retention<min = 1.0>>
    ```
  }];
  let parameters = (ins
    OptionalParameter<"::mlir::FloatAttr",
                      "what a row is divided by at least; none: linear">:$least);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Whether rows are divided by the sum of their absolute values.
    bool isNormalized() { return getLeast() != nullptr; }

    /// `softmax`, which gives null, `linear`, or `retention<min = M>`.
    static ::mlir::ParseResult parseKind(::mlir::AsmParser &parser,
                                         WeightsAttr &weights);
    void printKind(::mlir::AsmPrinter &printer);
  }];
}

#endif // EVOFORMER_DIALECT_EVOFORMER_IR_EVOFORMERATTRS_TD
