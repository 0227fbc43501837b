// SPDX-License-Identifier: Apache-2.0
// A model written in C++: parameters, constants and submodules with names, and what is computed with them.
//
//   class Linear final : public ops::Module {
//    public:
//     Linear(std::string name, Tensor weights) : Module(std::move(name)) { add_parameter("weights", std::move(weights)); }
//     Refs forward(ops::Builder& b, const Refs& x) override { return {b.relu(b.matmul(x[0], parameter(b, "weights")))}; }
//   };
//
//   Linear layer("layer", weights);
//   BUDA_ASSIGN(graph::Graph graph, layer.graph({{"x", {DType::f32, {1, 64}, {}}}}));    // outputs are called layer.0, layer.1, …
//   BUDA_ASSIGN(image::Image image, compile({"layer.graph.json", io::Bytes(graph::graph_text(graph))}, options, plugins, host));
#pragma once

#include <buda/diag/result.hpp>
#include <buda/ops/whole_graph/builder.hpp>
#include <buda/tensor/named_tensors.hpp>
#include <buda/tensor/tensor.hpp>

#include <map>
#include <string>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::ops {

class Module {  // wide because parameters and constants have the same functions each
 public:
  using Refs = std::vector<Builder::Ref>;

  explicit Module(std::string name) : name_(std::move(name)) {}
  virtual ~Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  const std::string& name() const { return name_; }

  // A tensor with this name in the graph, or with "MODULE." in front of it. An existing one is replaced.
  void add_parameter(const std::string& name, Tensor value, bool prepend_name = false);
  void add_constant(const std::string& name, Tensor value, bool prepend_name = false);
  // The submodule's parameters are this module's, too. It must outlive this one, and is computed by calling it in forward().
  void add_module(Module& submodule);

  // By the names that they have in the graph, submodules included. MD001: there is none. MD002: another shape or element type.
  Result<Tensor> get_parameter(const std::string& name) const;
  Result<Tensor> get_constant(const std::string& name) const;
  Result<void> set_parameter(const std::string& name, const Tensor& value);
  Result<void> set_constant(const std::string& name, const Tensor& value);
  NamedTensors get_parameters(bool submodules = true) const;
  // All or, where one of them is an error, none.
  Result<void> load_parameters(const NamedTensors& values);

  // The graph of the module's name, with these inputs. MD001: forward() has asked for a parameter or constant that the module does not
  // have. GR020: two of them have one name.
  Result<graph::Graph> graph(const std::vector<std::pair<std::string, graph::ValueType>>& inputs);

  // What a module, or the module around it, computes. pre_forward may change the inputs; by default it gives them as they are.
  Refs operator()(Builder& b, const Refs& inputs);

 protected:
  virtual Refs pre_forward(Builder& b, Refs inputs);
  virtual Refs forward(Builder& b, const Refs& inputs) = 0;
  // In forward(): the value in the graph, by the name that was given when it was added.
  Builder::Ref parameter(Builder& b, const std::string& name);
  Builder::Ref constant(Builder& b, const std::string& name);

 private:
  struct Entry {
    std::string name;  // in the graph
    Tensor value;
    Builder::Ref built;  // in the graph that is being made
  };
  using Entries = std::map<std::string, Entry>;  // by the name that was given

  Builder::Ref built(Builder& b, Entries& entries, const char* what, const std::string& name);
  template <class Self>
  static auto find(Self& self, Entries Module::*entries, const std::string& name) -> decltype(&(self.*entries).begin()->second);
  Result<const Entry*> get(Entries Module::*entries, const char* what, const std::string& name) const;
  Result<void> set(Entries Module::*entries, const char* what, const std::string& name, const Tensor& value);
  std::vector<std::string> names(Entries Module::*entries) const;
  void begin_graph();
  void take_missing(Failure& failure);

  std::string name_;
  Entries parameters_, constants_;
  std::vector<Module*> submodules_;
  std::vector<std::string> missing_;  // that forward() has asked for
};

}  // namespace buda::ops

#pragma GCC visibility pop
