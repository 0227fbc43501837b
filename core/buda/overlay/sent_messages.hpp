// SPDX-License-Identifier: Apache-2.0
// How many messages a stream sends where.
#pragma once

#include <buda/overlay/blob/blob.hpp>

#include <cstdint>
#include <vector>

namespace buda::overlay {

// To each of its destinations, in all iterations of its phases.
inline std::vector<std::uint64_t> sent_messages(const Stream& stream) {
  std::vector<std::uint64_t> messages(stream.destinations.size(), 0);
  for_each(stream.phases, [&](const PhaseRun::Tuple& tuple) {
    const Phase phase = to_phase(tuple);
    if (static_cast<std::size_t>(phase.destination) < messages.size())
      messages[static_cast<std::size_t>(phase.destination)] += static_cast<std::uint64_t>(phase.messages * stream.iterations);
  });
  return messages;
}

}  // namespace buda::overlay
