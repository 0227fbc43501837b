// SPDX-License-Identifier: Apache-2.0
// In which type an op computes: fp32 for the small floating-point types, fp64 for F64, and 64-bit integers, whose results wrap into the
// element type as NumPy's do.
#pragma once

#include <buda/ops/elements/loops.hpp>
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
Result<Tensor> mapped(const Tensor& in, unsigned threads, const F& f) {
  return map_elements(in, kDTypeOf<T>, threads, {&f, [](const void* formula, const void* from, void* to, std::int64_t count) {
                                                   const F& f = *static_cast<const F*>(formula);
                                                   const T* x = static_cast<const T*>(from);
                                                   T* y = static_cast<T*>(to);
                                                   for (std::int64_t i = 0; i < count; ++i) y[i] = f(x[i]);
                                                 }});
}

// out = f(a, b) with NumPy's broadcasting to `shape`, in the compute type, converted back to that of `a`.
template <class T, class F>
Result<Tensor> combined(const Tensor& a, const Tensor& b, const Shape& shape, unsigned threads, const F& f) {
  CombineLoop loop{&f, [](const void* formula, Run a, Run b, void* to, std::int64_t count) {
                     const F& f = *static_cast<const F*>(formula);
                     const T* p = static_cast<const T*>(a.first);
                     const T* q = static_cast<const T*>(b.first);
                     T* r = static_cast<T*>(to);
                     // The common cases apart, so that the compiler can use vector instructions.
                     if (a.step == 1 && b.step == 1) {
                       for (std::int64_t i = 0; i < count; ++i) r[i] = f(p[i], q[i]);
                     } else if (a.step == 1 && b.step == 0) {
                       for (std::int64_t i = 0; i < count; ++i) r[i] = f(p[i], *q);
                     } else if (a.step == 0 && b.step == 1) {
                       for (std::int64_t i = 0; i < count; ++i) r[i] = f(*p, q[i]);
                     } else {
                       for (std::int64_t i = 0; i < count; ++i) r[i] = f(p[i * a.step], q[i * b.step]);
                     }
                   }};
  BUDA_ASSIGN(Tensor out, combine_elements(a, b, shape, kDTypeOf<T>, kDTypeOf<T>, threads, loop));
  return out.cast(a.dtype());
}

}  // namespace buda::ops
