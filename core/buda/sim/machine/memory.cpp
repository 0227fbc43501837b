// SPDX-License-Identifier: Apache-2.0
// Streams that read and write queues.
//
// A reader has a few requests under way as long as its buffer has room; answers come in order. Large requests, such as weights that are
// read before the epoch, are divided into transfers, as network interfaces divide them into packets: one transfer would keep for all its
// bytes the bandwidth that it got when it started. A writer sends chunks of the size that its program says, less only where a phase ends or
// its buffer holds no more.
#include <buda/overlay/flows.hpp>
#include <buda/sim/machine/engine.hpp>
#include <buda/sim/machine/needs.hpp>

#include <algorithm>
#include <limits>

namespace buda::sim {
namespace {

constexpr std::int64_t kNoEnd = std::numeric_limits<std::int64_t>::max();

// Tiles of one queue buffer that the next request asks for, and which buffer.
std::int64_t next_request(const Machine& m, const StreamState& s, std::uint32_t& way) {
  const Reading& r = *s.reading;
  const overlay::DramRead& read = *s.program->read;
  const std::int64_t most = std::min({overlay::tiles_of_request(read), r.all - r.requested, s.storage.room()});
  std::int64_t count = 0;
  while (count < most) {
    const ReadPiece piece = r.list.piece(r.requested + count, most - count);
    if (count > 0 && static_cast<std::uint32_t>(piece.buffer) != way) break;
    const auto dram = static_cast<std::size_t>(read.buffers[static_cast<std::size_t>(piece.buffer)].dram);
    const std::int64_t entry = s.supply == Supply::kept ? 0 : piece.pass;
    if (entry >= readable_entries(m, dram)) break;
    way = static_cast<std::uint32_t>(piece.buffer);
    count += piece.count;
  }
  return count;
}

// Whether the row numbers are there that name the tiles of the next request.
bool knows_rows(const Machine& m, const StreamState& s) {
  if (!s.program->read->lookup || s.kernel == kNone) return true;
  const overlay::RowLookup& lookup = *s.program->read->lookup;
  for (StreamId id : m.kernels[s.kernel].operands) {
    if (id == kNone || m.streams[id].program->number != lookup.stream) continue;
    const std::int64_t row = s.reading->requested / std::max<std::int64_t>(lookup.row_tiles, 1);
    return row / std::max(lookup.numbers_per_tile, 1) < m.streams[id].storage.put;
  }
  return true;
}

}  // namespace

std::int64_t readable_entries(const Machine& m, std::size_t dram) {
  const QueueState& q = m.queues[dram];
  if (q.writers.empty() || q.ready == kNoEnd) return q.ready;
  std::int64_t made = kNoEnd;
  for (StreamId id : q.writers) made = std::min(made, m.streams[id].writing->written / m.streams[id].writing->per_input);
  return q.ready + made;
}

std::int64_t writable_entries(const Machine& m, std::size_t dram) {
  const QueueState& q = m.queues[dram];
  if (q.frees == 0 || q.room == kNoEnd) return q.room;
  return q.room + q.frees * entries_read(m, q.queue);
}

std::int64_t entries_read(const Machine& m, std::size_t queue) {
  std::int64_t read = kNoEnd;
  for (std::uint32_t d : m.buffers_of.at(queue))
    for (StreamId id : m.queues[d].readers) {
      const StreamState& s = m.streams[id];
      read = std::min(read, s.supply == Supply::kept ? 0 : s.storage.put / s.reading->list.pass_tiles());
    }
  return read == kNoEnd ? 0 : read;
}

std::int64_t entries_written(const Machine& m, std::size_t queue) {
  std::int64_t written = kNoEnd;
  for (std::uint32_t d : m.buffers_of.at(queue))
    for (StreamId id : m.queues[d].writers) written = std::min(written, m.streams[id].writing->written / m.streams[id].writing->per_input);
  return written == kNoEnd ? 0 : written;
}

void try_read(Machine& m, StreamId id) {
  StreamState& s = m.streams[id];
  if (!s.loaded) return;
  Reading& r = *s.reading;
  const std::int64_t most_tiles = overlay::requests_under_way(*s.program->read) * overlay::tiles_of_request(*s.program->read);
  while (s.storage.reserved - s.storage.put < most_tiles && r.requested < r.all && !m.wrong && knows_rows(m, s)) {
    std::uint32_t way = 0;
    const std::int64_t count = next_request(m, s, way);
    if (count <= 0) return;
    if (m.check_tiles && !s.goes_on() && s.check != nullptr) {
      s.given = r.requested;
      each_run(m, s, count, [&](const TileRun& run) { arrives(m, s, run); });
    }
    Needs needs(m);
    needs.put(s.storage, s.storage.reserved - most_tiles + 1);
    r.requested += count;
    s.storage.reserved += count;
    needs.freed(s.storage, s.storage.reserved - s.storage.capacity);
    const Path& path = r.paths[way];
    const auto started = m.fabric.start(path, static_cast<std::uint64_t>(count * s.program->message_bytes), m.now);
    r.last_answer = std::max(r.last_answer, m.now + started.duration + path.latency);
    Action read = transfer_action(Action::Kind::read, id, m.cause, started, m.now, r.last_answer, &path);
    read.also = needs.latest();
    const std::uint32_t action = m.actions.add(read);
    if (m.recorder) m.recorder->transfer(m, *m.actions.find(action), static_cast<std::uint64_t>(count * s.program->message_bytes));
    r.requests.push({count, way, action, {}});
    r.served.push_back({count, way, action, started});
    m.tiles_moved += static_cast<std::uint64_t>(count);
    m.events.add(m.now + started.duration, EventKind::served, id, action);
    m.events.add(r.last_answer, EventKind::read, id, action);
  }
}

void on_served(Machine& m, StreamId id) {
  Reading& r = *m.streams[id].reading;
  // Shares differ, so that a later request may be served first.
  const auto chunk = std::find_if(r.served.begin(), r.served.end(), [&](const Chunk& c) { return c.action == m.cause; });
  m.fabric.end(r.paths[chunk->way], static_cast<std::uint64_t>(chunk->tiles * m.streams[id].program->message_bytes), chunk->started);
  r.served.erase(chunk);
}

// A stream has read an entry: whoever waits for room in its queue may go on.
void end_entry(Machine& m, StreamId id) {
  m.queue_moved = true;
  if (!m.frees_entries) return;
  for (const overlay::ReadBuffer& buffer : m.streams[id].program->read->buffers)
    for (StreamId writer : m.queues[static_cast<std::size_t>(buffer.dram)].writers) try_write(m, writer);
}

void on_read(Machine& m, StreamId id) {
  StreamState& s = m.streams[id];
  const Chunk chunk = s.reading->requests.front();
  s.reading->requests.pop();
  const std::int64_t before = s.storage.put;
  s.storage.put += chunk.tiles;
  note_put(m, s);
  wake_users(m, id);
  if (s.supply == Supply::memory && before / s.reading->list.pass_tiles() != s.storage.put / s.reading->list.pass_tiles()) end_entry(m, id);
  try_read(m, id);
}

void try_write(Machine& m, StreamId id) {
  StreamState& s = m.streams[id];
  if (s.writing == nullptr || !s.loaded || s.sending.busy || s.phase.done() || m.wrong) return;
  const overlay::DramWrite& write = *s.program->write;
  const std::int64_t left = s.phase.now().messages - s.sending.sent;
  const std::int64_t fits = std::max<std::int64_t>(m.storage_of(s).capacity, 1);
  const std::int64_t count = std::min({std::max<std::int64_t>(write.chunk_tiles, 1), left, fits}), there = available(m, s);
  if (there <= 0 || there < count) return;
  const auto dram = static_cast<std::size_t>(write.dram);
  const std::int64_t entry = (s.given + count - 1) / s.writing->per_input;
  if (entry >= writable_entries(m, dram)) return;
  if (m.check_tiles) each_run(m, s, count, [&](const TileRun& run) { arrives(m, s, run); });
  const auto started = m.fabric.start(s.writing->path, static_cast<std::uint64_t>(count * s.program->message_bytes), m.now);
  Action sent = transfer_action(Action::Kind::write, id, m.cause, started, m.now, m.now + started.duration);
  Needs needs(m);
  needs.put(m.storage_of(s), m.storage_of(s).put - there + count);
  sent.also = needs.latest();
  const std::uint32_t action = m.actions.add(sent);
  if (m.recorder) m.recorder->transfer(m, *m.actions.find(action), static_cast<std::uint64_t>(count * s.program->message_bytes));
  s.sending.busy = true;
  s.sending.chunk = {count, 0, action, started};
  m.tiles_moved += static_cast<std::uint64_t>(count);
  m.events.add(m.now + started.duration, EventKind::sent, id, action);
}

void on_written(Machine& m, StreamId id) {
  StreamState& s = m.streams[id];
  const Chunk chunk = s.sending.flights.front();
  s.sending.flights.pop();
  const std::int64_t before = s.writing->written;
  s.writing->written += chunk.tiles;
  m.queue_moved = m.queue_moved || before / s.writing->per_input != s.writing->written / s.writing->per_input;
  for (StreamId reader : m.queues[static_cast<std::size_t>(s.program->write->dram)].readers) try_read(m, reader);
}

}  // namespace buda::sim
