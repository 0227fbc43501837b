// SPDX-License-Identifier: Apache-2.0
// The steps by which an epoch is planned.
#include <buda/pipes/plan/granularities.hpp>
#include <buda/pipes/plan/list_ops.hpp>
#include <buda/pipes/plan/multicast.hpp>
#include <buda/pipes/plan/plan_input.hpp>
#include <buda/pipes/plan/plan_output.hpp>
#include <buda/pipes/plan/prologue.hpp>
#include <buda/pipes/plan/source_rules.hpp>

#include "unit/pipes/placed.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace buda::pipes {
namespace {

using ::testing::ElementsAre;

const std::string kOne = "t: 1, mblock: [1, 1], ublock: [2, 2]", kOrder = ", ublock_order: r, buf_size_mb: 2";

std::string edited(std::string text, const std::string& what, const std::string& by) {
  const auto at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return at == std::string::npos ? text : text.replace(at, what.size(), by);
}

// `a` reads q twice, `b` reads q and `a`; `out` keeps what `b` makes.
std::string two_readers() {
  const std::string one = "grid_size: [1, 1], ";
  return netlist_text(queue_text("q", "HOST", one + kOne, 1, 0x20000000) + queue_text("out", "b", one + kOne, 1, 0x30000000),
                      op_text("a", "add", "q, q", 2, "grid_loc: [0, 0], grid_size: [1, 1]", kOne + kOrder) +
                          op_text("b", "add", "q, a", 2, "grid_loc: [1, 0], grid_size: [1, 1]", kOne + kOrder),
                      2);
}

// The code of the first error of a netlist.
std::string code_of(const std::string& text) {
  Built b(text);
  return b.diagnostics.empty() ? "" : b.diagnostics.front().code;
}

TEST(ListOps, SourcesAndReaders) {
  Built b(two_readers());
  ASSERT_TRUE(b.ok()) << b.problem;
  auto plan = list_ops(*b.index, *b.device, b.epochs.front(), b.cluster());
  ASSERT_TRUE(plan.ok());
  ASSERT_EQ(plan->ops.size(), 2u);
  EXPECT_EQ(plan->ops[0].inputs[1].source.queue, 0u);
  EXPECT_EQ(plan->ops[1].inputs[1].source.op, 0u);
  EXPECT_FALSE(plan->ops[1].inputs[1].source.is_queue());
  EXPECT_THAT(plan->ops[1].output_queues, ElementsAre(1u));
  EXPECT_THAT(plan->queue_plan(0).readers, ElementsAre(0u, 1u)) << "each op once";
  EXPECT_EQ(plan->queue_plan(1).writer, 1u);
  EXPECT_EQ(plan->user_chip(plan->queue_plan(1)), 0);
}

TEST(ListOps, OpsThatCannotBe) {
  EXPECT_EQ(code_of(edited(two_readers(), "grid_loc: [1, 0]", "grid_loc: [10, 0]")), "PP009");
  EXPECT_EQ(code_of(edited(two_readers(), "buf_size_mb: 2", "buf_size_mb: 3")), "PP010");
  EXPECT_EQ(code_of(edited(two_readers(), "inputs: [q, a], in_df: [Float16_b, Float16_b]", "inputs: [q], in_df: [Float16_b]")), "PP011");
  EXPECT_EQ(code_of(edited(two_readers(), "inputs: [q, a]", "inputs: [q, nobody]")), "PP012");
}

TEST(SourceRules, WhatAnInputCannotComeFrom) {
  EXPECT_EQ(code_of(edited(two_readers(), "type: queue, entries: 4", "type: queue, entries: 4, layout: flat")), "PP014");
  EXPECT_EQ(code_of(edited(two_readers(), "untilize_output: false", "untilize_output: true")), "PP014");
  EXPECT_EQ(code_of(edited(two_readers(), "in_df: [Float16_b", "in_df: [Float16")), "PP015");
  EXPECT_EQ(code_of(edited(two_readers(), "queue_settings: {}",
                           "queue_settings: {q: {prologue: false, epilogue: true, zero: false, rd_ptr_local: 0, rd_ptr_global: 0}}")),
            "PP013");
}

TEST(PlanInput, RoutesAndBuffer) {
  Built b(two_readers());
  ASSERT_TRUE(b.ok()) << b.problem;
  auto plan = list_ops(*b.index, *b.device, b.epochs.front(), b.cluster());
  ASSERT_TRUE(plan.ok());
  auto from_op = plan_input(*plan, plan->ops[1], 1);
  ASSERT_TRUE(from_op.ok());
  EXPECT_EQ(from_op->source.op, 0u);
  EXPECT_EQ(from_op->from_chip, 0);
  ASSERT_EQ(from_op->routes.pipes.size(), 1u);
  EXPECT_EQ(from_op->routes.pipes.front().tiles.tiles(), 4);
  EXPECT_GT(from_op->sizes.clear, 0);
  EXPECT_EQ(from_op->sizes.size % from_op->sizes.clear, 0);
  EXPECT_FALSE(from_op->prologue);
}

TEST(PlanInput, ShapesThatDiffer) {
  EXPECT_EQ(code_of(edited(two_readers(), "buf_size_mb: 2", "buf_size_mb: 2, input_0_tms: [hstack: 2]")), "PP020");
}

TEST(Multicast, RowsAndColumnsUseDifferentNetworks) {
  netlist::Op op;
  op.type = netlist::OpType::matmul;
  auto is_noc1 = [&](MulticastAxis axis) { return multicast_of({}, op, 0, axis)->noc1; };
  EXPECT_FALSE(is_noc1(MulticastAxis::row));
  EXPECT_TRUE(is_noc1(MulticastAxis::column));
  op.grid_transpose = true;
  EXPECT_TRUE(is_noc1(MulticastAxis::row));
  EXPECT_FALSE(is_noc1(MulticastAxis::column));
}

TEST(Prologue, ReadInSharesWhereItDoesNotFit) {
  Built b(prologue_in_shares());
  ASSERT_TRUE(b.ok()) << b.problem;
  const EpochPlan plan = plan_of(b);
  const InputPlan& w = plan.ops[0].inputs[1];
  EXPECT_TRUE(w.prologue && w.post_tm);
  EXPECT_EQ(w.chunks, 2);
  EXPECT_EQ(w.chunk_tiles, 64);
  ASSERT_EQ(w.routes.pipes.size(), 2u);
  for (std::int32_t share : {0, 1}) {
    const PipeRoute& route = w.routes.pipes[static_cast<std::size_t>(share)];
    EXPECT_EQ(route.tiles.tiles(), 64);
    EXPECT_THAT(route.destinations, ElementsAre(share));
  }
}

TEST(Prologue, InputsOfOneQueueAgree) {
  InputPlan post, pre, other;
  post.prologue = pre.prologue = other.prologue = true;
  post.source.queue = pre.source.queue = 3;
  other.source.queue = 4;
  post.post_tm = other.post_tm = true;
  post.chunks = 2;
  const auto agreed = agree_on_prologues({post, pre, other}, {1, 1});
  EXPECT_FALSE(agreed[0].post_tm);
  EXPECT_EQ(agreed[0].chunks, 0);
  EXPECT_FALSE(agreed[1].post_tm);
  EXPECT_TRUE(agreed[2].post_tm);
}

TEST(Prologue, EachCoreReadsForItself) {
  InputPlan input;
  input.prologue = input.post_tm = true;
  input.source.queue = 0;
  input.routes.axis = MulticastAxis::row;
  RunList tiles;
  tiles.add({0, 0, 4});
  input.routes.pipes = {{tiles, {0}}, {tiles, {1}}};
  const auto agreed = agree_on_prologues({input}, {2, 3});
  EXPECT_EQ(agreed.front().routes.pipes.size(), 6u);
}

TEST(PlanOutput, WhatAQueueCannotTake) {
  EXPECT_EQ(code_of(edited(two_readers(),
                           "input: b, grid_size: [1, 1], t: 1, mblock: [1, 1], ublock: [2, 2], type: queue, entries: 4, df: Float16_b",
                           "input: b, grid_size: [1, 1], t: 1, mblock: [1, 1], ublock: [2, 2], type: queue, entries: 4, df: Float16")),
            "PP015");
  EXPECT_EQ(code_of(edited(two_readers(), "queue_settings: {}",
                           "queue_settings: {out: {prologue: true, epilogue: false, zero: false, rd_ptr_local: 0, rd_ptr_global: 0}}")),
            "PP016");
  EXPECT_EQ(code_of(edited(two_readers(), "input: b, grid_size: [1, 1], t: 1, mblock: [1, 1], ublock: [2, 2]",
                           "input: b, grid_size: [1, 1], t: 1, mblock: [1, 1], ublock: [2, 1]")),
            "PP020");
}

// Rows of datums are those of the op; they cannot be moved.
TEST(PlanOutput, WhatAQueueOfRowsCannotTake) {
  const std::string kept = "grid_size: [1, 1], " + kOne, flat = "type: queue, entries: 4, layout: flat";
  auto problem = [&](const std::string& shape, const std::string& more) {
    std::string op = op_text("b", "nop", "q", 1, "grid_loc: [1, 0], grid_size: [1, 1]", kOne + kOrder);
    op = edited(op, "untilize_output: false", "untilize_output: true");
    return Built(netlist_text(queue_text("q", "HOST", kept, 1, 0x20000000) + queue_text("out", "b", shape, 1, 0x30000000, flat + more), op,
                              2))
        .problem;
  };
  EXPECT_EQ(problem(kept, ""), "");
  EXPECT_EQ(problem("grid_size: [1, 1], t: 1, mblock: [1, 2], ublock: [2, 2]", ""),
            "queue 'out', written by op 'b': it holds t=1 rt=2 ct=4, and the untilized output is t=1 rt=2 ct=2 [PP017]\n");
  EXPECT_EQ(problem(kept, ", input_tms: [transpose]"),
            "queue 'out', written by op 'b': an untilized output cannot be manipulated [PP017]\n");
}

TEST(PlanOutput, EachBufferIsFilledByOneCoreAndOnePipe) {
  const std::string source = queue_text("q", "HOST", "grid_size: [1, 1], t: 1, mblock: [1, 2], ublock: [1, 1]", 1, 0x20000000);
  Built two_cores(
      netlist_text(source + queue_text("out", "b", "grid_size: [1, 1], t: 1, mblock: [1, 2], ublock: [1, 1]", 1, 0x30000000),
                   op_text("b", "nop", "q", 1, "grid_loc: [0, 0], grid_size: [1, 2]", "t: 1, mblock: [1, 1], ublock: [1, 1]" + kOrder), 2));
  EXPECT_EQ(
      two_cores.problem,
      "queue 'out', written by op 'b': buffer 0 would be filled by several cores of the op; one core must fill each buffer [PP018]\n");
  Built rounds(
      netlist_text(queue_text("q", "HOST", "grid_size: [1, 1], t: 2, mblock: [1, 1], ublock: [1, 1]", 1, 0x20000000) +
                       queue_text("out", "b", "grid_size: [1, 2], t: 1, mblock: [1, 1], ublock: [1, 1]", 2, 0x30000000,
                                  "type: queue, entries: 4, input_tms: [hstack: 2]"),
                   op_text("b", "nop", "q", 1, "grid_loc: [0, 0], grid_size: [1, 1]", "t: 2, mblock: [1, 1], ublock: [1, 1]" + kOrder), 2));
  EXPECT_EQ(rounds.problem,
            "queue 'out', written by op 'b': its buffers would be filled in round-robin order; each must be filled by a pipe of its own "
            "[PP018]\n");
}

TEST(Epochs, AGraphIsAlwaysExecutedWithTheSamePrologues) {
  const std::string plain = "{prologue: false, epilogue: false, zero: false, rd_ptr_local: 0, rd_ptr_global: 0}",
                    kept = "{prologue: true, epilogue: false, zero: false, rd_ptr_local: 0, rd_ptr_global: 0}",
                    once = "    - execute: {graph_name: g, queue_settings: {q: ";
  std::string text = edited(two_readers(), "queue_settings: {}", "queue_settings: {q: " + plain + "}");
  EXPECT_EQ(Built(text + once + plain + "}}\n").problem, "");
  EXPECT_EQ(Built(text + once + kept + "}}\n").problem,
            "graph 'g' is executed with queue 'q' as prologue or epilogue, and without [PP006]\n");
}

TEST(PlanOutput, OneRouteForEachBuffer) {
  Built b(two_readers());
  ASSERT_TRUE(b.ok()) << b.problem;
  const EpochPlan plan = plan_of(b);
  auto routes = route_output(plan, plan.queue_plan(1));
  ASSERT_TRUE(routes.ok());
  ASSERT_EQ(routes->pipes.size(), 1u);
  EXPECT_EQ(routes->pipes.front().tiles.tiles(), 4);
}

// The blocks of an output are what all of its consumers take at once; those of a queue are not larger than the smallest buffer.
TEST(Granularities, GreatestCommonDivisors) {
  Built b(two_readers());
  ASSERT_TRUE(b.ok()) << b.problem;
  EpochPlan plan = plan_of(b);
  EXPECT_EQ(plan.ops[0].granularity, 4);
  EXPECT_FALSE(plan.ops[0].scattered);
  plan.ops[1].inputs[1].routes.granularity = 2;
  plan.ops[1].inputs[0].sizes.size = 1;
  plan = settle_granularities(std::move(plan));
  EXPECT_EQ(plan.ops[0].granularity, 2);
  EXPECT_TRUE(plan.ops[0].scattered);
  EXPECT_EQ(plan.ops[0].output.block, 2);
  EXPECT_EQ(plan.queue_plan(0).granularity, 1);
}

}  // namespace
}  // namespace buda::pipes
