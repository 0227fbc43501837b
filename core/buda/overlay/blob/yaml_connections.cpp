// SPDX-License-Identifier: Apache-2.0
// Connections of streams.
#include <buda/overlay/blob/yaml_phases.hpp>

#include <buda/base/text.hpp>

#include <algorithm>
#include <string>

namespace buda::overlay {
namespace {

// How much space has to be free before the sender is notified: more, the more blocks the buffer holds.
std::int64_t threshold(const YamlSource& y, const Stream& s) {
  const pipes::Buffer* b = y.buffers.find(s.buffer);
  if (b == nullptr || b->scatter_gather_num_tiles < 1) return 2;
  const std::int64_t blocks = b->size_tiles / b->scatter_gather_num_tiles;
  return blocks == 0 ? 0 : blocks < 3 ? 1 : blocks < 6 ? 2 : 3;
}

}  // namespace

void add_source_keys(const YamlSource& y, const YamlPhaseIndex& index, const YamlPhase& p, YamlEntry& e) {
  const Stream& s = *p.stream;
  bool kernel = s.kind == StreamKind::input || s.kind == StreamKind::intermediate;
  if (kernel) {
    const bool row_numbers = index.row_numbers.contains({p.core, s.number});
    if (y.device.features.stream_tile_clearing && !row_numbers && !y.rows_of(s)) {
      e.add("local_receiver", true).add("local_receiver_tile_clearing", true);
    } else {
      e.add("receiver_endpoint", true);
    }
    if (row_numbers) e.add("ncrisc_clear", true);
    e.add("buf_space_available_ack_thr", !y.receives(s) && s.kind == StreamKind::input ? 0 : threshold(y, s));
  }
  if (index.sent_once.count({p.core, s.number, p.id}) != 0) e.add("follow_by_receiver_dummy_phase", true);
  const bool by_firmware = y.firmware_receives(y.core(p.core), s);
  if (!y.receives(s) || by_firmware) e.add("source_endpoint", true);
  if (!y.receives(s)) return;
  StreamRef from = s.sources[static_cast<std::size_t>(p.phase.source)];
  if (!by_firmware) e.add("remote_source", true);
  e.add("src", y.name(from)).add("data_buf_no_flow_ctrl", false);
  if (y.core(p.core).chip != y.core(from.core).chip) e.add("eth_receiver", true);
  const Stream* sender = y.blob.find(from);
  if (sender == nullptr || sender->kind != StreamKind::multicast) return;
  auto cores = y.blob.cores_of(sender->destinations.front());
  const auto number = std::find(cores.begin(), cores.end(), p.core) - cores.begin();
  if (sender->destinations.front().is_multicast()) e.add("remote_src_is_mcast", true).add("src_dest_index", number);
}

void add_destination_keys(const YamlSource& y, const YamlPhase& p, YamlEntry& e) {
  const Stream& s = *p.stream;
  const Core& core = y.core(p.core);
  if (sends_once(y, core, s)) e.add("follow_by_sender_dummy_phase", true);
  if (!YamlSource::sends(s)) {
    if ((s.write || s.pcie) && s.kind != StreamKind::intermediate)
      e.add("receiver_endpoint", true).add("remote_receiver", false).add("outgoing_data_noc", s.noc_out).add("vc", s.vc);
    return;
  }
  const Destination& d = s.destinations[static_cast<std::size_t>(p.phase.destination)];
  std::string dest = y.name(d.first);
  if (d.is_multicast()) dest += cat(",", y.name({d.last_core, d.first.stream}));
  e.add(y.firmware_sends(core, s) ? "receiver_endpoint" : "remote_receiver", true);
  e.add("dest", cat('[', dest, ']')).add("dest_data_buf_no_flow_ctrl", false);
  e.add("outgoing_data_noc", s.noc_out).add("vc", s.vc);
  if (y.core(p.core).chip != y.core(d.first.core).chip) e.add("eth_sender", true);
  if (d.is_multicast()) e.add("linked", true).add("num_mcast_dests", y.blob.cores_of(d).size());
}

}  // namespace buda::overlay
