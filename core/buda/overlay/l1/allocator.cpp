// SPDX-License-Identifier: Apache-2.0
// Core by core, from the end of L1 downwards.
#include <buda/overlay/l1/allocator.hpp>

#include <buda/base/checked.hpp>
#include <buda/base/text.hpp>
#include <buda/overlay/l1/chunk_sizes.hpp>
#include <buda/overlay/l1/l1_map.hpp>
#include <buda/overlay/streams/transfer_sizes.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace buda::overlay {
namespace {

constexpr std::int64_t kReadEntryBytes = 8;  // of a read list
constexpr std::int64_t kRunEntries = 3;      // that a run takes

// What the layout of a core depends on.
struct CoreInput {
  const EpochInput& epoch;
  const Core& core;
  const PerStream<Stream>::OfCore& streams;
  const PerStream<StreamPhases>::OfCore& phases;
  std::vector<std::int32_t> tile_sizes;       // bytes, rising; those of all cores of the op
  std::uint64_t tracking_bytes = 0;           // pointers of queues
  std::optional<std::int64_t> program_bytes;  // if the op says so
};

std::uint64_t alignment_of(const device::DeviceDescriptor& device) {
  return static_cast<std::uint64_t>(std::max(device.tile_alignment, 1));
}

// The stream before this one that has its buffer at the same address: of an output and its intermediate, or its input on an Ethernet core.
const Stream* shares_with(const CoreInput& in, const Stream& s) {
  auto may_share = [&](StreamKind kind) {
    return kind == StreamKind::output || kind == (in.core.ethernet ? StreamKind::input : StreamKind::intermediate);
  };
  if (s.buffer == 0 || !may_share(s.kind)) return nullptr;
  for (const auto& [n, other] : in.streams) {
    if (n >= s.number) break;
    if (!may_share(other.kind)) continue;
    const Buffer *a = in.epoch.buffers.find(s.buffer), *b = in.epoch.buffers.find(other.buffer);
    if (a != nullptr && b != nullptr && (a->buffer_space_shared == b->id || b->buffer_space_shared == a->id)) return &other;
  }
  return nullptr;
}

std::int64_t phase_count(const CoreInput& in) {
  std::int64_t phases = 0;
  for (const auto& [n, s] : in.phases) phases += s.phase_count();
  return phases;
}

// The streams with the most phases, most first.
std::vector<Note> longest_schedules(const CoreInput& in) {
  constexpr std::size_t kShown = 3;
  std::vector<std::pair<std::int64_t, std::int32_t>> counts;
  for (const auto& [n, s] : in.phases) counts.emplace_back(-s.phase_count(), n);
  std::sort(counts.begin(), counts.end());
  counts.resize(std::min(counts.size(), kShown));
  std::vector<Note> out;
  for (const auto& [phases, n] : counts) {
    const Stream& s = in.streams.at(n);
    out.push_back({{}, cat("phases of ", stream_kind_name(s.kind), " stream ", n, ", operand ", s.operand, ": ", -phases)});
  }
  return out;
}

// Room for the stream program: what the op allows, or the default and more where phases and read lists need it.
std::int64_t program_bytes(const CoreInput& in, const device::L1Map& l1) {
  if (in.program_bytes) return *in.program_bytes;
  std::int64_t needed = phase_count(in) * in.epoch.device.streams.bytes_per_phase;
  for (const auto& [n, s] : in.streams)
    if (s.read)
      for (const ReadRun& run : s.read->blocks) needed += std::min(run.count, kRunEntries) * kReadEntryBytes;
  const auto standard = in.core.ethernet ? in.epoch.cluster.eth_core.overlay_blob : static_cast<std::int64_t>(l1.overlay_blob_default);
  return needed > standard ? align_up(needed, kProgramStep) : standard;
}

std::uint64_t needed_bytes(const CoreInput& in, const device::L1Map& l1, std::int64_t program) {
  const std::uint64_t alignment = alignment_of(in.epoch.device);
  std::uint64_t sum = align_up(l1.tile_headers_bytes, alignment) * (in.tile_sizes.empty() ? 0 : in.tile_sizes.size() - 1);
  for (const auto& [n, s] : in.streams)
    if (s.fork_of < 0 && shares_with(in, s) == nullptr) sum += align_up(s.bytes, alignment);
  return sum + in.tracking_bytes + excess_program_bytes(program, l1);
}

using Buffers = PerStream<StreamBuffer>::OfCore;

Buffers wanted_buffers(const CoreInput& in) {
  Buffers out;
  for (const auto& [n, s] : in.streams)
    out[n] = {0, s.bytes, s.read ? s.read->chunk_tiles : 0, s.write ? s.write->chunk_tiles : s.pcie ? s.pcie->chunk_tiles : 0, 0};
  return out;
}

// Down to one block of what is read from DRAM, or one tile.
void reduce_transport_buffers(const CoreInput& in, std::uint64_t excess, Buffers& buffers) {
  for (const auto& [n, s] : in.streams) {
    if (!is_transport(s) || s.fork_of >= 0 || excess == 0) continue;
    const auto tile = static_cast<std::uint64_t>(std::max(s.message_bytes, 1));
    const std::uint64_t min = tile * static_cast<std::uint64_t>(s.read ? s.read->block_tiles : 1);
    const std::uint64_t wanted = s.bytes > excess ? (s.bytes - excess) / tile * tile : 0;
    const std::uint64_t bytes = std::max(min, wanted);
    if (bytes >= s.bytes) continue;
    excess -= std::min(excess, s.bytes - bytes);
    buffers[n].bytes = bytes;
    if (!s.read) continue;
    const std::int64_t blocks = count_of(s.read->blocks), room = static_cast<std::int64_t>(bytes / tile) / 2 / s.read->block_tiles;
    buffers[n].read_chunk_tiles = s.read->block_tiles * divisor_up_to(blocks, std::max<std::int64_t>(room, 1));
  }
}

// Memory taken from the end of the operands downwards, and what for.
class Downwards {
 public:
  Downwards(std::uint64_t end, std::uint64_t alignment) : end_(end), alignment_(alignment) {}
  // The address.
  std::uint64_t take(std::uint64_t bytes, const std::string& what) {
    const std::uint64_t aligned = align_up(bytes, alignment_);
    used_ += aligned;
    if (aligned > 0) parts_.push_back({{}, cat(what, ": ", aligned, " (", bytes_text(aligned), ')')});
    return end_ - std::min(used_, end_);
  }
  std::uint64_t used() const { return used_; }
  std::vector<Note> parts() && { return std::move(parts_); }

 private:
  std::uint64_t end_, alignment_, used_ = 0;
  std::vector<Note> parts_;
};

// Operands of the kernel first, in the same order in all cores of an op; forks send from the buffers of others.
void place_buffers(const CoreInput& in, Downwards& memory, Buffers& buffers) {
  for (bool of_kernel : {true, false})
    for (const auto& [n, s] : in.streams) {
      const bool is_operand = s.kind == StreamKind::input || s.kind == StreamKind::output || s.kind == StreamKind::intermediate;
      if (is_operand != of_kernel || s.fork_of >= 0) continue;
      const Stream* shared = shares_with(in, s);
      buffers[n].address = shared != nullptr
                               ? buffers[shared->number].address
                               : memory.take(buffers[n].bytes, cat(stream_kind_name(s.kind), " stream ", n, ", operand ", s.operand));
    }
  for (const auto& [n, s] : in.streams) {
    if (s.fork_of < 0) continue;
    buffers[n].address = buffers.at(s.fork_of).address;
    if (is_transport(s)) buffers[n].bytes = buffers.at(s.fork_of).bytes;
  }
}

void check_space(const CoreInput& in, const device::L1Map& l1, std::uint64_t excess_program, Downwards memory, Violations& violations) {
  const std::uint64_t used = memory.used(), available = l1.operand_bytes();
  if (used <= available) return;
  const std::string& op = in.core.op;
  const bool is_program = excess_program >= used - available && excess_program > 0;
  std::vector<Note> notes = std::move(memory).parts();
  if (is_program)
    for (Note& note : longest_schedules(in)) notes.push_back(std::move(note));
  violations.shortage(
      in.core,
      {.code = "OV015",
       .resource = "L1 bytes",
       .needed = used,
       .available = available,
       .what = is_program ? cat("most of all for the stream program, which has ", phase_count(in), " phases") : std::string("for buffers"),
       .hint = is_program ? cat("give op '", op, "' and its neighbours blockings with which more consecutive tiles have the same route")
                          : cat("give op '", op, "' a larger grid, or a smaller buf_size_mb or input_buf_min_size_tiles"),
       .notes = std::move(notes)});
}

CoreLayout allocate_core(const CoreInput& in, Buffers& buffers, Violations& violations) {
  const device::L1Map l1 = l1_map_of(in.core, in.epoch.device, in.epoch.cluster.eth_core);
  CoreLayout out;
  out.program_bytes = program_bytes(in, l1);
  buffers = wanted_buffers(in);
  const std::uint64_t needed = needed_bytes(in, l1, out.program_bytes), available = l1.operand_bytes();
  if (needed > available) reduce_transport_buffers(in, needed - available, buffers);

  Downwards memory(l1.operands_end(), alignment_of(in.epoch.device));
  for (std::int32_t size : in.tile_sizes)
    out.headers.push_back(
        {size, out.headers.empty() ? l1.tile_headers : memory.take(l1.tile_headers_bytes, cat("headers of tiles of ", size, " B"))});
  place_buffers(in, memory, buffers);
  memory.take(in.tracking_bytes, "pointers of further DRAM buffers");
  const std::uint64_t excess_program = excess_program_bytes(out.program_bytes, l1);
  memory.take(excess_program, "stream program beyond the default");
  check_space(in, l1, excess_program, std::move(memory), violations);
  return out;
}

// Sizes of tiles per core: those of all cores of its op, so that these agree; cores without one are for themselves.
std::vector<std::vector<std::int32_t>> tile_sizes_of(const CoreMap& cores, const PerStream<Stream>& streams) {
  std::map<std::tuple<std::int32_t, std::string, std::size_t>, std::set<std::int32_t>> by_op;
  auto sizes_of = [&](std::size_t i) -> std::set<std::int32_t>& {
    const Core& core = cores.cores()[i];
    return by_op[{core.chip, core.op, core.op.empty() ? i : 0}];
  };
  for (std::size_t i = 0; i < streams.cores(); ++i)
    for (const auto& [n, s] : streams.of_core(i)) sizes_of(i).insert(s.message_bytes);
  std::vector<std::vector<std::int32_t>> out;
  for (std::size_t i = 0; i < streams.cores(); ++i) out.emplace_back(sizes_of(i).begin(), sizes_of(i).end());
  return out;
}

std::uint64_t tracking_bytes_of(const EpochInput& in, const PerStream<Stream>& streams, std::size_t core) {
  std::int64_t buffers = 0;
  for (const auto& [n, s] : streams.of_core(core))
    buffers += tracked_buffers(s, s.sources.size() == 1 && streams.at(s.sources.front()).pcie.has_value());
  return tracking_bytes(buffers, in.device);
}

void check_multicast_addresses(const PipePlans& plans, const StreamAllocation& streams, const L1Layout& layout, Violations& violations) {
  for (std::size_t i = 0; i < plans.pipes.size(); ++i) {
    if (!plans.pipes[i].multicast) continue;
    for (const TargetStreams& target : streams.pipes[i].targets)
      for (StreamRef r : target.receivers) {
        const StreamBuffer &a = layout.streams.at(r), &b = layout.streams.at(target.receivers.front());
        if (a.address == b.address && a.bytes == b.bytes) continue;
        return violations.unsupported(plans.pipes[i].pipe, target.buffers.front(),
                                      "a multicast to cores that have the input at different addresses");
      }
  }
}

}  // namespace

L1Layout allocate_l1(const EpochInput& in, const CoreMap& cores, const PipePlans& plans, const StreamAllocation& streams,
                     const PhaseSchedule& phases, Violations& violations) {
  L1Layout out{PerStream<StreamBuffer>(streams.streams.cores()), {}};
  auto tile_sizes = tile_sizes_of(cores, streams.streams);
  for (std::size_t i = 0; i < streams.streams.cores(); ++i) {
    const CoreInput core{in,
                         cores.cores()[i],
                         streams.streams.of_core(i),
                         phases.of_core(i),
                         std::move(tile_sizes[i]),
                         tracking_bytes_of(in, streams.streams, i),
                         streams.program_bytes[i]};
    out.cores.push_back(allocate_core(core, out.streams.of_core(i), violations));
  }
  if (violations.empty()) check_multicast_addresses(plans, streams, out, violations);
  if (violations.empty()) adjust_chunks(in, cores, streams, phases, out);
  return out;
}

}  // namespace buda::overlay
