// SPDX-License-Identifier: Apache-2.0
// The side of the process that runs the image: one thread feeds the device, one drains it.
#include <buda/runtime/shared_io.hpp>

#include <buda/base/text.hpp>
#include <buda/runtime/session.hpp>
#include <buda/runtime/shared/shared_channel.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace buda::runtime {
namespace {

using std::chrono::steady_clock;

std::vector<TensorType> types_of(const std::vector<Port>& ports) {
  std::vector<TensorType> out;
  for (const Port& port : ports) out.push_back({port.tensor->name, port.dtype, port.shape});
  return out;
}

// The ports that are transferred in each step: all but states and inputs that nothing reads.
Ports of_each_step(const Ports& all) {
  Ports out = all;
  std::erase_if(out.inputs, [&](const Port& port) { return !all.must_be_given(port.tensor->name); });
  std::erase_if(out.outputs, [&](const Port& port) { return all.gives_state(port.tensor->name); });
  return out;
}

Diagnostic died(const char* does) { return input_error("RT081", {}, cat("the process that ", does, " has ended without closing")); }

class IoServer {
 public:
  // `ports`: of each step.
  IoServer(Backend& backend, const LoadedModel& model, const Ports& ports, SharedChannel& channel, const ServeOptions& options)
      : backend_(backend), model_(model), ports_(ports), channel_(channel), options_(options) {}

  Result<void> run() {
    std::thread feeder([&] { note(feed()); });
    std::thread drainer([&] { note(drain()); });
    while (!is_over()) {
      if (options_.cancelled && options_.cancelled()) note(input_error("RT083", {}, "serving was cancelled"));
      channel_.wait(steady_clock::now() + kGlance, [&] { return is_over(); });
    }
    if (fails_) backend_.cancel();
    feeder.join();
    drainer.join();
    if (failure_) {
      backend_.cancel();
      return std::move(*failure_);
    }
    channel_.finish();
    return success();
  }

 private:
  bool is_over() const { return fails_ || drained_; }

  void note(Result<void> done) {
    if (done) return;
    std::lock_guard lock(mutex_);
    if (failure_) return;
    const std::string message = done.failure().diagnostics().front().message;
    failure_ = std::move(done).failure();
    fails_ = true;
    channel_.fail(message);
  }

  // Again and again for a moment, until it is no matter of time or all is over: then success without a value.
  template <class Call>
  auto patiently(Call call) -> decltype(call(Timeout())) {
    while (true) {
      auto done = call(Timeout(kGlance));
      if (done || !is_timeout(done.failure())) return done;
      if (channel_.has_died(Party::popper)) return died("pops");
      if (fails_) return done;
    }
  }

  // Whether a batch is there; false when no more come.
  Result<bool> has_next() {
    const auto begin = steady_clock::now();
    while (!fails_) {
      bool closed = false, dead = false, there = false;
      channel_.wait(steady_clock::now() + kGlance, [&] {
        closed = channel_.presence(Party::pusher) == Presence::closed;
        dead = channel_.has_died(Party::pusher);
        there = channel_.has_batch(Way::in);
        return closed || dead || there || fails_;
      });
      if (there) return true;
      if (dead) return died("pushes");
      if (closed) return false;
      if (options_.idle && steady_clock::now() - begin >= *options_.idle)
        return input_error("RT084", {}, cat("no batch came for ", options_.idle->count(), " ms"));
    }
    return false;
  }

  Result<void> push(const NamedTensors& batch) {
    const bool begins_turn = pushed_ % model_.batches_per_turn == 0;
    if (begins_turn && !model_.has_host_segments)
      for (const std::string& program : model_.programs) BUDA_TRY(backend_.start(program, {{kLoopCount, 1}}));
    for (const Port& port : ports_.inputs)
      BUDA_TRY(patiently([&](Timeout timeout) { return backend_.push(port, batch.at(port.tensor->name), timeout); }));
    ++pushed_;
    channel_.bell().ring();
    if (model_.has_host_segments && pushed_ % model_.batches_per_turn == 0) return run_turn();
    return success();
  }

  // When all results of the turn before have left: so this one waits for no other process, and results do not pile up on the host.
  Result<void> run_turn() {
    auto may_begin = [&] { return fails_ || popped_ >= pushed_ - model_.batches_per_turn; };
    while (!channel_.wait(steady_clock::now() + kGlance, may_begin)) continue;
    if (fails_) return success();
    return backend_.run_model(model_);
  }

  Result<void> feed() {
    NamedTensors batch;
    while (true) {
      BUDA_ASSIGN(bool there, has_next());
      if (!there) break;
      BUDA_ASSIGN(batch, channel_.read(Way::in));
      ++wanted_;
      BUDA_TRY(push(batch));
    }
    // The last turn is filled up with the last batch again, which the inputs accept; nobody gets its further results.
    while (!fails_ && pushed_ % model_.batches_per_turn != 0) BUDA_TRY(push(batch));
    fed_ = true;
    channel_.bell().ring();
    return success();
  }

  Result<NamedTensors> pop() {
    NamedTensors out;
    for (const Port& port : ports_.outputs) {
      BUDA_ASSIGN(out[port.tensor->name], patiently([&](Timeout timeout) { return backend_.pop(port, timeout); }));
    }
    return out;
  }

  // While results wait for somebody to pop them.
  template <class Holds>
  Result<void> wait_for_popper(Holds holds) {
    const auto begin = steady_clock::now();
    while (!channel_.wait(steady_clock::now() + kGlance, [&] { return fails_ || holds(); })) {
      if (channel_.has_died(Party::popper)) return died("pops");
      if (channel_.presence(Party::popper) == Presence::absent && channel_.has_died(Party::pusher)) return died("pushes");
      if (options_.idle && steady_clock::now() - begin >= *options_.idle)
        return input_error("RT084", {}, cat("no batch was popped for ", options_.idle->count(), " ms"));
    }
    return success();
  }

  Result<void> drain() {
    while (!fails_) {
      auto knows_more = [&] { return fails_ || popped_ < pushed_ || fed_; };
      while (!channel_.wait(steady_clock::now() + kGlance, knows_more))
        if (channel_.has_died(Party::popper)) return died("pops");
      if (fails_ || (fed_ && popped_ == pushed_)) break;
      BUDA_ASSIGN(NamedTensors batch, pop());
      const bool is_wanted = popped_++ < wanted_;
      channel_.bell().ring();
      if (!is_wanted) continue;
      BUDA_TRY(wait_for_popper([&] { return channel_.has_room(Way::out) || channel_.presence(Party::popper) == Presence::closed; }));
      if (!fails_ && channel_.has_room(Way::out)) channel_.write(Way::out, batch);
    }
    if (!fails_) BUDA_TRY(backend_.wait());
    // With this process the shared memory goes, but for those that have it.
    if (wanted_ > 0) BUDA_TRY(wait_for_popper([&] { return channel_.presence(Party::popper) != Presence::absent; }));
    drained_ = true;
    channel_.bell().ring();
    return success();
  }

  Backend& backend_;
  const LoadedModel& model_;
  const Ports& ports_;
  SharedChannel& channel_;
  const ServeOptions& options_;
  std::atomic<std::int64_t> pushed_ = 0;  // to the backend
  std::atomic<std::int64_t> wanted_ = 0;  // by another process; the others fill up a turn
  std::atomic<std::int64_t> popped_ = 0;  // from the backend
  std::atomic<bool> fed_ = false, drained_ = false, fails_ = false;
  std::mutex mutex_;
  std::optional<Failure> failure_;
};

}  // namespace

Result<void> serve_io(Backend& backend, const LoadedModel& model, const std::string& name, const ServeOptions& options) {
  const Ports ports = of_each_step(model.ports);
  SharedChannel::Types types = {types_of(ports.inputs), types_of(ports.outputs)};
  BUDA_ASSIGN(auto channel, SharedChannel::create(name, std::move(types), options.entries));
  channel->enter(Party::runtime);
  return IoServer(backend, model, ports, *channel, options).run();
}

}  // namespace buda::runtime
