// SPDX-License-Identifier: Apache-2.0
// Drawn integers: their magnitudes, primes and neighbours of powers of two, and promises of ranges.
#include "integer_pool.hpp"

#include <buda/tensor/formats/visit.hpp>

#include <algorithm>
#include <limits>
#include <type_traits>

namespace buda::trial {
namespace {

constexpr int kBits[] = {3, 8, 8, 11, 11, 16, 16, 24, 31};
constexpr std::int64_t kPrimes[] = {2,    3,    7,     13,    31,    127,    251,     257,      509,      1021,       2039,      2053,
                                    4093, 8191, 32003, 65521, 65537, 131071, 1048573, 16777213, 16777259, 2147483629, 2147483647};

// Ways to draw the numbers of a tensor.
enum Style : std::size_t { kEven, kSmall, kSpecial, kLogarithmic, kMixed, kStyles };

}  // namespace

std::pair<std::int64_t, std::int64_t> limits(DType dtype) {
  std::pair<std::int64_t, std::int64_t> out{0, 1};
  visit_dtype(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<T>) {
      const auto most = std::min<std::uint64_t>(static_cast<std::uint64_t>(std::numeric_limits<T>::max()), INT64_MAX);
      out = {static_cast<std::int64_t>(std::numeric_limits<T>::min()), static_cast<std::int64_t>(most)};
    }
  });
  return out;
}

IntegerPool::IntegerPool(std::uint64_t seed) : growing_(seed) {
  bits_ = growing_.one_of(kBits);
  negative_ = growing_.chance(50);
  promises_ = growing_.chance(70);
}

DType IntegerPool::any_integer_type() {
  static constexpr DType kTypes[] = {DType::i64, DType::i64, DType::i64, DType::i32, DType::i32, DType::i32,
                                     DType::u8,  DType::i8,  DType::u16, DType::i16, DType::u32};
  return growing_.one_of(kTypes);
}

std::pair<std::int64_t, std::int64_t> IntegerPool::bounds(DType dtype) const {
  const auto [least, most] = limits(dtype);
  const std::int64_t size = std::int64_t{1} << bits_;
  return {std::max(least, negative_ ? -size : 0), std::min(most, size)};
}

std::int64_t IntegerPool::number(std::int64_t least, std::int64_t most, std::size_t style) {
  auto within = [&](std::int64_t v) { return v >= least && v <= most ? v : growing_.between(least, most); };
  const std::int64_t sign = growing_.chance(50) ? 1 : -1;
  switch (style) {
    case kEven:
      return growing_.between(least, most);
    case kSmall:
      return growing_.between(std::max<std::int64_t>(least, -3), std::max(least, std::min<std::int64_t>(most, 5)));
    case kSpecial:
      if (growing_.chance(40)) return within(sign * growing_.one_of(kPrimes));
      if (growing_.chance(20)) return growing_.chance(50) ? least : most;
      return within(sign * ((std::int64_t{1} << growing_.pick(static_cast<std::size_t>(bits_) + 1)) + growing_.between(-1, 1)));
    case kLogarithmic: {
      const std::int64_t size = std::int64_t{1} << growing_.pick(static_cast<std::size_t>(bits_) + 1);
      return growing_.between(std::clamp(-size, least, most), std::clamp(size, least, most));
    }
    default:
      return number(least, most, growing_.pick(kMixed));
  }
}

Tensor IntegerPool::numbers(const Shape& shape, DType dtype, std::int64_t least, std::int64_t most) {
  const std::size_t style = growing_.pick(kStyles);
  std::vector<std::int64_t> values(static_cast<std::size_t>(*shape.volume()));
  for (std::int64_t& v : values) v = number(least, most, style);
  return Tensor(shape, std::move(values)).cast(dtype);
}

Tensor IntegerPool::numbers(const Shape& shape, DType dtype) {
  const auto [least, most] = bounds(dtype);
  return numbers(shape, dtype, least, most);
}

Tensor IntegerPool::neighbours(const Tensor& near) {
  const auto [least, most] = limits(near.dtype());
  const Tensor wide = near.cast(DType::i64);
  std::vector<std::int64_t> values(wide.as<std::int64_t>().begin(), wide.as<std::int64_t>().end());
  for (std::int64_t& v : values)
    if (v > least && v < most && growing_.chance(50)) v += growing_.between(-1, 1);
  return Tensor(near.shape(), std::move(values)).cast(near.dtype());
}

Port IntegerPool::source(Tensor value, std::int64_t least, std::int64_t most) {
  if (growing_.chance(25)) return growing_.constant(std::move(value));
  return growing_.input(std::move(value), promises_ ? std::optional<Promise>(Promise{least, most}) : std::nullopt);
}

Port IntegerPool::source(const Shape& shape, DType dtype) {
  const auto [least, most] = bounds(dtype);
  return source(numbers(shape, dtype, least, most), least, most);
}

Port IntegerPool::bools(const Shape& shape) {
  Tensor values = numbers(shape, DType::u8, 0, 1).cast(DType::boolean);
  return growing_.chance(25) ? growing_.constant(std::move(values)) : growing_.input(std::move(values));
}

Port IntegerPool::integers() {
  if (auto found = growing_.some([](const Tensor& t) { return is_integer(t.dtype()); })) return *found;
  const DType dtype = any_integer_type();
  const auto [least, most] = bounds(dtype);
  Tensor values = numbers(growing_.any_shape(), dtype, least, most);
  return growing_.input(std::move(values), promises_ ? std::optional<Promise>(Promise{least, most}) : std::nullopt);
}

Port IntegerPool::operand_for(Port other) {
  const DType dtype = growing_.dtype(other);
  const Shape shape = growing_.shape(other);
  if (growing_.chance(35)) {
    auto found = growing_.some([&](const Tensor& t) { return t.dtype() == dtype && broadcast(t.shape(), shape); });
    if (found && *found != other) return *found;
  }
  if (growing_.chance(25)) {
    Tensor near = neighbours(growing_.value(other));
    const Tensor wide = near.cast(DType::i64);
    const auto span = wide.as<std::int64_t>();
    const auto [least, most] = std::minmax_element(span.begin(), span.end());
    return source(std::move(near), *least, *most);
  }
  return source(growing_.meeting_shape(shape), dtype);
}

Port IntegerPool::condition_for(const Shape& shape) {
  auto found = growing_.some([&](const Tensor& t) { return t.dtype() == DType::boolean && broadcast(t.shape(), shape); });
  return found && growing_.chance(80) ? *found : bools(growing_.meeting_shape(shape));
}

Port IntegerPool::places(const Shape& shape, std::int64_t size) {
  const DType dtype = any_index_type();
  if (growing_.chance(30)) {
    auto computed = growing_.some([&](const Tensor& t) { return is_integer(t.dtype()) && t.shape() == shape; });
    if (computed && growing_.dtype(*computed) != dtype)
      computed = growing_.op("cast", {*computed}, {{"dtype", std::string(dtype_name(dtype))}});
    if (computed) {
      Port divisor = growing_.constant(Tensor::scalar<std::int64_t>(size));
      if (dtype == DType::i32) divisor = growing_.constant(Tensor::scalar<std::int32_t>(static_cast<std::int32_t>(size)));
      if (auto place = growing_.op("modulo", {*computed, divisor})) return *place;
    }
  }
  const std::int64_t least = growing_.chance(60) ? 0 : -size;
  return source(numbers(shape, dtype, least, size - 1), least, size - 1);
}

}  // namespace buda::trial
