// SPDX-License-Identifier: Apache-2.0
// Which ops without room the host runs.
#include "stages.hpp"

#include <buda/compiler/hosted_ops.hpp>

namespace buda::compiler {
namespace {

// A gather of floats, and a softmax of what it gives; an integer sum.
graph::Graph model() {
  ops::Builder b("model");
  const auto table = b.input("table", Shape{97, 8});
  const auto index = b.input("index", Shape{5}, DType::i64);
  const auto rows = b.named("rows").op("gather", {table, index}, {{"dim", std::int64_t{0}}});
  b.output("p", b.named("p").op("softmax", {rows}, {{"dim", std::int64_t{-1}}}));
  b.output("next", b.named("next").add(index, index));
  auto graph = b.finish();
  EXPECT_TRUE(graph);
  return graph ? std::move(*graph) : graph::Graph();
}

std::vector<std::string> names(const Misfits& misfits) {
  std::vector<std::string> out;
  if (const auto ops = hosted_ops(misfits, model()))
    for (const auto& [name, op] : *ops) out.push_back(name);
  return out;
}

using Names = std::vector<std::string>;

TEST(HostedOps, AreOfIntegersOrReadByNumbers) {
  EXPECT_EQ(names({{"next.high", {"no room", false, {"next"}}}}), Names{"next"});
  EXPECT_EQ(names({{"rows.where.picked", {"no room", false, {}}}}), Names{"rows"}) << "by the name, where nothing else tells";
  EXPECT_EQ(names({{"rows.a", {"no room", false, {"rows"}}}, {"next.b", {"no room", false, {"next", "rows"}}}}), (Names{"next", "rows"}));
}

TEST(HostedOps, ComputeNoFloats) {
  EXPECT_EQ(names({{"p.exp", {"no room", false, {"p"}}}}), Names{});
  EXPECT_EQ(names({{"p.exp", {"no room", false, {"p", "rows"}}}}), Names{}) << "does the work of both";
  EXPECT_EQ(names({{"p.exp", {"no room", false, {"p"}}}, {"next.high", {"no room", false, {"next"}}}}), Names{}) << "all or none";
  EXPECT_EQ(names({{"q", {"no room", false, {}}}}), Names{});
  EXPECT_EQ(names({{"p.picked", {"no room", true, {"p"}}}}), Names{"p.picked"}) << "what picks rows, by its own name";
}

TEST(HostedOps, AreNamedOnce) {
  OptimizerOptions options;
  const auto ops = hosted_ops({{"next.high", {"it needs more.", false, {"next"}}}}, model());
  ASSERT_TRUE(ops);
  const auto told = name_for_host(options, *ops);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told.front().code, "CO010");
  EXPECT_EQ(told.front().message, "'next' (add) is of integers, and runs on the host: it needs more.");
  EXPECT_EQ(options.cpu_fallback_nodes, std::vector<std::string>{"next"});
  EXPECT_TRUE(name_for_host(options, *ops).empty());
}

TEST(HostedOps, AreFoundInDiagnostics) {
  Diagnostic d = does_not_fit("BL011", "next.high", "l1", 2, 1, "too large", "");
  const Failure failure = with_origins(Failure(d), origins_of_nodes([] {
                                         graph::Graph graph = model();
                                         for (const graph::NodeId id : graph.ids())
                                           graph.node(id).origins = {{"m.onnx", graph.node(id).name()}};
                                         return graph;
                                       }()));
  auto found = misfits_of(failure);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->at("next.high").origins.empty()) << "no node of that name";
  d.node = "next";
  auto graph = model();
  graph.node(graph.find("next")).origins = {{"m.onnx", "/Add"}};
  found = misfits_of(with_origins(Failure(d), origins_of_nodes(graph)));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->at("next").origins, std::vector<std::string>{"/Add"});
  const auto read = parse_misfits(misfits_text(*found), "m.json");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->at("next").origins, std::vector<std::string>{"/Add"});
  EXPECT_EQ(read->at("next").why, "too large");
  EXPECT_FALSE(misfits_of(Failure(input_error("BL003", {}, "wrong"))));
}

}  // namespace
}  // namespace buda::compiler
