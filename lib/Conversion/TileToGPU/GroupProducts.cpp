//===- GroupProducts.cpp - Matrix instructions of several subgroups -------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Source: "Parallel Thread Execution ISA", "Asynchronous Warpgroup Level Matrix
// Multiply-Accumulate Instructions": the order of registers ("Register
// Fragments for wgmma.mma_async.m64nNk16"), "Matrix Descriptor Format",
// "wgmma.fence".
//
//===----------------------------------------------------------------------===//

#include "MemoryAccess.h"
#include "Patterns.h"

#include "Evoformer/Dialect/Tile/IR/GroupProduct.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::evoformer::tile;

/// Descriptors count bytes in units of this.
static constexpr int64_t kUnitBits = 4;

namespace {
/// An operand in workgroup memory, as instructions are told of it.
struct Descriptor {
  GroupOperand operand;
  Value start; ///< i64
  int64_t elementBytes;

  /// What is added for so many elements along the contracted dimension.
  int64_t getStep(int64_t depth) const {
    int64_t bytes = operand.alongDepth ? locate(depth * elementBytes)
                                       : depth * operand.rowBytes;
    return bytes >> kUnitBits;
  }
  /// Bytes from the start of a row to `bytes` further along it.
  int64_t locate(int64_t bytes) const {
    return bytes / operand.rowBytes * operand.panelBytes +
           bytes % operand.rowBytes;
  }
};

/// Text and operands of inline assembly.
class Assembly {
public:
  /// Numbers of outputs or inputs that follow each other, in braces.
  static std::string list(int64_t first, int64_t count) {
    SmallVector<std::string> names;
    for (int64_t i = 0; i < count; ++i)
      names.push_back("$" + std::to_string(first + i));
    return "{" + llvm::join(names, ", ") + "}";
  }
  void line(const Twine &text) { body += (text + "\n").str(); }

  /// Keeps its place among others and accesses to memory.
  LLVM::InlineAsmOp create(OpBuilder &b, Location loc, ArrayRef<Type> results,
                           ValueRange operands,
                           SmallVector<std::string> constraints) const {
    constraints.push_back("~{memory}");
    SmallVector<Type> type(results);
    if (results.size() > 1)
      type = {LLVM::LLVMStructType::getLiteral(b.getContext(), results)};
    return LLVM::InlineAsmOp::create(
        b, loc, type, operands, body, llvm::join(constraints, ","),
        /*has_side_effects=*/true,
        /*is_align_stack=*/false, LLVM::TailCallKind::None,
        LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT),
        ArrayAttr());
  }

private:
  std::string body;
};
} // namespace

/// A vector's registers, of 32 bits each.
static SmallVector<Value> split(OpBuilder &b, Location loc, Value vector) {
  constexpr int64_t kWordBits = 32;
  auto type = cast<VectorType>(vector.getType());
  int64_t count =
      type.getNumElements() * type.getElementTypeBitWidth() / kWordBits;
  if (type.getElementTypeBitWidth() != kWordBits)
    vector = vector::BitCastOp::create(
        b, loc, VectorType::get({count}, b.getI32Type()), vector);
  SmallVector<Value> words;
  for (int64_t i = 0; i < count; ++i)
    words.push_back(vector::ExtractOp::create(b, loc, vector, i));
  return words;
}

namespace {
/// Registers that assembly takes and gives back, changed or not, or only takes.
class PassedRegisters {
public:
  PassedRegisters(OpBuilder &builder, Location loc) : b(builder), loc(loc) {}

  void pass(ValueRange vectors) {
    for (Value vector : vectors) {
      SmallVector<Value> words = split(b, loc, vector);
      passed.append(words);
      vectorsOf.push_back({vector.getType(), words.size()});
    }
  }
  void take(ValueRange vectors) {
    for (Value vector : vectors)
      taken.append(split(b, loc, vector));
  }

  /// The vectors passed, as they come out of `text`.
  SmallVector<Value> create(const Assembly &text) const {
    SmallVector<Type> types;
    SmallVector<std::string> constraints, inputs;
    for (auto [i, word] : llvm::enumerate(passed)) {
      types.push_back(word.getType());
      constraints.push_back(word.getType().isF32() ? "=f" : "=r");
      inputs.push_back(std::to_string(i));
    }
    for (Value word : taken)
      inputs.push_back(word.getType().isF32() ? "f" : "r");
    constraints.append(inputs);
    SmallVector<Value> operands(passed);
    operands.append(taken);
    LLVM::InlineAsmOp assembly =
        text.create(b, loc, types, operands, constraints);
    SmallVector<Value> results;
    int64_t at = 0;
    for (auto [type, count] : vectorsOf) {
      SmallVector<Value> words;
      for (size_t i = 0; i < count; ++i)
        words.push_back(types.size() == 1
                            ? assembly.getResult(0)
                            : LLVM::ExtractValueOp::create(
                                  b, loc, assembly.getResult(0), at + i));
      at += count;
      Value vector = vector::FromElementsOp::create(
          b, loc, VectorType::get({(int64_t)count}, words[0].getType()), words);
      results.push_back(vector.getType() == type
                            ? vector
                            : vector::BitCastOp::create(b, loc, type, vector));
    }
    return results;
  }

private:
  OpBuilder &b;
  Location loc;
  SmallVector<Value> passed, taken;
  SmallVector<std::pair<Type, size_t>> vectorsOf;
};

struct GroupMmaPattern : KernelPattern<GroupMmaOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(GroupMmaOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getC().getType());
    auto frag = cast<FragAttr>(type.getEncoding());
    int64_t rank = type.getRank();
    bool swapped = frag.getDims()[0] == rank - 1;
    auto a = cast<ShapedType>(op.getA().getType());
    int64_t subgroups = countSubgroups(frag, frag.getDims()[0]);
    int64_t columns = type.getDimSize(frag.getDims()[1]);
    int64_t depth = a.getDimSize(rank - 1);
    GroupMatrixInstrAttr instr = findGroupInstr(kernel.target, frag.getInstr(),
                                                subgroups, columns, depth);
    if (!instr)
      return op.emitOpError("has no instruction of several subgroups on ")
             << kernel.target.getChip() << " for " << subgroups
             << " subgroups along its rows, " << columns << " columns of depth "
             << depth;
    LaneBuilder lane(rewriter, op.getLoc(), kernel);
    Value rows = swapped ? op.getB() : op.getA();
    int64_t numRows = type.getDimSize(frag.getDims()[0]);
    int64_t rowsOfGroup = instr.getSubgroups() * instr.getEach().getM();
    bool inMemory = isa<MemRefType>(rows.getType());
    if (inMemory && numRows % rowsOfGroup != 0)
      return op.emitOpError("reads rows from workgroup memory, of which ")
             << instr.getSubgroups() << " subgroups have " << rowsOfGroup
             << " or none, but there are " << numRows;
    bool isPartial = inMemory && numRows < subgroups * instr.getEach().getM();
    if (isPartial && op.getAsync())
      return op.emitOpError("is asynchronous, which takes rows for all of ")
             << subgroups << " subgroups, but there are " << numRows;
    ValueRange rowVectors = swapped ? adaptor.getB() : adaptor.getA();
    FailureOr<Descriptor> shared =
        describe(lane, op, swapped ? op.getA() : op.getB(),
                 swapped ? rank - 1 : rank - 2, Value());
    if (failed(shared))
      return failure();
    std::optional<Descriptor> ofRows;
    if (inMemory) {
      // Groups of subgroups have rows one behind the other.
      Value group =
          arith::DivUIOp::create(rewriter, op.getLoc(), kernel.subgroup,
                                 lane.constant(instr.getSubgroups()));
      FailureOr<Descriptor> found = describe(
          lane, op, rows, swapped ? rank - 2 : rank - 1,
          subgroups == instr.getSubgroups() ? Value() : group, rowsOfGroup);
      if (failed(found))
        return failure();
      ofRows = *found;
    }
    bool fromZero = matchPattern(op.getC(), m_PosZeroFloat());
    auto multiply = [&](LaneBuilder &b) {
      return emit(b, instr, columns, depth, *shared, ofRows, rowVectors,
                  adaptor.getC(), fromZero, op.getAsync());
    };
    // Groups of subgroups that have no rows do nothing.
    if (isPartial) {
      Value has = arith::CmpIOp::create(
          rewriter, op.getLoc(), arith::CmpIPredicate::ult, kernel.subgroup,
          lane.constant(numRows / rowsOfGroup * instr.getSubgroups()));
      auto branch = scf::IfOp::create(
          rewriter, op.getLoc(), has,
          [&](OpBuilder &b, Location loc) {
            LaneBuilder inner(b, loc, kernel);
            scf::YieldOp::create(b, loc, multiply(inner));
          },
          [&](OpBuilder &b, Location loc) {
            scf::YieldOp::create(b, loc, adaptor.getC());
          });
      rewriter.replaceOpWithMultiple(
          op, {llvm::to_vector(ValueRange(branch.getResults()))});
      return success();
    }
    rewriter.replaceOpWithMultiple(op, {multiply(lane)});
    return success();
  }

private:
  /// The operand from row `group` * `rows` on; null: from the first.
  FailureOr<Descriptor> describe(LaneBuilder &lane, GroupMmaOp op, Value memref,
                                 int64_t depthDim, Value group,
                                 int64_t rows = 0) const {
    constexpr int64_t kLeadingShift = 16, kStrideShift = 32, kModeShift = 62;
    constexpr int64_t kPatternRows = 8;
    auto type = cast<MemRefType>(memref.getType());
    FailureOr<Memory> memory = resolveMemory(lane, memref);
    std::optional<GroupOperand> operand = matchGroupOperand(type, depthDim);
    if (failed(memory) || !operand)
      return failure();
    OpBuilder &b = lane.builder;
    Location loc = lane.loc;
    Descriptor descriptor{*operand, Value(), memory->elementBytes};
    Value address =
        LLVM::PtrToIntOp::create(b, loc, b.getI32Type(), memory->base);
    if (memory->dynamicBytes)
      address = lane.add(address, memory->dynamicBytes);
    if (memory->constantBytes)
      address = lane.add(address, lane.constant(memory->constantBytes));
    if (group) {
      int64_t bytes = operand->alongDepth
                          ? rows * operand->rowBytes
                          : descriptor.locate(rows * memory->elementBytes);
      address = lane.add(address, lane.mul(group, lane.constant(bytes)));
    }
    int64_t leading =
        operand->alongDepth ? 1 << kUnitBits : operand->panelBytes;
    int64_t mode = operand->rowBytes == 128  ? 1
                   : operand->rowBytes == 64 ? 2
                                             : 3;
    uint64_t facts =
        static_cast<uint64_t>(mode) << kModeShift |
        static_cast<uint64_t>(kPatternRows * operand->rowBytes >> kUnitBits)
            << kStrideShift |
        static_cast<uint64_t>(leading >> kUnitBits) << kLeadingShift;
    address = arith::ShRUIOp::create(b, loc, address, lane.constant(kUnitBits));
    Value wide = arith::ExtUIOp::create(b, loc, b.getI64Type(), address);
    descriptor.start = arith::OrIOp::create(
        b, loc, wide,
        arith::ConstantOp::create(
            b, loc, b.getI64IntegerAttr(static_cast<int64_t>(facts))));
    return descriptor;
  }

  static SmallVector<Value> emit(LaneBuilder &lane, GroupMatrixInstrAttr instr,
                                 int64_t columns, int64_t depth,
                                 const Descriptor &shared,
                                 const std::optional<Descriptor> &ofRows,
                                 ValueRange rowVectors, ValueRange sums,
                                 bool fromZero, bool isAsync) {
    OpBuilder &b = lane.builder;
    Location loc = lane.loc;
    MatrixInstrAttr each = instr.getEach();
    int64_t n = columns / each.getN(), m = sums.size() / n,
            k = depth / each.getK();
    int64_t perAtom = each.getCRegs().size(), perRow = each.getARegs().size();
    int64_t outputs = m * n * perAtom;

    SmallVector<Value> operands;
    SmallVector<std::string> constraints(outputs, "=f");
    auto add = [&](Value value, StringRef constraint) {
      operands.push_back(value);
      constraints.push_back(constraint.str());
      return outputs + static_cast<int64_t>(operands.size()) - 1;
    };
    SmallVector<int64_t> rowNumbers; // of the first register of (k, m)
    if (!ofRows)
      for (Value vector : rowVectors) {
        for (auto [i, word] : llvm::enumerate(split(b, loc, vector))) {
          int64_t number = add(word, "r");
          if (i == 0)
            rowNumbers.push_back(number);
        }
      }
    int64_t sharedNumber = add(shared.start, "l");
    int64_t rowsNumber = ofRows ? add(ofRows->start, "l") : 0;
    // Results come in the order (column, register) of one m after the other.
    if (!fromZero)
      for (int64_t mm = 0; mm < m; ++mm)
        for (int64_t nn = 0; nn < n; ++nn)
          for (int64_t i = 0; i < perAtom; ++i) {
            Value sum = vector::ExtractOp::create(b, loc, sums[mm + m * nn], i);
            int64_t output = (mm * n + nn) * perAtom + i;
            operands.push_back(sum);
            constraints.push_back(std::to_string(output));
          }

    std::string name = instr.getOpcode().str();
    name.replace(name.find("{n}"), 3, std::to_string(columns));
    Assembly text;
    text.line("{");
    text.line(".reg .pred add;");
    text.line(".reg .b64 columns;");
    if (ofRows)
      text.line(".reg .b64 rows;");
    if (!isAsync)
      text.line("wgmma.fence.sync.aligned;");
    text.line(Twine("setp.ne.b32 add, ") + (fromZero ? "0" : "1") + ", 0;");
    for (int64_t kk = 0; kk < k; ++kk) {
      int64_t at = kk * each.getK();
      text.line("add.s64 columns, $" + Twine(sharedNumber) + ", " +
                Twine(shared.getStep(at)) + ";");
      if (ofRows)
        text.line("add.s64 rows, $" + Twine(rowsNumber) + ", " +
                  Twine(ofRows->getStep(at)) + ";");
      for (int64_t mm = 0; mm < m; ++mm) {
        std::string rows =
            ofRows ? "rows" : Assembly::list(rowNumbers[kk + k * mm], perRow);
        std::string transposes = shared.operand.alongDepth ? "0" : "1";
        if (ofRows)
          transposes =
              (ofRows->operand.alongDepth ? "0, " : "1, ") + transposes;
        text.line(name + " " + Assembly::list(mm * n * perAtom, n * perAtom) +
                  ", " + rows + ", columns, add, 1, 1, " + transposes + ";");
      }
      if (fromZero && kk == 0)
        text.line("setp.ne.b32 add, 1, 0;");
    }
    text.line("wgmma.commit_group.sync.aligned;");
    if (!isAsync)
      text.line("wgmma.wait_group.sync.aligned 0;");
    text.line("}");

    LLVM::InlineAsmOp assembly =
        text.create(b, loc, SmallVector<Type>(outputs, b.getF32Type()),
                    operands, constraints);
    SmallVector<Value> results(sums.size());
    for (int64_t mm = 0; mm < m; ++mm)
      for (int64_t nn = 0; nn < n; ++nn) {
        SmallVector<Value> parts;
        for (int64_t i = 0; i < perAtom; ++i)
          parts.push_back(LLVM::ExtractValueOp::create(
              b, loc, assembly.getResult(0), (mm * n + nn) * perAtom + i));
        results[mm + m * nn] = vector::FromElementsOp::create(
            b, loc, sums[mm + m * nn].getType(), parts);
      }
    return results;
  }
};

/// Replaces `op` by its tiles, which pass through `statement`; so do `rows`,
/// which nothing uses afterwards.
static void passThrough(ConversionPatternRewriter &rewriter, Operation *op,
                        ArrayRef<ValueRange> tiles, ArrayRef<ValueRange> rows,
                        const Twine &statement) {
  PassedRegisters registers(rewriter, op->getLoc());
  for (ValueRange tile : tiles)
    registers.pass(tile);
  for (ValueRange tile : rows)
    registers.take(tile);
  Assembly text;
  text.line(statement);
  SmallVector<Value> passed = registers.create(text);
  ArrayRef<Value> vectors = passed;
  SmallVector<SmallVector<Value>> results;
  for (ValueRange tile : tiles) {
    results.emplace_back(vectors.take_front(tile.size()));
    vectors = vectors.drop_front(tile.size());
  }
  rewriter.replaceOpWithMultiple(op, std::move(results));
}

struct GroupFencePattern : KernelPattern<GroupFenceOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(GroupFenceOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    passThrough(rewriter, op, adaptor.getTiles(), {},
                "wgmma.fence.sync.aligned;");
    return success();
  }
};

struct GroupWaitPattern : KernelPattern<GroupWaitOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(GroupWaitOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    passThrough(rewriter, op, adaptor.getProducts(), adaptor.getRows(),
                "wgmma.wait_group.sync.aligned " + Twine(op.getPending()) +
                    ";");
    return success();
  }
};

struct ProxyFencePattern : KernelPattern<ProxyFenceOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(ProxyFenceOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Assembly text;
    text.line("fence.proxy.async.shared::cta;");
    text.create(rewriter, op.getLoc(), {}, {}, {});
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void mlir::evoformer::tile::populateGroupPatterns(
    const TypeConverter &converter, RewritePatternSet &patterns,
    const KernelContext &kernel) {
  patterns.add<GroupMmaPattern, GroupFencePattern, GroupWaitPattern,
               ProxyFencePattern>(converter, patterns.getContext(), kernel);
}
