// SPDX-License-Identifier: Apache-2.0
// Reading and writing TensorProto without protobuf: nine fields, of which one is large.
#include <buda/tensor/files/tensor_proto.hpp>

#include <buda/base/text.hpp>
#include <buda/io/protobuf.hpp>
#include <buda/tensor/bytes/little_endian.hpp>
#include <buda/tensor/tensor.hpp>

#include <array>
#include <bit>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace buda {
namespace {

using io::WireField;
using io::WireReader;

// Field numbers of onnx.proto.
enum Field : std::uint32_t {
  kDims = 1,
  kDataType = 2,
  kSegment = 3,
  kFloatData = 4,
  kInt32Data = 5,
  kStringData = 6,
  kInt64Data = 7,
  kName = 8,
  kRawData = 9,
  kDoubleData = 10,
  kUint64Data = 11,
  kDocString = 12,
  kExternalData = 13,
  kDataLocation = 14,
};

// TensorProto.DataType.
struct ElementType {
  std::uint32_t number;
  DType dtype;
  Field typed_field;  // where elements stand that are not in raw_data
};
constexpr std::array<ElementType, kDTypeCount> kElementTypes{{{1, DType::f32, kFloatData},
                                                              {2, DType::u8, kInt32Data},
                                                              {3, DType::i8, kInt32Data},
                                                              {4, DType::u16, kInt32Data},
                                                              {5, DType::i16, kInt32Data},
                                                              {6, DType::i32, kInt32Data},
                                                              {7, DType::i64, kInt64Data},
                                                              {9, DType::boolean, kInt32Data},
                                                              {10, DType::f16, kInt32Data},
                                                              {11, DType::f64, kDoubleData},
                                                              {12, DType::u32, kUint64Data},
                                                              {13, DType::u64, kUint64Data},
                                                              {16, DType::bf16, kInt32Data}}};
constexpr std::array<std::string_view, 17> kTypeNames{"UNDEFINED", "FLOAT",  "UINT8",     "INT8",       "UINT16",  "INT16",
                                                      "INT32",     "INT64",  "STRING",    "BOOL",       "FLOAT16", "DOUBLE",
                                                      "UINT32",    "UINT64", "COMPLEX64", "COMPLEX128", "BFLOAT16"};

class Parser {
 public:
  Parser(const io::Bytes& bytes, const std::string& path) : bytes_(bytes), path_(path) {}

  Result<std::pair<std::string, Tensor>> parse() {
    WireReader fields(bytes_.view());
    while (!fields.at_end()) {
      auto field = fields.next();
      if (!field) return error(cat("is not a complete TensorProto: ", field.failure().diagnostics().front().message));
      BUDA_TRY(take(*field));
    }
    const ElementType* type = nullptr;
    for (const auto& t : kElementTypes)
      if (t.number == data_type_) type = &t;
    if (type == nullptr)
      return error(cat("has elements of ", data_type_ < kTypeNames.size() ? std::string(kTypeNames[data_type_]) : cat("type ", data_type_),
                       "; only numbers and booleans of at most 64 bits are supported"));
    BUDA_ASSIGN(Tensor tensor, raw_ ? from_raw(type->dtype) : from_typed(*type));
    return std::pair(std::move(name_), std::move(tensor));
  }

 private:
  std::string_view payload(const WireField& f) const { return bytes_.view().substr(f.payload, f.end - f.payload); }

  Result<void> take(const WireField& f) {
    switch (f.number) {
      case kDims:
      case kInt32Data:
      case kInt64Data:
      case kUint64Data:
        return take_varints(f, f.number == kDims ? dims_ : varints_, f.number);
      case kFloatData:
        return take_fixed(f, 4);
      case kDoubleData:
        return take_fixed(f, 8);
      case kDataType:
      case kDataLocation:
        if (f.type != 0) return wrong_kind(f);
        if (f.number == kDataType)
          data_type_ = f.varint;
        else if (f.varint != 0)
          return error("has its elements in another file (external data), which only a model can have");
        return success();
      case kName:
      case kRawData:
      case kDocString:
        if (f.type != 2) return wrong_kind(f);
        if (f.number == kName) name_ = std::string(payload(f));
        if (f.number == kRawData) raw_ = bytes_.slice(f.payload, f.end - f.payload);
        return success();
      case kSegment:
        return error("is a segment of a larger tensor; segments are not supported");
      case kStringData:
        return error("has strings as elements; only numbers and booleans are supported");
      case kExternalData:
        return error("has its elements in another file (external data), which only a model can have");
      default:
        return error(cat("is not a TensorProto: it has a field of number ", f.number, ", which ONNX does not define"));
    }
  }

  // Repeated numbers stand in one field, packed, or in a field each.
  Result<void> take_varints(const WireField& f, std::vector<std::uint64_t>& out, std::uint32_t field) {
    if (f.type == 2) {
      std::string_view packed = payload(f);
      WireReader reader(packed);
      while (!reader.at_end()) {
        auto value = reader.varint();
        if (!value) return error("is not a complete TensorProto: a number in a list is cut off or too long");
        out.push_back(*value);
      }
    } else if (f.type == 0) {
      out.push_back(f.varint);
    } else {
      return wrong_kind(f);
    }
    if (field != kDims) seen_ |= 1u << field;
    return success();
  }

  Result<void> take_fixed(const WireField& f, std::size_t size) {
    if (f.type != 2 && f.type != (size == 4 ? 5u : 1u)) return wrong_kind(f);
    if (payload(f).size() % size != 0) return error(cat("is not a complete TensorProto: a list of numbers of ", size, " bytes is cut off"));
    fixed_ += payload(f);
    seen_ |= 1u << f.number;
    return success();
  }

  Result<Shape> shape(DType dtype) const {
    Shape shape;
    for (auto d : dims_) shape.push_back(static_cast<std::int64_t>(d));
    if (!tensor_bytes(dtype, shape)) return error(cat("has the impossible shape ", shape.text()));
    return shape;
  }

  Result<Tensor> from_raw(DType dtype) const {
    BUDA_ASSIGN(Shape shape, this->shape(dtype));
    auto wanted = static_cast<std::uint64_t>(*tensor_bytes(dtype, shape));
    if (wanted != raw_->size())
      return error(
          cat("has ", raw_->size(), " bytes of raw_data, and its shape ", shape.text(), " of ", dtype_name(dtype), " asks for ", wanted));
    return Tensor::from_bytes(dtype, std::move(shape), *raw_);
  }

  Result<Tensor> from_typed(const ElementType& type) const {
    BUDA_ASSIGN(Shape shape, this->shape(type.dtype));
    if ((seen_ & ~(1u << type.typed_field)) != 0)
      return error(cat("has elements in a field that is not the one for ", kTypeNames[type.number]));
    std::string out;
    std::uint64_t count = varints_.size();
    if (type.typed_field == kFloatData || type.typed_field == kDoubleData) {
      out = fixed_;
      count = out.size() / dtype_size(type.dtype);
    }
    if (static_cast<std::uint64_t>(shape.volume().value_or(-1)) != count)
      return error(cat("has ", count, " elements, and its shape ", shape.text(), " asks for ", shape.volume().value_or(0)));
    for (auto v : varints_) BUDA_TRY(append(out, type.dtype, v));
    return Tensor::from_bytes(type.dtype, std::move(shape), io::Bytes(std::move(out)));
  }

  // An element of a varint field in the bytes of its type, if it fits.
  Result<void> append(std::string& out, DType dtype, std::uint64_t value) const {
    auto as_signed = static_cast<std::int64_t>(value);
    std::size_t size = dtype_size(dtype);
    bool fits = true;
    if (size < 8) {
      std::int64_t limit = std::int64_t{1} << (8 * size);
      bool with_sign = dtype == DType::i8 || dtype == DType::i16 || dtype == DType::i32;
      fits = with_sign ? as_signed >= -limit / 2 && as_signed < limit / 2 : as_signed >= 0 && as_signed < limit;
    }
    if (!fits) return error(cat("has the element ", as_signed, ", which does not fit ", dtype_name(dtype)));
    for (std::size_t i = 0; i < size; ++i) out += static_cast<char>(value >> (8 * i));
    return success();
  }

  Diagnostic wrong_kind(const WireField& f) const { return error(cat("is not a TensorProto: field ", f.number, " is of the wrong kind")); }
  Diagnostic error(std::string message) const { return input_error("TN025", {path_}, std::move(message)); }

  const io::Bytes& bytes_;
  const std::string& path_;
  std::uint64_t data_type_ = 0;
  std::string name_;
  std::vector<std::uint64_t> dims_;
  std::vector<std::uint64_t> varints_;
  std::string fixed_;
  unsigned seen_ = 0;  // typed fields that have elements, a bit each
  std::optional<io::Bytes> raw_;
};

}  // namespace

Result<std::pair<std::string, Tensor>> parse_tensor_proto(const io::Bytes& bytes, const std::string& path) {
  return Parser(bytes, path).parse();
}

std::string tensor_proto_header(const std::string& name, const Tensor& tensor) {
  std::string out;
  for (auto d : tensor.shape()) {
    io::append_tag(out, kDims, 0);
    io::append_varint(out, static_cast<std::uint64_t>(d));
  }
  for (const auto& type : kElementTypes)
    if (type.dtype == tensor.dtype()) {
      io::append_tag(out, kDataType, 0);
      io::append_varint(out, type.number);
    }
  io::append_tag(out, kName, 2);
  io::append_varint(out, name.size());
  out += name;
  io::append_tag(out, kRawData, 2);
  io::append_varint(out, tensor.bytes().size());
  return out;
}

}  // namespace buda
