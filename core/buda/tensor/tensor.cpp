// SPDX-License-Identifier: Apache-2.0
// Tensors: making, viewing, converting.
#include <buda/tensor/tensor.hpp>

#include <buda/base/checked.hpp>
#include <buda/base/text.hpp>
#include <buda/io/mapped_memory.hpp>
#include <buda/tensor/bytes/aligned_copy.hpp>
#include <buda/tensor/bytes/aligned_memory.hpp>
#include <buda/tensor/bytes/hex_text.hpp>
#include <buda/tensor/formats/visit.hpp>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

namespace buda {
namespace {

static_assert(std::endian::native == std::endian::little, "tensor files are little endian and are viewed where they lie");

Diagnostic no_volume(DType dtype, const Shape& shape) {
  return input_error("TN001", {},
                     cat("a tensor of shape ", shape.text(), " and type ", dtype_name(dtype),
                         " cannot exist: sizes must not be negative, and all bytes together must fit in 63 bits"));
}

Diagnostic out_of_memory(std::size_t bytes) {
  return input_error("TN002", {}, cat("a tensor of ", bytes_text(bytes), " does not fit in this machine's memory"));
}

template <class T>
auto widened(T v) {
  if constexpr (std::is_same_v<T, Boolean>) {
    return static_cast<std::uint8_t>(v.byte != 0);
  } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return to_float(v);
  } else {
    return v;
  }
}

template <std::integral To, std::floating_point From>
To saturated(From v) {
  constexpr int kBits = std::numeric_limits<To>::digits;
  // Both bounds are powers of two (or zero) and so exact in any floating-point type.
  const From above = std::ldexp(From{1}, kBits);
  const From lowest = static_cast<From>(std::numeric_limits<To>::min());
  if (std::isnan(v)) return 0;
  if (v <= lowest) return std::numeric_limits<To>::min();
  if (v >= above) return std::numeric_limits<To>::max();
  return static_cast<To>(v);
}

// A double that rounds to bf16 as the integer does: bits beyond its 53 are summed up in the last one ("round to odd").
template <std::integral From>
double rounded_to_odd(From v) {
  if constexpr (sizeof(From) < 8) {
    return static_cast<double>(v);
  } else {
    bool negative = v < 0;
    std::uint64_t u = negative ? 0 - static_cast<std::uint64_t>(v) : static_cast<std::uint64_t>(v);
    constexpr std::uint64_t kLow = (1ULL << 11) - 1;
    if (u >> 53 != 0) u = (u & ~kLow) | ((u & kLow) != 0 ? kLow + 1 : 0);
    auto d = static_cast<double>(u);
    return negative ? -d : d;
  }
}

template <class To, class From>
To converted(From from) {
  auto v = widened(from);
  using V = decltype(v);
  if constexpr (std::is_same_v<To, Boolean>) {
    return {static_cast<std::uint8_t>(v != 0)};
  } else if constexpr (std::is_same_v<To, Half>) {
    // A double holds every integer that is small enough to be finite as a half.
    return half_from_double(static_cast<double>(v));
  } else if constexpr (std::is_same_v<To, BFloat16>) {
    if constexpr (std::is_same_v<V, float>) {
      return bfloat16_from_float(v);
    } else if constexpr (std::is_integral_v<V>) {
      return bfloat16_from_double(rounded_to_odd(v));
    } else {
      return bfloat16_from_double(v);
    }
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<V>) {
    return saturated<To>(v);
  } else {
    return static_cast<To>(v);
  }
}

template <class To>
std::vector<To> converted_elements(const Tensor& tensor) {
  std::vector<To> out(tensor.size());
  visit_dtype(tensor.dtype(), [&](auto tag) {
    using From = typename decltype(tag)::type;
    auto elements = tensor.as<From>();
    std::transform(elements.begin(), elements.end(), out.begin(), [](From v) { return converted<To>(v); });
  });
  return out;
}

}  // namespace

Tensor::Tensor() : shape_{0} {}
Tensor::Tensor(const Tensor&) = default;
Tensor::Tensor(Tensor&&) noexcept = default;
Tensor& Tensor::operator=(const Tensor&) = default;
Tensor& Tensor::operator=(Tensor&&) noexcept = default;
Tensor::~Tensor() = default;

Tensor::Tensor(DType dtype, Shape shape, io::Bytes bytes, std::size_t size)
    : dtype_(dtype), shape_(std::move(shape)), size_(size), bytes_(std::move(bytes)) {}

template <class T>
Tensor::Tensor(Shape shape, std::vector<T> elements) : dtype_(kDTypeOf<T>), shape_(std::move(shape)) {
  assert(shape_.volume() == static_cast<std::int64_t>(elements.size()));
  size_ = elements.size();
  auto owner = std::make_shared<const std::vector<T>>(std::move(elements));
  std::string_view view(reinterpret_cast<const char*>(owner->data()), size_ * sizeof(T));
  bytes_ = io::Bytes(std::move(owner), view);
}
template Tensor::Tensor(Shape, std::vector<Boolean>);
template Tensor::Tensor(Shape, std::vector<std::uint8_t>);
template Tensor::Tensor(Shape, std::vector<std::int8_t>);
template Tensor::Tensor(Shape, std::vector<std::uint16_t>);
template Tensor::Tensor(Shape, std::vector<std::int16_t>);
template Tensor::Tensor(Shape, std::vector<std::uint32_t>);
template Tensor::Tensor(Shape, std::vector<std::int32_t>);
template Tensor::Tensor(Shape, std::vector<std::uint64_t>);
template Tensor::Tensor(Shape, std::vector<std::int64_t>);
template Tensor::Tensor(Shape, std::vector<Half>);
template Tensor::Tensor(Shape, std::vector<BFloat16>);
template Tensor::Tensor(Shape, std::vector<float>);
template Tensor::Tensor(Shape, std::vector<double>);

bool operator==(const Tensor& a, const Tensor& b) { return a.dtype_ == b.dtype_ && a.shape_ == b.shape_ && a.bytes() == b.bytes(); }

std::optional<std::int64_t> tensor_bytes(DType dtype, const Shape& shape) {
  auto volume = shape.volume();
  if (!volume) return std::nullopt;
  return checked_mul(*volume, static_cast<std::int64_t>(dtype_size(dtype)));
}

Result<Tensor> Tensor::zeros(DType dtype, Shape shape) {
  auto size = tensor_bytes(dtype, shape);
  if (!size) return no_volume(dtype, shape);
  auto bytes = static_cast<std::size_t>(*size);
  auto memory = allocate_aligned(bytes);
  if (!memory) return out_of_memory(bytes);
  std::memset(memory.get(), 0, bytes);
  io::Bytes content(memory, std::string_view(memory.get(), bytes));
  return Tensor(dtype, std::move(shape), std::move(content), bytes / dtype_size(dtype));
}

Result<Tensor> Tensor::from_bytes(DType dtype, Shape shape, io::Bytes bytes) {
  auto size = tensor_bytes(dtype, shape);
  if (!size) return no_volume(dtype, shape);
  if (static_cast<std::uint64_t>(*size) != bytes.size())
    return input_error(
        "TN003", {},
        cat("a tensor of shape ", shape.text(), " and type ", dtype_name(dtype), " takes ", *size, " bytes, not ", bytes.size()));
  Tensor out(dtype, std::move(shape), bytes, bytes.size() / dtype_size(dtype));
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % dtype_size(dtype) != 0)
    out.aligned_ = std::make_shared<detail::AlignedCopy>(std::move(bytes));
  return out;
}

Result<Tensor> Tensor::from_hex(DType dtype, Shape shape, io::Bytes digits) {
  auto size = tensor_bytes(dtype, shape);
  if (!size) return no_volume(dtype, shape);
  if (static_cast<std::uint64_t>(*size) != digits.size() / 2 || digits.size() % 2 != 0)
    return input_error("TN003", {},
                       cat("a tensor of shape ", shape.text(), " and type ", dtype_name(dtype), " takes ", *size,
                           " bytes of two hexadecimal digits each, not ", digits.size(), " characters"));
  if (digits.empty()) return from_bytes(dtype, std::move(shape), {});
  constexpr std::size_t kPart = std::size_t{4} << 20;
  for (std::size_t at = 0; at < digits.size(); at += kPart) {
    const std::string_view part = digits.view().substr(at, kPart);
    if (!is_hex(part)) return input_error("TN016", {}, "the text of a tensor's elements has other characters than hexadecimal digits");
    io::release_mapped(part);
  }
  Tensor out(dtype, std::move(shape), {}, static_cast<std::size_t>(*size) / dtype_size(dtype));
  out.aligned_ = std::make_shared<detail::AlignedCopy>(std::move(digits), detail::AlignedCopy::From::hex);
  return out;
}

Result<Tensor> Tensor::reshaped(Shape shape) const {
  if (shape.volume() != static_cast<std::int64_t>(size_))
    return input_error("TN003", {},
                       cat("a tensor of shape ", shape_.text(), " has ", size_, " elements and cannot take shape ", shape.text()));
  Tensor out = *this;
  out.shape_ = std::move(shape);
  return out;
}

Tensor Tensor::cast(DType to) const {
  if (to == dtype_) return *this;
  return visit_dtype(to, [&](auto tag) {
    using To = typename decltype(tag)::type;
    return Tensor(shape_, converted_elements<To>(*this));
  });
}

std::vector<float> Tensor::to_f32() const { return converted_elements<float>(*this); }

const void* Tensor::aligned_elements() const { return aligned_->data(); }

std::string_view Tensor::decoded() const { return aligned_->view(); }

std::string_view Tensor::text() const { return aligned_->from(); }

std::string Tensor::describe() const { return cat(dtype_name(dtype_), ' ', shape_.text()); }

}  // namespace buda
