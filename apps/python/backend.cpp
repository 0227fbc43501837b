// SPDX-License-Identifier: Apache-2.0
// What waits for a device does so in short pieces, between which signals are looked for. A batch that was waited for when a signal came
// stays where it is.
#include "apps/python/backend.hpp"

#include "apps/python/arrays.hpp"

#include <buda/base/text.hpp>
#include <buda/runtime/session.hpp>
#include <buda/tensor/tensor.hpp>

#include <pybind11/stl.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace py = pybind11;

namespace buda::python {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kPiece{50};

runtime::Timeout timeout_of(const std::optional<double>& seconds) {
  if (!seconds) return std::nullopt;
  constexpr double kMost = 1e9;  // seconds: three decades
  if (!(*seconds >= 0)) throw py::value_error("a timeout is a number of seconds, not below 0");
  return milliseconds(static_cast<std::int64_t>(std::min(*seconds, kMost) * 1000));
}

// How long a call goes on waiting: as long as its timeout says, or a while after the device stands still, as the runtime does
// (timeout.hpp).
class Waiting {
 public:
  Waiting(const runtime::Backend& backend, runtime::Timeout timeout) : backend_(backend), timeout_(timeout) {}

  milliseconds left() {
    const auto now = steady_clock::now();
    if (!timeout_ && backend_.status().state == runtime::State::running) since_ = now;
    const auto gone = std::chrono::duration_cast<milliseconds>(now - since_);
    return std::max(milliseconds(0), timeout_.value_or(runtime::kPatience) - gone);
  }

 private:
  const runtime::Backend& backend_;
  runtime::Timeout timeout_;
  steady_clock::time_point since_ = steady_clock::now();
};

// What `call`, which takes a timeout, gives in the end.
template <class Call>
auto patiently(Environment& environment, const runtime::Backend& backend, runtime::Timeout timeout, const Call& call) {
  Waiting waiting(backend, timeout);
  while (true) {
    const milliseconds left = waiting.left();
    auto result = [&] {
      const py::gil_scoped_release others_run;
      return call(std::min(left, kPiece));
    }();
    if (!result && runtime::is_timeout(result.failure()) && left > kPiece) {
      look_for_signals();
      continue;
    }
    environment.tell_warnings();
    return value_or_raise(std::move(result));
  }
}

}  // namespace

Result<const runtime::LoadedModel*> PyBackend::Opened::model(const std::string& name) const {
  if (name.empty()) return &backend->models().front();
  return backend->model(name);
}

std::unique_ptr<PyBackend> PyBackend::open(const Opening& opening) {
  plugins();
  auto made = std::make_shared<Opened>();
  auto out = std::make_unique<PyBackend>();
  out->opened_ = without_lock(made->on.environment, [made, opening]() -> Result<std::shared_ptr<Opened>> {
    Host& host = made->on.environment->host();
    BUDA_ASSIGN(auto models, runtime::load_models(host, opening.image));
    end_if_lost();
    BUDA_TRY(made->on.make(opening.target, opening.device, opening.options, models));
    BUDA_ASSIGN(made->backend, runtime::Backend::open(std::move(models), *made->on.target, made->on.device, host));
    return made;
  });
  return out;
}

void PyBackend::push(const std::string& input, py::object array, Seconds timeout, const std::string& name) {
  const auto held = opened();
  const runtime::Port* port = value_or_raise(value_or_raise(held->model(name))->input(input));
  const Tensor values = tensor_of(std::move(array));
  patiently(*held->on.environment, *held->backend, timeout_of(timeout),
            [&](runtime::Timeout piece) { return held->backend->push(*port, values, piece); });
}

py::array PyBackend::pop(const std::string& output, Seconds timeout, const std::string& name) {
  const auto held = opened();
  const runtime::Port* port = value_or_raise(value_or_raise(held->model(name))->output(output));
  return array_of(patiently(*held->on.environment, *held->backend, timeout_of(timeout),
                            [&](runtime::Timeout piece) { return held->backend->pop(*port, piece); }));
}

py::array PyBackend::get(const std::string& output, Seconds timeout, const std::string& name) {
  const auto held = opened();
  const runtime::Port* port = value_or_raise(value_or_raise(held->model(name))->output(output));
  return array_of(patiently(*held->on.environment, *held->backend, timeout_of(timeout),
                            [&](runtime::Timeout piece) { return held->backend->get(*port, piece); }));
}

void PyBackend::start(std::int64_t turns, const std::string& name) {
  const auto held = opened();
  const runtime::LoadedModel* loaded = value_or_raise(held->model(name));
  without_lock(held->on.environment, [held, loaded, turns]() -> Result<void> {
    runtime::Backend& backend = *held->backend;
    if (loaded->programs.size() == 1) return backend.start(loaded->programs.front(), {{runtime::kLoopCount, turns}});
    for (std::int64_t i = 0; i < turns; ++i)
      for (const auto& program : loaded->programs) BUDA_TRY(backend.start(program, {{runtime::kLoopCount, 1}}));
    return success();
  });
}

void PyBackend::run(std::int64_t turns, Seconds timeout, const std::string& name) {
  const auto held = opened();
  const runtime::LoadedModel* loaded = value_or_raise(held->model(name));
  without_lock(
      held->on.environment, [held, loaded, turns, limit = timeout_of(timeout)] { return held->backend->run_model(*loaded, turns, limit); },
      [held] { std::thread([held] { held->backend->cancel(); }).detach(); });
}

void PyBackend::wait(Seconds timeout) {
  const auto held = opened();
  patiently(*held->on.environment, *held->backend, timeout_of(timeout), [&](runtime::Timeout piece) { return held->backend->wait(piece); });
}

void PyBackend::cancel() {
  const auto held = opened();
  without_lock(held->on.environment, [held]() -> Result<void> {
    held->backend->cancel();
    return success();
  });
}

py::dict PyBackend::queue_state(const std::string& queue) {
  const auto held = opened();
  const auto state = without_lock(held->on.environment, [held, queue] { return held->backend->queue_state(queue); });
  py::dict out;
  out["entries"] = state.entries;
  out["waiting"] = state.waiting;
  out["room"] = state.room;
  return out;
}

std::vector<std::string> PyBackend::queues() const {
  const auto held = opened();
  std::vector<std::string> out;
  for (const auto& queue : held->backend->netlist().queues) out.push_back(queue.name);
  return out;
}

std::string PyBackend::text() const {
  if (opened_ == nullptr) return "<openbuda.Backend, closed>";
  std::vector<std::string> names;
  for (const auto& model : opened_->backend->models()) names.push_back(model.name);
  return cat("<openbuda.Backend of ", join(names, ", "), " on ", opened_->on.device.name, '>');
}

void declare_backends(py::module_& module) {
  py::class_<PyBackend> backend(
      module, "Backend",
      "An image on a device, whose queues are pushed and popped, from any thread, while its programs run. `with` closes it.");
  backend
      .def("push", &PyBackend::push, py::arg("input"), py::arg("batch"), py::arg("timeout") = py::none(), py::arg("model") = "",
           "One batch; waits for room, `timeout` seconds.")
      .def("pop", &PyBackend::pop, py::arg("output"), py::arg("timeout") = py::none(), py::arg("model") = "",
           "One batch; waits for it, `timeout` seconds.")
      .def("get", &PyBackend::get, py::arg("output"), py::arg("timeout") = py::none(), py::arg("model") = "",
           "The same without taking it; of a state the present value.")
      .def("start", &PyBackend::start, py::arg("turns") = 1, py::arg("model") = "", "Starts the programs of a model, so many times.")
      .def("run", &PyBackend::run, py::arg("turns") = 1, py::arg("timeout") = py::none(), py::arg("model") = "",
           "Runs all segments of a model, those of the host, too, so many times.")
      .def("wait", &PyBackend::wait, py::arg("timeout") = py::none(), "Until all programs have ended.")
      .def("cancel", &PyBackend::cancel, "Gives up the programs at work.")
      .def("queues", &PyBackend::queues, "The names of its queues.")
      .def("queue_state", &PyBackend::queue_state, py::arg("queue"), "Entries, those that wait, and room.")
      .def("__repr__", &PyBackend::text);
  declare_closing(backend);
}

}  // namespace buda::python
