// SPDX-License-Identifier: Apache-2.0
// Decomposition plugin `nn`: activations and normalisations in terms of sums, maxima and elementwise ops.
//
//   softmax(x)       m = max(x), e = exp(x - m), y = e * (1 / sum(e));        without m when it need not be stable
//   log_softmax(x)   d = x - max(x), y = d - log(sum(exp(d)));                d = x when it need not be stable
//   layernorm(x)     d = x - mean(x), y = d * (1 / sqrt(mean(d²) + epsilon)) * weights + bias
//   gelu(x), tanh    x * sigmoid(2 √(2/π) (x + 0.044715 x³)), which is the same since (1 + tanh u) / 2 = sigmoid(2u)
//
// The other activations are in activations.cpp, normalisations by channel in normalizations.cpp.
//
// Maxima, sums and means keep their axis, so that they broadcast back; lower-to-device turns sums into products that come out broadcast.
#include "rules.hpp"

#include <buda/plugin/decomposition.hpp>
#include <buda/plugin/plugin.hpp>

namespace {

using buda::graph::Edge;
using buda::graph::Graph;
using buda::graph::GraphEditor;
using buda::graph::Node;
using buda::graph::NodeId;
using buda::graph::ValueRef;
using buda::ops::Builder;

buda::ops::Attrs attrs_of(const Node& n) { return {*buda::ops::standard_ops().find(buda::graph::Level::tensor, n.op()), n.attrs}; }

Edge scalar(Builder& b, const char* name, double value, buda::DType dtype) { return b.named(name).constant(value, dtype); }

buda::Result<void> finish(GraphEditor& editor, NodeId id, Builder& b, ValueRef y) {
  BUDA_TRY(b.status());
  editor.replace(id, y);
  return buda::success();
}

class Softmax final : public buda::passes::Decomposition {
 public:
  explicit Softmax(bool stable) : stable_(stable) {}
  std::vector<std::string> consumes() const override { return {"softmax"}; }
  std::vector<std::string> produces() const override { return {"reduce_max", "subtract", "exp", "reduce_sum", "reciprocal", "multiply"}; }

  buda::Result<void> rewrite(GraphEditor& editor, NodeId id) override {
    const Node& n = editor.graph().node(id);
    std::int64_t dim = attrs_of(n).integer("dim");
    bool stable = stable_ && attrs_of(n).boolean("stable");
    Edge x = n.inputs()[0];
    Builder b(editor);
    if (stable) x = b.subtract(x, b.named("max").reduce_max(x, {dim}));
    ValueRef e = b.exp(x);
    ValueRef y = b.multiply(e, b.reciprocal(b.named("sum").reduce_sum(e, {dim})));
    return finish(editor, id, b, y);
  }

 private:
  bool stable_;
};

class LogSoftmax final : public buda::passes::Decomposition {
 public:
  explicit LogSoftmax(bool stable) : stable_(stable) {}
  std::vector<std::string> consumes() const override { return {"log_softmax"}; }
  std::vector<std::string> produces() const override { return {"reduce_max", "subtract", "exp", "reduce_sum", "log"}; }

  buda::Result<void> rewrite(GraphEditor& editor, NodeId id) override {
    const Node& n = editor.graph().node(id);
    std::int64_t dim = attrs_of(n).integer("dim");
    Edge d = n.inputs()[0];
    Builder b(editor);
    if (stable_) {
      ValueRef most = b.named("max").reduce_max(d, {dim});
      d = b.named("moved").subtract(d, most);
    }
    ValueRef e = b.exp(d);
    ValueRef y = b.subtract(d, b.log(b.named("sum").reduce_sum(e, {dim})));
    return finish(editor, id, b, y);
  }

 private:
  bool stable_;
};

class Layernorm final : public buda::passes::Decomposition {
 public:
  std::vector<std::string> consumes() const override { return {"layernorm"}; }
  std::vector<std::string> produces() const override {
    return {"reduce_avg", "subtract", "square", "add", "sqrt", "reciprocal", "multiply"};
  }

  buda::Result<void> rewrite(GraphEditor& editor, NodeId id) override {
    const Node& n = editor.graph().node(id);
    buda::DType dtype = n.outputs[0].dtype;
    auto rank = static_cast<std::int64_t>(n.outputs[0].shape.rank());
    std::int64_t first = attrs_of(n).integer("dim");
    if (first < 0) first += rank;
    std::vector<std::int64_t> dims;
    for (std::int64_t axis = first; axis < rank; ++axis) dims.push_back(axis);
    double epsilon = attrs_of(n).real("epsilon");
    std::vector<Edge> in = n.inputs();

    Builder b(editor);
    ValueRef mean = b.named("mean").reduce_avg(in[0], dims);
    ValueRef d = b.named("centred").subtract(in[0], mean);
    ValueRef squares = b.square(d);
    ValueRef variance = b.named("variance").reduce_avg(squares, dims);
    Edge guard = scalar(b, "epsilon", epsilon, dtype);
    ValueRef y = b.multiply(d, b.reciprocal(b.sqrt(b.named("guarded").add(variance, guard))));
    if (in.size() > 1) y = b.named("weighted").multiply(y, in[1]);
    if (in.size() > 2) y = b.named("biased").add(y, in[2]);
    return finish(editor, id, b, y);
  }
};

class GeluTanh final : public buda::passes::Decomposition {
 public:
  std::vector<std::string> consumes() const override { return {"gelu"}; }
  std::vector<std::string> produces() const override { return {"square", "multiply", "add", "sigmoid"}; }
  bool matches(const Graph&, const Node& node) const override { return attrs_of(node).text("approximate") == "tanh"; }

  buda::Result<void> rewrite(GraphEditor& editor, NodeId id) override {
    const Node& n = editor.graph().node(id);
    constexpr double kTwice = 2 * 0.7978845608028654;  // 2 √(2/π)
    buda::DType dtype = n.outputs[0].dtype;
    Edge x = n.inputs()[0];
    Builder b(editor);
    Edge k3 = scalar(b, "k3", kTwice * 0.044715, dtype), k1 = scalar(b, "k1", kTwice, dtype);
    ValueRef squares = b.square(x);
    ValueRef cubic = b.named("cubic").multiply(squares, k3);
    ValueRef factor = b.named("factor").add(cubic, k1);
    ValueRef y = b.multiply(x, b.sigmoid(b.named("argument").multiply(x, factor)));
    return finish(editor, id, b, y);
  }
};

// A rule that is made with or without the maximum.
template <class Rule>
buda::plugin::Entry<buda::passes::Decomposition> stable_entry(std::string name, std::string summary) {
  return {.name = std::move(name),
          .summary = std::move(summary),
          .options = {{.name = "stable",
                       .type = buda::schema::OptionType::flag,
                       .summary = "subtract the maximum first, so that large numbers do not overflow",
                       .default_text = "true"}},
          .make = [](const buda::schema::OptionValues& values, buda::Host&) -> buda::Result<std::unique_ptr<buda::passes::Decomposition>> {
            return std::unique_ptr<buda::passes::Decomposition>(std::make_unique<Rule>(values.flag("stable", true)));
          }};
}

}  // namespace

BUDA_PLUGIN(.name = "nn", .version = "1.0", .description = "activations and normalisations in simpler ops", .license = "Apache-2.0") {
  registrar.add_decomposition(stable_entry<Softmax>("softmax", "softmax through maximum, exponential and sum"));
  registrar.add_decomposition(stable_entry<LogSoftmax>("log_softmax", "log-softmax through maximum, exponential, sum and logarithm"));
  registrar.add_decomposition(buda::plugin::decomposition_entry<Layernorm>("layernorm", "layernorm through means"));
  registrar.add_decomposition(buda::plugin::decomposition_entry<GeluTanh>("gelu_tanh", "the tanh approximation of gelu through sigmoid"));
  for (auto& spec : buda::nn::activation_rules()) registrar.add_decomposition(buda::plugin::rule(std::move(spec)));
  for (auto& spec : buda::nn::normalization_rules()) registrar.add_decomposition(buda::plugin::rule(std::move(spec)));
}
