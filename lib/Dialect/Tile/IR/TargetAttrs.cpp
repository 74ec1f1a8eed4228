//===- TargetAttrs.cpp - Chips as data, schedules ---------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Dialect/Tile/IR/Limits.h"
#include "Evoformer/Dialect/Tile/IR/Tile.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/TargetParser/Triple.h"

#include <set>

using namespace mlir;
using namespace mlir::evoformer::tile;

using EmitError = function_ref<InFlightDiagnostic()>;

//===----------------------------------------------------------------------===//
// MatrixInstrAttr
//===----------------------------------------------------------------------===//

LaneMapAttr MatrixInstrAttr::getMap(OperandRole role) const {
  return role == OperandRole::A   ? getA()
         : role == OperandRole::B ? getB()
                                  : getC();
}

Type MatrixInstrAttr::getElementType(OperandRole role) const {
  return role == OperandRole::A   ? getAType()
         : role == OperandRole::B ? getBType()
                                  : getCType();
}

std::pair<int64_t, int64_t>
MatrixInstrAttr::getExtents(OperandRole role) const {
  return role == OperandRole::A   ? std::pair(getM(), getK())
         : role == OperandRole::B ? std::pair(getK(), getN())
                                  : std::pair(getM(), getN());
}

ArrayAttr MatrixInstrAttr::getRegisterTypes(OperandRole role) const {
  return role == OperandRole::A   ? getARegs()
         : role == OperandRole::B ? getBRegs()
                                  : getCRegs();
}

bool MatrixInstrAttr::multiplies(Type type) const {
  return type == getAType() || (getTerms() > 1 && type.isF32());
}

int64_t MatrixInstrAttr::countProducts(Type type) const {
  // Of terms i and j those with i + j < terms; the others are rounded away.
  return type == getAType() ? 1 : getTerms() * (getTerms() + 1) / 2;
}

static int64_t bitWidth(Type type) {
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.getNumElements() * bitWidth(vector.getElementType());
  // Held as f32.
  if (type.isTF32())
    return 32;
  return type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 0;
}

static LogicalResult verifyOperand(EmitError emitError, StringRef name,
                                   StringRef operand, LaneMapAttr attr,
                                   int64_t rows, int64_t columns, Type element,
                                   ArrayAttr regs) {
  auto fail = [&]() {
    return emitError() << "matrix instruction '" << name << "', operand "
                       << operand << ": ";
  };
  if (attr.getRank() != 2 || !attr.getSubgroups().empty())
    return fail() << "the map must have rank 2 and no subgroup axes";
  if (!element.isIntOrFloat())
    return fail() << "element type " << element << " is not a number";
  // Every element is held at least once, and nothing outside.
  LaneMap map = attr.toLaneMap();
  if (map.getNumLanes() > kMaxLanes ||
      map.getNumRegisters() > kMaxInstructionExtent)
    return fail() << "the map has " << map.getNumLanes() << " lanes and "
                  << map.getNumRegisters() << " registers, at most "
                  << kMaxLanes << " and " << kMaxInstructionExtent
                  << " are possible";
  std::set<std::pair<int64_t, int64_t>> held;
  for (int64_t l = 0; l < map.getNumLanes(); ++l)
    for (int64_t r = 0; r < map.getNumRegisters(); ++r) {
      SmallVector<int64_t> index = map.at(0, l, r);
      if (index[0] >= rows || index[1] >= columns)
        return fail() << "lane " << l << ", register " << r << " holds ["
                      << index[0] << ", " << index[1] << "] of " << rows << "x"
                      << columns;
      held.insert({index[0], index[1]});
    }
  if ((int64_t)held.size() != rows * columns)
    return fail() << "the map holds " << held.size() << " of " << rows * columns
                  << " elements";
  int64_t bits = 0;
  for (Attribute reg : regs) {
    auto type = dyn_cast<TypeAttr>(reg);
    if (!type || bitWidth(type.getValue()) == 0)
      return fail() << "register types must be numbers or vectors of them";
    bits += bitWidth(type.getValue());
  }
  int64_t wanted = map.getNumRegisters() * bitWidth(element);
  if (bits != wanted)
    return fail() << "the register types have " << bits
                  << " bits, the map's registers " << wanted;
  return success();
}

LogicalResult MatrixInstrAttr::verify(
    EmitError emitError, StringRef name, int64_t m, int64_t n, int64_t k,
    Type aType, Type bType, Type cType, LaneMapAttr a, LaneMapAttr b,
    LaneMapAttr c, StringRef intrinsic, ArrayAttr aRegs, ArrayAttr bRegs,
    ArrayAttr cRegs, ArrayAttr immediates, int64_t terms, int64_t cycles) {
  for (int64_t number : {m, n, k, cycles})
    if (number < 1 || number > kMaxInstructionExtent)
      return emitError() << "matrix instruction '" << name
                         << "': m, n, k and cycles must be from 1 to "
                         << kMaxInstructionExtent << ", got " << number;
  if (!intrinsic.starts_with("llvm."))
    return emitError()
           << "matrix instruction '" << name
           << "': the intrinsic's name must start with 'llvm.', got '"
           << intrinsic << "'";
  for (Attribute immediate : immediates)
    if (!isa<IntegerAttr>(immediate))
      return emitError() << "matrix instruction '" << name
                         << "': immediates must be integers";
  // Terms need the exponents of f32; of bf16's digits three make its own.
  constexpr int64_t kMostTerms = 3;
  bool splits =
      (aType.isBF16() || aType.isTF32()) && aType == bType && cType.isF32();
  if (terms < 1 || terms > kMostTerms || (terms > 1 && !splits))
    return emitError() << "matrix instruction '" << name
                       << "': terms must be 1, or up to " << kMostTerms
                       << " of bf16 or tf32 that is summed in f32, got "
                       << terms << " of " << aType << " and " << bType
                       << " summed in " << cType;
  if (failed(verifyOperand(emitError, name, "A", a, m, k, aType, aRegs)) ||
      failed(verifyOperand(emitError, name, "B", b, k, n, bType, bRegs)) ||
      failed(verifyOperand(emitError, name, "C", c, m, n, cType, cRegs)))
    return failure();
  int64_t lanes = a.toLaneMap().getNumLanes();
  if (b.toLaneMap().getNumLanes() != lanes ||
      c.toLaneMap().getNumLanes() != lanes)
    return emitError() << "matrix instruction '" << name
                       << "': operands must be spread over equally many lanes";
  return success();
}

//===----------------------------------------------------------------------===//
// GroupMatrixInstrAttr
//===----------------------------------------------------------------------===//

LogicalResult GroupMatrixInstrAttr::verify(EmitError emitError, StringRef name,
                                           MatrixInstrAttr each,
                                           int64_t subgroups, int64_t mostN,
                                           StringRef opcode, int64_t cycles) {
  auto fail = [&]() {
    return emitError() << "matrix instruction '" << name << "': ";
  };
  if (cycles < 0 || cycles > kMaxInstructionExtent)
    return fail() << "cycles must be from 0 to " << kMaxInstructionExtent
                  << ", got " << cycles;
  if (subgroups < 2 || subgroups > kMaxSubgroups)
    return fail() << "subgroups must be from 2 to " << kMaxSubgroups << ", got "
                  << subgroups;
  if (mostN < each.getN() || mostN % each.getN() != 0)
    return fail() << "most_n must be a multiple of the " << each.getN()
                  << " columns of '" << each.getName() << "', got " << mostN;
  if (!opcode.contains("{n}"))
    return fail() << "the opcode must have {n} for the columns, got '" << opcode
                  << "'";
  return success();
}

//===----------------------------------------------------------------------===//
// CopyEngineAttr
//===----------------------------------------------------------------------===//

LogicalResult CopyEngineAttr::verify(EmitError emitError, CopyEngineKind kind,
                                     ArrayRef<int64_t> bytes) {
  static constexpr int64_t kSizes[] = {4, 8, 12, 16};
  bool known = llvm::all_of(
      bytes, [](int64_t size) { return llvm::is_contained(kSizes, size); });
  bool ascending =
      std::adjacent_find(bytes.begin(), bytes.end(),
                         std::greater_equal<int64_t>()) == bytes.end();
  if (bytes.empty() || !known || !ascending) {
    InFlightDiagnostic diag =
        emitError() << "copy engine '" << stringifyCopyEngineKind(kind)
                    << "': bytes must be some of 4, 8, 12 and 16, "
                       "least first, got [";
    llvm::interleaveComma(bytes, diag);
    return diag << "]";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// UnitRatesAttr
//===----------------------------------------------------------------------===//

LogicalResult UnitRatesAttr::verify(EmitError emitError, UnitOverlap,
                                    int64_t simds, int64_t vector,
                                    int64_t multiply, int64_t transcendental,
                                    int64_t ldsBytes, int64_t cacheBytes,
                                    int64_t cacheAccess) {
  constexpr int64_t kMost = 4096;
  for (int64_t number : {simds, vector, multiply, transcendental, ldsBytes,
                         cacheBytes, cacheAccess})
    if (number < 1 || number > kMost)
      return emitError() << "rates of units must be from 1 to " << kMost
                         << ", got " << number;
  return success();
}

//===----------------------------------------------------------------------===//
// TargetAttr
//===----------------------------------------------------------------------===//

static LogicalResult verifyEntries(EmitError fail, StringRef what,
                                   DictionaryAttr entries,
                                   ArrayRef<TargetEntry> known) {
  for (NamedAttribute entry : entries) {
    const auto *found = llvm::find_if(known, [&](const TargetEntry &other) {
      return other.key == entry.getName();
    });
    if (found == known.end()) {
      InFlightDiagnostic diag = fail() << "unknown " << what << " '"
                                       << entry.getName().getValue()
                                       << "'; known are ";
      llvm::interleaveComma(known, diag, [&](const TargetEntry &other) {
        diag << "'" << other.key << "' (" << other.type << ")";
      });
      return diag;
    }
    if (!found->isValid(entry.getValue()))
      return fail() << what << " '" << found->key << "' must be " << found->type
                    << ", got " << entry.getValue();
  }
  return success();
}

/// False where the triple's instruction set lacks such copies.
static bool isEngineOf(CopyEngineKind kind, const llvm::Triple &triple) {
  switch (kind) {
  case CopyEngineKind::PerLane: // "cp.async", PTX ISA
    return !triple.isAMDGCN();
  case CopyEngineKind::Consecutive: // "Memory: loads to LDS", CDNA3 ISA
    return !triple.isNVPTX();
  }
  return false;
}

LogicalResult TargetAttr::verify(EmitError emitError, StringRef chip,
                                 StringRef triple, StringRef, int64_t subgroup,
                                 int64_t maxWorkgroup, int64_t registers,
                                 int64_t ldsBytes, int64_t ldsBanks,
                                 ArrayAttr matrix, DictionaryAttr properties,
                                 DictionaryAttr tuning) {
  auto fail = [&]() { return emitError() << "target '" << chip << "': "; };
  if (triple.empty())
    return fail() << "the triple is empty";
  if (subgroup < 1 || !llvm::isPowerOf2_64(subgroup) || subgroup > kMaxLanes)
    return fail() << "the subgroup size must be a power of two up to "
                  << kMaxLanes << ", got " << subgroup;
  if (maxWorkgroup < subgroup)
    return fail() << "a workgroup of " << maxWorkgroup
                  << " lanes holds no subgroup of " << subgroup;
  if (maxWorkgroup > kMaxLanes * kMaxSubgroups)
    return fail() << "a workgroup has at most " << kMaxLanes * kMaxSubgroups
                  << " lanes, got " << maxWorkgroup;
  for (int64_t size : {registers, ldsBytes, ldsBanks})
    if (size < 0 || size > kMaxLDSBytes)
      return fail() << "registers and sizes of workgroup memory must be from 0 "
                       "to "
                    << kMaxLDSBytes << ", got " << size;
  for (Attribute entry : matrix) {
    auto instr = dyn_cast<MatrixInstrAttr>(entry);
    if (!instr)
      return fail() << "'matrix' must hold matrix instructions, got " << entry;
    int64_t lanes = instr.getA().toLaneMap().getNumLanes();
    if (lanes != subgroup)
      return fail() << "matrix instruction '" << instr.getName() << "' is for "
                    << lanes << " lanes, the subgroup has " << subgroup;
  }
  if (failed(
          verifyEntries(fail, "property", properties, getKnownProperties())) ||
      failed(verifyEntries(fail, "tuning property", tuning, getKnownTuning())))
    return failure();
  if (auto group = properties.getAs<ArrayAttr>("group_matrix"))
    for (Attribute entry : group) {
      auto instr = dyn_cast<GroupMatrixInstrAttr>(entry);
      if (!instr)
        return fail() << "'group_matrix' must hold "
                         "#evo_tile.group_matrix_instr, got "
                      << entry;
      if (!llvm::is_contained(matrix, instr.getEach()))
        return fail() << "'matrix' lacks '" << instr.getEach().getName()
                      << "', which '" << instr.getName() << "' has of each "
                      << "subgroup";
    }
  auto engine = properties.getAs<CopyEngineAttr>("copy_engine");
  if (engine && !isEngineOf(engine.getKind(), llvm::Triple(triple)))
    return fail() << "no chip of the triple '" << triple
                  << "' has a copy engine '"
                  << stringifyCopyEngineKind(engine.getKind()) << "'";
  if (properties.get("tensor_maps") && !llvm::Triple(triple).isNVPTX())
    return fail() << "no chip of the triple '" << triple
                  << "' copies by tensor maps";
  if (properties.get("lds_transpose") && !llvm::Triple(triple).isAMDGCN())
    return fail() << "no chip of the triple '" << triple
                  << "' reads across rows of workgroup memory";
  return success();
}

//===----------------------------------------------------------------------===//
// ScheduleAttr
//===----------------------------------------------------------------------===//

namespace mlir::evoformer::tile {
ParseResult parseScheduleOptions(AsmParser &parser, int64_t &resident,
                                 OwnOperands &own, ProductScope &products) {
  resident = 0;
  own = OwnOperands::Registers;
  products = ProductScope::Subgroup;
  while (succeeded(parser.parseOptionalComma())) {
    StringRef key;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&key))
      return failure();
    if (key == "resident") {
      if (parser.parseEqual() || parser.parseInteger(resident))
        return failure();
      continue;
    }
    StringRef word;
    if (key != "own" && key != "products")
      return parser.emitError(loc) << "expected 'resident', 'own' or "
                                      "'products', got '"
                                   << key << "'";
    if (parser.parseEqual())
      return failure();
    loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&word))
      return failure();
    auto read = [&](auto known, auto &into, StringRef accepted) -> ParseResult {
      if (!known)
        return parser.emitError(loc)
               << "expected " << accepted << ", got '" << word << "'";
      into = *known;
      return success();
    };
    if (key == "own"
            ? read(symbolizeOwnOperands(word), own, "'registers' or 'lds'")
            : read(symbolizeProductScope(word), products,
                   "'subgroup' or 'group'"))
      return failure();
  }
  return success();
}

void printScheduleOptions(AsmPrinter &printer, int64_t resident,
                          OwnOperands own, ProductScope products) {
  if (resident != 0)
    printer << ", resident = " << resident;
  if (own != OwnOperands::Registers)
    printer << ", own = " << stringifyOwnOperands(own);
  if (products != ProductScope::Subgroup)
    printer << ", products = " << stringifyProductScope(products);
}
} // namespace mlir::evoformer::tile

LogicalResult ScheduleAttr::verify(EmitError emitError, ArrayRef<int64_t> block,
                                   ArrayRef<int64_t> subgroups, int64_t stages,
                                   int64_t resident, OwnOperands,
                                   ProductScope) {
  if (subgroups.size() != 3)
    return emitError() << "'subgroups' needs three counts (batch, M, N), got "
                       << subgroups.size();
  for (auto [sizes, limit] : {std::pair(block, kMaxTileElements),
                              std::pair(subgroups, kMaxSubgroups)}) {
    for (int64_t size : sizes)
      if (size < 1)
        return emitError() << "sizes of a schedule must be positive, got "
                           << size;
    if (boundedProduct(sizes, limit) > limit)
      return emitError() << "a schedule has a product of sizes above " << limit;
  }
  if (stages < 1 || stages > kMaxStages)
    return emitError() << "'stages' must be from 1 to " << kMaxStages
                       << ", got " << stages;
  if (resident < 0 || resident > kMaxResident)
    return emitError() << "'resident' must be from 0 to " << kMaxResident
                       << " workgroups, got " << resident;
  return success();
}
