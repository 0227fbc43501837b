// SPDX-License-Identifier: Apache-2.0
// The loop over events.
#include <buda/sim/epoch/epoch_run.hpp>

#include <buda/base/text.hpp>
#include <buda/sim/epoch/build_machine.hpp>
#include <buda/sim/machine/engine.hpp>
#include <buda/sim/report/summary.hpp>
#include <buda/sim/report/wait_graph.hpp>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

namespace buda::sim {
namespace {

void begin_stream(Machine& m, StreamId id) {
  const StreamState& s = m.streams[id];
  if (s.reads()) try_read(m, id);
  if (s.goes_on()) try_send(m, id);
}

void begin_all(Machine& m) {
  for (std::uint32_t c = 0; c < m.core_starts.size(); ++c)
    if (m.core_starts[c] > 0) m.events.add(m.core_starts[c], EventKind::loaded, c, kNoAction);
  for (StreamId id = 0; id < m.streams.size(); ++id) begin_stream(m, id);
  for (KernelId id = 0; id < m.kernels.size(); ++id) try_step(m, id);
}

void on_loaded(Machine& m, std::uint32_t core) {
  m.cause = m.actions.add({0, m.now, core, kNoAction, 0, 0, Action::Kind::load});
  for (StreamState& s : m.streams)
    if (s.core == core) s.loaded = true;
  for (StreamId id = 0; id < m.streams.size(); ++id) {
    StreamState& s = m.streams[id];
    if (s.core != core) continue;
    begin_stream(m, id);
    if (s.supply == Supply::received) wake_filler(m, id);
  }
  for (KernelId id = 0; id < m.kernels.size(); ++id)
    if (m.kernels[id].core == core) try_step(m, id);
}

std::uint32_t core_of(const Machine& m, const Event& event) {
  if (event.kind == EventKind::loaded) return event.entity;
  return event.kind == EventKind::stepped ? m.kernels[event.entity].core : m.streams[event.entity].core;
}

void handle(Machine& m, const Event& event) {
  m.now = event.time;
  m.cause = event.cause;
  m.core_last[core_of(m, event)] = m.now;
  switch (event.kind) {
    case EventKind::sent:
      return on_sent(m, event.entity);
    case EventKind::delivered:
      return on_delivered(m, event.entity);
    case EventKind::room:
      return on_room(m, event.entity);
    case EventKind::opened:
      return try_send(m, event.entity);
    case EventKind::served:
      return on_served(m, event.entity);
    case EventKind::read:
      return on_read(m, event.entity);
    case EventKind::written:
      return on_written(m, event.entity);
    case EventKind::stepped:
      return on_stepped(m, event.entity);
    case EventKind::loaded:
      return on_loaded(m, event.entity);
  }
}

bool is_complete(const Machine& m) {
  const bool streams = std::all_of(m.streams.begin(), m.streams.end(),
                                   [](const StreamState& s) { return (!s.goes_on() && s.supply != Supply::received) || s.phase.done(); });
  return streams && std::all_of(m.kernels.begin(), m.kernels.end(), [](const KernelState& k) { return k.done(); });
}

}  // namespace

EpochRun::EpochRun(std::unique_ptr<Machine> machine, std::string graph) : m_(std::move(machine)), graph_(std::move(graph)) {}
EpochRun::EpochRun(EpochRun&&) noexcept = default;
EpochRun& EpochRun::operator=(EpochRun&&) noexcept = default;
EpochRun::~EpochRun() = default;

Result<EpochRun> EpochRun::make(const EpochSetup& setup, const EntriesByQueue& entries) {
  BUDA_ASSIGN(auto machine, build_machine(setup, entries));
  return EpochRun(std::move(machine), join(setup.blob->graphs, ", "));
}

Result<RunState> EpochRun::advance(Ticks until, bool stop_at_queues) {
  Machine& m = *m_;
  if (!begun_) {
    begun_ = true;
    begin_all(m);
  }
  while (!m.events.empty() && !m.wrong) {
    if (m.events.next_time() > until) return RunState::running;
    handle(m, m.events.take());
    if (stop_at_queues && std::exchange(m.queue_moved, false) && !m.wrong) return RunState::moved;
  }
  if (m.wrong) return *m.wrong;
  if (is_complete(m)) {
    BUDA_TRY(check_leftovers());
    BUDA_TRY(check_totals());
    return RunState::ended;
  }
  return waiting_queues().empty() ? RunState::deadlocked : RunState::waits;
}

Result<void> EpochRun::check_leftovers() const {
  for (const KernelState& k : m_->kernels)
    for (std::size_t i = 0; i < k.operands.size(); ++i) {
      const StreamId id = k.operands[i];
      if (id == kNone || id == k.sums) continue;
      const StreamState& s = m_->streams[id];
      // What is read before the epoch counts once for each input.
      const std::int64_t once = k.plan.operands[i].tiles;
      const std::int64_t used = s.supply == Supply::kept ? once * m_->inputs : s.storage.taken;
      // A stream of which the kernel has all that it takes may still be waiting for entries that never come: on a chip it would not end.
      const bool all_of_it = s.supply == Supply::kept && s.reading->all == once;
      const std::int64_t come = all_of_it ? s.program->messages() : s.reads() ? s.reading->all : s.storage.reserved;
      if (come == used) continue;
      Diagnostic d = input_error("SM004", {},
                                 cat("when epoch '", graph_, "' has ended, ", name_of(*m_, s), s.reads() ? " reads " : " has received ",
                                     come, " tiles, and its kernel takes ", used));
      d.node = k.op->name;
      return d;
    }
  return success();
}

// What is written must be all.
Result<void> EpochRun::check_totals() const {
  for (const StreamState& s : m_->streams) {
    if (s.writing == nullptr || s.check == nullptr || !m_->check_tiles) continue;
    const std::int64_t all = s.check->input_tiles() * m_->inputs;
    if (s.check->tiles() == all) continue;
    Diagnostic d = input_error(
        "SM004", {},
        cat("when epoch '", graph_, "' has ended, queue '", m_->blob->dram[static_cast<std::size_t>(s.program->write->dram)].queue,
            "' has ", s.check->tiles(), " of ", all, " tiles of ", name_of(*m_, s)));
    d.node = m_->op_of(s);
    return d;
  }
  return success();
}

std::shared_ptr<const Arrivals> EpochRun::arrivals() const { return m_->arrivals; }

void EpochRun::add_entries(std::size_t queue, std::int64_t ready, std::int64_t room, Ticks now) {
  Machine& m = *m_;
  m.now = std::max(m.now, now);
  const auto buffers = m.buffers_of.find(queue);
  if (buffers == m.buffers_of.end()) return;
  constexpr std::int64_t kEndless = std::numeric_limits<std::int64_t>::max();
  for (std::uint32_t d : buffers->second) {
    QueueState& q = m.queues[d];
    if (q.ready != kEndless) q.ready += ready;
    if (q.room != kEndless) q.room += room;
    for (StreamId id : q.readers) try_read(m, id);
    for (StreamId id : q.writers) try_write(m, id);
  }
}

void EpochRun::add_transferred(std::size_t queue, std::int64_t ready, std::int64_t room, Ticks began, Ticks now) {
  Machine& m = *m_;
  const auto buffers = m.buffers_of.find(queue);
  if (buffers != m.buffers_of.end()) {
    // The host was at work on another transfer, or had nothing to do before.
    const Action* last = m.actions.find(m.host);
    const std::uint32_t cause = last != nullptr && last->end >= began ? m.host : m.actions.ended_by(began);
    m.host = m.cause = m.actions.add({began, now, buffers->second.front(), cause, 0, 0, Action::Kind::host});
  }
  add_entries(queue, ready, room, now);
}

QueueFlow EpochRun::flow(std::size_t queue) const {
  const auto buffers = m_->buffers_of.find(queue);
  if (buffers == m_->buffers_of.end()) return {};
  return {entries_read(*m_, queue), entries_written(*m_, queue)};
}

std::vector<LastEvent> EpochRun::last_events() const {
  std::vector<LastEvent> out;
  for (std::size_t c = 0; c < m_->blob->cores.size(); ++c)
    out.push_back({m_->blob->cores[c].chip, m_->blob->cores[c].noc, m_->core_last[c]});
  return out;
}

void EpochRun::record(EntityTable& entities, perf::Level level) { m_->recorder = std::make_unique<Recorder>(*m_, entities, level); }

RunRecord EpochRun::take_record() {
  const std::unique_ptr<Recorder> recorder = std::exchange(m_->recorder, nullptr);
  return recorder ? recorder->finish(*m_) : RunRecord();
}

Ticks EpochRun::time() const { return m_->now; }

std::vector<QueueWait> EpochRun::waiting_queues() const {
  std::set<std::pair<std::size_t, bool>> found;
  for (const auto& edges : wait_graph(*m_))
    for (const Waiting& edge : edges)
      if (edge.queue >= 0) found.insert({m_->queues[static_cast<std::size_t>(edge.queue)].queue, edge.for_room});
  std::vector<QueueWait> out;
  for (const auto& [queue, room] : found) out.push_back({queue, room, 1});
  return out;
}

Diagnostic EpochRun::why() const {
  const auto graph = wait_graph(*m_);
  Diagnostic d = input_error("SM003", {}, cat("epoch '", graph_, "' stopped at cycle ", m_->now / perf::SimTime::kPerCycle));
  const std::vector<Waiting> cycle = shortest_cycle(graph);
  for (const Waiting& edge : cycle) d.notes.push_back({{}, edge.text});
  if (!cycle.empty()) return d;
  constexpr std::size_t kMaxNotes = 6;
  for (std::size_t n = graph.size(); n-- > 0 && d.notes.size() < kMaxNotes;)
    for (const Waiting& edge : graph[n])
      if (d.notes.size() < kMaxNotes) d.notes.push_back({{}, edge.text});
  return d;
}

std::vector<EpochRun::FullInput> EpochRun::full_inputs() const {
  std::vector<FullInput> out;
  for (const Waiting& edge : shortest_cycle(wait_graph(*m_))) {
    if (edge.full == kNone) continue;
    const StreamState& s = m_->streams[edge.full];
    out.push_back({m_->op_of(s), s.program->operand, s.storage.capacity});
  }
  return out;
}

std::vector<std::string> EpochRun::outputs_in_cycle() const {
  std::vector<std::string> out;
  for (const Waiting& edge : shortest_cycle(wait_graph(*m_))) {
    if (edge.on >= m_->streams.size() || m_->streams[edge.on].supply != Supply::kernel) continue;
    const std::string& op = m_->op_of(m_->streams[edge.on]);
    if (std::find(out.begin(), out.end(), op) == out.end()) out.push_back(op);
  }
  return out;
}

perf::EpochSummary EpochRun::summary() const { return summary_of(*m_, graph_); }

}  // namespace buda::sim
