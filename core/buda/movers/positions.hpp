// SPDX-License-Identifier: Apache-2.0
// Which number each phase of a sender begins with in its receivers' rings. Internal to the module.
#pragma once

#include <buda/overlay/blob/blob.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace buda::movers {

// A stream's phases, all iterations one after the other.
struct PlacedPhase {
  std::int64_t iteration = 0;
  overlay::Phase phase;
};
std::vector<PlacedPhase> all_phases(const overlay::Stream& stream);

class Positions {
 public:
  // The blob outlives it.
  explicit Positions(const overlay::Blob& blob);

  // By phase of the sender: the number of its first tile at the receivers. Nothing where these do not agree, which no blob of ours has.
  std::optional<std::vector<std::int64_t>> of(overlay::StreamRef sender) const;

 private:
  // A phase of a receiver, and the number of its first tile.
  struct Received {
    std::int64_t iteration = 0, id = 0, number = 0, source = 0;
  };
  const overlay::Blob& blob_;
  std::map<overlay::StreamRef, std::vector<Received>> received_;
};

}  // namespace buda::movers
