// SPDX-License-Identifier: Apache-2.0
// The sections phase_….
#include <buda/overlay/blob/yaml_phases.hpp>

#include <buda/base/text.hpp>

#include <algorithm>
#include <string>

namespace buda::overlay {
namespace {

void add_phase(const YamlSource& y, const YamlPhaseIndex& index, std::uint64_t first_id, const YamlPhase& p, YamlEntry& e) {
  const Stream& s = *p.stream;
  const Core& core = y.core(p.core);
  e.add("phase_id", first_id + static_cast<std::uint64_t>(p.id));
  auto tile = static_cast<std::uint64_t>(s.message_bytes);
  e.hex("buf_addr", s.address + static_cast<std::uint64_t>(p.phase.offset) * tile);
  e.add("buf_size", s.scattered ? static_cast<std::uint64_t>(p.phase.messages) * tile : s.bytes);
  const bool from_blocks = s.scattered || y.is_scattered_store(s);
  if (from_blocks) e.hex("buf_base_addr", s.address).add("buf_full_size_bytes", s.bytes);
  if (s.buffer != 0 && !from_blocks) e.add("buf_id", s.buffer);
  if (s.pipe != 0) e.add("pipe_id", s.pipe);
  e.add("data_auto_send", true).add("incoming_data_noc", s.noc_in).add("remote_src_update_noc", 1 - s.noc_in);
  for (const TileHeaders& h : core.headers)
    if (h.tile_bytes == s.message_bytes) e.hex("msg_info_buf_addr", h.address);
  e.add("msg_size", s.message_bytes).add("num_msgs", p.phase.messages);
  e.add("num_iters_in_epoch", s.iterations);
  e.add("num_unroll_iter", is_scatter_pack(s) ? std::max<std::int64_t>(s.passes, 1) : 1);
  e.add("unroll_iter", is_scatter_pack(s) ? p.pass() : 0);
  e.add("next_phase_src_change", p.source_changes).add("next_phase_dest_change", p.destination_changes);
  e.add("phase_auto_advance", true).add("phase_auto_config", !p.last);
  add_source_keys(y, index, p, e);
  add_destination_keys(y, p, e);
  add_queue_keys(y, index, p, e);
  add_kernel_keys(y, index, core, s, e);
  if (is_scatter_pack(s))
    e.add("is_scatter_pack", true).add("padding_scatter_order_size", 1).add("resend", p.continues_pass).add("num_scatter_inner_loop", 1);
}

}  // namespace

Result<void> write_yaml_phases(const YamlSource& y, std::uint64_t first_id, io::OutputFile& out) {
  const YamlPhaseIndex index = index_phases(y);
  std::string text;
  std::int64_t current = -1;
  for (const YamlPhase& p : ordered_phases(y)) {
    if (p.id != current) text += cat("phase_", first_id + static_cast<std::uint64_t>(p.id), ":\n");
    current = p.id;
    text += cat("  ", y.name({p.core, p.stream->number}), ":\n");
    YamlEntry e(text, "    ");
    add_phase(y, index, first_id, p, e);
    BUDA_TRY(flush_text(text, 1 << 20, out));
  }
  return flush_text(text, 0, out);
}

}  // namespace buda::overlay
