// Reads pipes, makes stream programs, writes them.
#include "apps/pipegen/run.hpp"

#include <buda/base/text.hpp>
#include <buda/device/cluster.hpp>
#include <buda/device/load.hpp>
#include <buda/io/yaml.hpp>
#include <buda/overlay/blob_file.hpp>
#include <buda/overlay/build.hpp>
#include <buda/overlay/report.hpp>
#include <buda/pipes/pipegen_file.hpp>

#include <algorithm>
#include <vector>

namespace buda::pipegen {
namespace {

// The document of a pipe, a buffer or an op's first buffer in the file: what a diagnostic of the stream programs is about.
SourceLoc place_of(const Diagnostic& d, std::string_view text, const std::string& file) {
  std::vector<std::string> heads;
  for (std::string_view kind : {"pipe", "buffer"})
    for (const auto& [key, value] : d.data)
      if (key == kind) heads.push_back(cat('\n', kind, '_', value, ':'));
  if (!d.node.empty()) heads.push_back(cat("\n  md_op_name: ", io::yaml_scalar(d.node), '\n'));
  for (const std::string& head : heads) {
    auto at = text.find(head);
    if (at == std::string_view::npos) continue;
    auto before = text.substr(0, at + 1);
    std::uint32_t column = head.find_first_not_of("\n ") == 1 ? 1 : 3;
    return {file, static_cast<std::uint32_t>(std::count(before.begin(), before.end(), '\n')) + 1, column};
  }
  return {file, 0, 0};
}

}  // namespace

Result<void> run(const Options& o, Host& host) {
  if (o.output.empty()) return usage_error("OV040", "option -o FILE is missing: where should the stream programs go?");
  BUDA_ASSIGN(auto device, device::load_device(host, o.device));
  std::string file = o.pipes == io::kStdStream ? "<stdin>" : o.pipes;
  BUDA_ASSIGN(auto bytes, host.fs().read(o.pipes));
  BUDA_ASSIGN(auto graph, pipes::parse_pipegen(bytes.view(), file));
  const bool over_ethernet = std::any_of(graph.buffers.begin(), graph.buffers.end(),
                                         [](const pipes::Buffer& b) { return b.type == pipes::BufferType::ethernet_relay; });
  const bool over_pcie =
      std::any_of(graph.pipes.begin(), graph.pipes.end(), [](const pipes::Pipe& p) { return p.mmio_downstream.has_value(); });
  device::Cluster cluster;
  if (over_ethernet || over_pcie || !o.cluster.empty()) {
    BUDA_ASSIGN(cluster, device::load_cluster(host, device, o.cluster));
    device.chips = std::max(device.chips, device::chips_of(cluster));
  }
  if (over_pcie) device.chips = std::max(device.chips, 2);  // as many as the netlist has, which only matters if it is one
  auto blob = overlay::build_blob(graph, device, cluster);
  if (!blob) {
    for (Diagnostic& d : blob.failure().diagnostics())
      if (d.loc.file.empty()) d.loc = place_of(d, bytes.view(), file);
    return std::move(blob).failure();
  }
  BUDA_ASSIGN(auto out, host.fs().create(o.output, host.write_mode));
  if (o.format == "yaml") {
    BUDA_TRY(overlay::write_blob_yaml(*blob, graph, device, static_cast<std::uint32_t>(o.epoch), *out));
  } else {
    BUDA_TRY(overlay::write_blob(*blob, *out));
  }
  BUDA_TRY(out->commit());
  if (!o.report.empty()) {
    overlay::Report report = overlay::make_report(*blob, device, cluster.eth_core);
    std::string text = o.report.ends_with(".json")  ? overlay::report_json(report, *blob)
                       : o.report.ends_with(".svg") ? overlay::report_svg(report, *blob, device)
                                                    : overlay::report_text(report, *blob, device);
    BUDA_TRY(host.fs().write(o.report, text, host.write_mode));
  }
  std::size_t streams = 0;
  std::int64_t phases = 0;
  for (const auto& core : blob->cores) {
    streams += core.streams.size();
    phases += core.phases();
  }
  host.log(1, cat(blob->cores.size(), " cores, ", streams, " streams, ", phases, " phases"));
  return success();
}

}  // namespace buda::pipegen
