// Every gradient rule next to central differences in F64, for several shapes and attributes.
#include <buda/autograd/differentiate.hpp>
#include <buda/autograd/rules/rules.hpp>
#include <buda/base/rng.hpp>
#include <buda/graph/graph.hpp>
#include <buda/graph/value.hpp>
#include <buda/ops/whole_graph/builder.hpp>
#include <buda/ops/whole_graph/evaluate.hpp>
#include <buda/tensor/tensor.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>

namespace buda::autograd {
namespace {

using graph::AttrMap;

struct Case {
  std::string op;
  std::vector<Shape> inputs;
  AttrMap attrs = {};
  double least = -2, most = 2;     // of the inputs' elements
  std::vector<DType> dtypes = {};  // F64 where not given
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  out << c.op;
  for (const Shape& s : c.inputs) out << ' ' << s.text();
  for (const auto& [name, value] : c.attrs) out << ' ' << name << '=' << graph::attr_text(value);
  return out;
}

std::vector<Case> cases() {
  std::vector<Case> out;
  const auto each = [&](std::initializer_list<const char*> ops, double least, double most, const AttrMap& attrs = {}) {
    for (const char* op : ops)
      for (const Shape& shape : {Shape{3, 4}, Shape{7}, Shape{2, 1, 5}}) out.push_back({op, {shape}, attrs, least, most, {}});
  };
  each({"abs", "buffer", "nop", "negative", "square", "exp", "sine", "cosine", "sinh", "cosh", "tan", "atan", "erf"}, -1.4, 1.4);
  each({"log", "sqrt", "reciprocal"}, 0.3, 3);
  each({"relu", "leaky_relu", "sigmoid", "tanh", "gelu", "softplus"}, -2, 2);
  each({"gelu"}, -2, 2, {{"approximate", "tanh"}});
  each({"clip"}, -2, 2, {{"min", -0.7}, {"max", 0.9}});
  each({"clip"}, -2, 2, {{"min", -0.7}});
  for (const char* op : {"add", "subtract", "multiply", "maximum", "minimum"})
    for (const auto& [a, b] :
         {std::pair{Shape{3, 4}, Shape{3, 4}}, {Shape{3, 4}, Shape{4}}, {Shape{2, 1, 5}, Shape{3, 1}}, {Shape{}, Shape{5}}})
      out.push_back({op, {a, b}});
  for (const char* op : {"divide", "power"})
    for (const auto& [a, b] : {std::pair{Shape{3, 4}, Shape{3, 4}}, {Shape{3, 1}, Shape{2, 1, 4}}}) out.push_back({op, {a, b}, {}, 0.4, 2});
  out.push_back({"prelu", {{2, 3, 4}, {3, 1}}});
  out.push_back({"where", {{3, 4}, {4}, {3, 4}}, {}, -2, 2, {DType::boolean}});
  for (const auto& [a, b] : {std::pair{Shape{3, 4}, Shape{4, 5}},
                             {Shape{2, 3, 4}, Shape{4, 5}},
                             {Shape{2, 3, 4}, Shape{2, 4, 5}},
                             {Shape{3, 1, 2, 4}, Shape{5, 4, 3}},
                             {Shape{4}, Shape{4, 3}},
                             {Shape{2, 3, 4}, Shape{4}},
                             {Shape{4}, Shape{4}}})
    out.push_back({"matmul", {a, b}});
  out.push_back({"matmul", {{3, 4}, {4, 5}, {5}}});
  for (bool ta : {false, true})
    for (bool tb : {false, true})
      out.push_back({"gemm",
                     {ta ? Shape{4, 3} : Shape{3, 4}, tb ? Shape{5, 4} : Shape{4, 5}, {5}},
                     {{"trans_a", ta}, {"trans_b", tb}, {"alpha", 0.5}, {"beta", 1.5}}});
  const auto axes = [](std::vector<std::int64_t> dims) { return AttrMap{{"dims", std::move(dims)}}; };
  for (const char* op : {"reduce_sum", "reduce_avg", "reduce_max", "reduce_min"}) {
    out.push_back({op, {{3, 4}}, axes({1})});
    out.push_back({op, {{2, 3, 4}}, axes({0, -1})});
    out.push_back({op, {{2, 3, 4}}, {{"dims", std::vector<std::int64_t>{1}}, {"keep_dims", false}}});
    out.push_back({op, {{3, 5}}});
  }
  for (const char* op : {"softmax", "log_softmax"})
    for (std::int64_t dim : {-1, 0, 1}) out.push_back({op, {{3, 4, 2}}, {{"dim", dim}}});
  out.push_back({"layernorm", {{3, 5}, {5}, {5}}});
  out.push_back({"layernorm", {{2, 3, 4}, {3, 4}, {3, 4}}, {{"dim", std::int64_t{1}}}});
  out.push_back({"layernorm", {{3, 7}}});
  using Ints = std::vector<std::int64_t>;
  out.push_back({"reshape", {{3, 4}}, {{"shape", Ints{2, 6}}}});
  out.push_back({"squeeze", {{3, 1, 4}}, axes({1})});
  out.push_back({"unsqueeze", {{3, 4}}, axes({0, 2})});
  out.push_back({"transpose", {{2, 3, 4}}, {{"perm", Ints{2, 0, 1}}}});
  out.push_back({"broadcast", {{3, 1}}, {{"shape", Ints{2, 3, 5}}}});
  out.push_back({"concatenate", {{2, 3}, {2, 1}, {2, 4}}, {{"dim", std::int64_t{-1}}}});
  out.push_back({"pad", {{3, 4}}, {{"before", Ints{1, 0}}, {"after", Ints{2, 3}}, {"value", 0.5}}});
  out.push_back({"slice", {{5, 7}}, {{"dims", Ints{0, -1}}, {"starts", Ints{1, 2}}, {"stops", Ints{4, 7}}}});
  out.push_back({"slice", {{5, 7}}, {{"dims", Ints{1}}, {"starts", Ints{1}}, {"stops", Ints{7}}, {"steps", Ints{3}}}});
  out.push_back({"slice", {{5, 8}}, {{"dims", Ints{1}}, {"starts", Ints{-1}}, {"stops", Ints{-9}}, {"steps", Ints{-2}}}});
  out.push_back({"tile", {{2, 3}}, {{"repeats", Ints{3, 2}}}});
  out.push_back({"triangle", {{3, 3}}, {{"diagonal", std::int64_t{1}}}});
  out.push_back({"conv1d", {{2, 3, 7}, {4, 3, 3}, {4}}, {{"padding", Ints{1, 0}}, {"stride", Ints{2}}}});
  out.push_back({"conv2d", {{2, 3, 5, 6}, {4, 3, 3, 2}, {4}}, {{"padding", Ints{1, 1, 1, 0}}}});
  out.push_back({"conv2d", {{2, 4, 6, 5}, {6, 2, 3, 3}}, {{"groups", std::int64_t{2}}, {"stride", Ints{2, 1}}, {"dilation", Ints{1, 2}}}});
  out.push_back({"conv2d", {{1, 3, 4, 4}, {2, 3, 1, 1}, {2}}});
  out.push_back({"conv3d", {{1, 2, 3, 4, 3}, {2, 2, 2, 2, 2}, {2}}});
  out.push_back({"max_pool1d", {{2, 3, 7}}, {{"kernel", Ints{3}}, {"stride", Ints{2}}, {"padding", Ints{1, 1}}}});
  out.push_back({"max_pool2d", {{2, 3, 6, 4}}, {{"kernel", Ints{2, 2}}, {"stride", Ints{2, 2}}}});
  out.push_back({"max_pool2d", {{1, 2, 5, 5}}, {{"kernel", Ints{3, 3}}, {"stride", Ints{2, 2}}, {"padding", Ints{1, 1, 1, 1}}}});
  out.push_back({"max_pool3d", {{1, 2, 4, 2, 4}}, {{"kernel", Ints{2, 2, 2}}, {"stride", Ints{2, 2, 2}}}});
  out.push_back({"avg_pool2d", {{2, 3, 6, 4}}, {{"kernel", Ints{2, 2}}, {"stride", Ints{2, 2}}}});
  out.push_back({"avg_pool2d",
                 {{1, 2, 5, 5}},
                 {{"kernel", Ints{3, 3}}, {"stride", Ints{2, 2}}, {"padding", Ints{1, 1, 1, 1}}, {"count_include_pad", false}}});
  out.push_back({"avg_pool3d", {{1, 2, 4, 2, 4}}, {{"kernel", Ints{2, 2, 2}}, {"stride", Ints{2, 2, 2}}}});
  for (std::int64_t dim : {0, 1, -1}) out.push_back({"gather", {{4, 3, 5}, {2, 2}}, {{"dim", dim}}, -2, 2, {DType::f64, DType::i64}});
  out.push_back({"gather", {{4, 3}, {5}}, {}, -2, 2, {DType::f64, DType::i64}});
  out.push_back({"avg_pool1d", {{1, 2, 7}}, {{"kernel", Ints{3}}, {"stride", Ints{1}}}});
  return out;
}

Tensor drawn(Rng& rng, const Shape& shape, DType dtype, double least, double most) {
  std::vector<double> elements(static_cast<std::size_t>(*shape.volume()));
  for (double& x : elements) x = least + (most - least) * rng.uniform();
  Tensor t(shape, std::move(elements));
  if (dtype != DType::boolean) return t.cast(dtype);  // of indices from -1 to 1
  std::vector<Boolean> truth;
  for (double x : t.as<double>()) truth.push_back(x > 0 ? Boolean{1} : Boolean{0});
  return Tensor(shape, std::move(truth));
}

class Rules : public ::testing::TestWithParam<Case> {};

// loss = sum of result * weights.
TEST_P(Rules, AgreesWithDifferences) {
  const Case& c = GetParam();
  Rng rng(7);
  ops::Builder b("net");
  std::vector<graph::Edge> edges;
  std::vector<graph::ValueRef> wanted;
  NamedTensors inputs;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    const DType dtype = i < c.dtypes.size() ? c.dtypes[i] : DType::f64;
    names.push_back("x" + std::to_string(i));
    edges.emplace_back(b.input(names.back(), c.inputs[i], dtype));
    wanted.push_back(edges.back().source);
    inputs.emplace(names.back(), drawn(rng, c.inputs[i], dtype, c.least, c.most));
  }
  const auto y = b.named("y").op(c.op, edges, c.attrs);
  ASSERT_TRUE(b.status()) << b.status().failure().diagnostics().front().message;
  const Shape result = b.graph().type(y)->shape;
  const auto weights = b.named("weights").constant(drawn(rng, result, DType::f64, -1, 1));
  const auto weighted = b.named("weighted").multiply(y, weights);
  const auto loss = b.named("total").reduce_sum(weighted, {}, false);
  b.output("loss", loss);
  auto finished = b.finish();
  ASSERT_TRUE(finished);
  graph::Graph graph = std::move(*finished);
  const graph::ValueRef total(graph.find("total"));
  const graph::NodeId one = graph.add("one", std::string(graph::kConstantOp));
  graph.node(one).outputs = {*graph.type(total)};
  graph.node(one).value = graph::Value(Tensor::scalar(1.0));
  const Seed seed{total, one};
  auto gradients = differentiate(graph, {&seed, 1}, wanted);
  ASSERT_TRUE(gradients) << gradients.failure().diagnostics().front().message;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if ((*gradients)[i].valid()) graph.add("d" + names[i], std::string(graph::kOutputOp), {graph::Edge((*gradients)[i])});
  auto outputs = ops::evaluate_graph(graph, inputs);
  ASSERT_TRUE(outputs) << outputs.failure().diagnostics().front().message;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (inputs.at(names[i]).dtype() != DType::f64) continue;
    ASSERT_TRUE((*gradients)[i].valid());
    const Tensor& gradient = outputs->at("d" + names[i]);
    ASSERT_EQ(gradient.shape(), c.inputs[i]);
    const Tensor x = inputs.at(names[i]);
    for (std::size_t k = 0; k < x.size(); ++k) {
      constexpr double kStep = 1e-6;
      const auto loss_at = [&](double moved) {
        std::vector<double> elements(x.as<double>().begin(), x.as<double>().end());
        elements[k] += moved;
        NamedTensors changed = inputs;
        changed.insert_or_assign(names[i], Tensor(x.shape(), std::move(elements)));
        return ops::evaluate_graph(graph, changed)->at("loss").as<double>()[0];
      };
      const double slope = (loss_at(kStep) - loss_at(-kStep)) / (2 * kStep);
      ASSERT_NEAR(gradient.as<double>()[k], slope, 1e-6 * std::max(1.0, std::abs(slope))) << names[i] << " element " << k;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Each, Rules, ::testing::ValuesIn(cases()));

TEST(RuleTable, EveryRuleIsOfAnOpAndTested) {
  std::set<std::string> tested;
  for (const Case& c : cases()) tested.insert(c.op);
  for (const GradientRule& rule : all_rules()) {
    EXPECT_NE(ops::standard_ops().find(graph::Level::tensor, rule.op), nullptr) << rule.op;
    if (rule.rule == nullptr || rule.op == "cast" || rule.op == "exact_cast") continue;
    EXPECT_TRUE(tested.contains(std::string(rule.op))) << rule.op;
  }
}

}  // namespace
}  // namespace buda::autograd
