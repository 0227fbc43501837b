// SPDX-License-Identifier: Apache-2.0
// Problems from netlists: what the balancer made is estimated and placed again, and bodies of fused ops are divided.
#include "unit/balance/fixture.hpp"
#include "unit/balance/random_graph.hpp"

#include <buda/balance/cost/epoch_costs.hpp>
#include <buda/balance/problem/from_netlist.hpp>
#include <buda/balance/problem/split_fused.hpp>
#include <buda/compiler/product_check.hpp>
#include <buda/netlist/text/write.hpp>

#include <algorithm>

namespace buda::balance {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Host& test_host() {
  static const auto fs = io::make_real_file_system();
  static CollectingSink sink;
  static Host host(*fs, sink);
  return host;
}

BalanceOptions of_batches(std::int32_t batches) {
  BalanceOptions options;
  options.batches = batches;
  return options;
}

TEST(FromNetlist, TheEstimateIsThatOfTheReport) {
  int compared = 0;
  for (std::uint64_t seed = 1; seed < 40; ++seed) {
    auto made = balance_with(random_graph(seed), "n150", of_batches(8), *some_policy(seed));
    if (!made.ok() ||
        std::any_of(made->problem.ops.begin(), made->problem.ops.end(), [](const OpSpec& op) { return op.selection != nullptr; }))
      continue;
    auto costs = netlist_costs(made->built.netlist, board("n150"), test_host());
    ASSERT_TRUE(costs.no_loads.empty()) << "seed " << seed << ": " << text_of(costs.no_loads);
    ASSERT_EQ(costs.epochs.size(), made->report.epochs.size()) << "seed " << seed;
    for (std::size_t e = 0; e < costs.epochs.size(); ++e) {
      const ReportEpoch& expected = made->report.epochs[e];
      EXPECT_TRUE(costs.epochs[e].executed);
      EXPECT_EQ(costs.epochs[e].cycles(), expected.cycles) << "seed " << seed << ", epoch " << e;
      EXPECT_EQ(costs.epochs[e].interval(), expected.interval) << "seed " << seed << ", epoch " << e;
      // A kernel is told by its stage.
      EXPECT_THAT(costs.epochs[e].limiter(), HasSubstr(expected.limiter == "kernel" ? expected.slowest_op : expected.limiter))
          << "seed " << seed << ", epoch " << e;
    }
    ++compared;
  }
  EXPECT_GT(compared, 5);
}

TEST(FromNetlist, OpsOfANetlistArePlacedAgain) {
  auto made = balance_with(perceptron(64, {128, 256, 64}), "n150", of_batches(16));
  ASSERT_TRUE(made.ok());
  auto problem = problem_from_netlist(made->built.netlist, board("n150"));
  ASSERT_TRUE(problem.ok()) << text_of(problem.failure());
  ASSERT_EQ(problem->ops.size(), made->problem.ops.size());
  EXPECT_EQ(problem->microbatch, 16);
  for (std::size_t i = 0; i < problem->ops.size(); ++i) {
    const OpSpec &again = problem->ops[i], &before = made->problem.ops[i];
    EXPECT_EQ(again.op.name, before.op.name);
    EXPECT_EQ(again.out, before.out);
    EXPECT_EQ(again.inner, before.inner);
    EXPECT_EQ(again.depth, before.depth);
    EXPECT_EQ(again.outputs, before.outputs);
    EXPECT_EQ(again.users.size(), before.users.size());
    ASSERT_EQ(again.operands.size(), before.operands.size());
    for (std::size_t k = 0; k < again.operands.size(); ++k) {
      EXPECT_EQ(again.operands[k].shape, before.operands[k].shape);
      EXPECT_EQ(again.operands[k].constant, before.operands[k].constant);
    }
  }
  Spread spread;
  auto placed = balance(*std::move(problem), spread, "spread", {}, test_host());
  ASSERT_TRUE(placed.ok()) << text_of(placed.failure());
  EXPECT_LE(placed->report.totals.cycles, made->report.totals.cycles);
  EXPECT_TRUE(compiler::check_product(*placed, placed->graph, netlist::write_netlist(placed->built.netlist)).ok());
  auto names = [](const netlist::Netlist& n) {
    std::set<std::string> out;
    for (const auto& q : n.queues) out.insert(q.name);
    return out;
  };
  EXPECT_EQ(names(placed->built.netlist), names(made->built.netlist));
}

TEST(FromNetlist, QueuesBetweenEpochsAreEdges) {
  BalanceOptions options = of_batches(4);
  options.overrides = {{"fc2.epoch-break", "true"}};
  auto made = balance_with(perceptron(64, {128, 256, 64}), "n150", options);
  ASSERT_TRUE(made.ok());
  ASSERT_EQ(made->built.netlist.graphs.size(), 2u);
  auto problem = problem_from_netlist(made->built.netlist, board("n150"));
  ASSERT_TRUE(problem.ok()) << text_of(problem.failure());
  EXPECT_TRUE(problem->ops[1].operands[0].from.op.valid());
  EXPECT_FALSE(problem->ops[1].operands[0].queued);
  BySize policy;
  auto placed = balance(*std::move(problem), policy, "of the test", {}, test_host());
  ASSERT_TRUE(placed.ok());
  EXPECT_EQ(placed->built.netlist.graphs.size(), 1u);
}

TEST(FromNetlist, RefusesSeveralChipsAndNumbersOfInputs) {
  BalanceOptions options;
  options.overrides = {{"fc2.epoch-break", "true"}};
  auto made = balance_with(perceptron(64, {128, 256, 64}), "n150", options);
  ASSERT_TRUE(made.ok());
  netlist::Netlist chips = made->built.netlist, counts = made->built.netlist;
  chips.graphs[1].target_device = 1;
  counts.graphs[1].input_count = 3;
  for (const auto* netlist : {&chips, &counts}) {
    auto problem = problem_from_netlist(*netlist, board("n150"));
    ASSERT_FALSE(problem.ok());
    EXPECT_EQ(problem.failure().diagnostics().front().code, "BL045");
  }
  EXPECT_THAT(text_of(problem_from_netlist(chips, board("n150")).failure()), HasSubstr("is for chip 1, and 'fwd_0_0' for chip 0"));
  EXPECT_THAT(text_of(problem_from_netlist(counts, board("n150")).failure()), HasSubstr("takes 3 inputs, and 'fwd_0_0' takes 1"));
}

// reciprocal(input0) of a column, times input1, in rows of `columns` tiles.
struct ColumnBody {
  netlist::Op op;
  netlist::FusedOp body;
};
ColumnBody softmax_tail(std::int32_t columns) {
  using netlist::SubOperand;
  const SubOperand in0{SubOperand::Kind::input, 0}, in1{SubOperand::Kind::input, 1}, mid{SubOperand::Kind::intermed, 0};
  ColumnBody out;
  out.op.name = "tail";
  out.op.type = netlist::OpType::fused_op;
  out.op.grid = {2, 1};
  out.op.block = {1, 2, 1, 1, columns};
  out.op.intermed_format = out.op.out_format = DataFormat::float16_b;
  out.op.inputs.resize(2);
  out.op.inputs[0].name = "sum";
  out.op.inputs[1].name = "exp";
  netlist::SubOp reciprocal, multiply;
  reciprocal.type = netlist::OpType::reciprocal;
  reciprocal.inputs = {{in0, {}}};
  reciprocal.pop = {in0};
  reciprocal.output = mid;
  multiply.type = netlist::OpType::multiply;
  multiply.inputs = {{in1, {}}, {mid, {netlist::Tm::broadcast(netlist::Dim::c, columns)}}};
  multiply.pop = {in1, mid};
  out.body.inputs = 2;
  out.body.intermediates = 1;
  out.body.schedules = {{reciprocal, multiply}};
  return out;
}

TEST(SplitFused, AColumnThatIsSpreadBecomesAnOpOfItsOwn) {
  using netlist::SubOperand;
  const ColumnBody whole = softmax_tail(4);
  EXPECT_TRUE(spreads_column(whole.body));
  auto split = split_fused(whole.op, whole.body);
  ASSERT_TRUE(split);
  EXPECT_FALSE(spreads_column(split->column.body));
  EXPECT_FALSE(spreads_column(split->rest.body));
  EXPECT_EQ(split->column.op.name, "tail.column");
  EXPECT_EQ(split->column.op.shape(), (netlist::TileShape{1, 4, 1}));
  ASSERT_EQ(split->column.op.inputs.size(), 1u);
  EXPECT_EQ(split->column.op.inputs[0].name, "sum");
  EXPECT_EQ(split->column.body.inputs, 1);
  EXPECT_EQ(split->column.body.intermediates, 0);
  ASSERT_EQ(split->column.body.schedules[0].size(), 1u);
  EXPECT_EQ(split->column.body.schedules[0][0].output.kind, SubOperand::Kind::output);

  EXPECT_EQ(split->rest.op.name, "tail");
  ASSERT_EQ(split->rest.op.inputs.size(), 2u);
  EXPECT_EQ(split->rest.op.inputs[0].name, "exp");
  EXPECT_EQ(split->rest.op.inputs[1].name, "tail.column");
  EXPECT_THAT(split->rest.op.inputs[1].maps.tms, ElementsAre(netlist::Tm::broadcast(netlist::Dim::c, 4)));
  const netlist::SubOp& step = split->rest.body.schedules[0].front();
  EXPECT_EQ(split->rest.body.inputs, 2);
  EXPECT_EQ(step.inputs[0].operand, (SubOperand{SubOperand::Kind::input, 0}));
  EXPECT_EQ(step.inputs[1].operand, (SubOperand{SubOperand::Kind::input, 1}));
  EXPECT_THAT(step.inputs[1].tms, IsEmpty());
  // The column is an input now, which is not popped like an intermediate.
  EXPECT_THAT(step.pop, ElementsAre(SubOperand{SubOperand::Kind::input, 0}));
}

TEST(SplitFused, LeavesWhatItCannotDivide) {
  ColumnBody two_grids = softmax_tail(4);
  two_grids.op.grid.cols = 2;
  EXPECT_FALSE(split_fused(two_grids.op, two_grids.body));
  ColumnBody unspread = softmax_tail(4);
  unspread.body.schedules[0][1].inputs[1].tms.clear();
  EXPECT_FALSE(spreads_column(unspread.body));
  EXPECT_FALSE(split_fused(unspread.op, unspread.body));
  ColumnBody two_schedules = softmax_tail(4);
  two_schedules.body.schedules.push_back(two_schedules.body.schedules.front());
  EXPECT_FALSE(split_fused(two_schedules.op, two_schedules.body));
}

}  // namespace
}  // namespace buda::balance
