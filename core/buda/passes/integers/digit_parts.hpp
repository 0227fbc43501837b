// SPDX-License-Identifier: Apache-2.0
// Finding the digits of an integer that a decomposition meets as one value.
//
// The pass exact-integers keeps large integers as high * base + low. Where an op needs the whole value it gets one that the host would put
// together, and that has the tag kDigits. A decomposition that can do with the digits takes these, and nobody computes the whole.
#pragma once

#include <buda/graph/graph.hpp>

#include <cstdint>
#include <optional>

#pragma GCC visibility push(default)

namespace buda::passes {

// The tag; its value is the base.
inline constexpr const char* kDigits = "digits";

// Of that many places at most an index is compared with each; a gather from more is the host's.
inline constexpr std::int64_t kMaxComparedPlaces = 4096;

struct DigitParts {
  graph::Edge high, low;  // I32; low is in [0, base), and so is the value not negative where `high` is not
  std::int64_t base = 0;
};

// Nothing for a value that has no digits.
std::optional<DigitParts> digit_parts(const graph::Graph& graph, const graph::Edge& value);

}  // namespace buda::passes

#pragma GCC visibility pop
