// The loop over events.
#include <buda/sim/epoch_run.hpp>

#include <buda/base/text.hpp>
#include <buda/sim/build_machine.hpp>
#include <buda/sim/engine.hpp>
#include <buda/sim/summary.hpp>
#include <buda/sim/wait_graph.hpp>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

namespace buda::sim {
namespace {

void begin_all(Machine& m) {
  for (StreamId id = 0; id < m.streams.size(); ++id) {
    if (m.streams[id].reads()) try_read(m, id);
    if (m.streams[id].goes_on()) try_send(m, id);
  }
  for (KernelId id = 0; id < m.kernels.size(); ++id) try_step(m, id);
}

void handle(Machine& m, const Event& event) {
  m.now = event.time;
  m.cause = event.cause;
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

Result<RunState> EpochRun::advance(Ticks until) {
  Machine& m = *m_;
  if (!begun_) {
    begun_ = true;
    begin_all(m);
  }
  while (!m.events.empty() && !m.wrong) {
    if (m.events.next_time() > until) return RunState::running;
    handle(m, m.events.take());
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
      const std::int64_t come = s.supply == Supply::kept && s.reading->all == once ? s.program->messages() : s.storage.reserved;
      if (come == used) continue;
      Diagnostic d = input_error(
          "SM004", {},
          cat("when epoch '", graph_, "' has ended, ", name_of(*m_, s), " has received ", come, " tiles, and its kernel takes ", used));
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

void EpochRun::add_entries(std::size_t queue, std::int64_t ready, std::int64_t room) {
  Machine& m = *m_;
  constexpr std::int64_t kEndless = std::numeric_limits<std::int64_t>::max();
  for (std::size_t d = 0; d < m.queues.size(); ++d) {
    QueueState& q = m.queues[d];
    if (q.queue != queue || m.blob->dram[d].padding) continue;
    if (q.ready != kEndless) q.ready += ready;
    if (q.room != kEndless) q.room += room;
    for (StreamId id : q.readers) try_read(m, id);
    for (StreamId id : q.writers) try_write(m, id);
  }
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
  const std::vector<Waiting> circle = smallest_circle(graph);
  for (const Waiting& edge : circle) d.notes.push_back({{}, edge.text});
  if (!circle.empty()) return d;
  constexpr std::size_t kMostNotes = 6;
  for (std::size_t n = graph.size(); n-- > 0 && d.notes.size() < kMostNotes;)
    for (const Waiting& edge : graph[n])
      if (d.notes.size() < kMostNotes) d.notes.push_back({{}, edge.text});
  return d;
}

std::vector<EpochRun::FullInput> EpochRun::full_inputs() const {
  std::vector<FullInput> out;
  for (const Waiting& edge : smallest_circle(wait_graph(*m_))) {
    if (edge.full == kNone) continue;
    const StreamState& s = m_->streams[edge.full];
    out.push_back({m_->op_of(s), s.program->operand, s.storage.capacity});
  }
  return out;
}

perf::EpochSummary EpochRun::summary() const { return summary_of(*m_, graph_); }

}  // namespace buda::sim
