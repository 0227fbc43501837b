// SPDX-License-Identifier: Apache-2.0
// States of a training step: inputs that are outputs of the step before, and what else an update takes: numbers of the step, and means over
// its batches.
#pragma once

#include <buda/autograd/step_scalar.hpp>
#include <buda/autograd/term.hpp>
#include <buda/autograd/update.hpp>
#include <buda/diag/result.hpp>
#include <buda/graph/graph.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace buda::autograd {

class StepStates {
 public:
  // The graph must outlive it.
  StepStates(graph::Graph& graph, Update update) : graph_(&graph), update_(update) {}

  graph::Graph& graph() { return *graph_; }
  graph::ValueRef input(const std::string& name, const graph::ValueType& type, const std::string& training);
  // One input for all who ask for the same number.
  graph::ValueRef scalar(const StepScalar& scalar, DType dtype);
  // A state beside a parameter, which begins with zeros.
  Term moment(ops::Builder& b, const graph::Node& parameter, std::string_view state);
  // Makes a loop of the state, and with pairs one of what it has lost. `move` adds the change to what it is given. What the state is next.
  Term moved(ops::Builder& b, const Term& state, const std::function<Term(const Term&)>& move);
  // What a value of each batch adds up to over the batches of a step, in a node of this name.
  graph::ValueRef sum_over_batches(graph::ValueRef value, const std::string& name, graph::NodeId parameter);
  // Its share of one batch.
  Result<graph::ValueRef> mean_over_batches(graph::ValueRef value, const std::string& name, graph::NodeId parameter);

  // Ops from this id on belong to the phase.
  void tag_phase(std::size_t first, const char* phase);
  // A state in Float32, where states are.
  void mark_exact(graph::Node& state) const;
  // Of all states.
  std::int64_t elements() const { return elements_; }

 private:
  graph::ValueRef zeros(const std::string& name, const graph::ValueType& type, const std::string& training);
  void loop(const Term& state, const Term& next);

  graph::Graph* graph_;
  Update update_;
  std::int64_t elements_ = 0;
  std::map<std::string, graph::ValueRef> scalars_;
};

}  // namespace buda::autograd
