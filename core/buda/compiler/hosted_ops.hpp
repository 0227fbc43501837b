// SPDX-License-Identifier: Apache-2.0
// Ops for which the device has no room, and which the host can run as well.
//
// To pick rows, as the windows of a convolution do, is a movement of data; and an op of integers, or one that reads elements by their
// numbers, gives the same on the host. A model is not refused for them. What else computes, such as products of floats, is not taken to
// the host without being asked.
#pragma once

#include <buda/compiler/balancer_options.hpp>
#include <buda/compiler/optimizer_options.hpp>
#include <buda/diag/result.hpp>
#include <buda/graph/fwd.hpp>
#include <buda/schema/record.hpp>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace buda::compiler {

// A lowered op without room.
struct Misfit {
  std::string why;
  bool picks_rows = false;
  std::vector<std::string> origins;  // names of the model's nodes that it stems from
};
const schema::Record<Misfit>& describe(const Misfit*);
// By the op's name.
using Misfits = std::map<std::string, Misfit>;

// Those for which place() has failed with BalancerOptions::hosts_misfits; nothing where anything else was wrong.
std::optional<Misfits> misfits_of(const Failure& failure);

// Adds what misfits_of() reads to errors of the nodes of a lowered graph.
using OriginsOfNodes = std::map<std::string, std::vector<std::string>>;
OriginsOfNodes origins_of_nodes(const graph::Graph& lowered);
Failure with_origins(Failure failure, const OriginsOfNodes& origins);

// What the host runs, by the name with which the optimizer takes it there.
struct HostedOp {
  std::string op;  // of the model; empty: a selection of rows
  std::string why;
};
using HostedOps = std::map<std::string, HostedOp>;

// Nothing where the host does not run one of them. `model`: the graph before the optimizer.
std::optional<HostedOps> hosted_ops(const Misfits& misfits, const graph::Graph& model);

// Names them for the host, and gives what there is to tell of those that were not named yet.
std::vector<Diagnostic> name_for_host(OptimizerOptions& options, const HostedOps& ops);

// A JSON map, in which the balancer hands them on to the driver.
std::string misfits_text(const Misfits& misfits);
Result<Misfits> parse_misfits(std::string_view text, const std::string& file);

}  // namespace buda::compiler
