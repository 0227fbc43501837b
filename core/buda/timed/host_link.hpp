// SPDX-License-Identifier: Apache-2.0
// The host's side of the bus: pushes and pops that take their time, one after the other in each direction.
#pragma once

#include <buda/sim/time/time.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

namespace buda::timed {

class HostLink {
 public:
  // 0: transfers take no time, and none are asked for.
  explicit HostLink(double bytes_per_cycle) : rate_(bytes_per_cycle) {}

  bool takes_time() const { return rate_ > 0; }

  // An entry of a queue on its way.
  struct Transfer {
    std::size_t queue = 0;
    bool pops = false;
    sim::Ticks begin = 0, end = 0;
  };
  void push(std::size_t queue, std::int64_t entries, std::uint64_t bytes_of_entry, sim::Ticks now);
  void pop(std::size_t queue, std::int64_t entries, std::uint64_t bytes_of_entry, sim::Ticks now);

  // When the next transfer ends.
  std::optional<sim::Ticks> next() const;
  // That transfer; there must be one.
  Transfer take();
  // Entries of a queue that are on their way.
  std::int64_t pushing(std::size_t queue) const;
  std::int64_t popping(std::size_t queue) const;
  bool pops() const { return !pops_.empty(); }

 private:
  void add(std::deque<Transfer>& direction, sim::Ticks& free_at, Transfer transfer, std::int64_t entries, std::uint64_t bytes,
           sim::Ticks now);

  double rate_;
  std::deque<Transfer> pushes_, pops_;
  sim::Ticks push_free_ = 0, pop_free_ = 0;  // when the direction has nothing left to do
};

}  // namespace buda::timed
