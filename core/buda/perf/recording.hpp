// SPDX-License-Identifier: Apache-2.0
// A sink that keeps everything in memory.
//
//   perf::Recording recording;
//   if (device.record(recording, perf::Level::waits)) …
//   for (const perf::Event& e : recording.by_time()) …
#pragma once

#include <buda/perf/sink.hpp>

#include <map>
#include <utility>
#include <vector>

namespace buda::perf {

class Recording final : public Sink {
 public:
  EntityId add(Entity entity) override;
  void record(const Event& event) override { events_.push_back(event); }
  void count(EntityId entity, Counter counter, std::uint64_t amount) override { counters_[{entity, counter}] += amount; }

  const std::vector<Entity>& entities() const { return entities_; }  // by id
  const std::vector<Event>& events() const { return events_; }       // as they were recorded
  std::uint64_t counter(EntityId entity, Counter counter) const;     // 0 where nothing was counted
  // By begin, then end, entity and lane; what is equal in these stays in the order of recording. O(n log n).
  std::vector<Event> by_time() const;

 private:
  std::vector<Entity> entities_;
  std::vector<Event> events_;
  std::map<std::pair<EntityId, Counter>, std::uint64_t> counters_;
};

}  // namespace buda::perf
