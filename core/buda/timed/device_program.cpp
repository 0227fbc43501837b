// SPDX-License-Identifier: Apache-2.0
// Programs: epochs one after the other, and the host beside them.
#include <buda/timed/timed_device.hpp>

#include <buda/timed/queue_errors.hpp>

#include <buda/base/text.hpp>

#include <algorithm>
#include <utility>

namespace buda::timed {

using runtime::State;
using runtime::Wait;
using sim::RunState;
using sim::Ticks;

namespace {

std::set<std::int32_t> chips_of(const overlay::Blob& blob) {
  std::set<std::int32_t> out;
  for (const overlay::Core& core : blob.cores) out.insert(core.chip);
  return out;
}

}  // namespace

Result<runtime::Progress> TimedDevice::advance(const runtime::Until& until) {
  Limit limit{until.time, std::nullopt, 0};
  if (until.queue) {
    BUDA_TRY(waiting(until.queue->queue));
    BUDA_ASSIGN(limit.queue, queues_->find(until.queue->queue));
    limit.waiting = until.queue->waiting;
  }
  std::vector<std::pair<std::int64_t, std::int64_t>> pointers;
  for (std::size_t q = 0; q < queues_->size(); ++q) pointers.emplace_back((*queues_)[q].read_pointer(), (*queues_)[q].write_pointer());
  runtime::Progress progress;
  auto state = go_on(limit, progress);
  if (!state) {
    give_up();
    return std::move(state).failure();
  }
  progress.state = *state;
  progress.now = now();
  for (std::size_t q = 0; q < queues_->size(); ++q) {
    const QueuePointers& queue = (*queues_)[q];
    if (!queue.is_ram() && pointers[q] != std::pair(queue.read_pointer(), queue.write_pointer()))
      progress.changes.push_back({queue.queue().name, entries_for_host(q), queue.room() - link_.pushing(q)});
  }
  return progress;
}

bool TimedDevice::is_reached(const Limit& limit) const { return limit.queue && entries_for_host(*limit.queue) >= limit.waiting; }

Result<State> TimedDevice::go_on(const Limit& limit, runtime::Progress& progress) {
  while (at_work_) {
    if (is_reached(limit)) return State::running;
    State state = State::idle;
    if (running_) {
      BUDA_ASSIGN(state, run_epoch(limit, progress));
    } else if (limit.time && now_ >= limit.time->ticks) {
      return State::running;
    } else if (!schedule_.actions.empty()) {
      BUDA_ASSIGN(state, take_action(limit));
    } else if (!all_said_) {
      BUDA_ASSIGN(bool more, vm_->step(schedule_));
      all_said_ = !more;
      if (all_said_) BUDA_TRY(schedule_.finish());
    } else if (link_.pops()) {
      // A program has ended when the host has what it made.
      if (limit.time && *link_.next() > limit.time->ticks) return State::running;
      now_ = std::max(now_, *link_.next());
      end_transfer();
    } else {
      at_work_ = false;
    }
    if (state != State::idle) return state;
  }
  return State::idle;
}

Result<State> TimedDevice::take_action(const Limit& limit) {
  const runtime::Action& action = schedule_.actions.front();
  if (const auto* clear = std::get_if<runtime::ClearQueue>(&action)) {
    (*queues_)[clear->queue].clear();
    clocks_.cleared(clear->queue);
    if (values_) values_->clear(clear->queue);
  }
  if (const auto* move = std::get_if<runtime::MoveReadPointer>(&action)) {
    (*queues_)[move->queue].set_read(move->value);
    clocks_.moved(move->queue, *queues_);
  }
  if (const auto* execute = std::get_if<runtime::ExecuteGraphs>(&action)) {
    BUDA_ASSIGN(bool has_time, begin(*execute, limit));
    if (!has_time) return State::running;
  }
  schedule_.actions.pop_front();
  return State::idle;
}

// Starts an execution, or takes its time from an equal one before. False when that has no end before the limit.
Result<bool> TimedDevice::begin(const runtime::ExecuteGraphs& execute, const Limit& limit) {
  while (link_.next() && *link_.next() <= now_) end_transfer();
  const std::size_t epoch = grouping_.group_of(execute.executions.front().graph);
  host_.progress(cat("simulating epoch ", epoch), begun_++, 0);
  if (epoch >= epochs_.size()) return internal_error("a program executes a graph that is in no temporal epoch");
  const auto& blob = epochs_[epoch].blob;
  // Where the host takes time, what it brings and takes has an order in time, and so have executions.
  const Ticks start = link_.takes_time() ? now_ : clocks_.earliest({execute.executions, chips_of(*blob)}, *queues_);
  const QueueTable before = *queues_;
  EpochQueues queues(netlist_, execute.executions, *queues_);
  Beginning beginning{epoch, queues.entries(), switch_.starts(*blob, start)};
  const Ending* known = link_.takes_time() || limit.queue ? nullptr : times_.known(beginning);
  if (known != nullptr) {
    if (limit.time && start + known->time > limit.time->ticks) {
      queues_.emplace(before);
      return false;
    }
    now_ = start;
    if (values_) {
      values_->begin(execute.executions, *queues_);
      values_->watch_again(epoch);
    }
    BUDA_TRY(ended(execute.executions, beginning, queues, *known));
    return true;
  }
  now_ = start;
  BUDA_ASSIGN(auto run, programs_->begin(epoch, blob, cores_, queues.entries(),
                                         {options_.check_tiles, beginning.core_starts, options_.chunk_tiles, options_.computes.has_value(),
                                          options_.jitter, options_.transfers}));
  if (values_) {
    values_->begin(execute.executions, *queues_);
    values_->watch(run.arrivals());
  }
  if (entities_) run.record(*entities_, level_);
  running_.emplace(Running{execute.executions, std::move(beginning), std::move(queues), !link_.takes_time(), std::move(run)});
  return true;
}

// The pointers of queues move while the epoch runs, where somebody looks; the host takes what is made.
void TimedDevice::follow() {
  if (!running_->queues.follow(running_->run, *queues_) || !link_.takes_time()) return;
  for (std::size_t q = 0; q < queues_->size(); ++q) {
    const QueuePointers& queue = (*queues_)[q];
    if (queue.is_ram() || queue.queue().from_outside() || queues_->is_read(q)) continue;
    const std::int64_t fresh = queue.occupancy() - link_.popping(q);
    if (fresh > 0) link_.pop(q, fresh, queue.entry_bytes(device_.tile_alignment), now().ticks);
  }
}

// The next transfer of the host ends: its entry is in the queue, or has left it.
void TimedDevice::end_transfer() {
  const HostLink::Transfer transfer = link_.take();
  QueuePointers& queue = (*queues_)[transfer.queue];
  if (transfer.pops) {
    queue.drop(1);
    ++collected_[transfer.queue];
  } else {
    queue.append(1);
  }
  if (!running_) return;
  const std::int64_t ready = transfer.pops ? 0 : running_->queues.readable_by(transfer.queue, 1);
  const Ticks began = std::max(transfer.begin, now_) - now_;
  running_->run.add_transferred(transfer.queue, ready, transfer.pops ? 1 : 0, began, transfer.end - now_);
}

Result<State> TimedDevice::run_epoch(const Limit& limit, runtime::Progress& progress) {
  const Ticks until = limit.time ? std::max(limit.time->ticks, now_) - now_ : sim::kForever;
  const Ticks host = link_.next() ? std::max(*link_.next(), now_) - now_ : sim::kForever;
  BUDA_ASSIGN(RunState state, running_->run.advance(std::min(until, host), link_.takes_time() || limit.queue));
  follow();
  if (state == RunState::moved) return State::idle;
  if (state == RunState::ended) {
    Running over = std::move(*running_);
    running_.reset();
    perf::EpochSummary summary = over.run.summary();
    const Ending ending{summary.time.ticks, over.run.last_events(), over.run.take_record()};
    times_.learn(over.beginning, over.alone, ending, std::move(summary));
    BUDA_TRY(ended(over.executions, over.beginning, over.queues, ending));
    return State::idle;
  }
  // What has been made by now may be on its way to the host.
  const Ticks next = link_.next() ? std::max(*link_.next(), now_) - now_ : sim::kForever;
  if (next < host) return State::idle;
  if (next != sim::kForever && next <= until) {
    end_transfer();
    return State::idle;
  }
  if (state == RunState::running || next != sim::kForever) return State::running;
  return stopped(state, progress);
}

Result<State> TimedDevice::stopped(RunState state, runtime::Progress& progress) {
  if (state == RunState::waits) {
    progress.waits = waits();
    const bool host_helps =
        std::any_of(progress.waits.begin(), progress.waits.end(), [](const Wait& w) { return w.what != Wait::For::device; });
    return host_helps ? State::needs_host : State::hung;
  }
  const std::size_t epoch = running_->beginning.epoch;
  progress.waits = {
      {Wait::For::device, "", 0, programs_->why(epoch, epochs_[epoch].blob, cores_, running_->beginning.entries, running_->run)}};
  return State::hung;
}

std::vector<Wait> TimedDevice::waits() const {
  std::vector<Wait> out;
  for (const sim::QueueWait& wait : running_->run.waiting_queues()) {
    const QueuePointers& pointers = (*queues_)[wait.queue];
    const netlist::Queue& queue = pointers.queue();
    Wait w;
    // Of a queue that ops fill, or whose entries nobody gives back before the epoch ends, the host cannot make more; nor room in one that
    // ops read.
    const bool host_can = wait.for_room ? !queues_->is_read(wait.queue) : queue.from_outside() && pointers.room() > 0;
    w.what = !host_can ? Wait::For::device : wait.for_room ? Wait::For::pop : Wait::For::push;
    w.queue = queue.name;
    w.entries = wait.entries;
    w.reason = waits_for(netlist_, queue, running_->beginning.epoch, wait.for_room);
    out.push_back(std::move(w));
  }
  return out;
}

Result<void> TimedDevice::ended(const std::vector<netlist::Execution>& executions, const Beginning& beginning, EpochQueues& queues,
                                const Ending& ending) {
  tell(beginning.epoch, ending.record, ending.time);
  const auto& starts = beginning.core_starts;
  times_.add(beginning.epoch, ending.time, starts.empty() ? 0 : *std::max_element(starts.begin(), starts.end()));
  switch_.ended(now_, ending.last);
  if (values_) BUDA_TRY(values_->end(beginning.epoch));
  queues.end(*queues_);
  clocks_.ended({executions, chips_of(*epochs_[beginning.epoch].blob)}, now_ + ending.time, *queues_);
  now_ = clocks_.latest();
  return success();
}

}  // namespace buda::timed
