// SPDX-License-Identifier: Apache-2.0
// Running what was balanced on the golden target.
#pragma once

#include <buda/arith/precision.hpp>
#include <buda/diag/result.hpp>
#include <buda/graph/fwd.hpp>
#include <buda/runtime/model.hpp>
#include <buda/tensor/named_tensors.hpp>

#include <memory>
#include <vector>

namespace buda::balance {

struct Balanced;

// What is run of a balanced graph.
Result<runtime::Model> model_of(const Balanced& balanced);

// A balanced graph on a golden device that ignores formats (fp32), or takes them exactly.
class GoldenSession {
 public:
  static Result<GoldenSession> open(const Balanced& balanced, arith::Mode mode = arith::Mode::fp32);
  GoldenSession(GoldenSession&&) noexcept;
  GoldenSession& operator=(GoldenSession&&) noexcept;
  ~GoldenSession();

  Result<NamedTensors> run(const NamedTensors& inputs);

 private:
  struct Parts;
  explicit GoldenSession(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

// For the inputs of a graph with model shapes: -1, 0 and 1.
NamedTensors integer_inputs(const graph::Graph& graph, std::uint64_t seed);

// Expects that golden and the graph give the same bits for each batch; the arithmetic must be exact, as with small integers.
void expect_same_bits(const graph::Graph& graph, const Balanced& balanced, const std::vector<NamedTensors>& batches);

}  // namespace buda::balance
