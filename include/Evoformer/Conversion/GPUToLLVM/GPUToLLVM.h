//===- GPUToLLVM.h - From lanes to the LLVM dialect -------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the result of `convert-gpu-lanes-to-llvm` may hold, for those who read
// it (the serialiser, the simulator):
//
// * `gpu.module` with `evo_tile.target`, in it `llvm.mlir.global` in address
//   space 3 (LDS; `[0 x i8]` external is the dynamic LDS) and `llvm.func`.
//   A kernel has `gpu.kernel` and `rocdl.kernel` or `nvvm.kernel`, its block
//   size `rocdl.reqd_work_group_size` or `nvvm.reqntid`, and
//   `evo_tile.dynamic_lds_bytes` where it wants dynamic LDS. Arguments are
//   MLIR's expanded memref descriptors.
// * Types: iN, f16, bf16, f32, f64, 1-D vectors of them, pointers, structs of
//   them (descriptors, results of matrix instructions).
// * llvm: mlir.constant, mlir.poison, mlir.undef, mlir.zero, mlir.addressof,
//   integer and float arithmetic, compares, select, conversions, bitcast,
//   ptrtoint, inttoptr, addrspacecast, getelementptr, load, store,
//   extractvalue, insertvalue, extractelement, insertelement, shufflevector,
//   br, cond_br, switch, return, fence, unreachable, atomicrmw, alloca,
//   intr.{fma, fmuladd, maxnum, minnum, maximum, minimum, fabs, copysign,
//   floor, ceil, sqrt, smax, smin, umax, umin, abs, ctpop, assume,
//   vector.reduce.*, masked.load, masked.store, masked.gather, stepvector}.
// * llvm.call_intrinsic with a full intrinsic name: the matrix intrinsics of
//   the target's rows, llvm.amdgcn.{exp2,log,rcp,rsq}.f32,
//   llvm.nvvm.{ex2.approx.ftz.f, lg2.approx.ftz.f, rcp.approx.ftz.f,
//   rsqrt.approx.ftz.f}.
// * rocdl: workitem.id.*, workgroup.id.*, barriers, waits, ds_bpermute,
//   ds_swizzle, update.dpp, permlanex16, permlane swaps, readlane,
//   readfirstlane, make.buffer.rsrc, mbcnt.*; loads and stores through
//   address space 7 (fat buffer pointers, bounds checked).
// * nvvm: read.ptx.sreg.*, shfl.sync, barrier0 / barrier, cp.async.*,
//   ldmatrix, and whatever a target's row asks for by name.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_CONVERSION_GPUTOLLVM_GPUTOLLVM_H
#define EVOFORMER_CONVERSION_GPUTOLLVM_GPUTOLLVM_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/Pass.h"

namespace mlir::evoformer {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "Evoformer/Conversion/GPUToLLVM/Passes.h.inc"

/// The function attribute (i64) of a kernel that needs dynamic LDS.
inline constexpr llvm::StringLiteral
    kDynamicLDSAttrName("evo_tile.dynamic_lds_bytes");

/// The function attribute of a kernel whose last arguments are tensor maps: an
/// array with a dictionary for each. `slot` is the first argument of the memref
/// that it is of, by the expanded signature, `element_bytes` of its elements;
/// `box` and `swizzle` are those of !evo_tile.tensor_map. Dimension d ends at
/// argument `end_slots`[d] or, where that is -1, at `ends`[d].
inline constexpr llvm::StringLiteral
    kTensorMapsAttrName("evo_tile.tensor_maps");

/// The function attribute of a kernel that waits for the memory of the kernels
/// before it in its stream, and so may start before they end.
inline constexpr llvm::StringLiteral
    kStartsEarlyAttrName("evo_tile.starts_early");

/// The function attribute, a dictionary, that says what one pass of one
/// subgroup through the kernel's steady loop needs at least: `matrix`
/// instructions and `transcendental` instructions, and of how many `stages` the
/// loop was made; and of its schedule `block`, `resident` and the estimate of
/// `registers`. It passes through to the report on the compiled kernel.
inline constexpr llvm::StringLiteral kIdealLoopAttrName("evo_tile.ideal_loop");

/// On a kernel: as many workgroups as should be resident on a processor (i64):
/// the code generator gives lanes the registers that this leaves.
inline constexpr llvm::StringLiteral
    kMinWorkgroupsAttrName("evo_tile.min_workgroups");

/// Threads of a kernel's workgroup, which both vendors' attributes tell; 0:
/// they do not.
int64_t getWorkgroupThreads(LLVM::LLVMFuncOp kernel);

/// Bytes of LDS that a launch of the kernel provides.
int64_t getDynamicLDSBytes(LLVM::LLVMFuncOp kernel);

} // namespace mlir::evoformer

#endif // EVOFORMER_CONVERSION_GPUTOLLVM_GPUTOLLVM_H
