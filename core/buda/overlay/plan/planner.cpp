// SPDX-License-Identifier: Apache-2.0
// Pipe by pipe, then what the pipes have in common.
#include <buda/overlay/plan/planner.hpp>

#include <buda/base/text.hpp>
#include <buda/overlay/plan/classify.hpp>
#include <buda/overlay/plan/padding.hpp>
#include <buda/overlay/plan/passes.hpp>
#include <buda/overlay/plan/pipe_ends.hpp>
#include <buda/overlay/plan/relay_routes.hpp>
#include <buda/overlay/plan/row_offsets.hpp>

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <utility>

namespace buda::overlay {
namespace {

bool check_tile_sizes(const PipePlan& plan, Violations& violations) {
  for (const auto& group : plan.groups)
    for (const Buffer* b : group)
      for (const Buffer* s : plan.sources) {
        if (s->tile_size == b->tile_size) continue;
        violations.error(
            "OV002", plan.pipe, b,
            cat("it brings tiles of ", s->tile_size, " bytes from buffer_", s->id, " and should bring tiles of ", b->tile_size));
        return false;
      }
  return true;
}

std::optional<PipePlan> plan_pipe(const EpochInput& in, const Pipe& pipe, const RelayReaders& readers, std::int64_t& blocks_so_far,
                                  Violations& violations) {
  PipePlan plan;
  plan.pipe = &pipe;
  auto groups = resolve_outputs(in, pipe, violations);
  if (!groups) return std::nullopt;
  plan.groups = std::move(*groups);
  auto inputs = resolve_inputs(in, pipe, plan.first_output(), blocks_so_far, violations);
  if (!inputs) return std::nullopt;
  plan.sources = std::move(inputs->sources);
  plan.blocks = std::move(inputs->blocks);
  plan.pass_tiles = inputs->pass_tiles;
  if (!set_row_offsets(plan, violations)) return std::nullopt;
  auto routes = follow_relays(in, readers, pipe, plan.groups, plan.pass_tiles, violations);
  if (!routes) return std::nullopt;
  plan.groups = std::move(routes->groups);
  plan.routes = std::move(routes->routes);
  plan.parts = std::move(routes->parts);
  if (!resolve_padding(in, plan, violations) || !classify(in, plan, violations) || !merge_blocks(in, plan, violations) ||
      !check_tile_sizes(plan, violations))
    return std::nullopt;
  return plan;
}

// The buffers at the ends of a plan, each once.
std::vector<Id> receivers_of(const PipePlan& plan) {
  std::vector<Id> out;
  for (const auto& group : plan.groups)
    for (const Buffer* b : group) out.push_back(b->id);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace

PipePlans plan_pipes(const EpochInput& in, Violations& violations) {
  PipePlans out;
  const RelayReaders readers = index_relay_readers(in);
  std::int64_t blocks = 0;
  for (const Pipe& pipe : in.graph.pipes) {
    if (starts_at_relay(in, pipe)) continue;
    auto plan = plan_pipe(in, pipe, readers, blocks, violations);
    if (!plan) continue;
    for (Id id : receivers_of(*plan)) out.feeds[id].push_back(out.pipes.size());
    out.pipes.push_back(std::move(*plan));
  }
  if (violations.empty()) check_relays(in, out.pipes, violations);
  if (!violations.empty()) return out;
  count_passes(out, violations);
  find_components(out);
  return out;
}

void check_operands(const EpochInput& in, const PipePlans& plans, Violations& violations) {
  for (const Buffer& b : in.graph.buffers)
    if (is_of_kernel(b) && b.tile_size < 1)
      violations.error("OV002", nullptr, &b, cat("buffer_", b.id, " has tiles of ", b.tile_size, " bytes"));
  for (const Buffer& b : in.graph.buffers)
    if (b.type == BufferType::unpacker && !plans.feeds.contains(b.id))
      violations.error("OV002", nullptr, &b, cat("no pipe leads to buffer_", b.id));
}

void check_outputs_are_taken(const EpochInput& in, const PipePlans& plans, Violations& violations) {
  std::unordered_set<Id> taken;
  for (const PipePlan& plan : plans.pipes)
    for (const Buffer* b : plan.sources) taken.insert(b->id);
  for (const Buffer& b : in.graph.buffers)
    if (b.type == BufferType::packer && !taken.contains(b.id))
      violations.error("OV002", nullptr, &b, cat("no pipe takes from buffer_", b.id));
}

}  // namespace buda::overlay
