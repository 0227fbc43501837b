// SPDX-License-Identifier: Apache-2.0
// The pass decompose: which rule is used, and what is said of rules that do wrong.
#include "harness.hpp"

#include <functional>
#include <stdexcept>

namespace buda::passes {
namespace {

// A rule made of lambdas.
struct Rule final : Decomposition {
  std::vector<std::string> from, to;
  int rank = 0;
  std::function<bool(const Graph&, const Node&)> when = [](const Graph&, const Node&) { return true; };
  std::function<Result<void>(graph::GraphEditor&, NodeId)> how;

  std::vector<std::string> consumes() const override { return from; }
  std::vector<std::string> produces() const override { return to; }
  int priority() const override { return rank; }
  bool matches(const Graph& graph, const Node& node) const override { return when(graph, node); }
  Result<void> rewrite(graph::GraphEditor& editor, NodeId id) override { return how(editor, id); }
};

using Build = std::function<ValueRef(Builder&, const std::vector<Edge>&)>;

std::unique_ptr<Rule> rule(std::vector<std::string> from, std::vector<std::string> to, Build build, int rank = 0) {
  auto r = std::make_unique<Rule>();
  r->from = std::move(from);
  r->to = std::move(to);
  r->rank = rank;
  r->how = [build](graph::GraphEditor& editor, NodeId id) -> Result<void> {
    std::vector<Edge> in = editor.graph().node(id).inputs();
    Builder b(editor);
    ValueRef y = build(b, in);
    BUDA_TRY(b.status());
    editor.replace(id, y);
    return success();
  };
  return r;
}

struct Fixture : Bench {
  DecompositionSet set;
  Fixture() { context.decompositions = &set; }
  void add(std::string name, std::unique_ptr<Decomposition> r, std::string file = "") {
    set.push_back({std::move(name), std::move(file), std::move(r)});
  }
};

Graph square_graph() {
  Builder b("g");
  auto x = b.input("x", {2, 3});
  b.output("y", called(b, "s", b.square(x)));
  return finished(b);
}

Build as_product() {
  return [](Builder& b, const std::vector<Edge>& in) { return b.multiply(in[0], in[0]); };
}
Build as_abs() {
  return [](Builder& b, const std::vector<Edge>& in) { return b.abs(in[0]); };
}

TEST(Decompose, ReplacesAndKeepsTheName) {
  Fixture f;
  f.add("product", rule({"square"}, {"multiply"}, as_product()));
  Graph graph = square_graph();
  EXPECT_EQ(f.run(kDecompose, graph).rewrites, 1u);
  EXPECT_EQ(body(graph), "x = input : F32 [2, 3]\ns = multiply(x, x) : F32 [2, 3]\ny = output(s)\n");
  EXPECT_EQ(f.run(kDecompose, graph).rewrites, 0u);
}

TEST(Decompose, HighestPriorityFirstThenByName) {
  Fixture f;
  f.add("b", rule({"square"}, {"abs"}, as_abs()));
  f.add("a", rule({"square"}, {"multiply"}, as_product()));
  Graph graph = square_graph();
  f.run(kDecompose, graph);
  EXPECT_EQ(graph.node(graph.find("s")).op(), "multiply");
  f.add("z", rule({"square"}, {"abs"}, as_abs(), 1));
  graph = square_graph();
  f.run(kDecompose, graph);
  EXPECT_EQ(graph.node(graph.find("s")).op(), "abs");
}

TEST(Decompose, LowerPriorityStandsInWhereTheHigherDoesNotMatch) {
  Fixture f;
  auto picky = rule({"square"}, {"abs"}, as_abs(), 5);
  picky->when = [](const Graph&, const Node& n) { return n.name() == "other"; };
  f.add("picky", std::move(picky));
  f.add("product", rule({"square"}, {"multiply"}, as_product(), -3));
  Graph graph = square_graph();
  f.run(kDecompose, graph);
  EXPECT_EQ(graph.node(graph.find("s")).op(), "multiply");
}

TEST(Decompose, TagOptsOut) {
  Fixture f;
  f.add("product", rule({"square"}, {"multiply"}, as_product()));
  Graph graph = square_graph();
  graph.node(graph.find("s")).tags[kDontDecompose] = "";
  EXPECT_FALSE(f.run(kDecompose, graph).changed());
  EXPECT_EQ(graph.node(graph.find("s")).op(), "square");
}

TEST(Decompose, GoesOnWithWhatRulesProduce) {
  Fixture f;
  f.add("one", rule({"tanh"}, {"sigmoid"}, [](Builder& b, const std::vector<Edge>& in) { return b.sigmoid(in[0]); }));
  f.add("two", rule({"sigmoid"}, {"exp", "negative"}, [](Builder& b, const std::vector<Edge>& in) { return b.exp(b.negative(in[0])); }));
  Builder b("g");
  b.output("y", called(b, "t", b.tanh(b.input("x", {2}))));
  Graph graph = finished(b);
  EXPECT_EQ(f.run(kDecompose, graph).rewrites, 2u);
  EXPECT_EQ(body(graph), "x = input : F32 [2]\nt.negative = negative(x) : F32 [2]\nt = exp(t.negative) : F32 [2]\ny = output(t)\n");
}

TEST(Decompose, MaySimplyForwardAnInput) {
  Fixture f;
  f.add("none", rule({"square"}, {}, [](Builder&, const std::vector<Edge>& in) { return in[0].source; }));
  Graph graph = square_graph();
  f.run(kDecompose, graph);
  EXPECT_EQ(body(graph), "x = input : F32 [2, 3]\ny = output(x)\n");
}

// ---- rules that do wrong

TEST(DecomposeBlames, RulesThatNeverEnd) {
  Fixture f;
  f.add("ping", rule({"square"}, {"abs"}, as_abs()), "/p/ping.so");
  f.add("pong", rule({"abs"}, {"square"}, [](Builder& b, const std::vector<Edge>& in) { return b.square(in[0]); }));
  Graph graph = square_graph();
  auto result = run_pass(kDecompose, graph, f.context);
  ASSERT_FALSE(result.ok());
  const Diagnostic& d = result.failure().diagnostics().front();
  EXPECT_EQ(d.code, "PA014");
  EXPECT_EQ(d.message, "decomposition 'ping' (from /p/ping.so) does not terminate at node 's': 32 rewrites followed one another");
  ASSERT_FALSE(d.notes.empty());
  EXPECT_EQ(d.notes[0].message, "the last ones were made by 'ping', 'pong', 'ping', 'pong', 'ping'");
}

TEST(DecomposeBlames, RulesThatGrowWithoutEnd) {
  Fixture f;
  f.add("twins", rule({"square"}, {"square", "add"},
                      [](Builder& b, const std::vector<Edge>& in) { return b.add(b.square(in[0]), b.square(in[0])); }));
  Graph graph = square_graph();
  EXPECT_EQ(f.error(kDecompose, graph).substr(0, 80), "PA014: decomposition 'twins' does not terminate: more than 10768 nodes were made");
}

TEST(DecomposeBlames, UndeclaredOps) {
  Fixture f;
  f.add("sly", rule({"square"}, {"multiply"}, as_abs()), "sly.so");
  Graph graph = square_graph();
  EXPECT_EQ(f.error(kDecompose, graph),
            "PA012: decomposition 'sly' (from sly.so) at node 's': it made 's', which is a 'abs'; it declares that it produces [multiply]");
}

TEST(DecomposeBlames, AnotherShapeForTheUsers) {
  Fixture f;
  f.add("flat", rule({"square"}, {"reshape"}, [](Builder& b, const std::vector<Edge>& in) { return b.reshape(in[0], {6}); }));
  Graph graph = square_graph();
  EXPECT_EQ(f.error(kDecompose, graph), "PA013: decomposition 'flat' at node 's': its users saw F32 [2, 3] before, and see F32 [6] now");
}

TEST(DecomposeBlames, NotReplacing) {
  Fixture f;
  auto lazy = rule({"square"}, {}, as_abs());
  lazy->how = [](graph::GraphEditor&, NodeId) { return success(); };
  f.add("lazy", std::move(lazy));
  Graph graph = square_graph();
  EXPECT_EQ(f.error(kDecompose, graph), "PA011: decomposition 'lazy' at node 's': it did not replace the node (GraphEditor::replace)");
}

TEST(DecomposeBlames, FalseTypes) {
  Fixture f;
  auto liar = rule({"square"}, {"abs"}, as_abs());
  liar->how = [](graph::GraphEditor& e, NodeId id) {
    Edge x = e.graph().node(id).inputs()[0];
    e.replace(id, e.add("a", "abs", {x}, {{DType::f32, {3, 2}, std::nullopt}}));
    return success();
  };
  f.add("liar", std::move(liar));
  Graph graph = square_graph();
  EXPECT_EQ(f.error(kDecompose, graph),
            "PA012: decomposition 'liar' at node 's': it gave 's' the type F32 [3, 2], which its inputs make F32 [2, 3]");
}

TEST(DecomposeBlames, ImpossibleOps) {
  Fixture f;
  auto broken = rule({"square"}, {"matmul"}, as_abs());
  broken->how = [](graph::GraphEditor& e, NodeId id) {
    Edge x = e.graph().node(id).inputs()[0];
    e.replace(id, e.add("m", "matmul", {x, x}, {{DType::f32, {2, 3}, std::nullopt}}));
    return success();
  };
  f.add("broken", std::move(broken));
  Graph graph = square_graph();
  auto result = run_pass(kDecompose, graph, f.context);
  ASSERT_FALSE(result.ok());
  const Diagnostic& d = result.failure().diagnostics().front();
  EXPECT_NE(d.message.find("the inner sizes of [2, 3] and [2, 3] differ"), std::string::npos) << d.message;
  ASSERT_FALSE(d.notes.empty());
  EXPECT_EQ(d.notes.back().message, "made by decomposition 'broken' at node 's'");
}

TEST(DecomposeBlames, DamageElsewhere) {
  Fixture f;
  auto vandal = rule({"square"}, {"multiply"}, as_product());
  auto decent = vandal->how;
  vandal->how = [decent](graph::GraphEditor& e, NodeId id) {
    e.graph().set_op(e.graph().find("bystander"), "reshape");
    return decent(e, id);
  };
  f.add("vandal", std::move(vandal), "v.so");
  Builder b("g");
  auto x = b.input("x", {2, 3});
  b.output("y", b.add(called(b, "s", b.square(x)), called(b, "bystander", b.exp(x))));
  Graph graph = finished(b);
  auto result = run_pass(kDecompose, graph, f.context);
  ASSERT_FALSE(result.ok());
  const Diagnostic& d = result.failure().diagnostics().front();
  EXPECT_EQ(d.node, "bystander");
  ASSERT_FALSE(d.notes.empty());
  EXPECT_EQ(d.notes.back().message, "the graph was valid before these were used: decomposition 'vandal' (from v.so)");
}

TEST(DecomposeBlames, FailuresAndExceptions) {
  Fixture f;
  auto failing = rule({"square"}, {}, as_abs());
  failing->how = [](graph::GraphEditor&, NodeId) -> Result<void> { return input_error("MY001", {}, "too square"); };
  f.add("failing", std::move(failing), "f.so");
  Graph graph = square_graph();
  auto result = run_pass(kDecompose, graph, f.context);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(Bench::message(result.failure()), "MY001: too square");
  EXPECT_EQ(result.failure().diagnostics()[0].node, "s");
  EXPECT_EQ(result.failure().diagnostics()[0].notes.back().message, "in decomposition 'failing' (from f.so) at node 's'");

  auto throwing = rule({"square"}, {}, as_abs(), 1);
  throwing->how = [](graph::GraphEditor&, NodeId) -> Result<void> { throw std::runtime_error("ouch"); };
  f.add("throwing", std::move(throwing));
  graph = square_graph();
  EXPECT_EQ(f.error(kDecompose, graph), "PA010: decomposition 'throwing' at node 's': it threw an exception: ouch");
  auto odd = rule({"square"}, {}, as_abs(), 2);
  odd->when = [](const Graph&, const Node&) -> bool { throw 7; };
  f.add("odd", std::move(odd));
  graph = square_graph();
  EXPECT_EQ(f.error(kDecompose, graph), "PA010: decomposition 'odd' at node 's': it threw an unknown exception");
}

}  // namespace
}  // namespace buda::passes
