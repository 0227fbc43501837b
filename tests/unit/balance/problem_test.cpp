// SPDX-License-Identifier: Apache-2.0
// From graphs to problems: defaults, names, and everything that can be wrong with a graph.
#include <buda/balance/problem/names.hpp>
#include <buda/balance/problem/problem.hpp>

#include "unit/balance/fixture.hpp"

#include <buda/balance/models/op_model.hpp>
#include <buda/balance/problem/op_attributes.hpp>
#include <buda/base/text.hpp>

namespace buda::balance {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

Result<Problem> problem_problem_of(graph::Graph& graph, const std::string& device = "n150") {
  normalize(graph);
  return make_problem(graph, schedule(graph, SchedulePolicy::module_inputs_bfs), board(device));
}

// The one finding, or an empty diagnostic.
Diagnostic finding(graph::Graph& graph, const std::string& device = "n150") {
  auto problem = problem_problem_of(graph, device);
  EXPECT_FALSE(problem.ok());
  if (problem.ok()) return {};
  EXPECT_EQ(problem.failure().diagnostics().size(), 1u) << text_of(problem.failure());
  return problem.failure().diagnostics().front();
}

std::string said(graph::Graph& graph) {
  const Diagnostic d = finding(graph);
  return cat(d.code, ": ", d.message);
}

DeviceGraph unary(const std::string& type, graph::AttrMap attrs = {}, Shape in = {1, 1, 32, 64}, Shape out = {1, 1, 32, 64}) {
  DeviceGraph g;
  auto x = g.input("x", std::move(in));
  auto y = g.op("node", type, {x}, std::move(out), std::move(attrs));
  g.output("y", y);
  return g;
}

TEST(Problem, FillsInWhatAGraphByHandLeavesOpen) {
  DeviceGraph g = unary("exp");
  for (auto id : g.graph.ids())
    for (auto& type : g.graph.node(id).outputs) type.format.reset();
  auto problem = problem_problem_of(g.graph);
  ASSERT_TRUE(problem.ok()) << text_of(problem.failure());
  const netlist::Op& op = problem->ops[0].op;
  EXPECT_EQ(op.inputs[0].format, DataFormat::float16_b);
  EXPECT_EQ(op.out_format, DataFormat::float16_b);
  EXPECT_EQ(op.acc_format, DataFormat::float16_b);
  EXPECT_EQ(op.intermed_format, DataFormat::float16_b);
  EXPECT_EQ(op.fidelity, netlist::MathFidelity::hifi3);
}

TEST(Problem, TellsWhichShapeIsTooLargeAndNothingElse) {
  DeviceGraph g;
  g.with_values = false;
  auto x = g.input("x", {1, 1, 32, 2376704}), w = g.parameter("w", {1, 1, 2376704, 2376704});
  g.output("y", g.op("node", "matmul", {x, w}, {1, 1, 32, 2376704}));
  const Diagnostic d = finding(g.graph);
  EXPECT_EQ(d.fault, Fault::fit);
  EXPECT_EQ(d.node, "w");
  EXPECT_THAT(d.message, HasSubstr("larger than a netlist can express"));
}

TEST(Problem, AccumulatesAsWideAsTheChipCan) {
  DeviceGraph g;
  auto x = g.input("x", {1, 1, 32, 32}, {}, DataFormat::float32);
  g.output("y", g.op("node", "exp", {x}, {1, 1, 32, 32}, {}, DataFormat::float32));
  auto wormhole = problem_problem_of(g.graph, "n150");
  ASSERT_TRUE(wormhole.ok());
  EXPECT_EQ(wormhole->ops[0].op.acc_format, DataFormat::float32);
  auto grayskull = problem_problem_of(g.graph, "e150");
  if (grayskull.ok()) {
    EXPECT_EQ(grayskull->ops[0].op.acc_format, DataFormat::float16_b);
  }
}

TEST(Problem, KeepsThePrecisionOfTheGraph) {
  DeviceGraph g = unary("exp");
  auto& node = g.graph.node(g.graph.find("node"));
  node.precision = {DataFormat::bfp8_b, DataFormat::float16, graph::MathFidelity::lofi};
  auto problem = problem_problem_of(g.graph);
  ASSERT_TRUE(problem.ok());
  EXPECT_EQ(problem->ops[0].op.intermed_format, DataFormat::bfp8_b);
  EXPECT_EQ(problem->ops[0].op.acc_format, DataFormat::float16);
  EXPECT_EQ(problem->ops[0].op.fidelity, netlist::MathFidelity::lofi);
}

// Messages name all nodes of the model that an op computes; options and reports name the graph's node.
TEST(Problem, AnOpIsLabelledByItsOrigins) {
  DeviceGraph g = unary("exp");
  g.graph.node(g.graph.find("node")).origins = {{"m.onnx", "/0/Gemm"}, {"m.onnx", "/1/Exp"}};
  auto problem = problem_problem_of(g.graph);
  ASSERT_TRUE(problem.ok()) << text_of(problem.failure());
  EXPECT_EQ(problem->ops[0].label, "/0/Gemm + /1/Exp");
  EXPECT_EQ(problem->ops[0].node_name, "node");
  const Diagnostic misfit = no_legal_model(*problem, problem->ops[0], {}, "");
  EXPECT_THAT(misfit.message, HasSubstr("op '/0/Gemm + /1/Exp'"));
  EXPECT_EQ(misfit.node, "node");
}

TEST(Problem, NamesArePlainAndUnique) {
  EXPECT_EQ(netlist_name("a/b:c d"), "a_b_c_d");
  EXPECT_EQ(netlist_name("fc1.weight"), "fc1.weight");
  EXPECT_EQ(netlist_name("Überlauf/façade"), "Uberlauf_facade");
  EXPECT_EQ(netlist_name("入力_1"), "u5165u529b_1");
  EXPECT_EQ(netlist_name("\xf0\x9f\x98\x80"), "u1f600");
  EXPECT_EQ(netlist_name("a\xff"), "a_") << "no UTF-8";
  EXPECT_EQ(netlist_name("1x1"), "n_1x1");
  EXPECT_EQ(netlist_name(".5"), "n_.5");
  EXPECT_EQ(netlist_name(""), "n_");
  EXPECT_EQ(netlist_name("HOST"), "n_HOST");
  EXPECT_EQ(netlist_name("True"), "n_True");
  EXPECT_EQ(netlist_name("input_count"), "n_input_count");
  EXPECT_EQ(netlist_name("my_net2net_op"), "my_net_net_op");
  EXPECT_EQ(netlist_name("größe"), "grosse");
  NameTable names;
  EXPECT_EQ(names.take("a b"), "a_b");
  EXPECT_TRUE(names.taken("a/b"));
  EXPECT_EQ(names.take("a/b"), "a_b_1");
  EXPECT_EQ(names.take("a_b_1"), "a_b_1_1");
  EXPECT_EQ(names.take("a:b"), "a_b_2");
}

TEST(Problem, RefusesAGraphAtTensorLevel) {
  graph::Graph g("net", graph::Level::tensor);
  auto problem = make_problem(g, {}, board("n150"));
  ASSERT_FALSE(problem.ok());
  EXPECT_THAT(problem.failure().diagnostics()[0].hint, HasSubstr("optimizer"));
}

TEST(Problem, RefusesOpsThatItDoesNotKnow) {
  DeviceGraph softmax = unary("softmax");
  Diagnostic d = finding(softmax.graph);
  EXPECT_THAT(d.message, AllOf(HasSubstr("'node'"), HasSubstr("not an op type of netlists")));
  EXPECT_EQ(d.code, "BL005");
  EXPECT_EQ(d.node, "node");
  DeviceGraph topk = unary("topk");
  EXPECT_THAT(finding(topk.graph).message, HasSubstr("not balanced by this version; those that are: add, "));
}

TEST(Problem, ChecksAttributes) {
  DeviceGraph unknown = unary("exp", {{"aproximate_mode", true}});
  Diagnostic d = finding(unknown.graph);
  EXPECT_THAT(d.message, HasSubstr("'aproximate_mode'"));
  EXPECT_THAT(d.hint, HasSubstr("approximate_mode"));
  DeviceGraph wrong = unary("exp", {{"approximate_mode", std::int64_t{1}}});
  EXPECT_THAT(finding(wrong.graph).message, HasSubstr("expected true or false, found 1"));
  DeviceGraph own = unary("exp", {{"u_kt", std::int64_t{1}}});
  EXPECT_THAT(finding(own.graph).message, HasSubstr("chosen by the balancer"));
  DeviceGraph mode = unary("exp", {{"relu_mode", std::string("mix")}});
  EXPECT_THAT(finding(mode.graph).message, HasSubstr("one of min, max, none"));
  DeviceGraph threshold = unary("exp", {{"relu_threshold", -1.0}});
  EXPECT_THAT(finding(threshold.graph).message, HasSubstr("a number of at least 0"));
  DeviceGraph dim = unary("reduce", {{"dim", std::string("q")}});
  EXPECT_FALSE(problem_problem_of(dim.graph).ok());
  DeviceGraph type = unary("reduce", {{"dim", std::string("r")}, {"type", std::string("sum")}});
  EXPECT_THAT(finding(type.graph).message, HasSubstr("expected 'max'"));
}

TEST(Problem, PassesAttributesOn) {
  DeviceGraph g = unary("lrelu", {{"slope", 0.25},
                                  {"relu_en", true},
                                  {"relu_mode", std::string("max")},
                                  {"relu_threshold", std::int64_t{6}},
                                  {"vector", std::string("r")}});
  auto problem = problem_problem_of(g.graph);
  ASSERT_TRUE(problem.ok()) << text_of(problem.failure());
  const auto& a = problem->ops[0].op.attributes;
  EXPECT_EQ(a.slope, 0.25);
  EXPECT_EQ(a.relu, (netlist::Relu{true, 6, netlist::ReluMode::max}));
  EXPECT_EQ(a.vector, netlist::VectorMode::r);
}

TEST(Problem, ChecksShapes) {
  DeviceGraph odd = unary("exp", {}, {1, 1, 32, 40}, {1, 1, 32, 40});
  auto problem = problem_problem_of(odd.graph);
  ASSERT_FALSE(problem.ok());
  EXPECT_THAT(problem.failure().diagnostics()[0].message, HasSubstr("not a multiple of the tile size"));
  DeviceGraph other = unary("exp", {}, {1, 1, 32, 64}, {1, 1, 64, 64});
  EXPECT_THAT(finding(other.graph).message, HasSubstr("arrives as t=1 rt=1 ct=2 where t=1 rt=2 ct=2 is needed"));
  DeviceGraph mixed;
  auto x = mixed.input("x", {4, 1, 32, 32});
  auto b = mixed.input("b", {1, 1, 32, 32});
  mixed.output("y", mixed.op("node", "add", {x, b}, {4, 1, 32, 32}));
  Diagnostic d = finding(mixed.graph);
  EXPECT_EQ(d.node, "b");
  EXPECT_THAT(d.message, HasSubstr("w = 1 where 4 is needed"));
  DeviceGraph wide;
  auto p = wide.input("p", {1, 1, 32, 32});
  wide.output("y", wide.op("node", "add", {p, wide.parameter("w", {2, 1, 32, 32})}, {1, 1, 32, 32}));
  EXPECT_THAT(finding(wide.graph).message, HasSubstr("the same for all inputs"));
  DeviceGraph huge = unary("nop", {}, {1, 1 << 21, 32, 32}, {1, 1 << 21, 32, 32});
  EXPECT_FALSE(problem_problem_of(huge.graph).ok());
}

TEST(Problem, ChecksReductionsAndProducts) {
  DeviceGraph rows = unary("reduce", {{"dim", std::string("r")}}, {1, 1, 64, 64}, {1, 1, 64, 64});
  EXPECT_THAT(said(rows.graph), AllOf(StartsWith("BL009: "), HasSubstr("gives one row of tiles")));
  DeviceGraph none = unary("reduce", {}, {1, 1, 64, 64}, {1, 1, 32, 64});
  EXPECT_THAT(said(none.graph), AllOf(StartsWith("BL003: "), HasSubstr("'dim' is missing")));
  DeviceGraph slices = unary("reduce", {{"dim", std::string("z")}}, {1, 6, 32, 32}, {1, 2, 32, 32});
  auto problem = problem_problem_of(slices.graph);
  ASSERT_TRUE(problem.ok()) << text_of(problem.failure());
  EXPECT_EQ(problem->ops[0].op.attributes.z, 3);
  DeviceGraph product;
  auto x = product.input("x", {1, 1, 32, 96});
  product.output("y", product.op("node", "matmul", {x, product.parameter("w", {1, 1, 64, 32})}, {1, 1, 32, 32}));
  EXPECT_THAT(finding(product.graph).message, HasSubstr("input 1 arrives as t=1 rt=2 ct=1 where t=1 rt=3 ct=1 is needed"));
  DeviceGraph arity;
  auto z = arity.input("x", {1, 1, 32, 32});
  arity.output("y", arity.op("node", "matmul", {z, arity.parameter("w", {1, 1, 32, 32})}, {1, 1, 32, 32}, {{"bias", true}}));
  EXPECT_THAT(said(arity.graph), AllOf(StartsWith("BL006: "), HasSubstr("has 2 inputs; with its attributes it takes 3")));
}

TEST(Problem, ChecksManipulations) {
  auto with = [](std::vector<graph::Tm> tms, Shape out) {
    DeviceGraph g;
    auto x = g.input("x", {1, 1, 64, 64});
    g.output("y", g.op("node", "nop", {graph::Edge(x, std::move(tms))}, std::move(out)));
    return g;
  };
  DeviceGraph middle = with({graph::Tm::transpose(), graph::Tm::unpad(1, 0)}, {1, 1, 32, 64});
  EXPECT_THAT(said(middle.graph), AllOf(StartsWith("BL008: "), HasSubstr("can only be the first manipulation")));
  DeviceGraph early = with({graph::Tm::pad(1, 0, 0), graph::Tm::transpose()}, {1, 1, 64, 96});
  EXPECT_THAT(finding(early.graph).message, HasSubstr("can only be the last manipulation"));
  DeviceGraph large = with({graph::Tm::broadcast(graph::TmDim::z, (std::int64_t{1} << 32) + 1)}, {1, 1, 64, 64});
  EXPECT_THAT(finding(large.graph).message, HasSubstr("larger than a netlist can express"));
  DeviceGraph fine = with({graph::Tm::unpad(1, 0), graph::Tm::broadcast(graph::TmDim::c, 1), graph::Tm::pad(0, 1, 2)}, {1, 1, 32, 96});
  auto problem = problem_problem_of(fine.graph);
  ASSERT_TRUE(problem.ok()) << text_of(problem.failure());
  const auto& maps = problem->ops[0].op.inputs[0].maps;
  EXPECT_EQ(maps.unpad, (netlist::Unpad{1, 0}));
  EXPECT_TRUE(maps.tms.empty());  // a broadcast by 1 does nothing
  EXPECT_EQ(maps.pad, (netlist::Pad{0, 1, 2}));
}

// As a program may give it: the balancer itself puts a copy before such an output.
TEST(Problem, AnOutputIsTheResultOfAnOp) {
  DeviceGraph g;
  g.output("y", g.input("x", {1, 1, 32, 32}));
  const auto problem = make_problem(g.graph, {}, board("n150"));
  ASSERT_FALSE(problem.ok());
  EXPECT_EQ(problem.failure().diagnostics()[0].code, "BL007");
  EXPECT_THAT(problem.failure().diagnostics()[0].message, HasSubstr("an output must be the result of an op"));
}

TEST(Problem, AStateKeepsItsFormat) {
  DeviceGraph g;
  const auto x = g.input("x", {1, 1, 32, 32}, {}, DataFormat::float32);
  g.output("y", g.op("node", "nop", {x}, {1, 1, 32, 32}));
  g.graph.node(g.graph.find("x")).tags["loopback"] = "y";
  EXPECT_THAT(said(g.graph), AllOf(StartsWith("BL025: "), HasSubstr("they have to be the same")));
}

TEST(Problem, ChecksFormatsAgainstTheDevice) {
  DeviceGraph g;
  auto x = g.input("x", {1, 1, 32, 32}, {}, DataFormat::int8);
  g.output("y", g.op("node", "nop", {x}, {1, 1, 32, 32}, {}, DataFormat::int8));
  auto problem = problem_problem_of(g.graph, "e150");
  ASSERT_FALSE(problem.ok());
  EXPECT_THAT(problem.failure().diagnostics()[0].message, AllOf(HasSubstr("Int8"), HasSubstr("e150 does not have")));
  EXPECT_EQ(problem.failure().diagnostics()[0].hint, "the graph was made for another device: lower the model for e150 again");
}

TEST(Schedule, KeepsProducersBeforeConsumers) {
  // Two branches of unequal length that meet, fed by one input, and an op that no input reaches.
  DeviceGraph g;
  Shape s{1, 1, 32, 32};
  auto x = g.input("x", s);
  auto w = g.parameter("w", s);
  auto join_late = g.op("w2", "exp", {w}, s);
  auto a = g.op("a", "exp", {x}, s);
  auto b = g.op("b", "exp", {x}, s);
  auto b2 = g.op("b2", "exp", {b}, s);
  auto j = g.op("j", "add", {a, b2}, s);
  auto k = g.op("k", "add", {j, join_late}, s);
  g.output("y", k);
  g.output("z", g.op("lonely", "exp", {w}, s));
  auto names = [&](SchedulePolicy policy) {
    std::vector<std::string> out;
    for (auto id : schedule(g.graph, policy)) out.push_back(g.graph.node(id).name());
    return out;
  };
  EXPECT_THAT(names(SchedulePolicy::module_inputs_bfs), ::testing::ElementsAre("a", "b", "b2", "j", "w2", "k", "lonely"));
  EXPECT_THAT(names(SchedulePolicy::topological), ::testing::ElementsAre("w2", "a", "b", "b2", "j", "k", "lonely"));
}

TEST(Schedule, IsNotBoundByTheStack) {
  DeviceGraph g;
  Shape s{1, 1, 32, 32};
  graph::NodeId x = g.input("x", s);
  graph::NodeId side = g.parameter("w", s);
  for (int i = 0; i < 20000; ++i) side = g.op(cat("n", i), "exp", {side}, s);
  g.output("y", g.op("last", "add", {x, side}, s));
  auto order = schedule(g.graph, SchedulePolicy::module_inputs_bfs);
  ASSERT_EQ(order.size(), 20001u);
  EXPECT_EQ(g.graph.node(order.back()).name(), "last");
}

}  // namespace
}  // namespace buda::balance
