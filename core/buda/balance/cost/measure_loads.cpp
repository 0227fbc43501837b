// SPDX-License-Identifier: Apache-2.0
// The busiest path of each kind.
#include <buda/balance/cost/measure_loads.hpp>

#include <buda/balance/cost/cost.hpp>
#include <buda/balance/cost/shared_ways.hpp>
#include <buda/base/text.hpp>
#include <buda/cost/transfer_model.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace buda::balance {
namespace {

// 1e9 bytes per second in bytes per cycle.
double bytes_per_cycle(double gbs, const device::DeviceDescriptor& device) { return gbs / std::max(device.cost.clock_ghz, 1e-9); }

// Takes up the loads of paths of one kind, one after the other.
class PathMeter {
 public:
  PathMeter(std::string kind, std::size_t count, double rate) : count_(count), rate_(rate) { load_.kind = load_.busiest = std::move(kind); }

  // `name` is called for the busiest so far. `before`: what passes before the epoch.
  template <class Name>
  void add(double bytes, Name name, double before = 0) {
    before_ = std::max(before_, before);
    sum_ += bytes;
    if (bytes <= load_.most) return;
    load_.most = bytes;
    load_.busiest = name();
  }

  double cycles_before() const { return rate_ > 0 ? before_ / rate_ : 0; }

  void finish(double inputs, std::vector<PathLoad>& out) {
    if (load_.most <= 0) return;
    load_.mean = sum_ / static_cast<double>(std::max<std::size_t>(count_, 1)) / inputs;
    load_.most /= inputs;
    load_.cycles = rate_ > 0 ? load_.most / rate_ : 0;
    out.push_back(std::move(load_));
  }

 private:
  PathLoad load_;
  std::size_t count_;
  double rate_, sum_ = 0, before_ = 0;
};

bool has_halves(const device::DeviceDescriptor& device) { return device.dram.bank_bytes > overlay::kDramHalf; }

// Of a channel, or of a half of one where channels have two.
double rate_of_memory(const device::DeviceDescriptor& device) {
  return bytes_per_cycle(device.cost.dram_channel_gbs, device) / (has_halves(device) ? 2 : 1);
}

void add_dram(double inputs, const device::DeviceDescriptor& device, EpochLoads& out) {
  const double rate = bytes_per_cycle(device.cost.dram_channel_gbs, device);
  PathMeter dram("DRAM", device.dram.channels.size(), rate);
  for (std::size_t i = 0; i < out.channels.size(); ++i) {
    const ChannelBytes& c = out.channels[i];
    dram.add(
        static_cast<double>(c.sum() - c.before), [&] { return cat("DRAM channel ", i); }, static_cast<double>(c.before));
  }
  out.before = std::max(out.before, dram.cycles_before());
  dram.finish(inputs, out.paths);
  if (!has_halves(device) || rate <= 0) return;
  // The busier half of a channel has half of the rate.
  std::uint64_t half = 0, half_before = 0;
  for (const ChannelBytes& c : out.channels) {
    const std::uint64_t upper = c.upper - c.upper_before, lower = c.sum() - c.before - upper;
    half = std::max({half, upper, lower});
    half_before = std::max({half_before, c.upper_before, c.before - c.upper_before});
  }
  out.before = std::max(out.before, static_cast<double>(half_before) / (rate / 2));
  if (!out.paths.empty()) out.paths.back().cycles = std::max(out.paths.back().cycles, static_cast<double>(half) / inputs / (rate / 2));
}

std::string link_name(const overlay::LinkLoad& l) { return cat("link ", l.from.text(), " to ", l.to.text(), " of NoC ", l.noc); }

std::string port_name(const overlay::PortLoad& p) {
  return cat(p.input ? "input of NoC " : "output of NoC ", p.noc, " at ", p.node.text());
}

// The rates that the simulator has, where the device's networks are as wide.
double link_rate(const device::DeviceDescriptor& device) { return device.cost.transfers.link_rate; }
double port_rate(const device::DeviceDescriptor& device) { return device.cost.transfers.interface_rate; }

double cycles_of(const overlay::WayBytes& ways, const device::DeviceDescriptor& device) {
  const double rate = rate_of_memory(device), memory = rate > 0 ? static_cast<double>(ways.memory) / rate : 0;
  return std::max({static_cast<double>(ways.link) / link_rate(device), static_cast<double>(ways.port) / port_rate(device), memory});
}

void add_links(const overlay::Traffic& traffic, std::int32_t chip, double inputs, const device::DeviceDescriptor& device, EpochLoads& out) {
  const auto nodes = static_cast<std::size_t>(device.noc.x) * static_cast<std::size_t>(device.noc.y);
  PathMeter links("NoC", nodes * 4, link_rate(device)), ports("port", nodes * 4, port_rate(device));
  for (const auto& l : traffic.links) {
    if (l.chip != chip) continue;
    const auto bytes = static_cast<double>(l.bytes - l.before);
    links.add(
        bytes, [&] { return link_name(l); }, static_cast<double>(l.before));
    if (bytes > 0) out.links.push_back({link_name(l), bytes / inputs});
  }
  std::stable_sort(out.links.begin(), out.links.end(), [](const LinkBytes& a, const LinkBytes& b) { return a.bytes > b.bytes; });
  if (out.links.size() > kListedLinks) out.links.resize(kListedLinks);
  for (const auto& p : traffic.ports)
    if (p.chip == chip)
      ports.add(
          static_cast<double>(p.bytes - p.before), [&] { return port_name(p); }, static_cast<double>(p.before));
  out.before = std::max({out.before, links.cycles_before(), ports.cycles_before()});
  links.finish(inputs, out.paths);
  ports.finish(inputs, out.paths);
  for (const auto& e : traffic.edges) {
    const double first = cycles_of(e.first, device), later = cycles_of(e.later, device);
    out.edges[{e.op, e.operand}] = (first + (inputs - 1) * later) / inputs / inputs;
  }
}

// One path in each direction: what the chip reads from the host, or is sent by others, and what it writes or sends.
void add_pcie(const overlay::Traffic& traffic, std::int32_t chip, double inputs, const device::DeviceDescriptor& device,
              std::vector<PathLoad>& out) {
  double in = 0, away = 0;
  for (const auto& c : traffic.channels) {
    if (c.chip != chip || !c.host) continue;
    in += static_cast<double>(c.read + c.before);
    away += static_cast<double>(c.written + c.after);
  }
  for (const auto& p : traffic.pcie) {
    if (p.to_chip == chip) in += static_cast<double>(p.bytes);
    if (p.chip == chip) away += static_cast<double>(p.bytes);
  }
  PathMeter pcie("PCIe", 2, bytes_per_cycle(device.cost.host_gbs, device));
  pcie.add(in, [] { return "PCIe to the chip"; });
  pcie.add(away, [] { return "PCIe from the chip"; });
  pcie.finish(inputs, out);
}

void add_ethernet(const overlay::Traffic& traffic, std::int32_t chip, double inputs, const device::DeviceDescriptor& device,
                  std::vector<PathLoad>& out) {
  PathMeter links("Ethernet", 2 * device.eth.size(), bytes_per_cycle(device.cost.eth_link_gbs, device));
  for (const auto& c : traffic.ethernet) {
    if (c.link.chip == chip) links.add(static_cast<double>(c.bytes), [&] { return cat("Ethernet channel ", c.link.channel, ", sending"); });
    if (c.link.to_chip == chip)
      links.add(static_cast<double>(c.bytes), [&] { return cat("Ethernet channel ", c.link.to_channel, ", receiving"); });
  }
  links.finish(inputs, out);
}

}  // namespace

const PathLoad* EpochLoads::slowest() const {
  auto slower = [](const PathLoad& a, const PathLoad& b) { return a.cycles < b.cycles; };
  return paths.empty() ? nullptr : &*std::max_element(paths.begin(), paths.end(), slower);
}

const PathLoad* EpochLoads::find(std::string_view kind) const {
  auto found = std::find_if(paths.begin(), paths.end(), [&](const PathLoad& p) { return p.kind == kind; });
  return found == paths.end() ? nullptr : &*found;
}

EpochLoads loads_of(const overlay::EpochUsage& usage, std::int32_t chip, std::int64_t inputs, const device::DeviceDescriptor& device) {
  const overlay::Traffic& traffic = usage.traffic;
  EpochLoads out;
  out.channels.resize(device.dram.channels.size());
  for (const auto& c : traffic.channels)
    if (c.chip == chip && !c.host && static_cast<std::size_t>(c.channel) < out.channels.size())
      out.channels[static_cast<std::size_t>(c.channel)] = {c.read, c.written, c.before, c.after, c.upper, c.upper_before};
  const auto count = static_cast<double>(std::max<std::int64_t>(inputs, 1));
  add_dram(count, device, out);
  add_links(traffic, chip, count, device, out);
  out.shared = shared_ways(usage.flows, chip, count, device);
  add_pcie(traffic, chip, count, device, out.paths);
  add_ethernet(traffic, chip, count, device, out.paths);
  return out;
}

EpochLoads loads_spread_evenly(double dram_bytes, const device::DeviceDescriptor& device) {
  EpochLoads out;
  if (dram_bytes <= 0) return out;
  const double each = dram_bytes / static_cast<double>(std::max<std::size_t>(device.dram.channels.size(), 1));
  out.paths.push_back({"DRAM", "DRAM", each, each, dram_bytes / cost::TransferModel(device).dram_rate()});
  return out;
}

}  // namespace buda::balance
