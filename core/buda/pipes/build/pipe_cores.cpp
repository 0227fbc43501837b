// SPDX-License-Identifier: Apache-2.0
// Chooses between producer and consumer.
#include <buda/pipes/build/pipe_cores.hpp>

#include <buda/pipes/build/queue_buffers.hpp>
#include <buda/pipes/build/source_blocks.hpp>

#include <cstdint>
#include <optional>

namespace buda::pipes {
namespace {

// The core of all tiles of a route, or nothing when there are several.
std::optional<std::int32_t> only_core(const PipeRoute& route) {
  const auto& runs = route.tiles.runs();
  for (const Run& run : runs)
    if (run.core != runs.front().core) return std::nullopt;
  return runs.front().core;
}

bool is_multicast(const OpPlan& p, const InputPlan& input) {
  const GridShape grid = p.op->grid;
  return input.routes.axis == MulticastAxis::row ? grid.cols > 1 : input.routes.axis == MulticastAxis::column && grid.rows > 1;
}

// The core of the producer, where tiles are in L1.
CoreCoord producer_core(const PlacedEpoch& epoch, std::size_t op, const InputPlan& input, std::int32_t core) {
  const EpochPlan& plan = epoch.plan;
  if (!input.source.is_queue()) return {input.from_chip, worker_of(*plan.ops[input.source.op].op, static_cast<std::size_t>(core))};
  const QueuePlan& q = plan.queue_plan(input.source.queue);
  return {plan.ops[op].chip, prologue_worker(plan, q, static_cast<std::size_t>(core), reader_number(q, op))};
}

CoreCoord consumer_core(const PlacedEpoch& epoch, std::size_t op, const InputPlan& input, std::int32_t destination) {
  const OpPlan& p = epoch.plan.ops[op];
  const GridShape grid = p.op->grid;
  const MulticastAxis axis = input.routes.axis;
  const bool far_end = is_multicast(p, input) && input.multicast.noc1;
  std::int32_t row = destination / grid.cols, col = destination % grid.cols;
  if (axis == MulticastAxis::column) {
    row = far_end ? grid.rows - 1 : 0;
    col = destination;
  } else if (axis == MulticastAxis::row) {
    row = destination;
    col = far_end ? grid.cols - 1 : 0;
  }
  return {p.chip,
          epoch.cores.core(op, static_cast<std::size_t>(row) * static_cast<std::size_t>(grid.cols) + static_cast<std::size_t>(col))};
}

}  // namespace

std::vector<CoreCoord> pipe_cores(const PlacedEpoch& epoch, std::size_t op, const InputPlan& input, const PipeRoute& route,
                                  bool is_repeated) {
  const bool from_l1 =
      input.source.is_queue() ? input.prologue && !input.post_tm : !EpochPlan::is_ethernet(epoch.plan.ops[input.source.op]);
  const bool at_producer = from_l1 && !is_repeated && !is_multicast(epoch.plan.ops[op], input);
  const auto core = at_producer ? only_core(route) : std::nullopt;
  std::vector<CoreCoord> out;
  for (std::int32_t d : route.destinations)
    out.push_back(core ? producer_core(epoch, op, input, *core) : consumer_core(epoch, op, input, d));
  return out;
}

}  // namespace buda::pipes
