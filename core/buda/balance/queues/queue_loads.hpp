// What epochs move through the buffers of queues. It follows from the routes of edges, before the buffers have addresses.
#pragma once

#include <buda/base/grid.hpp>
#include <buda/netlist/model/op.hpp>
#include <buda/tiling/edge_routes.hpp>

#include <cstdint>
#include <vector>

#pragma GCC visibility push(default)

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

struct BufferUse {
  std::vector<BufferLoad> loads;  // one for each op and kind at most
  std::vector<BufferEnd> ends;
};
// By buffer of a queue.
using QueueUse = std::vector<BufferUse>;

// How an op takes from a queue, or gives to it.
struct QueueAccess {
  std::int32_t epoch = 0;
  bool before = false;
  std::uint64_t tile_bytes = 0;  // in the queue
  std::uint64_t times = 1;       // that all of it moves in the epoch
};

// Adds what `op`, which has its place, reads by `routes`. Of cores that take the same tiles, the one that reads counts: the first of a row,
// the last of a column.
void add_reader(const tiling::EdgeRoutes& routes, const netlist::Op& op, const QueueAccess& access, QueueUse& use);
// Adds what `op` writes: each core to the buffer of its number.
void add_writer(const netlist::Op& op, const QueueAccess& access, QueueUse& use);

}  // namespace buda::balance

#pragma GCC visibility pop
