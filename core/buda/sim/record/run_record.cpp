// SPDX-License-Identifier: Apache-2.0
// Entities once, events with their times moved.
#include <buda/sim/record/run_record.hpp>

#include <tuple>

namespace buda::sim {

bool EntityTable::Less::operator()(const perf::Entity& a, const perf::Entity& b) const {
  auto key = [](const perf::Entity& e) { return std::tie(e.kind, e.chip, e.row, e.col, e.parent, e.name); };
  return key(a) < key(b);
}

perf::EntityId EntityTable::id(const perf::Entity& entity) {
  auto [it, fresh] = ids_.try_emplace(entity);
  if (fresh) it->second = sink_.add(entity);
  return it->second;
}

void RunRecord::tell(perf::Sink& sink, Ticks begin) const {
  for (perf::Event event : events) {
    event.begin.ticks += begin;
    event.end.ticks += begin;
    sink.record(event);
  }
  for (const Count& c : counts) sink.count(c.entity, c.counter, c.amount);
}

}  // namespace buda::sim
