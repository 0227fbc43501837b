// SPDX-License-Identifier: Apache-2.0
// Attributes of ops in netlists: their rows (ops/table/device_attribute.hpp), and the members that hold them.
#pragma once

#include <buda/netlist/model/op.hpp>
#include <buda/ops/table/device_attribute.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace buda::netlist {

using ops::DeviceAttribute;

// The 3 of "input3", a range of splice.
std::optional<std::uint64_t> splice_input(std::string_view key);

// The row of a key as files spell it: of "input3" that of "inputN". Null for words that are none.
const DeviceAttribute* find_attribute(std::string_view key);

// Where the value of an attribute is; nowhere for those that belong to single inputs or are spellings of others.
using AttributeMember =
    std::variant<std::monostate, bool*, std::int32_t*, double*, std::string*, std::vector<std::int32_t>*, std::optional<std::int32_t>*,
                 Dim*, ReluMode*, VectorMode*, SfpuThread*, std::optional<Granularity>*, TopkSort*, StochasticRounding*>;
AttributeMember attribute_member(const DeviceAttribute& row, OpAttributes& attributes);

}  // namespace buda::netlist
