// SPDX-License-Identifier: Apache-2.0
// Running a graph without a chip: its reference meaning, with inputs cut into batches as for an image.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/graph/fwd.hpp>
#include <buda/io/host.hpp>
#include <buda/runtime/batches.hpp>
#include <buda/tensor/named_tensors.hpp>

#include <cstdint>

#pragma GCC visibility push(default)

namespace buda::runtime {

struct GraphRun {
  NamedTensors outputs;
  Batches batches;
};

// fp32: the reference meaning. exact: in the data formats that the optimizer chose (ops/whole_graph/evaluate_formats.hpp); device level
// only. bfloat16: weights, inputs and the result of each op rounded to bfloat16, sums in fp32; tensor level only.
enum class Arithmetic : std::uint8_t { fp32, exact, bfloat16 };

// Open types are derived first. Inputs are treated as Session::run treats them.
Result<GraphRun> run_graph(graph::Graph graph, const NamedTensors& inputs, Host& host, Arithmetic arithmetic = Arithmetic::fp32);

}  // namespace buda::runtime

#pragma GCC visibility pop
