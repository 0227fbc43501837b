// SPDX-License-Identifier: Apache-2.0
// Gradients of one op next to central differences in F64.
#pragma once

#include <buda/autograd/differentiate.hpp>
#include <buda/base/rng.hpp>
#include <buda/graph/graph.hpp>
#include <buda/graph/values/value.hpp>
#include <buda/ops/whole_graph/builder.hpp>
#include <buda/ops/whole_graph/evaluate.hpp>
#include <buda/tensor/tensor.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <string>

namespace buda::autograd {

using graph::AttrMap;

struct Case {
  std::string op;
  std::vector<Shape> inputs;
  AttrMap attrs = {};
  double least = -2, most = 2;     // of the inputs' elements
  std::vector<DType> dtypes = {};  // F64 where not given
  // Elements that are not drawn: by input (place, value); an input of integers is given whole.
  std::map<std::size_t, std::map<std::size_t, double>> set = {};
  std::set<std::size_t> constants = {};  // inputs that are constants of the graph
  double step = 1e-6;                    // of the difference; large for linear ops that are computed in fp32
};

inline std::ostream& operator<<(std::ostream& out, const Case& c) {
  out << c.op;
  for (const Shape& s : c.inputs) out << ' ' << s.text();
  for (const auto& [name, value] : c.attrs) out << ' ' << name << '=' << graph::attr_text(value);
  return out;
}

inline Tensor drawn(Rng& rng, const Shape& shape, DType dtype, double least, double most) {
  std::vector<double> elements(static_cast<std::size_t>(*shape.volume()));
  for (double& x : elements) x = least + (most - least) * rng.uniform();
  Tensor t(shape, std::move(elements));
  if (dtype != DType::boolean) return t.cast(dtype);  // of indices from -1 to 1
  std::vector<Boolean> truth;
  for (double x : t.as<double>()) truth.push_back(x > 0 ? Boolean{1} : Boolean{0});
  return Tensor(shape, std::move(truth));
}

// Of the loss sum of result * weights, of all results of floating-point numbers.
inline void expect_gradients(const Case& c, const DecomposeNodes& decompose) {
  Rng rng(7);
  ops::Builder b("net");
  std::vector<graph::Edge> edges;
  std::vector<graph::ValueRef> wanted;
  NamedTensors inputs;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    const DType dtype = i < c.dtypes.size() ? c.dtypes[i] : DType::f64;
    names.push_back("x" + std::to_string(i));
    Tensor x = drawn(rng, c.inputs[i], dtype, c.least, c.most);
    if (auto set = c.set.find(i); set != c.set.end()) {
      const Tensor all = x.cast(DType::f64);
      std::vector<double> elements(all.as<double>().begin(), all.as<double>().end());
      for (const auto& [place, value] : set->second) elements.at(place) = value;
      x = Tensor(c.inputs[i], std::move(elements)).cast(dtype);
    }
    edges.emplace_back(c.constants.contains(i) ? b.constant(x) : b.input(names.back(), c.inputs[i], dtype));
    wanted.push_back(edges.back().source);
    if (!c.constants.contains(i)) inputs.emplace(names.back(), std::move(x));
  }
  const auto y = b.named("y").op(c.op, edges, c.attrs);
  ASSERT_TRUE(b.status()) << b.status().failure().diagnostics().front().message;
  graph::ValueRef loss;
  for (std::uint32_t port = 0; port < b.node(y).outputs.size(); ++port) {
    const graph::ValueType type = b.node(y).outputs[port];
    if (!is_float(type.dtype)) continue;
    const auto weights = b.constant(drawn(rng, type.shape, DType::f64, -1, 1));
    const auto weighted = b.multiply(graph::ValueRef(y.node, port), weights);
    const auto sum = b.reduce_sum(weighted, {}, false);
    loss = loss.valid() ? b.add(loss, sum) : sum;
  }
  loss = b.named("total").buffer(loss);
  b.output("loss", loss);
  auto finished = b.finish();
  ASSERT_TRUE(finished);
  graph::Graph graph = std::move(*finished);
  const graph::ValueRef total(graph.find("total"));
  const graph::NodeId one = graph.add("one", std::string(graph::kConstantOp));
  graph.node(one).outputs = {*graph.type(total)};
  graph.node(one).value = graph::Value(Tensor::scalar(1.0));
  if (decompose) {
    auto decomposed = decompose_for_gradients(graph, wanted, decompose);
    ASSERT_TRUE(decomposed) << decomposed.failure().diagnostics().front().message;
  }
  const Seed seed{total, one};
  auto gradients = differentiate(graph, {&seed, 1}, wanted);
  ASSERT_TRUE(gradients) << gradients.failure().diagnostics().front().message;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if ((*gradients)[i].valid()) graph.add("d" + names[i], std::string(graph::kOutputOp), {graph::Edge((*gradients)[i])});
  auto outputs = ops::evaluate_graph(graph, inputs);
  ASSERT_TRUE(outputs) << outputs.failure().diagnostics().front().message;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (c.constants.contains(i) || inputs.at(names[i]).dtype() != DType::f64) continue;
    ASSERT_TRUE((*gradients)[i].valid());
    const Tensor& gradient = outputs->at("d" + names[i]);
    ASSERT_EQ(gradient.shape(), c.inputs[i]);
    const Tensor x = inputs.at(names[i]);
    for (std::size_t k = 0; k < x.size(); ++k) {
      const auto loss_at = [&](double moved) {
        std::vector<double> elements(x.as<double>().begin(), x.as<double>().end());
        elements[k] += moved;
        NamedTensors changed = inputs;
        changed.insert_or_assign(names[i], Tensor(x.shape(), std::move(elements)));
        return ops::evaluate_graph(graph, changed)->at("loss").as<double>()[0];
      };
      const double slope = (loss_at(c.step) - loss_at(-c.step)) / (2 * c.step);
      ASSERT_NEAR(gradient.as<double>()[k], slope, 1e-6 * std::max(1.0, std::abs(slope))) << names[i] << " element " << k;
    }
  }
}

}  // namespace buda::autograd
