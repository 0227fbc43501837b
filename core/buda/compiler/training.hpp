// SPDX-License-Identifier: Apache-2.0
// Training steps with the decompositions of plugins: an op that one of them decomposes is differentiated.
#pragma once

#include <buda/autograd/training_step.hpp>
#include <buda/compiler/plugin_set.hpp>
#include <buda/diag/result.hpp>
#include <buda/graph/fwd.hpp>
#include <buda/io/host.hpp>

namespace buda::compiler {

// autograd::training_step() with what the plugins bring.
Result<autograd::TrainingStep> training_step(graph::Graph graph, autograd::StepOptions options, const PluginSet& plugins, Host& host);

}  // namespace buda::compiler
