// SPDX-License-Identifier: Apache-2.0
// lower-to-device: reductions, softmax and layernorm in spite of padding.
#include "lowering_harness.hpp"

namespace buda::passes {
namespace {

TEST(LowerReduce, EveryAxisAndAlignment) {
  for (const char* op : {"reduce_max", "reduce_sum", "reduce_avg"})
    for (Shape shape : {Shape{2, 3, 40, 50}, Shape{1, 4, 64, 64}, Shape{2, 1, 32, 10}, Shape{7, 5}, Shape{33}})
      for (std::vector<std::int64_t> dims : {std::vector<std::int64_t>{-1}, {-2}, {-3}, {-1, -2}, {-1, -3}, {-2, -3}, {-1, -2, -3}})
        for (bool keep : {true, false}) {
          auto deepest = *std::min_element(dims.begin(), dims.end());
          if (-deepest > static_cast<std::int64_t>(shape.rank())) continue;
          auto build = [&](Builder& b) {
            auto x = called(b, "e", b.exp(b.input("x", shape)));  // ones in the padding
            auto r = called(b, "r", b.op(op, {x}, {{"dims", dims}, {"keep_dims", keep}}));
            b.output("y", r);
            if (keep) b.output("z", b.subtract(x, r));
          };
          Lowerer l;
          Builder b("g");
          build(b);
          Graph graph = finished(b);
          auto report = run_pass(kLowerToDevice, graph, l.context);
          if (!report) {
            EXPECT_FALSE(keep) << Bench::message(report.failure());
            EXPECT_NE(Bench::message(report.failure()).find("the inputs of a batch"), std::string::npos)
                << Bench::message(report.failure());
            continue;
          }
          l.lowered(build);
        }
}

TEST(LowerReduce, MaximumOfNegativeNumbers) {
  Lowerer l;
  NamedTensors inputs = {{"x", f32({2, 3}, {-5, -4, -6, -100000, -200000, -300000})}};
  Graph graph = l.lowered(
      [](Builder& b) {
        b.output("y", called(b, "m", b.reduce_max(called(b, "e", b.negative(b.abs(b.input("x", {2, 3})))), {1})));
      },
      inputs);
  EXPECT_EQ(ops_of(graph), "abs multiply add reduce");
  NamedTensors out = evaluated(graph, inputs);
  EXPECT_EQ(out.at("y").as<float>()[0], -4);
  EXPECT_EQ(out.at("y").as<float>()[1], -100000);
  EXPECT_TRUE(graph.node(graph.find("m.masked")).tags.contains(kWideRange));
}

TEST(LowerReduce, MaximumOfHalfFloats) {
  // 20000 in the padding is too much to be added to the very negative number of their mask.
  Lowerer l;
  auto number = [](float v) { return f32({40}, std::vector<float>(40, v)).cast(DType::f16); };
  l.lowered([&](Builder& b) {
    auto x = b.add(b.input("x", {3, 40}, DType::f16), b.constant(Tensor::scalar(20000.0f).cast(DType::f16)));
    b.output("y", b.reduce_max(b.subtract(x, b.constant(number(34000))), {1}));
  });
}

TEST(LowerReduce, NoMaskWherePaddingCannotWin) {
  Lowerer l;
  Graph graph = l.lowered([](Builder& b) { b.output("y", b.reduce_max(b.relu(b.input("x", {2, 10})), {1})); });
  EXPECT_EQ(ops_of(graph), "nop reduce");
}

TEST(LowerReduce, SumsComeOutCopiedThroughTheirTile) {
  Lowerer l;
  Graph graph = l.lowered([](Builder& b) {
    auto x = b.input("x", {40, 100});
    b.output("y", called(b, "y", b.multiply(x, called(b, "s", b.reduce_sum(x, {1})))));
  });
  EXPECT_EQ(ops_of(graph), "matmul multiply");
  EXPECT_EQ(graph.node(graph.find("y")).inputs()[1].tms, std::vector<Tm>{Tm::broadcast(TmDim::c, 4)});
  EXPECT_EQ(graph.node(graph.find("s")).outputs[0].shape, (Shape{1, 1, 64, 32}));
  // Whole tiles: one constant tile, repeated.
  graph = l.lowered([](Builder& b) { b.output("y", called(b, "s", b.reduce_sum(b.input("x", {40, 96}), {1}))); });
  EXPECT_EQ(graph.node(graph.find("s")).inputs()[1].tms, std::vector<Tm>{Tm::broadcast(TmDim::r, 3)});
}

TEST(LowerSoftmax, OverTenClasses) {
  Lowerer l;
  Graph graph = l.lowered([](Builder& b) { b.output("p", called(b, "p", b.softmax(b.input("x", {64, 10}), -1))); });
  // One mask, before the maximum; what is subtracted from is the masked value, so that the sum needs none.
  EXPECT_EQ(ops_of(graph), "add reduce matmul subtract exp matmul reciprocal multiply");
  EXPECT_EQ(graph.node(graph.find("p.subtract")).inputs()[0].source.node, graph.find("p.max.masked"));
}

TEST(LowerSoftmax, EverySizeAndAxis) {
  for (Shape shape : {Shape{1, 10}, Shape{3, 33}, Shape{2, 5, 64}, Shape{2, 3, 40, 31}, Shape{7}})
    for (std::int64_t dim : {-1, -2, -3}) {
      if (-dim > static_cast<std::int64_t>(shape.rank())) continue;
      Lowerer l;
      l.lowered([&](Builder& b) {
        auto x = b.add(b.input("x", shape), b.constant(-3.0f));
        b.output("p", b.softmax(x, dim));
        b.output("q", b.log_softmax(x, dim));
        b.output("x", x);
      });
    }
}

TEST(LowerSoftmax, OfALargeNegativeRow) {
  // Zeros in the padding would be the maximum, and e^(x - 0) all zero.
  Lowerer l;
  NamedTensors inputs = {{"x", f32({1, 3}, {-500, -501, -502})}};
  Graph graph = l.lowered([](Builder& b) { b.output("p", b.softmax(b.input("x", {1, 3}), -1)); }, inputs);
  EXPECT_NEAR(evaluated(graph, inputs).at("p").as<float>()[0], 0.66524096, 1e-6);
}

TEST(LowerSoftmax, ResultsMultiplyOn) {
  // Attention in small: rows of the second operand are read, columns of the first.
  Lowerer l;
  l.lowered([](Builder& b) {
    auto q = b.input("q", {2, 10, 8}), k = b.input("k", {2, 10, 8}), v = b.input("v", {2, 10, 8});
    auto s = b.softmax(b.matmul(q, b.transpose(k, {0, 2, 1})), -1);
    b.output("y", b.matmul(s, v));
    b.output("z", b.matmul(b.transpose(s, {0, 2, 1}), v));
    b.output("s", b.reduce_sum(s, {1}));
  });
}

TEST(LowerSoftmax, NeedsNoMaskBehindTheMaximum) {
  // Biases stand in the padding of all operands. Behind the maximum it is 0 beside the data, and below them no sum is 0.
  Lowerer l;
  Graph graph = l.lowered([](Builder& b) {
    auto operand = [&](const std::string& name) {
      return b.matmul(b.input(name, {2, 10, 8}), b.parameter(name + ".w", varied({8, 8})), b.parameter(name + ".b", varied({8}, 2)));
    };
    auto q = operand("q"), k = operand("k"), v = operand("v");
    auto s = b.softmax(b.matmul(q, b.transpose(k, {0, 2, 1})), -1);
    b.output("y", b.reduce_sum(b.matmul(s, v), {1}));
  });
  EXPECT_EQ(ops_of(graph), "matmul matmul matmul matmul multiply add reduce matmul subtract exp matmul reciprocal multiply matmul matmul");
}

TEST(LowerLayernorm, KeepsItsMeaning) {
  for (Shape shape : {Shape{1, 10}, Shape{5, 64}, Shape{2, 7, 33}}) {
    Lowerer l;
    auto n = shape[shape.rank() - 1];
    l.lowered([&](Builder& b) {
      b.output("y", b.layernorm(b.input("x", shape), b.parameter("w", varied({n})), b.parameter("b", varied({n}, 2))));
    });
  }
}

}  // namespace
}  // namespace buda::passes
