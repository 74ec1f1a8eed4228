//===- AMDShuffles.cpp - Lane exchange in registers -----------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sources: "AMD Instinct MI300 Instruction Set Architecture", section "Data
// Parallel Primitives" (DPP_CTRL); "RDNA3 Instruction Set Architecture",
// sections "DPP16" (row_xmask) and V_PERMLANEX16_B32.
//
//===----------------------------------------------------------------------===//

#include "AMDShuffles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::evoformer;

/// DPP_CTRL that makes lane l read lane l xor `mask`, within rows of 16.
static std::optional<uint32_t> getControl(uint64_t mask,
                                          amdgpu::Chipset chipset) {
  if (mask == 0 || mask > 15)
    return std::nullopt;
  if (chipset.majorVersion >= 10)
    return 0x160 | mask; // row_xmask
  switch (mask) {
  case 1:
    return 0xb1; // quad_perm:[1,0,3,2]
  case 2:
    return 0x4e; // quad_perm:[2,3,0,1]
  case 3:
    return 0x1b; // quad_perm:[3,2,1,0]
  case 7:
    return 0x141; // row_half_mirror
  case 8:
    return 0x128; // row_ror:8
  case 15:
    return 0x140; // row_mirror
  default:
    return std::nullopt;
  }
}

namespace {
struct ShuffleXor : OpRewritePattern<gpu::ShuffleOp> {
  ShuffleXor(MLIRContext *context, tile::TargetAttr target,
             amdgpu::Chipset chipset)
      : OpRewritePattern(context, /*benefit=*/2), target(target),
        chipset(chipset) {}

  LogicalResult matchAndRewrite(gpu::ShuffleOp op,
                                PatternRewriter &rewriter) const override {
    APInt mask, width;
    Type type = op.getValue().getType();
    if (op.getMode() != gpu::ShuffleMode::XOR ||
        !matchPattern(op.getOffset(), m_ConstantInt(&mask)) ||
        !matchPattern(op.getWidth(), m_ConstantInt(&width)) ||
        width.getZExtValue() != uint64_t(target.getSubgroupSize()) ||
        (!type.isF32() && !type.isInteger(32)))
      return failure();

    Location loc = op.getLoc();
    Value result, value = op.getValue();
    if (auto control = getControl(mask.getZExtValue(), chipset)) {
      // Every lane has a partner: the old value and bounds are irrelevant.
      result = ROCDL::DPPUpdateOp::create(rewriter, loc, type, value, value,
                                          *control, /*rowMask=*/0xf,
                                          /*bankMask=*/0xf, /*boundCtrl=*/true);
    } else if (mask == 16 && target.hasPermlaneX16()) {
      // Lane l of each row reads lane l of the other row.
      auto select = [&](uint32_t lanes) {
        return arith::ConstantIntOp::create(rewriter, loc,
                                            int64_t(int32_t(lanes)), 32);
      };
      result = ROCDL::PermlaneX16Op::create(
          rewriter, loc, type, value, value, select(0x76543210),
          select(0xfedcba98), /*fi=*/true, /*boundControl=*/false);
    } else {
      return failure();
    }
    Value valid = arith::ConstantIntOp::create(rewriter, loc, 1, 1);
    rewriter.replaceOp(op, {result, valid});
    return success();
  }

  tile::TargetAttr target;
  amdgpu::Chipset chipset;
};
} // namespace

void mlir::evoformer::populateAMDShufflePatterns(RewritePatternSet &patterns,
                                                 tile::TargetAttr target,
                                                 amdgpu::Chipset chipset) {
  patterns.add<ShuffleXor>(patterns.getContext(), target, chipset);
}
