// Random inputs of a model, of its types and shapes.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/runtime/model.hpp>
#include <buda/tensor/named_tensors.hpp>

#include <cstdint>

namespace buda::runtime {

// A tensor for every input of the model that has to be given and that `given` lacks: real numbers uniform in [-1, 1), integers that are
// numbers of rows below the rows of their table (index_bounds.hpp), other integers 0 or 1, booleans; where the model was compiled for a
// range of values, uniform in that. The same seed gives an input of the same name and type the same first elements, whatever else the
// model has, and however many rows there are. As many rows as `given` has; where it has none, and rows of the model's batch are inputs,
// what `rounds` turns of the programs take.
Result<NamedTensors> draw_inputs(const Model& model, const NamedTensors& given, std::int64_t rounds, std::uint64_t seed);

}  // namespace buda::runtime
