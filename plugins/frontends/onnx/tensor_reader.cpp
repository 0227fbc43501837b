// SPDX-License-Identifier: Apache-2.0
// Decoding of TensorProto (onnx.proto, message TensorProto: which field holds the elements of which type).
#include "tensor_reader.hpp"

#include <buda/base/checked.hpp>
#include <buda/base/text.hpp>
#include <buda/tensor/half.hpp>
#include <buda/tensor/tensor.hpp>

#include <onnx/onnx_pb.h>

#include <limits>
#include <utility>
#include <vector>

namespace buda::onnx_frontend {
namespace {

using frontend::NarrowType;
using ::onnx::TensorProto;

Diagnostic bad(std::string message) { return input_error("ON010", {}, std::move(message)); }

// The elements of a typed field, each checked to fit T.
template <class T, class Field>
Result<Tensor> from_field(const Field& field, Shape shape, std::int64_t volume, std::string_view field_name) {
  if (field.size() != volume)
    return bad(cat("has ", field.size(), " elements in ", field_name, ", and its shape ", shape.text(), " asks for ", volume));
  std::vector<T> out;
  out.reserve(static_cast<std::size_t>(volume));
  for (auto v : field) {
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
      if (v < 0 || v > 0xffff) return bad(cat("has the element ", v, " in ", field_name, ", which is no 16-bit pattern"));
      out.push_back(T{static_cast<std::uint16_t>(v)});
    } else if constexpr (std::is_same_v<T, Boolean>) {
      out.push_back(Boolean{static_cast<std::uint8_t>(v != 0)});
    } else {
      if (!std::in_range<T>(v)) return bad(cat("has the element ", v, " in ", field_name, ", which does not fit its element type"));
      out.push_back(static_cast<T>(v));
    }
  }
  return Tensor(std::move(shape), std::move(out));
}

template <class T, class Field>
Result<Tensor> from_floats(const Field& field, Shape shape, std::int64_t volume, std::string_view field_name) {
  if (field.size() != volume)
    return bad(cat("has ", field.size(), " elements in ", field_name, ", and its shape ", shape.text(), " asks for ", volume));
  return Tensor(std::move(shape), std::vector<T>(field.begin(), field.end()));
}

Result<Tensor> from_typed_field(const TensorProto& t, DType dtype, const Shape& shape, std::int64_t volume) {
  switch (dtype) {
    case DType::f32:
      return from_floats<float>(t.float_data(), shape, volume, "float_data");
    case DType::f64:
      return from_floats<double>(t.double_data(), shape, volume, "double_data");
    case DType::i64:
      return from_field<std::int64_t>(t.int64_data(), shape, volume, "int64_data");
    case DType::u64:
      return from_field<std::uint64_t>(t.uint64_data(), shape, volume, "uint64_data");
    case DType::u32:
      return from_field<std::uint32_t>(t.uint64_data(), shape, volume, "uint64_data");
    case DType::i32:
      return from_field<std::int32_t>(t.int32_data(), shape, volume, "int32_data");
    case DType::i16:
      return from_field<std::int16_t>(t.int32_data(), shape, volume, "int32_data");
    case DType::u16:
      return from_field<std::uint16_t>(t.int32_data(), shape, volume, "int32_data");
    case DType::i8:
      return from_field<std::int8_t>(t.int32_data(), shape, volume, "int32_data");
    case DType::u8:
      return from_field<std::uint8_t>(t.int32_data(), shape, volume, "int32_data");
    case DType::boolean:
      return from_field<Boolean>(t.int32_data(), shape, volume, "int32_data");
    case DType::f16:
      return from_field<Half>(t.int32_data(), shape, volume, "int32_data");
    case DType::bf16:
      return from_field<BFloat16>(t.int32_data(), shape, volume, "int32_data");
  }
  return bad("has an element type that is not known");
}

// A location is a relative path with forward slashes that does not leave the model's folder (onnx.proto: "relative to the directory where
// the ONNX protobuf model was stored"; a model from the network must not be able to read /etc/passwd into its weights).
bool stays_inside(std::string_view location) {
  if (location.empty() || location.front() == '/' || location.find('\\') != std::string_view::npos ||
      location.find('\0') != std::string_view::npos)
    return false;
  for (auto part : split(location, '/'))
    if (part == "..") return false;
  return true;
}

std::string folder_of(const std::string& path) {
  auto slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

struct ExternalPlace {
  std::string location;
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;
};

Result<ExternalPlace> external_place(const TensorProto& tensor) {
  ExternalPlace out;
  for (const auto& entry : tensor.external_data()) {
    const std::string& key = entry.key();
    if (key == "location") out.location = entry.value();
    if (key != "offset" && key != "length") continue;
    auto number = parse_uint(entry.value());
    if (!number) return bad(cat("has external data whose ", key, " is '", entry.value(), "', which is not an integer"));
    if (key == "offset")
      out.offset = *number;
    else
      out.length = *number;
  }
  if (!stays_inside(out.location)) {
    Diagnostic d = bad(cat("has external data in '", out.location, "', which is not a relative path inside the model's folder"));
    d.hint = "put the file next to the model, and save the model with that location";
    return d;
  }
  return out;
}

}  // namespace

std::optional<DType> dtype_of(int onnx_type) {
  switch (onnx_type) {
    case TensorProto::FLOAT:
      return DType::f32;
    case TensorProto::UINT8:
      return DType::u8;
    case TensorProto::INT8:
      return DType::i8;
    case TensorProto::UINT16:
      return DType::u16;
    case TensorProto::INT16:
      return DType::i16;
    case TensorProto::INT32:
      return DType::i32;
    case TensorProto::INT64:
      return DType::i64;
    case TensorProto::BOOL:
      return DType::boolean;
    case TensorProto::FLOAT16:
      return DType::f16;
    case TensorProto::DOUBLE:
      return DType::f64;
    case TensorProto::UINT32:
      return DType::u32;
    case TensorProto::UINT64:
      return DType::u64;
    case TensorProto::BFLOAT16:
      return DType::bf16;
    default:
      return std::nullopt;
  }
}

int onnx_type_of(DType dtype) {
  for (int type = 1; type <= TensorProto::DataType_MAX; ++type)
    if (dtype_of(type) == dtype) return type;
  return TensorProto::UNDEFINED;
}

const NarrowType* narrow_type(int onnx_type) {
  // libonnx's enumeration ends before these (onnx.proto, TensorProto.DataType).
  constexpr int kFirst = 17;
  static constexpr NarrowType kTypes[] = {
      {"FLOAT8E4M3FN", DType::f32, Float8::e4m3fn}, {"FLOAT8E4M3FNUZ", DType::f32, Float8::e4m3fnuz},
      {"FLOAT8E5M2", DType::f32, Float8::e5m2},     {"FLOAT8E5M2FNUZ", DType::f32, Float8::e5m2fnuz},
      {"UINT4", DType::u8, std::nullopt, 0, 15},    {"INT4", DType::i8, std::nullopt, -8, 7},
  };
  bool narrow = onnx_type >= kFirst && onnx_type < kFirst + static_cast<int>(std::size(kTypes));
  return narrow ? &kTypes[onnx_type - kFirst] : nullptr;
}

std::string onnx_type_name(int onnx_type) {
  if (const NarrowType* narrow = narrow_type(onnx_type)) return std::string(narrow->name);
  if (TensorProto::DataType_IsValid(onnx_type)) return TensorProto::DataType_Name(static_cast<TensorProto::DataType>(onnx_type));
  return cat("type ", onnx_type);
}

Result<Tensor> TensorReader::read(const TensorProto& tensor, const std::optional<io::Bytes>& raw) {
  if (tensor.has_segment()) return bad("is a segment of a larger tensor; segments are not supported");
  if (const NarrowType* narrow = narrow_type(tensor.data_type())) return read_narrow(tensor, *narrow, raw);
  auto dtype = dtype_of(tensor.data_type());
  if (!dtype)
    return bad(cat("has elements of ", onnx_type_name(tensor.data_type()), "; only numbers and booleans of at most 64 bits are supported"));
  Shape shape(std::vector<std::int64_t>(tensor.dims().begin(), tensor.dims().end()));
  auto bytes = tensor_bytes(*dtype, shape);
  if (!bytes) return bad(cat("has the impossible shape ", shape.text()));
  if (tensor.data_location() == TensorProto::EXTERNAL) {
    BUDA_ASSIGN(auto data, external_bytes(tensor, shape, dtype_name(*dtype), *bytes));
    return Tensor::from_bytes(*dtype, std::move(shape), std::move(data));
  }
  if (raw || tensor.has_raw_data()) {
    io::Bytes data = raw ? *raw : io::Bytes(tensor.raw_data());
    if (static_cast<std::uint64_t>(*bytes) != data.size())
      return bad(
          cat("has ", data.size(), " bytes of raw_data, and its shape ", shape.text(), " of ", dtype_name(*dtype), " asks for ", *bytes));
    return Tensor::from_bytes(*dtype, std::move(shape), std::move(data));
  }
  return from_typed_field(tensor, *dtype, shape, *shape.volume());
}

// Two 4-bit integers share a byte, the first one being the lower half; an 8-bit float has its own. Without raw bytes, int32_data holds one
// byte in each number (onnx.proto, TensorProto.int32_data).
Result<Tensor> TensorReader::read_narrow(const TensorProto& tensor, const NarrowType& type, const std::optional<io::Bytes>& raw) {
  Shape shape(std::vector<std::int64_t>(tensor.dims().begin(), tensor.dims().end()));
  if (!tensor_bytes(type.dtype, shape)) return bad(cat("has the impossible shape ", shape.text()));
  std::int64_t volume = *shape.volume(), expected = type.float8 ? volume : (volume + 1) / 2;
  io::Bytes data;
  if (tensor.data_location() == TensorProto::EXTERNAL) {
    BUDA_ASSIGN(data, external_bytes(tensor, shape, type.name, expected));
  } else if (raw || tensor.has_raw_data()) {
    data = raw ? *raw : io::Bytes(tensor.raw_data());
  } else {
    std::string bytes;
    for (auto v : tensor.int32_data()) bytes.push_back(static_cast<char>(v));
    data = io::Bytes(std::move(bytes));
  }
  if (data.size() != static_cast<std::uint64_t>(expected))
    return bad(cat("has ", data.size(), " bytes of elements, and its shape ", shape.text(), " of ", type.name, " asks for ", expected));
  auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(data.view()[i]); };
  auto count = static_cast<std::size_t>(volume);
  if (type.float8) {
    std::vector<float> out(count);
    for (std::size_t i = 0; i < count; ++i) out[i] = float8_to_float(*type.float8, byte(i));
    return Tensor(std::move(shape), std::move(out));
  }
  auto half = [&](std::size_t i) { return (byte(i / 2) >> (i % 2 * 4)) & 15; };
  if (type.min == 0) {
    std::vector<std::uint8_t> out(count);
    for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<std::uint8_t>(half(i));
    return Tensor(std::move(shape), std::move(out));
  }
  std::vector<std::int8_t> out(count);
  for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<std::int8_t>((half(i) ^ 8) - 8);
  return Tensor(std::move(shape), std::move(out));
}

// Indices are places in the flat tensor, or one row of coordinates for each element (onnx.proto, SparseTensorProto).
Result<Tensor> TensorReader::read(const ::onnx::SparseTensorProto& sparse) {
  BUDA_ASSIGN(Tensor values, read(sparse.values()));
  BUDA_ASSIGN(Tensor indices, read(sparse.indices()));
  Shape shape(std::vector<std::int64_t>(sparse.dims().begin(), sparse.dims().end()));
  auto size = tensor_bytes(values.dtype(), shape);
  if (!size || *size > kLargestDense)
    return bad(cat("is a sparse tensor of shape ", shape.text(), ", which is too large to be written out"));
  auto count = static_cast<std::int64_t>(values.size());
  bool flat = indices.shape() == Shape{count};
  if (values.shape().rank() != 1 || indices.dtype() != DType::i64 ||
      (!flat && indices.shape() != Shape{count, static_cast<std::int64_t>(shape.rank())}))
    return bad(cat("is a sparse tensor of shape ", shape.text(), " whose values are ", values.describe(), " and whose indices are ",
                   indices.describe()));
  std::string bytes(static_cast<std::size_t>(*size), '\0');
  std::vector<std::int64_t> strides = shape.strides();
  std::size_t width = dtype_size(values.dtype());
  auto numbers = indices.as<std::int64_t>();
  std::int64_t volume = shape.volume().value_or(0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    bool inside = true;
    std::int64_t place = flat ? numbers[i] : 0;
    if (flat) inside = place >= 0 && place < volume;
    for (std::size_t axis = 0; !flat && axis < shape.rank(); ++axis) {
      std::int64_t at = numbers[i * shape.rank() + axis];
      inside = inside && at >= 0 && at < shape[axis];
      if (inside) place += at * strides[axis];
    }
    if (!inside) return bad(cat("is a sparse tensor of shape ", shape.text(), " whose element ", i, " lies outside"));
    values.bytes().copy(bytes.data() + static_cast<std::size_t>(place) * width, width, i * width);
  }
  return Tensor::from_bytes(values.dtype(), std::move(shape), io::Bytes(std::move(bytes)));
}

Result<io::Bytes> TensorReader::external_file(const std::string& location) {
  std::string path = folder_of(model_path_) + location;
  auto known = files_.find(path);
  if (known != files_.end()) return known->second;
  BUDA_ASSIGN(auto bytes, fs_->read(path));
  files_.emplace(std::move(path), bytes);
  return bytes;
}

Result<io::Bytes> TensorReader::external_bytes(const TensorProto& tensor, const Shape& shape, std::string_view type, std::int64_t bytes) {
  BUDA_ASSIGN(auto place, external_place(tensor));
  auto expected = static_cast<std::uint64_t>(bytes);
  if (place.length && *place.length != expected)
    return bad(cat("has ", *place.length, " bytes of external data, and its shape ", shape.text(), " of ", type, " asks for ", expected));
  BUDA_ASSIGN(auto file, external_file(place.location));
  auto end = checked_add(place.offset, expected);
  if (!end || *end > file.size())
    return bad(cat("has external data of ", expected, " bytes at byte ", place.offset, " of '", place.location, "', which has ",
                   file.size(), " bytes"));
  return file.slice(static_cast<std::size_t>(place.offset), static_cast<std::size_t>(expected));
}

}  // namespace buda::onnx_frontend
