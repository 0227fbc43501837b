// SPDX-License-Identifier: Apache-2.0
// Where events go.
#pragma once

#include <buda/perf/event.hpp>

#include <cstdint>

namespace buda::perf {

// Called from one thread. A target adds its entities before the first event about them, and records nothing above the level that it was
// asked for.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual EntityId add(Entity entity) = 0;
  virtual void record(const Event& event) = 0;
  // Adds to a counter of an entity.
  virtual void count(EntityId entity, Counter counter, std::uint64_t amount) = 0;
};

}  // namespace buda::perf
