// SPDX-License-Identifier: Apache-2.0
// What happens next: a heap of events, in one order on every machine.
#pragma once

#include <buda/sim/time/time.hpp>

#include <cstdint>
#include <vector>

namespace buda::sim {

enum class EventKind : std::uint8_t {
  sent,       // a stream has put a chunk on the network
  delivered,  // the chunk has reached its receivers
  room,       // a stream's sender learns of free space
  opened,     // a stream's next sender learns that its phase has begun
  served,     // the bytes of a request to DRAM have passed
  read,       // they have come
  written,    // a chunk has reached DRAM
  stepped,    // a core has finished a step of its kernel
  loaded,     // a core has its program
};

struct Event {
  Ticks time = 0;
  std::uint32_t entity = 0;    // a stream's or a core's number, as `kind` says
  std::uint32_t sequence = 0;  // the how manieth event
  std::uint32_t cause = 0;     // the action that leads to it
  EventKind kind = EventKind::sent;
};

// Earliest first; of equal times the lower entity, then the one that was added first.
class EventQueue {
 public:
  void add(Ticks time, EventKind kind, std::uint32_t entity, std::uint32_t cause);
  bool empty() const { return heap_.empty(); }
  Ticks next_time() const { return heap_.empty() ? kForever : heap_.front().time; }
  // There must be one.
  Event take();
  std::uint64_t taken() const { return taken_; }

 private:
  std::vector<Event> heap_;
  std::uint32_t sequence_ = 0;
  std::uint64_t taken_ = 0;
};

}  // namespace buda::sim
