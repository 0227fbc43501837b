// SPDX-License-Identifier: Apache-2.0
// Queues and nops that the user wants on edges, and tilizers: from the model's graph to what the balancer reads.
#include "values.hpp"

#include <buda/graph/tags/constraint_tags.hpp>
#include <buda/graph/tags/tile_rows.hpp>
#include <buda/passes/pipeline/standard_passes.hpp>

namespace buda::passes {
namespace {

BufferRequest nop(std::string from, std::vector<std::string> to) { return {BufferKind::nop, std::move(from), std::move(to), {}, "nop"}; }
BufferRequest queue(std::string from, std::string to, std::optional<std::uint32_t> input = {}) {
  return {BufferKind::queue, std::move(from), {std::move(to)}, input, "queue"};
}

struct Requests : Bench {
  Graph graph;
  Requests() {
    context.decompositions = &plugin_decompositions();
    Builder b("g");
    auto x = b.input("x", {32, 40});
    auto a = called(b, "a", b.exp(x));
    auto m = called(b, "m", b.matmul(a, b.parameter("w", varied({40, 40})), b.parameter("c", varied({40}))));
    auto s = called(b, "s", b.softmax(m, -1));
    b.output("y", called(b, "sum", b.add(s, a)));
    graph = finished(b);
  }
  void lower(std::vector<BufferRequest> requests) {
    context.buffers = std::move(requests);
    expect_equivalence(graph, *this,
                       {&kInsertBuffers, &kCommonSubexpressionElimination, &kAlgebraicSimplification, &kDecompose, &kFuseBias,
                        &kLowerToDevice, &kInsertBuffers, &kCommonSubexpressionElimination, &kFuseRelu, &kPlaceQueues, &kAssignFormats});
  }
  const Node& node(const std::string& name) { return graph.node(graph.find(name)); }
  std::string inputs_of(const std::string& name) {
    std::vector<std::string> out;
    for (const Edge& e : node(name).inputs()) out.push_back(graph.node(e.source.node).name());
    return buda::join(out, " ");
  }
  std::string queues_of(const std::string& name) {
    auto tag = node(name).tags.find(graph::kQueueBefore);
    return tag == node(name).tags.end() ? "none" : tag->second;
  }
};

TEST(EdgeRequests, ANopStaysBetweenTwoOps) {
  Requests d;
  d.lower({nop("a", {"sum"})});
  EXPECT_EQ(d.inputs_of("sum"), "s a.nop");
  EXPECT_EQ(d.inputs_of("a.nop"), "a");
  EXPECT_EQ(d.node("a.nop").op(), "nop");
  EXPECT_EQ(d.inputs_of("m"), "a w c");
  EXPECT_TRUE(d.sink.diagnostics().empty());
}

TEST(EdgeRequests, ConsumersOfOneRequestShareANop) {
  Requests d;
  d.lower({nop("a", {"sum", "m"})});
  EXPECT_EQ(d.inputs_of("sum"), "s a.nop");
  EXPECT_EQ(d.inputs_of("m"), "a.nop w c");
}

TEST(EdgeRequests, ThoseOfTwoRequestsDoNot) {
  Requests d;
  d.lower({nop("a", {"sum"}), nop("a", {"m"})});
  EXPECT_EQ(d.inputs_of("sum"), "s a.nop");
  EXPECT_EQ(d.inputs_of("m"), "a.nop.1 w c");
}

TEST(EdgeRequests, NopsAndQueuesFollowOneAnother) {
  Requests d;
  d.lower({nop("a", {"sum"}), queue("a.nop", "sum")});
  EXPECT_EQ(d.inputs_of("sum"), "s a.nop");
  EXPECT_EQ(d.queues_of("sum"), "1");
}

TEST(EdgeRequests, AQueueIsARequestOnItsEdge) {
  Requests d;
  d.lower({queue("a", "sum", 1)});
  EXPECT_EQ(d.inputs_of("sum"), "s a");
  EXPECT_EQ(d.queues_of("sum"), "1");
  EXPECT_EQ(d.queues_of("m"), "none");
  EXPECT_FALSE(d.graph.find("a.queue").valid());
}

// Or it would end up on both sides of a movement.
TEST(EdgeRequests, MovementsOfDataDoNotPassIt) {
  Requests d;
  Builder b("turned");
  auto product = b.matmul(b.input("x", {32, 40}), b.parameter("w", varied({40, 64})));
  auto turned = called(b, "turned", b.transpose(product, {1, 0}));
  b.output("y", b.transpose(called(b, "r", b.relu(turned)), {1, 0}));
  d.graph = finished(b);
  d.context.buffers = {queue("turned", "r")};
  d.run(kInsertBuffers, d.graph);
  d.run(kSinkMovement, d.graph);
  EXPECT_EQ(d.node("turned.queue").op(), "buffer");
  EXPECT_EQ(d.inputs_of("turned.queue"), "turned");
}

// Every op that a consumer becomes reads through the queue.
TEST(EdgeRequests, AConsumerMayBecomeSeveralOps) {
  Requests d;
  d.lower({queue("m", "s")});
  EXPECT_EQ(d.inputs_of("s.max.masked"), "m s.max.mask");
  EXPECT_EQ(d.queues_of("s.max.masked"), "0");
}

// Names that only the device graph has.
TEST(EdgeRequests, OpsOfTheDeviceCanBeNamed) {
  Requests d;
  d.lower({queue("s.exp", "s.sum", 0), nop("s.exp", {"s"})});
  EXPECT_EQ(d.queues_of("s.sum"), "0");
  EXPECT_EQ(d.inputs_of("s").substr(0, 9), "s.exp.nop");
}

TEST(EdgeRequests, WhatComesFromAnInputLiesInAQueueAlready) {
  Requests d;
  d.lower({queue("x", "a"), nop("x", {"a"})});
  EXPECT_EQ(d.inputs_of("a"), "x.nop");
  EXPECT_EQ(d.inputs_of("x.nop"), "x");
  EXPECT_EQ(d.queues_of("a"), "none");
}

TEST(EdgeRequests, AnEdgeThatIsNotThereIsTold) {
  Requests d;
  d.lower({queue("a", "sum", 0), nop("nothing", {"m", "s"})});
  ASSERT_EQ(d.sink.diagnostics().size(), 3u);
  EXPECT_EQ(d.sink.diagnostics()[0].message, "option --queue: there is no edge from 'a' to 'sum', input 0");
  EXPECT_EQ(d.sink.diagnostics()[0].hint, "what 'a' gives is used by 'm' (input 0), 'sum' (input 1)");
  EXPECT_EQ(d.sink.diagnostics()[1].message, "option --nop: there is no edge from 'nothing' to 'm'");
}

TEST(TilizeOnDevice, InputsPassThroughOneTilizerEach) {
  Requests d;
  d.context.formats.standard = DataFormat::bfp8_b;
  d.context.device_tilizes = true;
  expect_equivalence(d.graph, d, {&kDecompose, &kLowerToDevice, &kTilizeOnDevice, &kTilizeOnDevice, &kAssignFormats});
  EXPECT_EQ(d.inputs_of("a"), "x.tilizer");
  EXPECT_EQ(d.inputs_of("x.tilizer"), "x");
  // Rows have no blocks; tiles may.
  EXPECT_EQ(d.node("x").outputs[0].format, DataFormat::float16_b);
  EXPECT_EQ(d.node("x.tilizer").outputs[0].format, DataFormat::bfp8_b);
}

TEST(TilizeOnDevice, TilizersMakeWholeTiles) {
  Requests d;
  d.device.features.small_tiles = true;
  d.context.device_tilizes = true;
  Builder b("rows");
  b.output("y", called(b, "e", b.exp(b.input("x", {3, 40}))));
  d.graph = finished(b);
  expect_equivalence(d.graph, d, {&kLowerToDevice, &kTilizeOnDevice, &kSmallTiles});
  for (const char* name : {"x", "x.tilizer", "e"}) EXPECT_FALSE(d.node(name).tags.contains(graph::kTileRows)) << name;
}

}  // namespace
}  // namespace buda::passes
