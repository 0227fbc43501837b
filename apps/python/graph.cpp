// SPDX-License-Identifier: Apache-2.0
// Graphs from Python: arguments become attributes.
#include "apps/python/graph.hpp"

#include "apps/python/arrays.hpp"
#include "apps/python/toolchain.hpp"

#include <buda/base/text.hpp>
#include <buda/graph/graph.hpp>
#include <buda/ops/whole_graph/builder.hpp>
#include <buda/runtime/reference/graph_run.hpp>
#include <buda/tensor/tensor.hpp>

#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <optional>

namespace py = pybind11;

namespace buda::python {
namespace {

graph::Attr attribute(const py::handle& value) {
  if (py::isinstance<py::bool_>(value)) return value.cast<bool>();
  if (py::isinstance<py::int_>(value)) return value.cast<std::int64_t>();
  if (py::isinstance<py::float_>(value)) return value.cast<double>();
  if (py::isinstance<py::str>(value)) return value.cast<std::string>();
  try {
    return value.cast<std::vector<std::int64_t>>();
  } catch (const py::cast_error&) {
    return value.cast<std::vector<double>>();
  }
}

DType dtype_or_raise(const std::string& name) {
  if (auto dtype = dtype_from_name(name)) return *dtype;
  throw py::value_error(cat("there is no type '", name, "'"));
}

using Edges = std::vector<graph::Edge>;
using Ref = GraphMaker::Ref;

// Operations that are several of the registry's, by the names and arguments that PyBuda gives them.
Ref composed(ops::Builder& b, const std::string& op, const Edges& in, const py::dict& a) {
  auto number = [&](const char* key) { return a[key].cast<std::int64_t>(); };
  if (op == "hslice") return b.hslice(in.at(0), number("slices"));
  if (op == "vslice") return b.vslice(in.at(0), number("slices"));
  if (op == "hstack") return b.hstack(in.at(0), number("slices"));
  if (op == "vstack") return b.vstack(in.at(0), number("slices"));
  if (op == "index")
    return b.index(in.at(0), number("dim"), number("start"), a["stop"].cast<std::optional<std::int64_t>>(), number("stride"));
  if (op == "select") return b.select(in.at(0), number("dim"), number("start"), number("length"), number("stride"));
  if (op == "binary_stack") return b.binary_stack(in.at(0), in.at(1), number("dim"));
  if (op == "heaviside") return b.heaviside(in.at(0), in.at(1));
  if (op == "relu") return b.relu(in.at(0), a["threshold"].cast<double>(), a["mode"].cast<std::string>());
  if (op == "argmax") return b.argmax(in.at(0), a["dim"].cast<std::optional<std::int64_t>>());
  if (op == "buffer") return b.buffer(in.at(0));
  if (op == "identity") return b.identity(in.at(0));
  throw py::key_error(op);
}

bool is_composed(const std::string& op) {
  static constexpr std::array<std::string_view, 12> kComposed = {"hslice", "vslice",       "hstack",    "vstack", "index",  "select",
                                                                 "relu",   "binary_stack", "heaviside", "argmax", "buffer", "identity"};
  return std::find(kComposed.begin(), kComposed.end(), op) != kComposed.end();
}

}  // namespace

struct GraphMaker::Draft {
  ops::Builder builder;
  std::shared_ptr<const graph::Graph> graph;
};

GraphMaker::GraphMaker(const std::string& name) : name_(name), draft_(new Draft{ops::Builder(name), nullptr}) {}
GraphMaker::~GraphMaker() = default;

Ref GraphMaker::checked(Ref value) {
  raise_unless(draft_->builder.status());
  return value;
}

Ref GraphMaker::input(const std::string& name, const std::vector<std::int64_t>& shape, const std::string& dtype) {
  return checked(draft_->builder.input(name, Shape(shape), dtype_or_raise(dtype)));
}

Ref GraphMaker::parameter(const std::string& name, py::object array) {
  return checked(draft_->builder.parameter(name, tensor_of(std::move(array))));
}

Ref GraphMaker::constant(const std::string& name, py::object array) {
  return checked(draft_->builder.named(name).constant(tensor_of(std::move(array))));
}

std::vector<Ref> GraphMaker::op(const std::string& name, const std::string& op, const std::vector<Ref>& inputs,
                                const py::dict& attributes) {
  Edges edges(inputs.begin(), inputs.end());
  draft_->builder.named(name);
  if (is_composed(op)) return {checked(composed(draft_->builder, op, edges, attributes))};
  graph::AttrMap attrs;
  for (const auto& [key, value] : attributes) attrs[key.cast<std::string>()] = attribute(value);
  const Ref first = checked(draft_->builder.op(op, std::move(edges), std::move(attrs)));
  std::vector<Ref> results;
  for (std::size_t i = 0; i < draft_->builder.node(first).outputs.size(); ++i)
    results.push_back(Ref(first.node, static_cast<std::uint32_t>(i)));
  return results;
}

void GraphMaker::output(const std::string& name, Ref value) {
  draft_->builder.output(name, value);
  raise_unless(draft_->builder.status());
}

std::vector<std::int64_t> GraphMaker::shape(Ref value) { return draft_->builder.graph().type(value)->shape.dims(); }
std::string GraphMaker::dtype(Ref value) { return std::string(dtype_name(draft_->builder.graph().type(value)->dtype)); }

std::shared_ptr<const graph::Graph> GraphMaker::finished() {
  if (!draft_->graph) draft_->graph = std::make_shared<const graph::Graph>(value_or_raise(draft_->builder.finish()));
  return draft_->graph;
}

void declare_graphs(py::module_& module) {
  const py::class_<Ref> value(module, "Value", "A value of the graph in the making.");
  py::class_<GraphMaker>(module, "Graph", "A graph in the making, at tensor level.")
      .def(py::init<std::string>(), py::arg("name"))
      .def_property_readonly("name", &GraphMaker::name)
      .def("input", &GraphMaker::input, py::arg("name"), py::arg("shape"), py::arg("dtype") = "F32")
      .def("parameter", &GraphMaker::parameter, py::arg("name"), py::arg("array"))
      .def("constant", &GraphMaker::constant, py::arg("name"), py::arg("array"))
      .def("op", &GraphMaker::op, py::arg("name"), py::arg("op"), py::arg("inputs"), py::arg("attributes") = py::dict())
      .def("output", &GraphMaker::output, py::arg("name"), py::arg("value"))
      .def("shape", &GraphMaker::shape)
      .def("dtype", &GraphMaker::dtype)
      .def(
          "evaluate",
          [](GraphMaker& maker, const py::dict& inputs) {
            auto environment = std::make_shared<Environment>();
            const auto run = without_lock(environment, [&host = environment->host(), graph = maker.finished(), given = tensors_of(inputs)] {
              return runtime::run_graph(*graph, given, host);
            });
            return arrays_of(run.outputs);
          },
          py::arg("inputs"), "The outputs on the host, in fp32.");
}

}  // namespace buda::python
