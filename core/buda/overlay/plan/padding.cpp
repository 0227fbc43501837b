// SPDX-License-Identifier: Apache-2.0
// Padding has no round in a pass: its rounds follow that of the group before it, or precede the first group that receives tiles.
#include <buda/overlay/plan/padding.hpp>

#include <buda/base/text.hpp>

#include <algorithm>
#include <utility>

namespace buda::overlay {
namespace {

// The padding that a group receives in its round, by the pipe where the rounds part; and at which relay buffer of the route. Id 0: none.
std::pair<Id, std::size_t> listed_padding(const RelayRoute& route, std::size_t round) {
  auto listed = [](const Pipe& pipe, std::size_t group) { return group < pipe.output_padding.size() ? pipe.output_padding[group] : Id{0}; };
  for (std::size_t h = 0; h < route.hops.size(); ++h) {
    const Pipe& pipe = *route.hops[h].pipe;
    if (Id id = listed(pipe, pipe.outputs.size() > 1 ? round : 0); id != 0) return {id, h};
  }
  return {listed(*route.last, route.group), Padding::kAfterRelays};
}

// Padding that is kept on the chip of its group joins after all relays, wherever the file would have it join.
bool resolve_padding_of(const EpochInput& in, PipePlan& plan, const Part& part, Id id, Padding& out, Violations& violations) {
  const RelayRoute& route = plan.routes[out.group];
  const Buffer& receiver = *plan.groups[out.group].front();
  const Buffer* b = in.buffers.find(id);
  if (b == nullptr || !b->is_padding || b->scatter_gather_num_tiles < 1 || part.tiles % b->scatter_gather_num_tiles != 0) {
    violations.error("OV002", route.last, &receiver,
                     cat("output_padding_list has ", id, ", which is not a padding of which ", part.tiles, " tiles could be made"));
    return false;
  }
  if (out.hop != Padding::kAfterRelays && b->chip != route.hops[out.hop].buffer->chip) out.hop = Padding::kAfterRelays;
  if (out.hop == Padding::kAfterRelays && b->chip != receiver.chip) {
    violations.error("OV002", route.last, &receiver, cat("its padding buffer_", id, " is on chip ", b->chip, ", where no receiver is"));
    return false;
  }
  out.tiles = part.tiles;
  auto at = std::find(plan.sources.begin(), plan.sources.end(), b);
  out.source = static_cast<std::int32_t>(at - plan.sources.begin());
  if (at == plan.sources.end()) plan.sources.push_back(b);
  return true;
}

}  // namespace

bool resolve_padding(const EpochInput& in, PipePlan& plan, Violations& violations) {
  for (Part& part : plan.parts) {
    std::vector<std::size_t> receiving;
    const std::size_t first = plan.padding.size();
    for (std::size_t round = 0; round < part.groups.size(); ++round) {
      Padding padding;
      padding.group = part.groups[round];
      const auto [id, hop] = listed_padding(plan.routes[padding.group], round);
      if (id == 0) {
        receiving.push_back(padding.group);
        continue;
      }
      padding.hop = hop;
      padding.before = receiving.empty();
      if (!padding.before) padding.beside = receiving.back();
      if (!resolve_padding_of(in, plan, part, id, padding, violations)) return false;
      plan.padding.push_back(padding);
    }
    if (receiving.empty()) {
      violations.error("OV002", plan.pipe, &plan.first_output(), "all of its receivers get padding, and none gets what it brings");
      return false;
    }
    for (std::size_t k = first; k < plan.padding.size(); ++k)
      if (plan.padding[k].before) plan.padding[k].beside = receiving.front();
    part.groups = std::move(receiving);
  }
  return true;
}

}  // namespace buda::overlay
