// SPDX-License-Identifier: Apache-2.0
// Values of pipegen files as text: integers, and lists in flow style. Internal to the module.
#pragma once

#include <buda/pipes/graph/pipe_graph.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace buda::pipes {

// What was expected instead of the text, for an error message; nothing if the value was read.
using Expectation = std::optional<std::string>;

// Decimal or 0x…, the whole text, in range.
Expectation parse_value(std::string_view text, std::int32_t& out);
Expectation parse_value(std::string_view text, std::int64_t& out);
Expectation parse_value(std::string_view text, Id& out);
// 0 or 1.
Expectation parse_value(std::string_view text, bool& out);
// [a, b, …]
Expectation parse_value(std::string_view text, std::vector<std::int32_t>& out);
Expectation parse_value(std::string_view text, std::vector<Id>& out);
// [a, b, …], which is one group, or [[a, b, …], …].
Expectation parse_value(std::string_view text, std::vector<std::vector<Id>>& out);
// [chip, row, column], or a list of these.
Expectation parse_value(std::string_view text, std::vector<CoreCoord>& out);
Expectation parse_value(std::string_view text, BufferType& out);
Expectation parse_value(std::string_view text, PrefetchType& out);

}  // namespace buda::pipes
