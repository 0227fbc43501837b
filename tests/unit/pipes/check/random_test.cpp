// SPDX-License-Identifier: Apache-2.0
// Random netlists through building and checking.
#include <buda/pipes/format/pipes_file.hpp>

#include "unit/pipes/built.hpp"
#include "unit/pipes/check/random_netlists.hpp"

#include <algorithm>

namespace buda::pipes {
namespace {

// "" when both forms of the file give the graph back.
std::string written_and_read(const PipeGraph& graph) {
  for (const std::string& text : {pipegen_text(graph), pipes_text(graph)}) {
    auto back = parse_pipe_graph(text, "p");
    if (!back) return messages(back.failure());
    if (back->graph != graph) return "what was read is another graph";
  }
  return "";
}

TEST(RandomNetlists, EveryTileArrives) {
  const int wanted = netlists_wanted(600);
  Rng rng(2024);
  int built = 0, refused = 0, kept = 0, kept_along_z = 0;
  for (int round = 0; built < wanted && round < 4 * wanted; ++round) {
    std::string text = random_netlist(rng);
    Built b(text);
    if (!b.ok()) {
      // Stacks may ask for more of the producer than it keeps; nothing else may be refused.
      ++refused;
      ASSERT_TRUE(b.problem.find("buffer") != std::string::npos) << b.problem << text;
      continue;
    }
    ++built;
    const netlist::Op& op = *b.index->op("op").op;
    const bool keeps = std::any_of(op.inputs.begin(), op.inputs.end(), [](const auto& in) { return in.kernel_broadcast.per_t; });
    kept += keeps ? 1 : 0;
    kept_along_z += keeps && op.attributes.z > 1 ? 1 : 0;
    ASSERT_EQ(b.check(), "") << text;
    if (built % 20 != 0) continue;
    ASSERT_EQ(written_and_read(b.graph), "") << text;
  }
  RecordProperty("refused", refused);
  EXPECT_EQ(built, wanted) << refused << " were refused";
  EXPECT_LT(refused, wanted / 4);
  EXPECT_GT(kept, wanted / 12);
  EXPECT_GT(kept_along_z, wanted / 200);
}

// With all streams that links have, and with so few that most edges have to share them.
TEST(RandomNetlists, EveryTileArrivesOverEthernet) {
  const int wanted = netlists_wanted(300);
  Rng rng(5);
  int built = 0, crossing = 0, shared = 0, copies = 0;
  for (int round = 0; built < wanted && round < 4 * wanted; ++round) {
    std::string text = random_netlist(rng, 2);
    Built b(text, "n300", round % 2 == 0 ? std::optional<std::size_t>{} : 5);
    if (!b.ok()) {
      bool few = round % 2 == 1 && b.problem.find("PP036") != std::string::npos;
      ASSERT_TRUE(few || b.problem.find("buffer") != std::string::npos) << b.problem << text;
      continue;
    }
    ++built;
    const auto& pipes = b.graph.pipes;
    crossing += std::any_of(pipes.begin(), pipes.end(), [](const Pipe& p) { return p.ethernet_pipe; }) ? 1 : 0;
    for (const Buffer& buffer : b.graph.buffers) {
      shared += buffer.type == BufferType::ethernet_relay && buffer.is_scatter ? 1 : 0;
      copies += buffer.type == BufferType::packer && buffer.ethernet_chan ? 1 : 0;
    }
    ASSERT_EQ(b.check(), "") << text;
    ASSERT_EQ(written_and_read(b.graph), "") << text;
  }
  EXPECT_EQ(built, wanted);
  EXPECT_GT(crossing, wanted / 2);
  EXPECT_GT(shared, 20);
  EXPECT_GT(copies, 40);
}

TEST(RandomNetlists, EveryTileArrivesOverPcie) {
  const int wanted = netlists_wanted(200);
  Rng rng(6);
  int built = 0, crossing = 0;
  for (int round = 0; built < wanted && round < 4 * wanted; ++round) {
    std::string text = random_netlist(rng, 2, "grayskull");
    Built b(text, "grayskull");
    if (!b.ok()) {
      ASSERT_TRUE(b.problem.find("buffer") != std::string::npos) << b.problem << text;
      continue;
    }
    ++built;
    const auto& pipes = b.graph.pipes;
    crossing += std::any_of(pipes.begin(), pipes.end(), [](const Pipe& p) { return p.mmio_downstream.has_value(); }) ? 1 : 0;
    ASSERT_EQ(b.check(), "") << text;
    ASSERT_EQ(written_and_read(b.graph), "") << text;
  }
  EXPECT_EQ(built, wanted);
  EXPECT_GT(crossing, wanted / 8);
}

}  // namespace
}  // namespace buda::pipes
