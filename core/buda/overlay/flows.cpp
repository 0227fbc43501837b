// SPDX-License-Identifier: Apache-2.0
// Streams, destination after destination and buffer after buffer.
#include <buda/overlay/flows.hpp>

#include <buda/overlay/sent_messages.hpp>
#include <buda/overlay/traffic.hpp>
#include <buda/pipes/noc/routes.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace buda::overlay {
namespace {

using device::NocCoord;
using pipes::NocAxis;
using pipes::NocPort;

constexpr std::int64_t kMaxRequests = 4;
constexpr std::int64_t kMaxTilesOfRequest = 8;

class Flows {
 public:
  Flows(const Blob& blob, const device::DeviceDescriptor& device) : blob_(blob), device_(device) {}

  std::vector<Flow> run() {
    for (const Core& core : blob_.cores)
      for (const Stream& s : core.streams) {
        if (!s.destinations.empty() && !s.pcie) add_sent(core, s);
        if (s.read && !s.read->before_epoch) add_read(core, s);
        if (s.write && !s.write->after_epoch) add_written(core, s);
      }
    for (auto& [receiver, flow] : received_) finish(std::move(flow));
    return std::move(out_);
  }

 private:
  static std::uint64_t bytes(const Stream& s) { return static_cast<std::uint64_t>(s.message_bytes); }

  // The parts of a message, or of a multicast, each once.
  void add_route(FlowWay& way, std::int32_t noc, NocCoord from, NocCoord to) const {
    const device::NocSize size = device_.noc;
    if (!size.contains(from) || !size.contains(to)) return;
    const auto add = [&](std::size_t part) { way.parts.push_back(static_cast<std::uint32_t>(part)); };
    std::int64_t hops = 0;
    add(pipes::port_number(noc, NocPort::output, from, size));
    pipes::for_each_hop(noc, from, to, size, [&](NocAxis axis, NocCoord node) {
      add(pipes::link_number(noc, axis, node, size));
      ++hops;
    });
    add(pipes::port_number(noc, NocPort::input, to, size));
    way.hops = std::max(way.hops, hops);
  }

  void add_memory(FlowWay& way, const DramBuffer& d) const {
    const bool is_upper = device_.dram.bank_bytes > kDramHalf && d.address >= kDramHalf;
    way.parts.push_back(static_cast<std::uint32_t>(d.host ? host_part(device_) : memory_part(device_, d.channel, is_upper)));
  }

  static void finish(FlowWay way, Flow& flow) {
    std::sort(way.parts.begin(), way.parts.end());
    way.parts.erase(std::unique(way.parts.begin(), way.parts.end()), way.parts.end());
    if (way.bytes > 0) flow.ways.push_back(std::move(way));
  }
  void finish(Flow flow) {
    if (!flow.ways.empty()) out_.push_back(std::move(flow));
  }

  static bool is_of_input(const Stream& s) {
    return s.kind == StreamKind::input || s.kind == StreamKind::multicast || s.kind == StreamKind::relay;
  }

  void add_sent(const Core& core, const Stream& s) {
    const std::vector<std::uint64_t> messages = sent_messages(s);
    Flow multicasts;
    multicasts.chip = core.chip;
    multicasts.op = core.op;
    for (std::size_t d = 0; d < s.destinations.size(); ++d) {
      const Destination& destination = s.destinations[d];
      const Core& to = blob_.cores[static_cast<std::size_t>(destination.first.core)];
      if (to.chip != core.chip) continue;
      FlowWay way;
      way.bytes = messages[d] * bytes(s);
      for (std::int32_t c : blob_.cores_of(destination)) add_route(way, s.noc_out, core.noc, blob_.cores[static_cast<std::size_t>(c)].noc);
      // A receiver takes from one sender at a time.
      Flow& taken = received_[{destination.first.core, destination.first.stream}];
      taken.chip = to.chip;
      taken.op = to.op;
      finish(std::move(way), destination.is_multicast() ? multicasts : taken);
    }
    finish(std::move(multicasts));
  }

  void add_read(const Core& core, const Stream& s) {
    std::vector<std::uint64_t> blocks(s.read->buffers.size(), 0);
    std::uint64_t all = 0;
    for_each(s.read->blocks, [&](const ReadRun::Tuple& t) {
      ++blocks[static_cast<std::size_t>(t[0])];
      ++all;
    });
    if (all == 0 || s.message_bytes <= 0) return;
    const auto room = static_cast<std::int64_t>(s.bytes) / s.message_bytes, each = tiles_of_request(*s.read);
    Flow flow;
    flow.chip = core.chip;
    flow.kind = Flow::Kind::read;
    flow.op = core.op;
    if (is_of_input(s)) flow.operand = s.operand;
    flow.transfers = static_cast<double>(std::clamp<std::int64_t>(room / each, 1, requests_under_way(*s.read)));
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const DramBuffer& d = blob_.dram[static_cast<std::size_t>(s.read->buffers[i].dram)];
      const auto tiles = static_cast<std::uint64_t>(s.messages()) * blocks[i] / all;
      FlowWay way;
      way.bytes = tiles * bytes(s);
      way.requests = (static_cast<std::int64_t>(tiles) + each - 1) / each;
      add_route(way, s.noc_in, d.port, core.noc);
      add_memory(way, d);
      finish(std::move(way), flow);
    }
    finish(std::move(flow));
  }

  void add_written(const Core& core, const Stream& s) {
    const DramBuffer& d = blob_.dram[static_cast<std::size_t>(s.write->dram)];
    Flow flow;
    flow.chip = core.chip;
    flow.kind = Flow::Kind::written;
    flow.op = core.op;
    flow.is_output = s.kind == StreamKind::output;
    FlowWay way;
    way.bytes = static_cast<std::uint64_t>(s.messages()) * bytes(s);
    add_route(way, s.noc_out, core.noc, d.port);
    add_memory(way, d);
    finish(std::move(way), flow);
    finish(std::move(flow));
  }

  const Blob& blob_;
  const device::DeviceDescriptor& device_;
  std::vector<Flow> out_;
  std::map<std::pair<std::int32_t, std::int32_t>, Flow> received_;  // by core and stream that one stream sends to
};

}  // namespace

std::int64_t tiles_of_request(const DramRead& read) { return std::clamp<std::int64_t>(read.chunk_tiles, 1, kMaxTilesOfRequest); }
// The packets of a divided request go one after the other; with two under way none waits for the latency.
std::int64_t requests_under_way(const DramRead& read) { return read.chunk_tiles > kMaxTilesOfRequest ? 2 : kMaxRequests; }

std::size_t memory_part(const device::DeviceDescriptor& device, std::int32_t channel, bool upper) {
  return pipes::link_and_port_count(device.noc) + 2 * static_cast<std::size_t>(channel) + (upper ? 1 : 0);
}
std::size_t host_part(const device::DeviceDescriptor& device) {
  return pipes::link_and_port_count(device.noc) + 2 * device.dram.channels.size();
}

std::vector<Flow> flows_of(const Blob& blob, const device::DeviceDescriptor& device) { return Flows(blob, device).run(); }

}  // namespace buda::overlay
