//===- TileToCPU.cpp - Kernels over tiles as functions --------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Dialect/Tile/IR/Levels.h"
#include "Evoformer/Dialect/Tile/IR/Limits.h"
#include "Lowering.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::evoformer {
#define GEN_PASS_DEF_CONVERTTILETOCPUPASS
#include "Evoformer/Conversion/TileToCPU/Passes.h.inc"
} // namespace mlir::evoformer

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

/// The type without layout or workgroup address space; a flag for a token.
static Type plainType(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type); tensor)
    return tensor.dropEncoding();
  if (auto memref = dyn_cast<MemRefType>(type);
      memref && isWorkgroupMemory(memref))
    return MemRefType::get(memref.getShape(), memref.getElementType(),
                           memref.getLayout());
  if (isa<TokenType>(type))
    return IntegerType::get(type.getContext(), 1);
  return type;
}

LogicalResult tile_to_cpu::dropLayouts(Operation *root) {
  SmallVector<memref::MemorySpaceCastOp> casts;
  WalkResult walk = root->walk([&](Operation *op) {
    if (auto constant = dyn_cast<arith::ConstantOp>(op);
        constant && constant.getType() != plainType(constant.getType())) {
      auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
      if (!dense)
        return WalkResult(op->emitOpError(
            "a constant tile must be a dense elements attribute"));
      constant.setValueAttr(
          dense.reshape(cast<ShapedType>(plainType(constant.getType()))));
    }
    if (auto cast = dyn_cast<memref::MemorySpaceCastOp>(op))
      casts.push_back(cast);
    for (OpResult result : op->getResults())
      result.setType(plainType(result.getType()));
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          argument.setType(plainType(argument.getType()));
    return WalkResult::advance();
  });
  for (memref::MemorySpaceCastOp cast : casts)
    if (cast.getSource().getType() == cast.getType()) {
      cast.replaceAllUsesWith(cast.getSource());
      cast.erase();
    }
  return failure(walk.wasInterrupted());
}

/// The coordinates of a linear work item, the last extent fastest.
static SmallVector<Value> delinearize(OpBuilder &b, Location loc, Value linear,
                                      ValueRange extents) {
  SmallVector<Value> ids(extents.size());
  for (int64_t d = extents.size() - 1; d > 0; --d) {
    ids[d] = arith::RemUIOp::create(b, loc, linear, extents[d]);
    linear = arith::DivUIOp::create(b, loc, linear, extents[d]);
  }
  if (!ids.empty())
    ids[0] = linear;
  return ids;
}

/// True for elements that the processor computes on or that become such.
static bool isSupportedElement(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return integer.getWidth() <= 64;
  return isa<Float16Type, BFloat16Type, Float32Type, Float64Type, IndexType>(
      type);
}

/// Every tile that the kernel makes has a form on the CPU.
static LogicalResult checkTiles(KernelOp kernel) {
  WalkResult walk = kernel.walk([&](Operation *op) {
    for (Value value : op->getResults()) {
      auto tensor = dyn_cast<TensorType>(value.getType());
      if (!tensor)
        continue;
      if (!isSupportedElement(tensor.getElementType()))
        return WalkResult(
            op->emitOpError("makes a tile of ")
            << tensor.getElementType()
            << "; the CPU has integers of up to 64 bits, f16, bf16, f32, f64");
    }
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

static FailureOr<func::FuncOp> convertKernel(KernelOp kernel,
                                             int64_t numExtents) {
  if (failed(checkTiles(kernel)))
    return failure();
  if (llvm::any_of(kernel.getArgumentTypes(), llvm::IsaPred<TensorMapType>))
    return kernel.emitOpError("takes tensor maps, which the CPU has no use "
                              "for; leave out evo-tile-copy-boxes");

  IRRewriter rewriter(kernel);
  Location loc = kernel.getLoc();
  Type indexType = rewriter.getIndexType();
  SmallVector<Type> inputs(kernel.getArgumentTypes());
  inputs.append(numExtents + 2, indexType);
  auto function = func::FuncOp::create(rewriter, loc, kernel.getSymName(),
                                       rewriter.getFunctionType(inputs, {}));
  function->setAttr(tile_to_cpu::kKernelAttr, rewriter.getUnitAttr());
  Block *entry = function.addEntryBlock();
  rewriter.setInsertionPointToStart(entry);
  size_t numArguments = kernel.getArgumentTypes().size();
  ValueRange arguments = entry->getArguments();
  Value begin = arguments[numArguments + numExtents];
  Value end = arguments[numArguments + numExtents + 1];
  Value one = arith::ConstantIndexOp::create(rewriter, loc, 1);
  auto loop = scf::ForOp::create(rewriter, loc, begin, end, one);
  func::ReturnOp::create(rewriter, loc);

  rewriter.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> ids =
      delinearize(rewriter, loc, loop.getInductionVar(),
                  arguments.slice(numArguments, numExtents));
  Operation *ret = kernel.getBody().front().getTerminator();
  rewriter.inlineBlockBefore(&kernel.getBody().front(),
                             loop.getBody()->getTerminator(),
                             arguments.take_front(numArguments));
  rewriter.eraseOp(ret);
  rewriter.eraseOp(kernel);

  if (failed(tile_to_cpu::dropLayouts(function)))
    return failure();
  SmallVector<Operation *> ops, constants;
  loop.getBody()->walk([&](Operation *op) {
    bool isSplat = isa<arith::ConstantOp, tensor::SplatOp>(op);
    (isSplat ? constants : ops).push_back(op);
  });
  for (Operation *op : ops) {
    if (auto id = dyn_cast<WorkItemIdOp>(op)) {
      rewriter.replaceOp(id, ids[id.getDimension()]);
      continue;
    }
    if (failed(tile_to_cpu::lowerMemoryOp(rewriter, op)))
      return failure();
  }
  ops.clear();
  loop.getBody()->walk([&](Operation *op) {
    if (!isa<arith::ConstantOp, tensor::SplatOp>(op))
      ops.push_back(op);
  });
  // Constants last: elementwise users take them as scalars.
  ops.append(constants);
  for (Operation *op : ops) {
    if (isOpTriviallyDead(op))
      rewriter.eraseOp(op);
    else if (failed(tile_to_cpu::lowerComputeOp(rewriter, op)))
      return failure();
  }
  WalkResult left = function.walk([](Operation *op) {
    if (isa_and_nonnull<TileDialect>(op->getDialect()))
      return WalkResult(op->emitOpError("has no lowering to the CPU"));
    return WalkResult::advance();
  });
  if (left.wasInterrupted())
    return failure();
  return function;
}

static void convertLaunch(LaunchOp launch, func::FuncOp function) {
  IRRewriter rewriter(launch);
  Location loc = launch.getLoc();
  SmallVector<Value> operands(launch.getArgs());
  // A kernel may take a memref of i1 as bytes. Both become one descriptor type,
  // so that the cast does not outlive the conversion to LLVM.
  for (auto [operand, type] : llvm::zip(operands, function.getArgumentTypes()))
    if (operand.getType() != type)
      operand = UnrealizedConversionCastOp::create(rewriter, loc, type, operand)
                    .getResult(0);
  Value count = arith::ConstantIndexOp::create(rewriter, loc, 1);
  for (Value extent : launch.getSpace()) {
    operands.push_back(extent);
    count = arith::MulIOp::create(rewriter, loc, count, extent);
  }
  operands.push_back(arith::ConstantIndexOp::create(rewriter, loc, 0));
  operands.push_back(count);
  rewriter.replaceOpWithNewOp<func::CallOp>(launch, function, operands);
}

/// Writes out the modes that this machine has no instruction for. What a
/// program cuts off it may have made up for: it stays cut off.
static LogicalResult expandRounding(arith::TruncFOp op) {
  if (failed(checkRounding(op)))
    return failure();
  using arith::RoundingMode;
  RoundingMode mode =
      op.getRoundingmode().value_or(RoundingMode::to_nearest_even);
  bool hasNaN =
      !bitEnumContainsAll(op.getFastmath().value_or(arith::FastMathFlags::none),
                          arith::FastMathFlags::nnan);
  op.removeRoundingmodeAttr();
  op.setFastmath(arith::FastMathFlags::none);
  if (mode == RoundingMode::to_nearest_even)
    return success();
  // The upper half of the bits.
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto typeOf = [&](Type element) -> Type {
    auto tile = dyn_cast<ShapedType>(op.getType());
    return tile ? tile.clone(element) : element;
  };
  Type words = typeOf(b.getI32Type());
  Value exact = arith::BitcastOp::create(b, words, op.getIn());
  auto number = [&](int32_t value) -> Value {
    TypedAttr attr = b.getI32IntegerAttr(value);
    if (auto tile = dyn_cast<ShapedType>(words))
      attr = DenseElementsAttr::get(tile, attr);
    return arith::ConstantOp::create(b, attr);
  };
  Value bits = exact;
  if (mode == RoundingMode::to_nearest_away)
    bits = arith::AddIOp::create(b, bits, number(0x8000));
  // A NaN with its payload in the lower half would become an infinity.
  if (hasNaN) {
    Value isNaN = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO,
                                        op.getIn(), op.getIn());
    Value quiet = arith::OrIOp::create(b, exact, number(0x400000));
    bits = arith::SelectOp::create(b, isNaN, quiet, bits);
  }
  Value upper = arith::TruncIOp::create(
      b, typeOf(b.getI16Type()), arith::ShRUIOp::create(b, bits, number(16)));
  op.replaceAllUsesWith(
      arith::BitcastOp::create(b, op.getType(), upper).getResult());
  op.erase();
  return success();
}

/// Cuts off what a product does not read of its operands.
static void expandReads(MmaOp op) {
  if (!op.getReads())
    return;
  ImplicitLocOpBuilder b(op.getLoc(), op);
  for (OpOperand *use : {&op.getAMutable(), &op.getBMutable()}) {
    auto type = cast<ShapedType>(use->get().getType());
    ShapedType words = type.clone(b.getI32Type());
    Value upper = arith::ConstantOp::create(
        b, DenseElementsAttr::get(words, b.getI32IntegerAttr(-0x2000)));
    Value bits = arith::BitcastOp::create(b, words, use->get());
    bits = arith::AndIOp::create(b, bits, upper);
    use->set(arith::BitcastOp::create(b, type, bits));
  }
  op.removeReadsAttr();
}

/// Replaces what says only when, not what.
static void passOn(Operation *op, ValueRange given) {
  op->replaceAllUsesWith(given);
  op->erase();
}

/// Loads what a product reads where it lies.
static void expandGroupMma(GroupMmaOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto load = [&](Value operand) -> Value {
    auto memory = dyn_cast<MemRefType>(operand.getType());
    if (!memory)
      return operand;
    SmallVector<Value> origin(memory.getRank(),
                              arith::ConstantIndexOp::create(b, 0));
    return LoadOp::create(
        b, RankedTensorType::get(memory.getShape(), memory.getElementType()),
        operand, origin,
        b.getDenseBoolArrayAttr(SmallVector<bool>(memory.getRank(), true)),
        TypedAttr(), IntegerAttr());
  };
  Value a = load(op.getA());
  Value product =
      MmaOp::create(b, op.getType(), a, load(op.getB()), op.getC(), TypeAttr());
  op.replaceAllUsesWith(product);
  op.erase();
}

namespace {
class ConvertTileToCPU
    : public evoformer::impl::ConvertTileToCPUPassBase<ConvertTileToCPU> {
protected:
  void runOnOperation() override {
    llvm::MapVector<StringAttr, SmallVector<LaunchOp>> launches;
    SmallVector<KernelOp> kernels;
    getOperation().walk([&](Operation *op) {
      if (auto kernel = dyn_cast<KernelOp>(op))
        kernels.push_back(kernel);
      else if (auto launch = dyn_cast<LaunchOp>(op))
        launches[launch.getKernelAttr().getAttr()].push_back(launch);
      else if (auto mma = dyn_cast<MmaOp>(op))
        expandReads(mma);
      else if (auto group = dyn_cast<GroupMmaOp>(op))
        expandGroupMma(group);
      else if (auto fence = dyn_cast<GroupFenceOp>(op))
        passOn(fence, fence.getTiles());
      else if (auto wait = dyn_cast<GroupWaitOp>(op))
        passOn(wait, wait.getProducts());
    });
    for (KernelOp kernel : kernels)
      if (kernel
              .walk([](arith::TruncFOp op) -> WalkResult {
                return expandRounding(op);
              })
              .wasInterrupted())
        return signalPassFailure();
    for (KernelOp kernel : kernels) {
      SmallVector<LaunchOp> &uses = launches[kernel.getSymNameAttr()];
      FailureOr<int64_t> numExtents = countExtents(kernel, uses);
      if (failed(numExtents))
        return signalPassFailure();
      FailureOr<func::FuncOp> function = convertKernel(kernel, *numExtents);
      if (failed(function))
        return signalPassFailure();
      for (LaunchOp launch : uses)
        convertLaunch(launch, *function);
    }
  }
};
} // namespace
