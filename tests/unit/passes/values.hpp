// SPDX-License-Identifier: Apache-2.0
// What tests of passes need to look at values: tensors, and passes that must keep the meaning of a graph.
#pragma once

#include "harness.hpp"

#include <buda/ops/whole_graph/evaluate.hpp>
#include <buda/passes/pipeline/equivalence_check.hpp>
#include <buda/passes/simplify/candidates.hpp>
#include <buda/tensor/tensor.hpp>

#include <utility>
#include <vector>

namespace buda::passes {

inline Tensor f32(Shape shape, std::vector<float> elements) { return Tensor(std::move(shape), std::move(elements)); }

// Numbers from -1 to 1 that are all different, and the same in each run.
inline Tensor varied(Shape shape, std::uint64_t seed = 1) {
  Rng rng(seed);
  std::vector<float> v(static_cast<std::size_t>(*shape.volume()));
  for (float& x : v) x = static_cast<float>(rng.uniform(-1, 1));
  return Tensor(std::move(shape), std::move(v));
}

inline NamedTensors evaluated(const Graph& graph, const NamedTensors& inputs) {
  auto out = ops::evaluate_graph(graph, inputs);
  if (out) return std::move(*out);
  ADD_FAILURE() << Bench::message(out.failure()) << '\n' << listing(graph);
  return {};
}

// Runs the passes one after the other and expects that each keeps the meaning of the graph.
inline void expect_equivalence(Graph& graph, Bench& bench, const std::vector<const Pass*>& passes, NamedTensors inputs = {}) {
  if (inputs.empty()) {
    auto random = random_inputs(graph, 1);
    ASSERT_TRUE(random.ok());
    inputs = std::move(*random);
  }
  EquivalenceCheck check(bench.host, ops::standard_ops());
  auto started = check.start(graph, std::move(inputs));
  ASSERT_TRUE(started.ok()) << Bench::message(started.failure());
  for (const Pass* pass : passes) {
    bench.run(*pass, graph);
    auto same = check.after(graph, pass->name);
    ASSERT_TRUE(same.ok()) << Bench::message(same.failure()) << '\n' << listing(graph);
  }
}

// The same passes, the last of which lowers: with the host's partition before it where decompositions round, which no device does.
inline std::vector<const Pass*> with_host_for_rounding(const Graph& graph, std::vector<const Pass*> passes) {
  Bench bench;
  bench.context.decompositions = &plugin_decompositions();
  Graph decomposed = graph;
  bench.run(kDecompose, decomposed);
  if (!ops_of_types(decomposed, {"round"}).empty()) passes.insert(passes.end() - 1, &kCpuFallback);
  return passes;
}

}  // namespace buda::passes
