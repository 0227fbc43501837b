// SPDX-License-Identifier: Apache-2.0
// Passes, rings and components.
#include <buda/overlay/plan/passes.hpp>

#include <buda/base/checked.hpp>
#include <buda/base/text.hpp>

#include <algorithm>
#include <numeric>
#include <optional>
#include <unordered_set>
#include <utility>

namespace buda::overlay {
namespace {

std::vector<Block> merged(const std::vector<Block>& blocks) {
  std::vector<Block> out;
  for (const Block& b : blocks) {
    if (!out.empty() && out.back().source == b.source && out.back().offset + out.back().tiles == b.offset) {
      out.back().tiles += b.tiles;
    } else {
      out.push_back(b);
    }
  }
  return out;
}

// Whether the one block of a plan is its source's whole buffer, in order.
bool is_whole_buffer(const EpochInput& in, const PipePlan& plan) {
  const Buffer& b = *plan.sources.front();
  const Block& block = plan.blocks.front();
  if (plan.source == SourceKind::store) return block.offset == 0 && (b.is_padding || plan.pass_tiles == b.window_tiles());
  const std::int64_t window = output_window(b);
  return block.tiles == window && std::max<std::int64_t>(buffer_tiles(b, in.buffers), 1) % window == 0;
}

// Nothing if the buffer does not determine it: padding is read as often as what it pads.
std::optional<std::int64_t> passes_of(const PipePlans& plans, const Buffer& b) {
  if (b.is_padding) return std::nullopt;
  const std::int64_t total = epoch_tiles(b);
  if (b.type == BufferType::packer) return ceil_div(total, output_window(b));
  if (b.type == BufferType::prolog_relay) {
    auto feeds = plans.feeds.find(b.id);
    if (feeds == plans.feeds.end()) return std::nullopt;
    for (const Buffer* source : plans.pipes[feeds->second.front()].sources)
      if (source->type != BufferType::prolog_relay)
        if (auto passes = passes_of(plans, *source)) return passes;
    return std::nullopt;
  }
  const std::int64_t entry = b.tiles_per_input > 0 ? b.tiles_per_input : b.window_tiles();
  return std::max<std::int64_t>(1, total / std::max<std::int64_t>(1, entry));
}

// 0, with a violation, if the sources disagree or do not determine it.
std::int64_t passes_of(const PipePlans& plans, const PipePlan& plan, Violations& violations) {
  if (plan.sink == SinkKind::share) return 1;
  auto refuse = [&](const std::string& why) {
    violations.error("OV002", plan.pipe, &plan.first_output(), why);
    return 0;
  };
  std::int64_t out = 0;
  for (const Buffer* b : plan.sources) {
    const auto passes = passes_of(plans, *b);
    if (!passes) continue;
    if (out != 0 && out != *passes)
      return refuse(cat("it would have to run ", out, " times for '", plan.sources.front()->op, "', and ", *passes, " times for '", b->op,
                        "' (buffer_", b->id, ")"));
    out = *passes;
  }
  if (out == 0) return refuse("it brings nothing but padding, so the number of times is unknown");
  const auto all = checked_mul(out, plan.pass_tiles);
  if (!all || !is_plausible_count(*all)) return refuse("it moves too many tiles in the epoch");
  return out;
}

// By first member; each rising.
std::vector<std::vector<std::size_t>> connected_plans(const PipePlans& plans) {
  std::vector<std::size_t> root(plans.pipes.size());
  std::iota(root.begin(), root.end(), 0);
  auto find = [&](std::size_t i) {
    while (root[i] != i) i = root[i] = root[root[i]];
    return i;
  };
  for (const auto& [id, feeds] : plans.feeds)
    for (std::size_t i : feeds) {
      const std::size_t a = find(feeds.front()), b = find(i);
      root[std::max(a, b)] = std::min(a, b);
    }
  // A root is the lowest number of its component.
  std::vector<std::vector<std::size_t>> members(plans.pipes.size());
  for (std::size_t i = 0; i < root.size(); ++i) members[find(i)].push_back(i);
  std::erase_if(members, [](const auto& m) { return m.empty(); });
  return members;
}

}  // namespace

bool merge_blocks(const EpochInput& in, PipePlan& plan, Violations& violations) {
  plan.ring = plan.source == SourceKind::dram && plan.parts.size() == 1;
  if (plan.source == SourceKind::dram) return true;
  plan.blocks = merged(plan.blocks);
  if (plan.sink != SinkKind::queue || !plan.sources.front()->untilized.on) {
    if (plan.blocks.size() == 1 && plan.groups.size() == 1) plan.ring = is_whole_buffer(in, plan);
    return true;
  }
  // Each core sends its rows by itself.
  plan.ring = plan.blocks.size() == plan.sources.size();
  if (!plan.ring)
    violations.error("OV002", plan.pipe, plan.sources.front(),
                     "an output without tiles is written to its queue as a whole, core after core");
  return plan.ring;
}

void count_passes(PipePlans& plans, Violations& violations) {
  for (PipePlan& plan : plans.pipes) plan.passes = passes_of(plans, plan, violations);
}

// An output is a ring for all pipes that take from it, or for none: the kernel hands it out in one way. Rings among others go by blocks,
// too.
void find_components(PipePlans& plans) {
  plans.components = connected_plans(plans);
  std::unordered_set<Id> in_blocks;  // outputs
  for (const auto& component : plans.components) {
    PipePlan& first = plans.pipes[component.front()];
    first.flows = component.size() == 1 && first.ring;
    if (first.flows) continue;
    for (std::size_t i : component)
      if (plans.pipes[i].source == SourceKind::output)
        for (const Buffer* b : plans.pipes[i].sources) in_blocks.insert(b->id);
  }
  for (PipePlan& p : plans.pipes) p.flows = p.flows && !(p.source == SourceKind::output && in_blocks.contains(p.sources.front()->id));
}

}  // namespace buda::overlay
