// SPDX-License-Identifier: Apache-2.0
// lower-to-device: transposes and reshapes on edges, in copies, and on the host.
#include "lowering_harness.hpp"

namespace buda::passes {
namespace {

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

}  // namespace
}  // namespace buda::passes
