// SPDX-License-Identifier: Apache-2.0
// A sender and its receivers move messages when the receivers' phases name the sender as their source, and both ends have met: at the first
// message of a receiver's phase, the sender has to begin a phase with the same id. Kernels take and give at once. What a relay has received
// it sends on; everybody else is a source or a sink.
//
// Over PCIe they do not meet: the sender writes chunks as long as the receiver's buffer has room, and the receiver takes them as they come.
#include "unit/overlay/replay.hpp"

#include <buda/base/text.hpp>

#include <algorithm>
#include <deque>
#include <optional>

namespace buda::overlay {

std::string Tiles::text() const {
  const char* what = kind == Kind::output ? "output" : kind == Kind::queue ? "queue" : "padding";
  return cat(what, ' ', buffer, " entry ", entry, " tiles ", first, "…", first + count - 1);
}

void append_tiles(std::vector<Tiles>& list, const Tiles& more) {
  if (more.count == 0) return;
  if (!list.empty()) {
    Tiles& last = list.back();
    bool same = last.kind == more.kind && last.buffer == more.buffer && last.entry == more.entry;
    if (same && (more.kind == Tiles::Kind::padding || last.first + last.count == more.first)) {
      last.count += more.count;
      return;
    }
  }
  list.push_back(more);
}

namespace {

// Where one stream is in its program.
struct State {
  const Stream* s = nullptr;
  StreamRef ref;
  std::vector<Phase> phases;
  std::int64_t iteration = 0;
  std::size_t phase = 0;
  std::int64_t sent = 0, received = 0;  // of the phase
  std::int64_t given = 0;               // in all, by a source
  std::deque<Tiles> held;               // by a relay
  bool done() const { return iteration >= s->iterations || phases.empty(); }
  const Phase& now() const { return phases[phase]; }
  void next() {
    sent = received = 0;
    if (++phase == phases.size()) {
      phase = 0;
      ++iteration;
    }
  }
};

// What has been written over PCIe and not been taken.
struct ReplayWritten {
  std::deque<Tiles> tiles;
  std::int64_t count = 0;
};

class Machine {
 public:
  explicit Machine(const Blob& blob) : blob_(blob) {
    for (std::size_t c = 0; c < blob.cores.size(); ++c)
      for (const Stream& s : blob.cores[c].streams) {
        State& state = states_[{static_cast<std::int32_t>(c), s.number}];
        state.s = &s;
        state.ref = {static_cast<std::int32_t>(c), s.number};
        for_each(s.phases, [&](const PhaseRun::Tuple& t) { state.phases.push_back(to_phase(t)); });
      }
  }

  Replay run() {
    bool moved = true;
    while (moved && out_.problem.empty()) {
      moved = false;
      for (auto& [ref, state] : states_)
        while (out_.problem.empty() && (take(ref, state) || step(ref, state))) moved = true;
    }
    for (auto& [ref, state] : states_)
      if (!state.done() && out_.problem.empty() && state.s->kind != StreamKind::intermediate)
        out_.problem = cat("stream ", name(ref), " waits in iteration ", state.iteration, ", phase ", state.now().id, " after ", state.sent,
                           " sent and ", state.received, " received of ", state.now().messages);
    return std::move(out_);
  }

 private:
  std::string name(StreamRef r) const { return cat(r.core, ':', r.stream); }
  bool is_relay(const Stream& s) const { return !s.sources.empty() && !s.destinations.empty(); }

  // The tiles at position `at` of what a source gives, and on, as far as they lie together.
  Tiles given(const State& state, std::int64_t most) {
    const Stream& s = *state.s;
    if (s.kind == StreamKind::output || s.kind == StreamKind::fork) {
      if (!s.scattered) return {Tiles::Kind::output, s.buffer, 0, state.given, most};
      const Phase& p = state.now();
      std::int64_t pass = state.iteration * s.passes + p.id / s.ids_per_pass;
      return {Tiles::Kind::output, s.buffer, 0, pass * s.window_tiles + p.offset % s.window_tiles + state.sent, most};
    }
    return read(state, most);
  }

  Tiles read(const State& state, std::int64_t most) {
    const Stream* owner = state.s;
    StreamRef self = state.ref;
    if (owner->fork_of >= 0) owner = states_.at({self.core, owner->fork_of}).s;
    if (!owner->read) {
      out_.problem = cat("stream ", name(self), " has nothing to give");
      return {};
    }
    const DramRead& r = *owner->read;
    std::int64_t pass_tiles = count_of(r.blocks) * r.block_tiles;
    std::int64_t at = state.s->scattered ? state.now().offset + state.sent : state.given;
    std::int64_t pass = at / pass_tiles, within = at % pass_tiles, block = within / r.block_tiles, inside = within % r.block_tiles;
    for (const ReadRun& run : r.blocks) {
      if (block >= run.count) {
        block -= run.count;
        continue;
      }
      auto t = run.at(block);
      const DramBuffer& d = blob_.dram[static_cast<std::size_t>(r.buffers[static_cast<std::size_t>(t[0])].dram)];
      std::int64_t count = std::min(most, r.block_tiles - inside);
      if (d.padding) return {Tiles::Kind::padding, d.id, 0, 0, count};
      return {Tiles::Kind::queue, d.id, r.before_epoch ? 0 : pass, t[1] + inside, count};
    }
    out_.problem = "a read list ends early";
    return {};
  }

  void deliver(State& state, const Tiles& t) {
    const Stream& s = *state.s;
    if (is_relay(s)) {
      state.held.push_back(t);
    } else if (s.write) {
      append_tiles(out_.queues[blob_.dram[static_cast<std::size_t>(s.write->dram)].id], t);
    } else {
      append_tiles(out_.inputs[s.buffer], t);
    }
    state.received += t.count;
    out_.messages += t.count;
    if (!is_relay(s) && state.received == state.now().messages) state.next();
  }

  static std::int64_t count_of_held(const State& state) {
    std::int64_t count = 0;
    for (const Tiles& t : state.held) count += t.count;
    return count;
  }

  // A chunk over PCIe; false when there is none, or no room for it.
  bool write(StreamRef ref, State& state) {
    const Stream& s = *state.s;
    const std::int64_t chunk = s.pcie->chunk_tiles;
    const StreamRef to = s.destinations.front().first;
    const State& receiver = states_.at(to);
    ReplayWritten& link = written_[to];
    if (state.now().messages - state.sent < chunk) {
      out_.problem = cat("stream ", name(ref), ", phase ", state.now().id, ": its messages are not whole chunks of ", chunk);
      return false;
    }
    const std::int64_t room = static_cast<std::int64_t>(receiver.s->bytes) / receiver.s->message_bytes;
    if (room % chunk != 0) out_.problem = cat("stream ", name(to), " has room for ", room, " tiles, which are no whole chunks of ", chunk);
    if (room - link.count - count_of_held(receiver) < chunk) return false;
    if (is_relay(s) && count_of_held(state) < chunk) return false;
    for (std::int64_t left = chunk; left > 0 && out_.problem.empty();) {
      Tiles t = is_relay(s) ? from_held(state, left) : given(state, left);
      left -= t.count;
      link.tiles.push_back(t);
      advance(state, t.count);
    }
    link.count += chunk;
    return out_.problem.empty();
  }

  // What came over PCIe goes into the phase that the stream is in.
  bool take(StreamRef ref, State& state) {
    auto it = written_.find(ref);
    if (it == written_.end() || it->second.count == 0 || state.done() || state.received == state.now().messages) return false;
    ReplayWritten& link = it->second;
    Tiles t = link.tiles.front();
    t.count = std::min(t.count, state.now().messages - state.received);
    link.tiles.front().first += t.count;
    if ((link.tiles.front().count -= t.count) == 0) link.tiles.pop_front();
    link.count -= t.count;
    deliver(state, t);
    return true;
  }

  Tiles from_held(State& state, std::int64_t most) {
    Tiles t = state.held.front();
    t.count = std::min(t.count, most);
    state.held.front().first += t.count;
    if ((state.held.front().count -= t.count) == 0) state.held.pop_front();
    return t;
  }

  // Moves some messages from a stream; false when it has to wait, or does not send.
  bool step(StreamRef ref, State& state) {
    const Stream& s = *state.s;
    if (state.done() || s.kind == StreamKind::intermediate) return false;
    std::int64_t most = state.now().messages - state.sent;
    if (s.destinations.empty()) {
      if (!s.sources.empty()) return false;  // a kernel's input, moved by its sender
      Tiles t = given(state, most);
      if (!out_.problem.empty()) return false;
      if (s.kind == StreamKind::input) append_tiles(out_.inputs[s.buffer], t);
      if (s.write && !s.write->rows) append_tiles(out_.queues[blob_.dram[static_cast<std::size_t>(s.write->dram)].id], t);
      return advance(state, t.count);
    }
    if (s.pcie) return write(ref, state);
    const Destination& d = s.destinations[static_cast<std::size_t>(state.now().destination)];
    std::vector<State*> receivers;
    for (std::int32_t c : blob_.cores_of(d)) {
      State& r = states_.at({c, d.first.stream});
      if (r.done() || r.iteration != state.iteration || r.s->sources[static_cast<std::size_t>(r.now().source)] != ref) return false;
      if (r.received == 0 && (state.sent != 0 || state.now().id != r.now().id)) return false;
      // A sender's later phase belongs to the receiver's phase only if the receiver has not gone on.
      if (state.now().id < r.now().id || (r.phase + 1 < r.phases.size() && state.now().id >= r.phases[r.phase + 1].id)) return false;
      most = std::min(most, r.now().messages - r.received);
      if (most == 0) return false;
      receivers.push_back(&r);
    }
    if (receivers.empty()) return false;
    Tiles t;
    if (is_relay(s)) {
      if (state.held.empty()) return false;
      t = from_held(state, most);
    } else {
      t = given(state, most);
      if (!out_.problem.empty()) return false;
    }
    for (State* r : receivers) deliver(*r, t);
    return advance(state, t.count);
  }

  bool advance(State& state, std::int64_t count) {
    state.sent += count;
    state.given += count;
    if (is_relay(*state.s)) {
      if (state.sent == state.now().messages && state.received == state.now().messages) state.next();
    } else if (state.sent == state.now().messages) {
      state.next();
    }
    return true;
  }

  const Blob& blob_;
  std::map<StreamRef, State> states_;
  std::map<StreamRef, ReplayWritten> written_;  // by receiver
  Replay out_;
};

}  // namespace

Replay replay(const Blob& blob) { return Machine(blob).run(); }

}  // namespace buda::overlay
