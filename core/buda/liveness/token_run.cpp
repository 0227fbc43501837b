// SPDX-License-Identifier: Apache-2.0
// Nothing polls: whoever frees room, brings tiles or begins a phase wakes those who could have waited for it.
#include <buda/liveness/token_run.hpp>

#include <algorithm>

namespace buda::liveness {
namespace {

// Tiles of a kernel's output that come before those of the phase that a stream is in.
std::int64_t first_of_pass(const Stream& s) {
  const overlay::Stream& p = *s.program;
  return (s.phase.iteration() * p.passes + s.phase.now().id / p.ids_per_pass) * p.window_tiles;
}

// Whether the row numbers are there that name the next tiles of a table; up to which tile.
std::int64_t known_rows(const Network& n, const Stream& s) {
  if (!s.program->read->lookup || s.kernel == kNone) return kNoLimit;
  const overlay::RowLookup& lookup = *s.program->read->lookup;
  for (StreamId id : n.kernels[s.kernel].operands)
    if (id != kNone && n.streams[id].program->number == lookup.stream)
      return n.streams[id].buffer.put * std::max(lookup.numbers_per_tile, 1) * std::max<std::int64_t>(lookup.row_tiles, 1);
  return kNoLimit;
}

// Tiles of the list that entries and rows allow, at most `most`.
std::int64_t readable_tiles(const Network& n, const Stream& s, std::int64_t most) {
  most = std::min(most, known_rows(n, s) - s.read);
  std::int64_t count = 0;
  while (count < most) {
    const sim::ReadPiece piece = s.list->piece(s.read + count, most - count);
    const auto dram = static_cast<std::size_t>(s.program->read->buffers[static_cast<std::size_t>(piece.buffer)].dram);
    const std::int64_t entry = s.supply == Supply::kept ? 0 : piece.pass;
    if (entry >= readable_entries(n, n.queues[dram])) break;
    count += piece.count;
  }
  return std::max<std::int64_t>(count, 0);
}

bool reads_freely(const Network& n, const Stream& s) {
  return std::all_of(s.program->read->buffers.begin(), s.program->read->buffers.end(), [&](const overlay::ReadBuffer& buffer) {
    return readable_entries(n, n.queues[static_cast<std::size_t>(buffer.dram)]) == kNoLimit;
  });
}

}  // namespace

std::int64_t done_with(const Stream& user) {
  if (user.supply == Supply::kept) return 0;
  if (user.supply != Supply::kernel || !user.program->scattered) return user.given;
  return user.phase.done() ? kNoLimit : first_of_pass(user);
}

std::int64_t available(const Network& n, const Stream& s) {
  const Stream& owner = n.streams[s.owner];
  if (s.supply == Supply::kept) {
    // Sums go back to their queue when the kernel has added the last to them.
    if (s.writes()) return n.kernels[s.kernel].done() ? owner.buffer.put - s.given : 0;
    return owner.buffer.put >= owner.to_read ? kNoLimit : 0;
  }
  if (s.supply == Supply::kernel && s.program->scattered)
    return owner.buffer.put - (first_of_pass(s) + s.phase.now().offset % s.program->window_tiles + s.sent);
  return owner.buffer.put - s.given;
}

// Of a queue that the epoch itself writes, what all of the writers have.
std::int64_t readable_entries(const Network& n, const QueueBuffer& q) {
  if (q.writers.empty() || q.ready == kNoLimit) return q.ready;
  std::int64_t made = kNoLimit;
  for (StreamId id : q.writers) made = std::min(made, n.streams[id].written / n.streams[id].entry_tiles);
  return q.ready + made;
}

std::int64_t writable_entries(const Network& n, const QueueBuffer& q) {
  if (q.frees == 0 || q.room == kNoLimit) return q.room;
  std::int64_t read = kNoLimit;
  for (const QueueBuffer& part : n.queues)
    if (part.queue == q.queue)
      for (StreamId id : part.readers) {
        const Stream& s = n.streams[id];
        read = std::min(read, s.supply == Supply::kept ? 0 : s.buffer.put / s.list->pass_tiles());
      }
  return q.room + q.frees * (read == kNoLimit ? 0 : read);
}

bool meet(StreamId sender, const Stream& s, const Stream& r) {
  if (r.phase.merged() || r.phase.done()) return !r.phase.done();
  if (r.phase.iteration() != s.phase.iteration()) return false;
  if (r.senders[static_cast<std::size_t>(r.phase.now().source)] != sender) return false;
  const std::int64_t id = s.phase.now().id, to = r.phase.now().id;
  if (r.received == 0 && (s.sent != 0 || id != to)) return false;
  return id >= to && id < r.phase.next_id();
}

KernelWait wait_of(const Network& n, const Kernel& k) {
  const sim::KernelPlan& plan = k.plan;
  const std::int64_t input = k.step / plan.steps(), step = k.step % plan.steps();
  for (std::uint32_t i = 0; i < k.operands.size(); ++i) {
    if (k.operands[i] == kNone) continue;
    const auto& operand = plan.operands[i];
    const std::int64_t needed = operand.kept ? operand.tiles : input * operand.tiles + plan.needed(operand, step);
    if (n.streams[k.operands[i]].buffer.put < needed) return {KernelWait::For::tiles, i, needed};
  }
  if (k.output == kNone || plan.out_tiles == 0 || k.passes_on) return {};
  // Sums that are kept in the output's buffer need the room of a round from its first step on.
  const std::int64_t round = plan.gathering + plan.giving, until = plan.gathers_in_output ? (step / round + 1) * round : step + 1;
  const std::int64_t out = input * plan.out_tiles + plan.out_before(until);
  const Buffer& buffer = n.streams[k.output].buffer;
  if (out - buffer.taken > buffer.capacity) return {KernelWait::For::room, 0, out};
  return {};
}

TokenRun::TokenRun(Network& network) : n_(network), woken_(network.nodes(), false) {
  for (StreamId id = 0; id < n_.streams.size(); ++id) wake(id);
}

void TokenRun::advance(std::int64_t inputs) {
  limit_ = inputs;
  for (KernelId id = 0; id < n_.kernels.size(); ++id) wake_kernel(id);
  while (!work_.empty()) {
    const Node node = work_.back();
    work_.pop_back();
    woken_[node] = false;
    if (node < n_.streams.size()) {
      go_on(node);
    } else {
      step(static_cast<KernelId>(node - n_.streams.size()));
    }
  }
}

void TokenRun::wake(Node node) {
  if (woken_[node]) return;
  woken_[node] = true;
  work_.push_back(node);
}

void TokenRun::wake_users(StreamId id) {
  const Stream& s = n_.streams[id];
  for (StreamId user : s.buffer.users) wake(user);
  if (s.kernel != kNone) wake_kernel(s.kernel);
}

void TokenRun::wake_filler(StreamId id) {
  const Stream& s = n_.streams[id];
  if (s.supply == Supply::kernel) return wake_kernel(s.kernel);
  if (s.supply != Supply::received) return wake(id);
  if (!s.phase.done()) wake(s.senders[static_cast<std::size_t>(s.phase.now().source)]);
}

void TokenRun::go_on(StreamId id) {
  const Stream& s = n_.streams[id];
  if (s.reads()) read(id);
  if (s.sends()) {
    send(id);
  } else if (s.writes()) {
    write(id);
  }
}

void TokenRun::read(StreamId id) {
  Stream& s = n_.streams[id];
  std::int64_t count = std::min(s.to_read - s.read, s.buffer.room());
  if (count > 0 && (!reads_freely(n_, s) || s.program->read->lookup)) count = readable_tiles(n_, s, count);
  if (count <= 0) return;
  s.read += count;
  s.buffer.put += count;
  wake_users(id);
  // A table's reader may wait for the numbers of its rows, and a queue's writer for entries that are free.
  if (s.kernel != kNone)
    for (StreamId other : n_.kernels[s.kernel].operands)
      if (other != kNone && other != id && n_.streams[other].reads() && n_.streams[other].program->read->lookup) wake(other);
  for (const overlay::ReadBuffer& buffer : s.program->read->buffers)
    for (StreamId writer : n_.queues[static_cast<std::size_t>(buffer.dram)].writers) wake(writer);
}

std::int64_t TokenRun::accepted(StreamId sender, const Stream& s, const Stream& r) const {
  // Over PCIe the sender writes whole chunks into a buffer that it takes for a queue.
  if (s.program->pcie) return r.buffer.room() >= s.program->pcie->chunk_tiles ? s.program->pcie->chunk_tiles : 0;
  return meet(sender, s, r) ? std::min(r.phase.now().messages - r.received, r.buffer.room()) : 0;
}

void TokenRun::send(StreamId id) {
  Stream& s = n_.streams[id];
  while (!s.phase.done()) {
    const auto& receivers = s.receivers[static_cast<std::size_t>(s.phase.now().destination)];
    std::int64_t count = std::min(s.phase.now().messages - s.sent, available(n_, s));
    if (s.program->pcie) count = count < s.program->pcie->chunk_tiles ? 0 : s.program->pcie->chunk_tiles;
    for (StreamId r : receivers) count = std::min(count, accepted(id, s, n_.streams[r]));
    if (count <= 0 || receivers.empty()) return;
    for (StreamId to : receivers) {
      Stream& r = n_.streams[to];
      r.buffer.put += count;
      r.received += count;
      // Tiles that arrive over PCIe may belong to a later phase.
      while (!r.goes_on() && !r.phase.done() && r.received >= r.phase.now().messages) {
        const std::int64_t ahead = r.received - r.phase.now().messages;
        next_phase(to);
        r.received = ahead;
      }
      wake_users(to);
    }
    s.sent += count;
    if (s.sent == s.phase.now().messages) next_phase(id);
    leaves(id, count);
  }
}

void TokenRun::next_phase(StreamId id) {
  Stream& s = n_.streams[id];
  s.phase.next();
  s.sent = s.received = 0;
  if (s.supply == Supply::received) wake_filler(id);
}

// Whole chunks, less only where a phase ends or the buffer holds no more.
void TokenRun::write(StreamId id) {
  Stream& s = n_.streams[id];
  const overlay::DramWrite& to = *s.program->write;
  const QueueBuffer& queue = n_.queues[static_cast<std::size_t>(to.dram)];
  while (!s.phase.done()) {
    const std::int64_t fits = std::max<std::int64_t>(n_.streams[s.owner].buffer.capacity, 1);
    const std::int64_t count = std::min({std::max<std::int64_t>(to.chunk_tiles, 1), s.phase.now().messages - s.sent, fits});
    if (available(n_, s) < count || (s.given + count - 1) / s.entry_tiles >= writable_entries(n_, queue)) return;
    s.sent += count;
    s.written += count;
    if (s.sent == s.phase.now().messages) next_phase(id);
    leaves(id, count);
    for (StreamId reader : queue.readers) wake(reader);
  }
}

void TokenRun::leaves(StreamId id, std::int64_t tiles) {
  Stream& s = n_.streams[id];
  s.given += tiles;
  const Buffer& buffer = n_.streams[s.owner].buffer;
  std::int64_t taken = buffer.put;
  for (StreamId user : buffer.users) taken = std::min(taken, done_with(n_.streams[user]));
  free_up_to(s.owner, taken);
}

void TokenRun::free_up_to(StreamId owner, std::int64_t taken) {
  Stream& s = n_.streams[owner];
  if (taken <= s.buffer.taken) return;
  s.buffer.taken = taken;
  if (s.supply == Supply::kernel && s.kernel != kNone && n_.kernels[s.kernel].passes_on)
    free_up_to(n_.kernels[s.kernel].operands.front(), taken);
  wake_filler(owner);
}

bool TokenRun::can_step(const Kernel& k) const {
  return !k.done() && k.step < limit_ * k.plan.steps() && wait_of(n_, k).what == KernelWait::For::nothing;
}

void TokenRun::step(KernelId id) {
  Kernel& k = n_.kernels[id];
  while (can_step(k)) {
    const std::int64_t input = k.step / k.plan.steps(), step = k.step % k.plan.steps();
    ++k.step;
    for (std::size_t i = 0; i < k.operands.size(); ++i)
      if (k.operands[i] != kNone && !k.plan.operands[i].kept && !k.passes_on)
        free_up_to(k.operands[i], input * k.plan.operands[i].tiles + k.plan.freed(k.plan.operands[i], step));
    if (k.output == kNone || k.plan.out_tiles == 0) continue;
    Buffer& buffer = n_.streams[k.output].buffer;
    const std::int64_t out = input * k.plan.out_tiles + k.plan.out_before(step + 1);
    if (out <= buffer.put) continue;
    buffer.put = out;
    wake_users(k.output);
  }
  if (k.done() && k.sums != kNone) wake(k.sums);
}

bool TokenRun::has_done(std::int64_t inputs) const {
  return std::all_of(n_.kernels.begin(), n_.kernels.end(), [&](const Kernel& k) { return k.step >= inputs * k.plan.steps(); });
}

bool TokenRun::is_complete() const {
  return has_done(n_.inputs) && std::all_of(n_.streams.begin(), n_.streams.end(), [](const Stream& s) {
           return (!s.goes_on() && s.supply != Supply::received) || s.phase.done();
         });
}

std::vector<std::int64_t> TokenRun::state() const {
  std::vector<std::int64_t> out;
  out.reserve(n_.streams.size() * 8);
  for (const Stream& s : n_.streams) {
    out.push_back(s.buffer.put - s.buffer.taken);
    // A scattered output may send tiles several times; its place is that of its phase.
    const bool by_phase = s.supply == Supply::kept || (s.supply == Supply::kernel && s.program->scattered);
    if (s.goes_on() && !by_phase) out.push_back(n_.streams[s.owner].buffer.put - s.given);
    // Of what is written or read: how far that is from the entries of the inputs done.
    if (s.writes()) out.push_back(limit_ * s.entry_tiles - s.written);
    if (s.reads() && s.supply == Supply::memory) out.push_back(limit_ * (s.to_read / n_.inputs) - s.read);
    // What a kernel reads itself has no use for phases.
    if (s.phase.merged() || (!s.goes_on() && s.supply != Supply::received)) continue;
    out.push_back(limit_ * s.phase.iterations() - s.phase.iteration() * n_.inputs);
    out.push_back(static_cast<std::int64_t>(s.phase.run()));
    out.push_back(s.phase.in_run());
    out.push_back(s.sent);
    out.push_back(s.received);
  }
  for (const Kernel& k : n_.kernels) {
    out.push_back(k.step - limit_ * k.plan.steps());
    // Of inputs, what is there beyond what is taken; buffers count from the first tile of the epoch.
    for (std::size_t i = 0; i < k.operands.size(); ++i)
      if (k.operands[i] != kNone && !k.plan.operands[i].kept)
        out.push_back(n_.streams[k.operands[i]].buffer.put - limit_ * k.plan.operands[i].tiles);
  }
  return out;
}

bool TokenRun::is_bounded_by_queues() const {
  return std::any_of(n_.queues.begin(), n_.queues.end(), [](const QueueBuffer& q) {
    const bool gives_out = q.ready != kNoLimit && q.writers.empty() && !q.readers.empty();
    return gives_out || (q.room != kNoLimit && q.frees == 0 && !q.writers.empty());
  });
}

}  // namespace buda::liveness
