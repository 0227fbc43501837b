// SPDX-License-Identifier: Apache-2.0
// Random graphs of the kind that models are, and inputs for them: for tests of the whole pipeline.
#pragma once

#include <buda/graph/graph.hpp>
#include <buda/tensor/tensor_file.hpp>

#include <cstdint>

namespace buda::passes {

struct RandomGraph {
  graph::Graph graph;
  NamedTensors inputs;
};

// basic: elementwise ops, products, reductions, normalisations and simple movement; batches: on values of more axes, and the elements of a
// batch meet; all: also convolutions, pools, resizes, any movement, comparisons and selections.
enum class RandomOps : std::uint8_t { basic, batches, all };

// The same seed gives the same graph: a few inputs, some twenty ops of all kinds that are lowered, on shapes of one to four axes, aligned
// to tiles and not. Values are computed along the way, so that an op is only used where its data are in its domain; what stands in their
// padding on a device is then another matter, and the one that is tested.
// With `rows`, that is the first size of all inputs.
RandomGraph random_graph(std::uint64_t seed, RandomOps ops = RandomOps::basic, std::int64_t rows = 0);

}  // namespace buda::passes
