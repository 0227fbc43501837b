// SPDX-License-Identifier: Apache-2.0
// Reads TT-Buda's cluster descriptors.
#include <buda/device/cluster_descriptor.hpp>

#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>

#include <algorithm>
#include <limits>
#include <set>

namespace buda::device {
namespace {

const std::vector<std::string> kClusterKeys = {"arch", "chips", "ethernet_connections", "chips_with_mmio", "harvesting", "boardtype"};

constexpr std::uint64_t kHighestChip = 4095;

Result<std::int32_t> number(const io::Node& node, std::string_view what) {
  BUDA_ASSIGN(std::int64_t value, node.as_int());
  if (value < 0 || value > std::numeric_limits<std::int32_t>::max())
    return io::node_error("DV032", node, cat("there is no ", what, " ", value));
  return static_cast<std::int32_t>(value);
}

// {chip: 0, chan: 8}
Result<void> read_end(const io::Node& node, std::int32_t& chip, std::int32_t& channel) {
  const io::Node *c = node.is_map() ? node.find("chip") : nullptr, *n = node.is_map() ? node.find("chan") : nullptr;
  if (c == nullptr || n == nullptr || node.size() != 2)
    return io::node_error("DV032", node, cat("an end of a connection is {chip: N, chan: N}, not ", node.describe()));
  BUDA_ASSIGN(chip, number(*c, "chip"));
  BUDA_ASSIGN(channel, number(*n, "ethernet channel"));
  return success();
}

Result<void> check_keys(const io::Node& top) {
  for (std::size_t i = 0; i < top.size(); ++i) {
    const std::string& key = top.keys()[i];
    if (std::find(kClusterKeys.begin(), kClusterKeys.end(), key) != kClusterKeys.end()) continue;
    Diagnostic d = io::node_error("DV032", top.items()[i], cat("unknown key '", key, "' in a cluster descriptor"));
    if (auto near = nearest_word(key, kClusterKeys)) d.hint = cat("did you mean '", *near, "'?");
    return d;
  }
  return success();
}

}  // namespace

bool is_cluster_descriptor(const io::Node& top) {
  return top.is_map() && top.find("schema") == nullptr && top.find("ethernet_connections") != nullptr;
}

Result<std::vector<EthLink>> read_cluster_descriptor(const io::Node& top) {
  BUDA_TRY(check_keys(top));
  std::set<std::string> chips;
  const io::Node* named = top.find("chips");
  if (named != nullptr) chips.insert(named->keys().begin(), named->keys().end());
  const io::Node& connections = *top.find("ethernet_connections");
  if (!connections.is_list() && !connections.is_null())
    return io::node_error("DV032", connections, cat("ethernet_connections is a list, not ", connections.describe()));
  std::vector<EthLink> out;
  std::set<EthLink> known;  // both directions: some files list them
  for (const io::Node& pair : connections.items()) {
    if (!pair.is_list() || pair.size() != 2)
      return io::node_error("DV032", pair, cat("a connection is a list of its two ends, not ", pair.describe()));
    EthLink l;
    BUDA_TRY(read_end(pair.items()[0], l.chip, l.channel));
    BUDA_TRY(read_end(pair.items()[1], l.to_chip, l.to_channel));
    for (std::int32_t chip : {l.chip, l.to_chip})
      if (named != nullptr && !chips.contains(cat(chip))) return io::node_error("DV032", pair, cat("chips does not list chip ", chip));
    if (!known.insert(l).second) continue;
    known.insert({l.to_chip, l.to_channel, l.chip, l.channel});
    out.push_back(l);
  }
  return out;
}

Result<std::vector<std::int32_t>> read_mmio_chips(const io::Node& top) {
  std::vector<std::int32_t> out;
  const io::Node* named = top.find("chips_with_mmio");
  if (named == nullptr || named->is_null()) return out;
  if (!named->is_list()) return io::node_error("DV032", *named, cat("chips_with_mmio is a list, not ", named->describe()));
  for (const io::Node& item : named->items()) {
    for (const std::string& key : item.is_map() ? item.keys() : std::vector<std::string>{}) {
      const auto chip = parse_uint(key);
      if (!chip || *chip > kHighestChip) return io::node_error("DV032", item, cat("there is no chip '", key, "'"));
      out.push_back(static_cast<std::int32_t>(*chip));
    }
    if (item.is_map()) continue;
    BUDA_ASSIGN(const std::int32_t chip, number(item, "chip"));
    out.push_back(chip);
  }
  return out;
}

}  // namespace buda::device
