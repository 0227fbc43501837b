// SPDX-License-Identifier: Apache-2.0
// Reading elements. Their number is checked against the type before memory is allocated.
#include "dense.hpp"

#include "lexer.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/formats/visit.hpp>
#include <buda/tensor/tensor.hpp>

#include <bit>
#include <cmath>
#include <memory>

namespace buda::stablehlo {
namespace {

Diagnostic wrong(std::string message) { return input_error("SH010", {}, std::move(message)); }

// Appends one element, given as a number or as the bits of a floating-point one.
class ElementWriter {
 public:
  explicit ElementWriter(DType dtype) : dtype_(dtype) {}

  bool number(std::string_view text) {
    if (text == "true" || text == "false") return integer(text == "true" ? 1 : 0);
    const bool hex = text.starts_with("0x") || text.starts_with("-0x");
    if (is_float(dtype_) && !hex) {
      auto value = parse_double(text);
      return value && real(*value);
    }
    if (text.starts_with('-')) {
      auto value = parse_int(text);
      return value && integer(static_cast<std::uint64_t>(*value));
    }
    auto value = parse_uint(text);
    return value && integer(*value);
  }
  std::string take() { return std::move(bytes_); }

 private:
  template <class T>
  bool put(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return true;
  }
  bool integer(std::uint64_t value) {
    if (dtype_ == DType::boolean) value = value != 0 ? 1 : 0;
    bytes_.append(reinterpret_cast<const char*>(&value), dtype_size(dtype_));
    return true;
  }
  bool real(double value) {
    if (dtype_ == DType::f64) return put(value);
    if (dtype_ == DType::f32) return put(static_cast<float>(value));
    const Tensor narrow = Tensor::scalar(value).cast(dtype_);
    bytes_ += narrow.bytes();
    return true;
  }

  DType dtype_;
  std::string bytes_;
};

Result<std::shared_ptr<const Tensor>> tensor_of(DType dtype, const Shape& shape, io::Bytes bytes) {
  BUDA_ASSIGN(Tensor made, Tensor::from_bytes(dtype, shape, std::move(bytes)));
  return std::make_shared<const Tensor>(std::move(made));
}

// Walks the nested lists and checks that each has the size of its axis.
class DenseReader {
 public:
  DenseReader(std::string_view text, const Type& type) : lexer_(text), type_(&type), real_(*type.dtype), imaginary_(*type.dtype) {}

  Result<Dense> read() {
    const bool splat = !lexer_.peek().is("[");
    if (!(splat ? element() : list(0)) || lexer_.peek().kind != Token::Kind::end)
      return wrong(cat("a constant's elements do not fit its type ", type_->text));
    Shape shape = splat ? Shape{} : Shape(Dims(type_->dims));
    Dense out{*type_, {}, {}};
    BUDA_ASSIGN(out.real, tensor_of(*type_->dtype, shape, io::Bytes(real_.take())));
    if (type_->is_complex) {
      BUDA_ASSIGN(out.imaginary, tensor_of(*type_->dtype, shape, io::Bytes(imaginary_.take())));
    }
    return out;
  }

 private:
  bool list(std::size_t axis) {
    if (axis >= type_->dims.size() || !lexer_.take("[")) return false;
    const std::int64_t size = type_->dims[axis];
    const bool innermost = axis + 1 == type_->dims.size();
    for (std::int64_t i = 0; i < size; ++i) {
      if (i > 0 && !lexer_.take(",")) return false;
      if (!(innermost ? element() : list(axis + 1))) return false;
    }
    return lexer_.take("]");
  }

  bool element() {
    if (!type_->is_complex) return part(real_);
    return lexer_.take("(") && part(real_) && lexer_.take(",") && part(imaginary_) && lexer_.take(")");
  }

  bool part(ElementWriter& to) {
    const Token token = lexer_.next();
    using Kind = Token::Kind;
    return (token.kind == Kind::integer || token.kind == Kind::real || token.kind == Kind::word) && to.number(token.text);
  }

  Lexer lexer_;
  const Type* type_;
  ElementWriter real_, imaginary_;
};

Result<void> check_type(const Type& type) {
  if (type.kind != Type::Kind::tensor || !type.dtype) return wrong(cat("a constant has the type ", type.text, ", which is not supported"));
  if (type.has_open_sizes() || !Shape(Dims(type.dims)).volume()) return wrong(cat("a constant has the type ", type.text));
  return success();
}

// Every second element of the given size, from number `first` on.
io::Bytes halves(std::string_view bytes, std::size_t size, std::size_t first) {
  std::string out;
  for (std::size_t at = first * size; at < bytes.size(); at += 2 * size) out += bytes.substr(at, size);
  return io::Bytes(std::move(out));
}

// A byte for each of `count` booleans, where eight are in one, or for the single one that stands for all.
io::Bytes booleans(io::Bytes bytes, std::uint64_t count) {
  const std::string_view given = bytes.view();
  const bool packed = count != 1 && given.size() == (count + 7) / 8 && given.size() != count;
  if (!packed) return given.size() == 1 ? io::Bytes(std::string(1, static_cast<char>(given[0] != 0 ? 1 : 0))) : bytes;
  std::string out;
  for (std::uint64_t i = 0; i < count; ++i) out += static_cast<char>((static_cast<unsigned char>(given[i / 8]) >> (i % 8)) & 1);
  return io::Bytes(std::move(out));
}

}  // namespace

Result<Dense> dense_of_bytes(io::Bytes bytes, const Type& type) {
  BUDA_TRY(check_type(type));
  const auto count = static_cast<std::uint64_t>(*Shape(Dims(type.dims)).volume());
  const std::size_t size = dtype_size(*type.dtype) * (type.is_complex ? 2 : 1);
  Dense out{type, {}, {}};
  Shape shape(Dims(type.dims));
  if (*type.dtype == DType::boolean) bytes = booleans(std::move(bytes), count);
  if (bytes.size() == size && count != 1) shape = Shape{};
  const std::uint64_t elements = shape.rank() == 0 ? 1 : count;
  if (bytes.size() / size != elements || bytes.size() % size != 0)
    return wrong(cat("a constant of type ", type.text, " has ", bytes.size(), " bytes of elements"));
  if (type.is_complex) {
    BUDA_ASSIGN(out.imaginary, tensor_of(*type.dtype, shape, halves(bytes.view(), size / 2, 1)));
    bytes = halves(bytes.view(), size / 2, 0);
  }
  BUDA_ASSIGN(out.real, tensor_of(*type.dtype, shape, std::move(bytes)));
  return out;
}

Result<Dense> dense_of_hex(std::string_view digits, const Type& type, const io::Bytes& file) {
  BUDA_TRY(check_type(type));
  constexpr std::size_t kKept = std::size_t{64} << 10;  // characters
  const io::Bytes text = file.slice(static_cast<std::size_t>(digits.data() - file.data()), digits.size());
  const Shape shape(Dims(type.dims));
  const bool as_tensor = !type.is_complex && *type.dtype != DType::boolean && tensor_bytes(*type.dtype, shape) == digits.size() / 2;
  if (digits.size() >= kKept && as_tensor) {
    auto made = Tensor::from_hex(*type.dtype, shape, text);
    if (!made) return wrong("a constant's text is not hexadecimal");
    return Dense{type, std::make_shared<const Tensor>(std::move(*made)), {}};
  }
  auto bytes = Tensor::from_hex(DType::u8, Shape{static_cast<std::int64_t>(digits.size() / 2)}, text);
  if (!bytes) return wrong("a constant's text is not hexadecimal");
  const auto owner = std::make_shared<const Tensor>(std::move(*bytes));
  return dense_of_bytes(io::Bytes(owner, owner->bytes()), type);
}

Result<Dense> parse_dense(std::string_view text, const Type& type, const io::Bytes& file) {
  BUDA_TRY(check_type(type));
  text = trim(text);
  if (text.empty()) {
    if (Shape(Dims(type.dims)).volume() != 0) return wrong(cat("a constant of type ", type.text, " has no elements"));
    return dense_of_bytes({}, type);
  }
  if (text.starts_with('"')) {
    if (text.size() < 2 || !text.ends_with('"')) return wrong("a constant's text does not end");
    text = text.substr(1, text.size() - 2);
    if (!text.starts_with("0x")) return wrong("a constant's text is not hexadecimal");
    return dense_of_hex(text.substr(2), type, file);
  }
  return DenseReader(text, type).read();
}

Result<Dims> integers_of(const Attribute& attribute) {
  if (const auto* one = attribute.as<std::int64_t>()) return Dims{*one};
  if (const auto* list = attribute.as<Attribute::List>()) {
    Dims out;
    for (const Attribute& a : *list) {
      const auto* i = a.as<std::int64_t>();
      if (i == nullptr) return wrong("is not a list of integers");
      out.push_back(*i);
    }
    return out;
  }
  const auto* dense = attribute.as<std::shared_ptr<const Dense>>();
  if (dense == nullptr || is_float((*dense)->real->dtype()) || (*dense)->imaginary) return wrong("is not a list of integers");
  const std::int64_t count = Shape(Dims((*dense)->type.dims)).volume().value_or(0);
  constexpr std::int64_t kMost = 1 << 16;
  if (count > kMost) return wrong("is too long a list of integers");
  const Tensor wide = (*dense)->real->cast(DType::i64);
  auto elements = wide.as<std::int64_t>();
  if (elements.size() == 1) return Dims(static_cast<std::size_t>(count), elements[0]);
  return Dims(elements.begin(), elements.end());
}

}  // namespace buda::stablehlo
