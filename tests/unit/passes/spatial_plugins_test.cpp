// SPDX-License-Identifier: Apache-2.0
// Convolutions, pools and resizing: after decomposition and after lowering they mean what the ops mean.
#include "values.hpp"

#include <buda/passes/pipeline/standard_passes.hpp>

#include <functional>

namespace buda::passes {
namespace {

using Ints = std::vector<std::int64_t>;

struct Spatial : Bench {
  Spatial() { context.decompositions = &plugin_decompositions(); }

  // Through the passes of levels 0 and 1; gives the graph of level 1. Values of five axes have more than samples in their batch w, where
  // level 0, without sink-movement, may not move them.
  Graph lowered(const std::function<void(Builder&)>& build, bool level0 = true) {
    Builder b("g");
    build(b);
    Graph graph = finished(b), plain = graph;
    if (level0) expect_equivalence(plain, *this, {&kDecompose, &kLowerToDevice});
    std::vector<const Pass*> passes{&kDecompose};
    for (int i = 0; i < 5; ++i)
      passes.insert(passes.end(), {&kConstantFolding, &kSinkMovement, &kAlgebraicSimplification, &kFuseBias, &kDeadCodeElimination});
    passes.push_back(&kLowerToDevice);
    expect_equivalence(graph, *this, passes);
    return graph;
  }
};

std::string spatial_plugins_ops_of(const Graph& graph) {
  std::vector<std::string> ops;
  for (NodeId id : graph.topological_order()) {
    const Node& n = graph.node(id);
    if (n.is_op()) ops.push_back(n.attrs.contains("identity") ? "picker" : n.op());
  }
  return join(ops, " ");
}

struct ConvCase {
  Shape x, weights;
  Ints stride, padding, dilation;
  std::int64_t groups = 1;
};

graph::AttrMap attrs_of(const ConvCase& c) {
  return {{"stride", c.stride}, {"padding", c.padding}, {"dilation", c.dilation}, {"groups", c.groups}};
}

std::string conv_name(const Shape& x) { return cat("conv", x.rank() - 2, "d"); }

TEST(Conv, EveryForm) {
  for (const ConvCase& c : {
           ConvCase{{1, 3, 8, 8}, {5, 3, 3, 3}, {}, {1, 1, 1, 1}, {}},
           ConvCase{{2, 3, 8, 8}, {5, 3, 3, 3}, {2, 2}, {1, 1, 1, 1}, {}},
           ConvCase{{1, 32, 7, 9}, {40, 32, 3, 2}, {2, 1}, {0, 1, 2, 0}, {}},
           ConvCase{{1, 4, 9, 9}, {6, 4, 3, 3}, {1, 1}, {2, 2, 2, 2}, {2, 2}},
           ConvCase{{1, 6, 5, 5}, {6, 1, 3, 3}, {1, 1}, {1, 1, 1, 1}, {}, 6},
           ConvCase{{2, 40, 5, 5}, {40, 1, 3, 3}, {2, 2}, {1, 1, 1, 1}, {}, 40},
           ConvCase{{1, 8, 5, 5}, {8, 4, 3, 3}, {}, {1, 1, 1, 1}, {}, 2},
           ConvCase{{1, 6, 5, 5}, {12, 1, 2, 2}, {}, {}, {}, 6},
           ConvCase{{1, 6, 5, 5}, {4, 3, 2, 2}, {}, {}, {}, 2},
           ConvCase{{1, 64, 4, 4}, {32, 64, 1, 1}, {}, {}, {}},
           ConvCase{{1, 8, 6, 6}, {4, 8, 1, 1}, {2, 2}, {}, {}},
           ConvCase{{1, 3, 10}, {4, 3, 3}, {2}, {1, 1}, {}},
           ConvCase{{1, 3, 4, 5, 6}, {4, 3, 2, 3, 2}, {1, 2, 1}, {1, 0, 1, 0, 1, 0}, {}},
       })
    for (bool bias : {false, true})
      for (bool from_input : {false, true}) {
        Spatial s;
        s.lowered(
            [&](Builder& b) {
              Edge x = b.input("x", c.x);
              if (!from_input) x = b.exp(x);
              std::vector<Edge> in{x, b.parameter("w", varied(c.weights))};
              if (bias) in.push_back(b.parameter("b", varied({c.weights[0]}, 2)));
              b.output("y", b.relu(b.op(conv_name(c.x), in, attrs_of(c))));
            },
            c.x.rank() < 5);
      }
}

// --override-multi-op-fracture-factor: products of some rows of the window each.
TEST(Conv, RowsOfTheWindowSharedOut) {
  for (const ConvCase& c : std::vector<ConvCase>{
           {{2, 3, 8, 7}, {5, 3, 4, 3}, {2, 1}, {1, 0, 2, 1}, {}},
           {{1, 8, 9, 6}, {4, 8, 4, 2}, {}, {4, 0, 3, 0}, {2, 1}},
           {{1, 40, 6, 5}, {40, 1, 4, 3}, {2, 2}, {1, 1, 1, 1}, {}, 40},
           {{1, 8, 6, 5}, {8, 4, 4, 3}, {}, {1, 1, 1, 1}, {}, 2},
           {{1, 3, 10}, {4, 3, 4}, {2}, {1, 1}, {}},
       })
    for (const char* parts : {"2", "4", "-1"})
      for (bool bias : {false, true}) {
        Spatial s;
        Graph graph = s.lowered([&](Builder& b) {
          std::vector<Edge> in{b.input("x", c.x), b.parameter("w", varied(c.weights))};
          if (bias) in.push_back(b.parameter("b", varied({c.weights[0]}, 2)));
          auto y = b.op(conv_name(c.x), in, attrs_of(c));
          b.node(y).tags[kWindowParts] = parts;
          b.output("y", y);
        });
        std::int64_t products = 0;
        for (NodeId id : graph.ids()) products += graph.node(id).attrs.contains("identity") ? 1 : 0;
        EXPECT_GE(products, std::string(parts) == "2" ? 2 : 4);
      }
  Builder b("g");
  auto y = called(b, "y", b.conv2d(b.input("x", {1, 3, 8, 8}), b.parameter("w", varied({4, 3, 3, 3}))));
  b.node(y).tags[kWindowParts] = "2";
  b.output("out", y);
  Graph graph = finished(b);
  Spatial s;
  EXPECT_EQ(s.error(kDecompose, graph),
            "PA071: op 'y' (conv2d) cannot be fractured: the 3 rows of its window cannot be divided into 2 parts");
}

TEST(Conv, OfWeightsThatArePushed) {
  Spatial s;
  s.lowered([](Builder& b) {
    auto x = b.exp(b.input("x", {1, 3, 5, 5})), w = b.input("w", {4, 3, 3, 3});
    b.output("y", b.op("conv2d", {x, w}, {}));
    b.output("z", b.op("conv2d", {x, b.input("v", {3, 1, 2, 2})}, {{"groups", std::int64_t{3}}}));
  });
}

TEST(Conv, ResidualBlockHasNoMovementLeft) {
  Spatial s;
  Graph graph = s.lowered([](Builder& b) {
    auto conv = [&](Edge x, const std::string& name, Shape w) {
      return b.op("conv2d", {x, b.parameter(name, varied(w)), b.parameter(name + ".b", varied({w[0]}))},
                  {{"padding", Ints{w[2] / 2, w[3] / 2, w[2] / 2, w[3] / 2}}});
    };
    auto x = b.relu(conv(b.input("x", {1, 3, 8, 8}), "stem", {32, 3, 3, 3}));
    auto y = b.relu(conv(x, "a", {32, 32, 3, 3}));
    auto z = b.relu(b.add(conv(y, "b", {32, 32, 1, 1}), x));
    b.output("y", b.reduce_avg(z, {2, 3}, false));
  });
  EXPECT_EQ(spatial_plugins_ops_of(graph), "picker matmul nop picker matmul nop matmul add nop matmul");
}

TEST(Conv, StridesOfInputsAreTheHosts) {
  auto build = [](Builder& b) {
    b.output("y", b.op("conv2d", {b.input("x", {1, 3, 32, 32}), b.parameter("w", varied({8, 3, 7, 7}))},
                       {{"stride", Ints{2, 2}}, {"padding", Ints{3, 3, 3, 3}}}));
  };
  Spatial s;
  Graph graph = s.lowered(build);
  const Node& x = graph.node(graph.find("x"));
  EXPECT_EQ(std::get<Ints>(x.attrs.at("view_shape")), (Ints{1, 1, 256, 12}));
  EXPECT_EQ(spatial_plugins_ops_of(graph), "picker matmul");
  EXPECT_EQ(std::get<std::int64_t>(graph.node(graph.find("conv2d.picked")).attrs.at("slices")), 16);
  // Patches: one tap, and no picker at all.
  Graph patches = s.lowered([](Builder& b) {
    b.output("y", b.op("conv2d", {b.input("x", {1, 3, 32, 32}), b.parameter("w", varied({8, 3, 8, 8}))}, {{"stride", Ints{8, 8}}}));
  });
  EXPECT_EQ(spatial_plugins_ops_of(patches), "matmul");
}

// Weights of groups of 32 channels that come at run time are turned by an op: neither input of `depthwise` can be turned on its way.
TEST(Conv, DepthwiseWeightsThatAreNotKnown) {
  for (bool transposed : {false, true}) {
    Spatial s;
    Graph graph = s.lowered([&](Builder& b) {
      // As a step of training keeps them.
      Edge taps = b.transpose(b.input("w", {6, 64, 32}), {1, 2, 0});
      b.output("y", b.op(transposed ? "conv2d_transpose" : "conv2d", {b.input("x", {1, 64, 4, 3}), b.reshape(taps, {64, 32, 2, 3})},
                         {{"groups", std::int64_t{2}}}));
    });
    bool found = false;
    for (NodeId id : graph.topological_order()) {
      const Node& n = graph.node(id);
      if (!n.is_op() || n.op() != "depthwise") continue;
      found = true;
      for (const Edge& e : n.inputs())
        for (const graph::Tm& tm : e.tms) EXPECT_NE(tm.kind, graph::TmKind::transpose) << n.name();
    }
    EXPECT_TRUE(found);
  }
}

TEST(ConvTranspose, EveryForm) {
  struct Case {
    Shape x, weights;
    Ints stride, padding, output_padding, dilation;
    std::int64_t groups = 1;
  };
  for (const Case& c : {
           Case{{1, 8, 4, 4}, {8, 32, 2, 2}, {2, 2}, {}, {}, {}},
           Case{{2, 3, 4, 5}, {3, 4, 3, 3}, {2, 1}, {1, 0, 1, 1}, {1, 0}, {}},
           Case{{1, 4, 5, 5}, {4, 3, 3, 3}, {1, 1}, {1, 1, 1, 1}, {}, {2, 2}},
           Case{{1, 4, 3, 3}, {4, 3, 2, 2}, {3, 3}, {}, {}, {}, 2},
           Case{{1, 6, 3, 2}, {6, 5, 2, 2}, {1, 2}, {}, {}, {}, 3},
           Case{{2, 6, 4, 3}, {6, 1, 3, 2}, {2, 1}, {1, 0, 1, 0}, {1, 0}, {}, 6},
           Case{{1, 40, 3, 2}, {40, 4, 2, 3}, {1, 3}, {}, {}, {2, 1}, 10},
           Case{{1, 33, 3, 2}, {33, 1, 1, 1}, {}, {}, {}, {}, 33},
           Case{{1, 4, 3, 3}, {4, 3, 1, 1}, {}, {}, {}, {}},
           Case{{1, 4, 6}, {4, 3, 3}, {2}, {}, {}, {}},
           Case{{1, 2, 3, 3, 3}, {2, 3, 2, 2, 2}, {2, 2, 2}, {}, {}, {}},
       })
    for (bool bias : {false, true}) {
      Spatial s;
      s.lowered(
          [&](Builder& b) {
            std::vector<Edge> in{b.exp(b.input("x", c.x)), b.parameter("w", varied(c.weights))};
            if (bias) in.push_back(b.parameter("b", varied({c.weights[1] * c.groups}, 2)));
            b.output("y", b.relu(b.op(conv_name(c.x) + "_transpose", in,
                                      {{"stride", c.stride},
                                       {"padding", c.padding},
                                       {"output_padding", c.output_padding},
                                       {"dilation", c.dilation},
                                       {"groups", c.groups}})));
          },
          c.x.rank() < 5);
    }
}

TEST(Pool, EveryForm) {
  struct Case {
    Shape x;
    Ints kernel, stride, padding;
    bool ceil = false;
  };
  for (const char* kind : {"max_pool", "avg_pool"})
    for (const Case& c : {
             Case{{1, 5, 8, 8}, {2, 2}, {2, 2}, {}},
             Case{{2, 40, 9, 7}, {3, 3}, {2, 2}, {1, 1, 1, 1}},
             Case{{1, 3, 7, 7}, {3, 2}, {2, 2}, {1, 0, 1, 1}, true},
             Case{{1, 3, 6, 6}, {6, 6}, {}, {}},
             Case{{1, 3, 11}, {3}, {2}, {1, 1}, true},
             Case{{1, 3, 4, 4, 4}, {2, 3, 2}, {2, 1, 2}, {0, 1, 0, 0, 1, 0}},
         }) {
      Spatial s;
      s.lowered(
          [&](Builder& b) {
            // Nothing but negative numbers: zeros from the padding would win.
            auto x = b.negative(b.exp(b.input("x", c.x)));
            graph::AttrMap attrs = {{"kernel", c.kernel}, {"stride", c.stride}, {"padding", c.padding}, {"ceil_mode", c.ceil}};
            b.output("y", b.op(cat(kind, c.x.rank() - 2, "d"), {x}, attrs));
            if (kind[0] == 'a' && c.x.rank() < 5) {
              attrs["count_include_pad"] = false;
              b.output("z", b.op(cat(kind, c.x.rank() - 2, "d"), {x}, attrs));
              attrs["divisor_override"] = 3.0;
              b.output("u", b.op(cat(kind, c.x.rank() - 2, "d"), {x}, attrs));
            }
          },
          c.x.rank() < 5);
    }
}

TEST(Pool, WithIndicesOfTheFirstOfEqualMaxima) {
  struct Case {
    Shape x;
    Ints kernel, stride, padding;
  };
  for (const char* indices : {"row_major", "column_major"})
    for (const Case& c :
         {Case{{1, 2, 6}, {2}, {2}, {}}, Case{{2, 3, 5, 5}, {5, 5}, {1, 1}, {2, 2, 2, 2}}, Case{{2, 5, 9, 7}, {3, 2}, {2, 2}, {1, 0, 1, 1}},
          Case{{1, 2, 4, 4, 4}, {2, 3, 2}, {2, 1, 2}, {0, 1, 0, 0, 1, 0}}}) {
      Spatial s;
      Builder b("g");
      auto y = b.op(cat("max_pool", c.x.rank() - 2, "d"), {b.input("x", c.x)},
                    {{"kernel", c.kernel}, {"stride", c.stride}, {"padding", c.padding}, {"indices", std::string(indices)}});
      b.output("y", y);
      b.output("i", ValueRef(y.node, 1));
      Graph graph = finished(b);
      // Few different numbers, so that many are equal.
      Rng rng(3);
      std::vector<float> numbers(static_cast<std::size_t>(*c.x.volume()));
      for (float& v : numbers) v = -1 - static_cast<float>(rng.below(3));
      expect_equivalence(graph, s, {&kDecompose, &kConstantFolding, &kLowerToDevice}, {{"x", Tensor(c.x, numbers)}});
    }
}

TEST(Resize, EveryMethodAndScale) {
  for (const char* method : {"nearest", "linear", "cubic"})
    for (const char* coordinates : {"half_pixel", "align_corners", "asymmetric"})
      for (Shape to : {Shape{1, 5, 12, 16}, Shape{1, 5, 3, 4}, Shape{1, 5, 9, 5}, Shape{1, 5, 6, 8}}) {
        Spatial s;
        s.lowered([&](Builder& b) {
          b.output("y", b.op("resize", {b.exp(b.input("x", {1, 5, 6, 8}))},
                             {{"shape", to.dims()}, {"method", std::string(method)}, {"coordinates", std::string(coordinates)}}));
        });
      }
  Spatial s;
  s.lowered([](Builder& b) {
    b.output("y", b.op("resize", {b.exp(b.input("x", {1, 5, 6}))}, {{"shape", Ints{1, 5, 9}}, {"method", std::string("linear")}}));
  });
}

TEST(Resize, CropsThatReachBeyondTheInput) {
  for (double extrapolation : {0.0, 10.0})
    for (const char* method : {"nearest", "linear"}) {
      Spatial s;
      s.lowered([&](Builder& b) {
        b.output("y", b.op("resize", {b.exp(b.input("x", {1, 2, 4, 4}))},
                           {{"shape", Ints{1, 2, 3, 5}},
                            {"method", std::string(method)},
                            {"coordinates", std::string("tf_crop_and_resize")},
                            {"roi", std::vector<double>{0, 0, 0.4, 0.6, 1, 1, 1.2, 1.7}},
                            {"extrapolation", extrapolation}}));
      });
    }
}

}  // namespace
}  // namespace buda::passes
