// SPDX-License-Identifier: Apache-2.0
// Reads off the state what each part would need next.
#include <buda/liveness/wait_cycle.hpp>

#include <buda/base/text.hpp>
#include <buda/liveness/token_run.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace buda::liveness {
namespace {

class WaitReader {
 public:
  explicit WaitReader(const Network& n) : n_(n), graph_(n.nodes()) {}

  std::vector<std::vector<Waiting>> read() {
    for (StreamId id = 0; id < n_.streams.size(); ++id) {
      const Stream& s = n_.streams[id];
      if (s.reads()) reads(id, s);
      if (!s.phase.done() && s.sends()) sends(id, s);
      if (!s.phase.done() && s.writes()) writes(id, s);
    }
    for (KernelId id = 0; id < n_.kernels.size(); ++id) kernel(id, n_.kernels[id]);
    return std::move(graph_);
  }

 private:
  // Whoever fills a buffer.
  Node filler(StreamId owner) const {
    const Stream& s = n_.streams[owner];
    if (s.supply == Supply::kernel || (s.supply == Supply::kept && s.writes())) return n_.node_of(s.kernel);
    if (s.supply != Supply::received || s.phase.done()) return owner;
    return s.senders[static_cast<std::size_t>(s.phase.now().source)];
  }

  // Whoever empties it: the user that is furthest behind.
  Node emptier(StreamId owner) const {
    const Stream& s = n_.streams[owner];
    if (s.buffer.users.empty()) return s.kernel == kNone ? owner : n_.node_of(s.kernel);
    return *std::min_element(s.buffer.users.begin(), s.buffer.users.end(),
                             [&](StreamId a, StreamId b) { return done_with(n_.streams[a]) < done_with(n_.streams[b]); });
  }

  static std::string fill(const Stream& s) { return cat(s.buffer.put - s.buffer.taken, " of ", s.buffer.capacity, " tiles"); }

  // The buffers of multicasts and relays have a share of those of the inputs that they fill.
  std::vector<FullBuffer> full_buffers(StreamId owner) const {
    const Stream& s = n_.streams[owner];
    const std::int64_t held = s.buffer.put - s.buffer.taken;
    if (s.program->kind == overlay::StreamKind::output) return {{FullBuffer::Kind::output, n_.op_of(s), 0, s.buffer.capacity, held}};
    if (s.program->kind == overlay::StreamKind::input)
      return {{FullBuffer::Kind::input, n_.op_of(s), s.program->operand, s.buffer.capacity, held}};
    std::vector<FullBuffer> out;
    for (const auto& receivers : s.receivers)
      for (StreamId r : receivers)
        for (FullBuffer& b : full_buffers(r))
          if (std::find(out.begin(), out.end(), b) == out.end()) out.push_back(std::move(b));
    return out;
  }

  Waiting& add(Node node, Node on, bool for_room, std::string text) {
    graph_[node].push_back({on, for_room, std::move(text), {}, {}});
    return graph_[node].back();
  }

  void lacks_tiles(StreamId id, const Stream& s, const char* to) {
    if (filler(s.owner) == id) return;  // it reads them itself, and why it cannot is said there
    add(id, filler(s.owner), false,
        cat(name_of(n_, s), " waits for tiles to ", to, ", phase ", s.phase.now().id, ": ", s.sent, " of ", s.phase.now().messages,
            " sent"));
  }

  void sends(StreamId id, const Stream& s) {
    if (available(n_, s) <= 0) return lacks_tiles(id, s, "send");
    for (StreamId to : s.receivers[static_cast<std::size_t>(s.phase.now().destination)]) send_to(id, s, to);
  }

  void send_to(StreamId id, const Stream& s, StreamId to) {
    const Stream& r = n_.streams[to];
    const std::string start = cat(name_of(n_, s), ", phase ", s.phase.now().id, ", waits for ", name_of(n_, r));
    if (s.program->pcie) {
      if (r.buffer.room() >= s.program->pcie->chunk_tiles) return;
      add(id, emptier(to), true, cat(start, ", which has no space for ", s.program->pcie->chunk_tiles, " tiles: ", fill(r))).full =
          full_buffers(to);
      return;
    }
    if (r.phase.done()) {
      add(id, to, true, cat(start, ", which has received all of its tiles"));
      return;
    }
    const StreamId sender = r.senders[static_cast<std::size_t>(r.phase.now().source)];
    const bool met = meet(id, s, r);
    if (met && r.buffer.room() <= 0) {
      add(id, emptier(to), true, cat(start, ", which is full: ", fill(r))).full = full_buffers(to);
    } else if (sender != id) {
      add(id, sender, false, cat(start, ", which takes from ", name_of(n_, n_.streams[sender]), " in phase ", r.phase.now().id)).turn_of =
          n_.op_of(r);
    } else if (!met || r.received == r.phase.now().messages) {
      add(id, r.goes_on() ? to : id, true, cat(start, ", which is in phase ", r.phase.now().id));
    }
  }

  void reads(StreamId id, const Stream& s) {
    if (s.read >= s.to_read) return;
    const std::string start = cat(name_of(n_, s), " waits ");
    if (s.buffer.room() <= 0) {
      // Why it does not send what it holds is said there.
      if (emptier(id) != id) add(id, emptier(id), true, cat(start, "for space to read into: it holds ", fill(s))).full = full_buffers(id);
      return;
    }
    const sim::ReadPiece piece = s.list->piece(s.read, 1);
    const auto dram = static_cast<std::size_t>(s.program->read->buffers[static_cast<std::size_t>(piece.buffer)].dram);
    if (piece.pass >= readable_entries(n_, n_.queues[dram]))
      at_queue(id, dram, false, cat(start, "for entry ", piece.pass, " of queue '", n_.blob->dram[dram].queue, '\''));
  }

  void writes(StreamId id, const Stream& s) {
    const auto dram = static_cast<std::size_t>(s.program->write->dram);
    if (available(n_, s) <= 0) return lacks_tiles(id, s, "write");
    if (s.given / s.entry_tiles >= writable_entries(n_, n_.queues[dram]))
      at_queue(id, dram, true, cat(name_of(n_, s), " waits for space in queue '", n_.blob->dram[dram].queue, '\''));
  }

  void at_queue(StreamId id, std::size_t dram, bool room, std::string text) {
    const QueueBuffer& q = n_.queues[dram];
    const auto& others = room ? q.readers : q.writers;
    // Nobody in the epoch can help: the stream waits for itself, and the epoch for it.
    Waiting& w = add(id, others.empty() ? id : others.front(), room, std::move(text));
    const overlay::DramBuffer& buffer = n_.blob->dram[dram];
    if (room) w.full = {{FullBuffer::Kind::queue, buffer.queue, 0, buffer.slots, buffer.slots}};
  }

  void kernel(KernelId id, const Kernel& k) {
    if (k.done()) return;
    const KernelWait wait = wait_of(n_, k);
    const std::string name = name_of(n_, k);
    if (wait.what == KernelWait::For::room) {
      const Stream& output = n_.streams[k.output];
      add(n_.node_of(id), emptier(k.output), true, cat(name, " waits for space in its output: ", fill(output))).full =
          full_buffers(k.output);
    } else if (wait.what == KernelWait::For::tiles) {
      const StreamId input = k.operands[wait.operand];
      const Stream& s = n_.streams[input];
      add(n_.node_of(id), filler(input), false,
          cat(name, " waits for input ", wait.operand, ": ", s.buffer.put - s.buffer.taken, " of ", wait.needed - s.buffer.taken,
              " tiles"));
    }
  }

  const Network& n_;
  std::vector<std::vector<Waiting>> graph_;
};

struct Step {
  Node from = 0;
  const Waiting* edge = nullptr;
};

// Breadth first from each node, back to it.
std::vector<Step> shortest_cycle(const std::vector<std::vector<Waiting>>& graph) {
  std::vector<Step> best;
  for (Node start = 0; start < graph.size(); ++start) {
    std::vector<Step> came(graph.size());
    std::vector<Node> next{start};
    bool closed = false;
    for (std::size_t i = 0; i < next.size() && !closed; ++i)
      for (const Waiting& edge : graph[next[i]]) {
        if (came[edge.on].edge != nullptr) continue;
        came[edge.on] = {next[i], &edge};
        closed = closed || edge.on == start;
        if (closed) break;
        next.push_back(edge.on);
      }
    if (!closed) continue;
    std::vector<Step> cycle;
    Node at = start;
    do {
      cycle.push_back(came[at]);
      at = came[at].from;
    } while (at != start && (best.empty() || cycle.size() < best.size()));
    if (!best.empty() && cycle.size() >= best.size()) continue;
    std::reverse(cycle.begin(), cycle.end());
    best = std::move(cycle);
  }
  return best;
}

const std::string& op_at(const Network& n, Node node) {
  return node < n.streams.size() ? n.op_of(n.streams[node]) : n.kernels[node - n.streams.size()].op->name;
}

// The ops along a part of the cycle, each once in a row; relays on cores without an op are left out.
void add_op(std::vector<std::string>& ops, const std::string& op) {
  if (!op.empty() && (ops.empty() || ops.back() != op)) ops.push_back(op);
}

// Along the cycle one waits for room downstream until somebody waits for tiles: there is the join. From there on one waits for tiles
// upstream until somebody waits for room: there is the fork.
std::vector<BlockedPair> pairs_in(const Network& n, const std::vector<Step>& cycle) {
  struct Hop {
    std::string op;
    bool for_room = false;
  };
  std::vector<Hop> hops;
  for (const Step& step : cycle) {
    hops.push_back({op_at(n, step.from), step.edge->for_room || !step.edge->turn_of.empty()});
    if (!step.edge->turn_of.empty()) hops.push_back({step.edge->turn_of, false});
  }
  const std::size_t size = hops.size();
  std::size_t begin = 0;
  while (begin < size && !(hops[begin].for_room && !hops[(begin + size - 1) % size].for_room)) ++begin;
  std::vector<BlockedPair> out;
  if (begin == size) return out;
  for (std::size_t i = 0; i < size;) {
    BlockedPair pair;
    for (; i < size && hops[(begin + i) % size].for_room; ++i) add_op(pair.full, hops[(begin + i) % size].op);
    add_op(pair.full, hops[(begin + i) % size].op);
    for (; i < size && !hops[(begin + i) % size].for_room; ++i) add_op(pair.starved, hops[(begin + i) % size].op);
    add_op(pair.starved, hops[(begin + i) % size].op);
    if (pair.full.empty() || pair.starved.empty()) continue;
    std::reverse(pair.starved.begin(), pair.starved.end());
    pair.fork = pair.starved.front();
    pair.join = pair.full.back();
    out.push_back(std::move(pair));
  }
  return out;
}

}  // namespace

Deadlock explain(const Network& n) {
  const auto graph = WaitReader(n).read();
  const std::vector<Step> cycle = shortest_cycle(graph);
  Deadlock out;
  out.is_cycle = !cycle.empty();
  for (const Step& step : cycle) out.cycle.push_back(*step.edge);
  if (out.is_cycle) out.pairs = pairs_in(n, cycle);
  constexpr std::size_t kMost = 6;
  for (std::size_t node = graph.size(); node-- > 0 && !out.is_cycle && out.cycle.size() < kMost;)
    for (const Waiting& edge : graph[node])
      if (out.cycle.size() < kMost) out.cycle.push_back(edge);
  for (const Waiting& edge : out.cycle)
    for (const FullBuffer& buffer : edge.full)
      if (std::find(out.full.begin(), out.full.end(), buffer) == out.full.end()) out.full.push_back(buffer);
  return out;
}

}  // namespace buda::liveness
