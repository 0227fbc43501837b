// SPDX-License-Identifier: Apache-2.0
// Graphs of training steps, and their images at work.
#include "apps/python/training.hpp"

#include "apps/python/arrays.hpp"
#include "apps/python/graph.hpp"
#include "apps/python/model_source.hpp"
#include "apps/python/shapes.hpp"
#include "apps/python/toolchain.hpp"

#include <buda/base/text.hpp>
#include <buda/compiler/step_of_model.hpp>
#include <buda/graph/file/graph_file.hpp>
#include <buda/graph/tags/training.hpp>
#include <buda/tensor/tensor.hpp>

#include <pybind11/stl.h>

#include <utility>

namespace py = pybind11;

namespace buda::python {
namespace {

py::list names_of(const std::vector<const runtime::Port*>& ports) {
  py::list out;
  for (const runtime::Port* port : ports) out.append(port->tensor->name);
  return out;
}

// Writes the graph of a step of a graph that was made in Python, or of a file.
void write_training_step(GraphMaker* graph, const std::string& model, const std::string& output, const py::dict& shapes,
                         const std::string& loss, GraphMaker* loss_graph, const std::string& optimizer, const std::string& frozen) {
  auto environment = std::make_shared<Environment>();
  compiler::StepRequest request;
  request.loss = loss;
  request.optimizer = optimizer;
  request.frozen = frozen;
  request.import.input_shapes = shapes_of(shapes);
  if (loss_graph != nullptr) request.loss_graph = *loss_graph->finished();
  const plugin::Registries& registries = plugins();
  const auto made = graph == nullptr ? nullptr : graph->finished();
  without_lock(environment,
               [&host = environment->host(), &registries, made, model, output, request = std::move(request)]() -> Result<void> {
                 BUDA_ASSIGN(const plugin::ModelSource source, model_source(made.get(), model, host));
                 BUDA_ASSIGN(auto step, compiler::step_of_model(source, request, registries, host));
                 end_if_lost();
                 return graph::write_graph(host.fs(), step, output);
               });
}

}  // namespace

std::unique_ptr<PyTraining> PyTraining::open(const std::string& image, const std::string& target, const py::kwargs& options) {
  plugins();
  const schema::OptionValues given = plugin_options(options);
  auto made = std::make_shared<Opened>();
  auto out = std::make_unique<PyTraining>();
  out->opened_ = without_lock(made->on.environment, [made, image, target, given]() -> Result<std::shared_ptr<Opened>> {
    Host& host = made->on.environment->host();
    BUDA_ASSIGN(auto models, runtime::load_models(host, image));
    end_if_lost();
    BUDA_TRY(made->on.make(target, "", given, models));
    BUDA_ASSIGN(made->session, runtime::MergedSession::open(std::move(models), *made->on.target, made->on.device, host));
    BUDA_ASSIGN(runtime::Session * session, made->session->session(made->session->models().front()));
    BUDA_ASSIGN(made->training, runtime::TrainingSession::make(*session));
    return made;
  });
  return out;
}

// Calls `use` with the session when the device is free.
template <class Use>
auto PyTraining::in_turn(Use use) {
  const auto held = opened();
  return without_lock(held->on.environment, [held, use = std::move(use)]() mutable {
    const std::lock_guard lock(held->turn);
    end_if_lost();
    return use(*held->training);
  });
}

py::tuple PyTraining::forward(const py::dict& inputs) {
  const auto result = in_turn([given = tensors_of(inputs)](runtime::TrainingSession& training) { return training.forward(given); });
  if (!result.outside.empty() && PyErr_WarnEx(PyExc_UserWarning, result.outside.c_str(), 1) != 0) throw py::error_already_set();
  return py::make_tuple(arrays_of(result.outputs), gradients().empty() ? py::object(py::float_(result.loss)) : py::object(py::none()));
}

py::tuple PyTraining::backward(const py::dict& gradients, bool begins) {
  const NamedTensors given =
      in_turn([given = tensors_of(gradients), begins](runtime::TrainingSession& training) { return training.backward(given, begins); });
  py::dict of_parameters, of_inputs;
  for (const runtime::Port& port : ports().outputs) {
    const std::string& training = port.tensor->training;
    const auto found = given.find(port.tensor->name);
    if (found == given.end()) continue;
    for (const auto& [kind, out] :
         {std::pair<const char*, py::dict&>{graph::kTrainingParameterGradient, of_parameters}, {graph::kTrainingInputGradient, of_inputs}})
      if (training.starts_with(kind)) out[py::str(trim(training.substr(std::string(kind).size())))] = array_of(found->second);
  }
  return py::make_tuple(of_parameters, of_inputs);
}

void PyTraining::optimize(double rate_factor) {
  in_turn([rate_factor](runtime::TrainingSession& training) { return training.optimize(rate_factor); });
}

py::dict PyTraining::parameters() {
  return arrays_of(in_turn([](runtime::TrainingSession& training) { return training.parameters(); }));
}

void PyTraining::set_parameters(const py::dict& values) {
  in_turn([given = tensors_of(values)](runtime::TrainingSession& training) { return training.set_parameters(given); });
}

py::dict PyTraining::states() {
  return arrays_of(in_turn([](runtime::TrainingSession& training) { return training.states(); }));
}

py::list PyTraining::inputs() const { return names_of(opened()->training->inputs()); }
py::list PyTraining::targets() const { return names_of(opened()->training->targets()); }
py::list PyTraining::gradients() const { return names_of(opened()->training->gradients()); }

const runtime::Ports& PyTraining::ports() const {
  const auto held = opened();
  return value_or_raise(held->session->session(held->session->models().front()))->ports();
}

// Those of the model itself.
py::list PyTraining::outputs() const {
  py::list out;
  for (const runtime::Port& port : ports().outputs) {
    const std::string& training = port.tensor->training;
    const bool is_of_model = training.empty() || training.starts_with(graph::kTrainingPrediction);
    if (is_of_model && !ports().gives_state(port.tensor->name)) out.append(port.tensor->name);
  }
  return out;
}

void declare_training(py::module_& module) {
  module.def("write_training_step", &write_training_step, "Writes the graph of a training step, which compile_to_image compiles.");
  py::class_<PyTraining> training(module, "TrainingSession", "The image of a training step on a device, whose phases run one by one.");
  training.def_static("open", &PyTraining::open, py::arg("image"), py::arg("target") = "golden", "The image of a file, on a target with its options.")
      .def("forward", &PyTraining::forward, py::arg("inputs"),
           "One batch, by name; gives the outputs, and the loss where the model has one.")
      .def("backward", &PyTraining::backward, py::arg("gradients"), py::arg("begins"),
           "The batch that is next in turn, with the gradients of the outputs; gives those of parameters and those of inputs, by name. "
           "`begins`: sums begin anew.")
      .def("optimize", &PyTraining::optimize, py::arg("rate_factor") = 1.0, "Changes the parameters by the sums of gradients.")
      .def("parameters", &PyTraining::parameters, "By name, in fp32.")
      .def("set_parameters", &PyTraining::set_parameters, py::arg("values"), "Some of them, from the next forward on.")
      .def("states", &PyTraining::states, "Parameters and what the optimizer keeps, by name, as they are.")
      .def("inputs", &PyTraining::inputs, "Names of the model's inputs.")
      .def("outputs", &PyTraining::outputs, "Names of the model's outputs.")
      .def("targets", &PyTraining::targets, "Names of the targets.")
      .def("gradients", &PyTraining::gradients, "Names of the gradients of outputs that backward takes.");
  declare_closing(training);
}

}  // namespace buda::python
