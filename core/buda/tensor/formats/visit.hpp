// SPDX-License-Identifier: Apache-2.0
// From an element type known at run time to a C++ type known at compile time.
#pragma once

#include <buda/tensor/dtype.hpp>
#include <buda/tensor/half.hpp>

#include <type_traits>
#include <utility>

#pragma GCC visibility push(default)

namespace buda {

// visit_dtype(t.dtype(), [&](auto tag) { using T = typename decltype(tag)::type; for (T v : t.as<T>()) … });
template <class F>
decltype(auto) visit_dtype(DType dtype, F&& f) {
  switch (dtype) {
    case DType::boolean:
      return std::forward<F>(f)(std::type_identity<Boolean>{});
    case DType::u8:
      return std::forward<F>(f)(std::type_identity<std::uint8_t>{});
    case DType::i8:
      return std::forward<F>(f)(std::type_identity<std::int8_t>{});
    case DType::u16:
      return std::forward<F>(f)(std::type_identity<std::uint16_t>{});
    case DType::i16:
      return std::forward<F>(f)(std::type_identity<std::int16_t>{});
    case DType::u32:
      return std::forward<F>(f)(std::type_identity<std::uint32_t>{});
    case DType::i32:
      return std::forward<F>(f)(std::type_identity<std::int32_t>{});
    case DType::u64:
      return std::forward<F>(f)(std::type_identity<std::uint64_t>{});
    case DType::i64:
      return std::forward<F>(f)(std::type_identity<std::int64_t>{});
    case DType::f16:
      return std::forward<F>(f)(std::type_identity<Half>{});
    case DType::bf16:
      return std::forward<F>(f)(std::type_identity<BFloat16>{});
    case DType::f64:
      return std::forward<F>(f)(std::type_identity<double>{});
    case DType::f32:
      break;
  }
  return std::forward<F>(f)(std::type_identity<float>{});
}

}  // namespace buda

#pragma GCC visibility pop
