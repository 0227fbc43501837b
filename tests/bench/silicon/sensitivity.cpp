// SPDX-License-Identifier: Apache-2.0
// One parameter at a time.
#include "sensitivity.hpp"

#include "noc_traces.hpp"
#include "placement.hpp"
#include "varied_fabric.hpp"

#include <buda/base/text.hpp>

#include <cmath>
#include <cstddef>
#include <cstdio>

namespace buda::silicon {
namespace {

constexpr double kLess = 0.75, kMore = 1.25;
constexpr double kNoticed = 0.1;  // per cent

std::string signed_percent(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%+.1f", value);
  return text;
}

std::string one_digit(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

struct NetworkParameter {
  const char *name, *value;
  double FabricChange::*factor;
};
constexpr NetworkParameter kNetwork[] = {{"rate of a link", "30 bytes per cycle", &FabricChange::links},
                                         {"rate of a network interface", "28.1 bytes per cycle", &FabricChange::interfaces},
                                         {"rate of DRAM", "of the device", &FabricChange::memories},
                                         {"latency between cores", "70 + 9.09 per link", &FabricChange::core_latency},
                                         {"latency of DRAM", "200 + 9.09 per link", &FabricChange::memory_latency},
                                         {"cost of issuing a request", "94 to 212 cycles", &FabricChange::issue}};

double mean_change(const std::vector<TraceTime>& from, const std::vector<TraceTime>& to) {
  double sum = 0;
  for (std::size_t i = 0; i < from.size(); ++i) sum += 100 * (to[i].predicted / from[i].predicted - 1);
  return from.empty() ? 0 : sum / static_cast<double>(from.size());
}

struct NetlistParameter {
  const char *name, *value;
  void (*change)(device::DeviceDescriptor& device, NetlistSettings& settings, double factor);
};
constexpr NetlistParameter kOfNetlists[] = {
    {"rate of DRAM", "of the device",
     [](device::DeviceDescriptor& device, NetlistSettings&, double factor) { device.cost.dram_channel_gbs *= factor; }},
    {"rate of the host's bus", "of the device",
     [](device::DeviceDescriptor& device, NetlistSettings&, double factor) { device.cost.host_gbs *= factor; }},
    {"time of an epoch switch", "5000 cycles",
     [](device::DeviceDescriptor&, NetlistSettings& settings, double factor) { settings.switch_cycles *= factor; }},
    {"kernels of fused ops", "sum of the steps",
     [](device::DeviceDescriptor&, NetlistSettings& settings, double factor) { settings.fused = factor; }},
    {"kernels measured with another format", "as that format",
     [](device::DeviceDescriptor&, NetlistSettings& settings, double factor) { settings.other_format = factor; }},
    {"kernels never measured", "assumed rows, copies",
     [](device::DeviceDescriptor&, NetlistSettings& settings, double factor) { settings.assumed = factor; }}};

Result<double> changed_rate(Host& host, const CheckedNetlist& netlist, const NetlistParameter& parameter, double factor) {
  device::DeviceDescriptor device = netlist.device;
  NetlistSettings settings;
  parameter.change(device, settings, factor);
  BUDA_ASSIGN(auto rates, netlist_rates(netlist, device, settings, host));
  return rates.front().predicted;
}

}  // namespace

Result<std::string> network_sensitivity(Host& host, const std::string& folder, const device::DeviceDescriptor& device) {
  BUDA_ASSIGN(const auto unchanged, replay_traces(host, folder, device, {}));
  const auto speeds = placement_speeds(device);
  std::string out =
      "| parameter | value | time of traces: -25 %, +25 % | mean error of traces % | random reads of DRAM, NoC 0 "
      "|\n|---|---|--:|--:|--:|\n";
  out += cat("| (none changed) | | | ", one_digit(errors_of(unchanged).mean), " | |\n");
  for (const NetworkParameter& parameter : kNetwork) {
    std::string times, errors, reads;
    for (double factor : {kLess, kMore}) {
      Replay replay;
      replay.change.*parameter.factor = factor;
      BUDA_ASSIGN(const auto changed, replay_traces(host, folder, device, replay));
      const double read = placement_speeds(device, replay.change)[1].predicted;
      const char* comma = factor == kLess ? ", " : "";
      times += cat(signed_percent(mean_change(unchanged, changed)), comma);
      errors += cat(one_digit(errors_of(changed).mean), comma);
      reads += cat(signed_percent(100 * (read / speeds[1].predicted - 1)), comma);
    }
    out += cat("| ", parameter.name, " | ", parameter.value, " | ", times, " | ", errors, " | ", reads, " |\n");
  }
  return out;
}

Result<std::string> netlist_sensitivity(Host& host, const std::vector<CheckedNetlist>& netlists) {
  std::string out = "| netlist | chip | metric | parameter | value | -25 % | +25 % |\n|---|---|---|---|---|--:|--:|\n";
  for (const CheckedNetlist& netlist : netlists) {
    if (netlist.expectations.front().at_least) continue;
    BUDA_ASSIGN(const auto rates, netlist_rates(netlist, netlist.device, {}, host));
    for (const NetlistParameter& parameter : kOfNetlists) {
      BUDA_ASSIGN(const double with_less, changed_rate(host, netlist, parameter, kLess));
      BUDA_ASSIGN(const double with_more, changed_rate(host, netlist, parameter, kMore));
      const double less = 100 * (with_less / rates.front().predicted - 1), more = 100 * (with_more / rates.front().predicted - 1);
      if (std::abs(less) < kNoticed && std::abs(more) < kNoticed) continue;
      out += cat("| ", netlist.name, " | ", netlist.device.arch, " | ", rates.front().expected.metric, " | ", parameter.name, " | ",
                 parameter.value, " | ", signed_percent(less), " | ", signed_percent(more), " |\n");
    }
  }
  std::string names;
  for (const NetlistParameter& parameter : kOfNetlists) names += cat(names.empty() ? "" : ", ", parameter.name);
  return cat(out, "\nChanged were: ", names, ". Rows in which both results change by less than 0.1 % are left out.\n");
}

}  // namespace buda::silicon
