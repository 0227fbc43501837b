// SPDX-License-Identifier: Apache-2.0
// One mutex guards the state; `busy_` says who has the device, so that nobody computes with the mutex held.
#include <buda/runtime/backend/device_worker.hpp>

#include <buda/runtime/backend/patience.hpp>

#include <utility>

namespace buda::runtime {

DeviceWorker::DeviceWorker(std::shared_ptr<Device> device, std::map<std::string, std::string> slices)
    : device_(std::move(device)), slices_(std::move(slices)), thread_([this] { work(); }) {}

DeviceWorker::~DeviceWorker() {
  {
    std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

Result<bool> DeviceWorker::attempt(Timeout timeout, const std::function<Result<bool>(Device&)>& body) {
  const Patience patience(timeout);
  std::unique_lock lock(mutex_);
  while (true) {
    ++callers_;
    const bool mine = patience.wait(changed_, lock, stillness_, [&] { return !busy_; });
    --callers_;
    if (!mine) {
      changed_.notify_all();
      return false;
    }
    busy_ = true;
    lock.unlock();
    auto done = body(*device_);
    lock.lock();
    busy_ = false;
    if (done && *done) ++changes_;
    changed_.notify_all();
    if (!done || *done) return done;
    if (failure_) return *failure_;
    const std::uint64_t seen = changes_;
    if (!patience.wait(changed_, lock, stillness_, [&] { return changes_ != seen || failure_; })) return false;
  }
}

Result<void> DeviceWorker::start(const std::string& program, const Parameters& parameters) {
  {
    std::lock_guard lock(mutex_);
    if (auto failure = taken_failure()) return std::move(*failure);
    pending_.push_back({program, parameters});
  }
  changed_.notify_all();
  return success();
}

Result<bool> DeviceWorker::wait(Timeout timeout) {
  const Patience patience(timeout);
  std::unique_lock lock(mutex_);
  const bool ended = patience.wait(changed_, lock, stillness_, [&] { return failure_ || (running_.empty() && pending_.empty()); });
  if (auto failure = taken_failure()) return std::move(*failure);
  return ended;
}

void DeviceWorker::cancel() {
  std::unique_lock lock(mutex_);
  pending_.clear();
  cancelled_ = !running_.empty();
  changed_.notify_all();
  changed_.wait(lock, [&] { return running_.empty(); });
}

BackendStatus DeviceWorker::status() const {
  std::lock_guard lock(mutex_);
  BackendStatus status;
  status.program = running_;
  status.queued = pending_.size();
  status.now = progress_.now;
  if (running_.empty()) return status;
  status.state = stillness_.computes() ? State::running : progress_.state;
  if (!stillness_.computes()) status.waits = progress_.waits;
  return status;
}

std::optional<Failure> DeviceWorker::taken_failure() { return std::exchange(failure_, std::nullopt); }

void DeviceWorker::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return ends_ || !pending_.empty(); });
    if (ends_) return;
    const Pending next = std::move(pending_.front());
    pending_.pop_front();
    running_ = next.program;
    cancelled_ = false;
    run(next, lock);
    running_.clear();
    stillness_.set(false);
    changed_.notify_all();
  }
}

void DeviceWorker::run(const Pending& next, std::unique_lock<std::mutex>& lock) {
  bool begins = true;
  stillness_.set(true);
  while (true) {
    changed_.wait(lock, [&] { return ends_ || cancelled_ || (!busy_ && callers_ == 0); });
    if (ends_ || cancelled_) return;
    busy_ = true;
    lock.unlock();
    auto state = slice(next.program, std::exchange(begins, false), next.parameters);
    lock.lock();
    busy_ = false;
    ++changes_;
    changed_.notify_all();
    if (!state) return fail(std::move(state).failure());
    if (*state == State::idle) return;
    if (*state == State::needs_host) leave_to_host(lock);
    if (*state != State::hung) continue;
    Failure reasons;
    for (const Wait& wait : progress_.waits) reasons.add(wait.reason);
    return fail(reasons.empty() ? Failure(internal_error("the device hangs, without giving a reason")) : std::move(reasons));
  }
}

// With the device, without the mutex. Nobody but the worker writes progress_; status() looks at it while no slice is made.
Result<State> DeviceWorker::slice(const std::string& program, bool begins, const Parameters& parameters) {
  if (begins) BUDA_TRY(device_->start(program, parameters));
  Until until = Until::idle();
  if (auto queue = slices_.find(program); queue != slices_.end()) {
    BUDA_ASSIGN(std::int64_t waiting, device_->waiting(queue->second));
    until = Until::holds(queue->second, waiting + 1);
  }
  BUDA_ASSIGN(Progress progress, device_->advance(until));
  const State state = progress.state;
  std::lock_guard lock(mutex_);
  progress_ = std::move(progress);
  return state;
}

void DeviceWorker::leave_to_host(std::unique_lock<std::mutex>& lock) {
  stillness_.set(false);
  changed_.notify_all();
  const std::uint64_t seen = changes_;
  changed_.wait(lock, [&] { return ends_ || cancelled_ || changes_ != seen; });
  stillness_.set(true);
}

void DeviceWorker::fail(Failure failure) {
  failure_ = std::move(failure);
  pending_.clear();
}

}  // namespace buda::runtime
