// SPDX-License-Identifier: Apache-2.0
// Queues that do not fit DRAM or the host's memory, and what would make them fit.
#include <buda/balance/queues/dram.hpp>

#include "unit/balance/fixture.hpp"

#include <buda/base/text.hpp>
#include <buda/graph/tm.hpp>

namespace buda::balance {
namespace {

// A model whose two ops read the same input.
graph::Graph two_readers() {
  DeviceGraph g("two");
  auto x = g.input("x", {1, 1, 64, 64}, {64, 64});
  auto a = g.op("a", "exp", {x}, {1, 1, 64, 64}), b = g.op("b", "tanh", {x}, {1, 1, 64, 64});
  g.output("y", g.op("c", "add", {a, b}, {1, 1, 64, 64}), {64, 64});
  return std::move(g.graph);
}

TEST(HostQueues, LieOneAfterTheOtherInTheHostsMemory) {
  for (const char* device : {"e150", "n150"}) {
    BalanceOptions options;
    options.queues.inputs_on_host = options.queues.outputs_on_host = true;
    auto result = balance_with(two_readers(), device, options);
    ASSERT_TRUE(result.ok()) << text_of(result.failure());
    std::uint64_t end = 0;
    for (const netlist::Queue& q : result->built.netlist.queues)
      for (const auto& buffer : q.buffers) {
        EXPECT_EQ(q.location, netlist::QueueLocation::host) << q.name;
        EXPECT_EQ(buffer.address % 64, 32u) << "data begin behind the header";
        EXPECT_GE(buffer.address, end);
        end = buffer.address + *buffer_bytes(q, board(device));
      }
  }
}

TEST(HostQueues, ThatAreTooLargeAreTold) {
  BalanceOptions options;
  options.queues.outputs_on_host = true;
  options.queues.batches = 32767;
  DeviceGraph g("large");
  auto x = g.input("x", {1, 1, 32, 32}, {32, 32});
  auto wide = g.op("wide", "nop", {graph::Edge(x, {graph::Tm::broadcast(graph::TmDim::r, 64)})}, {1, 1, 64 * 32, 32});
  g.output("y", wide, {64 * 32, 32});
  auto result = balance_with(g.graph, "e150", options);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.failure().diagnostics().front().code, "BL016");
  EXPECT_THAT(text_of(result.failure()), ::testing::HasSubstr("bytes of the host's memory, of which the chip reaches 1 channel"));
}

TEST(Dram, TheFirstQueueStandsForAllThatDoNotFit) {
  BalanceOptions options;
  options.batches = 4096;
  DeviceGraph g("large");
  auto x = g.input("x", {1, 1, 32, 32}, {32, 32});
  for (const char* name : {"a", "b", "c", "d"}) {
    auto wide = g.op(cat(name, "_wide"), "nop", {graph::Edge(x, {graph::Tm::broadcast(graph::TmDim::r, 512)})}, {1, 1, 512 * 32, 32});
    g.output(name, wide, {512 * 32, 32});
  }
  auto result = balance_with(g.graph, "e150", options);
  ASSERT_FALSE(result.ok());
  ASSERT_EQ(result.failure().diagnostics().size(), 1u);
  EXPECT_THAT(result.failure().diagnostics().front().notes.front().message,
              ::testing::MatchesRegex(
                  "[1-4] further queues do not fit; in some epoch all queues together need [0-9]+ bytes of DRAM, and e150 has [0-9]+"));
}

TEST(Dram, SaysWithHowManyBatchesQueuesFit) {
  BalanceOptions options;
  options.batches = 4096;
  DeviceGraph g("large");
  auto x = g.input("x", {1, 1, 32, 32}, {32, 32});
  auto wide = g.op("wide", "nop", {graph::Edge(x, {graph::Tm::broadcast(graph::TmDim::r, 512)})}, {1, 1, 512 * 32, 32});
  g.output("y", wide, {512 * 32, 32});
  auto result = balance_with(g.graph, "e150", options);
  ASSERT_FALSE(result.ok());
  const Diagnostic& d = result.failure().diagnostics().front();
  EXPECT_EQ(d.code, "BL016");
  ASSERT_THAT(d.hint, ::testing::StartsWith("with --microbatch "));
  options.batches = static_cast<std::int32_t>(*parse_uint(split(d.hint, ' ')[2]));
  EXPECT_TRUE(balance_with(g.graph, "e150", options).ok()) << d.hint;
}

TEST(Dram, SaysWithHowManyEntriesQueuesFit) {
  BalanceOptions options;
  options.queues.batches = 16384;
  DeviceGraph g("large");
  auto x = g.input("x", {1, 1, 512 * 32, 32}, {512 * 32, 32});
  g.output("y", g.op("a", "exp", {x}, {1, 1, 512 * 32, 32}), {512 * 32, 32});
  auto result = balance_with(g.graph, "e150", options);
  ASSERT_FALSE(result.ok());
  const Diagnostic& d = result.failure().diagnostics().front();
  ASSERT_THAT(d.hint, ::testing::StartsWith("with --queue-entries "));
  options.queues.batches = static_cast<std::int32_t>(*parse_uint(split(d.hint, ' ')[2]));
  EXPECT_TRUE(balance_with(g.graph, "e150", options).ok()) << d.hint;
}

TEST(ForkedInputs, OpsThatReadAlikeShareReads) {
  for (const bool forked : {false, true}) {
    BalanceOptions options;
    options.forked_inputs = forked;
    auto result = balance_with(two_readers(), "n150", options);
    ASSERT_TRUE(result.ok()) << text_of(result.failure());
    const auto& ops = result->built.netlist.graphs[0].ops;
    EXPECT_EQ(ops[0].inputs[0].forked_from, "");
    EXPECT_EQ(ops[1].inputs[0].forked_from, forked ? ops[0].name : "");
  }
}

}  // namespace
}  // namespace buda::balance
