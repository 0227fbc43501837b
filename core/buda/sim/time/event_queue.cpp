// SPDX-License-Identifier: Apache-2.0
// A heap with four children per node: half as deep as a binary one, and the children lie together.
#include <buda/sim/time/event_queue.hpp>

#include <algorithm>
#include <cstddef>

namespace buda::sim {
namespace {

constexpr std::size_t kChildren = 4;

inline bool happens_before(const Event& a, const Event& b) {
  if (a.time != b.time) return a.time < b.time;
  if (a.entity != b.entity) return a.entity < b.entity;
  // The numbers go round after 2^32 events, of which far fewer are in the queue at once.
  return static_cast<std::int32_t>(a.sequence - b.sequence) < 0;
}

}  // namespace

void EventQueue::add(Ticks time, EventKind kind, std::uint32_t entity, std::uint32_t cause) {
  const Event event{time, entity, sequence_++, cause, kind};
  std::size_t hole = heap_.size();
  heap_.push_back(event);
  while (hole > 0) {
    const std::size_t parent = (hole - 1) / kChildren;
    if (!happens_before(event, heap_[parent])) break;
    heap_[hole] = heap_[parent];
    hole = parent;
  }
  heap_[hole] = event;
}

Event EventQueue::take() {
  const Event first = heap_.front(), last = heap_.back();
  heap_.pop_back();
  ++taken_;
  if (heap_.empty()) return first;
  const std::size_t size = heap_.size();
  std::size_t hole = 0;
  for (std::size_t child = 1; child < size; child = hole * kChildren + 1) {
    std::size_t best = child;
    const std::size_t end = std::min(child + kChildren, size);
    for (std::size_t other = child + 1; other < end; ++other)
      if (happens_before(heap_[other], heap_[best])) best = other;
    if (!happens_before(heap_[best], last)) break;
    heap_[hole] = heap_[best];
    hole = best;
  }
  heap_[hole] = last;
  return first;
}

}  // namespace buda::sim
