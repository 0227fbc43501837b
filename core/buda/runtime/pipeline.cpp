// SPDX-License-Identifier: Apache-2.0
// One mutex guards what lies between devices; nobody computes with it held.
#include <buda/runtime/pipeline.hpp>

#include <buda/base/text.hpp>
#include <buda/runtime/backend/patience.hpp>
#include <buda/runtime/shared/typed_tensors.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <limits>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace buda::runtime {
namespace {

struct Item {
  std::int64_t number = 0;  // of the microbatch, from 0
  NamedTensors tensors;
};

Result<void> check_neighbours(const std::vector<PipelineDevice>& devices) {
  if (devices.empty()) return input_error("RT060", {}, "a pipeline has at least one device");
  auto same = [](const TensorType& a, const TensorType& b) { return a.dtype == b.dtype && a.shape == b.shape; };
  Failure failure;
  for (std::size_t i = 1; i < devices.size(); ++i) {
    const PipelineDevice &from = devices[i - 1], &to = devices[i];
    if (std::equal(from.outputs.begin(), from.outputs.end(), to.inputs.begin(), to.inputs.end(), same)) continue;
    failure.add(input_error(
        "RT060", {},
        cat("device '", from.name, "' gives ", types_text(from.outputs), ", and '", to.name, "' takes ", types_text(to.inputs))));
  }
  if (!failure.empty()) return failure;
  return success();
}

// What one device gives under the names by which the next takes it.
NamedTensors renamed(NamedTensors tensors, const std::vector<TensorType>& from, const std::vector<TensorType>& to) {
  NamedTensors out;
  for (std::size_t i = 0; i < from.size(); ++i) out.emplace(to[i].name, std::move(tensors.at(from[i].name)));
  return out;
}

Result<NamedTensors> run_on(const PipelineDevice& device, const Item& item) {
  auto done = device.run(item.tensors);
  if (done) {
    for (const TensorType& output : device.outputs)
      if (!done->contains(output.name)) return internal_error(cat("device '", device.name, "' gave no '", output.name, '\''));
    return done;
  }
  for (Diagnostic& d : done.failure().diagnostics()) {
    d.message = cat("device '", device.name, "', microbatch ", item.number, ": ", d.message);
    d.data.emplace_back("device", device.name);
  }
  return done;
}

// All devices as one.
PipelineDevice chained(std::vector<PipelineDevice> devices, std::function<void(std::size_t, const NamedTensors&)> handed_on) {
  PipelineDevice out{devices.front().name, devices.front().inputs, devices.back().outputs, nullptr};
  out.run = [devices = std::move(devices), handed_on = std::move(handed_on),
             number = std::int64_t{0}](const NamedTensors& inputs) mutable -> Result<NamedTensors> {
    Item item{number++, inputs};
    for (std::size_t i = 0;; ++i) {
      BUDA_ASSIGN(NamedTensors outputs, run_on(devices[i], item));
      if (i + 1 == devices.size()) return outputs;
      if (handed_on) handed_on(i, outputs);
      item.tensors = renamed(std::move(outputs), devices[i].outputs, devices[i + 1].inputs);
    }
  };
  return out;
}

}  // namespace

struct Pipeline::Parts {
  std::vector<PipelineDevice> devices;
  PipelineOptions options;
  std::vector<TensorType> inputs, outputs;

  std::mutex mutex;  // of all below
  std::condition_variable changed;
  std::vector<std::deque<Item>> waiting;  // in front of each device; behind the last: results
  std::vector<bool> ended;                // workers
  std::int64_t allowed = 0;               // that the first device may still take
  std::size_t computing = 0;              // devices
  Stillness stillness;
  PipelineCounts counts;
  std::optional<Failure> failure;
  std::size_t failed = 0;  // the device, where there is a failure
  bool ends = false;
  std::vector<std::thread> threads;

  void work(std::size_t device);
  bool takes(std::size_t device) const;
  bool is_over(std::size_t device) const;
  bool is_behind_failure(std::size_t device) const { return failure && device <= failed; }
  // Everything ahead of the failure has arrived.
  bool has_failed() const {
    return failure && std::all_of(ended.begin() + static_cast<std::ptrdiff_t>(failed), ended.end(), [](bool e) { return e; });
  }
  void fail(std::size_t device, std::int64_t number, Failure reason);
};

bool Pipeline::Parts::takes(std::size_t device) const { return !waiting[device].empty() && (device > 0 || (allowed > 0 && !ends)); }

bool Pipeline::Parts::is_over(std::size_t device) const {
  if (is_behind_failure(device)) return true;
  return device == 0 ? ends : waiting[device].empty() && ended[device - 1];
}

// The failure of the earliest microbatch is the one that is told: that of a device further on.
void Pipeline::Parts::fail(std::size_t device, std::int64_t number, Failure reason) {
  if (failure && device <= failed) return;
  if (const std::int64_t behind = counts.pushed - number - 1; behind > 0)
    reason.diagnostics().front().notes.push_back(
        {{}, cat(behind, behind == 1 ? " microbatch after it is" : " microbatches after it are", " not finished")});
  failure = std::move(reason);
  failed = device;
}

void Pipeline::Parts::work(std::size_t number) {
  const PipelineDevice& device = devices[number];
  const bool is_last = number + 1 == devices.size();
  std::unique_lock lock(mutex);
  while (true) {
    changed.wait(lock, [&] { return takes(number) || is_over(number); });
    if (is_over(number)) break;
    Item item = std::move(waiting[number].front());
    waiting[number].pop_front();
    if (number == 0) {
      if (allowed != std::numeric_limits<std::int64_t>::max()) --allowed;
      ++counts.taken;
    }
    stillness.set(++computing > 0);
    changed.notify_all();
    lock.unlock();
    auto done = options.sequential ? device.run(item.tensors) : run_on(device, item);  // a chain says itself who failed
    if (done && !is_last) {
      if (options.handed_on) options.handed_on(number, *done);
      item.tensors = renamed(std::move(*done), device.outputs, devices[number + 1].inputs);
    } else if (done) {
      item.tensors = std::move(*done);
    }
    lock.lock();
    stillness.set(--computing > 0);
    changed.notify_all();
    if (!done) fail(number, item.number, std::move(done).failure());
    if (is_behind_failure(number)) break;
    changed.wait(lock, [&] { return is_last || waiting[number + 1].size() < options.entries || is_behind_failure(number); });
    if (is_behind_failure(number)) break;
    waiting[number + 1].push_back(std::move(item));
    if (is_last) ++counts.finished;
    changed.notify_all();
  }
  ended[number] = true;
  changed.notify_all();
}

Pipeline::Pipeline(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Pipeline::~Pipeline() { shutdown(); }

Result<std::unique_ptr<Pipeline>> Pipeline::make(std::vector<PipelineDevice> devices, PipelineOptions options) {
  BUDA_TRY(check_neighbours(devices));
  auto parts = std::make_unique<Parts>();
  parts->inputs = devices.front().inputs;
  parts->outputs = devices.back().outputs;
  parts->options = std::move(options);
  parts->options.entries = std::max<std::size_t>(parts->options.entries, 1);
  if (parts->options.sequential) {
    parts->devices.push_back(chained(std::move(devices), parts->options.handed_on));
  } else {
    parts->devices = std::move(devices);
  }
  parts->waiting.resize(parts->devices.size() + 1);
  parts->ended.resize(parts->devices.size());
  for (std::size_t i = 0; i < parts->devices.size(); ++i) parts->threads.emplace_back([p = parts.get(), i] { p->work(i); });
  return std::unique_ptr<Pipeline>(new Pipeline(std::move(parts)));
}

const std::vector<TensorType>& Pipeline::inputs() const { return parts_->inputs; }
const std::vector<TensorType>& Pipeline::outputs() const { return parts_->outputs; }

Result<void> Pipeline::push_to_inputs(const NamedTensors& tensors, Timeout timeout) {
  BUDA_ASSIGN(NamedTensors inputs, typed_tensors(parts_->inputs, tensors));
  Parts& p = *parts_;
  const Patience patience(timeout);
  std::unique_lock lock(p.mutex);
  const bool has_room =
      patience.wait(p.changed, lock, p.stillness, [&] { return p.failure || p.waiting.front().size() < p.options.entries; });
  if (p.failure) return *p.failure;
  if (!has_room) {
    Diagnostic d = input_error("RT050", {},
                               cat("device '", p.devices.front().name, "' has ", p.options.entries,
                                   p.options.entries == 1 ? " microbatch" : " microbatches", " in front of it, and took none in time"));
    d.hint = p.allowed > 0 ? "wait longer" : "run_forward lets microbatches in";
    return d;
  }
  p.waiting.front().push_back({p.counts.pushed++, std::move(inputs)});
  p.changed.notify_all();
  return success();
}

Result<void> Pipeline::push_to_inputs(const std::vector<Tensor>& tensors, Timeout timeout) {
  if (tensors.size() != parts_->inputs.size())
    return input_error("RT020", {}, cat(tensors.size(), " tensors are given; the pipeline takes ", types_text(parts_->inputs)));
  NamedTensors named;
  for (std::size_t i = 0; i < tensors.size(); ++i) named.emplace(parts_->inputs[i].name, tensors[i]);
  return push_to_inputs(named, timeout);
}

Result<void> Pipeline::run_forward(std::int64_t input_count) {
  Parts& p = *parts_;
  constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();
  std::lock_guard lock(p.mutex);
  if (p.failure) return *p.failure;
  if (input_count < 0) return input_error("RT061", {}, cat("run_forward of ", input_count, " microbatches"));
  if (p.ends) return input_error("RT061", {}, "the pipeline is shut down");
  p.allowed = input_count == 0 || p.allowed > kAll - input_count ? kAll : p.allowed + input_count;
  p.changed.notify_all();
  return success();
}

Result<NamedTensors> Pipeline::pop(Timeout timeout) {
  Parts& p = *parts_;
  const Patience patience(timeout);
  std::unique_lock lock(p.mutex);
  std::deque<Item>& results = p.waiting.back();
  patience.wait(p.changed, lock, p.stillness, [&] { return !results.empty() || p.has_failed(); });
  if (!results.empty()) {
    NamedTensors out = std::move(results.front().tensors);
    results.pop_front();
    return out;
  }
  if (p.has_failed()) return *p.failure;
  Diagnostic d = input_error(
      "RT051", {},
      cat("no result came in time; ", p.counts.taken - p.counts.finished, " of ", p.counts.pushed, " microbatches are in flight"));
  if (p.counts.taken == p.counts.finished) d.hint = "push_to_inputs and run_forward let microbatches in";
  return d;
}

Result<std::vector<NamedTensors>> Pipeline::run_inference(const std::vector<NamedTensors>& inputs, const std::function<bool()>& cancelled) {
  std::size_t pushed = 0;
  for (; pushed < inputs.size() && !(cancelled && cancelled()); ++pushed) {
    BUDA_TRY(push_to_inputs(inputs[pushed]));
    BUDA_TRY(run_forward(1));
  }
  std::vector<NamedTensors> out;
  for (std::size_t i = 0; i < pushed; ++i) {
    BUDA_ASSIGN(NamedTensors result, pop());
    out.push_back(std::move(result));
  }
  return out;
}

Result<void> Pipeline::sync(Timeout timeout) {
  Parts& p = *parts_;
  const Patience patience(timeout);
  constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();
  auto is_done = [&] {
    const bool takes_more = p.allowed == kAll ? !p.waiting.front().empty() : p.allowed > 0;
    return p.has_failed() || (!takes_more && p.counts.taken == p.counts.finished);
  };
  std::unique_lock lock(p.mutex);
  const bool done = patience.wait(p.changed, lock, p.stillness, is_done);
  if (p.has_failed()) return *p.failure;
  if (done) return success();
  Diagnostic d =
      input_error("RT052", {},
                  cat("the pipeline has not finished in time: ", p.counts.finished, " of ", p.counts.pushed, " microbatches are finished"));
  if (p.allowed != kAll && p.allowed > 0) d.hint = cat("run_forward was asked for ", p.allowed, " more than were pushed");
  return d;
}

void Pipeline::stop() {
  std::lock_guard lock(parts_->mutex);
  parts_->allowed = 0;
  parts_->changed.notify_all();
}

void Pipeline::shutdown() {
  {
    std::lock_guard lock(parts_->mutex);
    parts_->allowed = 0;
    parts_->ends = true;
    parts_->changed.notify_all();
  }
  for (std::thread& thread : parts_->threads)
    if (thread.joinable()) thread.join();
}

Result<NamedTensors> Pipeline::get_first_inputs() const {
  std::lock_guard lock(parts_->mutex);
  const auto& waiting = parts_->waiting.front();
  if (waiting.empty()) return input_error("RT061", {}, "no microbatch waits in front of the first device");
  return waiting.front().tensors;
}

PipelineCounts Pipeline::counts() const {
  std::lock_guard lock(parts_->mutex);
  return parts_->counts;
}

}  // namespace buda::runtime
