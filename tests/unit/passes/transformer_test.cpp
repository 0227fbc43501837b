// SPDX-License-Identifier: Apache-2.0
// Transformers, small and as exporters write them, through the whole pipeline: what they mean stays, and data moves on edges alone.
#include "default_pipeline.hpp"
#include "values.hpp"

#include <buda/passes/fuse/fusing.hpp>
#include <buda/passes/pipeline/standard_passes.hpp>

#include <cmath>
#include <map>

namespace buda::passes {
namespace {

using Dims = std::vector<std::int64_t>;

struct Sizes {
  std::int64_t rows, heads, head;
  std::int64_t columns() const { return heads * head; }
};

// Layers of a model, their weights called after a counter.
struct Layers {
  Builder& b;
  Sizes s;
  std::uint64_t weights = 0;

  // So small that layers neither blow up what they are given nor swallow it.
  ValueRef weight(Shape shape) {
    ++weights;
    float scale = shape.rank() < 2 ? 1.0f : 1 / std::sqrt(static_cast<float>(*shape.volume() / shape[shape.rank() - 1]));
    std::vector<float> numbers = varied(shape, weights).to_f32();
    for (float& v : numbers) v *= scale;
    return b.parameter(cat("w", weights), f32(std::move(shape), std::move(numbers)));
  }
  ValueRef linear(Edge x, std::int64_t from, std::int64_t to) {
    auto product = b.matmul(x, weight({from, to}));
    return b.add(weight({to}), product);
  }
  ValueRef norm(Edge x) {
    auto d = b.subtract(x, b.reduce_avg(x, {-1}));
    auto variance = b.reduce_avg(b.power(d, b.constant(2.0f)), {-1});
    auto guarded = b.add(variance, b.constant(1e-5f));
    auto y = b.divide(d, b.sqrt(guarded));
    auto scaled = b.multiply(y, weight({s.columns()}));
    return b.add(scaled, weight({s.columns()}));
  }
  ValueRef gelu(Edge x) {
    auto e = b.op("erf", {b.divide(x, b.constant(1.41421356f))});
    auto sum = b.add(e, b.constant(1.0f));
    auto product = b.multiply(x, sum);
    return b.multiply(product, b.constant(0.5f));
  }
  ValueRef mlp(Edge x) {
    std::int64_t c = s.columns();
    return linear(gelu(linear(x, c, 2 * c)), 2 * c, c);
  }
  ValueRef heads(Edge x, Dims order) { return b.transpose(b.reshape(x, {1, s.rows, s.heads, s.head}), std::move(order)); }
  // As BERT and GPT-2 do it.
  ValueRef attention(Edge x, Edge mask) {
    std::int64_t c = s.columns();
    auto q = heads(linear(x, c, c), {0, 2, 1, 3});
    auto k = heads(linear(x, c, c), {0, 2, 3, 1});
    auto v = heads(linear(x, c, c), {0, 2, 1, 3});
    auto scores = b.divide(b.matmul(q, k), b.constant(std::sqrt(static_cast<float>(s.head))));
    auto p = b.softmax(b.add(scores, mask), -1);
    auto joined = b.reshape(b.transpose(b.matmul(p, v), {0, 2, 1, 3}), {1, s.rows, c});
    return linear(joined, c, c);
  }
  // As torchvision's transformers do it: one product for all three, batches in the second axis.
  ValueRef attention_at_once(Edge x) {
    std::int64_t c = s.columns();
    auto all = linear(b.transpose(x, {1, 0, 2}), c, 3 * c);
    std::vector<ValueRef> parts;
    for (std::int64_t i = 0; i < 3; ++i) {
      auto part = b.slice(all, 2, i * c, (i + 1) * c);
      parts.push_back(b.transpose(b.reshape(part, {s.rows, s.heads, s.head}), {1, 0, 2}));
    }
    auto q = b.multiply(parts[0], b.constant(0.125f));
    auto scores = b.matmul(q, b.transpose(parts[1], {0, 2, 1}));
    auto context = b.matmul(b.softmax(scores, -1), parts[2]);
    auto flat = b.reshape(b.transpose(context, {1, 0, 2}), {s.rows, c});
    auto product = b.add(b.matmul(flat, weight({c, c})), weight({c}));
    return b.transpose(b.reshape(product, {s.rows, 1, c}), {1, 0, 2});
  }
};

// Through the pipeline, compared after every pass.
Graph lowered(Builder& b) {
  Graph graph = finished(b);
  Bench bench;
  bench.context.decompositions = &plugin_decompositions();
  EquivalenceCheck check(bench.host, ops::standard_ops());
  auto inputs = random_inputs(graph, 1);
  if (!inputs) {
    ADD_FAILURE();
    return graph;
  }
  auto started = check.start(graph, std::move(*inputs));
  if (!started) ADD_FAILURE() << Bench::message(started.failure());
  RunOptions options;
  options.after = [&](const PassRun& run, const Graph& g) -> Result<void> {
    return run.report.changed() ? check.after(g, run.pass->name) : success();
  };
  auto runs = run_pipeline(default_pipeline(), graph, bench.context, options);
  if (!runs) ADD_FAILURE() << Bench::message(runs.failure()) << '\n' << listing(graph);
  return graph;
}

// What moves data: ops that copy, products with pickers, and transposes on edges other than a product's second.
struct TransformerMovement {
  std::size_t ops = 0, copies = 0, pickers = 0, transposes = 0;
};

TransformerMovement movement_in(const Graph& graph) {
  TransformerMovement m;
  for (NodeId id : graph.ids()) {
    const Node& n = graph.node(id);
    if (!n.is_op()) continue;
    ++m.ops;
    m.copies += n.op() == "nop" || n.op() == "datacopy" ? 1 : 0;
    m.pickers += n.attrs.contains("identity") ? 1 : 0;
    for (std::size_t i = 0; i < n.inputs().size(); ++i)
      for (const Tm& tm : n.inputs()[i].tms) m.transposes += tm.kind == graph::TmKind::transpose && (n.op() != "matmul" || i != 1) ? 1 : 0;
  }
  return m;
}

void expect_movement(const Graph& graph, const TransformerMovement& want) {
  TransformerMovement m = movement_in(graph);
  EXPECT_EQ(m.ops, want.ops) << listing(graph);
  EXPECT_EQ(m.copies, want.copies) << listing(graph);
  EXPECT_EQ(m.pickers, want.pickers) << listing(graph);
  EXPECT_EQ(m.transposes, want.transposes) << listing(graph);
}

TEST(Transformers, EncoderWithAMask) {
  // Sequences that fill no tile need two masks in each layer, before the maximum of the softmax. Where scores are scaled by a power of
  // two, that goes into weights, and the mask becomes their bias.
  for (auto [s, ops] : {std::pair(Sizes{64, 2, 32}, 92), std::pair(Sizes{40, 2, 32}, 96), std::pair(Sizes{64, 2, 64}, 87)}) {
    Builder b("g");
    Layers layers{b, s};
    auto x = layers.norm(b.input("x", {1, s.rows, s.columns()}));
    auto seen = b.op("cast", {b.input("mask", {1, s.rows}, DType::i64)}, {{"dtype", std::string("F32")}});
    auto hidden = b.unsqueeze(b.unsqueeze(b.subtract(b.constant(1.0f), seen), {1}), {2});
    auto mask = b.multiply(hidden, b.constant(-10000.0f));
    for (int i = 0; i < 2; ++i) {
      x = layers.norm(b.add(x, layers.attention(x, mask)));
      x = layers.norm(b.add(x, layers.mlp(x)));
    }
    b.output("y", x);
    expect_movement(lowered(b), {.ops = static_cast<std::size_t>(ops)});
  }
}

TEST(Transformers, DecoderWithATriangle) {
  Sizes s{64, 2, 32};
  Builder b("g");
  Layers layers{b, s};
  ValueRef x = b.input("x", {1, s.rows, s.columns()});
  std::vector<float> future;
  for (std::int64_t i = 0; i < s.rows; ++i)
    for (std::int64_t j = 0; j < s.rows; ++j) future.push_back(j > i ? -10000.0f : 0.0f);
  auto mask = b.add(b.input("mask", {1, 1, 1, s.rows}), b.constant(f32({s.rows, s.rows}, std::move(future))));
  x = b.add(x, layers.attention(layers.norm(x), mask));
  x = b.add(x, layers.mlp(layers.norm(x)));
  b.output("y", b.matmul(layers.norm(x), layers.weight({s.columns(), 100})));
  expect_movement(lowered(b), {.ops = 53});
}

// Patches of an image, a class token before them (which a picker makes room for), positions, and only the token's row at the end.
TEST(Transformers, OfPatchesOfAnImage) {
  Sizes s{50, 2, 32};
  Builder b("g");
  Layers layers{b, s};
  auto conv = b.conv2d(b.input("x", {1, 3, 28, 28}), layers.weight({64, 3, 4, 4}), layers.weight({64}), {{"stride", Dims{4, 4}}});
  auto patches = b.transpose(b.reshape(conv, {1, 64, 49}), {0, 2, 1});
  auto token = layers.weight({1, 1, 64});
  auto x = b.add(b.concatenate({token, patches}, 1), layers.weight({1, 50, 64}));
  for (int i = 0; i < 2; ++i) {
    x = b.add(layers.attention_at_once(layers.norm(x)), x);
    x = b.add(x, layers.mlp(layers.norm(x)));
  }
  auto first = b.op("gather", {layers.norm(x), b.constant(Tensor::scalar<std::int64_t>(0))}, {{"dim", std::int64_t{1}}});
  b.output("y", layers.linear(first, 64, 10));
  expect_movement(lowered(b), {.ops = 94, .pickers = 1});
}

// ---- fuse-gelu

struct Gelus : Bench {
  std::string fused(const std::function<ValueRef(Builder&, Edge)>& build) {
    Builder b("g");
    b.output("y", called(b, "y", build(b, b.input("x", {3, 4}))));
    Graph graph = finished(b);
    expect_equivalence(graph, *this, {&kFuseGelu, &kDeadCodeElimination});
    std::string ops;
    for (NodeId id : graph.topological_order())
      if (graph.node(id).is_op()) ops += cat(ops.empty() ? "" : " ", graph.node(id).op());
    return ops;
  }
};

TEST(FuseGelu, InEveryOrderOfItsFactors) {
  Gelus g;
  auto sum = [](Builder& b, Edge scaled) { return b.add(b.constant(1.0f), b.op("erf", {scaled})); };
  auto divided = [](Builder& b, Edge x) { return b.divide(x, b.constant(1.41421354f)); };
  auto multiplied = [](Builder& b, Edge x) { return b.multiply(b.constant(0.70710677f), x); };
  EXPECT_EQ(g.fused([&](Builder& b, Edge x) {
    auto f = sum(b, divided(b, x));
    return b.multiply(b.multiply(x, f), b.constant(0.5f));
  }),
            "gelu");
  EXPECT_EQ(g.fused([&](Builder& b, Edge x) {
    auto f = sum(b, multiplied(b, x));
    return b.multiply(b.multiply(x, b.constant(0.5f)), f);
  }),
            "gelu");
  EXPECT_EQ(g.fused([&](Builder& b, Edge x) {
    auto f = sum(b, multiplied(b, x));
    return b.multiply(x, b.multiply(f, b.constant(0.5f)));
  }),
            "gelu");
  EXPECT_EQ(g.fused([&](Builder& b, Edge x) {
    auto f = sum(b, divided(b, x));
    return b.divide(b.multiply(f, x), b.constant(2.0f));
  }),
            "gelu");
}

TEST(FuseGelu, NotOfOtherFormulas) {
  Gelus g;
  auto formula = [](float divisor, float one, float half) {
    return [=](Builder& b, Edge x) {
      auto f = b.add(b.op("erf", {b.divide(x, b.constant(divisor))}), b.constant(one));
      return b.multiply(b.multiply(x, f), b.constant(half));
    };
  };
  EXPECT_EQ(g.fused(formula(1.41421354f, 1, 0.5f)), "gelu");
  for (const auto& other : {formula(1.4f, 1, 0.5f), formula(1.41421354f, 1.1f, 0.5f), formula(1.41421354f, 1, 0.6f)})
    EXPECT_EQ(g.fused(other), "divide erf add multiply multiply");
  // Another value than that in erf, and a sum that is used elsewhere too.
  EXPECT_EQ(g.fused([](Builder& b, Edge x) {
               auto f = b.add(b.op("erf", {b.divide(x, b.constant(1.41421354f))}), b.constant(1.0f));
               return b.multiply(b.multiply(b.exp(x), f), b.constant(0.5f));
             }).find("gelu"),
            std::string::npos);
  EXPECT_EQ(g.fused([](Builder& b, Edge x) {
               auto f = b.add(b.op("erf", {b.divide(x, b.constant(1.41421354f))}), b.constant(1.0f));
               return b.add(b.multiply(b.multiply(x, f), b.constant(0.5f)), f);
             }).find("gelu"),
            std::string::npos);
}

TEST(FuseGelu, NotWhereAnOpStaysAlone) {
  Builder b("g");
  auto x = b.input("x", {3, 4});
  auto e = called(b, "e", b.op("erf", {b.divide(x, b.constant(1.41421354f))}));
  auto m = b.multiply(x, b.add(e, b.constant(1.0f)));
  b.output("y", b.multiply(m, b.constant(0.5f)));
  Graph graph = finished(b);
  graph.node(graph.find("e")).tags[kDontFuse] = "";
  Bench bench;
  EXPECT_FALSE(bench.run(kFuseGelu, graph).changed());
}

// ---- fold-concatenation

TEST(FoldConcatenation, KnownPartsAreAdded) {
  for (std::size_t at : {0u, 1u, 2u}) {
    Builder b("g");
    std::vector<Edge> parts{b.parameter("p", varied({1, 2, 4})), b.constant(varied({1, 3, 4}, 2))};
    parts.insert(parts.begin() + static_cast<std::ptrdiff_t>(at), b.input("x", {1, 5, 4}));
    auto all = called(b, "all", b.concatenate(parts, 1));
    b.output("y", called(b, "y", b.add(all, b.parameter("positions", varied({1, 10, 4}, 3)))));
    Graph graph = finished(b);
    Bench bench;
    expect_equivalence(graph, bench, {&kFoldConcatenation, &kAlgebraicSimplification, &kConstantFolding, &kDeadCodeElimination});
    std::vector<std::string> ops;
    for (NodeId id : graph.topological_order())
      if (graph.node(id).is_op()) ops.push_back(graph.node(id).op());
    EXPECT_EQ(ops, (std::vector<std::string>{"pad", "add"})) << listing(graph);
  }
}

TEST(FoldConcatenation, NotOfTwoUnknownParts) {
  Builder b("g");
  b.output("y", b.concatenate({b.input("x", {1, 4}), b.input("z", {1, 4}), b.constant(varied({1, 4}))}, 0));
  b.output("v", b.concatenate({b.constant(varied({1, 4})), b.constant(varied({1, 4}, 2))}, 0));
  Graph graph = finished(b);
  Bench bench;
  EXPECT_FALSE(bench.run(kFoldConcatenation, graph).changed());
}

}  // namespace
}  // namespace buda::passes
