// SPDX-License-Identifier: Apache-2.0
// Elements stand in one block of bytes, or one by one in the list of their type, of which the last one counts for all that follow.
#include "tensors.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

#include <limits>

namespace buda::tensorflow_frontend {
namespace {

constexpr int kReference = 100;
constexpr std::int64_t kMaxFilled = std::int64_t{1} << 28;  // bytes that a single element of a file may become

Diagnostic broken(std::string message) { return input_error("GF004", {}, std::move(message)); }

template <class To, class List>
Result<Tensor> from_list(const List& list, const Shape& shape, DType dtype) {
  auto count = static_cast<std::size_t>(shape.volume().value_or(0));
  if (static_cast<std::size_t>(list.size()) > count)
    return broken(cat("has ", list.size(), " elements; its shape ", shape.text(), " needs ", count));
  if (static_cast<std::size_t>(list.size()) < count && shape.volume().value_or(0) > kMaxFilled / static_cast<std::int64_t>(sizeof(To)))
    return broken(cat("has the shape ", shape.text(), " and only ", list.size(), " elements"));
  std::vector<To> elements;
  elements.reserve(count);
  for (const auto& element : list) elements.push_back(static_cast<To>(element));
  elements.resize(count, elements.empty() ? To() : elements.back());
  Tensor out(shape, std::move(elements));
  return out.dtype() == dtype ? out : out.cast(dtype);
}

// 16-bit floating-point numbers stand as integers of their bits.
Result<Tensor> from_halves(const format::TensorProto& proto, const Shape& shape, DType dtype) {
  BUDA_ASSIGN(Tensor bits, from_list<std::uint16_t>(proto.half_val(), shape, DType::u16));
  return Tensor::from_bytes(dtype, shape, io::Bytes(std::string(bits.bytes())));
}

Result<Tensor> from_lists(const format::TensorProto& proto, const Shape& shape, DType dtype) {
  switch (dtype) {
    case DType::f32:
      return from_list<float>(proto.float_val(), shape, dtype);
    case DType::f64:
      return from_list<double>(proto.double_val(), shape, dtype);
    case DType::f16:
    case DType::bf16:
      return from_halves(proto, shape, dtype);
    case DType::i64:
      return from_list<std::int64_t>(proto.int64_val(), shape, dtype);
    case DType::u32:
      return from_list<std::uint32_t>(proto.uint32_val(), shape, dtype);
    case DType::u64:
      return from_list<std::uint64_t>(proto.uint64_val(), shape, dtype);
    case DType::boolean:
      return from_list<std::int32_t>(proto.bool_val(), shape, dtype);
    default:
      return from_list<std::int32_t>(proto.int_val(), shape, dtype);
  }
}

}  // namespace

std::optional<DType> dtype_of(int type) {
  switch (type > kReference ? type - kReference : type) {
    case format::DT_FLOAT:
      return DType::f32;
    case format::DT_DOUBLE:
      return DType::f64;
    case format::DT_HALF:
      return DType::f16;
    case format::DT_BFLOAT16:
      return DType::bf16;
    case format::DT_INT64:
      return DType::i64;
    case format::DT_INT32:
      return DType::i32;
    case format::DT_INT16:
      return DType::i16;
    case format::DT_INT8:
      return DType::i8;
    case format::DT_UINT64:
      return DType::u64;
    case format::DT_UINT32:
      return DType::u32;
    case format::DT_UINT16:
      return DType::u16;
    case format::DT_UINT8:
      return DType::u8;
    case format::DT_BOOL:
      return DType::boolean;
    default:
      return std::nullopt;
  }
}

std::string type_name(int type) {
  if (format::DataType_IsValid(type)) return format::DataType_Name(static_cast<format::DataType>(type));
  return cat("element type ", type);
}

Result<Tensor> tensor_of(const format::TensorProto& proto, const io::Bytes& file) {
  auto dtype = dtype_of(proto.dtype());
  if (!dtype) return broken(cat("has elements of ", type_name(proto.dtype()), ", which are not supported"));
  if (proto.tensor_shape().unknown_rank()) return broken("has no shape");
  Shape shape;
  for (const auto& dim : proto.tensor_shape().dim()) shape.push_back(dim.size());
  if (!shape.volume()) return broken(cat("has the impossible shape ", shape.text()));
  if (proto.content_size() == 0 && proto.tensor_content().empty()) return from_lists(proto, shape, *dtype);
  io::Bytes content;
  if (proto.content_size() == 0) {
    content = io::Bytes(proto.tensor_content());
  } else if (proto.content_begin() <= file.size() && proto.content_size() <= file.size() - proto.content_begin()) {
    content = file.slice(static_cast<std::size_t>(proto.content_begin()), static_cast<std::size_t>(proto.content_size()));
  }
  auto tensor = Tensor::from_bytes(*dtype, shape, content);
  if (!tensor) return broken(cat("is ", type_name(proto.dtype()), ' ', shape.text(), " and has ", content.size(), " bytes"));
  return tensor;
}

std::vector<std::string> strings_of(const format::TensorProto& proto) {
  return std::vector<std::string>(proto.string_val().begin(), proto.string_val().end());
}

}  // namespace buda::tensorflow_frontend
