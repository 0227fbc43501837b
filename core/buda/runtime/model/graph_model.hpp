// SPDX-License-Identifier: Apache-2.0
// A graph as a model that the host runs as a whole: what sessions can do with images, they can do with graphs.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/graph/fwd.hpp>
#include <buda/runtime/model.hpp>

#include <string>

namespace buda::runtime {

// Of tensor level. Open types are derived first. `path` stands in messages.
Result<Model> model_of_graph(graph::Graph graph, const std::string& path);

}  // namespace buda::runtime
