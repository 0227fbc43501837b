// SPDX-License-Identifier: Apache-2.0
// Each count that a buffer reaches is kept until no later action can ask for it.
#include <buda/sim/machine/needs.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace buda::sim {
namespace {

// What nobody asks for any more: counts below `least`, but for the last.
void push(Ring<Reached>& counts, std::int64_t least, const Reached& reached) {
  while (!counts.empty() && counts.front().tiles < least) counts.pop();
  counts.push(reached);
}

}  // namespace

Need caused_now(const Machine& m, Ticks met) {
  const Action* action = m.actions.find(m.cause);
  if (action == nullptr) return {};
  const Ticks after = met - std::min(met, action->end);
  return {m.cause, static_cast<std::uint32_t>(std::min<Ticks>(after, std::numeric_limits<std::uint32_t>::max()))};
}

void note_put(Machine& m, StreamState& stream) {
  Storage& storage = stream.storage;
  // What is kept is taken when all of it is there.
  push(storage.puts, stream.supply == Supply::kept ? storage.put : storage.taken + 1, {storage.put, caused_now(m, m.now)});
}

void note_freed(const Machine& m, Storage& storage) {
  push(storage.frees, storage.reserved + 1 - storage.capacity, {storage.known_taken, caused_now(m, m.now)});
}

void Needs::reached(const Ring<Reached>& counts, std::int64_t tiles) {
  if (tiles <= 0) return;
  std::size_t first = 0, last = counts.size();
  while (first < last) {
    const std::size_t middle = (first + last) / 2;
    if (counts[middle].tiles < tiles) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  if (first < counts.size()) add(counts[first].by);
}

void Needs::add(const Need& need) {
  if (need.action == m_.cause) return;
  const Action* action = m_.actions.find(need.action);
  if (action == nullptr) return;
  Need carried = need;
  Ticks met = action->end + need.after;
  for (std::size_t i = 0; i < latest_.size(); ++i)
    if (latest_[i].action == kNoAction || met > met_[i]) {
      std::swap(latest_[i], carried);
      std::swap(met_[i], met);
    }
}

}  // namespace buda::sim
