// SPDX-License-Identifier: Apache-2.0
// fracture: whatever is split computes the same, chains stay split, and what cannot be split says why.
#include "values.hpp"

#include <buda/graph/tags/constraint_tags.hpp>

#include <algorithm>
#include <functional>

namespace buda::passes {
namespace {

using FractureBuild = std::function<void(Builder&)>;
using Ints = std::vector<std::int64_t>;

FractureMember member(std::string name, std::int64_t axis, std::int64_t factor) { return {std::move(name), {{axis, false, factor}}}; }
FractureMember inner(std::string name, std::int64_t factor) { return {std::move(name), {{0, true, factor}}}; }

struct Fractures : Bench {
  Graph graph;
  explicit Fractures(const FractureBuild& build) {
    Builder b("g");
    build(b);
    graph = finished(b);
  }
  // The ops that are left, by name. Slices of parameters are folded.
  std::string split(FractureGroup group) {
    context.fractures = {std::move(group)};
    expect_equivalence(graph, *this, {&kFracture, &kConstantFolding, &kDeadCodeElimination});
    std::vector<std::string> lines;
    for (NodeId id : graph.topological_order()) {
      const Node& n = graph.node(id);
      if (n.is_op()) lines.push_back(cat(n.name(), '=', n.op()));
    }
    std::sort(lines.begin(), lines.end());
    return buda::join(lines, " ");
  }
  std::string refusal(FractureGroup group) {
    context.fractures = {std::move(group)};
    Graph copy = graph;
    auto report = run_pass(kFracture, copy, context);
    if (report) return "no error";
    const Diagnostic& d = report.failure().diagnostics().front();
    EXPECT_EQ(d.code, "PA071");
    return cat(d.message, " | ", d.hint);
  }
};

void perceptron(Builder& b) {
  auto x = b.input("x", {6, 8});
  auto fc1 = called(b, "fc1", b.matmul(x, b.parameter("w", varied({8, 12})), b.parameter("c", varied({12}, 2))));
  auto act = called(b, "act", b.relu(fc1));
  auto fc2 = called(b, "fc2", b.matmul(act, b.parameter("v", varied({12, 4}, 3)), b.parameter("d", varied({4}, 4))));
  b.output("y", fc2);
}

TEST(Fracture, AChainStaysSplitUntilTheSum) {
  Fractures f(perceptron);
  EXPECT_EQ(f.split({member("fc1", -1, 2), member("act", -1, 2), inner("fc2", 2)}),
            "act.part.0=relu act.part.1=relu fc1.part.0=matmul fc1.part.1=matmul fc2.part.0=matmul fc2.part.1=matmul fc2=add");
  // The bias is added once, and each part has its own weights.
  EXPECT_EQ(f.graph.node(f.graph.find("fc2.part.0")).inputs().size(), 3u);
  EXPECT_EQ(f.graph.node(f.graph.find("fc2.part.1")).inputs().size(), 2u);
  EXPECT_EQ(f.graph.node(f.graph.find("v.part.1")).outputs[0].shape, (Shape{6, 4}));
}

TEST(Fracture, WhatIsNotInTheGroupSeesTheWhole) {
  Fractures f(perceptron);
  EXPECT_EQ(f.split({member("fc1", -1, 3)}), "act=relu fc1.part.0=matmul fc1.part.1=matmul fc1.part.2=matmul fc1=concatenate fc2=matmul");
}

TEST(Fracture, OtherPartsThanTheProducersAreCutOutOfTheWhole) {
  Fractures f(perceptron);
  EXPECT_EQ(f.split({member("fc1", -1, 2), member("act", -2, 2)}),
            "act.part.0=relu act.part.1=relu act=concatenate fc1.part.0.1=slice fc1.part.0=matmul fc1.part.1.1=slice fc1.part.1=matmul "
            "fc1=concatenate fc2=matmul");
}

TEST(Fracture, AnInputIsCutOnceForAll) {
  Fractures f([](Builder& b) {
    auto x = b.input("x", {4, 6});
    b.output("y", b.add(called(b, "a", b.exp(x)), called(b, "b", b.tanh(x))));
  });
  EXPECT_EQ(
      f.split({member("a", 0, 2), member("b", 0, 2), member("add", 0, 2)}),
      "a.part.0=exp a.part.1=exp add.part.0=add add.part.1=add add=concatenate b.part.0=tanh b.part.1=tanh x.part.0=slice x.part.1=slice");
}

TEST(Fracture, AlongTwoAxes) {
  Fractures f(perceptron);
  FractureGroup group{{"fc1", {{-2, false, 2}, {-1, false, 2}}}, {"act", {{-2, false, 2}, {-1, false, 2}}}};
  std::string ops = f.split(group);
  EXPECT_NE(ops.find("act.part.1.part.1=relu"), std::string::npos) << ops;
  // Both relus of a row half read what their products give: nothing is put together in between.
  EXPECT_EQ(ops.find("fc1=concatenate"), std::string::npos) << ops;
  EXPECT_EQ(ops.find("fc1.part.0=concatenate"), std::string::npos) << ops;
}

TEST(Fracture, AMovementBetweenIsCopiedForEachPart) {
  Fractures f([](Builder& b) {
    auto x = b.input("x", {5, 12});
    auto q = called(b, "q", b.matmul(x, b.parameter("wq", varied({12, 12}))));
    auto k = called(b, "k", b.matmul(x, b.parameter("wk", varied({12, 12}, 2))));
    auto heads = [&](Edge e) { return b.transpose(b.reshape(e, {5, 4, 3}), {1, 0, 2}); };
    auto turned = b.transpose(heads(k), {0, 2, 1});
    auto scores = called(b, "scores", b.matmul(heads(q), turned));
    b.output("y", called(b, "p", b.softmax(scores, -1)));
  });
  std::string ops = f.split({member("q", -1, 2), member("k", -1, 2), member("scores", 0, 2), member("p", 0, 2)});
  EXPECT_EQ(ops.find("slice"), std::string::npos) << ops;
  EXPECT_NE(ops.find("p=concatenate"), std::string::npos) << ops;
  EXPECT_EQ(ops.find("q=concatenate"), std::string::npos) << ops;
  EXPECT_EQ(f.graph.type(ValueRef(f.graph.find("scores.part.1")))->shape, (Shape{2, 5, 5}));
}

TEST(Fracture, SeveralOutputsOfAGroupAreWhole) {
  Fractures f([](Builder& b) {
    auto x = b.input("x", {4, 6});
    auto a = called(b, "a", b.exp(x));
    b.output("a", a);
    b.output("y", called(b, "b", b.tanh(a)));
  });
  std::string ops = f.split({member("a", -1, 3), member("b", -1, 3)});
  EXPECT_NE(ops.find("a=concatenate"), std::string::npos) << ops;
  EXPECT_NE(ops.find("b=concatenate"), std::string::npos) << ops;
}

TEST(Fracture, NamesMayBeExpressionsOrThoseOfTheModel) {
  Fractures f(perceptron);
  f.graph.node(f.graph.find("act")).origins = {{"m.onnx", "Relu_1"}};
  EXPECT_EQ(f.split({member("fc[0-9]", -2, 2), member("Relu_1", -2, 2)}),
            "act.part.0=relu act.part.1=relu fc1.part.0=matmul fc1.part.1=matmul fc2.part.0=matmul fc2.part.1=matmul fc2=concatenate "
            "x.part.0=slice x.part.1=slice");
  f.context.fractures = {{member("nothing", 0, 2)}};
  f.run(kFracture, f.graph);
  ASSERT_EQ(f.sink.diagnostics().size(), 1u);
  EXPECT_EQ(f.sink.diagnostics().front().code, "PA072");
}

// Part by part; what puts parts together goes with the last one.
TEST(Fracture, PartsHaveTheChipsOfTheirGroup) {
  Fractures f(perceptron);
  FractureMember both{"fc1", {{-2, false, 2}, {-1, false, 2}}, {3, 5}}, sum = inner("fc2", 2);
  sum.chips = {3, 5};
  f.context.fractures = {{both, member("act", -1, 2), sum}};
  ASSERT_TRUE(run_pass(kFracture, f.graph, f.context).ok());
  std::string chips;
  for (graph::NodeId id : f.graph.topological_order())
    if (const auto chip = graph::chip_of(f.graph.node(id)); chip.ok() && *chip)
      chips += cat(chips.empty() ? "" : " ", f.graph.node(id).name(), '=', **chip);
  EXPECT_EQ(
      chips,
      "fc1.part.0.part.0=3 fc1.part.0.part.1=5 fc1.part.0=5 fc1.part.1.part.0=3 fc1.part.1.part.1=5 fc1.part.1=5 fc1=5 fc1.part.0.1=5 "
      "fc1.part.1.1=5 fc2.part.0=3 fc2.part.1=5 fc2=5");
}

TEST(Fracture, WhatCannotBeSplitSaysWhy) {
  Fractures f([](Builder& b) {
    perceptron(b);
    b.output("s", called(b, "s", b.softmax(b.input("z", {10, 6}), -1)));
  });
  EXPECT_EQ(f.refusal({member("fc1", -1, 5)}),
            "op 'fc1' (matmul) cannot be fractured: axis -1 has size 12, which cannot be divided into 5 parts | factors that divide it: 2, "
            "3, 4, 6, 12");
  EXPECT_EQ(f.refusal({member("s", -1, 2)}),
            "op 's' (softmax) cannot be fractured: axis -1 of size 6 cannot be split into 2 parts, because softmax combines the elements "
            "along this axis | into 2 parts it can be split along -2");
  EXPECT_EQ(f.refusal({member("s", 2, 2)}),
            "op 's' (softmax) cannot be fractured: its result, [10, 6], has no axis 2 | into 2 parts it can be split along -2");
  EXPECT_EQ(
      f.refusal({inner("act", 2)}),
      "op 'act' (relu) cannot be fractured: the inner dimension (k) cannot be split into 2 parts, because ops of type relu have no inner "
      "dimension; products of matrices and convolutions without groups have one | into 2 parts it can be split along -2, -1");
  EXPECT_EQ(f.refusal({member("act", 0, 2), member("act", 1, 2)}),
            "op 'act' (relu) cannot be fractured: fracture groups 1 and 1 split it in different ways | name it once, with all axes: [NAME, "
            "[-2, -1], [2, 2]]");
}

// Every op with a rule, along each of its axes and its inner dimension: it is refused, or computes the same.
TEST(Fracture, EveryOpAlongEveryAxisIsRefusedOrKeepsItsMeaning) {
  auto x = [](Builder& b) { return b.input("x", {4, 6, 8}); };
  auto image = [](Builder& b) { return b.input("x", {2, 4, 6, 6}); };
  auto weights = [](Builder& b, Shape shape) { return b.parameter(b.graph().fresh_name("w"), varied(std::move(shape))); };
  std::vector<std::pair<const char*, std::function<ValueRef(Builder&)>>> cases = {
      {"matmul",
       [&](Builder& b) {
         return b.matmul(x(b), weights(b, {8, 10}), weights(b, {10}));
       }},
      {"batched",
       [&](Builder& b) {
         return b.matmul(x(b), b.input("y", {4, 8, 2}));
       }},
      {"broadcast batch",
       [&](Builder& b) {
         return b.matmul(x(b), b.input("y", {1, 8, 2}));
       }},
      {"gemm",
       [&](Builder& b) {
         return b.gemm(b.input("x", {6, 4}), weights(b, {8, 6}), weights(b, {1, 8}), {{"trans_a", true}, {"trans_b", true}, {"beta", 0.5}});
       }},
      {"conv",
       [&](Builder& b) {
         return b.conv2d(image(b), weights(b, {6, 4, 3, 3}), weights(b, {6}), {{"padding", Ints{1, 1, 1, 1}}});
       }},
      {"grouped",
       [&](Builder& b) {
         return b.conv2d(image(b), weights(b, {8, 2, 3, 3}), {{"groups", std::int64_t{2}}});
       }},
      {"add",
       [&](Builder& b) {
         return b.add(x(b), weights(b, {6, 1}));
       }},
      {"where",
       [&](Builder& b) {
         return b.op("where", {b.input("c", {6, 8}, DType::boolean), x(b), weights(b, {1})});
       }},
      {"softmax", [&](Builder& b) { return b.softmax(x(b), 1); }},
      {"layernorm", [&](Builder& b) { return b.layernorm(x(b), weights(b, {8}), weights(b, {8})); }},
      {"batchnorm",
       [&](Builder& b) {
         return b.op("batchnorm", {image(b), weights(b, {4}), weights(b, {4}), weights(b, {4}), b.parameter("v", f32({4}, {1, 2, 3, 4}))});
       }},
      {"pool",
       [&](Builder& b) {
         return b.max_pool2d(image(b), {2, 2});
       }},
      {"sum", [&](Builder& b) { return b.reduce_sum(x(b), {1}, false); }},
      {"maximum", [&](Builder& b) { return b.reduce_max(x(b), {-1}); }},
      {"transpose",
       [&](Builder& b) {
         return b.transpose(x(b), {2, 0, 1});
       }},
      {"reshape",
       [&](Builder& b) {
         return b.reshape(x(b), {4, 3, 2, 8});
       }},
      {"joined",
       [&](Builder& b) {
         return b.reshape(x(b), {24, 8});
       }},
      {"squeeze",
       [&](Builder& b) {
         return b.squeeze(b.input("x", {1, 4, 1, 6}), {0, 2});
       }},
      {"unsqueeze", [&](Builder& b) { return b.unsqueeze(x(b), {1}); }},
      {"broadcast",
       [&](Builder& b) {
         return b.broadcast(b.input("x", {6, 1}), {4, 6, 8});
       }},
      {"concatenate",
       [&](Builder& b) {
         return b.concatenate({x(b), b.input("y", {4, 2, 8})}, 1);
       }},
      {"slice", [&](Builder& b) { return b.slice(x(b), 1, 1, 5); }},
      {"pad",
       [&](Builder& b) {
         return b.pad(x(b), {0, 1, 0}, {0, 1, 0});
       }},
      {"gather", [&](Builder& b) {
         return b.op("gather", {x(b), b.constant(Tensor(Shape{2, 2}, std::vector<std::int64_t>{0, 5, 3, 1}))}, {{"dim", std::int64_t{1}}});
       }}};
  int kept = 0, refused = 0;
  for (const auto& [name, build] : cases) {
    SCOPED_TRACE(name);
    Builder probe("g");
    ValueRef built = build(probe);
    ASSERT_TRUE(probe.status().ok()) << Bench::message(probe.status().failure());
    const std::size_t rank = probe.graph().type(built)->shape.rank();
    for (std::size_t axis = 0; axis <= rank; ++axis) {
      SCOPED_TRACE(cat("axis ", axis));
      Fractures f([&, make = build](Builder& b) { b.output("out", called(b, "op", make(b))); });
      FractureMember m = axis == rank ? inner("op", 2) : member("op", static_cast<std::int64_t>(axis), 2);
      if (f.refusal({m}) != "no error") {
        ++refused;
        continue;
      }
      f.split({m});
      EXPECT_TRUE(f.graph.find("op.part.1").valid());
      ++kept;
    }
  }
  EXPECT_EQ(kept, 65);
  EXPECT_EQ(refused, 34);
}

}  // namespace
}  // namespace buda::passes
