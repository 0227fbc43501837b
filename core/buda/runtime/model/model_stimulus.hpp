// SPDX-License-Identifier: Apache-2.0
// Random inputs of a model, of its types and shapes.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/graph/fwd.hpp>
#include <buda/runtime/model.hpp>
#include <buda/tensor/named_tensors.hpp>

#include <cstdint>
#include <string>

namespace buda::runtime {

// A tensor for every input of the model that has to be given and that `given` lacks: real numbers uniform in [-1, 1), booleans, integers 0
// or 1; where the plan has a range of values, as for indices into a table, uniform in that, and no index is negative. The same seed gives
// an input of the same name and type the same first elements, whatever else the model has, and however many rows there are. As many rows
// as `given` has; where it has none, and rows of the model's batch are inputs, what `rounds` turns of the programs take.
Result<NamedTensors> draw_inputs(const Model& model, const NamedTensors& given, std::int64_t rounds, std::uint64_t seed);

// The same of a graph of tensor level, whose indices get their ranges first, as they do in an image. `path` stands in messages.
Result<NamedTensors> draw_inputs(graph::Graph graph, const std::string& path, const NamedTensors& given, std::uint64_t seed);

}  // namespace buda::runtime
