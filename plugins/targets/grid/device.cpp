// Programs, queues and epochs, one epoch after the other.
#include "device.hpp"

#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>
#include <buda/runtime/ports.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace buda::grid {

using netlist::Queue;
using runtime::State;

GridDevice::GridDevice(const runtime::Program& program, const device::DeviceDescriptor& device, const GridOptions& options, Host& host)
    : netlist_(program.netlist),
      epochs_(program.epochs),
      device_(device),
      options_(options),
      host_(host),
      cores_(device_, options_.scale),
      schedule_(epochs_) {}

Result<std::unique_ptr<GridDevice>> GridDevice::make(const runtime::Program& program, const device::DeviceDescriptor& device,
                                                     const GridOptions& options, Host& host) {
  std::unique_ptr<GridDevice> made(new GridDevice(program, device, options, host));
  BUDA_TRY(made->prepare());
  return made;
}

Result<void> GridDevice::prepare() {
  BUDA_ASSIGN(vm_, netlist::ProgramVm::make(netlist_));
  BUDA_ASSIGN(programs_, sim::ProgramEpochs::make(netlist_, device_, host_));
  for (const Queue& queue : netlist_.queues) {
    queue_index_.emplace(queue.name, queues_.size());
    written_by_[queue.input].push_back(queues_.size());
    queues_.emplace_back(queue);
  }
  return success();
}

Result<QueuePointers*> GridDevice::find(const std::string& name) {
  if (auto found = queue_index_.find(name); found != queue_index_.end()) return &queues_[found->second];
  std::vector<std::string> known;
  for (const auto& [queue, number] : queue_index_) known.push_back(queue);
  Diagnostic d = input_error("SM011", {netlist_.file}, cat("the netlist has no queue named '", name, "'"));
  if (auto near = nearest_word(name, known)) d.hint = cat("did you mean '", *near, "'?");
  return d;
}

Result<void> GridDevice::push(const std::string& name, const Tensor& entries) {
  BUDA_ASSIGN(QueuePointers * queue, find(name));
  const std::int64_t count = entries.shape()[0];
  if (queue->is_ram()) return input_error("SM012", {netlist_.file}, cat("'", name, "' is a ram: its slots are written, not pushed"));
  if (count > queue->room())
    return input_error(
        "SM013", {netlist_.file},
        cat("queue '", name, "' has room for ", queue->room(), " of its ", queue->entries(), " entries, ", count, " are pushed"));
  queue->append(count);
  if (!running_) return success();
  running_->as_begun = false;
  running_->run.add_entries(static_cast<std::size_t>(queue - queues_.data()), count, 0);
  return success();
}

Result<void> GridDevice::write(const std::string& name, std::int64_t slot, const Tensor& entries) {
  BUDA_ASSIGN(const QueuePointers* queue, find(name));
  const std::int64_t there = queue->is_ram() ? queue->entries() : queue->occupancy();
  if (slot < 0 || slot > there || entries.shape()[0] > there - slot)
    return input_error("SM013", {netlist_.file},
                       cat("'", name, "' has ", there, " slots; ", entries.shape()[0], " from slot ", slot, " on do not fit"));
  return success();
}

Result<Tensor> GridDevice::pop(const std::string& name, std::int64_t entries) {
  BUDA_ASSIGN(QueuePointers * queue, find(name));
  if (queue->is_ram()) return input_error("SM012", {netlist_.file}, cat("'", name, "' is a ram: its slots are read, not popped"));
  BUDA_ASSIGN(Tensor out, read(name, 0, entries));
  queue->drop(entries);
  if (!running_) return out;
  running_->as_begun = false;
  running_->run.add_entries(static_cast<std::size_t>(queue - queues_.data()), 0, entries);
  return out;
}

Result<std::int64_t> GridDevice::waiting(const std::string& name) {
  BUDA_ASSIGN(const QueuePointers* queue, find(name));
  if (queue->is_ram()) return input_error("SM012", {netlist_.file}, cat("'", name, "' is a ram: it has slots, and nothing waits in it"));
  return queue->occupancy();
}

// Zeros must not be taken for results.
Result<Tensor> GridDevice::read(const std::string& name, std::int64_t slot, std::int64_t entries) {
  BUDA_ASSIGN(const QueuePointers* queue, find(name));
  const std::int64_t there = queue->is_ram() ? queue->entries() : queue->occupancy();
  if (slot < 0 || entries < 0 || slot > there || entries > there - slot)
    return input_error("SM014", {netlist_.file},
                       cat("'", name, "' holds ", there, " entries; ", entries, " from ", slot, " on are asked for"));
  if (!warned_) host_.report(warning("SM015", {netlist_.file}, "target grid moves tags of tiles, not values: all outputs are zeros"));
  warned_ = true;
  const Shape shape = runtime::entry_shape(queue->queue());
  return Tensor::zeros(DType::f32, Shape{entries, shape[0], shape[1], shape[2]});
}

Result<void> GridDevice::start(const std::string& program, const runtime::Parameters& parameters) {
  netlist::ProgramParameters values;
  for (const auto& [name, value] : parameters) {
    if (value < std::numeric_limits<std::int32_t>::min() || value > std::numeric_limits<std::int32_t>::max())
      return input_error("SM016", {netlist_.file},
                         cat("parameter '", name, "' of program '", program, "' is ", value, ", which does not fit in 32 bits"));
    values[name] = static_cast<std::int32_t>(value);
  }
  give_up();
  BUDA_TRY(vm_->start(program, values));
  at_work_ = true;
  return success();
}

void GridDevice::give_up() {
  if (running_) now_.ticks += running_->run.time();
  running_.reset();
  schedule_.clear();
  at_work_ = false;
}

Result<runtime::Progress> GridDevice::advance(const runtime::Until& until) {
  std::vector<std::pair<std::int64_t, std::int64_t>> pointers;
  for (const QueuePointers& queue : queues_) pointers.emplace_back(queue.read_pointer(), queue.write_pointer());
  runtime::Progress progress;
  auto state = go_on(until, progress);
  if (!state) {
    give_up();
    return std::move(state).failure();
  }
  progress.state = *state;
  progress.now = now_;
  if (running_) progress.now.ticks += running_->run.time();
  for (std::size_t q = 0; q < queues_.size(); ++q) {
    const QueuePointers& queue = queues_[q];
    if (!queue.is_ram() && pointers[q] != std::pair(queue.read_pointer(), queue.write_pointer()))
      progress.changes.push_back({queue.queue().name, queue.occupancy(), queue.room()});
  }
  return progress;
}

Result<State> GridDevice::go_on(const runtime::Until& until, runtime::Progress& progress) {
  const QueuePointers* watched = nullptr;
  if (until.queue) {
    BUDA_TRY(waiting(until.queue->queue));
    BUDA_ASSIGN(watched, find(until.queue->queue));
  }
  while (at_work_) {
    if (watched != nullptr && watched->occupancy() >= until.queue->waiting) return State::running;
    if (until.time && !running_ && now_ >= *until.time) return State::running;
    if (schedule_.actions.empty() && !running_) {
      BUDA_ASSIGN(at_work_, vm_->step(schedule_));
      if (!at_work_) BUDA_TRY(schedule_.finish());
      at_work_ = at_work_ || !schedule_.actions.empty();
      continue;
    }
    BUDA_ASSIGN(State state, take_action(until, progress));
    if (state != State::idle) return state;
  }
  return State::idle;
}

// Idle when the action is done.
Result<State> GridDevice::take_action(const runtime::Until& until, runtime::Progress& progress) {
  if (!running_) {
    const Action action = schedule_.actions.front();
    schedule_.actions.pop_front();
    if (const auto* clear = std::get_if<ClearQueue>(&action)) queues_[clear->queue].clear();
    if (const auto* move = std::get_if<MoveReadPointer>(&action))
      if (!queues_[move->queue].is_ram()) queues_[move->queue].set_read(move->value);
    if (const auto* execute = std::get_if<ExecuteEpoch>(&action)) {
      BUDA_ASSIGN(bool has_time, begin(*execute, until));
      if (!has_time) {
        schedule_.actions.push_front(action);
        return State::running;
      }
    }
    if (!running_) return State::idle;
  }
  const sim::Ticks limit = until.time ? std::max(until.time->ticks, now_.ticks) - now_.ticks : sim::kForever;
  BUDA_ASSIGN(sim::RunState state, running_->run.advance(limit));
  switch (state) {
    case sim::RunState::running:
      return State::running;
    case sim::RunState::waits:
      progress.waits = waits_of(*running_);
      return State::needs_host;
    case sim::RunState::deadlocked:
      progress.waits = {{runtime::Wait::For::device, "", 0,
                         programs_->why(running_->epoch, epochs_[running_->epoch].blob, cores_, running_->entries, running_->run)}};
      return State::hung;
    case sim::RunState::ended:
      break;
  }
  const Running ended = std::move(*running_);
  running_.reset();
  perf::EpochSummary summary = ended.run.summary();
  const sim::Ticks time = summary.time.ticks;
  times_.learn(ended.epoch, ended.as_begun ? &ended.entries : nullptr, std::move(summary));
  end(ended.epoch, ended.executions, time);
  return State::idle;
}

std::vector<runtime::Wait> GridDevice::waits_of(const Running& running) const {
  std::vector<runtime::Wait> out;
  for (const sim::QueueWait& wait : running.run.waiting_queues()) {
    const Queue& queue = netlist_.queues[wait.queue];
    runtime::Wait w;
    w.what = wait.for_room ? runtime::Wait::For::pop : runtime::Wait::For::push;
    w.queue = queue.name;
    w.entries = wait.entries;
    w.reason = input_error(
        "SM017", {netlist_.file},
        cat("epoch ", running.epoch, " waits for ", wait.for_room ? "room in queue '" : "an entry in queue '", queue.name, '\''));
    w.reason.node = queue.name;
    out.push_back(std::move(w));
  }
  return out;
}

// Starts an execution, or takes its time from an equal one before. False when that has no end before `until`.
Result<bool> GridDevice::begin(const ExecuteEpoch& execute, const runtime::Until& until) {
  sim::EntriesByQueue entries = entries_for(execute);
  if (auto time = times_.known(execute.epoch, entries)) {
    if (until.time && now_.ticks + *time > until.time->ticks) return false;
    end(execute.epoch, execute.executions, *time);
    return true;
  }
  const runtime::EpochStreams& streams = epochs_[execute.epoch];
  BUDA_ASSIGN(auto run, programs_->begin(execute.epoch, streams.blob, cores_, entries, {options_.check_tiles}));
  running_.emplace(Running{execute.epoch, execute.executions, std::move(entries), true, std::move(run)});
  return true;
}

// What an epoch finds in the queues that it reads, and room in those that it writes; at most what it needs, so that equal beginnings are
// equal.
sim::EntriesByQueue GridDevice::entries_for(const ExecuteEpoch& execute) {
  sim::EntriesByQueue out;
  for (const netlist::Execution& execution : execute.executions) {
    const netlist::Graph& graph = netlist_.graphs[execution.graph];
    const std::int64_t inputs = std::max(graph.input_count, 1);
    for (const auto& op : graph.ops) {
      for (const auto& in : op.inputs) {
        const auto found = queue_index_.find(in.name);
        if (found == queue_index_.end() || queues_[found->second].is_ram()) continue;
        const std::size_t q = found->second;
        QueuePointers& queue = queues_[q];
        const auto setting =
            std::find_if(execution.settings.begin(), execution.settings.end(), [&](const auto& s) { return s.queue == q; });
        std::int64_t pointer = queue.read_pointer(), step = 1;
        if (setting != execution.settings.end()) {
          if (setting->rd_ptr_global) queue.set_read(*setting->rd_ptr_global);
          pointer = setting->rd_ptr_local.value_or(static_cast<std::int32_t>(queue.read_pointer()));
          step = setting->prologue ? 0 : setting->rd_ptr_autoinc;
        }
        const std::int64_t there = queue.from(pointer) > queue.entries() ? 0 : queue.from(pointer);
        out[q].ready = step == 0 ? (there > 0 ? inputs : 0) : std::min(inputs, (there + step - 1) / step);
      }
      for (std::size_t q : written_by_[op.name])
        if (!queues_[q].is_ram()) out[q].room = std::min(inputs, queues_[q].room());
    }
  }
  return out;
}

void GridDevice::end(std::size_t epoch, const std::vector<netlist::Execution>& executions, sim::Ticks time) {
  times_.add(epoch, time);
  now_.ticks += time;
  for (const netlist::Execution& execution : executions) {
    const netlist::Graph& graph = netlist_.graphs[execution.graph];
    const std::int64_t inputs = std::max(graph.input_count, 1);
    for (const auto& op : graph.ops)
      for (std::size_t q : written_by_[op.name])
        if (!queues_[q].is_ram()) queues_[q].append(inputs);
    for (const auto& setting : execution.settings)
      if (!queues_[setting.queue].is_ram()) queues_[setting.queue].drop(inputs * setting.global_rdptr_autoinc);
  }
}

runtime::Telemetry GridDevice::telemetry() const {
  runtime::Telemetry out{{"cycles", now_.cycles()}, {"epochs", static_cast<double>(times_.executions())}};
  for (const perf::EpochSummary& epoch : times_.summaries()) {
    out["tiles_moved"] += static_cast<double>(epoch.tiles) * static_cast<double>(epoch.executions);
    out["events"] += static_cast<double>(epoch.events);
  }
  return out;
}

std::optional<perf::Summary> GridDevice::summary() const {
  perf::Summary out;
  out.clock = *clock();
  out.time = now_;
  out.epochs = times_.summaries();
  for (const perf::EpochSummary& epoch : out.epochs) out.inputs = std::max(out.inputs, epoch.inputs * epoch.executions);
  return out;
}

}  // namespace buda::grid
