// Reading elements. Their number is checked against the type before memory is allocated.
#include "dense.hpp"

#include "lexer.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>
#include <buda/tensor/visit.hpp>

#include <bit>
#include <cmath>
#include <cstring>

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

Result<std::shared_ptr<const Tensor>> tensor_of(DType dtype, const Shape& shape, std::string bytes) {
  BUDA_ASSIGN(Tensor made, Tensor::from_bytes(dtype, shape, io::Bytes(std::move(bytes))));
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
    BUDA_ASSIGN(out.real, tensor_of(*type_->dtype, shape, real_.take()));
    if (type_->is_complex) {
      BUDA_ASSIGN(out.imaginary, tensor_of(*type_->dtype, shape, imaginary_.take()));
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

Result<std::string> bytes_of_hex(std::string_view text) {
  if (!text.starts_with("0x") || text.size() % 2 != 0) return wrong("a constant's text is not hexadecimal");
  std::string out;
  out.reserve(text.size() / 2);
  for (std::size_t i = 2; i < text.size(); i += 2) {
    const int high = hex_digit(text[i]), low = hex_digit(text[i + 1]);
    if (high < 0 || low < 0) return wrong("a constant's text is not hexadecimal");
    out += static_cast<char>(high * 16 + low);
  }
  return out;
}

Result<void> check_type(const Type& type) {
  if (type.kind != Type::Kind::tensor || !type.dtype) return wrong(cat("a constant has the type ", type.text, ", which is not supported"));
  if (type.has_open_sizes() || !Shape(Dims(type.dims)).volume()) return wrong(cat("a constant has the type ", type.text));
  return success();
}

// Every second element of the given size, from number `first` on.
std::string halves(std::string_view bytes, std::size_t size, std::size_t first) {
  std::string out;
  for (std::size_t at = first * size; at < bytes.size(); at += 2 * size) out += bytes.substr(at, size);
  return out;
}

}  // namespace

Result<Dense> dense_of_bytes(std::string_view bytes, const Type& type) {
  BUDA_TRY(check_type(type));
  const auto count = static_cast<std::uint64_t>(*Shape(Dims(type.dims)).volume());
  const std::size_t size = dtype_size(*type.dtype) * (type.is_complex ? 2 : 1);
  Dense out{type, {}, {}};
  Shape shape(Dims(type.dims));
  std::string own(bytes);
  if (*type.dtype == DType::boolean && count != 1 && bytes.size() == (count + 7) / 8 && bytes.size() != count) {
    own.clear();
    for (std::uint64_t i = 0; i < count; ++i) own += static_cast<char>((static_cast<unsigned char>(bytes[i / 8]) >> (i % 8)) & 1);
  } else if (*type.dtype == DType::boolean && bytes.size() == 1) {
    own.assign(1, static_cast<char>(bytes[0] != 0 ? 1 : 0));
  }
  if (own.size() == size && count != 1) shape = Shape{};
  const std::uint64_t elements = shape.rank() == 0 ? 1 : count;
  if (own.size() / size != elements || own.size() % size != 0)
    return wrong(cat("a constant of type ", type.text, " has ", own.size(), " bytes of elements"));
  if (type.is_complex) {
    BUDA_ASSIGN(out.imaginary, tensor_of(*type.dtype, shape, halves(own, size / 2, 1)));
    own = halves(own, size / 2, 0);
  }
  BUDA_ASSIGN(out.real, tensor_of(*type.dtype, shape, std::move(own)));
  return out;
}

Result<Dense> parse_dense(std::string_view text, const Type& type) {
  BUDA_TRY(check_type(type));
  text = trim(text);
  if (text.empty()) {
    if (Shape(Dims(type.dims)).volume() != 0) return wrong(cat("a constant of type ", type.text, " has no elements"));
    return dense_of_bytes({}, type);
  }
  if (text.starts_with('"')) {
    if (text.size() < 2 || !text.ends_with('"')) return wrong("a constant's text does not end");
    BUDA_ASSIGN(std::string bytes, bytes_of_hex(text.substr(1, text.size() - 2)));
    return dense_of_bytes(bytes, type);
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
