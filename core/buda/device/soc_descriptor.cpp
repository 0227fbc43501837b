// SPDX-License-Identifier: Apache-2.0
// SoC descriptors of TT-Buda: grids and sizes of one chip, places as "x-y".
//
// Known keys that say nothing a descriptor of ours needs (arc, pcie, features, physical, …) are skipped; others are errors, as anywhere.
// functional_workers may list any set of places; the logical grid is the product of their columns and rows, and has to be full.
#include <buda/device/load.hpp>

#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>
#include <buda/device/format.hpp>

#include <algorithm>
#include <set>

namespace buda::device {
namespace {

const std::vector<std::string> kSocKeys = {"grid",
                                           "physical",
                                           "arc",
                                           "pcie",
                                           "dram",
                                           "eth",
                                           "functional_workers",
                                           "harvested_workers",
                                           "router_only",
                                           "worker_l1_size",
                                           "dram_bank_size",
                                           "eth_l1_size",
                                           "arch_name",
                                           "features",
                                           "noc"};

using Places = std::vector<NocCoord>;

Workers workers_from(const Places& places, const io::Node& node, schema::Reader& reader) {
  std::set<std::int32_t> xs, ys;
  std::set<NocCoord> all;
  for (NocCoord c : places) {
    xs.insert(c.x);
    ys.insert(c.y);
    all.insert(c);
  }
  if (all.size() != places.size()) reader.error(io::node_error("DV020", node, "functional_workers lists a place twice"));
  if (all.size() != xs.size() * ys.size())
    reader.error(io::node_error(
        "DV020", node,
        cat("functional_workers has ", all.size(), " places, but ", ys.size(), " rows and ", xs.size(), " columns; the grid has gaps")));
  return {{xs.begin(), xs.end()}, {ys.begin(), ys.end()}};
}

}  // namespace

bool is_soc_descriptor(const io::Node& top) {
  return top.is_map() && top.find("schema") == nullptr && (top.find("functional_workers") != nullptr || top.find("arch_name") != nullptr);
}

Result<std::string> soc_arch(const io::Node& soc) {
  const io::Node* arch = soc.find("arch_name");
  if (arch == nullptr) return io::node_error("DV020", soc, "'arch_name' is missing");
  BUDA_ASSIGN(std::string name, arch->as_name());
  return to_lower(name);
}

Result<void> apply_soc_descriptor(const io::Node& soc, DeviceDescriptor& device) {
  schema::Reader reader;
  for (std::size_t i = 0; i < soc.size(); ++i) {
    const std::string& key = soc.keys()[i];
    if (std::find(kSocKeys.begin(), kSocKeys.end(), key) != kSocKeys.end()) continue;
    Diagnostic d = io::node_error("DV020", soc.items()[i], cat("unknown key '", key, "' in a SoC descriptor"));
    if (auto near = nearest_word(key, kSocKeys)) d.hint = cat("did you mean '", *near, "'?");
    reader.error(std::move(d));
  }
  auto read = [&](const char* key, auto& out) {
    if (const io::Node* node = soc.find(key)) schema::Codec<std::remove_reference_t<decltype(out)>>::read(*node, out, reader);
  };
  if (const io::Node* grid = soc.find("grid"); grid != nullptr && grid->is_map()) {
    for (auto [key, out] : {std::pair{"x_size", &device.noc.x}, std::pair{"y_size", &device.noc.y}})
      if (const io::Node* side = grid->find(key)) schema::Codec<std::int32_t>::read(*side, *out, reader);
  }
  Places workers, harvested;
  read("functional_workers", workers);
  read("harvested_workers", harvested);
  if (const io::Node* node = soc.find("functional_workers")) device.workers = workers_from(workers, *node, reader);
  std::set<std::int32_t> rows;
  for (NocCoord c : harvested) rows.insert(c.y);
  device.harvested_y.assign(rows.begin(), rows.end());
  read("eth", device.eth);
  Places pcie;
  read("pcie", pcie);
  if (!pcie.empty()) device.pcie = pcie.front();
  std::vector<Places> dram;
  read("dram", dram);
  if (soc.find("dram") != nullptr) {
    std::uint64_t lowest = device.dram.channels.empty() ? 0 : device.dram.channels.front().lowest_usable;
    device.dram.channels.clear();
    for (auto& ports : dram) device.dram.channels.push_back({std::move(ports), lowest});
    if (device.dram.host_window && static_cast<std::size_t>(device.dram.host_window->channel) >= dram.size())
      device.dram.host_window.reset();
  }
  read("worker_l1_size", device.l1.size);
  read("dram_bank_size", device.dram.bank_bytes);
  read("eth_l1_size", device.eth_l1_bytes);
  if (reader.failed()) return std::move(reader).failure();
  return success();
}

}  // namespace buda::device
