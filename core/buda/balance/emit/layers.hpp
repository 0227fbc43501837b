// SPDX-License-Identifier: Apache-2.0
// The ops of a plan by what of the model they compute.
#pragma once

#include <buda/balance/emit/report.hpp>
#include <buda/graph/fwd.hpp>
#include <buda/schema/record.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace buda::balance {

// Ops that do the work of the same nodes of the model. An op that computes several nodes at once has a layer for all of them together.
struct LayerFigures {
  std::string layer;  // the model's names: "conv1 + relu1"
  std::vector<std::string> nodes;
  std::int64_t ops = 0;
  std::int64_t first_epoch = 0, last_epoch = 0;
  std::int64_t cores = 0;    // of all its ops
  std::int64_t cycles = 0;   // of its slowest op, for one input
  std::string slowest_op;    // in the netlist
  std::string limiter;       // of that op
  double share_percent = 0;  // of the product of cycles and cores of all ops of the plan
  friend bool operator==(const LayerFigures&, const LayerFigures&) = default;
};

const schema::Record<LayerFigures>& describe(const LayerFigures*);

// Writes into each op of the report which nodes of the model it stems from; an op that stems from none is its own layer.
void name_layers(const graph::Graph& graph, PlacementReport& report);

// In the order in which they begin.
std::vector<LayerFigures> layers_of(const PlacementReport& report);

// A heading and a line for each layer.
std::vector<std::string> layer_table(const std::vector<LayerFigures>& layers);

}  // namespace buda::balance
