// SPDX-License-Identifier: Apache-2.0
// Building graphs from Python, op by op.
#pragma once

#include <buda/graph/fwd.hpp>
#include <buda/graph/node_id.hpp>

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace buda::python {

// A graph in the making. Every call raises what is wrong with it.
class GraphMaker {
 public:
  using Ref = graph::ValueRef;

  explicit GraphMaker(const std::string& name);
  ~GraphMaker();
  const std::string& name() const { return name_; }

  Ref input(const std::string& name, const std::vector<std::int64_t>& shape, const std::string& dtype);
  Ref parameter(const std::string& name, pybind11::object array);
  Ref constant(const std::string& name, pybind11::object array);
  // Any op of the registry, at tensor level; or one of the Builder that is several of them (hstack, select, …).
  std::vector<Ref> op(const std::string& name, const std::string& op, const std::vector<Ref>& inputs, const pybind11::dict& attributes);
  void output(const std::string& name, Ref value);
  std::vector<std::int64_t> shape(Ref value);
  std::string dtype(Ref value);

  // After the last output. The graph is as it was then.
  std::shared_ptr<const graph::Graph> finished();

 private:
  Ref checked(Ref value);

  struct Draft;

  std::string name_;
  std::unique_ptr<Draft> draft_;
};

void declare_graphs(pybind11::module_& module);

}  // namespace buda::python
