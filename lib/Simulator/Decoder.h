//===- Decoder.h - Turns an llvm.func into a Program ------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_SIMULATOR_DECODER_H
#define EVOFORMER_LIB_SIMULATOR_DECODER_H

#include "Handlers.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/LLVMContext.h"
#include <optional>

namespace mlir::evoformer::sim {

/// A run of elements of one kind in the register file: `count` arrays over the
/// lanes. A scalar or vector is one part, a struct or array one per member. A
/// buffer resource (address space 8) is base, number of records and flags; a
/// buffer fat pointer (7) is that and a 32-bit offset.
struct Part {
  Kind kind;
  uint32_t count;
  uint32_t offset;
};
using Parts = llvm::SmallVector<Part, 1>;

/// A part of a type in memory.
struct MemoryPart {
  Kind kind;
  uint32_t count;
  uint64_t offset;
};

/// An operand of an intrinsic: a value, or an immediate from an attribute.
struct IntrinsicArg {
  Value value;
  int64_t immediate = 0;
};

struct Target {
  unsigned lanes = 0;
  std::string chip;
  bool isAMD = false;
  /// Matrix operations take subnormal operands of 16 bits for 0.
  bool flushesSubnormals = false;
  /// Whether results are to be checked for being finite.
  bool checksNonFinite = false;
};

/// Whether LLVM has an intrinsic of this name with these types.
bool fitsIntrinsic(llvm::LLVMContext &context, llvm::StringRef name,
                   TypeRange operands, TypeRange results);

/// What one value and all values of a subgroup may take. Far above what a
/// kernel needs; beyond it the host runs out of memory.
constexpr uint64_t maxElements = 1 << 16, maxRegisterBytes = 64 << 20,
                   maxPrivateBytes = 512 << 10, maxLDSBytes = 256 << 10;

class Decoder {
public:
  Decoder(LLVM::LLVMFuncOp function, const Target &target, Program &program);

  /// The error names the operation that cannot be decoded.
  llvm::Error run();

private:
  // DecoderControl.cpp
  llvm::SmallVector<Block *> orderBlocks();
  LogicalResult decodeTerminator(Operation *op);
  FailureOr<uint32_t> makeEdge(Block *target, ValueRange operands);

  // Each returns nothing if the operation is not one of its own.
  std::optional<LogicalResult> decodeArith(Operation *op, StringRef name);
  std::optional<LogicalResult> decodeValueOp(Operation *op);
  std::optional<LogicalResult> decodeMemory(Operation *op);
  std::optional<LogicalResult> decodeNVVM(Operation *op, StringRef name);
  LogicalResult decodeOperation(Operation *op);
  /// That every result has a place, and that places have not run out.
  LogicalResult checkDecoded(Operation *op);
  // NonFinite.cpp
  void checkNonFinite(Operation *op);

  LogicalResult decodeCall(Operation *op, StringRef intrinsic);
  LogicalResult decodeIntrinsic(Operation *op, StringRef name,
                                ArrayRef<IntrinsicArg> args);
  std::optional<LogicalResult> decodeMatrix(Operation *op, StringRef name,
                                            ArrayRef<IntrinsicArg> args);
  std::optional<LogicalResult> decodeSpecial(Operation *op, StringRef name);
  std::optional<LogicalResult> decodeAMD(Operation *op, StringRef name,
                                         ArrayRef<IntrinsicArg> args);
  std::optional<LogicalResult> decodeAMDMemory(Operation *op, StringRef name,
                                               ArrayRef<IntrinsicArg> args);
  std::optional<LogicalResult> decodeNVIDIA(Operation *op, StringRef name,
                                            ArrayRef<IntrinsicArg> args);
  // DecoderAssembly.cpp
  LogicalResult decodeInlineAsm(LLVM::InlineAsmOp op);
  /// Nothing for other ops.
  std::optional<LogicalResult> decodeBoxes(Operation *op, StringRef name);
  LogicalResult decodePTX(LLVM::InlineAsmOp op);
  /// Whether the registers of a product of PTX are handed to it.
  static bool isFenced(LLVM::InlineAsmOp product);
  /// That nothing can tell when a product of PTX is executed, of those moments
  /// that are possible.
  LogicalResult checkAsyncProduct(LLVM::InlineAsmOp product);
  LogicalResult decodeMMA(Operation *op, const struct MatrixShape *shape,
                          ValueRange a, ValueRange b, ValueRange c);

  // DecoderValue.cpp
  LogicalResult decodeConstant(LLVM::ConstantOp op);
  LogicalResult fillConstant(Operation *op, Attribute attribute, Type type,
                             Parts &parts);
  LogicalResult decodeShuffle(LLVM::ShuffleVectorOp op);
  LogicalResult decodeBitcast(Operation *op);

  // DecoderMemory.cpp
  LogicalResult decodeGEP(LLVM::GEPOp op);
  LogicalResult decodeAddressOf(LLVM::AddressOfOp op);
  LogicalResult decodeAlloca(LLVM::AllocaOp op);
  LogicalResult decodeAddrSpaceCast(LLVM::AddrSpaceCastOp op);
  LogicalResult emitAccess(Operation *op, Value pointer, const MemoryPart &part,
                           unsigned alignment, Inst inst,
                           Handler (*buffer)(unsigned),
                           Handler (*plain)(Space, unsigned));
  LogicalResult decodeLoad(Operation *op, Value pointer, Value result,
                           unsigned alignment);
  LogicalResult decodeStore(Operation *op, Value pointer, Value value,
                            unsigned alignment);
  LogicalResult decodeMasked(Operation *op, Value pointer, Value mask,
                             Value value, Value passThrough);
  LogicalResult decodeAtomic(LLVM::AtomicRMWOp op);
  FailureOr<Space> spaceOf(Operation *op, Value pointer);
  std::optional<Part> guardOf(Value result);
  unsigned alignmentOf(Type type, std::optional<uint64_t> attribute);

  // Shared helpers.
  LogicalResult flatten(Operation *op, Type type,
                        llvm::SmallVectorImpl<MemoryPart> &parts,
                        uint64_t offset = 0);
  /// The same of a type that is loaded or stored.
  LogicalResult flattenForMemory(Operation *op, Type type,
                                 llvm::SmallVectorImpl<MemoryPart> &parts);
  FailureOr<Kind> kindOf(Operation *op, Type type);
  /// Refuses types that have no size in memory, or more than `limit` elements.
  LogicalResult requireSize(Operation *op, Type type,
                            uint64_t limit = uint64_t(1) << 40);
  uint32_t allocate(Kind kind, uint32_t count);
  FailureOr<Parts> allocate(Operation *op, Type type);
  /// Allocates and binds a result; the single part is returned.
  FailureOr<Part> defineScalar(Value result);
  const Parts &get(Value value) { return values[value]; }
  Part single(Value value) { return values[value].front(); }
  Inst &emit(Handler handler);
  LogicalResult emitChecked(Operation *op, Handler handler, Inst inst);
  Part constantI32(int32_t value);
  /// A part with the same elements in another width.
  Part toWords(Part part);
  void fromWords(Part words, Part to);
  Part resizeInt(Part part, Kind kind, bool isSigned);
  std::optional<int64_t> constantOf(const IntrinsicArg &arg);
  LogicalResult unsupported(Operation *op, const Twine &why = "");

  uint32_t elements(const Part &part) const {
    return part.count * program.lanes;
  }
  uint32_t bytesOf(Kind kind) const { return sizeOf(kind) * program.lanes; }
  void countArithmetic(const Part &part);

  LLVM::LLVMFuncOp function;
  const Target &target;
  Program &program;
  DataLayout layout;
  /// Of the types that LLVM is asked about.
  llvm::LLVMContext llvmContext;
  llvm::DenseMap<Value, Parts> values;
  llvm::DenseMap<std::pair<Attribute, Type>, Parts> constants;
  llvm::DenseMap<mlir::Block *, uint32_t> blockIndex;
  llvm::StringMap<uint32_t> ldsOffsets;
  std::string error;
  uint32_t site = 0;
  BlockCounts *counts = nullptr;
  uint64_t nextRegister = 0;
  bool allocatingConstants = false;
  std::vector<std::pair<uint32_t, std::vector<uint8_t>>> constantBytes;
};

} // namespace mlir::evoformer::sim

#endif // EVOFORMER_LIB_SIMULATOR_DECODER_H
