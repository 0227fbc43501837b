// SPDX-License-Identifier: Apache-2.0
// Streams of kernels.
#include <buda/overlay/blob/yaml_phases.hpp>

#include <buda/base/text.hpp>

#include <algorithm>
#include <numeric>
#include <vector>

namespace buda::overlay {
namespace {

// Streams of the kernel are numbered without gaps: what it reads, then its intermediates; what it writes, then its intermediates.
void add_index_keys(const YamlSource& y, const Core& core, const Stream& s, YamlEntry& e) {
  auto is_input = [&](const Stream& o) { return o.kind == StreamKind::input || y.firmware_sends(core, o); };
  auto is_output = [&](const Stream& o) { return o.kind == StreamKind::output || y.firmware_receives(core, o); };
  const bool both = s.kind == StreamKind::intermediate;
  std::int32_t inputs = 0, outputs = 0, intermediates = 0;
  for (const Stream& other : core.streams) {
    const bool before = other.number < s.number;
    inputs += is_input(other) && (before || both);
    outputs += is_output(other) && (before || both);
    intermediates += other.kind == StreamKind::intermediate && before;
  }
  if (both || is_input(s)) e.add("input_index", inputs + (both ? intermediates : 0));
  if (both || is_output(s)) e.add("output_index", outputs + (both ? intermediates : 0));
}

// The block that it hands out at once divides the buffer and all phases.
void add_firmware_keys(const YamlSource& y, const Core& core, const Stream& s, YamlEntry& e) {
  e.add("use_ethernet_fw_stream", true);
  if (!y.firmware_receives(core, s)) return;
  std::int64_t block = static_cast<std::int64_t>(s.bytes) / s.message_bytes;
  for_each(s.phases, [&](const PhaseRun::Tuple& t) { block = std::gcd(block, to_phase(t).messages); });
  if (const pipes::Buffer* b = y.buffers.find(s.buffer)) block = std::gcd(block, b->scatter_gather_num_tiles);
  e.add("num_msgs_in_block", block);
}

// Forks send the buffer of an output once more. Lists name the forks, and where blocks are handed out, the output names itself first.
void add_fork_keys(const Core& core, const Stream& s, YamlEntry& e) {
  const std::int32_t owner = s.fork_of >= 0 ? s.fork_of : s.number;
  std::vector<std::int32_t> streams;
  if (s.kind == StreamKind::output && s.scattered) streams.push_back(owner);
  for (const Stream& f : core.streams)
    if (f.fork_of == owner) streams.push_back(f.number);
  e.add("fork_stream_ids", list_text(streams)).add("num_fork_streams", streams.size() - (is_scatter_pack(s) ? 1 : 0));
}

// The firmware of an Ethernet core copies nothing: what arrived in the input is the output, and each names the other.
void add_shared_space_keys(const YamlSource& y, const Core& core, const Stream& s, YamlEntry& e) {
  auto owner_of = [&](const Stream& output) {
    const pipes::Buffer* b = y.buffers.find(output.buffer);
    return b != nullptr ? b->buffer_space_shared.value_or(0) : 0;
  };
  if (!core.ethernet || s.buffer == 0) return;
  for (const Stream& other : core.streams) {
    const bool shared = s.kind == StreamKind::input ? other.kind == StreamKind::output && owner_of(other) == s.buffer
                                                    : other.kind == StreamKind::input && other.buffer == owner_of(s);
    if (shared) e.add("space_shared_with_stream", other.number);
  }
}

// How the kernel divides what it sends.
void add_blocking_keys(const YamlSource& y, const Stream& s, YamlEntry& e) {
  const pipes::Buffer* b = y.buffers.find(s.buffer);
  if (b == nullptr) return;
  if ((s.scattered || y.is_scattered_store(s)) && b->scatter_gather_num_tiles > 0) {
    std::int64_t window = std::max<std::int64_t>(1, b->window_tiles());
    std::int64_t whole = static_cast<std::int64_t>(s.bytes) / std::max(1, s.message_bytes);
    e.add("num_mblock_buffering", std::max<std::int64_t>(1, whole / window)).add("num_msgs_in_block", window);
  }
  if (s.kind != StreamKind::store)
    e.add("mblock_k", b->mblock_k)
        .add("mblock_m", b->mblock_m)
        .add("mblock_n", b->mblock_n)
        .add("ublock_ct", b->ublock_ct)
        .add("ublock_rt", b->ublock_rt);
}

void add_keys_of_kind(const YamlSource& y, const YamlPhaseIndex& index, const Core& core, const Stream& s, YamlEntry& e) {
  switch (s.kind) {
    case StreamKind::input:
      e.add("overlay_blob_extra_size", 0);
      add_shared_space_keys(y, core, s, e);
      return;
    case StreamKind::intermediate:
      e.add("legacy_pack", true).add("intermediate", true).add("reg_update_vc", 3).add("num_fork_streams", 0);
      if (auto sharer = index.sharers.find(s.buffer); sharer != index.sharers.end()) e.add("space_shared_with_operand", sharer->second);
      break;
    case StreamKind::output:
    case StreamKind::fork:
    case StreamKind::store:
      if (s.kind != StreamKind::store && !s.scattered) e.add("legacy_pack", true);
      add_fork_keys(core, s, e);
      add_shared_space_keys(y, core, s, e);
      break;
    case StreamKind::multicast:
    case StreamKind::relay:
      if (s.fork_of >= 0 || std::any_of(core.streams.begin(), core.streams.end(), [&](const Stream& f) { return f.fork_of == s.number; }))
        add_fork_keys(core, s, e);
      return;
    default:
      return;
  }
  add_blocking_keys(y, s, e);
}

}  // namespace

void add_kernel_keys(const YamlSource& y, const YamlPhaseIndex& index, const Core& core, const Stream& s, YamlEntry& e) {
  add_index_keys(y, core, s, e);
  if (s.firmware) add_firmware_keys(y, core, s, e);
  add_keys_of_kind(y, index, core, s, e);
}

}  // namespace buda::overlay
