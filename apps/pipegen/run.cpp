// Reads pipes, makes stream programs, writes them.
#include "apps/pipegen/run.hpp"

#include <buda/base/text.hpp>
#include <buda/device/cluster.hpp>
#include <buda/device/device_name.hpp>
#include <buda/device/load.hpp>
#include <buda/overlay/blob/blob_file.hpp>
#include <buda/overlay/build.hpp>
#include <buda/overlay/reports/report.hpp>
#include <buda/pipes/format/pipes_file.hpp>

#include <algorithm>
#include <optional>
#include <vector>

namespace buda::pipegen {
namespace {

// Where the file says the pipe, the buffer, or the op's first buffer on the core that a diagnostic of the stream programs is about.
SourceLoc place_of(const Diagnostic& d, const pipes::PlacedGraph& placed, const std::string& file) {
  auto at = [&](const auto& entities, const std::vector<pipes::FilePlace>& places, auto is_meant) -> std::optional<SourceLoc> {
    auto it = std::find_if(entities.begin(), entities.end(), is_meant);
    if (it == entities.end()) return std::nullopt;
    const pipes::FilePlace& p = places[static_cast<std::size_t>(it - entities.begin())];
    return SourceLoc{file, p.line, p.column};
  };
  std::string core;
  for (const auto& [key, value] : d.data) {
    auto has_id = [&id = value](const auto& entity) { return cat(entity.id) == id; };
    std::optional<SourceLoc> found;
    if (key == "pipe") found = at(placed.graph.pipes, placed.pipes, has_id);
    if (key == "buffer") found = at(placed.graph.buffers, placed.buffers, has_id);
    if (found) return *found;
    if (key == "core") core = value;
  }
  auto of_op = at(placed.graph.buffers, placed.buffers, [&](const pipes::Buffer& b) {
    return !d.node.empty() && b.op == d.node && (core.empty() || cat('[', b.core.row, ", ", b.core.col, ']') == core);
  });
  return of_op.value_or(SourceLoc{file, 0, 0});
}

// The device that --device names, else the one for which the pipes were made. TT-Buda's do not say.
Result<device::DeviceDescriptor> load_device(const Options& o, const std::string& made_for, const std::string& file, Host& host) {
  constexpr const char* kUsual = "n150";
  if (!o.device.empty() || made_for.empty()) return device::load_device(host, o.device.empty() ? kUsual : o.device);
  const auto shipped = device::known_devices(host);
  BUDA_ASSIGN(const auto name, device::parse_device_name(made_for));
  if (std::find(shipped.begin(), shipped.end(), name.board) != shipped.end()) return device::load_device(host, made_for);
  Diagnostic d = input_error("OV041", {file, 0, 0}, cat("the pipes were made for the device of '", made_for, "', which is not installed"));
  d.hint = cat("give the path of that descriptor: --device PATH/", made_for);
  return d;
}

}  // namespace

Result<void> run(const Options& o, Host& host) {
  std::string file = o.pipes == io::kStdStream ? "<stdin>" : o.pipes;
  host.progress("reading pipes", 0, 0);
  BUDA_ASSIGN(auto bytes, host.fs().read(o.pipes));
  BUDA_ASSIGN(auto placed, pipes::parse_pipe_graph(bytes.view(), file));
  const pipes::PipeGraph& graph = placed.graph;
  BUDA_ASSIGN(auto device, load_device(o, graph.device, file, host));
  const bool over_ethernet = std::any_of(graph.buffers.begin(), graph.buffers.end(),
                                         [](const pipes::Buffer& b) { return b.type == pipes::BufferType::ethernet_relay; });
  const bool over_pcie =
      std::any_of(graph.pipes.begin(), graph.pipes.end(), [](const pipes::Pipe& p) { return p.mmio_downstream.has_value(); });
  device::Cluster cluster;
  if (over_ethernet || over_pcie || !o.cluster.empty()) {
    BUDA_ASSIGN(cluster, device::load_cluster(host, device, o.cluster));
    device.chips = std::max(device.chips, device::chips_of(cluster));
  }
  if (over_pcie) device.chips = std::max(device.chips, 2);  // so that messages and reports name chips
  host.progress("making stream programs", 0, 0);
  auto blob = overlay::build_blob(graph, device, cluster);
  if (!blob) {
    for (Diagnostic& d : blob.failure().diagnostics())
      if (d.loc.file.empty()) d.loc = place_of(d, placed, file);
    return std::move(blob).failure();
  }
  host.progress("writing", 0, 0);
  BUDA_ASSIGN(auto out, host.fs().create(output_path(o), host.write_mode));
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
