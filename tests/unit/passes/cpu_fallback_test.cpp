// SPDX-License-Identifier: Apache-2.0
// cpu-fallback and lowering in part: which ops go to the host, what goes along, and that the mixed graph computes the same.
#include "values.hpp"

#include <buda/graph/file/graph_file.hpp>
#include <buda/graph/tags/placement.hpp>
#include <buda/ops/table/registry.hpp>
#include <buda/passes/host/cpu_fallback.hpp>
#include <buda/passes/host/host_part.hpp>
#include <buda/passes/host/op_words.hpp>
#include <buda/passes/integers/digit_parts.hpp>

#include <gmock/gmock.h>

#include <functional>

namespace buda::passes {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Without decompositions the device knows no softmax.
struct Fallback : Bench {
  static std::string host_ops(const Graph& g) {
    std::vector<std::string> names;
    for (NodeId id : g.topological_order())
      if (g.node(id).is_op() && graph::on_host(g.node(id))) names.push_back(g.node(id).name());
    return join(names, " ");
  }

  // Names of the ops that go to the host; the lowered graph must mean the same.
  std::string chosen(const std::function<void(Builder&)>& build, const NamedForHost& named = {}) {
    Builder b("g");
    build(b);
    graph = finished(b);
    auto marked = mark_for_host(graph, named);
    EXPECT_TRUE(marked.ok()) << message(marked.failure());
    auto inputs = random_inputs(graph, 1);
    EquivalenceCheck check(host, ops::standard_ops());
    EXPECT_TRUE(check.start(graph, *inputs).ok());
    report = run(kCpuFallback, graph);
    std::string names = host_ops(graph);
    run(kLowerToDevice, graph);
    auto same = check.after(graph, "lower-to-device");
    EXPECT_TRUE(same.ok()) << message(same.failure()) << '\n' << listing(graph);
    return names;
  }

  std::string warnings() const {
    std::vector<std::string> out;
    for (const Diagnostic& d : sink.diagnostics()) out.push_back(cat(d.code, ": ", d.message));
    return join(out, "\n");
  }

  Graph graph;
  PassReport report;
};

Builder::Ref layer(Builder& b, const std::string& name, Edge x) {
  auto w = b.parameter(name + ".w", varied({40, 40}, name.size()));
  return called(b, name, b.matmul(x, w));
}

void embedding_model(Builder& b) {
  auto ids = b.input("ids", {2, 5}, DType::i64);
  auto table = b.parameter("table", varied({7, 40}));
  auto rows = called(b, "rows", b.op("gather", {table, ids}, {{"dim", std::int64_t{0}}}));
  b.output("y", layer(b, "fc", rows));
}

// A device that is left to move data is not worth the way to it, unless the host only splits integers for it.
TEST(CpuFallback, MovementsOfDigitsStay) {
  for (const bool digits : {true, false}) {
    Fallback f;
    const auto build = [digits](Builder& b) {
      auto x = b.input("x", {37, 40});
      auto split = called(b, "split", b.op("abs", {x}));
      graph::put_on_host(b.node(split));
      if (digits) b.node(split).tags[kDigits] = "1024";
      b.output("y", called(b, "moved", b.op("transpose", {split}, {{"perm", std::vector<std::int64_t>{1, 0}}})));
    };
    EXPECT_EQ(f.chosen(build), digits ? "split" : "split moved");
  }
}

// Which look-ups in a table of this type the name means.
std::string embeddings(DType type, std::int64_t rows, bool quantised = false) {
  Bench bench;
  Builder b("g");
  auto ids = b.input("ids", {5}, DType::i64);
  std::vector<float> numbers(static_cast<std::size_t>(2 * rows), 3.0f);
  auto table = b.constant(Tensor(Shape{rows, 2}, std::move(numbers)).cast(type));
  auto found = called(b, "rows", b.op("gather", {table, ids}, {{"dim", std::int64_t{0}}}));
  if (quantised) {
    auto scale = b.constant(Tensor(Shape{}, std::vector<float>{0.5f}));
    auto zero = b.constant(Tensor(Shape{}, std::vector<float>{0.0f}).cast(type));
    b.output("y", b.op("dequantize", {found, scale, zero}));
  } else {
    b.output("y", found);
  }
  Graph graph = finished(b);
  EXPECT_TRUE(mark_for_host(graph, {{"embedding"}, {}}).ok());
  return Fallback::host_ops(graph);
}

TEST(CpuFallback, ListsOfIntegersAreNoEmbeddings) {
  EXPECT_EQ(embeddings(DType::f32, 97), "rows");
  EXPECT_EQ(embeddings(DType::i64, 97), "");
  EXPECT_EQ(embeddings(DType::i64, 5003), "rows") << "too many to be compared";
  EXPECT_EQ(embeddings(DType::i8, 97), "");
  EXPECT_EQ(embeddings(DType::i8, 97, true), "rows") << "they stand for floats";
}

TEST(CpuFallback, LookUpsGoToTheHostByName) {
  Fallback f;
  EXPECT_EQ(f.chosen(embedding_model, {{"embedding"}, {}}), "rows");
  EXPECT_EQ(f.warnings(), "") << "what the user names needs no warning";
  EXPECT_EQ(f.report.note, "1 of 2 ops run on the host: 1 named (gather)");
  NodeId crossing = f.graph.find("rows.to_device");
  ASSERT_TRUE(crossing.valid());
  EXPECT_EQ(f.graph.node(crossing).op(), "to_device");
  EXPECT_EQ(f.graph.node(crossing).outputs[0].shape, (Shape{1, 2, 32, 64}));
  EXPECT_EQ(f.graph.node(f.graph.find("ids")).outputs[0].dtype, DType::i64) << "an input of the host is as the model has it";
  EXPECT_TRUE(graph::is_mixed(f.graph));
}

TEST(CpuFallback, WhatLoweringRefusesGoesWithOneWarningForEachType) {
  Fallback f;
  auto model = [](Builder& b) {
    auto x = b.input("x", {5, 40});
    auto s = called(b, "s", b.softmax(x, 1));
    auto t = called(b, "t", b.softmax(s, 0));
    auto y = layer(b, "a", t);
    b.output("y", layer(b, "b", layer(b, "c", y)));
  };
  EXPECT_EQ(f.chosen(model), "s t");
  EXPECT_THAT(f.warnings(), HasSubstr("PA060: 'softmax' runs on the host (2 nodes): node 's' (softmax, F32 [5, 40]"));
  EXPECT_EQ(f.sink.diagnostics().size(), 1u);
}

// Three ops before and one behind, and the other way round; none of them is a product.
TEST(CpuFallback, TheShorterSideGoesAlong) {
  Fallback f;
  auto op = [](Builder& b, const std::string& name, Edge x) { return called(b, name, b.tanh(x)); };
  auto late = [&](Builder& b) {
    auto x = b.input("x", {5, 40});
    auto s = called(b, "s", b.softmax(op(b, "c", op(b, "b", op(b, "a", x))), 1));
    b.output("y", op(b, "d", s));
  };
  EXPECT_EQ(f.chosen(late), "s d");
  EXPECT_TRUE(f.graph.find("c.to_host").valid());
  auto early = [&](Builder& b) {
    auto x = b.input("x", {5, 40});
    auto s = called(b, "s", b.softmax(op(b, "a", x), 1));
    b.output("y", op(b, "d", op(b, "c", op(b, "b", s))));
  };
  EXPECT_EQ(f.chosen(early), "a s");
  EXPECT_TRUE(f.graph.find("s.to_device").valid());
  auto middle = [&](Builder& b) {
    auto x = b.input("x", {5, 40});
    b.output("y", op(b, "b", called(b, "s", b.softmax(op(b, "a", x), 1))));
  };
  EXPECT_EQ(f.chosen(middle), "a s") << "of equal lists the one before";
  auto long_side = [&](Builder& b) {
    auto x = b.input("x", {5, 40});
    auto s = called(b, "s", b.softmax(op(b, "c", op(b, "b", op(b, "a", x))), 1));
    b.output("y", layer(b, "d", s));
  };
  EXPECT_EQ(f.chosen(long_side), "a b c s") << "the side without a product, even if it is longer";
}

// Products on both sides stay where they are.
TEST(CpuFallback, TheDeviceRunsBeforeAndBehind) {
  Fallback f;
  auto model = [](Builder& b) {
    auto x = b.input("x", {5, 40});
    auto a = layer(b, "a", x);
    auto s = called(b, "s", b.softmax(a, 1));
    // Takes what the first segment made and an input of both; between the two softmaxes is only an op that is not worth the ways.
    auto t = called(b, "t", b.softmax(called(b, "r", b.relu(s)), 0));
    auto y = called(b, "sum", b.add(layer(b, "b", t), b.add(a, x)));
    b.output("y", y);
    b.output("a", a);
  };
  EXPECT_EQ(f.chosen(model), "s r t");
  EXPECT_EQ(f.graph.node(f.graph.find("t.to_device")).tags.at(graph::kSegment), "1");
  EXPECT_EQ(f.graph.node(f.graph.find("add.to_device")).inputs()[0].source.node, f.graph.find("add.to_host")) << "through the host";
  EXPECT_THAT(f.report.note, HasSubstr("; the device runs in 2 segments"));
}

TEST(CpuFallback, BothSidesOfTheDeviceAtOnce) {
  Fallback f;
  auto model = [](Builder& b) {
    auto x = b.input("x", {5, 40});
    auto s = called(b, "s", b.softmax(x, 1));
    auto y = layer(b, "c", layer(b, "b", layer(b, "a", s)));
    auto t = called(b, "t", b.softmax(y, 1));
    // Needs what the host made before.
    b.output("y", called(b, "sum", b.add(t, s)));
    b.output("z", called(b, "z", b.relu(y)));
  };
  EXPECT_EQ(f.chosen(model), "s t sum");
  EXPECT_EQ(f.graph.outputs().size(), 2u);
  EXPECT_EQ(f.graph.node(f.graph.outputs()[0]).name(), "y") << "in the model's order";
}

TEST(CpuFallback, OpsThatShareAParameterGoToo) {
  Fallback f;
  auto tied = [](Builder& b) {
    auto ids = b.input("ids", {5}, DType::i64);
    auto table = b.parameter("table", varied({40, 40}));
    auto rows = called(b, "rows", b.op("gather", {table, ids}, {{"dim", std::int64_t{0}}}));
    auto y = layer(b, "c", layer(b, "b", layer(b, "a", rows)));
    b.output("y", called(b, "head", b.matmul(y, table)));
  };
  EXPECT_EQ(f.chosen(tied, {{"embedding"}, {}}), "rows head");
  EXPECT_THAT(f.report.note, HasSubstr("1 that share a parameter (matmul)"));
}

TEST(CpuFallback, ByNodeAndByTheWordsOfRelay) {
  Fallback f;
  auto model = [](Builder& b) {
    auto x = b.input("x", {5, 40});
    auto y = called(b, "r", b.relu(layer(b, "a", x)));
    auto t = called(b, "t", b.transpose(layer(b, "c", y), {1, 0}));
    b.output("y", t);
  };
  EXPECT_EQ(f.chosen(model, {{}, {"t"}}), "t");
  EXPECT_EQ(f.chosen(model, {{"nn.relu"}, {}}), "r") << "between two products";
  EXPECT_EQ(f.chosen(model, {{"nn.dense"}, {}}), "a r c t") << "all products, and nothing but movement is left";
  Graph graph = f.graph;
  auto unknown = mark_for_host(graph, {{"sotfmax"}, {}});
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(Bench::message(unknown.failure()), "PA062: no op is called 'sotfmax'");
  EXPECT_THAT(unknown.failure().diagnostics()[0].hint, HasSubstr("softmax"));
  auto left = mark_for_host(graph, {{}, {"nobody", "r"}});
  ASSERT_TRUE(left.ok());
  EXPECT_THAT(*left, ElementsAre("nobody"));
}

// A decomposition may have made them after the user's names were looked for first.
TEST(CpuFallback, ByNamesThatComeIntoBeing) {
  Fallback f;
  f.context.fallback.nodes = {"t.picked.1", "c.w.picked", "nobody"};
  auto model = [](Builder& b) {
    auto y = called(b, "r", b.relu(layer(b, "a", b.input("x", {5, 40}))));
    b.output("y", called(b, "t", b.transpose(layer(b, "c", y), {1, 0})));
  };
  EXPECT_EQ(f.chosen(model), "t");
  EXPECT_EQ(f.warnings(),
            "PA061: the graph has no op 'c.w.picked', which should go to the host\n"
            "PA061: the graph has no op 'nobody', which should go to the host");
}

TEST(CpuFallback, OpsHaveTheWordsOfAllFrameworks) {
  using Ops = std::vector<std::string>;
  for (const char* word : {"nn.conv2d", "conv2d", "aten::conv2d", "CONV_2D", "Conv2D", "tf.Conv2D"})
    EXPECT_EQ(tensor_ops_of(word), Ops{"conv2d"}) << word;
  const Ops convolutions{"conv1d", "conv2d", "conv3d"};
  for (const char* word : {"conv", "Conv", "aten::convolution", "stablehlo.convolution"})
    EXPECT_EQ(tensor_ops_of(word), convolutions) << word;
  EXPECT_EQ(tensor_ops_of("ConvTranspose"), (Ops{"conv1d_transpose", "conv2d_transpose", "conv3d_transpose"}));
  EXPECT_EQ(tensor_ops_of("nn.softmax"), Ops{"softmax"});
  EXPECT_EQ(tensor_ops_of("take"), Ops{"gather"});
  EXPECT_EQ(tensor_ops_of("cumsum"), Ops{"cumsum"});
  EXPECT_EQ(tensor_ops_of("BatchMatMulV2"), Ops{"matmul"});
  EXPECT_EQ(tensor_ops_of("LayerNormalization"), Ops{"layernorm"});
  EXPECT_EQ(tensor_ops_of("embedding"), Ops{"embedding"});
  EXPECT_EQ(tensor_ops_of("nonsense"), Ops{});
  EXPECT_EQ(tensor_ops_of(""), Ops{});
  EXPECT_EQ(nearest_op_word("Conw2D"), "conv2d");
  EXPECT_EQ(nearest_op_word("full_conected"), "fullyconnected");
}

TEST(CpuFallback, AllWordsOfOtherFrameworksAreForOpsThatThereAre) {
  for (const char* word :
       {"max", "sum", "mod", "avgpool", "maxpool", "linear", "notequal", "index", "hstack", "hardswish", "upsampling", "trilu"})
    for (const std::string& op : tensor_ops_of(word))
      EXPECT_NE(ops::standard_ops().find(graph::Level::tensor, op), nullptr) << word << ": " << op;
}

TEST(CpuFallback, AModelThatTheDeviceCannotTouch) {
  Fallback f;
  auto model = [](Builder& b) {
    auto x = b.input("x", {0, 4});
    b.output("y", called(b, "t", b.transpose(x, {1, 0})));
    b.output("x", x);
    b.output("c", b.constant(Tensor(Shape{0}, std::vector<float>())));
  };
  EXPECT_EQ(f.chosen(model), "t") << "a value without elements";
  EXPECT_EQ(f.graph.level, graph::Level::device);
  for (NodeId id : f.graph.ids()) EXPECT_TRUE(graph::on_host(f.graph, f.graph.node(id))) << f.graph.node(id).name();
}

TEST(CpuFallback, NothingToDoChangesNothing) {
  Fallback f;
  auto model = [](Builder& b) { b.output("y", layer(b, "a", b.input("x", {5, 40}))); };
  EXPECT_EQ(f.chosen(model), "");
  EXPECT_EQ(f.report.rewrites, 0u);
  EXPECT_EQ(f.report.note, "");
  EXPECT_FALSE(graph::is_mixed(f.graph));
}

TEST(CpuFallback, SwitchedOffTheRefusalIsAnError) {
  Fallback f;
  f.context.fallback.enabled = false;
  Builder b("g");
  b.output("y", called(b, "s", b.softmax(b.input("x", {5, 40}), 1)));
  Graph graph = finished(b);
  EXPECT_EQ(f.run(kCpuFallback, graph).rewrites, 0u);
  EXPECT_THAT(f.error(kLowerToDevice, graph), HasSubstr("PA020"));
}

// x -> transpose -> exp -> matmul -> relu -> transpose -> y
void movements(Builder& b) {
  auto x = b.input("x", {40, 5});
  auto e = called(b, "e", b.exp(called(b, "t", b.transpose(x, {1, 0}))));
  auto y = called(b, "r", b.relu(layer(b, "a", e)));
  b.output("y", called(b, "v", b.transpose(y, {1, 0})));
}

TEST(CpuFallback, MovementsNearInputsAndOutputsWhenAsked) {
  Fallback f;
  EXPECT_EQ(f.chosen(movements), "");
  f.context.fallback.movement = true;
  EXPECT_EQ(f.chosen(movements), "t v") << "the exp alone is not worth it";
}

TEST(CpuFallback, LightOpsGoWhenMoreMovementsFollow) {
  Fallback f;
  f.context.fallback.movement = true;
  auto model = [](Builder& b) {
    auto x = b.input("x", {40, 5});
    auto e = called(b, "e", b.exp(called(b, "t", b.transpose(x, {1, 0}))));
    auto u = called(b, "u", b.transpose(e, {1, 0}));
    auto w = b.parameter("w", varied({5, 8}));
    auto y = called(b, "r", b.relu(called(b, "a", b.matmul(u, w))));
    auto z = called(b, "v", b.transpose(y, {1, 0}));
    b.output("y", called(b, "q", b.relu(z)));
  };
  EXPECT_EQ(f.chosen(model), "t e u v q");
  EXPECT_THAT(f.report.note, HasSubstr("5 near inputs and outputs (exp, relu, transpose x3)"));
  f.context.fallback.most_depth = 1;
  EXPECT_EQ(f.chosen(model), "t v q") << "the second transpose has two ops before it";
  f.context.fallback.most_depth = 0;
  EXPECT_EQ(f.chosen(model), "t") << "the last one has an op behind it";
}

TEST(CpuFallback, MixedGraphsGoThroughFilesAndLaterPasses) {
  Fallback f;
  EXPECT_EQ(f.chosen(embedding_model, {{"embedding"}, {}}), "rows");
  auto inputs = random_inputs(f.graph, 3);
  NamedTensors expected = evaluated(f.graph, *inputs);
  for (const Pass* pass : {&kCommonSubexpressionElimination, &kFuseRelu, &kAssignFormats, &kDeadCodeElimination}) f.run(*pass, f.graph);
  NodeId rows = f.graph.find("rows"), crossing = f.graph.find("rows.to_device");
  EXPECT_FALSE(f.graph.node(rows).outputs[0].format) << "values of the host have none";
  EXPECT_EQ(f.graph.node(crossing).outputs[0].format, DataFormat::float16_b);
  ASSERT_TRUE(graph::write_graph(f.fs, f.graph, "m.json").ok());
  auto read = graph::read_graph(f.fs, "m.json");
  ASSERT_TRUE(read.ok()) << Bench::message(read.failure());
  EXPECT_EQ(listing(*read), listing(f.graph));
  EXPECT_EQ(evaluated(*read, *inputs), expected);
}

TEST(CpuFallback, RandomChainsAndForksKeepTheirMeaning) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Fallback f;
    Rng rng(seed);
    f.context.fallback.movement = rng.below(2) == 0;
    std::size_t count = 3 + rng.below(12);
    f.chosen([&](Builder& b) {
      std::vector<ValueRef> values = {b.input("x", {6, 40}), b.input("z", {6, 40})};
      for (std::size_t i = 0; i < count; ++i) {
        Edge x = values[rng.below(values.size())], y = values[rng.below(values.size())];
        std::string name = cat("n", i);
        switch (rng.below(6)) {
          case 0:
            values.push_back(called(b, name, b.softmax(x, 1)));
            break;
          case 1:
            values.push_back(layer(b, name, x));
            break;
          case 2:
            values.push_back(called(b, name, b.reshape(b.transpose(x, {1, 0}), {6, 40})));
            break;
          case 3:
            values.push_back(called(b, name, b.maximum(x, b.constant(varied({40}, i)))));
            break;
          case 4:
            values.push_back(called(b, name, b.tanh(x)));
            break;
          default:
            values.push_back(called(b, name, b.multiply(x, y)));
        }
      }
      b.output("y", values.back());
      b.output("w", values[values.size() / 2]);
    });
    if (::testing::Test::HasFailure()) FAIL() << "seed " << seed;
  }
}

}  // namespace
}  // namespace buda::passes
