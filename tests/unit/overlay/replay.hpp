// SPDX-License-Identifier: Apache-2.0
// Runs stream programs as the overlay would, message by message, and tells which tiles reach each kernel input and each queue, in which
// order. Independent of how programs are made: it knows blobs only.
#pragma once

#include <buda/overlay/blob/blob.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace buda::overlay {

// Tiles one after the other: of a kernel's output (buffer id, numbers in the epoch), of an entry of a queue (buffer id, entry, numbers in
// it), or padding (buffer id).
struct Tiles {
  enum class Kind : std::uint8_t { output, queue, padding };
  Kind kind = Kind::output;
  Id buffer = 0;
  std::int64_t entry = 0;
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::string text() const;
  friend bool operator==(const Tiles&, const Tiles&) = default;
};

// Joins tiles to the end of a list.
void append_tiles(std::vector<Tiles>& list, const Tiles& more);

struct Replay {
  std::map<Id, std::vector<Tiles>> inputs;  // by kernel input buffer
  std::map<Id, std::vector<Tiles>> queues;  // by queue buffer that is written as tiles
  std::string problem;                      // why it stopped, if not at the end
  std::int64_t messages = 0;
};

Replay replay(const Blob& blob);

}  // namespace buda::overlay
