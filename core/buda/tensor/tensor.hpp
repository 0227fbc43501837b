// SPDX-License-Identifier: Apache-2.0
// A tensor on the host: element type, shape and shared, immutable bytes.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/io/bytes.hpp>
#include <buda/tensor/dtype.hpp>
#include <buda/tensor/half.hpp>
#include <buda/tensor/shape.hpp>

#include <cassert>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)

namespace buda {

namespace detail {
class AlignedCopy;  // aligned_copy.hpp
template <class T>
struct DTypeOf;
template <DType t>
struct DTypeIs {
  static constexpr DType value = t;
};
template <>
struct DTypeOf<Boolean> : DTypeIs<DType::boolean> {};
template <>
struct DTypeOf<std::uint8_t> : DTypeIs<DType::u8> {};
template <>
struct DTypeOf<std::int8_t> : DTypeIs<DType::i8> {};
template <>
struct DTypeOf<std::uint16_t> : DTypeIs<DType::u16> {};
template <>
struct DTypeOf<std::int16_t> : DTypeIs<DType::i16> {};
template <>
struct DTypeOf<std::uint32_t> : DTypeIs<DType::u32> {};
template <>
struct DTypeOf<std::int32_t> : DTypeIs<DType::i32> {};
template <>
struct DTypeOf<std::uint64_t> : DTypeIs<DType::u64> {};
template <>
struct DTypeOf<std::int64_t> : DTypeIs<DType::i64> {};
template <>
struct DTypeOf<Half> : DTypeIs<DType::f16> {};
template <>
struct DTypeOf<BFloat16> : DTypeIs<DType::bf16> {};
template <>
struct DTypeOf<float> : DTypeIs<DType::f32> {};
template <>
struct DTypeOf<double> : DTypeIs<DType::f64> {};
}  // namespace detail

// The element type that holds T: Boolean, std::uint8_t, …, Half, BFloat16, float or double.
template <class T>
inline constexpr DType kDTypeOf = detail::DTypeOf<T>::value;

// Elements are in row-major order, little endian. Copies share the memory, which may be a part of a mapped file.
class Tensor {
 public:
  // An empty f32 tensor of shape [0].
  Tensor();
  // Out of line, since tensors are handed on in more places than are worth the code.
  Tensor(const Tensor&);
  Tensor(Tensor&&) noexcept;
  Tensor& operator=(const Tensor&);
  Tensor& operator=(Tensor&&) noexcept;
  ~Tensor();

  // Takes over the elements; there must be as many as the shape says (a precondition: data of files goes through from_bytes). For
  // every T that kDTypeOf knows.
  template <class T>
  Tensor(Shape shape, std::vector<T> elements);
  template <class T>
  static Tensor scalar(T value) {
    return Tensor(Shape{}, std::vector<T>{value});
  }
  // All-zero bytes. An error when the shape has no volume or too large a one to be addressed.
  static Result<Tensor> zeros(DType dtype, Shape shape);
  // The bytes must be exactly as many as dtype and shape say. They are shared; where they are not aligned, as<T>() copies them when it is
  // first called.
  static Result<Tensor> from_bytes(DType dtype, Shape shape, io::Bytes bytes);
  // The same for bytes that are text, two hexadecimal digits each. It is decoded when the bytes are first asked for, which may throw
  // std::bad_alloc; that all of it are digits is asked here.
  static Result<Tensor> from_hex(DType dtype, Shape shape, io::Bytes digits);

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  std::size_t size() const { return size_; }  // elements
  // Not necessarily aligned.
  std::string_view bytes() const { return is_text() ? decoded() : bytes_.view(); }
  // Whether it is one of from_hex.
  bool is_text() const { return bytes_.data() == nullptr && aligned_; }
  // The memory that its copies share: the bytes, or the text that they are decoded from.
  std::string_view memory() const { return is_text() ? text() : bytes_.view(); }

  // The elements, aligned. T must be the type of this dtype; a program that may meet others asks dtype() first.
  template <class T>
  std::span<const T> as() const {
    assert(kDTypeOf<T> == dtype_);
    if (kDTypeOf<T> != dtype_) return {};
    return {static_cast<const T*>(elements()), size_};
  }
  // The first of them, for who knows the type by its dtype.
  const void* elements() const { return aligned_ ? aligned_elements() : bytes_.data(); }

  // The same elements under another shape of the same volume; nothing is copied.
  Result<Tensor> reshaped(Shape shape) const;

  // Elements converted as NumPy's astype and ONNX's Cast do: float to integer truncates toward zero, integer to integer keeps the low
  // bits, anything to boolean asks "not zero", to a narrower float rounds to nearest even once. Where those leave the result open (a
  // float that the integer type cannot hold) it is the nearest value that the type can hold, and 0 for NaN.
  Tensor cast(DType to) const;
  // cast(f32) as a vector of one's own.
  std::vector<float> to_f32() const;

  // "F32 [2, 3]": for messages.
  std::string describe() const;

  // Same type, same shape, same bytes; so NaN equals itself and -0 does not equal 0.
  friend bool operator==(const Tensor& a, const Tensor& b);

 private:
  Tensor(DType dtype, Shape shape, io::Bytes bytes, std::size_t size);
  // Of aligned_, which must be there.
  const void* aligned_elements() const;
  std::string_view decoded() const;
  std::string_view text() const;

  DType dtype_ = DType::f32;
  Shape shape_;
  std::size_t size_ = 0;
  io::Bytes bytes_;                               // null where they are decoded from text
  std::shared_ptr<detail::AlignedCopy> aligned_;  // where bytes_ are not
};

// Bytes of a tensor of this type and shape; nothing when there is no volume or they do not fit in 63 bits.
std::optional<std::int64_t> tensor_bytes(DType dtype, const Shape& shape);

}  // namespace buda

#pragma GCC visibility pop
