// SPDX-License-Identifier: Apache-2.0
// Streams that send to streams.
//
// Both ends meet by phases: the first message of a receiver's phase is the first of the sender's phase with the same id, and what the
// sender sends to the same receiver in its next phases, up to the receiver's next id, belongs to the same phase of the receiver. A receiver
// begins a phase when all messages of the one before have come; its next sender hears of that a way across the network later. What a stream
// has received and sends on is received and sent within one phase.
#include <buda/sim/machine/engine.hpp>
#include <buda/sim/machine/needs.hpp>

#include <algorithm>

namespace buda::sim {
namespace {

// Tiles may come together as long as the receiver has as many to go on with, or cannot go on with less.
std::int64_t together(const Storage& storage) {
  const std::int64_t there = storage.reserved - storage.taken;
  return std::max(there, storage.at_once - there % storage.at_once);
}

// Tiles that leave a buffer together. Their room is free when the last has left, although silicon frees that of each: were they a large
// part of the buffer, whoever fills it would wait for a transfer instead of a tile. With an eighth of it times agree with those of single
// tiles.
std::int64_t leave_together(const Machine& m, const StreamState& s) {
  constexpr std::int64_t kParts = 8;
  if (s.supply == Supply::kept) return m.chunk_tiles;
  return std::clamp<std::int64_t>(m.storage_of(s).capacity / kParts, 1, m.chunk_tiles);
}

// Messages that a receiver takes from the sender now.
std::int64_t accepted(const Machine& m, StreamId sender, const StreamState& s, const StreamState& r) {
  if (!r.loaded) return 0;
  // Over PCIe both ends do not meet: the sender writes whole chunks into a buffer that it takes for a queue.
  if (s.program->pcie) return r.storage.room() >= s.program->pcie->chunk_tiles ? s.program->pcie->chunk_tiles : 0;
  if (r.phase.done() || r.phase.iteration() != s.phase.iteration() || m.now < r.receiving.opens) return 0;
  const overlay::Phase& to = r.phase.now();
  if (r.receiving.senders[static_cast<std::size_t>(to.source)] != sender) return 0;
  const std::int64_t id = s.phase.now().id;
  if (r.receiving.assigned == 0 && (s.sending.sent != 0 || id != to.id)) return 0;
  if (id < to.id || id >= r.phase.next_id()) return 0;
  return std::min(
      {to.messages - r.receiving.assigned, r.storage.room(), std::max<std::int64_t>(r.storage.capacity / 2, 1), together(r.storage)});
}

// Of tiles for which the receivers' room is reserved.
Needs needs_of_send(const Machine& m, const StreamState& s, const Connection& connection, std::int64_t count) {
  Needs out(m);
  const Storage& from = m.storage_of(s);
  out.put(from, s.supply == Supply::kept ? from.put : from.put - available(m, s) + count);
  for (StreamId id : connection.receivers) {
    const StreamState& r = m.streams[id];
    out.freed(r.storage, r.storage.reserved - r.storage.capacity);
    out.add(r.receiving.opened);
  }
  return out;
}

void next_phase(Machine& m, StreamId id) {
  StreamState& s = m.streams[id];
  s.phase.next();
  s.sending.sent = s.receiving.assigned = s.receiving.received = 0;
  if (s.supply != Supply::received || s.phase.done()) return;
  const StreamId sender = s.receiving.senders[static_cast<std::size_t>(s.phase.now().source)];
  s.receiving.opens = m.now + m.streams[sender].sending.connections.front().path.latency;
  s.receiving.opened = caused_now(m, s.receiving.opens);
  m.events.add(s.receiving.opens, EventKind::opened, sender, m.cause);
}

}  // namespace

void try_send(Machine& m, StreamId id) {
  StreamState& s = m.streams[id];
  Sending& sending = s.sending;
  if (!s.program->sends()) return try_write(m, id);
  if (sending.busy || !s.loaded || s.phase.done() || m.wrong) return;
  const overlay::Phase& phase = s.phase.now();
  const std::int64_t bytes = s.program->message_bytes;
  const std::int64_t most_tiles = std::min(leave_together(m, s), std::max<std::int64_t>(kChunkBytes / bytes, 1));
  std::int64_t count =
      std::min({phase.messages - sending.sent, available(m, s), s.program->pcie ? s.program->pcie->chunk_tiles : most_tiles});
  const auto way = static_cast<std::uint32_t>(phase.destination);
  const Connection& connection = sending.connections[way];
  for (StreamId r : connection.receivers) count = std::min(count, accepted(m, id, s, m.streams[r]));
  if (s.program->pcie && count < s.program->pcie->chunk_tiles) return;
  if (count <= 0 || connection.receivers.empty()) return;
  for (StreamId r : connection.receivers) {
    m.streams[r].receiving.assigned += count;
    m.streams[r].storage.reserved += count;
  }
  if (m.check_tiles)
    each_run(m, s, count, [&](const TileRun& run) {
      for (StreamId r : connection.receivers) {
        StreamState& receiver = m.streams[r];
        if (receiver.goes_on()) {
          receiver.storage.tiles.push(run);
        } else {
          arrives(m, receiver, run);
        }
      }
    });
  const auto started = m.fabric.start(connection.path, static_cast<std::uint64_t>(count * bytes), m.now);
  Action sent = transfer_action(Action::Kind::send, id, m.cause, started, m.now, m.now + started.duration);
  sent.also = needs_of_send(m, s, connection, count).latest();
  const std::uint32_t action = m.actions.add(sent);
  if (m.recorder) m.recorder->transfer(m, *m.actions.find(action), static_cast<std::uint64_t>(count * bytes));
  sending.busy = true;
  sending.chunk = {count, way, action, started};
  m.tiles_moved += static_cast<std::uint64_t>(count);
  m.events.add(m.now + started.duration, EventKind::sent, id, action);
}

void on_sent(Machine& m, StreamId id) {
  StreamState& s = m.streams[id];
  Sending& sending = s.sending;
  const Chunk chunk = sending.chunk;
  const Path& path = s.writing != nullptr ? s.writing->path : sending.connections[chunk.way].path;
  m.fabric.end(path, static_cast<std::uint64_t>(chunk.tiles * s.program->message_bytes), chunk.started);
  sending.busy = false;
  sending.flights.push(chunk);
  sending.last_arrival = std::max(sending.last_arrival, m.now + path.latency);
  m.events.add(sending.last_arrival, s.writing != nullptr ? EventKind::written : EventKind::delivered, id, chunk.action);
  sending.sent += chunk.tiles;
  if (sending.sent == s.phase.now().messages) next_phase(m, id);
  leaves(m, id, chunk.tiles);
  try_send(m, id);
}

void on_delivered(Machine& m, StreamId id) {
  Sending& sending = m.streams[id].sending;
  const Chunk chunk = sending.flights.front();
  sending.flights.pop();
  for (StreamId to : sending.connections[chunk.way].receivers) {
    StreamState& r = m.streams[to];
    r.storage.put += chunk.tiles;
    note_put(m, r);
    r.receiving.received += chunk.tiles;
    // Tiles that arrive over PCIe may belong to a later phase.
    while (!r.goes_on() && !r.phase.done() && r.receiving.received >= r.phase.now().messages) {
      const std::int64_t ahead = r.receiving.received - r.phase.now().messages;
      next_phase(m, to);
      r.receiving.received = ahead;
    }
    wake_users(m, to);
  }
}

}  // namespace buda::sim
