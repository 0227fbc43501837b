// SPDX-License-Identifier: Apache-2.0
// Recurrent networks: unrolled and lowered they mean what they meant.
#include "values.hpp"

namespace buda::passes {
namespace {

using graph::AttrMap;

struct Network {
  std::string op;
  std::int64_t steps = 3, batch = 2, input = 3, hidden = 4;
  AttrMap attrs = {};
  std::vector<std::int32_t> lengths = {};  // none: all steps, and known; else pushed
};

void expect_kept(const Network& net) {
  SCOPED_TRACE(net.op);
  Bench bench;
  bench.context.decompositions = &plugin_decompositions();
  Builder b("g");
  NamedTensors inputs;
  auto it = net.attrs.find("direction");
  std::int64_t directions = it != net.attrs.end() && std::get<std::string>(it->second) == "bidirectional" ? 2 : 1;
  std::int64_t width = (net.op == "lstm" ? 4 : net.op == "gru" ? 3 : 1) * net.hidden;
  auto pushed = [&](const std::string& name, Shape shape) -> Edge {
    inputs.emplace(name, varied(shape, 1 + inputs.size()));
    return b.input(name, shape);
  };
  auto weights = [&](const std::string& name, Shape shape) -> Edge { return b.parameter(name, varied(shape, name.size() + 40)); };
  Shape state{directions, net.batch, net.hidden};
  std::vector<Edge> in;
  in.push_back(pushed("x", {net.steps, net.batch, net.input}));
  in.push_back(weights("w", {directions, width, net.input}));
  in.push_back(weights("rr", {directions, width, net.hidden}));
  in.push_back(weights("bbb", {directions, 2 * width}));
  if (net.lengths.empty()) {
    in.emplace_back(b.constant(
        Tensor(Shape{net.batch}, std::vector<std::int32_t>(static_cast<std::size_t>(net.batch), static_cast<std::int32_t>(net.steps)))));
  } else {
    in.emplace_back(b.input("lengths", {net.batch}, DType::i32));
    inputs.emplace("lengths", Tensor(Shape{net.batch}, net.lengths));
  }
  in.push_back(pushed("h", state));
  if (net.op == "lstm") {
    in.push_back(pushed("c", state));
    in.push_back(weights("pppp", {directions, 3 * net.hidden}));
  }
  auto y = called(b, "net", b.op(net.op, in, net.attrs));
  std::size_t results = net.op == "lstm" ? 3 : 2;
  for (std::uint32_t i = 0; i < results; ++i) b.output(cat("y", i), ValueRef(y.node, i));
  Graph graph = finished(b);
  expect_equivalence(graph, bench, {&kDecompose, &kConstantFolding, &kLowerToDevice}, std::move(inputs));
}

TEST(Recurrent, EveryNetworkInEveryDirection) {
  for (const char* op : {"rnn", "lstm", "gru"})
    for (const char* direction : {"forward", "reverse", "bidirectional"}) {
      SCOPED_TRACE(direction);
      expect_kept({.op = op, .attrs = {{"direction", std::string(direction)}}});
      expect_kept({.op = op, .attrs = {{"direction", std::string(direction)}}, .lengths = {3, 1}});
    }
}

TEST(Recurrent, OneStepAndManyNumbers) {
  for (const char* op : {"rnn", "lstm", "gru"}) {
    expect_kept({.op = op, .steps = 1, .batch = 3, .input = 2, .hidden = 5});
    expect_kept({.op = op, .steps = 2, .batch = 1, .input = 40, .hidden = 33});
    expect_kept({.op = op, .steps = 2, .batch = 3, .lengths = {0, 2, 1}});
  }
}

TEST(Recurrent, Options) {
  expect_kept({.op = "lstm", .attrs = {{"input_forget", true}, {"clip", 0.5}}});
  expect_kept({.op = "lstm", .attrs = {{"cell_clip", 0.05}}});
  expect_kept({.op = "gru", .attrs = {{"linear_before_reset", true}}});
  expect_kept({.op = "gru", .attrs = {{"linear_before_reset", true}, {"direction", std::string("bidirectional")}}, .lengths = {1, 3}});
  for (const char* f : {"affine", "elu", "hard_sigmoid", "leaky_relu", "relu", "scaled_tanh", "sigmoid", "softplus", "softsign", "tanh",
                        "thresholded_relu"}) {
    SCOPED_TRACE(f);
    expect_kept({.op = "rnn", .attrs = {{"activations", std::vector<std::string>{f}}}});
  }
  expect_kept({.op = "rnn",
               .attrs = {{"activations", std::vector<std::string>{"scaled_tanh"}},
                         {"alpha", std::vector<double>{0.5}},
                         {"beta", std::vector<double>{2}}}});
}

TEST(Recurrent, LongSequencesAreLeftToTheHost) {
  Bench bench;
  bench.context.decompositions = &plugin_decompositions();
  Builder b("g");
  b.output("y", b.op("rnn", {b.input("x", {1000, 1, 2}), b.parameter("w", varied({1, 3, 2})), b.parameter("r", varied({1, 3, 3})),
                             b.parameter("b", varied({1, 6})), b.constant(Tensor(Shape{1}, std::vector<std::int32_t>{1000})),
                             b.constant(varied({1, 1, 3}))}));
  Graph graph = finished(b);
  bench.run(kDecompose, graph);
  EXPECT_NE(bench.error(kLowerToDevice, graph).find("no device op does this"), std::string::npos);
}

}  // namespace
}  // namespace buda::passes
