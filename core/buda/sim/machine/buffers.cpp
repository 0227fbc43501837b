// SPDX-License-Identifier: Apache-2.0
// Buffers in L1: what is in them, who may take it, and who hears of room.
#include <buda/ops/table/op_traits.hpp>
#include <buda/sim/machine/engine.hpp>
#include <buda/sim/machine/needs.hpp>

#include <buda/base/text.hpp>

#include <algorithm>
#include <limits>

namespace buda::sim {
namespace {

constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();

// Tiles of a kernel's output that come before those of the phase that a stream is in.
std::int64_t first_of_pass(const StreamState& s) {
  const overlay::Stream& p = *s.program;
  return (s.phase.iteration() * p.passes + s.phase.now().id / p.ids_per_pass) * p.window_tiles;
}

// A buffer's owner hears at once that there is room, if it is on the same core; a stream elsewhere hears of it when the news has come.
void tell_of_room(Machine& m, StreamId id) {
  StreamState& s = m.streams[id];
  Storage& storage = s.storage;
  if (s.supply != Supply::received) {
    storage.known_taken = storage.taken;
    note_freed(m, storage);
    if (s.supply == Supply::kernel && m.kernels[s.kernel].passes_on)
      return use_up_to(m, m.kernels[s.kernel].operands.front(), storage.taken);
    return wake_filler(m, id);
  }
  storage.news.push(storage.taken);
  const StreamId sender = s.receiving.senders[static_cast<std::size_t>(s.phase.done() ? 0 : s.phase.now().source)];
  m.events.add(m.now + m.streams[sender].sending.connections.front().path.latency, EventKind::room, id, m.cause);
}

// A table's reader may wait for the numbers of its rows, which `s` brings, however they come.
void wake_table(Machine& m, const StreamState& s) {
  if (s.kernel == kNone || !ops::looks_up_rows(m.kernels[s.kernel].op->type)) return;
  for (StreamId other : m.kernels[s.kernel].operands) {
    if (other == kNone || !m.streams[other].reads()) continue;
    const auto& lookup = m.streams[other].program->read->lookup;
    if (lookup && lookup->stream == s.program->number) try_read(m, other);
  }
}

}  // namespace

std::int64_t done_with(const StreamState& user) {
  if (user.supply == Supply::kept) return 0;
  if (user.supply != Supply::kernel || !user.program->scattered) return user.given;
  return user.phase.done() ? kAll : first_of_pass(user);
}

std::int64_t available(const Machine& m, const StreamState& s) {
  const StreamState& owner = m.streams[s.owner];
  const std::int64_t put = owner.storage.put;
  switch (s.supply) {
    case Supply::kept:
      // Sums go back to their queue when the kernel has added the last to them.
      if (s.writing != nullptr) return m.kernels[s.kernel].done() ? put - s.given : 0;
      return put >= owner.reading->all ? kAll : 0;
    case Supply::kernel:
      if (!s.program->scattered) return put - s.given;
      return put - (first_of_pass(s) + s.phase.now().offset % s.program->window_tiles + s.sending.sent);
    default:
      return put - s.given;
  }
}

void leaves(Machine& m, StreamId id, std::int64_t tiles) {
  StreamState& s = m.streams[id];
  s.given += tiles;
  Storage& storage = m.streams[s.owner].storage;
  std::int64_t taken = storage.put;
  for (StreamId user : storage.users) taken = std::min(taken, done_with(m.streams[user]));
  if (taken <= storage.taken) return;
  storage.taken = taken;
  tell_of_room(m, s.owner);
}

void use_up_to(Machine& m, StreamId input, std::int64_t taken) {
  Storage& storage = m.streams[input].storage;
  if (taken <= storage.taken) return;
  storage.taken = taken;
  tell_of_room(m, input);
}

void on_room(Machine& m, StreamId id) {
  Storage& storage = m.streams[id].storage;
  storage.known_taken = storage.news.front();
  note_freed(m, storage);
  storage.news.pop();
  wake_filler(m, id);
}

void wake_users(Machine& m, StreamId id) {
  const StreamState& s = m.streams[id];
  for (StreamId user : s.storage.users) {
    if (m.streams[user].program->sends()) {
      try_send(m, user);
    } else {
      try_write(m, user);
    }
  }
  if (s.kernel != kNone && (!s.goes_on() || s.supply == Supply::kept)) try_step(m, s.kernel);
  wake_table(m, s);
}

void wake_filler(Machine& m, StreamId id) {
  const StreamState& s = m.streams[id];
  switch (s.supply) {
    case Supply::kernel:
      return try_step(m, s.kernel);
    case Supply::received:
      if (!s.phase.done()) try_send(m, s.receiving.senders[static_cast<std::size_t>(s.phase.now().source)]);
      return;
    default:
      return try_read(m, id);
  }
}

void arrives(Machine& m, StreamState& at, const TileRun& run) {
  if (at.check == nullptr || m.wrong) return;
  if (at.arrived != nullptr) at.arrived->add(run);
  const auto wrong = at.check->arrives(run);
  if (!wrong) return;
  const std::string where =
      at.writing != nullptr ? cat("queue '", m.blob->dram[static_cast<std::size_t>(at.program->write->dram)].queue, '\'') : name_of(m, at);
  m.wrong = input_error("SM002", {},
                        cat("at cycle ", m.now / perf::SimTime::kPerCycle, ", ", where, ": ", text_of(m, wrong->came), " comes where ",
                            text_of(m, wrong->expected), " belongs: tile ", wrong->number, " of input ", wrong->input, " of the epoch"));
  m.wrong->node = m.op_of(at);
}

}  // namespace buda::sim
