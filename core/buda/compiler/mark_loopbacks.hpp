// SPDX-License-Identifier: Apache-2.0
// Which outputs of the model are inputs of the next step.
#pragma once

#include <buda/compiler/optimizer_options.hpp>
#include <buda/diag/result.hpp>
#include <buda/graph/fwd.hpp>
#include <buda/io/host.hpp>

namespace buda::compiler {

// Tags inputs (graph/loopback.hpp) as --loopback-outputs and --enable-link-past-cache-ios say, and tells what the latter found. OZ008: a
// pair that is not written INPUT=OUTPUT, names what the graph does not have, or does not fit. A range (graph/input_range.hpp) is taken from
// such an input, with a warning (OZ011).
Result<void> mark_loopbacks(graph::Graph& graph, const OptimizerOptions& options, Host& host);

}  // namespace buda::compiler
