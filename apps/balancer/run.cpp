// Reading, placing, writing.
#include "apps/balancer/run.hpp"

#include "apps/balancer/output.hpp"

#include <buda/compiler/place.hpp>
#include <buda/compiler/settings.hpp>
#include <buda/device/load.hpp>
#include <buda/graph/graph_file.hpp>

namespace buda::balancer {

Result<void> run(const Options& o, cli::ToolHost& host) {
  OutputFiles files = output_files(o);
  BUDA_ASSIGN(auto device, device::load_device(host, o.device));
  BUDA_ASSIGN(auto graph, graph::read_graph(host.fs(), o.graph));
  BUDA_ASSIGN(auto placed, compiler::place(std::move(graph), device, o, {host.plugins, host.plugin_options}, host));
  for (const auto& line : balance::report_table(placed.balanced.report)) host.log(1, line);
  if (!o.settings.empty())
    BUDA_TRY(host.fs().write(o.settings, compiler::settings_text(compiler::settings_in_effect(o, host.plugin_options)), host.write_mode));
  return write_outputs(files, placed.segments, placed.balanced, placed.netlist, host);
}

}  // namespace buda::balancer
