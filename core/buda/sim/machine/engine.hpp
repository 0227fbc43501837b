// SPDX-License-Identifier: Apache-2.0
// What the parts of a machine do when something happens. Internal to the module.
//
// Nothing polls: whoever frees room, brings tiles or begins a phase lets those go on who could have waited for it. `try_…` begins what can
// begin now, and else does nothing.
#pragma once

#include <buda/sim/machine/machine.hpp>

#include <cstdint>

namespace buda::sim {

// Tiles that travel together: those of one phase, at most Machine::chunk_tiles, of so many bytes.
inline constexpr std::int64_t kChunkBytes = 16 * 1024;

// Streams (sending.cpp).
void try_send(Machine& m, StreamId id);
void on_sent(Machine& m, StreamId id);
void on_delivered(Machine& m, StreamId id);
void on_room(Machine& m, StreamId id);

// Queues (memory.cpp).
void try_read(Machine& m, StreamId id);
void on_served(Machine& m, StreamId id);
void on_read(Machine& m, StreamId id);
void try_write(Machine& m, StreamId id);
void on_written(Machine& m, StreamId id);

// Kernels (kernels.cpp).
void try_step(Machine& m, KernelId id);
void on_stepped(Machine& m, KernelId id);

// Buffers (buffers.cpp).
//
// Tiles that a stream could send or write now, and as many tags of them as `count`, which leave its buffer.
std::int64_t available(const Machine& m, const StreamState& s);
template <class F>
void each_run(Machine& m, StreamState& s, std::int64_t count, F&& take);
// Tiles of its buffer, from the first of the epoch on, that a user needs no longer.
std::int64_t done_with(const StreamState& user);
// What a stream has sent or written is gone from its buffer, or a kernel has used it.
void leaves(Machine& m, StreamId id, std::int64_t tiles);
void use_up_to(Machine& m, StreamId input, std::int64_t taken);
// New tiles are in a buffer: whoever takes from it goes on.
void wake_users(Machine& m, StreamId id);
// A stream has more room, or a new phase: whoever fills it goes on.
void wake_filler(Machine& m, StreamId id);
// Compares what arrives with what must, where that is known.
void arrives(Machine& m, StreamState& at, const TileRun& run);

// Entries of a queue that the epoch can read and write by now.
std::int64_t readable_entries(const Machine& m, std::size_t dram);
std::int64_t writable_entries(const Machine& m, std::size_t dram);
// Of a queue, by its index in the netlist: entries that all streams have read, or written, all of it.
std::int64_t entries_read(const Machine& m, std::size_t queue);
std::int64_t entries_written(const Machine& m, std::size_t queue);

template <class F>
void each_run(Machine& m, StreamState& s, std::int64_t count, F&& take) {
  StreamState& owner = m.streams[s.owner];
  const overlay::Phase& phase = s.phase.now();
  if (s.supply == Supply::received) {
    while (count > 0) {
      const TileRun run = owner.storage.tiles.take(count);
      count -= run.count;
      take(run);
    }
    return;
  }
  if (s.supply == Supply::kernel) {
    std::int64_t first = s.given;
    if (s.program->scattered) {
      const std::int64_t pass = s.phase.iteration() * s.program->passes + phase.id / s.program->ids_per_pass;
      first = pass * s.program->window_tiles + phase.offset % s.program->window_tiles + s.sending.sent;
    }
    take(TileRun{owner.source, first, count});
    return;
  }
  std::int64_t at = s.program->scattered && s.goes_on() ? phase.offset + s.sending.sent : s.given;
  while (count > 0) {
    const ReadPiece piece = owner.reading->list.piece(at, count);
    const auto dram = static_cast<std::size_t>(owner.program->read->buffers[static_cast<std::size_t>(piece.buffer)].dram);
    const QueueState& queue = m.queues[dram];
    const std::int64_t first = (s.supply == Supply::kept ? 0 : piece.pass * queue.tiles) + piece.tile;
    take(TileRun{queue.source, queue.source == kPadding ? 0 : first, piece.count});
    at += piece.count;
    count -= piece.count;
  }
}

}  // namespace buda::sim
