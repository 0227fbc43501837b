// SPDX-License-Identifier: Apache-2.0
// What epochs move through the buffers of queues. It follows from the routes of edges, before the buffers have addresses.
#pragma once

#include <buda/base/grid.hpp>
#include <buda/netlist/model/op.hpp>
#include <buda/tiling/edge_routes.hpp>

#include <cstdint>
#include <vector>

namespace buda::balance {

// Bytes that an epoch reads from a buffer or writes to it, with all its inputs; `before`: into L1, before the first input.
struct BufferLoad {
  std::int32_t epoch = 0;
  bool before = false, written = false;
  std::uint64_t bytes = 0;
  friend bool operator==(const BufferLoad&, const BufferLoad&) = default;
};

// A worker that reads a buffer in an epoch, or writes to it.
struct BufferEnd {
  std::int32_t epoch = 0;
  GridCoord worker;
  bool writes = false;
  friend bool operator==(const BufferEnd&, const BufferEnd&) = default;
};

// A part of the time in which cores read, and the bytes that they take from a buffer in it. Cores of one op read in step, and all cores do
// before an epoch.
struct BufferTurn {
  std::int32_t epoch = 0;
  bool before = false;
  std::int32_t reader = 0;  // number of the op; 0 before an epoch
  std::int32_t part = 0;    // of an input, one of kTurns; before an epoch, of so many times kTurnBytes for each core
  std::uint64_t bytes = 0;
  friend bool operator==(const BufferTurn&, const BufferTurn&) = default;
};
inline constexpr std::int32_t kTurns = 8;
inline constexpr std::uint64_t kTurnBytes = 64 * 1024;

struct BufferUse {
  std::vector<BufferLoad> loads;  // one for each op and kind at most
  std::vector<BufferEnd> ends;
  std::vector<BufferTurn> turns = {};  // of readers
};
// By buffer of a queue.
using QueueUse = std::vector<BufferUse>;

// How an op takes from a queue, or gives to it.
struct QueueAccess {
  std::int32_t epoch = 0;
  bool before = false;
  std::int32_t op = 0;           // its number
  std::uint64_t tile_bytes = 0;  // in the queue
  std::uint64_t times = 1;       // that all of it moves in the epoch
};

// Adds what `op`, which has its place, reads by `routes`. Of cores that take the same tiles, the one that reads counts: the first of a row,
// the last of a column.
void add_reader(const tiling::EdgeRoutes& routes, const netlist::Op& op, const QueueAccess& access, QueueUse& use);
// Adds what `op` writes: each core to the buffer of its number.
void add_writer(const netlist::Op& op, const QueueAccess& access, QueueUse& use);

}  // namespace buda::balance
