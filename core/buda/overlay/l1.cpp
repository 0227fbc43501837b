// Addresses in L1.
//
// Operands are given out from the end of L1 downwards: first the headers of further sizes of tiles, then inputs, outputs and intermediates
// in order of their streams, then what is only there for transport. The first part is the same in all cores of an op, because a multicast
// writes to the same address in each of its cores. A stream program that needs more than the default takes it from the other end, unless
// the op says how large it may be. Where all that is too much, the buffers of multicasts and relays give way: a smaller one costs time, not
// correctness.
#include <buda/overlay/builder.hpp>
#include <buda/overlay/usage.hpp>

#include <buda/base/checked.hpp>
#include <buda/base/text.hpp>

#include <algorithm>

namespace buda::overlay {
namespace {

constexpr std::int64_t kProgramStep = 4096;
constexpr std::int64_t kEntryBytes = 8;  // of a read list; a run takes three entries

std::string what_of(const Stream& s) { return cat(stream_kind_name(s.kind), " stream ", s.number, ", operand ", s.operand); }

}  // namespace

// The stream before this one that keeps its buffer in the same place: of an output and its intermediate, or its input on an ethernet core.
const Stream* Builder::shares_with(std::int32_t number, const Stream& s) const {
  const bool is_ethernet = blob_.cores[static_cast<std::size_t>(number)].ethernet.has_value();
  auto may_share = [&](StreamKind kind) {
    return kind == StreamKind::output || kind == (is_ethernet ? StreamKind::input : StreamKind::intermediate);
  };
  if (s.buffer == 0 || !may_share(s.kind)) return nullptr;
  const auto& streams = streams_[static_cast<std::size_t>(number)];
  for (const auto& [n, other] : streams) {
    if (n >= s.number) break;
    if (!may_share(other.kind)) continue;
    const Buffer *a = index_.find(s.buffer), *b = index_.find(other.buffer);
    if (a != nullptr && b != nullptr && (a->buffer_space_shared == b->id || b->buffer_space_shared == a->id)) return &other;
  }
  return nullptr;
}

void Builder::make_room_for_phases(std::int32_t number) {
  if (asked_blobs_.contains(number)) return;
  std::int64_t needed = 0;
  for (const auto& [n, s] : streams_[static_cast<std::size_t>(number)]) {
    needed += s.phase_count() * device_.streams.bytes_per_phase;
    if (s.read)
      for (const ReadRun& run : s.read->blocks) needed += std::min<std::int64_t>(run.count, 3) * kEntryBytes;
  }
  Core& core = blob_.cores[static_cast<std::size_t>(number)];
  if (needed > core.blob_bytes) core.blob_bytes = align_up(needed, kProgramStep);
}

std::uint64_t Builder::tracking_bytes(std::int32_t number) const {
  std::int64_t buffers = 0;
  for (const auto& [n, s] : streams_[static_cast<std::size_t>(number)]) buffers += tracked_buffers(s, reads_pcie(s));
  return overlay::tracking_bytes(buffers, device_);
}

std::uint64_t Builder::needed_bytes(std::int32_t number, std::size_t sizes) const {
  const device::L1Map l1 = l1_map_of(blob_.cores[static_cast<std::size_t>(number)], device_, eth_core_);
  auto alignment = static_cast<std::uint64_t>(std::max(device_.tile_alignment, 1));
  std::uint64_t sum = align_up(l1.tile_headers_bytes, alignment) * (sizes > 0 ? sizes - 1 : 0) + tracking_bytes(number);
  for (const auto& [n, s] : streams_[static_cast<std::size_t>(number)])
    if (s.fork_of < 0 && shares_with(number, s) == nullptr) sum += align_up(s.bytes, alignment);
  auto blob = static_cast<std::uint64_t>(std::max<std::int64_t>(blob_.cores[static_cast<std::size_t>(number)].blob_bytes, 0));
  return sum + (blob > l1.overlay_blob_included ? blob - l1.overlay_blob_included : 0);
}

// Down to one block of what is read from DRAM, or one tile.
void Builder::shrink_multicasts(std::int32_t number, std::uint64_t excess) {
  for (auto& [n, s] : streams_[static_cast<std::size_t>(number)]) {
    if (!is_on_the_way(s) || s.fork_of >= 0 || excess == 0) continue;
    auto tile = static_cast<std::uint64_t>(std::max(s.message_bytes, 1));
    std::uint64_t least = tile * static_cast<std::uint64_t>(s.read ? s.read->block_tiles : 1);
    std::uint64_t wanted = s.bytes > excess ? (s.bytes - excess) / tile * tile : 0;
    std::uint64_t bytes = std::max(least, wanted);
    if (bytes >= s.bytes) continue;
    std::uint64_t saved = s.bytes - bytes;
    excess -= std::min(excess, saved);
    s.bytes = bytes;
    if (!s.read) continue;
    std::int64_t blocks = count_of(s.read->blocks), room = static_cast<std::int64_t>(bytes / tile) / 2 / s.read->block_tiles;
    s.read->chunk_tiles = s.read->block_tiles * divisor_up_to(blocks, std::max<std::int64_t>(room, 1));
  }
}

void Builder::assign_core(std::int32_t number, const std::vector<std::int32_t>& sizes) {
  Core& core = blob_.cores[static_cast<std::size_t>(number)];
  auto& streams = streams_[static_cast<std::size_t>(number)];
  const device::L1Map l1 = l1_map_of(core, device_, eth_core_);
  make_room_for_phases(number);
  std::uint64_t available = l1.operand_bytes(), needed = needed_bytes(number, sizes.size());
  if (needed > available) shrink_multicasts(number, needed - available);

  auto alignment = static_cast<std::uint64_t>(std::max(device_.tile_alignment, 1));
  std::uint64_t used = 0;
  std::vector<Note> parts;
  auto take = [&](std::uint64_t bytes, const std::string& what) {
    std::uint64_t aligned = align_up(bytes, alignment);
    used += aligned;
    if (aligned > 0) parts.push_back({{}, cat(what, ": ", aligned, " (", bytes_text(aligned), ')')});
    return l1.operands_end() - std::min(used, l1.operands_end());
  };
  for (std::size_t i = 0; i < sizes.size(); ++i)
    core.headers.push_back({sizes[i], i == 0 ? l1.tile_headers : take(l1.tile_headers_bytes, cat("headers of tiles of ", sizes[i], " B"))});
  for (bool kernel : {true, false})
    for (auto& [n, s] : streams) {
      bool of_kernel = s.kind == StreamKind::input || s.kind == StreamKind::output || s.kind == StreamKind::intermediate;
      if (of_kernel != kernel || s.fork_of >= 0) continue;
      const Stream* shared = shares_with(number, s);
      s.address = shared != nullptr ? shared->address : take(s.bytes, what_of(s));
    }
  for (auto& [n, s] : streams) {
    if (s.fork_of < 0) continue;
    s.address = streams.at(s.fork_of).address;
    if (is_on_the_way(s)) s.bytes = streams.at(s.fork_of).bytes;
  }
  take(tracking_bytes(number), "pointers of further DRAM buffers");
  auto blob = static_cast<std::uint64_t>(std::max<std::int64_t>(core.blob_bytes, 0));
  if (blob > l1.overlay_blob_included) take(blob - l1.overlay_blob_included, "stream program beyond the default");
  if (used <= available) return;
  bool program = blob > l1.overlay_blob_included && blob - l1.overlay_blob_included >= used - available;
  std::int64_t phases = 0;
  for (const auto& [n, s] : streams) phases += s.phase_count();
  misfit("OV015", core, "L1 bytes", used, available,
         program ? cat("most of all for the stream program, which has ", phases, " phases") : std::string("for buffers"),
         program ? cat("give op '", core.op, "' and its neighbours blockings with which tiles travel in longer pieces")
                 : cat("give op '", core.op, "' a larger grid, or a smaller buf_size_mb or input_buf_min_size_tiles"),
         std::move(parts));
}

void Builder::assign_addresses() {
  // Sizes of tiles by op, so that all its cores agree; cores without one are for themselves.
  std::map<std::tuple<std::int32_t, std::string, std::size_t>, std::set<std::int32_t>> sizes;
  auto key = [&](std::size_t i) {
    const Core& core = blob_.cores[i];
    return std::tuple{core.chip, core.op, core.op.empty() ? i : 0};
  };
  for (std::size_t i = 0; i < streams_.size(); ++i)
    for (const auto& [n, s] : streams_[i]) sizes[key(i)].insert(s.message_bytes);
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    const auto& of_op = sizes[key(i)];
    assign_core(static_cast<std::int32_t>(i), {of_op.begin(), of_op.end()});
  }
  if (failure_.empty()) check_multicast_addresses();
}

void Builder::check_multicast_addresses() {
  for (const PipePlan& plan : plans_)
    for (std::size_t t = 0; t < plan.lines.size() && plan.multicast; ++t) {
      auto receivers = receivers_of(plan, t);
      for (StreamRef r : receivers)
        if (stream_of(r).address != stream_of(receivers.front()).address || stream_of(r).bytes != stream_of(receivers.front()).bytes)
          return unsupported(plan.pipe, plan.targets[t].front(), "a multicast to cores that keep the input at different places");
    }
}

}  // namespace buda::overlay
