//===- GroupMatrix.cpp - Executes matrix operations of a warpgroup --------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA, 'Asynchronous Warpgroup Level Matrix Multiply-Accumulate
// Instructions'. Written from there, not from what the compiler emits: the
// simulator is there to find errors in that.
//
//===----------------------------------------------------------------------===//

#include "Handlers.h"
#include "Matrix.h"
#include "Memory.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir::evoformer::sim;

static constexpr unsigned kRows = 16, kDepth = 16, kSubgroups = 4, kPiece = 8,
                          kMostColumns = 256;

namespace {
/// 'Matrix Descriptor Format': bytes.
struct Descriptor {
  uint32_t start, leading, stride;
  /// Of a row of the pattern; 0: none that is known here.
  uint32_t rowBytes;

  explicit Descriptor(uint64_t bits)
      : start((bits & 0x3fff) << 4), leading((bits >> 16 & 0x3fff) << 4),
        stride((bits >> 32 & 0x3fff) << 4) {
    constexpr uint32_t bytes[] = {0, 128, 64, 32};
    bool hasBase = (bits >> 49 & 7) != 0;
    rowBytes = hasBase ? 0 : bytes[bits >> 62];
  }

  /// 'Strides': eight elements from (`depth`, `other`) on, along the dimension
  /// of which consecutive bytes are.
  uint32_t locate(bool alongDepth, unsigned depth, unsigned other) const {
    constexpr unsigned bytes = 2;
    uint32_t at = start;
    if (alongDepth) {
      at += other / 8 * stride + other % 8 * rowBytes + depth * bytes;
    } else {
      unsigned panel = rowBytes / bytes;
      at += other / panel * leading + other % panel * bytes +
            depth % 8 * rowBytes + depth / 8 * stride;
    }
    // 'Swizzling modes': pieces of 16 bytes change places among eight rows.
    return at ^ ((at >> 7 & (rowBytes / 16 - 1)) << 4);
  }
};
} // namespace

/// That writes to LDS are seen by the asynchronous proxy: whoever made them
/// executed a fence, and all have since passed a barrier.
static void checkProxy(Wave &w, const Inst *i, uint32_t offset, unsigned size) {
  const Workgroup &g = *w.group;
  for (unsigned k = 0; k < size; ++k) {
    const ByteState &s = g.state[offset + k];
    if (s.proxy == asyncProxy)
      continue;
    unsigned writer = s.proxy & 255;
    uint32_t fences = writer == w.index ? w.proxyFences : g.fenced[writer];
    if (s.writer == 0 || fences > s.proxy >> 8)
      continue;
    report(w, i, FindingKind::AccessNotFenced, 0, offset + k, [&] {
      return llvm::formatv("reads LDS that subgroup {0} wrote; no proxy fence "
                           "of its, and then a barrier, are between",
                           writer)
          .str();
    });
    return;
  }
}

/// Reads `others` rows or columns from `first` on; `to` has them in rows of
/// `pitch`, or, where `isTransposed`, in columns.
static void gather(Wave &w, const Inst *i, const GroupMatrix &matrix,
                   MatrixInput input, unsigned first, unsigned others,
                   float *to, unsigned pitch, bool isTransposed) {
  const uint64_t *bits = w.reg<uint64_t>(matrix.descriptor);
  forLanes(w.mask, [&](unsigned lane) {
    if (bits[lane] != bits[0])
      report(w, i, FindingKind::DivergentOperation, lane, bits[lane], [] {
        return std::string("a matrix descriptor differs between lanes");
      });
  });
  Descriptor descriptor(bits[0] + matrix.step);
  if (!descriptor.rowBytes) {
    report(w, i, FindingKind::Misaligned, 0, descriptor.start, [] {
      return std::string("a matrix descriptor without a swizzle, or with a "
                         "base offset");
    });
    return;
  }
  unsigned depthStep = matrix.alongDepth ? kPiece : 1,
           otherStep = matrix.alongDepth ? 1 : kPiece;
  for (unsigned depth = 0; depth < kDepth; depth += depthStep)
    for (unsigned other = 0; other < others; other += otherStep) {
      uint32_t at = descriptor.locate(matrix.alongDepth, depth, first + other);
      constexpr unsigned size = kPiece * sizeof(uint16_t);
      const uint8_t *p = ldsAddress(w, i, 0, at, size, Access::Read);
      if (p)
        checkProxy(w, i, at, size);
      for (unsigned e = 0; e < kPiece; ++e) {
        unsigned k = depth + (matrix.alongDepth ? e : 0),
                 o = other + (matrix.alongDepth ? 0 : e);
        to[isTransposed ? k * pitch + o : o * pitch + k] =
            p ? loadElement(input, p + e * sizeof(uint16_t)) : 0;
      }
    }
  // Four subgroups share what each of these reads here.
  w.counters->ldsBytes += others * kDepth * sizeof(uint16_t);
}

/// imm: of Program::groupMatrices; imm2: whether to report what is not finite
/// though all operands are.
static const Inst *groupProduct(Wave &w, const Inst *i) {
  const GroupMatrixCall &call = w.program->groupMatrices[i->imm];
  checkAllLanes(w, i);
  float a[kRows * kDepth], b[kDepth * kMostColumns], d[kRows * kMostColumns];
  // 'Register Fragments for wgmma.mma_async.m64nNk16': rows 16 * (warp % 4).
  auto rowOf = [](unsigned lane, bool upper) {
    return lane / 4 + (upper ? 8 : 0);
  };
  if (call.rows.empty()) {
    gather(w, i, call.sharedRows, call.input, w.index % kSubgroups * kRows,
           kRows, a, kDepth, /*isTransposed=*/false);
  } else {
    for (unsigned r = 0; r < call.rows.size(); ++r)
      for (unsigned lane = 0; lane < w.lanes; ++lane)
        for (unsigned e = 0; e < 2; ++e) {
          const uint8_t *word = w.reg<uint8_t>(call.rows[r]) + 4 * lane;
          a[rowOf(lane, r & 1) * kDepth + lane % 4 * 2 + e + (r & 2 ? 8 : 0)] =
              loadElement(call.input, word + e * sizeof(uint16_t));
        }
  }
  gather(w, i, call.columns, call.input, 0, call.n, b, call.n,
         /*isTransposed=*/true);
  auto forSums = [&](auto f) {
    for (unsigned r = 0; r < call.sums.size(); ++r)
      for (unsigned lane = 0; lane < w.lanes; ++lane)
        f(w.reg<float>(call.sums[r])[lane],
          d[rowOf(lane, r & 2) * call.n + r / 4 * 8 + lane % 4 * 2 + (r & 1)],
          lane);
  };
  forSums([&](float &sum, float &element, unsigned) {
    element = call.accumulates ? sum : 0;
  });
  bool wasFinite = i->imm2 && areFinite(a, kRows * kDepth) &&
                   areFinite(b, kDepth * call.n) &&
                   areFinite(d, kRows * call.n);
  // As for those of one subgroup: how the unit rounds inside is not documented.
  for (unsigned row = 0; row < kRows; ++row)
    for (unsigned k = 0; k < kDepth; ++k)
      for (unsigned column = 0; column < call.n; ++column)
        d[row * call.n + column] +=
            a[row * kDepth + k] * b[k * call.n + column];
  forSums([&](float &sum, float &element, unsigned lane) {
    sum = element;
    if (wasFinite && !std::isfinite(element))
      report(w, i, FindingKind::NonFinite, lane, 0, [] {
        return std::string("the product is not finite, but its operands are");
      });
  });
  return memoryDone(w, i);
}

static const Inst *proxyFence(Wave &w, const Inst *i) {
  ++w.proxyFences;
  return i + 1;
}

Handler mlir::evoformer::sim::groupMatrixHandler() { return groupProduct; }
Handler mlir::evoformer::sim::proxyFenceHandler() { return proxyFence; }
