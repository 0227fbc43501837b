// SPDX-License-Identifier: Apache-2.0
// What the choice of formats asks about single nodes of a device graph.
#pragma once

#include <buda/device/descriptor.hpp>
#include <buda/graph/graph.hpp>
#include <buda/tensor/data_format.hpp>

#include <string>
#include <vector>

namespace buda::passes {

// In topological order, without those of the host, whose values have no format.
std::vector<graph::NodeId> device_nodes(const graph::Graph& graph);

// An op of the device; values from the host come in as those of inputs do.
bool computes(const graph::Node& n);
bool is_tilizer(const graph::Node& n);
// Takes its first input as rows of datums instead of tiles: a tilizer, an embedding.
bool takes_rows(const graph::Node& n);
// Moves its input unchanged.
bool is_copy(const graph::Node& n);
// A maximum over slices, which compares them as they are in its input.
bool is_z_maximum(const graph::Node& n);
// All that it does with this operand is to multiply by it, in each step of a fused op that reads it.
bool multiplies_by(const graph::Node& n, std::size_t input);
// Takes and gives numbers as they are: a maximum over slices, a splice.
bool keeps_format(const graph::Node& n);
// Kept and computed in Float32 on a device that can (lowering_tags.hpp).
bool is_exact(const graph::Node& n, const device::DeviceDescriptor& device);

// The element type that the node's first result has in the model, where that is known.
DType model_type(const graph::Node& n);

bool can_accumulate(const device::DeviceDescriptor& device, DataFormat f);
// "Float16_b, Bfp8_b": for messages.
std::string format_list(const std::vector<DataFormat>& formats);

// Whether it has the ops of integers: products in Int8 with sums in Int32.
bool multiplies_int8(const device::DeviceDescriptor& device);
// A dense product of integers, whose sums are scaled.
bool multiplies_integers(const graph::Node& n);
// The format in which an op of integers gives its result, or takes an operand; nothing where others will do, too.
std::optional<DataFormat> integer_result(const graph::Node& n);
std::optional<DataFormat> integer_operand(const graph::Node& user, std::size_t input);

}  // namespace buda::passes
