// SPDX-License-Identifier: Apache-2.0
// What became of formats: whether the device can do them, and which overrides could not be followed.
#pragma once

#include <buda/passes/formats/format_overrides.hpp>

#include <vector>

namespace buda::passes {

// All formats and precisions of these nodes, whose values have formats. PA033, one per mistake: the device has no such format, cannot
// accumulate in it, or an op reads exponents of two widths.
Result<void> check_formats(const graph::Graph& graph, const std::vector<graph::NodeId>& nodes, const device::DeviceDescriptor& device);

// Warns (PA035, one per rule of the user) of values that are not in the exponent family that a rule set. That masks and outputs are no
// block floats, and that weights of the switches follow the family, is as documented.
void report_changed_families(const graph::Graph& graph, const std::vector<graph::NodeId>& nodes,
                             const std::vector<FormatOverride>& overrides, const std::vector<PrecisionRule>& rules, Host& host);

}  // namespace buda::passes
