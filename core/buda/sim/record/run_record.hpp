// SPDX-License-Identifier: Apache-2.0
// What a run of an epoch records for a sink.
#pragma once

#include <buda/perf/sink.hpp>
#include <buda/sim/time/time.hpp>

#include <compare>
#include <cstdint>
#include <map>
#include <vector>

namespace buda::sim {

// The entities of a sink: equal ones are added once, however many runs there are.
class EntityTable {
 public:
  // The sink must outlive this.
  explicit EntityTable(perf::Sink& sink) : sink_(sink) {}
  perf::EntityId id(const perf::Entity& entity);
  perf::Sink& sink() { return sink_; }

 private:
  struct Less {
    bool operator()(const perf::Entity& a, const perf::Entity& b) const;
  };
  perf::Sink& sink_;
  std::map<perf::Entity, perf::EntityId, Less> ids_;
};

// Times count from the beginning of the run, so that the record serves for every execution that goes like it.
struct RunRecord {
  struct Count {
    perf::EntityId entity;
    perf::Counter counter = perf::Counter::bytes;
    std::uint64_t amount = 0;
  };
  std::vector<perf::Event> events;
  std::vector<Count> counts;

  void tell(perf::Sink& sink, Ticks begin) const;
};

}  // namespace buda::sim
