// SPDX-License-Identifier: Apache-2.0
// From a model to the graph of a training step that a host runs phase by phase: what `importer --training` and `autograd --form programs`
// do, with gradients as outputs.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/graph/graph.hpp>
#include <buda/io/host.hpp>
#include <buda/plugin/model_source.hpp>
#include <buda/plugin/registry.hpp>

#include <optional>
#include <string>

#pragma GCC visibility push(default)

namespace buda::compiler {

// Texts are those of autograd's options of the same names.
struct StepRequest {
  std::string loss;                             // empty: the host computes it, and gives the gradients of the outputs
  std::optional<graph::Graph> loss_graph = {};  // instead of `loss`
  std::string optimizer = "sgd:lr=0";
  std::string update = "pairs";
  std::string frozen;      // regular expression: parameters that stay as they are; empty: none
  std::string prediction;  // output that the loss compares; empty: the only one
  std::string frontend;    // empty: the one that recognises the model
  plugin::ImportOptions import;
};

// A step takes the sum of its batches' gradients. Errors are those of import_model() and autograd::training_step(); AG017 is a
// warning.
Result<graph::Graph> step_of_model(const plugin::ModelSource& model, const StepRequest& request, const plugin::Registries& plugins,
                                   Host& host);

}  // namespace buda::compiler

#pragma GCC visibility pop
