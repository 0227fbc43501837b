// SPDX-License-Identifier: Apache-2.0
// Finds addresses and ports.
#include <buda/pipes/build/queue_address.hpp>

#include <buda/base/text.hpp>
#include <buda/pipes/interchip/ring.hpp>
#include <buda/pipes/noc/noc.hpp>

namespace buda::pipes {

using netlist::Queue;

namespace {

Result<QueueAddress> dram_address(const EpochPlan& plan, const Queue& queue, std::size_t buffer) {
  const netlist::BufferAddress& a = queue.buffers[buffer];
  const auto& device = *plan.device;
  const auto& channels = device.dram.channels;
  if (a.channel < 0 || static_cast<std::size_t>(a.channel) >= channels.size() ||
      channels[static_cast<std::size_t>(a.channel)].ports.empty()) {
    Diagnostic d = does_not_fit("PP030", queue.name, "dram channels", static_cast<std::uint64_t>(a.channel) + 1, channels.size(),
                                cat("queue '", queue.name, "', buffer ", buffer, ": '", device.name, "' has DRAM channels 0 to ",
                                    static_cast<std::int64_t>(channels.size()) - 1, ", not ", a.channel),
                                "");
    d.loc = plan.netlist().loc(queue.places.of(netlist::Field::buffers));
    return d;
  }
  const auto count = static_cast<std::int64_t>(channels[static_cast<std::size_t>(a.channel)].ports.size());
  for (const auto* ports : {&queue.read_ports, &queue.write_ports}) {
    if (buffer >= ports->size() || ((*ports)[buffer] >= 0 && (*ports)[buffer] < count)) continue;
    Diagnostic d = input_error("PP033", plan.netlist().loc(queue.places.of(netlist::Field::ports)),
                               cat("queue '", queue.name, "', buffer ", buffer, ": channel ", a.channel, " of '", device.name,
                                   "' has ports 0 to ", count - 1, ", not ", (*ports)[buffer]));
    d.node = queue.name;
    return d;
  }
  return QueueAddress{a.channel, a.address};
}

// Channels of host memory follow one another from the address at which the chip sees the first.
Result<QueueAddress> host_address(const EpochPlan& plan, const Queue& queue, std::size_t buffer) {
  const netlist::BufferAddress& a = queue.buffers[buffer];
  const auto& host = plan.device->host;
  if (a.channel < 0 || a.channel >= host.channels || a.address >= host.channel_bytes) {
    Diagnostic d = does_not_fit(
        "PP031", queue.name, "host memory", a.address + 1, host.channel_bytes,
        cat("queue '", queue.name, "', buffer ", buffer, ": '", plan.device->name, "' sees ", host.channels, " channels of host memory of ",
            bytes_text(host.channel_bytes), " each; this is channel ", a.channel, ", address ", a.address),
        "");
    d.loc = plan.netlist().loc(queue.places.of(netlist::Field::buffers));
    return d;
  }
  return QueueAddress{a.channel, host.base + static_cast<std::uint64_t>(a.channel) * host.channel_bytes + a.address};
}

}  // namespace

Result<QueueAddress> queue_address(const EpochPlan& plan, const Queue& queue, std::size_t buffer) {
  return queue.location == netlist::QueueLocation::dram ? dram_address(plan, queue, buffer) : host_address(plan, queue, buffer);
}

bool is_on_peer(const EpochPlan& plan, const QueuePlan& q) {
  const Queue& queue = plan.netlist().queues[q.queue];
  return plan.device->eth.empty() && queue.location == netlist::QueueLocation::dram && queue.target_device != plan.user_chip(q);
}

std::int32_t dram_port(const EpochPlan& plan, const CorePositions& cores, const QueuePlan& q, std::size_t buffer) {
  const Queue& queue = plan.netlist().queues[q.queue];
  if (queue.location != netlist::QueueLocation::dram) return 0;
  const auto& ports = q.readers.empty() ? queue.write_ports : queue.read_ports;
  if (buffer < ports.size()) return ports[buffer];
  const auto& channel = plan.device->dram.channels[static_cast<std::size_t>(queue.buffers[buffer].channel)];
  return nearest_port(channel, cores.noc(!q.readers.empty() ? q.readers.front() : q.writer, 0), plan.device->noc);
}

device::NocCoord dram_port_noc(const EpochPlan& plan, const CorePositions& cores, const QueuePlan& q, std::size_t buffer) {
  const auto channel = static_cast<std::size_t>(plan.netlist().queues[q.queue].buffers[buffer].channel);
  return plan.device->dram.channels[channel].ports[static_cast<std::size_t>(dram_port(plan, cores, q, buffer))];
}

}  // namespace buda::pipes
