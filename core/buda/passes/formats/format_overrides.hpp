// SPDX-License-Identifier: Apache-2.0
// What the user sets of formats: the standard ones, and by rules of mixed precision those of single nodes.
#pragma once

#include <buda/passes/pipeline/pass.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace buda::passes {

// What of the options the device can do.
struct StandardFormats {
  std::optional<DataFormat> values;           // nothing: by their element types
  std::optional<DataFormat> accumulate;       // nothing: by the inputs of each op
  ExponentFamily family = ExponentFamily::b;  // where nothing else decides
};

// PA030: the standard format is none of the device's, or no floating-point one. PA031, PA032 (warnings): the device does not compute, or
// accumulate, in the format.
Result<StandardFormats> standard_formats(const FormatOptions& options, const device::DeviceDescriptor& device, Host& host);

inline constexpr std::size_t kNoFormatRule = static_cast<std::size_t>(-1);

// What the rules set for a node.
struct FormatOverride {
  std::optional<DataFormat> output, intermediate, accumulate;
  std::optional<graph::MathFidelity> fidelity;
  std::size_t rule = kNoFormatRule;  // that set the output
};

// Of these nodes (device_nodes), by id. PA034: a rule asks for what the device does not have. PA036 (a warning): it is for no node.
Result<std::vector<FormatOverride>> format_overrides(const graph::Graph& graph, const std::vector<graph::NodeId>& nodes,
                                                     const std::vector<PrecisionRule>& rules, ExponentFamily family,
                                                     const device::DeviceDescriptor& device, Host& host);

}  // namespace buda::passes
