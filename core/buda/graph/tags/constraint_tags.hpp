// SPDX-License-Identifier: Apache-2.0
// Constraints of the user on the placement of single ops: tags that go with a node through all passes to the balancer. An op of the model
// becomes several ops of a device, and each has its constraints; several become one, which then has those of all. So a tag holds lines.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/graph/fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace buda::graph {

// A line is the name of a constraint; of the ops with the same line the one that is scheduled first begins an epoch, or a chip.
inline constexpr const char* kEpochBreak = "epoch_break";
inline constexpr const char* kChipBreak = "chip_break";
// A line is the number of the chip on which the op runs; of several the last one counts.
inline constexpr const char* kChip = "chip";
// A line is "ORDER:PLACE": of the ops of one order those of a place are scheduled before those of the next.
inline constexpr const char* kSchedulePlace = "schedule_place";
// At device level. A line is the number of an input that is to come through a queue, in the producer's epoch, too. Such a tag belongs to
// the inputs of one node and is not merged.
inline constexpr const char* kQueueBefore = "queue_before";

// The lines of a tag; none when the node does not have it.
std::vector<std::string_view> constraints(const Node& n, std::string_view tag);
void add_constraint(Node& n, std::string_view tag, std::string_view line);
// Gives `to` the constraints of `from` besides its own.
void merge_constraints(Node& to, const Node& from);

// The inputs in a node's kQueueBefore. An error (GR027) names a line that is none.
Result<std::vector<std::size_t>> queued_inputs(const Node& n);

struct SchedulePlace {
  std::size_t order = 0, place = 0;
};
// An error (GR027) names a line that is not written so.
Result<std::vector<SchedulePlace>> schedule_places(const Node& n);

// The node's kChip; nothing where it has none. An error (GR027) names a line that is no number.
Result<std::optional<std::int32_t>> chip_of(const Node& n);

}  // namespace buda::graph
