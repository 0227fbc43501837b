// SPDX-License-Identifier: Apache-2.0
// Looks up ids of buffers and blocks.
#include <buda/overlay/plan/pipe_ends.hpp>

#include <buda/base/checked.hpp>
#include <buda/base/text.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace buda::overlay {
namespace {

constexpr std::int64_t kMaxBlocks = std::int64_t{1} << 20;  // of a pipe
constexpr std::int64_t kMaxBlocksInAll = std::int64_t{1} << 24;

// Tiles of a block, which may be all that the epoch has.
std::int64_t block_tiles(const EpochInput& in, const Buffer& b) {
  if (b.type == BufferType::prolog_relay) return buffer_tiles(b, in.buffers);
  return !b.is_scatter && b.type == BufferType::packer ? std::min(b.scatter_gather_num_tiles, epoch_tiles(b)) : b.scatter_gather_num_tiles;
}

bool is_start_of_block(const Buffer& b, std::int64_t offset, std::int64_t tiles) {
  const std::int64_t window = b.is_padding || !b.is_scatter ? std::max(tiles, b.window_tiles()) : b.window_tiles();
  return tiles >= 1 && offset % tiles == 0 && offset + tiles <= window;
}

bool count_blocks(const Pipe& pipe, const Buffer& first_output, std::int64_t& blocks_so_far, Violations& violations) {
  const auto blocks = checked_mul(static_cast<std::int64_t>(pipe.inputs.size()), pipe.repeats());
  if (!blocks || *blocks > kMaxBlocks) {
    violations.error("OV002", &pipe, &first_output,
                     cat("its list, repeated ", pipe.repeats(), " times, has more than ", kMaxBlocks, " blocks"));
    return false;
  }
  blocks_so_far += *blocks;
  if (blocks_so_far <= kMaxBlocksInAll) return true;
  violations.error("OV002", &pipe, &first_output,
                   cat("the lists of all pipes up to this one, repeated, have more than ", kMaxBlocksInAll, " blocks"));
  return false;
}

}  // namespace

std::optional<std::vector<const Buffer*>> resolve_group(const EpochInput& in, const Pipe& pipe, const std::vector<Id>& ids,
                                                        Violations& violations) {
  std::vector<const Buffer*> group;
  for (Id id : ids) {
    const Buffer* b = in.buffers.find(id);
    if (b == nullptr || b->id != id) {
      violations.error("OV002", &pipe, nullptr, cat("it leads to ", id, ", which is no buffer"));
      return std::nullopt;
    }
    group.push_back(b);
  }
  if (!group.empty()) return group;
  violations.error("OV002", &pipe, nullptr, "one of its output groups is empty");
  return std::nullopt;
}

std::optional<std::vector<std::vector<const Buffer*>>> resolve_outputs(const EpochInput& in, const Pipe& pipe, Violations& violations) {
  if (pipe.outputs.empty() || pipe.outputs.front().empty() || pipe.inputs.empty()) {
    violations.error("OV002", &pipe, nullptr, "it has no inputs or no outputs");
    return std::nullopt;
  }
  std::vector<std::vector<const Buffer*>> groups;
  for (const auto& ids : pipe.outputs) {
    auto group = resolve_group(in, pipe, ids, violations);
    if (!group) return std::nullopt;
    groups.push_back(std::move(*group));
  }
  return groups;
}

std::optional<PipeInputs> resolve_inputs(const EpochInput& in, const Pipe& pipe, const Buffer& first_output, std::int64_t& blocks_so_far,
                                         Violations& violations) {
  PipeInputs out;
  std::map<Id, std::int32_t> numbers;
  for (Id id : pipe.inputs) {
    const Buffer* b = in.buffers.find(id);
    if (b == nullptr) {
      violations.error("OV002", &pipe, nullptr, cat("it takes from ", id, ", which is no buffer"));
      return std::nullopt;
    }
    if (numbers.emplace(b->id, static_cast<std::int32_t>(out.sources.size())).second) out.sources.push_back(b);
  }
  if (!count_blocks(pipe, first_output, blocks_so_far, violations)) return std::nullopt;
  for (std::int64_t r = 0; r < pipe.repeats(); ++r)
    for (Id id : pipe.inputs) {
      const Buffer& b = *in.buffers.find(id);
      const auto offset = static_cast<std::int64_t>(id - b.id);
      const std::int64_t tiles = block_tiles(in, b);
      if (!is_start_of_block(b, offset, tiles)) {
        violations.error("OV002", &pipe, &first_output,
                         cat("it takes ", id, ", which is not the beginning of a block of ", tiles, " tiles of buffer_", b.id));
        return std::nullopt;
      }
      out.blocks.push_back({numbers.at(b.id), offset, tiles});
      out.pass_tiles += tiles;
    }
  if (is_plausible_count(out.pass_tiles)) return out;
  violations.error("OV002", &pipe, &first_output, "it moves too many tiles at once");
  return std::nullopt;
}

}  // namespace buda::overlay
