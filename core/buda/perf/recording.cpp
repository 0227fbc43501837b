// SPDX-License-Identifier: Apache-2.0
// Tables of entities, events and counters.
#include <buda/perf/recording.hpp>

#include <algorithm>
#include <tuple>

namespace buda::perf {

EntityId Recording::add(Entity entity) {
  entities_.push_back(std::move(entity));
  return EntityId(static_cast<EntityId::rep>(entities_.size() - 1));
}

std::uint64_t Recording::counter(EntityId entity, Counter counter) const {
  auto found = counters_.find({entity, counter});
  return found == counters_.end() ? 0 : found->second;
}

std::vector<Event> Recording::by_time() const {
  std::vector<Event> out = events_;
  auto key = [](const Event& e) { return std::tuple(e.begin, e.end, e.entity, e.lane); };
  std::stable_sort(out.begin(), out.end(), [&](const Event& x, const Event& y) { return key(x) < key(y); });
  return out;
}

}  // namespace buda::perf
