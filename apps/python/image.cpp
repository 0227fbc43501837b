// TTIImage, Session and Backend.
#include "apps/python/image.hpp"

#include "apps/python/arrays.hpp"
#include "apps/python/toolchain.hpp"
#include "apps/python/transfer.hpp"

#include <buda/base/text.hpp>
#include <buda/device/load.hpp>
#include <buda/image/image.hpp>
#include <buda/plugin/target.hpp>
#include <buda/runtime/backend.hpp>
#include <buda/runtime/generator.hpp>
#include <buda/runtime/merged_session.hpp>

#include <pybind11/stl.h>

#include <algorithm>
#include <chrono>

namespace py = pybind11;

namespace buda::python {
namespace {

using Models = runtime::MergedModel;

runtime::Timeout timeout_of(const std::optional<double>& seconds) {
  if (!seconds) return std::nullopt;
  constexpr double kMost = 1e9;  // seconds: three decades
  if (!(*seconds >= 0)) throw py::value_error("a timeout is a number of seconds, not below 0");
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::min(*seconds, kMost) * 1000));
}

// A target, and what must live as long as what is open on it.
struct Opened {
  Environment environment;
  std::unique_ptr<runtime::Target> target;
  device::DeviceDescriptor device;
};

std::unique_ptr<Opened> open_target(const std::string& name, const std::string& device, const py::kwargs& options, const Models& models) {
  auto out = std::make_unique<Opened>();
  Host& host = out->environment.host();
  out->target = value_or_raise(plugin::make(plugins(), plugins().targets, plugin::Kind::target, name, plugin_options(options), host));
  out->device = device.empty() ? models.whole.device.value() : value_or_raise(device::load_device(host, device));
  return out;
}

// What is open until remove_modules(), and while another thread calls it.
template <class T>
std::shared_ptr<T> present(const std::shared_ptr<T>& opened) {
  if (opened == nullptr) throw py::value_error("its models were removed from the device: open the image again");
  return opened;
}

// Models on a device, each called with all of its inputs.
class PySession {
 public:
  PySession(std::unique_ptr<Opened> opened, Models models) : opened_(std::move(opened)) {
    session_ = without_lock(opened_->environment, [&] {
      return runtime::MergedSession::open(std::move(models), *opened_->target, opened_->device, opened_->environment.host());
    });
  }
  std::shared_ptr<runtime::MergedSession> session() const { return present(session_); }
  std::vector<std::string> models() const { return session()->models(); }
  runtime::Session& model(const std::string& name) {
    return *value_or_raise(session()->session(name.empty() ? session()->models().front() : name));
  }
  py::dict run(const py::dict& inputs, const std::string& name) {
    const auto held = this->session();
    runtime::Session& session = model(name);
    NamedTensors tensors = tensors_of(inputs);
    return arrays_of(without_lock(opened_->environment, [&] { return session.run(tensors); }));
  }
  void remove_modules() {
    auto gone = std::move(session_);
    py::gil_scoped_release release;
    gone.reset();
  }
  Environment& environment() { return opened_->environment; }
  // The model's inputs or outputs: (name, type, shape).
  py::list ports(const std::string& name, bool inputs) {
    py::list out;
    const runtime::Ports& ports = model(name).ports();
    for (const runtime::Port& port : inputs ? ports.inputs : ports.outputs)
      out.append(py::make_tuple(port.tensor->name, dtype_name(port.dtype), py::tuple(py::cast(port.shape.dims()))));
    return out;
  }

 private:
  std::unique_ptr<Opened> opened_;
  std::shared_ptr<runtime::MergedSession> session_;
};

// Generation by the models of a session, which lives as long.
class PyGenerator {
 public:
  PyGenerator(PySession& session, const std::string& decode, const std::string& prefill, const std::string& token,
              const std::string& position, const std::string& logits)
      : session_(session),
        held_(session.session()),
        generator_(value_or_raise(runtime::Generator::make(session.model(decode), prefill.empty() ? nullptr : &session.model(prefill),
                                                           {token, position, logits, nullptr, nullptr}))) {}
  std::int64_t prefill(const std::vector<std::int64_t>& tokens, std::int64_t write_index) {
    return without_lock(session_.environment(), [&] { return generator_.prefill(tokens, write_index); });
  }
  std::vector<std::int64_t> generate(std::int64_t loop_count, std::int64_t write_index, std::int64_t tokens_per_iter,
                                     std::int64_t token_id) {
    return without_lock(session_.environment(), [&] { return generator_.generate(loop_count, write_index, tokens_per_iter, token_id); });
  }

 private:
  PySession& session_;
  std::shared_ptr<runtime::MergedSession> held_;
  runtime::Generator generator_;
};

// An image on a device, whose queues are pushed and popped while programs run.
class PyBackend {
 public:
  PyBackend(std::unique_ptr<Opened> opened, Models models) : opened_(std::move(opened)) {
    backend_ = without_lock(opened_->environment, [&] {
      return runtime::Backend::open(std::move(models), *opened_->target, opened_->device, opened_->environment.host());
    });
  }
  const runtime::LoadedModel& model(const std::string& name) {
    return name.empty() ? backend()->models().front() : *value_or_raise(backend()->model(name));
  }
  void push(const std::string& input, py::object array, std::optional<double> timeout, const std::string& name) {
    const auto held = backend();
    const runtime::Port* port = value_or_raise(model(name).input(input));
    push_array(*held, *port, std::move(array), timeout_of(timeout), opened_->environment);
  }
  py::array pop(const std::string& output, std::optional<double> timeout, const std::string& name) {
    const auto held = backend();
    const runtime::Port* port = value_or_raise(model(name).output(output));
    return pop_array(*held, *port, timeout_of(timeout), opened_->environment);
  }
  py::array get(const std::string& output, std::optional<double> timeout, const std::string& name) {
    const auto held = backend();
    const runtime::Port* port = value_or_raise(model(name).output(output));
    return get_array(*held, *port, timeout_of(timeout), opened_->environment);
  }
  // All programs of a model, so many turns.
  void start(std::int64_t turns, const std::string& name) {
    const auto held = backend();
    const runtime::LoadedModel& loaded = model(name);
    without_lock(opened_->environment, [&]() -> Result<void> {
      if (loaded.programs.size() == 1) return backend()->start(loaded.programs.front(), {{runtime::kLoopCount, turns}});
      for (std::int64_t i = 0; i < turns; ++i)
        for (const auto& program : loaded.programs) BUDA_TRY(backend()->start(program, {{runtime::kLoopCount, 1}}));
      return success();
    });
  }
  // All segments, those of the host, too.
  void run(std::int64_t turns, std::optional<double> timeout, const std::string& name) {
    const auto held = backend();
    const runtime::LoadedModel& loaded = model(name);
    without_lock(opened_->environment, [&] { return backend()->run_model(loaded, turns, timeout_of(timeout)); });
  }
  void wait(std::optional<double> timeout) {
    without_lock(opened_->environment, [&] { return backend()->wait(timeout_of(timeout)); });
  }
  void cancel() { backend()->cancel(); }
  void remove_modules() {
    auto gone = std::move(backend_);
    py::gil_scoped_release release;
    gone.reset();
  }
  py::dict queue_state(const std::string& queue) {
    const auto state = value_or_raise(backend()->queue_state(queue));
    py::dict out;
    out["entries"] = state.entries;
    out["waiting"] = state.waiting;
    out["room"] = state.room;
    return out;
  }
  std::vector<std::string> queues() const {
    std::vector<std::string> out;
    for (const auto& queue : backend()->netlist().queues) out.push_back(queue.name);
    return out;
  }

 private:
  std::shared_ptr<runtime::Backend> backend() const { return present(backend_); }

  std::unique_ptr<Opened> opened_;
  std::shared_ptr<runtime::Backend> backend_;
};

// An image's file. It is read when it is opened.
class PyImage {
 public:
  explicit PyImage(std::string path) : path_(std::move(path)) {
    Environment environment;
    const auto bytes = value_or_raise(environment.host().fs().read(path_));
    const auto members = value_or_raise(image::read_members(bytes, path_));
    description_ = value_or_raise(image::read_description(members, path_));
  }
  const std::string& path() const { return path_; }
  const image::DeviceJson& description() const { return description_; }
  py::dict shapes(bool inputs) const {
    py::dict out;
    for (const auto& tensor : inputs ? description_.plan.inputs : description_.plan.outputs)
      out[py::str(tensor.name)] = py::tuple(py::cast(tensor.shape));
    return out;
  }
  std::vector<std::string> models() const {
    std::vector<std::string> out;
    for (const auto& part : description_.models) out.push_back(part.name);
    if (out.empty()) out.push_back(description_.name);
    return out;
  }
  Models load() const {
    Environment environment;
    return value_or_raise(runtime::load_models(environment.host(), path_));
  }
  std::unique_ptr<PySession> open(const std::string& target, const std::string& device, const py::kwargs& options) const {
    Models models = load();
    auto opened = open_target(target, device, options, models);
    return std::make_unique<PySession>(std::move(opened), std::move(models));
  }
  std::unique_ptr<PyBackend> open_backend(const std::string& target, const std::string& device, const py::kwargs& options) const {
    Models models = load();
    auto opened = open_target(target, device, options, models);
    return std::make_unique<PyBackend>(std::move(opened), std::move(models));
  }

 private:
  std::string path_;
  image::DeviceJson description_;
};

// PyBuda's run_inference: a list of inputs, each a dictionary or a tuple in the order of the model's inputs; a list of results alike.
py::list run_inference(const PyImage& image, const py::list& inputs, const std::string& target, const std::string& device,
                       const py::kwargs& options) {
  auto session = image.open(target, device, options);
  const py::list ports = session->ports("", true), outputs = session->ports("", false);
  py::list results;
  for (const auto& given : inputs) {
    py::dict by_name;
    const bool named = py::isinstance<py::dict>(given);
    if (named) {
      by_name = py::reinterpret_borrow<py::dict>(given);
    } else {
      const py::tuple arrays = py::isinstance<py::tuple>(given) || py::isinstance<py::list>(given)
                                   ? py::tuple(py::reinterpret_borrow<py::object>(given))
                                   : py::make_tuple(given);
      if (arrays.size() != ports.size())
        throw py::value_error(cat("an input of the list has ", arrays.size(), " tensors; the model has ", ports.size(), " inputs"));
      for (std::size_t i = 0; i < arrays.size(); ++i) by_name[py::object(ports[i][py::int_(0)])] = arrays[i];
    }
    const py::dict result = session->run(by_name, "");
    if (named) {
      results.append(result);
      continue;
    }
    py::list ordered;
    for (const auto& output : outputs) ordered.append(result[output[py::int_(0)]]);
    results.append(ordered);
  }
  return results;
}

}  // namespace

void declare_images(py::module_& module) {
  py::class_<PySession>(module, "Session", "Models on a device, called with all of their inputs.")
      .def("models", &PySession::models)
      .def("remove_modules", &PySession::remove_modules, "Ends the models, and clears the device.")
      .def("run", &PySession::run, py::arg("inputs"), py::arg("model") = "",
           "Arrays by name; any number of rows. Gives the outputs by name.")
      .def(
          "inputs", [](PySession& s, const std::string& model) { return s.ports(model, true); }, py::arg("model") = "",
          "(name, type, shape) of each input.")
      .def(
          "outputs", [](PySession& s, const std::string& model) { return s.ports(model, false); }, py::arg("model") = "",
          "(name, type, shape) of each output.");
  py::class_<PyGenerator>(module, "Generator", "Generates tokens with models that keep the keys and values of earlier positions.")
      .def(py::init<PySession&, const std::string&, const std::string&, const std::string&, const std::string&, const std::string&>(),
           py::arg("session"), py::arg("decode") = "", py::arg("prefill") = "", py::arg("token") = "token",
           py::arg("position") = "position", py::arg("logits") = "logits", py::keep_alive<1, 2>(),
           "`decode`, which takes one token, and `prefill`, which takes several, are models of the session.")
      .def("prefill", &PyGenerator::prefill, py::arg("tokens"), py::arg("write_index") = 0,
           "Enters the tokens of a prompt; gives the token that follows.")
      .def("generate", &PyGenerator::generate, py::arg("loop_count"), py::arg("write_index"), py::arg("tokens_per_iter"),
           py::arg("token_id"), "Enters a token and those that follow it, loop_count times tokens_per_iter; gives these.");
  py::class_<PyBackend>(module, "Backend",
                        "An image on a device, whose queues are pushed and popped, from any thread, while its programs run.")
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
      .def("remove_modules", &PyBackend::remove_modules, "Ends the models, and clears the device.")
      .def("queues", &PyBackend::queues)
      .def("queue_state", &PyBackend::queue_state, py::arg("queue"), "Entries, those that wait, and room.");
  py::class_<PyImage>(module, "TTIImage", "A compiled model.")
      .def_static(
          "load_from_disk", [](const std::string& path) { return std::make_unique<PyImage>(path); }, py::arg("path"))
      .def_property_readonly("path", &PyImage::path)
      .def_property_readonly("name", [](const PyImage& i) { return i.description().name; })
      .def_property_readonly("arch", [](const PyImage& i) { return i.description().arch; })
      .def_property_readonly("models", &PyImage::models)
      .def("get_input_shapes", [](const PyImage& i) { return i.shapes(true); })
      .def("get_output_shapes", [](const PyImage& i) { return i.shapes(false); })
      .def("open", &PyImage::open, py::arg("target") = "golden", py::arg("device") = "",
           "On a target, with the target's options as keywords; the device is the image's own unless named.")
      .def("open_backend", &PyImage::open_backend, py::arg("target") = "golden", py::arg("device") = "",
           "The same for pushing and popping.");
  module.def(
      "load_image", [](const std::string& path) { return std::make_unique<PyImage>(path); }, py::arg("path"), "The image of a file.");
  module.def("run_inference", &run_inference, py::arg("image"), py::arg("inputs"), py::arg("target") = "golden", py::arg("device") = "",
             "Runs an image for each of the inputs: dictionaries, or tuples in the order of the model's inputs. Gives results alike.");
  module.def(
      "detect_available_devices",
      [] {
        Environment environment;
        return device::known_devices(environment.host());
      },
      "The boards that targets can simulate.");
  module.def(
      "targets", [] { return plugins().targets.names(); }, "The names of the installed targets.");
}

}  // namespace buda::python
