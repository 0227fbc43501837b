// SPDX-License-Identifier: Apache-2.0
// Reads off the state what each part would need next.
#include <buda/sim/report/wait_graph.hpp>

#include <buda/base/text.hpp>
#include <buda/sim/machine/engine.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace buda::sim {
namespace {

class WaitReader {
 public:
  explicit WaitReader(const Machine& m) : m_(m), graph_(m.streams.size() + m.kernels.size() + m.queues.size()) {}

  std::vector<std::vector<Waiting>> read() {
    for (StreamId id = 0; id < m_.streams.size(); ++id) {
      const StreamState& s = m_.streams[id];
      if (s.reads()) reads(id, s);
      if (!s.phase.done() && s.program->sends()) sends(id, s);
      if (!s.phase.done() && s.writing != nullptr) writes(id, s);
      if (!s.phase.done() && s.kernel != kNone && !s.goes_on() && m_.kernels[s.kernel].done() && s.supply == Supply::received)
        add(id, filler(id), cat(name_of(m_, s), " waits for more tiles than its kernel takes, phase ", s.phase.now().id));
    }
    for (KernelId id = 0; id < m_.kernels.size(); ++id) kernel(id, m_.kernels[id]);
    return std::move(graph_);
  }

 private:
  WaitNode kernel_node(KernelId id) const { return static_cast<WaitNode>(m_.streams.size() + id); }
  WaitNode queue_node(std::size_t dram) const { return static_cast<WaitNode>(m_.streams.size() + m_.kernels.size() + dram); }

  // Whoever fills a buffer.
  WaitNode filler(StreamId owner) const {
    const StreamState& s = m_.streams[owner];
    if (s.supply == Supply::kernel || (s.supply == Supply::kept && s.writing != nullptr)) return kernel_node(s.kernel);
    if (s.supply != Supply::received || s.phase.done()) return owner;
    return s.receiving.senders[static_cast<std::size_t>(s.phase.now().source)];
  }

  // Whoever empties it: the user that is furthest behind.
  WaitNode emptier(StreamId owner) const {
    const StreamState& s = m_.streams[owner];
    if (s.storage.users.empty()) return s.kernel == kNone ? owner : kernel_node(s.kernel);
    return *std::min_element(s.storage.users.begin(), s.storage.users.end(),
                             [&](StreamId a, StreamId b) { return done_with(m_.streams[a]) < done_with(m_.streams[b]); });
  }

  std::string fill(const StreamState& s) const { return cat(s.storage.put - s.storage.taken, " of ", s.storage.capacity, " tiles"); }

  void add(WaitNode node, WaitNode on, std::string text) { graph_[node].push_back({on, std::move(text), -1, false, kNone}); }

  void queue(WaitNode node, std::size_t dram, bool room, std::string text) {
    const QueueState& q = m_.queues[dram];
    const auto& others = room ? q.readers : q.writers;
    if (!others.empty()) return add(node, others.front(), std::move(text));
    graph_[node].push_back({queue_node(dram), std::move(text), static_cast<std::int64_t>(dram), room, kNone});
  }

  void lacks_tiles(StreamId id, const StreamState& s, const char* to) {
    if (filler(s.owner) == id) return;  // it reads them itself, and why it cannot is said there
    add(id, filler(s.owner),
        cat(name_of(m_, s), " waits for tiles to ", to, ", phase ", s.phase.now().id, ": ", s.sending.sent, " of ", s.phase.now().messages,
            " sent"));
  }

  void sends(StreamId id, const StreamState& s) {
    if (available(m_, s) <= 0) return lacks_tiles(id, s, "send");
    for (StreamId to : s.sending.connections[static_cast<std::size_t>(s.phase.now().destination)].receivers) {
      const StreamState& r = m_.streams[to];
      const std::string start = cat(name_of(m_, s), ", phase ", s.phase.now().id, ", waits for ", name_of(m_, r));
      if (s.program->pcie) {
        add(id, emptier(to), cat(start, ", which has no space for ", s.program->pcie->chunk_tiles, " tiles: ", fill(r)));
        continue;
      }
      if (r.phase.done()) {
        add(id, to, cat(start, ", which has received all of its tiles"));
        continue;
      }
      const StreamId sender = r.receiving.senders[static_cast<std::size_t>(r.phase.now().source)];
      const bool meets = sender == id && r.phase.iteration() == s.phase.iteration() && s.phase.now().id >= r.phase.now().id &&
                         s.phase.now().id < r.phase.next_id() && (r.receiving.assigned > 0 || s.phase.now().id == r.phase.now().id);
      if (sender == id && meets && r.storage.room() <= 0) {
        add(id, emptier(to), cat(start, ", which is full: ", fill(r)));
        if (!r.goes_on()) graph_[id].back().full = to;
      } else if (sender != id) {
        add(id, sender, cat(start, ", which takes from ", name_of(m_, m_.streams[sender]), " in phase ", r.phase.now().id));
      } else if (!meets || r.receiving.assigned == r.phase.now().messages) {
        add(id, r.goes_on() ? to : id, cat(start, ", which is in phase ", r.phase.now().id));
      }
    }
  }

  void reads(StreamId id, const StreamState& s) {
    const Reading& r = *s.reading;
    if (r.requested >= r.all || r.requests.size() > 0) return;
    const std::string start = cat(name_of(m_, s), " waits ");
    if (s.storage.room() <= 0) {
      // Why it does not send what it holds is said there.
      if (emptier(id) != id) add(id, emptier(id), cat(start, "for space to read into: it holds ", fill(s)));
      return;
    }
    const ReadPiece piece = r.list.piece(r.requested, 1);
    const auto dram = static_cast<std::size_t>(s.program->read->buffers[static_cast<std::size_t>(piece.buffer)].dram);
    if (piece.pass >= readable_entries(m_, dram))
      queue(id, dram, false, cat(start, "for entry ", piece.pass, " of queue '", m_.blob->dram[dram].queue, '\''));
  }

  void writes(StreamId id, const StreamState& s) {
    const auto dram = static_cast<std::size_t>(s.program->write->dram);
    if (available(m_, s) <= 0) return lacks_tiles(id, s, "write");
    if (s.given / s.writing->per_input >= writable_entries(m_, dram))
      queue(id, dram, true, cat(name_of(m_, s), " waits for space in queue '", m_.blob->dram[dram].queue, '\''));
  }

  void kernel(KernelId id, const KernelState& k) {
    if (k.done() || k.wait.what == KernelWait::For::nothing) return;
    const std::string name = name_of_kernel(m_, k);
    if (k.wait.what == KernelWait::For::room) {
      const StreamState& output = m_.streams[k.output];
      return add(kernel_node(id), emptier(k.output), cat(name, " waits for space in its output: ", fill(output)));
    }
    const StreamId input = k.operands[k.wait.operand];
    const StreamState& s = m_.streams[input];
    const std::int64_t taken = s.storage.taken;
    add(kernel_node(id), filler(input),
        cat(name, " waits for input ", k.wait.operand, ": ", s.storage.put - taken, " of ", k.wait.needed - taken, " tiles"));
  }

  const Machine& m_;
  std::vector<std::vector<Waiting>> graph_;
};

}  // namespace

std::vector<std::vector<Waiting>> wait_graph(const Machine& m) { return WaitReader(m).read(); }

std::vector<Waiting> shortest_cycle(const std::vector<std::vector<Waiting>>& graph) {
  std::vector<Waiting> best;
  for (WaitNode start = 0; start < graph.size(); ++start) {
    // Breadth first, back to the start.
    std::vector<std::pair<WaitNode, const Waiting*>> came(graph.size(), {0, nullptr});
    std::vector<WaitNode> next{start};
    bool closed = false;
    for (std::size_t i = 0; i < next.size() && !closed; ++i)
      for (const Waiting& edge : graph[next[i]]) {
        if (came[edge.on].second != nullptr) continue;
        came[edge.on] = {next[i], &edge};
        if (edge.on == start) {
          closed = true;
          break;
        }
        next.push_back(edge.on);
      }
    if (!closed) continue;
    std::vector<Waiting> cycle;
    WaitNode at = start;
    do {
      cycle.push_back(*came[at].second);
      at = came[at].first;
    } while (at != start);
    std::reverse(cycle.begin(), cycle.end());
    if (best.empty() || cycle.size() < best.size()) best = std::move(cycle);
  }
  return best;
}

}  // namespace buda::sim
