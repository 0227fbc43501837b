// SPDX-License-Identifier: Apache-2.0
// Who waits for whom when nothing goes on, and what that means for the ops of the epoch. Internal to the module.
#pragma once

#include <buda/liveness/network.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace buda::liveness {

// A buffer that is full, or a queue, by the option of the netlist that makes it larger.
struct FullBuffer {
  enum class Kind : std::uint8_t { input, output, queue };
  Kind kind = Kind::input;
  std::string op;                       // or the queue
  std::int32_t operand = 0;             // of inputs
  std::int64_t capacity = 0, fill = 0;  // tiles; of a queue, entries
  friend bool operator==(const FullBuffer&, const FullBuffer&) = default;
};

struct Waiting {
  Node on = 0;                   // who would have to do something
  bool for_room = false;         // else for tiles
  std::string text;              // "'mul_4' [2, 5] waits for input 1: 12 of 64 tiles"
  std::vector<FullBuffer> full;  // where it waits for room
  // Where a stream waits because a receiver takes from another sender first: the receiver's op.
  std::string turn_of;
};

// A fork whose shorter path is full, while the join at its end waits for the tiles of the other one.
struct BlockedPair {
  std::string fork, join;
  std::vector<std::string> full, starved;  // ops of both paths, from the fork to the join, both included
};

struct Deadlock {
  std::vector<Waiting> cycle;  // one after the other; where there is none, some of what waits
  bool is_cycle = true;
  std::vector<BlockedPair> pairs;
  std::vector<FullBuffer> full;  // along the cycle, each once
};

Deadlock explain(const Network& n);

}  // namespace buda::liveness
