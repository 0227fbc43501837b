// SPDX-License-Identifier: Apache-2.0
// What the user promises about the elements of inputs (--value-range), read and recorded (graph/input_range.hpp).
#pragma once

#include <buda/diag/result.hpp>
#include <buda/graph/fwd.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace buda::compiler {

// The least and the largest element, by the input's name in the model.
using ValueRanges = std::map<std::string, std::pair<std::int64_t, std::int64_t>>;

// Of NAME=LEAST:MOST each. IP003: a text that is not that, a name that is given twice.
Result<ValueRanges> parse_value_ranges(const std::vector<std::string>& texts);

// IP003: a name that no input has; an input of booleans, one that has its value already, or whose type has no number in the range;
// bounds in the wrong order.
Result<void> mark_value_ranges(graph::Graph& graph, const ValueRanges& ranges);

}  // namespace buda::compiler
