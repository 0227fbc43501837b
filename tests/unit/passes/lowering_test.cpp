// lower-to-device: the ops, edges and shapes that come out, and that they compute the same in spite of padding.
#include "harness.hpp"

#include <buda/ops/device_layout.hpp>
#include <buda/passes/lowering_tags.hpp>

#include <algorithm>
#include <functional>
#include <limits>

namespace buda::passes {
namespace {

struct Lowerer : Bench {
  Lowerer() { context.decompositions = &plugin_decompositions(); }

  Graph lowered(const std::function<void(Builder&)>& build, NamedTensors inputs = {}) {
    Builder b("g");
    build(b);
    Graph graph = finished(b);
    expect_meaning_kept(graph, *this, {&kDecompose, &kLowerToDevice}, std::move(inputs));
    return graph;
  }

  // "CODE: message" and the hint of the only refusal.
  std::pair<std::string, std::string> refused(const std::function<void(Builder&)>& build) {
    Builder b("g");
    build(b);
    Graph graph = finished(b);
    auto report = run_pass(kLowerToDevice, graph, context);
    if (report) return {"no error\n" + listing(graph), ""};
    EXPECT_EQ(report.failure().diagnostics().size(), 1u);
    EXPECT_EQ(graph.level, graph::Level::tensor) << "a graph that cannot be lowered stays as it is";
    return {message(report.failure()), report.failure().diagnostics()[0].hint};
  }
};

std::string ops_of(const Graph& graph) {
  std::vector<std::string> ops;
  for (NodeId id : graph.topological_order())
    if (graph.node(id).is_op()) ops.push_back(graph.node(id).op());
  return join(ops, " ");
}

TEST(Lower, TheExampleOfTheHeader) {
  Lowerer l;
  Graph graph = l.lowered([](Builder& b) {
    auto x = b.input("x", {64, 100});
    auto w = b.parameter("w", varied({100, 10})), bias = b.parameter("b", varied({10}));
    auto y = called(b, "y", b.matmul(x, w, bias));
    b.output("out", called(b, "p", b.relu(y)));
  });
  EXPECT_EQ(listing(graph),
            "graph g, device level\n"
            "x = input model_shape=[64, 100] : F32 [1, 1, 64, 128]\n"
            "w = parameter : F32 [1, 1, 128, 32]\n"
            "b = parameter : F32 [1, 1, 32, 32]\n"
            "y = matmul(x, w, b {broadcast: {r: 2}}) bias=true : F32 [1, 1, 64, 32]\n"
            "p = nop(y) relu_en=true relu_mode=\"min\" relu_threshold=0 : F32 [1, 1, 64, 32]\n"
            "out = output(p) model_shape=[64, 10]\n");
}

TEST(Lower, KeepsWhereThingsComeFrom) {
  Lowerer l;
  Builder b("g");
  auto w = b.parameter("w", varied({3, 3}));
  b.node(w).value->source = graph::TensorSource{"m.safetensors", "w"};
  auto y = called(b, "y", b.matmul(b.input("x", {2, 3}), w));
  b.node(y).origins = {{"m.onnx", "MatMul_3"}};
  b.node(y).tags["mine"] = "1";
  b.output("out", y);
  Graph graph = finished(b);
  graph.tags["made-by"] = "test";
  l.run(kLowerToDevice, graph);
  EXPECT_EQ(graph.node(graph.find("y")).origins, (std::vector<graph::Origin>{{"m.onnx", "MatMul_3"}}));
  EXPECT_EQ(graph.node(graph.find("y")).tags.at("mine"), "1");
  EXPECT_EQ(graph.node(graph.find("w")).value->source->path, "m.safetensors");
  EXPECT_EQ(graph.node(graph.find("w")).value->tensor.shape(), (Shape{3, 3}));
  EXPECT_EQ(graph.tags.at("made-by"), "test");
}

TEST(Lower, InputsAndOutputsKeepTheirOrder) {
  Lowerer l;
  Graph graph = l.lowered([](Builder& b) {
    auto x = b.input("x", {2, 2}), unused = b.input("unused", {5}), y = b.input("y", {2, 2});
    static_cast<void>(unused);
    b.output("b", b.exp(y));
    b.output("a", b.exp(x));
    b.output("same", x);
  });
  std::string order;
  for (NodeId id : graph.inputs()) order += graph.node(id).name() + ' ';
  for (NodeId id : graph.outputs()) order += graph.node(id).name() + ' ';
  EXPECT_EQ(order, "x unused y b a same ");
  EXPECT_EQ(graph.node(graph.node(graph.find_output("same")).inputs()[0].source.node).op(), "nop") << "a queue is filled by an op";
}

TEST(Lower, KnownOutputsArePassedThroughAnOp) {
  Lowerer l;
  Graph graph = l.lowered([](Builder& b) { b.output("y", b.add(b.constant(varied({3, 4})), b.parameter("w", varied({3, 4}, 2)))); });
  EXPECT_EQ(ops_of(graph), "nop");
}

// ---- broadcasts

TEST(LowerBroadcast, KnownValuesAreCopiedThroughTilesByTheHost) {
  Lowerer l;
  Graph graph = l.lowered([](Builder& b) {
    auto x = b.input("x", {2, 70, 40});
    auto rows = b.add(x, b.parameter("row", varied({40})));
    auto cols = b.multiply(rows, b.parameter("col", varied({70, 1})));
    b.output("y", called(b, "y", b.subtract(cols, b.constant(0.25f))));
  });
  EXPECT_EQ(ops_of(graph), "add multiply subtract");
  const Node& y = graph.node(graph.find("y"));
  EXPECT_EQ(y.outputs[0].shape, (Shape{1, 2, 96, 64}));
  EXPECT_EQ(y.inputs()[1].tms, (std::vector<Tm>{Tm::broadcast(TmDim::z, 2), Tm::broadcast(TmDim::r, 3), Tm::broadcast(TmDim::c, 2)}));
  EXPECT_EQ(graph.node(graph.find("row.rows")).value->tensor.shape(), (Shape{1, 1, 32, 40}));
  EXPECT_EQ(graph.node(graph.find("col.columns")).value->tensor.shape(), (Shape{1, 1, 70, 32}));
  EXPECT_EQ(graph.node(graph.find("constant.tile")).value->tensor.shape(), (Shape{1, 1, 32, 32}));
  EXPECT_EQ(graph.node(graph.find("row.rows")).op(), "parameter");
}

TEST(LowerBroadcast, ComputedValuesAreCopiedThroughTilesByProducts) {
  for (Shape small : {Shape{1, 40}, Shape{70, 1}, Shape{1, 1}, Shape{40}, Shape{}}) {
    Lowerer l;
    Graph graph = l.lowered([&](Builder& b) { b.output("y", b.add(b.input("x", {2, 70, 40}), b.exp(b.input("v", small)))); });
    Shape four = *ops::four_axes(small);
    std::size_t products = (four[2] == 1 ? 1u : 0u) + (four[3] == 1 ? 1u : 0u);
    std::string ops = ops_of(graph);
    EXPECT_EQ(std::count(ops.begin(), ops.end(), 'm') / 2, static_cast<std::ptrdiff_t>(products)) << ops;  // "matmul" has two
  }
}

TEST(LowerBroadcast, BothSidesMayStretch) {
  Lowerer l;
  l.lowered([](Builder& b) { b.output("y", b.multiply(b.input("row", {1, 3, 1, 33}), b.input("column", {40, 1}))); });
}

TEST(LowerBroadcast, TheOpItself) {
  Lowerer l;
  Graph graph = l.lowered([](Builder& b) { b.output("y", b.exp(b.broadcast(b.input("x", {5, 1}), {3, 5, 7}))); });
  EXPECT_EQ(ops_of(graph), "matmul exp");
}

TEST(LowerBroadcast, BatchesServeThemselves) {
  Lowerer l;
  Graph graph = l.lowered([](Builder& b) { b.output("y", b.add(b.input("x", {4, 2, 5, 6}), b.parameter("w", varied({2, 5, 6})))); });
  EXPECT_EQ(graph.node(graph.find("add")).outputs[0].shape, (Shape{4, 2, 32, 32}));
  EXPECT_TRUE(graph.node(graph.find("add")).inputs()[1].tms.empty());
}

// ---- products

TEST(LowerMatmul, PaddingAlongKIsHarmless) {
  // e^0 is 1: both operands have ones in their padding.
  Lowerer l;
  Graph graph = l.lowered([](Builder& b) { b.output("y", b.matmul(b.exp(b.input("a", {3, 10})), b.exp(b.input("c", {10, 4})))); });
  EXPECT_EQ(ops_of(graph), "exp exp multiply matmul");
  // Parameters are padded with zeros: no mask.
  graph = l.lowered([](Builder& b) { b.output("y", b.matmul(b.exp(b.input("a", {3, 10})), b.parameter("w", varied({10, 4})))); });
  EXPECT_EQ(ops_of(graph), "exp matmul");
  // Whole tiles have no padding.
  graph = l.lowered([](Builder& b) { b.output("y", b.matmul(b.exp(b.input("a", {3, 64})), b.exp(b.input("c", {64, 4})))); });
  EXPECT_EQ(ops_of(graph), "exp exp matmul");
}

TEST(LowerMatmul, InfinitePaddingIsPrevented) {
  // 1/0 in the padding of the rows of the second operand would reach the product.
  Lowerer l;
  NamedTensors inputs = {{"a", varied({3, 10})}, {"c", f32({10, 4}, std::vector<float>(40, 2.0f))}};
  Graph graph = l.lowered([](Builder& b) { b.output("y", b.matmul(b.input("a", {3, 10}), b.reciprocal(b.input("c", {10, 4})))); }, inputs);
  EXPECT_EQ(ops_of(graph), "add add reciprocal matmul");
  // Along the columns of the first one as well.
  inputs = {{"a", f32({3, 10}, std::vector<float>(30, 0.5f))}, {"w", varied({10, 4})}};
  graph = l.lowered([](Builder& b) { b.output("y", b.matmul(b.log(b.input("a", {3, 10})), b.input("w", {10, 4}))); }, inputs);
  EXPECT_EQ(ops_of(graph), "add log matmul") << "log 1 is 0, so that no mask is needed after it";
}

TEST(LowerMatmul, Batches) {
  Lowerer l;
  Graph graph = l.lowered([](Builder& b) {
    b.output("both", called(b, "both", b.matmul(b.input("a", {3, 5, 6}), b.input("c", {3, 6, 7}))));
    b.output("one", called(b, "one", b.matmul(b.input("d", {3, 5, 6}), b.parameter("w", varied({6, 7})))));
  });
  EXPECT_EQ(graph.node(graph.find("one")).inputs()[1].tms, std::vector<Tm>{Tm::broadcast(TmDim::z, 3)});
  graph = l.lowered([](Builder& b) {
    b.output("left", called(b, "left", b.matmul(b.parameter("e", varied({5, 6})), b.input("f", {2, 3, 6, 7}))));
  });
  EXPECT_EQ(graph.node(graph.find("left")).inputs()[0].tms, std::vector<Tm>{Tm::broadcast(TmDim::z, 3)});
  EXPECT_EQ(graph.node(graph.find("left")).outputs[0].shape, (Shape{2, 3, 32, 32}));
}

TEST(LowerMatmul, Vectors) {
  Lowerer l;
  l.lowered([](Builder& b) {
    auto v = b.input("v", {40}), u = b.input("u", {7});
    auto m = b.input("m", {7, 40});
    b.output("column", b.matmul(m, v));
    b.output("row", b.matmul(u, m));
    b.output("dot", b.matmul(v, b.exp(v)));
    b.output("further", b.matmul(b.matmul(m, v), b.parameter("w", varied({7, 3}))));
  });
}

TEST(LowerMatmul, ANodeDoesNotFeedBothOperands) {
  Lowerer l;
  Graph graph = l.lowered([](Builder& b) {
    auto x = b.exp(b.input("x", {40, 40}));
    b.output("y", called(b, "y", b.matmul(x, x)));
    b.output("z", called(b, "z", b.matmul(x, b.transpose(x, {1, 0}))));
  });
  for (const char* name : {"y", "z"}) {
    const auto& in = graph.node(graph.find(name)).inputs();
    EXPECT_NE(in[0].source, in[1].source) << name;
  }
}

TEST(LowerMatmul, BiasOfEveryForm) {
  Lowerer l;
  for (Shape shape : {Shape{5}, Shape{1, 5}, Shape{1, 1, 5}})
    l.lowered([&](Builder& b) {
      b.output("y", b.matmul(b.input("x", {2, 70, 6}), b.parameter("w", varied({6, 5})), b.input("b", shape)));
    });
  auto [message, hint] = l.refused([](Builder& b) {
    b.output("y", called(b, "y", b.matmul(b.input("x", {4, 6}), b.parameter("w", varied({6, 5})), b.parameter("b", varied({4, 5})))));
  });
  EXPECT_EQ(message,
            "PA020: node 'y' (matmul, F32 [4, 6], F32 [6, 5], F32 [4, 5] -> F32 [4, 5]) cannot be lowered to the device: its bias of shape "
            "[4, 5] is not one row of 5 values");
  EXPECT_FALSE(hint.empty());
}

// ---- transposes and reshapes

TEST(LowerTranspose, LiesOnTheEdgeWhereItMay) {
  Lowerer l;
  Graph graph = l.lowered([](Builder& b) {
    auto t = called(b, "t", b.transpose(b.input("x", {40, 70}), {1, 0}));
    b.output("second", called(b, "second", b.matmul(b.input("a", {3, 70}), t)));
    b.output("unary", called(b, "unary", b.exp(t)));
    b.output("binary", called(b, "binary", b.add(t, b.input("c", {70, 40}))));
  });
  // 'second' takes [70, 40], which the transpose gives.
  for (const char* name : {"unary", "binary"})
    EXPECT_EQ(graph.node(graph.find(name)).inputs()[0].tms, std::vector<Tm>{Tm::transpose()}) << name;
  EXPECT_EQ(graph.node(graph.find("second")).inputs()[1].tms, std::vector<Tm>{Tm::transpose()});
  EXPECT_EQ(ops_of(graph).find("nop"), std::string::npos);
}

TEST(LowerTranspose, IsCarriedOutByANopElsewhere) {
  Lowerer l;
  l.device = grayskull_like();
  Graph graph = l.lowered([](Builder& b) {
    auto t = called(b, "t", b.transpose(b.input("x", {40, 70}), {1, 0}));
    b.output("first", called(b, "first", b.matmul(t, b.input("a", {40, 3}))));
    b.output("left", called(b, "left", b.add(t, b.input("c", {70, 40}))));
    b.output("right", called(b, "right", b.add(b.input("d", {70, 40}), t)));
    b.output("most", called(b, "most", b.reduce_max(t, {1})));
    b.output("itself", t);
  });
  for (NodeId id : graph.ids()) {
    for (const Edge& edge : graph.node(id).inputs()) {
      for (const Tm& tm : edge.tms)
        EXPECT_TRUE(tm.kind != graph::TmKind::transpose || graph.node(id).op() == "nop") << graph.node(id).name();
    }
  }
  std::string ops = ops_of(graph);
  EXPECT_NE(ops.find("nop"), std::string::npos);
}

TEST(LowerTranspose, AxesOfSizeOneMoveForNothing) {
  Lowerer l;
  Graph graph = l.lowered([](Builder& b) { b.output("y", b.exp(b.transpose(b.input("x", {1, 6, 1, 5}), {0, 2, 1, 3}))); });
  EXPECT_EQ(ops_of(graph), "exp");
  l.lowered([](Builder& b) { b.output("y", b.exp(b.transpose(b.exp(b.input("x", {1, 6, 5})), {0, 2, 1}))); });
  Graph picks = l.lowered([](Builder& b) { b.output("y", b.exp(b.transpose(b.exp(b.input("x", {1, 6, 1, 5})), {0, 2, 1, 3}))); });
  EXPECT_EQ(ops_of(picks), "exp matmul exp") << "z becomes r: six rows in six tiles come into one";
}

TEST(LowerReshape, LeadingOnesVanish) {
  Lowerer l;
  Graph graph = l.lowered([](Builder& b) {
    auto x = b.exp(b.input("x", {5, 6}));
    b.output("y", b.exp(b.squeeze(b.unsqueeze(b.reshape(x, {1, 5, 6}), {0}), {0, 1})));
  });
  EXPECT_EQ(ops_of(graph), "exp exp");
}

TEST(LowerReshape, StacksAndSlicesOfWholeTiles) {
  Lowerer l;
  Graph graph = l.lowered([](Builder& b) {
    auto x = b.exp(b.input("x", {3, 64, 20}));
    b.output("y", called(b, "y", b.exp(b.reshape(x, {192, 20}))));
    b.output("z", called(b, "z", b.exp(b.reshape(x, {2, 96, 20}))));
    b.output("u", called(b, "u", b.exp(b.reshape(b.exp(b.input("v", {64, 20})), {2, 32, 20}))));
  });
  EXPECT_EQ(graph.node(graph.find("y")).inputs()[0].tms, std::vector<Tm>{Tm::vstack(3)});
  EXPECT_EQ(graph.node(graph.find("z")).inputs()[0].tms, (std::vector<Tm>{Tm::vstack(3), Tm::vslice(2)}));
  EXPECT_EQ(graph.node(graph.find("u")).inputs()[0].tms, std::vector<Tm>{Tm::vslice(2)});
}

TEST(LowerReshape, RowsBecomeColumnsByATranspose) {
  Lowerer l;
  Graph graph = l.lowered([](Builder& b) { b.output("y", called(b, "y", b.exp(b.reshape(b.exp(b.input("x", {40})), {40, 1})))); });
  EXPECT_EQ(graph.node(graph.find("y")).inputs()[0].tms, std::vector<Tm>{Tm::transpose()});
}

TEST(LowerReshape, OfInputsIsTheHostsWork) {
  Lowerer l;
  Graph graph = l.lowered([](Builder& b) {
    auto x = b.input("x", {1, 1, 8, 8});
    b.output("y", b.matmul(b.reshape(b.squeeze(x, {0}), {1, 64}), b.parameter("w", varied({64, 3}))));
    b.output("z", b.exp(b.reshape(x, {64})));
  });
  const Node& x = graph.node(graph.find("x"));
  EXPECT_EQ(x.outputs[0].shape, (Shape{1, 1, 32, 64}));
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(x.attrs.at("model_shape")), (std::vector<std::int64_t>{1, 1, 8, 8}));
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(x.attrs.at("view_shape")).back(), 64);
}

TEST(LowerReshape, OfOutputsIsTheHostsWork) {
  Lowerer l;
  Graph graph = l.lowered([](Builder& b) {
    auto x = called(b, "e", b.exp(b.input("x", {6, 10})));
    b.output("y", b.unsqueeze(b.reshape(x, {2, 3, 10}), {0}));
    b.output("z", b.reshape(x, {60}));
  });
  EXPECT_EQ(ops_of(graph), "exp");
  const Node& y = graph.node(graph.find_output("y"));
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(y.attrs.at("model_shape")), (std::vector<std::int64_t>{1, 2, 3, 10}));
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(y.attrs.at("view_shape")), (std::vector<std::int64_t>{6, 10}));
}

// ---- reductions and softmax

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

// ---- elementwise

TEST(LowerEltwise, EveryOp) {
  Lowerer l;
  NamedTensors inputs = {{"x", f32({2, 5}, {0.1f, 0.5f, 1, 2, 3, 0.25f, 0.75f, 1.5f, 2.5f, 4})}};
  Graph graph = l.lowered(
      [](Builder& b) {
        auto x = b.input("x", {2, 5});
        for (const char* op : {"exp", "log", "sqrt", "square", "reciprocal", "abs", "negative", "sine", "cosine", "tanh", "sigmoid", "relu",
                               "leaky_relu", "gelu", "nop"})
          b.output(op, b.op(op, {b.subtract(x, b.constant(op == std::string("log") || op == std::string("sqrt") ? 0.0f : 1.2f))}));
        b.output("gelu_tanh", b.gelu(x, "tanh"));
        b.output("leaky", b.leaky_relu(b.negative(x), 0.3));
        b.output("cube", b.power(x, b.constant(3.0f)));
        b.output("power", b.power(x, b.constant(2.5f)));
        b.output("least", b.minimum(x, b.constant(1.0f)));
        b.output("ratio", b.divide(b.constant(1.0f), x));
      },
      inputs);
  EXPECT_EQ(graph.level, graph::Level::device);
}

TEST(LowerEltwise, ClipsOfAllKinds) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  struct Case {
    double least, most;
    const char* ops;
  };
  for (const Case& c :
       {Case{0, kInfinity, "nop"}, Case{0, 1, "nop"}, Case{-1, 1, "subtract add"}, Case{-kInfinity, 0.5, "subtract subtract"},
        Case{0.5, kInfinity, "maximum"}, Case{-kInfinity, kInfinity, "nop"}, Case{0.25, 0.25, "subtract add"}}) {
    Lowerer l;
    Graph graph = l.lowered([&](Builder& b) { b.output("y", b.clip(b.input("x", {5, 40}), c.least, c.most)); });
    EXPECT_EQ(ops_of(graph), c.ops) << c.least << ' ' << c.most;
  }
  Lowerer l;
  EXPECT_NE(l.refused([](Builder& b) { b.output("y", b.clip(b.input("x", {5}), 2, 1)); }).first.find("its bounds are 2 and 1"),
            std::string::npos);
}

TEST(LowerEltwise, OtherTypesOfFloats) {
  for (DType dtype : {DType::f16, DType::bf16, DType::f64}) {
    Lowerer l;
    Builder b("g");
    b.output("y", b.softmax(b.clip(b.input("x", {3, 10}, dtype), -1, 1), -1));
    Graph graph = finished(b);
    l.run(kDecompose, graph);
    l.run(kLowerToDevice, graph);
    const Node& in = graph.node(graph.inputs()[0]);
    EXPECT_EQ(in.outputs[0].dtype, DType::f32);
    EXPECT_EQ(in.attrs.at("model_type"), graph::Attr(std::string(dtype_name(dtype))));
  }
}

// ---- numbers that the device's F32 does not hold

TEST(LowerInputs, RefuseNumbersThatF32DoesNotHold) {
  Lowerer l;
  Builder b("g");
  b.output("y", b.identity(b.input("x", {2}, DType::f64)));
  b.output("i", b.identity(b.input("n", {2}, DType::i64)));
  Graph graph = finished(b);
  l.run(kLowerToDevice, graph);
  auto error = [&](double x, std::int64_t n) {
    auto out = ops::evaluate_graph(
        graph, {{"x", Tensor(Shape{2}, std::vector<double>{1, x})}, {"n", Tensor(Shape{2}, std::vector<std::int64_t>{n, 1})}});
    return out ? "" : Bench::message(out.failure());
  };
  EXPECT_EQ(error(1e30, -(std::int64_t{1} << 24)), "");
  EXPECT_EQ(error(std::numeric_limits<double>::infinity(), std::int64_t{1} << 40), "");
  EXPECT_NE(error(1e200, 0).find("the input 'x' (F64) holds 1e+200, which F32"), std::string::npos) << error(1e200, 0);
  EXPECT_NE(error(0, (1 << 24) + 1).find("the input 'n' (I64) holds 16777217"), std::string::npos) << error(0, (1 << 24) + 1);
}

// ---- refusals

TEST(LowerRefuses, AllAtOnceAndOnlyCauses) {
  Lowerer l;
  Builder b("g");
  auto x = b.exp(b.input("x", {4, 2, 4, 4}));
  b.output("y", b.exp(called(b, "first", b.softmax(x, 0))));
  b.output("z", b.relu(called(b, "second", b.clip(x, 2, 1))));
  b.output("u", called(b, "third", b.divide(x, x)));
  Graph graph = finished(b);
  auto report = run_pass(kLowerToDevice, graph, l.context);
  ASSERT_FALSE(report.ok());
  std::vector<std::string> nodes;
  for (const Diagnostic& d : report.failure().diagnostics()) {
    nodes.push_back(d.node);
    EXPECT_EQ(d.code, "PA020");
    EXPECT_FALSE(d.hint.empty());
  }
  EXPECT_EQ(join(nodes, " "), "first second third");
}

TEST(LowerRefuses, IntegersAndUndecomposedOps) {
  Lowerer l;
  EXPECT_NE(l.refused([](Builder& b) {
               b.output("y", b.add(b.input("x", {2}, DType::i32), b.input("z", {2}, DType::i32)));
             }).first.find("it computes with I32, and the device computes with floating-point numbers"),
            std::string::npos);
  auto [message, hint] = l.refused([](Builder& b) { b.output("y", called(b, "s", b.softmax(b.input("x", {2}), 0))); });
  EXPECT_EQ(message, "PA020: node 's' (softmax, F32 [2] -> F32 [2]) cannot be lowered to the device: no device op does this");
  EXPECT_NE(hint.find("decomposition"), std::string::npos);
}

TEST(LowerInputs, WithoutElementsWhereNobodyReadsThem) {
  Lowerer l;
  Graph graph = l.lowered([](Builder& b) {
    b.input("axes", {0}, DType::i64);
    b.output("y", b.exp(b.input("x", {4})));
  });
  EXPECT_EQ(graph.inputs().size(), 2u);
}

TEST(LowerRefuses, EmptyValues) {
  Lowerer l;
  EXPECT_NE(l.refused([](Builder& b) { b.output("y", b.exp(b.input("x", {0, 4}))); }).first.find("has no elements"), std::string::npos);
}

TEST(LowerNames, NeverTakeTheNameOfAnotherValue) {
  Lowerer l;
  Graph graph = l.lowered([](Builder& b) {
    auto x = b.input("x", {2, 10});
    auto m = called(b, "m", b.reduce_max(b.exp(x), {1}));
    b.output("m.masked", called(b, "m.mask", b.exp(m)));
    b.output("y", called(b, "m.ones", b.exp(b.reduce_sum(called(b, "m.masked", b.log(b.exp(x))), {1}))));
  });
  EXPECT_EQ(graph.node(graph.find("m.mask")).op(), "exp");
  EXPECT_EQ(graph.node(graph.find("m.masked")).op(), "log");
}

}  // namespace
}  // namespace buda::passes
