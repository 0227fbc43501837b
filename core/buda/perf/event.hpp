// SPDX-License-Identifier: Apache-2.0
// What happens in a device while it runs, as events of a fixed size over a table of entities.
#pragma once

#include <buda/base/strong_id.hpp>
#include <buda/perf/time.hpp>

#include <cstdint>
#include <string>

#pragma GCC visibility push(default)

namespace buda::perf {

// How much is recorded; each level includes those before it.
enum class Level : std::uint8_t {
  counters,  // sums per entity
  inputs,    // an event per op, core and input
  waits,     // what threads wait for, and the blocks that they work on
  chunks,    // every transfer
};

using EntityId = StrongId<struct EntityTag>;

// Something that events are about.
struct Entity {
  enum class Kind : std::uint8_t { program, core, op, queue, stream, link, dram, ethernet, host };
  Kind kind = Kind::core;
  std::string name;       // "matmul_7"; of a core its place on the network, "3-2"; of a link "NoC 0 3-2>3-3"; of a program its name, of its
                          // epochs their graphs
  std::int32_t chip = 0;  // -1: of no chip
  std::int32_t row = 0, col = 0;  // of its core, logical; of what has no core 0
  EntityId parent;                // of an op or a stream on a core: the core; of an epoch: the program
  friend bool operator==(const Entity&, const Entity&) = default;
};

enum class EventKind : std::uint16_t {
  epoch,       // a program executes an epoch. a: the epoch
  input,       // an op works on an input, from its first step to its last. a: the input, b: ticks of it without waiting
  streams,     // a core's streams bring tiles (lane 0) or take them away (lane 1), from the first to the last. a: bytes, at most 2^32 - 1
  block,       // a thread works on a ublock step. a: the block, b: the input
  wait_tiles,  // a thread waits for tiles. a: the operand, b: tiles that are missing
  wait_room,   // a thread waits for room in its output. a: the operand, b: tiles that are missing
  transfer,    // a stream sends a chunk. a: bytes, b: the entity that decides how fast
  dram_read,   // a stream's request is served. a and b likewise
  dram_write,  // a stream writes a chunk. a and b likewise
  host_push,   // entries come from the host. a: entries
  host_pop,    // entries go to the host. a: entries
};

// 32 bytes, so that a hundred million of them fit in memory.
struct Event {
  SimTime begin, end;
  EntityId entity;
  EventKind kind = EventKind::input;
  std::uint16_t lane = 0;  // of threads 0 unpack, 1 math, 2 pack; of transfers the NoC
  std::uint32_t a = 0, b = 0;
  friend bool operator==(const Event&, const Event&) = default;
};
static_assert(sizeof(Event) == 32);

enum class Counter : std::uint8_t { busy_ticks, wait_ticks, bytes, tiles, inputs };

}  // namespace buda::perf

#pragma GCC visibility pop
