// SPDX-License-Identifier: Apache-2.0
// What the user promises about all elements of an input of numbers. A tag of the input records it: passes rely on it, and a run checks it:
//
//   ids = input : I64 [1, 128]      value_range=0:50256
#pragma once

#include <buda/graph/fwd.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace buda::graph {

inline constexpr const char* kValueRange = "value_range";  // the tag; its value is InputRange::text()

// Both bounds belong to it. The smallest and the largest std::int64_t also stand for all numbers beyond them, but not for infinities.
struct InputRange {
  std::int64_t least = 0;
  std::int64_t most = 0;

  std::string text() const;  // "0:50256"
  friend bool operator==(const InputRange&, const InputRange&) = default;
};

// The inverse of InputRange::text(); nothing for any other text, as for one whose least bound is larger than its most.
std::optional<InputRange> parse_input_range(std::string_view text);

// The recorded range of an input, as its text; empty without one.
std::string value_range_of(const Node& input);

inline constexpr const char* kIndexOf = "index_of";  // the tag of an input whose range is that of the indices which the named op takes
// The name of that op; empty without one.
std::string index_reader_of(const Node& input);

}  // namespace buda::graph
