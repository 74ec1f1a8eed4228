//===- PassPointers.cpp - Kernels that take pointers and numbers ----------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Works on lowered kernels, whose arguments are expanded descriptors: what a
// launch passes says which of them are one memref.
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Conversion/TileToGPU/Passes.h"

#include "Evoformer/Conversion/GPUToLLVM/GPUToLLVM.h"
#include "Evoformer/Conversion/GPUToLLVM/PointersAttr.h"
#include "Evoformer/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::evoformer::tile {
#define GEN_PASS_DEF_PASSPOINTERS
#include "Evoformer/Conversion/TileToGPU/Passes.h.inc"
} // namespace mlir::evoformer::tile

using namespace mlir;
using namespace mlir::evoformer::tile;

namespace {

/// One argument of a lowered kernel, and what each launch has for it.
struct Field {
  BlockArgument argument;
  /// Null for what a pointer takes the place of.
  SmallVector<Value> values;
  /// The number that all launches pass, if they do.
  std::optional<int64_t> constant;
};

/// A kernel with all launches of it.
struct LaunchedKernel {
  LLVM::LLVMFuncOp function;
  SmallVector<LaunchOp> launches;
};

} // namespace

static FailureOr<SmallVector<LaunchedKernel>> findKernels(ModuleOp module) {
  SymbolTableCollection symbols;
  llvm::MapVector<StringAttr, LaunchedKernel> kernels;
  WalkResult walked = module.walk([&](LaunchOp launch) -> WalkResult {
    if (launch->hasAttr(evoformer::kPointersAttrName))
      return WalkResult::advance();
    LaunchedKernel &kernel = kernels[launch.getKernelAttr().getAttr()];
    for (auto gpuModule : module.getOps<gpu::GPUModuleOp>())
      if (!kernel.function)
        kernel.function = symbols.lookupNearestSymbolFrom<LLVM::LLVMFuncOp>(
            gpuModule, launch.getKernelAttr().getAttr());
    if (!kernel.function)
      return launch.emitOpError("'")
             << launch.getKernel()
             << "' is not in the LLVM dialect of a GPU; run "
                "convert-gpu-lanes-to-llvm first";
    kernel.launches.push_back(launch);
    return WalkResult::advance();
  });
  if (walked.wasInterrupted())
    return failure();
  SmallVector<LaunchedKernel> result;
  for (auto &[name, kernel] : kernels)
    result.push_back(kernel);
  return result;
}

/// What a launch says of one memref besides its pointer: offset, sizes and
/// strides, of whatever view.
static SmallVector<Value> describe(OpBuilder &builder, Location loc,
                                   Value memory) {
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, loc, memory);
  auto type = cast<MemRefType>(memory.getType());
  int64_t offset = 0;
  SmallVector<int64_t> strides;
  [[maybe_unused]] LogicalResult strided =
      type.getStridesAndOffset(strides, offset);
  assert(succeeded(strided) && "kernels take strided memory");
  SmallVector<int64_t> known = {offset};
  llvm::append_range(known, type.getShape());
  llvm::append_range(known, strides);
  SmallVector<Value> values = {metadata.getOffset()};
  llvm::append_range(values, metadata.getSizes());
  llvm::append_range(values, metadata.getStrides());
  for (auto [value, number] : llvm::zip_equal(values, known))
    if (!ShapedType::isDynamic(number))
      value = arith::ConstantIndexOp::create(builder, loc, number);
  return values;
}

/// Whether all launches pass one number, which the kernel then knows.
static std::optional<int64_t> findConstant(ArrayRef<Value> values) {
  std::optional<int64_t> first = getConstantIntValue(values.front());
  bool equal = llvm::all_of(
      values, [&](Value one) { return getConstantIntValue(one) == first; });
  return equal ? first : std::nullopt;
}

namespace {

/// Gives one kernel and its launches the other signature.
class SignatureWriter {
public:
  explicit SignatureWriter(LaunchedKernel &kernel)
      : kernel(kernel), numLaunches(kernel.launches.size()) {}

  LogicalResult write() {
    if (failed(collect()))
      return failure();
    rewriteKernel();
    rewriteLaunches();
    return success();
  }

private:
  LogicalResult collect();
  LogicalResult collectScalar(Type type, unsigned index);
  void collectMemory(unsigned index);
  Field &addNumber(SmallVector<Value> values);
  void rewriteKernel();
  void rewriteLaunches();
  /// The value of a launch as the i32 that the kernel takes.
  Value narrow(OpBuilder &builder, LaunchOp launch, Value value);
  /// The other way, in the kernel.
  static Value widen(OpBuilder &builder, Location loc, Value number, Type type);

  LaunchedKernel &kernel;
  size_t numLaunches, next = 0;
  /// What each pointer takes the place of: allocated and aligned.
  SmallVector<std::array<BlockArgument, 2>> pointers;
  SmallVector<SmallVector<Value>> addresses;
  SmallVector<Field> numbers;
};

} // namespace

Field &SignatureWriter::addNumber(SmallVector<Value> values) {
  Field field;
  field.argument = kernel.function.getArgument(next++);
  field.constant = findConstant(values);
  field.values = std::move(values);
  numbers.push_back(std::move(field));
  return numbers.back();
}

void SignatureWriter::collectMemory(unsigned index) {
  pointers.push_back({kernel.function.getArgument(next),
                      kernel.function.getArgument(next + 1)});
  next += 2;
  SmallVector<Value> starts;
  SmallVector<SmallVector<Value>> descriptions;
  for (LaunchOp launch : kernel.launches) {
    OpBuilder builder(launch);
    Value memory = launch.getArgs()[index];
    // What was forgotten of a view is the caller's, and may be a number.
    while (auto cast = memory.getDefiningOp<memref::CastOp>()) {
      if (!isa<MemRefType>(cast.getSource().getType()))
        break;
      memory = cast.getSource();
    }
    starts.push_back(memref::ExtractAlignedPointerAsIndexOp::create(
        builder, launch.getLoc(), memory));
    descriptions.push_back(describe(builder, launch.getLoc(), memory));
  }
  addresses.push_back(std::move(starts));
  for (size_t field = 0; field < descriptions.front().size(); ++field) {
    SmallVector<Value> values;
    for (const SmallVector<Value> &description : descriptions)
      values.push_back(description[field]);
    addNumber(std::move(values));
  }
}

LogicalResult SignatureWriter::collectScalar(Type type, unsigned index) {
  if (!type.isIndex() &&
      !(type.isIntOrFloat() && type.getIntOrFloatBitWidth() <= 32))
    return kernel.launches.front().emitOpError("passes argument #")
           << index << " of type " << type
           << "; with abi=pointers a kernel takes memrefs, index and scalars "
              "of up to 32 bits";
  SmallVector<Value> values;
  for (LaunchOp launch : kernel.launches)
    values.push_back(launch.getArgs()[index]);
  addNumber(std::move(values));
  return success();
}

LogicalResult SignatureWriter::collect() {
  LaunchOp first = kernel.launches.front();
  if (kernel.function->hasAttr(evoformer::kTensorMapsAttrName))
    return first.emitOpError("'")
           << first.getKernel()
           << "' takes tensor maps, which are made of memref descriptors; "
              "leave out evo-tile-copy-boxes";
  for (LaunchOp launch : kernel.launches)
    if (launch.getArgs().getTypes() != first.getArgs().getTypes() ||
        launch.getSpace().size() != first.getSpace().size())
      return launch.emitOpError("passes other types to '")
             << launch.getKernel() << "' than another launch";
  size_t expected = first.getSpace().size();
  for (Type type : first.getArgs().getTypes()) {
    auto memory = dyn_cast<MemRefType>(type);
    expected += memory ? 3 + 2 * memory.getRank() : 1;
  }
  if (expected != kernel.function.getNumArguments())
    return first.emitOpError("passes ")
           << expected << " arguments to '" << first.getKernel()
           << "', which takes " << kernel.function.getNumArguments();
  for (auto [index, type] : llvm::enumerate(first.getArgs().getTypes())) {
    if (isa<MemRefType>(type))
      collectMemory(index);
    else if (failed(collectScalar(type, index)))
      return failure();
  }
  for (size_t extent = 0; extent < first.getSpace().size(); ++extent) {
    SmallVector<Value> values;
    for (LaunchOp launch : kernel.launches)
      values.push_back(launch.getSpace()[extent]);
    addNumber(std::move(values));
  }
  return success();
}

Value SignatureWriter::widen(OpBuilder &builder, Location loc, Value number,
                             Type type) {
  if (type == number.getType())
    return number;
  unsigned width = type.getIntOrFloatBitWidth();
  if (width > 32)
    return LLVM::ZExtOp::create(builder, loc, type, number);
  Value bits = number;
  if (width < 32)
    bits = LLVM::TruncOp::create(builder, loc, builder.getIntegerType(width),
                                 number);
  return type.isInteger()
             ? bits
             : LLVM::BitcastOp::create(builder, loc, type, bits).getResult();
}

void SignatureWriter::rewriteKernel() {
  LLVM::LLVMFuncOp function = kernel.function;
  Block &entry = function.getBody().front();
  Location loc = function.getLoc();
  OpBuilder builder = OpBuilder::atBlockBegin(&entry);
  SmallVector<Type> types;
  for (auto [allocated, aligned] : pointers) {
    Value pointer = entry.addArgument(aligned.getType(), loc);
    types.push_back(aligned.getType());
    allocated.replaceAllUsesWith(pointer);
    aligned.replaceAllUsesWith(pointer);
  }
  for (Field &field : numbers) {
    // Unused, it is no argument either.
    if (field.argument.use_empty())
      field.constant = 0;
    Type type = field.argument.getType();
    if (field.constant && type.isInteger()) {
      field.argument.replaceAllUsesWith(
          LLVM::ConstantOp::create(builder, loc, type, *field.constant));
      continue;
    }
    field.constant = std::nullopt;
    Value number = entry.addArgument(builder.getI32Type(), loc);
    types.push_back(builder.getI32Type());
    field.argument.replaceAllUsesWith(widen(builder, loc, number, type));
  }
  entry.eraseArguments(0, next);
  function.setArgAttrsAttr(nullptr);
  function.setFunctionType(LLVM::LLVMFunctionType::get(
      function.getFunctionType().getReturnType(), types));
}

Value SignatureWriter::narrow(OpBuilder &builder, LaunchOp launch,
                              Value value) {
  Location loc = launch.getLoc();
  Type i32 = builder.getI32Type(), type = value.getType();
  if (type.isIndex()) {
    Value most = arith::ConstantIndexOp::create(
        builder, loc, std::numeric_limits<int32_t>::max());
    Value fits = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ule,
                                       value, most);
    cf::AssertOp::create(builder, loc, fits,
                         "kernel '" + launch.getKernel().str() +
                             "' takes sizes, strides and offsets as i32: one "
                             "is negative or more than 2147483647");
    return arith::IndexCastOp::create(builder, loc, i32, value);
  }
  if (!type.isInteger())
    value = arith::BitcastOp::create(
        builder, loc, builder.getIntegerType(type.getIntOrFloatBitWidth()),
        value);
  if (type.getIntOrFloatBitWidth() < 32)
    value = arith::ExtUIOp::create(builder, loc, i32, value);
  return value;
}

void SignatureWriter::rewriteLaunches() {
  for (size_t i = 0; i < numLaunches; ++i) {
    LaunchOp launch = kernel.launches[i];
    OpBuilder builder(launch);
    SmallVector<Value> arguments;
    for (const SmallVector<Value> &starts : addresses)
      arguments.push_back(starts[i]);
    for (const Field &field : numbers)
      if (!field.constant)
        arguments.push_back(narrow(builder, launch, field.values[i]));
    launch.getArgsMutable().assign(arguments);
    launch->setAttr(evoformer::kPointersAttrName, builder.getUnitAttr());
  }
}

namespace {
struct PassPointers
    : mlir::evoformer::tile::impl::PassPointersBase<PassPointers> {
protected:
  void runOnOperation() override {
    FailureOr<SmallVector<LaunchedKernel>> kernels =
        findKernels(getOperation());
    if (failed(kernels))
      return signalPassFailure();
    for (LaunchedKernel &kernel : *kernels)
      if (failed(SignatureWriter(kernel).write()))
        return signalPassFailure();
  }
};
} // namespace
