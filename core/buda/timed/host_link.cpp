// SPDX-License-Identifier: Apache-2.0
// Two queues of transfers.
#include <buda/timed/host_link.hpp>

#include <algorithm>

namespace buda::timed {
namespace {

std::int64_t count_of(const std::deque<HostLink::Transfer>& transfers, std::size_t queue) {
  return std::count_if(transfers.begin(), transfers.end(), [&](const auto& t) { return t.queue == queue; });
}

}  // namespace

void HostLink::add(std::deque<Transfer>& direction, sim::Ticks& free_at, Transfer transfer, std::int64_t entries, std::uint64_t bytes,
                   sim::Ticks now) {
  const sim::Ticks duration = sim::ticks_of(static_cast<double>(bytes) / rate_);
  for (std::int64_t i = 0; i < entries; ++i) {
    transfer.begin = std::max(free_at, now);
    transfer.end = free_at = transfer.begin + duration;
    direction.push_back(transfer);
  }
}

void HostLink::push(std::size_t queue, std::int64_t entries, std::uint64_t bytes_of_entry, sim::Ticks now) {
  add(pushes_, push_free_, {queue, false, 0, 0}, entries, bytes_of_entry, now);
}

void HostLink::pop(std::size_t queue, std::int64_t entries, std::uint64_t bytes_of_entry, sim::Ticks now) {
  add(pops_, pop_free_, {queue, true, 0, 0}, entries, bytes_of_entry, now);
}

std::optional<sim::Ticks> HostLink::next() const {
  if (pushes_.empty() && pops_.empty()) return std::nullopt;
  if (pushes_.empty()) return pops_.front().end;
  if (pops_.empty()) return pushes_.front().end;
  return std::min(pushes_.front().end, pops_.front().end);
}

HostLink::Transfer HostLink::take() {
  const bool pop = pushes_.empty() || (!pops_.empty() && pops_.front().end < pushes_.front().end);
  std::deque<Transfer>& direction = pop ? pops_ : pushes_;
  const Transfer transfer = direction.front();
  direction.pop_front();
  return transfer;
}

std::int64_t HostLink::pushing(std::size_t queue) const { return count_of(pushes_, queue); }
std::int64_t HostLink::popping(std::size_t queue) const { return count_of(pops_, queue); }

}  // namespace buda::timed
