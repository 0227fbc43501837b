// SPDX-License-Identifier: Apache-2.0
// Compilation and execution in one process.
#include "chip.hpp"

#include <buda/base/text.hpp>
#include <buda/graph/file/graph_file.hpp>
#include <buda/graph/graph.hpp>
#include <buda/io/file_system.hpp>
#include <buda/passes/integers/digit_parts.hpp>
#include <buda/plugin/loader.hpp>
#include <buda/runtime/model.hpp>
#include <buda/runtime/session.hpp>

#include <utility>

namespace buda::trial {

Result<std::unique_ptr<Toolchain>> load_toolchain(const std::string& plugins, const std::string& share) {
  auto out = std::make_unique<Toolchain>();
  out->files = io::make_real_file_system();
  out->host = std::make_unique<Host>(*out->files, out->sink);
  out->host->share_dir = share;
  std::vector<plugin::Kind> kinds = compiler::plugin_kinds();
  kinds.push_back(plugin::Kind::target);
  plugin::SearchPath search;
  search.installed_directory = plugins;
  BUDA_TRY(plugin::load_plugins(search, kinds, out->plugins, *out->host));
  return out;
}

Result<Compiled> compiled(const Recipe& recipe, const std::string& device, const compiler::CompileOptions& options, Toolchain& toolchain) {
  compiler::CompileOptions chosen = options;
  chosen.device = device;
  BUDA_ASSIGN(const graph::Graph graph, graph_of(recipe));
  Compiled out;
  const std::size_t told = toolchain.sink.diagnostics().size();
  BUDA_ASSIGN(out.image,
              buda::compile({"random.graph.json", io::Bytes(graph::graph_text(graph))}, chosen, toolchain.plugins, *toolchain.host));
  for (std::size_t i = told; i < toolchain.sink.diagnostics().size(); ++i) {
    const Diagnostic& d = toolchain.sink.diagnostics()[i];
    if (!d.node.empty()) out.notes.emplace(d.node, cat(d.code, " ", d.message));
  }
  BUDA_ASSIGN(const runtime::Model model, runtime::load_image("random.tti", out.image));
  for (const auto& [file, segment] : model.host_graphs) {
    ++out.host_segments;
    for (const graph::NodeId id : segment->ids())
      // The host splits integers and puts them together; what is computed with their digits is computed on the chip.
      if (segment->node(id).is_op() && !segment->node(id).tags.contains(passes::kDigits))
        for (const graph::Origin& origin : segment->node(id).origins) out.host_nodes.insert(origin.node);
  }
  return out;
}

Result<NamedTensors> run(const Compiled& model, const Recipe& recipe, runtime::Target& target, const device::DeviceDescriptor& device,
                         Toolchain& toolchain) {
  BUDA_ASSIGN(runtime::Model loaded, runtime::load_image("random.tti", model.image));
  BUDA_ASSIGN(auto session, runtime::Session::open(std::move(loaded), target, device, *toolchain.host));
  return session->run(inputs_of(recipe));
}

}  // namespace buda::trial
