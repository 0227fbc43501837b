// A binary heap.
#include <buda/sim/event_queue.hpp>

#include <algorithm>

namespace buda::sim {
namespace {

bool happens_later(const Event& a, const Event& b) {
  if (a.time != b.time) return a.time > b.time;
  if (a.entity != b.entity) return a.entity > b.entity;
  // The numbers go round after 2^32 events, of which far fewer are in the queue at once.
  return static_cast<std::int32_t>(a.sequence - b.sequence) > 0;
}

}  // namespace

void EventQueue::add(Ticks time, EventKind kind, std::uint32_t entity, std::uint32_t cause) {
  heap_.push_back({time, entity, sequence_++, cause, kind});
  std::push_heap(heap_.begin(), heap_.end(), happens_later);
}

Event EventQueue::take() {
  std::pop_heap(heap_.begin(), heap_.end(), happens_later);
  const Event event = heap_.back();
  heap_.pop_back();
  ++taken_;
  return event;
}

}  // namespace buda::sim
