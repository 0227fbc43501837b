// SPDX-License-Identifier: Apache-2.0
// A session has one device, which takes one call at a time.
#include "apps/python/session.hpp"

#include "apps/python/arrays.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

#include <pybind11/stl.h>

#include <utility>

namespace py = pybind11;

namespace buda::python {
namespace {

// Calls `use` when the device is free. A call that was interrupted while it waited does nothing.
template <class Use>
auto in_turn(const std::shared_ptr<PySession::Opened>& opened, Use use) {
  return without_lock(opened->on.environment, [opened, use = std::move(use)]() mutable {
    const std::lock_guard lock(opened->turn);
    end_if_lost();
    return use();
  });
}

NamedTensors by_name(const runtime::Ports& ports, const py::object& inputs) {
  if (py::isinstance<py::dict>(inputs)) return tensors_of(py::reinterpret_borrow<py::dict>(inputs));
  const bool several = py::isinstance<py::tuple>(inputs) || py::isinstance<py::list>(inputs);
  const py::tuple given = several ? py::tuple(inputs) : py::make_tuple(inputs);
  if (given.size() != ports.inputs.size()) {
    std::vector<std::string> names;
    for (const runtime::Port& port : ports.inputs) names.push_back(port.tensor->name);
    throw py::value_error(cat("the model has ", names.size(), names.size() == 1 ? " input" : " inputs", ", ", join(names, ", "), "; ",
                              given.size(), " arrays were given"));
  }
  NamedTensors out;
  for (std::size_t i = 0; i < given.size(); ++i) out.insert_or_assign(ports.inputs[i].tensor->name, tensor_of(given[i]));
  return out;
}

}  // namespace

Result<runtime::Session*> PySession::Opened::model(const std::string& name) const {
  return session->session(name.empty() ? session->models().front() : name);
}

std::unique_ptr<PySession> PySession::open(const Opening& opening) {
  plugins();
  auto made = std::make_shared<Opened>();
  auto out = std::make_unique<PySession>();
  out->opened_ = without_lock(made->on.environment, [made, opening]() -> Result<std::shared_ptr<Opened>> {
    Host& host = made->on.environment->host();
    BUDA_ASSIGN(auto models, runtime::load_models(host, opening.image));
    end_if_lost();
    BUDA_TRY(made->on.make(opening.target, opening.device, opening.options, models));
    BUDA_ASSIGN(made->session, runtime::MergedSession::open(std::move(models), *made->on.target, made->on.device, host));
    return made;
  });
  return out;
}

py::dict PySession::run(const py::object& inputs, const std::string& name) {
  const auto opened = this->opened();
  runtime::Session* session = value_or_raise(opened->model(name));
  return arrays_of(in_turn(opened, [session, tensors = by_name(session->ports(), inputs)] { return session->run(tensors); }),
                   session->ports().outputs);
}

py::list PySession::ports(const std::string& name, bool inputs) const {
  const auto opened = this->opened();
  const runtime::Ports& ports = value_or_raise(opened->model(name))->ports();
  py::list out;
  for (const runtime::Port& port : inputs ? ports.inputs : ports.outputs)
    out.append(py::make_tuple(port.tensor->name, dtype_name(port.dtype), py::tuple(py::cast(port.shape.dims()))));
  return out;
}

std::string PySession::text() const {
  if (opened_ == nullptr) return "<openbuda.Session, closed>";
  return cat("<openbuda.Session of ", join(models(), ", "), " on ", opened_->on.device.name, '>');
}

PyGenerator::PyGenerator(const PySession& session, const std::string& decode, const std::string& prefill, const std::string& token,
                         const std::string& position, const std::string& logits)
    : opened_(session.opened()),
      generator_(std::make_shared<runtime::Generator>(value_or_raise(runtime::Generator::make(
          *value_or_raise(opened_->model(decode)), prefill.empty() ? nullptr : value_or_raise(opened_->model(prefill)),
          {token, position, logits, nullptr, [](auto) { return !is_lost(); }})))) {}

std::int64_t PyGenerator::prefill(std::vector<std::int64_t> tokens, std::int64_t write_index) {
  return in_turn(opened_,
                 [generator = generator_, tokens = std::move(tokens), write_index] { return generator->prefill(tokens, write_index); });
}

std::vector<std::int64_t> PyGenerator::generate(std::int64_t loop_count, std::int64_t write_index, std::int64_t tokens_per_iter,
                                                std::int64_t token_id) {
  return in_turn(opened_, [generator = generator_, loop_count, write_index, tokens_per_iter, token_id] {
    return generator->generate(loop_count, write_index, tokens_per_iter, token_id);
  });
}

void declare_sessions(py::module_& module) {
  py::class_<PySession> session(
      module, "Session",
      "Models on a device, called with all of their inputs. Threads may share one: their calls wait for each other. `with` closes it.");
  session.def("models", &PySession::models, "The names of its models.")
      .def("run", &PySession::run, py::arg("inputs"), py::arg("model") = "",
           "Arrays by name, or in the order of the model's inputs: a tuple, a list, or the only one; any number of rows. Gives the outputs "
           "by "
           "name.")
      .def(
          "inputs", [](const PySession& s, const std::string& model) { return s.ports(model, true); }, py::arg("model") = "",
          "(name, type, shape) of each input.")
      .def(
          "outputs", [](const PySession& s, const std::string& model) { return s.ports(model, false); }, py::arg("model") = "",
          "(name, type, shape) of each output.")
      .def("__repr__", &PySession::text);
  declare_closing(session);
  py::class_<PyGenerator>(module, "Generator", "Generates tokens with models that keep the keys and values of earlier positions.")
      .def(py::init<const PySession&, const std::string&, const std::string&, const std::string&, const std::string&, const std::string&>(),
           py::arg("session"), py::arg("decode") = "", py::arg("prefill") = "", py::arg("token") = "token",
           py::arg("position") = "position", py::arg("logits") = "logits",
           "`decode`, which takes one token, and `prefill`, which takes several, are models of the session.")
      .def("prefill", &PyGenerator::prefill, py::arg("tokens"), py::arg("write_index") = 0,
           "Enters the tokens of a prompt; gives the token that follows.")
      .def("generate", &PyGenerator::generate, py::arg("loop_count"), py::arg("write_index"), py::arg("tokens_per_iter"),
           py::arg("token_id"), "Enters a token and those that follow it, loop_count times tokens_per_iter; gives these.");
}

}  // namespace buda::python
