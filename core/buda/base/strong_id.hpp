// SPDX-License-Identifier: Apache-2.0
// A strong id is an index that cannot be mistaken for another index.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>

#pragma GCC visibility push(default)

namespace buda {

// StrongId<struct NodeTag> and StrongId<struct PipeTag> do not convert into each other or from plain integers, so that a node
// number cannot be passed where a pipe number is wanted. A default-constructed id is invalid.
template <class Tag, class Rep = std::uint32_t>
class StrongId {
 public:
  using rep = Rep;
  static constexpr Rep kInvalid = std::numeric_limits<Rep>::max();

  constexpr StrongId() = default;
  constexpr explicit StrongId(Rep value) : value_(value) {}

  constexpr Rep value() const { return value_; }
  constexpr std::size_t index() const { return static_cast<std::size_t>(value_); }
  constexpr bool valid() const { return value_ != kInvalid; }

  friend constexpr auto operator<=>(StrongId, StrongId) = default;

 private:
  Rep value_ = kInvalid;
};

}  // namespace buda

template <class Tag, class Rep>
struct std::hash<buda::StrongId<Tag, Rep>> {
  std::size_t operator()(buda::StrongId<Tag, Rep> id) const noexcept { return std::hash<Rep>{}(id.value()); }
};

#pragma GCC visibility pop
