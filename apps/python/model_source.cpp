// SPDX-License-Identifier: Apache-2.0
// Graphs and files of models.
#include "apps/python/model_source.hpp"

#include <buda/graph/file/graph_file.hpp>
#include <buda/graph/graph.hpp>
#include <buda/io/file_system.hpp>
#include <buda/io/host.hpp>

namespace buda::python {

Result<plugin::ModelSource> model_source(const graph::Graph* made, const std::string& model, Host& host) {
  if (made != nullptr) return plugin::ModelSource{made->name + ".graph.json", io::Bytes(graph::graph_text(*made))};
  BUDA_ASSIGN(auto bytes, host.fs().read(model));
  return plugin::ModelSource{model, std::move(bytes)};
}

}  // namespace buda::python
