// SPDX-License-Identifier: Apache-2.0
// Flows of stream programs as customers of cost/contention.hpp.
#include <buda/balance/cost/shared_ways.hpp>

#include <buda/cost/transfer_model.hpp>
#include <buda/overlay/traffic.hpp>
#include <buda/pipes/noc/routes.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace buda::balance {
namespace {

std::vector<double> rates_of_parts(const device::DeviceDescriptor& device) {
  const cost::TransferModel transfers(device);
  std::vector<double> out(overlay::part_count(device), transfers.parameters().link_rate);
  const std::size_t ports = pipes::link_and_port_count(device.noc) / 2;
  std::fill(out.begin() + static_cast<std::ptrdiff_t>(ports), out.end(), transfers.parameters().interface_rate);
  const bool has_halves = device.dram.bank_bytes > overlay::kDramHalf;
  for (std::size_t i = overlay::memory_part(device, 0, false); i < overlay::host_part(device); ++i)
    out[i] = transfers.channel_rate() / (has_halves ? 2 : 1);
  out[overlay::host_part(device)] = transfers.host_rate();
  return out;
}

}  // namespace

SharedWays shared_ways(const std::vector<overlay::Flow>& flows, std::int32_t chip, double inputs, const device::DeviceDescriptor& device) {
  SharedWays out;
  out.inputs = inputs;
  out.rates = rates_of_parts(device);
  const cost::TransferModel transfers(device);
  std::map<std::string, std::size_t> numbers;
  for (const overlay::Flow& flow : flows) {
    if (flow.chip != chip) continue;
    const auto [number, fresh] = numbers.try_emplace(flow.op, out.ops.size());
    if (fresh) out.ops.push_back(flow.op);
    cost::SharingFlow sharing{number->second, flow.transfers, {}};
    for (const overlay::FlowWay& way : flow.ways) {
      const double answer = transfers.request_latency(static_cast<double>(way.hops)) + transfers.parameters().memory_cycles;
      sharing.visits.push_back({way.parts, static_cast<double>(way.bytes) / inputs, static_cast<double>(way.requests) * answer / inputs});
    }
    out.flows.push_back(std::move(sharing));
    out.operands.push_back(flow.operand);
    out.is_output.push_back(flow.is_output);
  }
  return out;
}

void add_contention(EpochLoads& loads, const std::map<std::string, double>& kernels) {
  const SharedWays& shared = loads.shared;
  std::vector<double> of_ops;
  for (const std::string& op : shared.ops) {
    const auto kernel = kernels.find(op);
    of_ops.push_back(kernel == kernels.end() ? 0 : kernel->second);
  }
  const PathLoad* busiest = loads.slowest();
  const auto times = cost::contended_times(shared.flows, shared.rates, of_ops, shared.inputs, busiest == nullptr ? 0 : busiest->cycles);
  for (std::size_t f = 0; f < times.size(); ++f) {
    const std::string& op = shared.ops[shared.flows[f].op];
    if (op.empty() || (shared.operands[f] < 0 && !shared.is_output[f])) continue;
    double& longest = shared.is_output[f] ? loads.outputs[op] : loads.edges[{op, shared.operands[f]}];
    longest = std::max(longest, times[f]);
  }
}

}  // namespace buda::balance
