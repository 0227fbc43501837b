// The side of the process that runs the image: one thread feeds the device, one drains it.
#include <buda/runtime/shared_io.hpp>

#include <buda/base/text.hpp>
#include <buda/runtime/shared_channel.hpp>
#include <buda/tensor/tensor.hpp>

#include <atomic>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace buda::runtime {
namespace {

using std::chrono::steady_clock;

std::vector<TensorType> types_of_queues(const std::vector<Port>& ports) {
  std::vector<TensorType> out;
  for (const Port& port : ports) out.push_back({port.tensor->name, port.dtype, port.shape});
  return out;
}

Diagnostic died(const char* does) { return input_error("RT081", {}, cat("the process that ", does, " has ended without closing")); }

class IoServer {
 public:
  IoServer(Backend& backend, const LoadedModel& model, SharedChannel& channel, const ServeOptions& options)
      : backend_(backend), model_(model), channel_(channel), options_(options) {}

  Result<void> run() {
    std::thread feeder([&] { note(feed()); });
    std::thread drainer([&] { note(drain()); });
    while (!is_over()) {
      if (options_.cancelled && options_.cancelled()) note(input_error("RT083", {}, "serving was cancelled"));
      channel_.wait(steady_clock::now() + kGlance, [&] { return is_over(); });
    }
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
    if (pushed_ % model_.batches_per_turn == 0)
      for (const std::string& program : model_.programs) BUDA_TRY(backend_.start(program, {{"$p_loop_count", 1}}));
    for (const Port& port : model_.ports.pushed)
      BUDA_TRY(patiently([&](Timeout timeout) { return backend_.push(port, batch.at(port.tensor->name), timeout); }));
    ++pushed_;
    channel_.bell().ring();
    return success();
  }

  Result<void> feed() {
    while (true) {
      BUDA_ASSIGN(bool there, has_next());
      if (!there) break;
      BUDA_ASSIGN(NamedTensors batch, channel_.read(Way::in));
      ++wanted_;
      BUDA_TRY(push(batch));
    }
    // The last turn is filled up with zeros, whose results nobody gets.
    NamedTensors zeros;
    for (const Port& port : model_.ports.pushed) {
      BUDA_ASSIGN(zeros[port.tensor->name], Tensor::zeros(port.dtype, port.shape));
    }
    while (!fails_ && pushed_ % model_.batches_per_turn != 0) BUDA_TRY(push(zeros));
    fed_ = true;
    channel_.bell().ring();
    return success();
  }

  Result<NamedTensors> pop() {
    NamedTensors out;
    for (const Port& port : model_.ports.popped) {
      BUDA_ASSIGN(out[port.tensor->name], patiently([&](Timeout timeout) { return backend_.pop(port, timeout); }));
    }
    return out;
  }

  // While results wait since `begin` for somebody to pop them.
  Result<void> check_popper(steady_clock::time_point begin) const {
    if (channel_.has_died(Party::popper)) return died("pops");
    if (channel_.presence(Party::popper) == Presence::absent && channel_.has_died(Party::pusher)) return died("pushes");
    if (options_.idle && steady_clock::now() - begin >= *options_.idle)
      return input_error("RT084", {}, cat("no batch was popped for ", options_.idle->count(), " ms"));
    return success();
  }

  Result<void> drain() {
    for (std::int64_t popped = 0; !fails_; ++popped) {
      auto knows_more = [&] { return fails_ || popped < pushed_ || fed_; };
      while (!channel_.wait(steady_clock::now() + kGlance, knows_more))
        if (channel_.has_died(Party::popper)) return died("pops");
      if (fails_ || (fed_ && popped == pushed_)) break;
      BUDA_ASSIGN(NamedTensors batch, pop());
      if (popped >= wanted_) continue;
      auto has_room = [&] { return fails_ || channel_.has_room(Way::out) || channel_.presence(Party::popper) == Presence::closed; };
      const auto begin = steady_clock::now();
      while (!channel_.wait(steady_clock::now() + kGlance, has_room)) BUDA_TRY(check_popper(begin));
      if (!fails_ && channel_.has_room(Way::out)) channel_.write(Way::out, batch);
    }
    if (!fails_) BUDA_TRY(backend_.wait());
    drained_ = true;
    channel_.bell().ring();
    return success();
  }

  Backend& backend_;
  const LoadedModel& model_;
  SharedChannel& channel_;
  const ServeOptions& options_;
  std::atomic<std::int64_t> pushed_ = 0;  // into the device
  std::atomic<std::int64_t> wanted_ = 0;  // by another process; the others fill up a turn
  std::atomic<bool> fed_ = false, drained_ = false, fails_ = false;
  std::mutex mutex_;
  std::optional<Failure> failure_;
};

}  // namespace

Result<void> serve_io(Backend& backend, const LoadedModel& model, const std::string& name, const ServeOptions& options) {
  const Ports& ports = model.ports;
  if (ports.pushed.size() + ports.states.size() != ports.inputs.size())
    return input_error("RT055", {}, cat("model '", model.name, "' has segments that the host runs: Backend::run_model and Session::run run it"));
  SharedChannel::Types types = {types_of_queues(ports.pushed), types_of_queues(ports.popped)};
  BUDA_ASSIGN(auto channel, SharedChannel::create(name, std::move(types), options.entries));
  channel->enter(Party::runtime);
  return IoServer(backend, model, *channel, options).run();
}

}  // namespace buda::runtime
