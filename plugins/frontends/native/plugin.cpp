// SPDX-License-Identifier: Apache-2.0
// The frontend `native`: the graph format itself, so that a graph written by hand enters the toolchain as any other model does.
#include <buda/base/text.hpp>
#include <buda/graph/file/graph_file.hpp>
#include <buda/graph/graph.hpp>
#include <buda/ops/whole_graph/infer.hpp>
#include <buda/plugin/frontend.hpp>
#include <buda/plugin/plugin.hpp>
#include <buda/tensor/tensor.hpp>

namespace {

using namespace buda;

class NativeFrontend final : public plugin::Frontend {
 public:
  int recognizes(std::string_view head, const std::string& file_name) const override {
    bool begins_as_map = trim(head).starts_with('{');
    if (begins_as_map && head.find("\"buda.graph/") != std::string_view::npos) return 100;
    if (to_lower(file_name).ends_with(".graph.json")) return 80;
    return begins_as_map && to_lower(file_name).ends_with(".json") ? 20 : 0;
  }

  Result<graph::Graph> import(const plugin::ModelSource& source, const plugin::ImportOptions& options, Host& host) override {
    if (!options.values.empty())
      return usage_error("NF001", cat("--value ", options.values.begin()->first, ": a graph file does not support values of inputs"));
    if (!options.dims.empty())
      return usage_error("NF001", cat("--dim ", options.dims.begin()->first, ": a graph file has no symbolic dimensions"));
    if (!options.input_shapes.empty())
      return usage_error("NF001",
                         cat("--input-shape ", options.input_shapes.begin()->first, ": a graph file states the shapes of its inputs"));
    BUDA_ASSIGN(auto graph, graph::parse_graph(host.fs(), source.bytes.view(), source.path));
    BUDA_TRY(ops::infer_types(graph));
    if (!options.name.empty()) graph.name = options.name;
    return graph;
  }
};

}  // namespace

BUDA_PLUGIN(.name = "native", .version = "1.0", .description = "reads graph files, also those written by hand", .license = "Apache-2.0") {
  registrar.add_frontend({.name = "native",
                          .summary = "graph files (.graph.json), written by a tool or by hand",
                          .options = {},
                          .make = [](const schema::OptionValues&, Host&) -> Result<std::unique_ptr<plugin::Frontend>> {
                            return std::unique_ptr<plugin::Frontend>(std::make_unique<NativeFrontend>());
                          }});
}
