//===- Npy.cpp - Reading and writing .npy files ---------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Runtime/Npy.h"
#include "Evoformer/Support/HostResources.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>

using namespace llvm;

namespace mlir::evoformer::runtime {

int64_t HostTensor::getNumElements() const {
  return data.size() / getByteSize(elementType);
}

static Error npyError(const Twine &message) {
  return createStringError("not a readable .npy file: " + message);
}

namespace {
/// What the header of a file says.
struct NpyHeader {
  std::string descr;
  bool fortranOrder = false;
  SmallVector<int64_t> shape;
};

/// Reads the header, a Python dict literal with exactly three keys.
class HeaderParser {
public:
  explicit HeaderParser(StringRef text) : rest(text) {}

  Expected<NpyHeader> parse() {
    NpyHeader header;
    bool seenDescr = false, seenOrder = false, seenShape = false;
    if (!consume('{'))
      return npyError("the header is no dictionary");
    while (!consume('}')) {
      std::string key;
      if (!parseString(key) || !consume(':'))
        return npyError("malformed header key");
      if (key == "descr") {
        seenDescr = true;
        if (!parseString(header.descr))
          return npyError("structured element types are not supported");
      } else if (key == "fortran_order") {
        seenOrder = true;
        if (!parseBool(header.fortranOrder))
          return npyError("'fortran_order' is neither True nor False");
      } else if (key == "shape") {
        seenShape = true;
        if (!parseShape(header.shape))
          return npyError("'shape' is no tuple of sizes");
      } else {
        return npyError("unknown header key '" + key + "'");
      }
      if (!consume(',') && !peek('}'))
        return npyError("malformed header");
    }
    if (!seenDescr || !seenOrder || !seenShape)
      return npyError("the header lacks 'descr', 'fortran_order' or 'shape'");
    return header;
  }

private:
  bool peek(char c) {
    rest = rest.ltrim();
    return rest.starts_with(StringRef(&c, 1));
  }
  bool consume(char c) {
    if (!peek(c))
      return false;
    rest = rest.drop_front();
    return true;
  }
  bool parseString(std::string &out) {
    rest = rest.ltrim();
    if (rest.empty() || (rest.front() != '\'' && rest.front() != '"'))
      return false;
    size_t end = rest.find(rest.front(), 1);
    if (end == StringRef::npos)
      return false;
    out = rest.slice(1, end).str();
    rest = rest.drop_front(end + 1);
    return true;
  }
  bool parseBool(bool &out) {
    rest = rest.ltrim();
    if (rest.consume_front("True")) {
      out = true;
      return true;
    }
    out = false;
    return rest.consume_front("False");
  }
  bool parseShape(SmallVectorImpl<int64_t> &out) {
    // Of a key that stands there twice the later value counts, as in Python.
    out.clear();
    if (!consume('('))
      return false;
    while (!consume(')')) {
      rest = rest.ltrim();
      int64_t size;
      if (rest.consumeInteger(10, size) || size < 0)
        return false;
      out.push_back(size);
      if (!consume(',') && !peek(')'))
        return false;
    }
    return true;
  }

  StringRef rest;
};
} // namespace

/// Maps NumPy's type description to an element type.
static Expected<ElementType> parseDescr(StringRef descr,
                                        std::optional<ElementType> wanted) {
  if (descr == "bfloat16")
    return ElementType::BF16;
  if (descr.consume_front(">"))
    return npyError("big-endian elements are not supported");
  descr = descr.ltrim("<|=");
  auto type = StringSwitch<std::optional<ElementType>>(descr)
                  .Case("b1", ElementType::I1)
                  .Cases({"i1", "u1"}, ElementType::I8)
                  .Cases({"i2", "u2"}, ElementType::I16)
                  .Cases({"i4", "u4"}, ElementType::I32)
                  .Cases({"i8", "u8"}, ElementType::I64)
                  .Case("f2", ElementType::F16)
                  .Case("V2", ElementType::BF16)
                  .Case("f4", ElementType::F32)
                  .Case("f8", ElementType::F64)
                  .Default(std::nullopt);
  if (!type)
    return npyError("unsupported element type '" + descr + "'");
  if (*type == ElementType::I16 && wanted == ElementType::BF16)
    return ElementType::BF16;
  return *type;
}

/// Reorders column-major `source` to row-major.
static std::vector<char> toRowMajor(StringRef source, ArrayRef<int64_t> shape,
                                    unsigned elementBytes) {
  std::vector<char> result(source.size());
  SmallVector<int64_t> index(shape.size(), 0);
  for (size_t to = 0; to < source.size(); to += elementBytes) {
    int64_t from = 0;
    for (size_t dim = shape.size(); dim-- > 0;)
      from = from * shape[dim] + index[dim];
    std::memcpy(result.data() + to, source.data() + from * elementBytes,
                elementBytes);
    for (size_t dim = shape.size(); dim-- > 0;) {
      if (++index[dim] < shape[dim])
        break;
      index[dim] = 0;
    }
  }
  return result;
}

Expected<HostTensor> parseNpy(StringRef contents,
                              std::optional<ElementType> wanted) {
  if (!contents.consume_front("\x93NUMPY"))
    return npyError("it does not start with the format's magic string");
  if (contents.size() < 4)
    return npyError("it ends within the header");
  unsigned major = static_cast<unsigned char>(contents[0]);
  if (major < 1 || major > 3)
    return npyError("version " + Twine(major) + " of the format is unknown");
  contents = contents.drop_front(2);
  unsigned lengthBytes = major == 1 ? 2 : 4;
  if (contents.size() < lengthBytes)
    return npyError("it ends within the header");
  uint64_t length = major == 1 ? support::endian::read16le(contents.data())
                               : support::endian::read32le(contents.data());
  contents = contents.drop_front(lengthBytes);
  if (length > contents.size())
    return npyError("it ends within the header");
  Expected<NpyHeader> header =
      HeaderParser(contents.take_front(length)).parse();
  if (!header)
    return header.takeError();
  contents = contents.drop_front(length);

  Expected<ElementType> type = parseDescr(header->descr, wanted);
  if (!type)
    return type.takeError();
  std::optional<int64_t> bytes = getByteCount(*type, header->shape);
  if (!bytes)
    return npyError("its size overflows");
  if (static_cast<uint64_t>(*bytes) != contents.size())
    return npyError("its shape " + formatShape(*type, header->shape) +
                    " takes " + Twine(*bytes) + " bytes, it holds " +
                    Twine(contents.size()));

  HostTensor tensor;
  tensor.elementType = *type;
  tensor.shape = header->shape;
  if (header->fortranOrder && header->shape.size() > 1)
    tensor.data = toRowMajor(contents, header->shape, getByteSize(*type));
  else
    tensor.data.assign(contents.begin(), contents.end());
  // The kernels' contract for i1 is 0 or 1.
  if (*type == ElementType::I1)
    for (char &value : tensor.data)
      value = value != 0;
  return tensor;
}

Expected<HostTensor> readNpy(StringRef path,
                             std::optional<ElementType> wanted) {
  Expected<std::unique_ptr<MemoryBuffer>> buffer = readFile(path);
  if (!buffer)
    return buffer.takeError();
  Expected<HostTensor> tensor = parseNpy((*buffer)->getBuffer(), wanted);
  if (!tensor)
    return createFileError(path, tensor.takeError());
  return tensor;
}

/// NumPy's description of an element type.
static StringRef getDescr(ElementType type) {
  switch (type) {
  case ElementType::I1:
    return "|b1";
  case ElementType::I8:
    return "|i1";
  case ElementType::I16:
    return "<i2";
  case ElementType::I32:
    return "<i4";
  case ElementType::I64:
    return "<i8";
  case ElementType::F16:
    return "<f2";
  case ElementType::BF16:
    return "<V2";
  case ElementType::F32:
    return "<f4";
  case ElementType::F64:
    return "<f8";
  }
  return "";
}

Error writeNpy(StringRef path, const HostTensor &tensor) {
  std::string header;
  raw_string_ostream os(header);
  os << "{'descr': '" << getDescr(tensor.elementType)
     << "', 'fortran_order': False, 'shape': (";
  for (int64_t size : tensor.shape)
    os << size << ',';
  os << "), }";
  // Magic, version and length take 10 bytes; the data starts at a multiple of
  // 64 bytes, after a newline.
  while ((header.size() + 11) % 64 != 0)
    os << ' ';
  os << '\n';
  if (header.size() > 0xffff)
    return createStringError("rank too large for a .npy file");
  return writeFile(path, [&](raw_ostream &out) {
    char length[2];
    support::endian::write16le(length, header.size());
    out << "\x93NUMPY" << '\1' << '\0';
    out.write(length, 2);
    out << header;
    out.write(tensor.data.data(), tensor.data.size());
  });
}

} // namespace mlir::evoformer::runtime
