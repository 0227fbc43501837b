// Addresses in L1.
//
// Operands are given out from the end of L1 downwards: first the headers of further sizes of tiles, then inputs, outputs and intermediates
// in order of their streams, then what is only there for transport. The first part is the same in all cores of an op, because a multicast
// writes to the same address in each of its cores.
#include <buda/overlay/builder.hpp>

#include <buda/base/checked.hpp>
#include <buda/base/text.hpp>

#include <algorithm>

namespace buda::overlay {

void Builder::assign_core(std::int32_t number, const std::vector<std::int32_t>& sizes) {
  Core& core = blob_.cores[static_cast<std::size_t>(number)];
  auto& streams = streams_[static_cast<std::size_t>(number)];
  const auto& l1 = device_.l1;
  std::uint64_t used = 0;
  std::vector<Note> parts;
  auto take = [&](std::uint64_t bytes, const std::string& what) {
    std::uint64_t aligned = align_up<std::uint64_t>(bytes, static_cast<std::uint64_t>(std::max(device_.tile_alignment, 1)));
    used += aligned;
    if (aligned > 0) parts.push_back({{}, cat(what, ": ", bytes_text(aligned))});
    return l1.operands_end() - std::min(used, l1.operands_end());
  };
  for (std::size_t i = 0; i < sizes.size(); ++i)
    core.headers.push_back({sizes[i], i == 0 ? l1.tile_headers : take(l1.tile_headers_bytes, cat("headers of tiles of ", sizes[i], " B"))});
  auto give = [&](Stream& s) {
    if (s.fork_of >= 0) return;
    std::string what = cat(stream_kind_name(s.kind), " (stream ", s.number, ", operand ", s.operand, ")");
    const Buffer* b = s.buffer != 0 ? index_.find(s.buffer) : nullptr;
    if (b != nullptr && b->buffer_space_shared) {
      auto partner = kernel_streams_.find(*b->buffer_space_shared);
      if (partner != kernel_streams_.end() && partner->second.core == number) {
        Stream& other = streams.at(partner->second.stream);
        if (other.address != 0) {
          s.address = other.address;
          return;
        }
        s.address = other.address = take(std::max(s.bytes, other.bytes), what + " with its intermediate");
        return;
      }
    }
    if (s.address == 0) s.address = take(s.bytes, what);
  };
  for (int round = 0; round < 2; ++round)
    for (auto& [n, s] : streams) {
      bool kernel = s.kind == StreamKind::input || s.kind == StreamKind::output || s.kind == StreamKind::intermediate;
      if (kernel == (round == 0)) give(s);
    }
  for (auto& [n, s] : streams)
    if (s.fork_of >= 0) s.address = streams.at(s.fork_of).address;
  std::uint64_t available = l1.operand_bytes(), blob = static_cast<std::uint64_t>(std::max<std::int64_t>(core.blob_bytes, 0));
  if (blob > l1.overlay_blob_included) {
    used += blob - l1.overlay_blob_included;
    parts.push_back({{}, cat("stream program beyond the default: ", bytes_text(blob - l1.overlay_blob_included))});
  }
  if (used > available)
    misfit("PG015", core, "L1 bytes", used, available, "for buffers",
           cat("give op '", core.op, "' a larger grid, or a smaller buf_size_mb or input_buf_min_size_tiles"), std::move(parts));
}

void Builder::assign_addresses() {
  // Sizes of tiles by op, so that all its cores agree.
  std::map<std::pair<std::int32_t, std::string>, std::set<std::int32_t>> sizes;
  for (std::size_t i = 0; i < streams_.size(); ++i)
    for (const auto& [n, s] : streams_[i]) sizes[{blob_.cores[i].chip, blob_.cores[i].op}].insert(s.message_bytes);
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    const auto& of_op = sizes[{blob_.cores[i].chip, blob_.cores[i].op}];
    assign_core(static_cast<std::int32_t>(i), {of_op.begin(), of_op.end()});
  }
  if (failure_.empty()) check_multicast_addresses();
}

void Builder::check_multicast_addresses() {
  for (const PipePlan& plan : plans_)
    for (std::size_t t = 0; t < plan.relays.size(); ++t) {
      auto receivers = receivers_of(plan, t);
      for (StreamRef r : receivers)
        if (stream_of(r).address != stream_of(receivers.front()).address || stream_of(r).bytes != stream_of(receivers.front()).bytes)
          return unsupported(plan.pipe, plan.targets[t].front(), "a multicast to cores that keep the input at different places");
    }
}

}  // namespace buda::overlay
