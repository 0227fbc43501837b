// SPDX-License-Identifier: Apache-2.0
// A training step opened on a target.
#pragma once

#include "apps/trainer/options.hpp"

#include <buda/diag/result.hpp>
#include <buda/graph/fwd.hpp>
#include <buda/runtime/session.hpp>
#include <buda/runtime/session/training_session.hpp>

#include <memory>
#include <optional>
#include <string>

namespace buda::trainer {

struct Opened {
  std::unique_ptr<runtime::Target> target;  // null: the host evaluates the graph
  std::unique_ptr<runtime::Session> session;
  std::shared_ptr<const graph::Graph> graph;  // of a model that the host runs
  std::optional<runtime::TrainingSession> training;
  std::string netlist_digest;  // SHA-256 of the netlist's text; empty for a model that the host runs
};

// TR003: a graph on a device's target, or an image on target cpu.
Result<Opened> open(const Options& options, cli::ToolHost& host);

// The first op, in order, whose result holds a number that is not finite; empty: none, or the device does not tell.
std::string first_not_finite(const Opened& opened, const NamedTensors& inputs, Host& host);

}  // namespace buda::trainer
