// In which type an op computes: fp32 for the small floating-point types, fp64 for F64, and 64-bit integers, whose results wrap into the
// element type as NumPy's do.
#pragma once

#include <buda/ops/elements/buffer.hpp>
#include <buda/ops/elements/strided.hpp>
#include <buda/tensor/tensor.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace buda::ops {

constexpr DType compute_dtype(DType t) {
  if (t == DType::f64 || t == DType::u64) return t;
  return is_float(t) ? DType::f32 : DType::i64;
}

// f(type_identity<float | double | int64 | uint64>) for a compute type; ops of floating-point numbers are not made for the integers.
template <bool kIntegersToo, class F>
decltype(auto) visit_compute(DType compute, F&& f) {
  if constexpr (kIntegersToo) {
    if (compute == DType::i64) return f(std::type_identity<std::int64_t>{});
    if (compute == DType::u64) return f(std::type_identity<std::uint64_t>{});
  }
  if (compute == DType::f64) return f(std::type_identity<double>{});
  return f(std::type_identity<float>{});
}

// Integers wrap: signed overflow is computed as unsigned.
template <class T>
constexpr T wrapping_add(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  else
    return a + b;
}
template <class T>
constexpr T wrapping_subtract(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
  else
    return a - b;
}
template <class T>
constexpr T wrapping_multiply(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  else
    return a * b;
}

// Integers are never NaN.
template <class T>
bool is_nan(T a) {
  if constexpr (std::is_floating_point_v<T>)
    return std::isnan(a);
  else
    return false;
}

// The larger and the smaller one; NaN if either is NaN.
template <class T>
T larger(T a, T b) {
  return a > b || is_nan(a) ? a : b;
}
template <class T>
T smaller(T a, T b) {
  return a < b || is_nan(a) ? a : b;
}

// out[i] = f(in[i]) in the compute type, converted back to the tensor's own.
template <class T, class F>
Result<Tensor> mapped(const Tensor& in, unsigned threads, F&& f) {
  Tensor source = in.cast(kDTypeOf<T>);
  BUDA_ASSIGN(Buffer out, Buffer::make(kDTypeOf<T>, in.shape()));
  const T* x = source.as<T>().data();
  T* y = out.as<T>().data();
  in_chunks(threads, static_cast<std::int64_t>(in.size()), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) y[i] = f(x[i]);
  });
  return std::move(out).take().cast(in.dtype());
}

// out = f(a, b) with NumPy's broadcasting to `shape`.
template <class T, class F>
Result<Tensor> combined(const Tensor& a, const Tensor& b, const Shape& shape, unsigned threads, F&& f) {
  Tensor sa = a.cast(kDTypeOf<T>), sb = b.cast(kDTypeOf<T>);
  BUDA_ASSIGN(Buffer out, Buffer::make(kDTypeOf<T>, shape));
  const T* x = sa.as<T>().data();
  const T* y = sb.as<T>().data();
  T* z = out.as<T>().data();
  StridedWalk<2> walk(shape, {broadcast_strides(a.shape(), shape), broadcast_strides(b.shape(), shape)});
  auto [step_a, step_b] = walk.inner_strides();
  in_chunks(threads, walk.count(), [&, da = step_a, db = step_b](std::int64_t begin, std::int64_t end) {
    walk.run(begin, end, [&](std::int64_t at, const std::array<std::int64_t, 2>& offsets, std::int64_t length) {
      const T* p = x + offsets[0];
      const T* q = y + offsets[1];
      T* r = z + at;
      // The common cases apart, so that the compiler can use vector instructions.
      if (da == 1 && db == 1) {
        for (std::int64_t i = 0; i < length; ++i) r[i] = f(p[i], q[i]);
      } else if (da == 1 && db == 0) {
        for (std::int64_t i = 0; i < length; ++i) r[i] = f(p[i], *q);
      } else if (da == 0 && db == 1) {
        for (std::int64_t i = 0; i < length; ++i) r[i] = f(*p, q[i]);
      } else {
        for (std::int64_t i = 0; i < length; ++i) r[i] = f(p[i * da], q[i * db]);
      }
    });
  });
  return std::move(out).take().cast(a.dtype());
}

}  // namespace buda::ops
