// SPDX-License-Identifier: Apache-2.0
// Devices by name; the build of stream programs, and where their diagnostics point.
#include "apps/pipegen/stream_programs.hpp"

#include <buda/base/text.hpp>
#include <buda/device/device_name.hpp>
#include <buda/device/load.hpp>
#include <buda/overlay/build.hpp>

#include <algorithm>
#include <optional>
#include <vector>

namespace buda::pipegen {
namespace {

constexpr const char* kUsualDevice = "n150";

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

Result<void> must_be_installed(const std::string& made_for, const std::string& file, Host& host) {
  const auto shipped = device::known_devices(host);
  BUDA_ASSIGN(const auto name, device::parse_device_name(made_for));
  if (std::find(shipped.begin(), shipped.end(), name.board) != shipped.end()) return success();
  Diagnostic d = input_error("OV041", {file, 0, 0}, cat("the pipes were made for the device of '", made_for, "', which is not installed"));
  d.hint = cat("give the path of that descriptor: --device PATH/", made_for);
  return d;
}

}  // namespace

Result<device::DeviceDescriptor> Devices::device(const std::string& made_for, const std::string& file) {
  const std::lock_guard lock(files_);
  const std::string name = !options_.device.empty() ? options_.device : made_for.empty() ? kUsualDevice : made_for;
  if (auto known = devices_.find(name); known != devices_.end()) return known->second;
  if (options_.device.empty() && !made_for.empty()) BUDA_TRY(must_be_installed(made_for, file, host_));
  BUDA_ASSIGN(auto read, device::load_device(host_, name));
  return devices_.emplace(name, std::move(read)).first->second;
}

Result<device::Cluster> Devices::cluster(const device::DeviceDescriptor& device) {
  const std::lock_guard lock(files_);
  if (auto known = clusters_.find(device.name); known != clusters_.end()) return known->second;
  BUDA_ASSIGN(auto read, device::load_cluster(host_, device, options_.cluster));
  return clusters_.emplace(device.name, std::move(read)).first->second;
}

Result<StreamPrograms> compile(const io::Bytes& content, const std::string& file, bool with_cluster, Devices& devices) {
  StreamPrograms out;
  BUDA_ASSIGN(out.pipes, pipes::parse_pipe_graph(content.view(), file));
  const pipes::PipeGraph& graph = out.pipes.graph;
  BUDA_ASSIGN(out.device, devices.device(graph.device, file));
  const bool over_ethernet = std::any_of(graph.buffers.begin(), graph.buffers.end(),
                                         [](const pipes::Buffer& b) { return b.type == pipes::BufferType::ethernet_relay; });
  const bool over_pcie =
      std::any_of(graph.pipes.begin(), graph.pipes.end(), [](const pipes::Pipe& p) { return p.mmio_downstream.has_value(); });
  if (over_ethernet || over_pcie || with_cluster) {
    BUDA_ASSIGN(out.cluster, devices.cluster(out.device));
    out.device.chips = std::max(out.device.chips, device::chips_of(out.cluster));
  }
  if (over_pcie) out.device.chips = std::max(out.device.chips, 2);  // so that messages and reports name chips
  auto blob = overlay::build_blob(graph, out.device, out.cluster);
  if (!blob) {
    for (Diagnostic& d : blob.failure().diagnostics())
      if (d.loc.file.empty()) d.loc = place_of(d, out.pipes, file);
    return std::move(blob).failure();
  }
  out.blob = std::move(*blob);
  return out;
}

}  // namespace buda::pipegen
