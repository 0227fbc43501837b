// SPDX-License-Identifier: Apache-2.0
// Whole graphs: what comes out for a perceptron, for models of several epochs, and for everything between.
#include "unit/balance/fixture.hpp"

#include <buda/balance/emit/program.hpp>
#include <buda/compiler/product_check.hpp>
#include <buda/netlist/check/check.hpp>
#include <buda/netlist/text/parse.hpp>
#include <buda/netlist/text/write.hpp>

#include <set>

namespace buda::balance {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The promise: whoever reads it, nobody refuses it.
void expect_sound(const Balanced& b, const std::string& device) {
  std::string text = netlist::write_netlist(b.built.netlist);
  auto parsed = netlist::parse_netlist(text, "net.yaml");
  ASSERT_TRUE(parsed.ok()) << text_of(parsed.failure()) << text;
  EXPECT_TRUE(*parsed == b.built.netlist) << text;
  for (const auto& d : netlist::check_netlist(*parsed, board(device), {netlist::CheckLevel::run}))
    EXPECT_NE(d.severity, Severity::error) << d.code << ' ' << d.message << '\n' << text;
}

const netlist::Queue& queue(const Balanced& b, const std::string& name) {
  for (const auto& q : b.built.netlist.queues)
    if (q.name == name) return q;
  ADD_FAILURE() << "no queue " << name;
  static const netlist::Queue none;
  return none;
}

TEST(Balance, APerceptronOnOneEpoch) {
  auto result = balance_with(perceptron(32, {64, 96, 32}), "n150");
  ASSERT_TRUE(result.ok()) << text_of(result.failure());
  expect_sound(*result, "n150");
  const netlist::Netlist& n = result->built.netlist;
  EXPECT_EQ(n.arch, "wormhole_b0");
  ASSERT_EQ(n.graphs.size(), 1u);
  EXPECT_EQ(n.graphs[0].name, "fwd_0_0");
  ASSERT_EQ(n.graphs[0].ops.size(), 2u);
  const netlist::Op& fc1 = n.graphs[0].ops[0];
  EXPECT_EQ(fc1.name, "fc1");
  EXPECT_EQ(fc1.grid, (GridShape{1, 1}));
  EXPECT_EQ(fc1.block, (netlist::BlockShape{1, 1, 1, 1, 3}));
  EXPECT_EQ(fc1.attributes.m_k, 1);
  EXPECT_EQ(fc1.attributes.u_kt, 2);
  EXPECT_TRUE(fc1.attributes.bias);
  EXPECT_TRUE(fc1.attributes.relu.enabled);
  EXPECT_EQ(fc1.inputs[0].name, "x");
  EXPECT_EQ(fc1.inputs[1].name, "fc1.weight");
  EXPECT_EQ(fc1.inputs[1].min_buffer_tiles, 6);
  EXPECT_EQ(n.graphs[0].ops[1].inputs[0].name, "fc1");
  EXPECT_EQ(n.graphs[0].ops[1].grid_loc, (GridCoord{0, 1}));

  EXPECT_EQ(queue(*result, "x").kind, netlist::QueueKind::queue);
  EXPECT_EQ(queue(*result, "x").entries, 2);
  EXPECT_EQ(queue(*result, "x").buffers[0], (netlist::BufferAddress{0, 0x30000000}));  // where the host reaches it
  EXPECT_EQ(queue(*result, "y").input, "fc2");
  EXPECT_EQ(queue(*result, "fc1.weight").kind, netlist::QueueKind::ram);
  EXPECT_EQ(queue(*result, "fc1.weight").entries, 1);
  EXPECT_EQ(queue(*result, "fc1.weight").block, (netlist::BlockShape{1, 1, 1, 2, 3}));

  ASSERT_EQ(n.programs.size(), 1u);
  const auto& code = n.programs[0].instructions;
  ASSERT_EQ(code.size(), 8u);
  EXPECT_EQ(std::get<netlist::instruction::Param>(code[0].what).names, std::vector<std::string>{"$p_loop_count"});
  EXPECT_EQ(std::get<netlist::instruction::Loop>(code[3].what).count.variable, "$p_loop_count");
  const auto& execute = std::get<netlist::instruction::Execute>(code[4].what);
  EXPECT_EQ(execute.graph, "fwd_0_0");
  EXPECT_EQ(execute.settings.size(), 5u);  // x, two weights, two biases
  const auto& step = std::get<netlist::instruction::VarInst>(code[5].what);
  EXPECT_EQ(step.op, netlist::VarOp::incwrap);
  EXPECT_EQ(step.args[1].immediate, 4);  // twice the entries
}

TEST(Balance, EpochsAreJoinedByStaticQueues) {
  BalanceOptions options;
  options.overrides = {{"fc2.epoch-break", "true"}, {"fc3.epoch-break", "true"}};
  options.dynamic_queues = false;
  DeviceGraph g;
  auto x = g.input("x", {1, 1, 32, 64});
  auto a = g.linear("fc1", x, 32, 64, 64);
  auto b = g.linear("fc2", a, 32, 64, 64);
  auto c = g.op("fc3", "add", {a, b}, {1, 1, 32, 64});
  g.output("y", c);
  auto result = balance_with(g.graph, "n150", options);
  ASSERT_TRUE(result.ok()) << text_of(result.failure());
  expect_sound(*result, "n150");
  EXPECT_EQ(result->choice.epochs(), 3);
  // fc1's queue is read in epochs 1 and 2, and popped after the latter.
  EXPECT_EQ(queue(*result, "e2e_fc1_0").input, "fc1");
  EXPECT_EQ(queue(*result, "e2e_fc1_0").entries, 2);
  std::vector<std::string> events;
  for (const auto& i : result->built.netlist.programs[0].instructions) {
    if (const auto* e = std::get_if<netlist::instruction::Execute>(&i.what)) {
      events.push_back(e->graph);
      for (const auto& s : e->settings)
        if (s.queue.starts_with("e2e")) events.push_back(cat(s.queue, '@', s.rd_ptr_global->variable));
    }
    if (const auto* v = std::get_if<netlist::instruction::VarInst>(&i.what))
      if (v->out.starts_with("$g")) events.push_back(cat("pop ", v->out));
  }
  EXPECT_THAT(events, ElementsAre("fwd_0_0", "pop $gptr_q0", "fwd_0_1", "e2e_fc1_0@$gptr_q1", "fwd_0_2", "e2e_fc1_0@$gptr_q1",
                                  "e2e_fc2_0@$gptr_q2", "pop $gptr_q1", "pop $gptr_q2"));
}

TEST(Balance, AFullChipBeginsAnEpoch) {
  BalanceOptions options;
  auto result = balance_with(perceptron(288, {256, 256, 256, 256}), "n150", options, /*largest=*/true);
  ASSERT_TRUE(result.ok()) << text_of(result.failure());
  expect_sound(*result, "n150");
  EXPECT_EQ(result->choice.epochs(), 3);
  EXPECT_EQ(result->choice.ops[0].model.grid, (GridShape{9, 8}));
}

TEST(Balance, ParametersOfReadersThatDifferAreCopied) {
  DeviceGraph g;
  auto x = g.input("x", {1, 1, 32, 64});
  auto w = g.parameter("w", {1, 1, 64, 64});
  auto a = g.op("a", "matmul", {x, w}, {1, 1, 32, 64});
  auto b = g.op("b", "matmul", {a, w}, {1, 1, 32, 64});
  auto c = g.op("c", "matmul", {b, graph::Edge(w, {graph::Tm::transpose()})}, {1, 1, 32, 64});
  g.output("y", c);
  BalanceOptions options;
  options.overrides = {{"b.grid", "[1,2]"}, {"c.grid", "[1,1]"}, {"a.grid", "[1,1]"}};
  auto result = balance_with(g.graph, "n150", options);
  ASSERT_TRUE(result.ok()) << text_of(result.failure());
  expect_sound(*result, "n150");
  std::set<std::string> rams;
  for (const auto& q : result->built.netlist.queues)
    if (q.kind == netlist::QueueKind::ram) rams.insert(q.name);
  EXPECT_THAT(rams, ElementsAre("w", "w_1", "w_2"));
  EXPECT_EQ(queue(*result, "w_1").grid, (GridShape{1, 2}));
}

TEST(Balance, OutputsThatNoOpFeedsGetANop) {
  DeviceGraph g;
  auto x = g.input("x", {1, 1, 32, 64});
  g.output("same", x);
  g.output("turned", graph::Edge(x, {graph::Tm::transpose()}));
  auto w = g.parameter("w", {1, 1, 32, 32});
  g.output("weight", w);
  auto result = balance_with(g.graph, "n150");
  ASSERT_TRUE(result.ok()) << text_of(result.failure());
  expect_sound(*result, "n150");
  EXPECT_EQ(result->problem.ops.size(), 3u);
  for (const auto& op : result->problem.ops) EXPECT_EQ(op.op.type, netlist::OpType::nop);
}

TEST(Balance, AnOpMayFeedOutputsAndOps) {
  DeviceGraph g;
  auto x = g.input("x", {1, 1, 64, 64});
  auto e = g.op("e", "exp", {x}, {1, 1, 64, 64});
  auto s = g.op("s", "add", {e, e}, {1, 1, 64, 64});
  g.output("e", e);
  g.output("again", e);
  g.output("y", s);
  auto result = balance_with(g.graph, "e75");
  ASSERT_TRUE(result.ok()) << text_of(result.failure());
  expect_sound(*result, "e75");
  EXPECT_EQ(queue(*result, "e.output").input, "e");
  EXPECT_EQ(queue(*result, "again").input, "e");
}

TEST(Balance, SoftmaxAndAttentionShapes) {
  // Max along the rows, exp, sum by a matmul with ones, reciprocal, multiply: with heads along z that are stacked afterwards.
  DeviceGraph g;
  auto x = g.input("x", {1, 1, 64, 256});
  auto heads = g.op("heads", "nop", {graph::Edge(x, {graph::Tm::hslice(4)})}, {1, 4, 64, 64});
  auto most = g.op("most", "reduce", {heads}, {1, 4, 64, 32}, {{"dim", std::string("c")}, {"type", std::string("max")}});
  auto low = g.op("low", "subtract", {heads, graph::Edge(most, {graph::Tm::broadcast(graph::TmDim::c, 2)})}, {1, 4, 64, 64});
  auto e = g.op("e", "exp", {low}, {1, 4, 64, 64}, {{"approximate_mode", true}});
  auto ones = g.parameter("ones", {1, 1, 64, 32}, DataFormat::float16_b, "constant");
  auto sum = g.op("sum", "matmul", {e, graph::Edge(ones, {graph::Tm::broadcast(graph::TmDim::z, 4)})}, {1, 4, 64, 32});
  auto inverse = g.op("inverse", "reciprocal", {sum}, {1, 4, 64, 32});
  auto y = g.op("y", "multiply", {e, graph::Edge(inverse, {graph::Tm::broadcast(graph::TmDim::c, 2)})}, {1, 4, 64, 64});
  auto flat = g.op("flat", "nop", {graph::Edge(y, {graph::Tm::hstack(4)})}, {1, 1, 64, 256});
  g.output("out", flat);
  for (const auto& device : boards())
    for (bool largest : {false, true}) {
      auto result = balance_with(g.graph, device, {}, largest);
      ASSERT_TRUE(result.ok()) << device << text_of(result.failure());
      expect_sound(*result, device);
      // What is read twice, or stacked, holds all its slices.
      std::map<std::string, std::int32_t> buffers;
      for (const auto& graph : result->built.netlist.graphs)
        for (const auto& op : graph.ops) buffers[op.name] = op.buf_size_mb;
      EXPECT_EQ(buffers["e"], 8);
      EXPECT_EQ(buffers["y"], 8);
      EXPECT_EQ(buffers["sum"], 2);
    }
}

TEST(Balance, AnUnusedInputIsReported) {
  DeviceGraph g;
  auto x = g.input("x", {1, 1, 32, 32});
  g.input("idle", {1, 1, 32, 32});
  auto e = g.op("e", "exp", {x}, {1, 1, 32, 32});
  g.op("dead", "exp", {e}, {1, 1, 32, 32});
  g.output("y", e);
  auto fs = io::make_real_file_system();
  CollectingSink sink;
  Host host(*fs, sink);
  BySize policy;
  auto result = balance(g.graph, board("n150"), policy, "by_size", {}, host);
  ASSERT_TRUE(result.ok()) << text_of(result.failure());
  ASSERT_EQ(sink.diagnostics().size(), 1u);
  EXPECT_EQ(sink.diagnostics()[0].severity, Severity::warning);
  EXPECT_THAT(sink.diagnostics()[0].message, HasSubstr("'idle'"));
  EXPECT_EQ(result->problem.ops.size(), 1u);
}

TEST(Balance, ABatchTakesSeveralEntriesAtOnce) {
  // w = 8: a push brings eight entries, and an epoch takes them one after the other. The scale is the same for all of them.
  DeviceGraph g;
  auto x = g.input("x", {8, 1, 32, 64}, {8, 1, 1, 50});
  auto a = g.op("a", "matmul", {x, g.parameter("w", {1, 1, 64, 32})}, {8, 1, 32, 32});
  auto scale = g.op("scale", "exp", {g.parameter("s", {1, 1, 32, 32})}, {1, 1, 32, 32});
  auto y = g.op("y", "multiply", {a, scale}, {8, 1, 32, 32});
  g.output("y", y, {8, 10});
  BalanceOptions options;
  options.queues.batches = 3;
  options.overrides = {{"y.epoch-break", "true"}};
  auto result = balance_with(g.graph, "n150", options);
  ASSERT_TRUE(result.ok()) << text_of(result.failure());
  expect_sound(*result, "n150");
  EXPECT_EQ(result->built.netlist.graphs[0].input_count, 8);
  EXPECT_EQ(queue(*result, "x").entries, 24);
  EXPECT_EQ(queue(*result, "e2e_a_0").entries, 8);
  EXPECT_EQ(queue(*result, "e2e_scale_0").entries, 8);
  // An output that is the same for all inputs would be popped eight times.
  g.output("scale", scale);
  EXPECT_FALSE(balance_with(g.graph, "n150").ok());
}

TEST(Balance, LargeInputsAreSplitWhereAChannelIsTooSmall) {
  DeviceGraph g;
  // 4 entries of 8 * 512 * 32 tiles of 2080 bytes: 1.02 GiB, more than a Grayskull channel has.
  auto x = g.input("x", {1, 8, 16384, 1024}, {}, DataFormat::float16_b);
  auto y = g.op("y", "exp", {x}, {1, 8, 16384, 1024});
  g.output("y", y);
  BalanceOptions options;
  options.queues.batches = 4;
  auto result = balance_with(g.graph, "e150", options);
  ASSERT_TRUE(result.ok()) << text_of(result.failure());
  expect_sound(*result, "e150");
  EXPECT_GT(queue(*result, "x").grid.volume(), 1);
}

TEST(Balance, DoesNotFitSaysWhatAndWhatWouldHelp) {
  // 4099 is prime: no grid divides the columns, nor do parts, and they are an input's, which cannot be padded.
  DeviceGraph g;
  g.output("y", g.op("e", "exp", {g.input("x", {1, 1, 32, 32 * 4099})}, {1, 1, 32, 32 * 4099}));
  auto result = balance_with(g.graph, "n150");
  ASSERT_FALSE(result.ok());
  const Diagnostic& d = result.failure().diagnostics()[0];
  EXPECT_EQ(d.fault, Fault::fit);
  EXPECT_EQ(d.node, "e");
  EXPECT_THAT(d.message, HasSubstr("L1 bytes"));
  EXPECT_EQ(d.hint, "");  // nothing that the user has in hand: the op comes from no node of a model
  bool counts = false;
  for (const auto& note : d.notes) counts = counts || note.message.find("candidates rejected") != std::string::npos;
  EXPECT_TRUE(counts);
}

// Formats and manipulations that the chip has no way of computing with are the graph's fault, and told of its nodes.
TEST(Balance, ColumnsArePaddedWhereNoModelReadsItsWeights) {
  // A convolution of RegNet: 79 columns of tiles are a prime number. On one column of cores they fit as 79 parts, but each of 711 rows of
  // weights is then read 79 times.
  DeviceGraph g;
  g.with_values = false;
  auto x = g.input("x", {1, 1, 64, 711 * 32});
  g.output("y", g.linear("conv", x, 64, 711 * 32, 79 * 32));
  auto result = balance_with(g.graph, "n150");
  ASSERT_TRUE(result.ok()) << text_of(result.failure());
  const auto& op = result->built.netlist.graphs.at(0).ops.at(0);
  EXPECT_EQ(op.grid.cols * op.block.mblock_n * op.block.ublock_ct, 80);
}

TEST(ProductCheck, TellsTheGraphsFaultsFromOurs) {
  DeviceGraph g;
  auto x = g.input("x", {1, 1, 64, 32});
  g.output("y", g.op("turn/add", "add", {graph::Edge(x, {graph::Tm::transpose()}), g.input("b", {1, 1, 32, 64})}, {1, 1, 32, 64}));
  auto grayskull = balance_with(g.graph, "e150");
  ASSERT_TRUE(grayskull.ok()) << text_of(grayskull.failure());
  auto verdict = compiler::check_product(*grayskull, grayskull->graph, netlist::write_netlist(grayskull->built.netlist));
  ASSERT_FALSE(verdict.ok());
  EXPECT_EQ(verdict.failure().diagnostics()[0].fault, Fault::input);
  EXPECT_EQ(verdict.failure().diagnostics()[0].node, "turn/add");
  auto wormhole = balance_with(g.graph, "n150");
  ASSERT_TRUE(wormhole.ok());
  EXPECT_TRUE(compiler::check_product(*wormhole, wormhole->graph, netlist::write_netlist(wormhole->built.netlist)).ok());
  // What the balancer itself gets wrong is not the user's fault.
  wormhole->built.netlist.graphs[0].ops[0].grid_loc = {100, 0};
  auto ours = compiler::check_product(*wormhole, wormhole->graph, netlist::write_netlist(wormhole->built.netlist));
  ASSERT_FALSE(ours.ok());
  EXPECT_EQ(ours.failure().diagnostics()[0].fault, Fault::bug);
  std::string text = netlist::write_netlist(wormhole->built.netlist);
  EXPECT_FALSE(compiler::check_product(*wormhole, wormhole->graph, text.substr(0, text.size() / 2)).ok());
}

TEST(Balance, IsDeterministic) {
  auto once = balance_with(perceptron(96, {256, 512, 128, 32}), "e150");
  auto again = balance_with(perceptron(96, {256, 512, 128, 32}), "e150");
  ASSERT_TRUE(once.ok() && again.ok());
  EXPECT_EQ(netlist::write_netlist(once->built.netlist), netlist::write_netlist(again->built.netlist));
  EXPECT_EQ(report_text(once->report), report_text(again->report));
}

// What callers find in netlists, as deadlocks: another choice is tried for the op that they name.
Diagnostic refusal(const std::string& op) {
  Diagnostic d = input_error("LV001", {}, "is not live");
  d.fault = Fault::fit;
  d.node = op;
  return d;
}

TEST(Balance, ChoosesAnewWhereAPlanIsRefused) {
  const graph::Graph graph = perceptron(256, {512, 2048, 256});
  const auto first = balance_with(graph, "n150", {});
  ASSERT_TRUE(first.ok());
  const netlist::Op refused = first->built.netlist.graphs.front().ops.front();
  BalanceOptions options;
  options.find_refusal = [&](const netlist::Netlist& netlist) -> std::optional<Diagnostic> {
    for (const netlist::Op& op : netlist.graphs.front().ops)
      if (op.name == refused.name && op.grid == refused.grid) return refusal(op.name);
    return std::nullopt;
  };
  const auto other = balance_with(graph, "n150", options);
  ASSERT_TRUE(other.ok()) << text_of(other.failure());
  EXPECT_FALSE(options.find_refusal(other->built.netlist));
}

TEST(Balance, KeepsItsPlanWhereNoOtherIsOfMoreUse) {
  const graph::Graph graph = perceptron(256, {512, 32});
  BalanceOptions options;
  options.find_refusal = [](const netlist::Netlist& netlist) { return refusal(netlist.graphs.front().ops.front().name); };
  const auto first = balance_with(graph, "n150", {}), kept = balance_with(graph, "n150", options);
  ASSERT_TRUE(first.ok() && kept.ok());
  EXPECT_EQ(netlist::write_netlist(kept->built.netlist), netlist::write_netlist(first->built.netlist));
}

}  // namespace
}  // namespace buda::balance
