// SPDX-License-Identifier: Apache-2.0
// What makes an op more accurate, and the rules of mixed precision that ask for it.
#pragma once

#include <buda/device/descriptor.hpp>
#include <buda/diag/result.hpp>
#include <buda/graph/graph.hpp>
#include <buda/graph/value_type.hpp>
#include <buda/io/node.hpp>
#include <buda/tensor/data_format.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace buda::compiler {

// Fidelity, accumulation and formats that an op gets instead of what it has. `sources`: of operands that are inputs, parameters or
// constants.
struct Raise {
  std::optional<graph::MathFidelity> fidelity;
  std::optional<DataFormat> accumulate, output, sources;
  friend bool operator==(const Raise&, const Raise&) = default;
  friend auto operator<=>(const Raise&, const Raise&) = default;

  bool empty() const { return !fidelity && !accumulate && !output && !sources; }
  std::string text() const;  // "HiFi4, accumulate Float32"
};

// All that can be tried on a device, from the cheapest to the dearest. `has_blocks`: some value is in block floating point.
std::vector<Raise> possible_raises(const device::DeviceDescriptor& device, bool has_blocks);
// Formats for all ops and values, cheapest first: Float16, which takes no more memory than Float16_b and has
// three bits more, and of which the trial tells whether its range suffices; and Float32. Sums are in Float32 where the device can.
std::vector<Raise> raises_of_all(const device::DeviceDescriptor& device);
bool has_block_floats(const graph::Graph& graph);

// Without what the node has already, or has no use of: the fidelity of an op that does not multiply, a narrower format than its own.
Raise useful_part(const Raise& raise, const graph::Graph& graph, const graph::Node& node);
bool is_floating_source(const graph::Graph& graph, const graph::Node& node, std::size_t input);

struct RaisedOp {
  std::string name, type;
  Raise raise;
  std::vector<std::size_t> sources;  // operands for which raise.sources is
};
// The rules, ops with the same raise and type in one, each as a map of configure_mixed_precision.
std::vector<io::Node> rules_for(const std::vector<RaisedOp>& ops);
// A rule for all ops and values.
io::Node rule_for_all(const Raise& raise);

}  // namespace buda::compiler
