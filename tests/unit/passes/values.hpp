// What tests of passes need to look at values: tensors, and passes that must keep the meaning of a graph.
#pragma once

#include "harness.hpp"

#include <buda/ops/whole_graph/evaluate.hpp>
#include <buda/passes/pipeline/equivalence_check.hpp>
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

}  // namespace buda::passes
