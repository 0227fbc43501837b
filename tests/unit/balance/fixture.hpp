// SPDX-License-Identifier: Apache-2.0
// Device graphs and devices for the tests of balancing.
#pragma once

#include "unit/device/source_devices.hpp"

#include <buda/balance/balance.hpp>
#include <buda/base/rng.hpp>
#include <buda/base/text.hpp>
#include <buda/diag/sink.hpp>
#include <buda/graph/graph.hpp>
#include <buda/io/host.hpp>
#include <buda/tensor/fwd.hpp>
#include <spread/spread.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace buda::balance {

// A board that ships.
inline const device::DeviceDescriptor& board(const std::string& name) { return device::shipped(name); }

// The names of all boards. Device files that are called like an architecture describe its whole chip: a board only where the architecture
// has no other.
inline std::vector<std::string> boards() {
  const char* source = std::getenv("BUDA_SOURCE_DIR");
  if (source == nullptr) return {};
  std::map<std::string, std::set<std::string>> by_arch;
  for (const auto& file : std::filesystem::directory_iterator(std::string(source) + "/share/devices")) {
    const auto& described = board(file.path().stem());
    by_arch[described.arch].insert(described.name);
  }
  std::vector<std::string> out;
  for (const auto& [arch, names] : by_arch)
    for (const std::string& name : names)
      if (name != arch || names.size() == 1) out.push_back(name);
  std::sort(out.begin(), out.end());
  return out;
}

inline std::string text_of(const Failure& failure) {
  std::string out;
  for (const auto& d : failure.diagnostics()) out += cat(d.message, d.hint.empty() ? "" : cat(" | ", d.hint), '\n');
  return out;
}

// A device graph under construction. Shapes are given in datums (w, z, r, c).
class DeviceGraph {
 public:
  explicit DeviceGraph(std::string name = "net") : graph(std::move(name), graph::Level::device) {}

  graph::NodeId input(const std::string& name, Shape shape, std::vector<std::int64_t> model_shape = {},
                      DataFormat format = DataFormat::float16_b) {
    auto id = source("input", name, shape, format);
    if (!model_shape.empty()) graph.node(id).attrs["model_shape"] = std::move(model_shape);
    return id;
  }
  // Whether parameters get a value: zeros in the node's shape. Placing needs none, and large ones take time.
  bool with_values = true;
  graph::NodeId parameter(const std::string& name, Shape shape, DataFormat format = DataFormat::float16_b, std::string op = "parameter");
  graph::NodeId constant(const std::string& name, Tensor value);
  graph::NodeId op(const std::string& name, const std::string& type, std::vector<graph::Edge> inputs, Shape shape,
                   graph::AttrMap attrs = {}, DataFormat format = DataFormat::float16_b) {
    auto id = graph.add(name, type, std::move(inputs));
    graph.node(id).outputs = {{DType::f32, std::move(shape), format}};
    graph.node(id).attrs = std::move(attrs);
    return id;
  }
  graph::NodeId output(const std::string& name, graph::Edge from, std::vector<std::int64_t> model_shape = {}) {
    auto id = graph.add(name, "output", {std::move(from)});
    if (!model_shape.empty()) graph.node(id).attrs["model_shape"] = std::move(model_shape);
    return id;
  }
  // matmul with bias: bias is one row, repeated down the result.
  graph::NodeId linear(const std::string& name, graph::Edge x, std::int64_t rows, std::int64_t inner, std::int64_t cols,
                       graph::AttrMap attrs = {}) {
    auto w = parameter(name + ".weight", {1, 1, inner, cols});
    auto b = parameter(name + ".bias", {1, 1, 32, cols});
    attrs["bias"] = true;
    graph::Edge bias(b);
    if (rows > 32) bias.tms = {graph::Tm::broadcast(graph::TmDim::r, rows / 32)};
    return op(name, "matmul", {std::move(x), w, std::move(bias)}, {1, 1, rows, cols}, std::move(attrs));
  }

  graph::Graph graph;

 private:
  graph::NodeId source(const std::string& op, const std::string& name, Shape shape, DataFormat format) {
    auto id = graph.add(name, op);
    graph.node(id).outputs = {{DType::f32, std::move(shape), format}};
    return id;
  }
};

// The smallest grid for every op, as the policy plugin minimize_grid chooses it; or, turned round, the largest.
class BySize final : public Policy {
 public:
  explicit BySize(bool largest = false) : largest_(largest) {}
  Result<Choice> choose(Placement placement, const Estimator&) override {
    for (OpId op : placement.schedule())
      BUDA_TRY(placement.place_best(
          op, [this](const OpModel& a, const OpModel& b) { return largest_ ? a.cores() > b.cores() : a.cores() < b.cores(); }));
    return placement.choice();
  }

 private:
  bool largest_;
};

// Puts every op into an epoch of its own, with the fewest cores.
class OneOpPerEpoch final : public Policy {
 public:
  Result<Choice> choose(Placement placement, const Estimator&) override {
    for (OpId op : placement.schedule()) {
      placement.next_epoch();
      BUDA_TRY(placement.place_best(op, [](const OpModel& a, const OpModel& b) { return a.cores() < b.cores(); }));
    }
    return placement.choice();
  }
};

// As the policy plugin spread chooses.
class Spread final : public Policy {
 public:
  Result<Choice> choose(Placement placement, const Estimator& estimator) override { return spread(placement, estimator, {}); }
};

inline Result<Balanced> balance_with(graph::Graph graph, const std::string& device, BalanceOptions options, Policy& policy) {
  auto fs = io::make_real_file_system();
  CollectingSink sink;
  Host host(*fs, sink);
  host.share_dir = device::source_host().share_dir;  // links between chips
  return balance(std::move(graph), board(device), policy, "of the test", options, host);
}

inline Result<Balanced> balance_with(graph::Graph graph, const std::string& device, BalanceOptions options = {}, bool largest = false) {
  BySize policy(largest);
  return balance_with(std::move(graph), device, std::move(options), policy);
}

// For every op any of its legal models, and epochs that end anywhere.
class Drawn final : public Policy {
 public:
  explicit Drawn(std::uint64_t seed) : rng_(seed) {}
  Result<Choice> choose(Placement placement, const Estimator&) override {
    for (OpId op : placement.schedule()) {
      if (rng_.below(4) == 0) placement.next_epoch();
      const auto models = placement.space().models_of(op);
      std::vector<std::uint64_t> lots;
      for (std::size_t i = 0; i < models.size(); ++i) lots.push_back(rng_.next());
      auto lot = [&](const OpModel& m) { return lots[static_cast<std::size_t>(&m - models.data())]; };
      BUDA_TRY(placement.place_best(op, [&](const OpModel& a, const OpModel& b) { return lot(a) < lot(b); }));
    }
    return placement.choice();
  }

 private:
  Rng rng_;
};

// One of several policies, by the remainder of a number; whether it is the one that draws models.
inline bool draws_models(std::uint64_t number) { return number % 6 == 1; }
inline std::unique_ptr<Policy> some_policy(std::uint64_t number) {
  if (draws_models(number)) return std::make_unique<Drawn>(number);
  if (number % 3 == 2) return std::make_unique<Spread>();
  return std::make_unique<BySize>(number % 3 == 0);
}

inline std::string some_op(const graph::Graph& graph, std::uint64_t number) {
  std::vector<std::string> names;
  for (auto id : graph.ids())
    if (graph.node(id).is_op()) names.push_back(graph.node(id).name());
  return names[number % names.size()];
}

// A perceptron: x -> relu(x W1 + b1) -> … -> y, on `rows` samples.
inline graph::Graph perceptron(std::int64_t rows, const std::vector<std::int64_t>& sizes) {
  DeviceGraph g("perceptron");
  graph::NodeId x = g.input("x", {1, 1, rows, sizes.front()});
  for (std::size_t i = 1; i < sizes.size(); ++i)
    x = g.linear(cat("fc", i), x, rows, sizes[i - 1], sizes[i],
                 {{"relu_en", true}, {"relu_mode", std::string("min")}, {"relu_threshold", 0.0}});
  g.output("y", x);
  return std::move(g.graph);
}

}  // namespace buda::balance
