// Pipes over PCIe, between chips without ethernet.
//
// A stream of one chip writes chunks of tiles as it would write them to a queue in DRAM; what it writes to is the buffer of a stream on the
// other chip, which gets them as if it had read a queue. So there is one stream at either end:
//
//   outputs ─▶ relay ═PCIe═▶ input
//   outputs ─▶ relay ═PCIe═▶ multicast ─▶ inputs
//   outputs ─▶ relay ═PCIe═▶ relay ─▶ input, which gets tiles from elsewhere too
//
// A single output that gives its whole buffer away in order needs no relay and writes itself. Receivers that take turns have a way each.
// Relays stand where tiles come from, and where they go to; those of several turns on several cores.
#include <buda/overlay/builder.hpp>

#include <buda/base/text.hpp>
#include <buda/tiling/buffer_sizes.hpp>

#include <numeric>

namespace buda::overlay {
namespace {

constexpr std::int32_t kPcieWriteChannel = 0;

}  // namespace

bool Builder::check_over_pcie(const PipePlan& plan) {
  const Buffer& out = plan.first_output();
  const Buffer* from = nullptr;
  bool sound = plan.sink == SinkKind::kernel && plan.source == SourceKind::output;
  for (const Buffer* b : plan.buffers) {
    if (b->is_padding) continue;
    from = from == nullptr ? b : from;
    sound = sound && b->type == BufferType::packer && b->chip == from->chip;
  }
  for (std::size_t g = 0; g < plan.groups.size(); ++g) {
    sound = sound && plan.ways[g].hops.empty();
    for (const Buffer* b : plan.groups[g]) sound = sound && b->chip == out.chip;
  }
  if (!sound || from == nullptr || from->chip == out.chip) {
    error("OV002", plan.pipe, &out, "over PCIe a pipe leads from outputs on one chip to inputs on another");
    return false;
  }
  if (peers_ && peers_->core_bytes > 0 && device_.pcie) return true;
  error("OV003", plan.pipe, &out,
        cat("nothing is said of how '", device_.name, "' reaches other chips over PCIe (pcie of the device, peers of its cluster)"));
  return false;
}

// A number of tiles of which all phases can be made, as large as buffers of relays are.
std::int64_t Builder::pcie_tiles(const PipePlan& plan) const {
  std::int64_t tiles = 0;
  for (const Block& b : plan.blocks) {
    tiles = std::gcd(tiles, b.tiles);
    if (b.tiles > device_.streams.max_tiles_per_phase) tiles = std::gcd(tiles, std::int64_t{device_.streams.max_tiles_per_phase});
  }
  return divisor_up_to(tiles, tiling::latency_tiles(plan.first_output().tile_size));
}

std::optional<StreamRef> Builder::make_pcie_relay(const PipePlan& plan, std::size_t t, std::int32_t core) {
  const Buffer& b = *plan.targets[t].front();
  if (core < 0) {
    error("OV002", plan.pipe, &b, "one end of it is in no core");
    return std::nullopt;
  }
  auto ref = take_extra(plan, core, StreamKind::relay);
  if (!ref) return std::nullopt;
  set_passing(stream_of(*ref), b, *plan.pipe, 2 * pcie_tiles(plan));
  return ref;
}

// The relays that a target needs at either end. `reached`: how many targets of the plan have a buffer.
bool Builder::make_pcie_ends(const PipePlan& plan, std::size_t t, const std::map<Id, int>& reached, std::vector<StreamRef>& line) {
  if (!plan.flows) {
    std::size_t source = t % plan.buffers.size();
    while (plan.buffers[source]->is_padding) source = (source + 1) % plan.buffers.size();
    auto ref = make_pcie_relay(plan, t, core_of_buffer(*plan.buffers[source]));
    if (!ref) return false;
    stream_of(*ref).noc_out = plan.pipe->outgoing_noc;
    line.push_back(*ref);
  }
  bool alone = std::none_of(plan.padding.begin(), plan.padding.end(), [&](const Padding& p) { return plan.target_of[p.group] == t; });
  for (const Buffer* b : plan.targets[t]) alone = alone && feeds_.at(b->id).size() == 1 && reached.at(b->id) == 1;
  if (alone) return true;
  const std::optional<std::int32_t> core = plan.multicast ? multicast_core(plan, t) : core_of_buffer(*plan.targets[t].front());
  if (!core) return false;
  auto ref = make_pcie_relay(plan, t, *core);
  if (!ref) return false;
  Stream& s = stream_of(*ref);
  s.noc_out = plan.multicast ? plan.pipe->incoming_noc : plan.pipe->outgoing_noc;
  s.vc = plan.multicast ? plan.pipe->incoming_vc : plan.pipe->outgoing_vc;
  line.push_back(*ref);
  return true;
}

// The streams that write; where their receivers lie is known later.
void Builder::mark_pcie(PipePlan& plan) {
  const std::uint64_t region = peers_->region_bytes * (*plan.pipe->mmio_downstream != 0 ? 2 : 1);
  for (std::size_t t = 0; t < plan.targets.size(); ++t) {
    Stream& s = stream_of(plan.flows ? plan.senders.front() : plan.lines[t].front());
    s.vc = kPcieWriteChannel;
    s.pcie = PcieWrite{*device_.pcie, region, 1};
  }
}

bool Builder::reads_pcie(const Stream& stream) const {
  return stream.sources.size() == 1 && stream_of(stream.sources.front()).pcie.has_value();
}

// Chunks are at most half of the receiver's buffer, so that writing and taking overlap; all phases, and the buffers at both ends, hold
// whole numbers of them. Kernels know how large their buffers are; others become a little smaller for that.
void Builder::settle_pcie(Stream& sender) {
  const StreamRef to = sender.destinations.front().first;
  Stream& receiver = stream_of(to);
  std::int64_t tiles = 0, most = std::max<std::int64_t>(1, room_of(receiver) / 2);
  for (Stream* s : {&sender, &receiver}) {
    for_each(s->phases, [&](const PhaseRun::Tuple& p) { tiles = std::gcd(tiles, to_phase(p).messages); });
    if (!is_on_the_way(*s)) tiles = std::gcd(tiles, room_of(*s));
    most = std::min(most, room_of(*s));
  }
  sender.pcie->chunk_tiles = divisor_up_to(tiles, most);
  for (Stream* s : {&sender, &receiver}) hold_whole(*s, sender.pcie->chunk_tiles);
  const device::NocCoord at = blob_.cores[static_cast<std::size_t>(to.core)].noc;
  const auto place = static_cast<std::uint64_t>(at.y * device_.noc.x + at.x);
  sender.pcie->address += place * peers_->core_bytes + receiver.address;
}

}  // namespace buda::overlay
