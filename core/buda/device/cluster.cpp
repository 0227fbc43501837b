// SPDX-License-Identifier: Apache-2.0
// Reads cluster files; connects the chips where a file does not say how.
#include <buda/device/cluster.hpp>

#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>
#include <buda/device/cluster_descriptor.hpp>
#include <buda/io/json.hpp>
#include <buda/io/yaml.hpp>

#include <algorithm>
#include <set>
#include <utility>

namespace buda::device {

using schema::Record;

namespace {

constexpr int kMaxBaseDepth = 8;

enum class Side : std::int32_t { down, right, up, left };

bool is_cluster_path(const std::string& name) { return name.find('/') != std::string::npos || name.ends_with(".yaml"); }

constexpr std::int32_t kMaxChips = 4096;

Result<void> check(const Cluster& cluster, const DeviceDescriptor& device, const SourceLoc& loc) {
  auto is_end = [&](std::int32_t chip, std::int32_t channel) {
    return chip >= 0 && chip < kMaxChips && channel >= 0 && static_cast<std::size_t>(channel) < device.eth.size();
  };
  std::set<std::pair<std::int32_t, std::int32_t>> taken;
  for (const EthLink& l : cluster.links) {
    if (!is_end(l.chip, l.channel) || !is_end(l.to_chip, l.to_channel) || l.chip == l.to_chip)
      return input_error("DV030", loc,
                         cat("the link from channel ", l.channel, " of chip ", l.chip, " to channel ", l.to_channel, " of chip ", l.to_chip,
                             " does not join two chips of '", device.name, "', which have ", device.eth.size(), " ethernet channels each"));
    for (auto [chip, channel] : {std::pair{l.chip, l.channel}, std::pair{l.to_chip, l.to_channel}})
      if (!taken.emplace(chip, channel).second)
        return input_error("DV031", loc, cat("channel ", channel, " of chip ", chip, " has two links; a channel belongs to one"));
  }
  return success();
}

std::string shipped(const Host& host, const std::string& name) { return cat(host.share_dir, "/clusters/", name, ".yaml"); }

// `loc` is the place in a file that names it; empty for an option.
Diagnostic unknown_cluster(Host& host, const std::string& name, const SourceLoc& loc) {
  std::vector<std::string> known;
  if (auto files = host.fs().list(cat(host.share_dir, "/clusters")))
    for (const std::string& file : *files)
      if (file.ends_with(".yaml")) known.push_back(file.substr(0, file.size() - 5));
  Diagnostic d = input_error("DV033", loc, cat("cluster '", name, "' is unknown; known are ", join(known, ", ")));
  if (loc.file.empty()) d.fault = Fault::usage;
  if (auto near = nearest_word(name, known)) {
    d.hint = cat("did you mean '", *near, "'?");
  } else {
    d.hint = "the path of a cluster descriptor is accepted, too";
  }
  return d;
}

// `loc` becomes the place of the links.
Result<void> read_file(Host& host, const std::string& path, const std::string& arch, int depth, Cluster& out, SourceLoc& loc) {
  BUDA_ASSIGN(io::Bytes bytes, host.fs().read(path));
  BUDA_ASSIGN(io::Node top, io::parse_yaml(bytes.view(), path));
  if (is_cluster_descriptor(top)) {
    if (const std::string base = shipped(host, arch); host.fs().exists(base)) BUDA_TRY(read_file(host, base, arch, depth + 1, out, loc));
    loc = top.find("ethernet_connections")->loc();
    BUDA_ASSIGN(out.links, read_cluster_descriptor(top));
    BUDA_ASSIGN(out.mmio_chips, read_mmio_chips(top));
    return success();
  }
  BUDA_TRY(schema::check_header(top, {"buda.cluster", 1}));
  loc = top.loc();
  if (const io::Node* base = top.find("base")) {
    BUDA_ASSIGN(std::string name, base->as_name());
    if (depth >= kMaxBaseDepth) return input_error("DV003", base->loc(), cat("cluster '", name, "' is based on itself"));
    const std::string file = is_cluster_path(name) ? name : shipped(host, name);
    if (!is_cluster_path(name) && !host.fs().exists(file)) return unknown_cluster(host, name, base->loc());
    BUDA_TRY(read_file(host, file, arch, depth + 1, out, loc));
  }
  if (const io::Node* links = top.find("links")) loc = links->loc();
  schema::Reader reader;
  describe(static_cast<const Cluster*>(nullptr)).read(top, out, reader);
  if (reader.failed()) return std::move(reader).failure();
  out.base.clear();
  return success();
}

}  // namespace

Result<Cluster> load_cluster(Host& host, const DeviceDescriptor& device, const std::string& name) {
  std::string path = is_cluster_path(name) ? name : shipped(host, name.empty() ? device.name : name);
  if (name.empty() && !host.fs().exists(path)) path = shipped(host, device.arch);
  Cluster cluster;
  if (name.empty() && !host.fs().exists(path)) return cluster;
  if (!is_cluster_path(name) && !host.fs().exists(path)) return unknown_cluster(host, name, {});
  SourceLoc loc;
  BUDA_TRY(read_file(host, path, device.arch, 0, cluster, loc));
  BUDA_TRY(check(cluster, device, loc));
  return cluster;
}

std::string cluster_text(const Cluster& cluster) { return io::json_pretty(schema::write(cluster)); }

Result<Cluster> parse_cluster(std::string_view text, const std::string& path, const DeviceDescriptor& device) {
  BUDA_ASSIGN(io::Node top, io::parse_yaml(text, path));
  BUDA_ASSIGN(Cluster cluster, schema::read<Cluster>(top));
  if (!cluster.base.empty()) return input_error("DV003", top.find("base")->loc(), "a cluster inside an image has no base");
  BUDA_TRY(check(cluster, device, top.loc()));
  return cluster;
}

DeviceDescriptor in_cluster(DeviceDescriptor device, const Cluster& cluster) {
  device.chips = std::max(device.chips, chips_of(cluster));
  std::vector<std::int32_t> mmio;
  for (std::int32_t chip : cluster.mmio_chips)
    if (chip < device.chips) mmio.push_back(chip);
  if (!mmio.empty()) device.mmio_chips = std::move(mmio);
  return device;
}

std::int32_t chips_of(const Cluster& cluster) {
  std::int32_t chips = 0;
  for (const EthLink& l : cluster.links) chips = std::max({chips, l.chip + 1, l.to_chip + 1});
  return chips;
}

std::vector<EthLink> links_of(const Cluster& cluster, const DeviceDescriptor& device) {
  if (!cluster.links.empty()) return cluster.links;
  std::vector<EthLink> out;
  const auto per_side = static_cast<std::int32_t>(device.eth.size()) / 4;
  std::int32_t rows = 1;
  for (std::int32_t d = 1; d * d <= device.chips; ++d)
    if (device.chips % d == 0) rows = d;
  const std::int32_t cols = device.chips / rows;
  auto chip_at = [&](std::int32_t row, std::int32_t col) { return row * cols + (row % 2 == 0 ? col : cols - 1 - col); };
  auto join = [&](std::int32_t chip, Side side, std::int32_t other, Side other_side) {
    for (std::int32_t i = 0; i < per_side; ++i)
      out.push_back({chip, static_cast<std::int32_t>(side) * per_side + i, other, static_cast<std::int32_t>(other_side) * per_side + i});
  };
  for (std::int32_t row = 0; row < rows; ++row)
    for (std::int32_t col = 0; col < cols; ++col) {
      if (col + 1 < cols) join(chip_at(row, col), Side::right, chip_at(row, col + 1), Side::left);
      if (row + 1 < rows) join(chip_at(row, col), Side::down, chip_at(row + 1, col), Side::up);
    }
  return out;
}

const Record<EthLink>& describe(const EthLink*) {
  static const auto record = Record<EthLink>("an Ethernet link between two chips")
                                 .required("chip", &EthLink::chip, "one chip")
                                 .required("channel", &EthLink::channel, "its ethernet channel")
                                 .required("to_chip", &EthLink::to_chip, "the other chip")
                                 .required("to_channel", &EthLink::to_channel, "its ethernet channel");
  return record;
}

const Record<EthCore>& describe(const EthCore*) {
  static const auto record = Record<EthCore>("streams and memory of an ethernet core")
                                 .required("operands_begin", &EthCore::operands_begin, "where buffers of streams may begin in L1")
                                 .required("tile_headers", &EthCore::tile_headers, "address of the tile headers in L1")
                                 .required("overlay_blob", &EthCore::overlay_blob, "bytes of a stream program")
                                 .required("streams", &EthCore::streams, "streams of a core")
                                 .required("link_streams", &EthCore::link_streams, "streams that a link can carry");
  return record;
}

const Record<PeerAccess>& describe(const PeerAccess*) {
  static const auto record = Record<PeerAccess>("how a chip sees its neighbours over PCIe")
                                 .required("region_bytes", &PeerAccess::region_bytes, "distance between what the chip sees of each")
                                 .required("offset", &PeerAccess::offset, "of the host window in there")
                                 .optional("core_bytes", &PeerAccess::core_bytes, "what is seen there of each core, row by row of the NoC");
  return record;
}

const Record<Cluster>& describe(const Cluster*) {
  static const auto record = Record<Cluster>("how chips reach each other", {"buda.cluster", 1})
                                 .optional("base", &Cluster::base, "the cluster whose values apply to all keys that this file omits")
                                 .optional("eth_core", &Cluster::eth_core, "streams and memory of an ethernet core")
                                 .optional("links", &Cluster::links, "links between the chips; none: a mesh")
                                 .optional("mmio_chips", &Cluster::mmio_chips, "chips that the host reaches directly; none: the device's")
                                 .optional("peers", &Cluster::peers, "how neighbours are seen over PCIe");
  return record;
}

}  // namespace buda::device
