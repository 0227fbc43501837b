// SPDX-License-Identifier: Apache-2.0
// From pipes to plans: sources, sinks, passes, routes over relay buffers, components.
#include <buda/overlay/plan/core_map.hpp>
#include <buda/overlay/plan/planner.hpp>
#include <buda/overlay/plan/relay_routes.hpp>

#include "unit/overlay/hand_made.hpp"
#include "unit/pipes/built.hpp"

#include <gmock/gmock.h>

namespace buda::overlay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kShape = "t: 1, mblock: [1, 1], ublock: [2, 2], ublock_order: r";

// x -> a -> y, with four inputs of four tiles.
pipes::Built copy() {
  return pipes::Built(
      pipes::netlist_text(pipes::queue_text("x", "HOST", "grid_size: [1, 1], " + kShape, 1, 0x10000000) +
                              pipes::queue_text("y", "a", "grid_size: [1, 1], " + kShape, 1, 0x20000000),
                          pipes::op_text("a", "nop", "x", 1, "grid_loc: [0, 1], grid_size: [1, 1]", kShape, "buf_size_mb: 2"), 4));
}

TEST(Planner, ReadsKindsAndPassesFromThePipes) {
  const pipes::Built b = copy();
  ASSERT_TRUE(b.ok()) << b.problem;
  HandMade epoch(b.graph, *b.device, b.cluster());
  const PipePlans plans = plan_pipes(epoch.input(), epoch.violations);
  EXPECT_EQ(epoch.problems(), "");
  ASSERT_EQ(plans.pipes.size(), 2u);
  const PipePlan &read = plans.pipes[0], &write = plans.pipes[1];
  EXPECT_EQ(read.source, SourceKind::dram);
  EXPECT_EQ(read.sink, SinkKind::kernel);
  EXPECT_EQ(write.source, SourceKind::output);
  EXPECT_EQ(write.sink, SinkKind::queue);
  for (const PipePlan& p : plans.pipes) {
    EXPECT_EQ(p.passes * p.pass_tiles, 16);
    EXPECT_TRUE(p.flows);
    EXPECT_FALSE(p.is_round_robin());
    EXPECT_FALSE(p.multicast);
  }
  EXPECT_EQ(plans.feeds.at(b.buffer("a", BufferType::unpacker)->id), std::vector<std::size_t>{0});
  EXPECT_THAT(plans.components, ElementsAre(std::vector<std::size_t>{0}, std::vector<std::size_t>{1}));
}

TEST(Planner, InputsAndOutputsWithoutPipesAreRefused) {
  pipes::Built b = copy();
  ASSERT_TRUE(b.ok()) << b.problem;
  const pipes::Pipe write = b.graph.pipes.back();
  b.graph.pipes.pop_back();
  HandMade no_writer(b.graph, *b.device, b.cluster());
  const PipePlans plans = plan_pipes(no_writer.input(), no_writer.violations);
  check_operands(no_writer.input(), plans, no_writer.violations);
  EXPECT_EQ(no_writer.problems(), "");
  check_outputs_are_taken(no_writer.input(), plans, no_writer.violations);
  EXPECT_THAT(no_writer.problems(), HasSubstr("no pipe takes from buffer_"));

  b.graph.pipes = {write};
  HandMade no_reader(b.graph, *b.device, b.cluster());
  check_operands(no_reader.input(), plan_pipes(no_reader.input(), no_reader.violations), no_reader.violations);
  EXPECT_THAT(no_reader.problems(), HasSubstr("no pipe leads to buffer_"));
}

TEST(CoreMap, HasTheCoresOfBuffersInOrder) {
  const pipes::Built b = copy();
  ASSERT_TRUE(b.ok()) << b.problem;
  HandMade epoch(b.graph, *b.device, b.cluster());
  const CoreMap cores = collect_cores(epoch.input(), epoch.violations);
  ASSERT_EQ(cores.cores().size(), 1u);
  EXPECT_EQ(cores[0].op, "a");
  EXPECT_EQ(cores.worker(0, {0, 1}), 0);
  EXPECT_EQ(cores.worker(0, {0, 0}), kNotInEpoch);
  EXPECT_EQ(cores.of(*b.buffer("a", BufferType::packer)), 0);
}

// An output whose four tiles pass a relay, from which two pipes take two tiles each.
pipes::PipeGraph branching() {
  pipes::PipeGraph g;
  g.buffers = {made_buffer(1, BufferType::packer, {0, 0}), made_buffer(2, BufferType::relay, {0, 1}),
               made_buffer(3, BufferType::unpacker, {0, 2}), made_buffer(4, BufferType::unpacker, {0, 3})};
  g.buffers[0].scatter_gather_num_tiles = 4;
  g.buffers[1].scatter_gather_num_tiles = 2;
  g.buffers[1].is_scatter = true;
  g.buffers[1].replicate = 2;
  g.pipes = {made_pipe(11, {id_of(1)}, {{id_of(2)}}), made_pipe(12, {id_of(2)}, {{id_of(3)}}), made_pipe(13, {id_of(2) + 2}, {{id_of(4)}})};
  return g;
}

std::optional<RelayRoutes> routes_of(const pipes::PipeGraph& graph, HandMade& epoch) {
  const EpochInput in = epoch.input();
  const Pipe& pipe = graph.pipes.front();
  return follow_relays(in, index_relay_readers(in), pipe, {{in.buffers.find(pipe.outputs.front().front())}}, 4, epoch.violations);
}

TEST(RelayRoutes, BranchWhereSeveralPipesTakeParts) {
  const pipes::PipeGraph graph = branching();
  HandMade epoch(graph);
  const auto routes = routes_of(graph, epoch);
  ASSERT_TRUE(routes.has_value()) << epoch.problems();
  ASSERT_EQ(routes->parts.size(), 2u);
  EXPECT_EQ(routes->parts[0].first, 0);
  EXPECT_EQ(routes->parts[1].first, 2);
  for (const Part& part : routes->parts) {
    EXPECT_EQ(part.tiles, 2);
    ASSERT_EQ(part.groups.size(), 1u);
    const std::size_t group = part.groups.front();
    EXPECT_EQ(routes->groups[group].front()->id, id_of(part.first == 0 ? 3 : 4));
    ASSERT_EQ(routes->routes[group].hops.size(), 1u);
    EXPECT_EQ(routes->routes[group].hops.front().buffer->id, id_of(2));
  }
  EXPECT_FALSE(starts_at_relay(epoch.input(), graph.pipes[0]));
  EXPECT_TRUE(starts_at_relay(epoch.input(), graph.pipes[1]));
}

TEST(RelayRoutes, TilesThatNoPipeTakesAreRefused) {
  pipes::PipeGraph graph = branching();
  graph.buffers.push_back(made_buffer(5, BufferType::unpacker, {0, 4}));
  graph.pipes[2] = made_pipe(13, {id_of(2)}, {{id_of(5)}});  // the same tiles as the other
  HandMade twice(graph);
  EXPECT_FALSE(routes_of(graph, twice).has_value());
  EXPECT_THAT(twice.problems(), HasSubstr("other pipes take the same tiles"));

  graph.pipes.pop_back();
  graph.pipes.pop_back();
  HandMade nobody(graph);
  EXPECT_FALSE(routes_of(graph, nobody).has_value());
  EXPECT_THAT(nobody.problems(), HasSubstr("no pipe takes from buffer_"));
}

TEST(RelayRoutes, ACycleIsRefused) {
  pipes::PipeGraph graph = branching();
  graph.buffers[1] = made_buffer(2, BufferType::relay, {0, 1});
  graph.pipes = {graph.pipes[0], made_pipe(12, {id_of(2)}, {{id_of(2)}})};
  HandMade epoch(graph);
  EXPECT_FALSE(routes_of(graph, epoch).has_value());
  EXPECT_THAT(epoch.problems(), HasSubstr("form a cycle"));
}

}  // namespace
}  // namespace buda::overlay
