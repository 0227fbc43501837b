// SPDX-License-Identifier: Apache-2.0
// Pipegen files: there and back, the original's form, and what is wrong with others.
#include <buda/pipes/format/pipegen_file.hpp>

#include "unit/pipes/built.hpp"

#include <gmock/gmock.h>

namespace buda::pipes {
namespace {

using ::testing::HasSubstr;

Built small() {
  return Built(netlist_text(queue_text("q", "HOST", "grid_size: [1, 1], t: 1, mblock: [1, 2], ublock: [2, 2]", 1, 0x20000000) +
                                queue_text("out", "n", "grid_size: [1, 1], t: 1, mblock: [2, 1], ublock: [1, 4]", 1, 0x30000000),
                            op_text("n", "nop", "q", 1, "grid_loc: [0, 0], grid_size: [1, 1]",
                                    "t: 1, mblock: [2, 1], ublock: [1, 4], ublock_order: r, buf_size_mb: 2"),
                            1));
}

Diagnostic first_error(const std::string& text) {
  auto graph = parse_pipegen(text, "p.yaml");
  EXPECT_FALSE(graph.ok());
  return graph.ok() ? Diagnostic{} : graph.failure().diagnostics().front();
}

std::string pipegen_file_replaced(std::string text, const std::string& from, const std::string& to) {
  auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST(PipegenFile, WhatIsWrittenReadsBackEqual) {
  Built b = small();
  ASSERT_TRUE(b.ok()) << b.problem;
  // Fields that small graphs do not have.
  PipeGraph g = b.graph;
  g.graphs.push_back("second");
  g.buffers[0].untilized = {8, 4, 2, 1, 1, 0, 0, 32, 32, true};
  g.buffers[0].op = "a name: with 'quotes' # and\tmore";
  g.buffers[1].ethernet_chan = 3;
  g.buffers[1].buffer_space_shared = g.buffers[0].id;
  g.pipes[0].outputs.push_back(g.pipes[0].outputs[0]);
  g.pipes[0].mcast_core.push_back({1, {2, 3}});
  g.pipes[0].output_padding = {0, 0};
  g.pipes[0].mmio_downstream = 1;
  g.pipes[1].direct_mcast = true;
  g.pipes[1].periodic_repeat = 7;
  g.device = "two boards: a";
  auto back = parse_pipegen(pipegen_text(g), "p.yaml");
  ASSERT_TRUE(back.ok()) << messages(back.failure());
  EXPECT_EQ(back->graph, g);
}

TEST(PipegenFile, BeginsWithItsSchemaInAComment) {
  EXPECT_TRUE(pipegen_text(small().graph).starts_with("# buda.pipegen/1\ngraph_name: g\n---\nbuffer_"));
}

TEST(PipegenFile, SaysForWhichDeviceThePipesWereMade) {
  PipeGraph g = small().graph;
  g.device = "n150";
  EXPECT_TRUE(pipegen_text(g).starts_with("# buda.pipegen/1, device n150\ngraph_name: g\n"));
  // Others do not say, and a comment further down is none of ours.
  for (const char* head : {"", "# some tool, device n150\n", "---\n# buda.pipegen/1, device n150\n"}) {
    auto back = parse_pipegen(cat(head, "buffer_5:\n  uniqid: 5\n  buffer_type: dram_io\n  md_op_name: q\n"), "p.yaml");
    ASSERT_TRUE(back.ok()) << messages(back.failure());
    EXPECT_EQ(back->graph.device, "") << head;
  }
}

// Another layout of the same: the YAML parser takes over.
TEST(PipegenFile, AllOfYamlIsReadWhereTheFileIsSmall) {
  Built b = small();
  std::string text = pipegen_text(b.graph);
  text = pipegen_file_replaced(text, "chip_id: [0]", "chip_id:\n    - 0");
  text = pipegen_file_replaced(text, "buffer_type: dram_io", "\"buffer_type\":   'dram_io'");
  auto back = parse_pipegen(text, "p.yaml");
  ASSERT_TRUE(back.ok()) << messages(back.failure());
  EXPECT_EQ(back->graph, b.graph);
}

TEST(PipegenFile, KeysOfOthersAreSkippedWhenTheyBeginWithX) {
  Built b = small();
  auto back = parse_pipegen(pipegen_file_replaced(pipegen_text(b.graph), "  id: 0\n", "  x-note: hello\n  id: 0\n"), "p.yaml");
  ASSERT_TRUE(back.ok()) << messages(back.failure());
  EXPECT_EQ(back->graph, b.graph);
}

TEST(BadPipegen, UnknownKeysGetASpellingHint) {
  Diagnostic d = first_error(pipegen_file_replaced(pipegen_text(small().graph), "  epoch_tiles:", "  epoch_tils:"));
  EXPECT_EQ(d.code, "PG003");
  EXPECT_EQ(d.loc.line, 9u);
  EXPECT_EQ(d.loc.column, 3u);
  EXPECT_THAT(d.hint, HasSubstr("epoch_tiles"));
}

TEST(BadPipegen, ValuesAreNamedWithTheirPlace) {
  Diagnostic d = first_error(pipegen_file_replaced(pipegen_text(small().graph), "  size_tiles: 16", "  size_tiles: many"));
  EXPECT_EQ(d.code, "PG007");
  EXPECT_EQ(d.loc.line, 13u);
  EXPECT_EQ(d.loc.column, 15u);
  EXPECT_THAT(d.message, HasSubstr("found 'many'"));
}

TEST(BadPipegen, NamesAreUtf8) {
  const std::string buffer = "buffer_5:\n  uniqid: 5\n  buffer_type: dram_io\n  md_op_name: ";
  EXPECT_TRUE(parse_pipegen(buffer + "q\xC3\xA4\n", "p.yaml").ok());
  for (const std::string& text : {buffer + "q\xE4\n", "graph_name: q\xE4\n---\n" + buffer + "q\n"}) {
    auto graph = parse_pipegen(text, "p.yaml");
    ASSERT_FALSE(graph.ok());
    EXPECT_EQ(graph.failure().diagnostics().front().code, "PG007");
  }
}

// A pipe over PCIe says so with a 1.
TEST(PipegenFile, WithoutPcieThereIsNoSide) {
  auto flag = [](const std::string& value) {
    auto graph = parse_pipegen("buffer_5:\n  uniqid: 5\n  buffer_type: dram_io\n---\npipe_9:\n  id: 9\n  mmio_pipe: " + value +
                                   "\n  input_list: [5]\n  output_list: [5]\n  mcast_core_rc: [0, 0, 0]\n",
                               "p.yaml");
    return graph.ok() ? graph->graph.pipes.front().mmio_downstream : std::optional<std::int32_t>(-1);
  };
  EXPECT_EQ(flag("1"), 0);
  EXPECT_EQ(flag("0"), std::nullopt);
}

TEST(BadPipegen, ReadersAreNotCountedBelowZero) {
  auto graph = parse_pipegen(
      "buffer_5:\n  uniqid: 5\n  buffer_type: dram_io\n---\npipe_9:\n  id: 9\n  input_list: [5]\n  output_list: [5]\n"
      "  mcast_core_rc: [0, 0, 0]\n  dram_pipe_total_readers: [1]\n  dram_pipe_reader_index: [-1]\n",
      "p.yaml");
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.failure().diagnostics().front().code, "PG010");
}

TEST(BadPipegen, IdsMustAgreeBeUniqueAndExist) {
  std::string text = pipegen_text(small().graph);
  EXPECT_EQ(first_error(pipegen_file_replaced(text, "  uniqid: 102000000000", "  uniqid: 102000000001")).code, "PG005");
  EXPECT_EQ(first_error(pipegen_file_replaced(text, "input_list: [100000000000", "input_list: [300000000000")).code, "PG010");
  EXPECT_EQ(first_error(pipegen_file_replaced(pipegen_file_replaced(text, "buffer_102000000000", "buffer_103000000000"),
                                              "uniqid: 102000000000", "uniqid: 103000000000"))
                .code,
            "PG009");
}

TEST(BadPipegen, KeysStandOnceAndTheNeededOnesAreThere) {
  std::string text = pipegen_text(small().graph);
  EXPECT_EQ(first_error(pipegen_file_replaced(text, "  epoch_tiles", "  id: 1\n  epoch_tiles")).code, "PG006");
  EXPECT_EQ(first_error(pipegen_file_replaced(text, "  buffer_type: unpacker\n", "")).code, "PG004");
  EXPECT_EQ(first_error(pipegen_file_replaced(text, "  replicate: 4", "  replicate: 0")).code, "PG008");
}

TEST(BadPipegen, NothingIsNoGraph) {
  EXPECT_EQ(first_error("").code, "PG002");
  EXPECT_EQ(first_error("graph_name: g\n").code, "PG002");
  EXPECT_EQ(first_error("---\n- 1\n- 2\n").code, "PG003");
}

// Cut anywhere, or with any byte changed, it is a graph or a diagnostic.
TEST(BadPipegen, DamagedFilesGiveDiagnostics) {
  std::string text = pipegen_text(small().graph);
  for (std::size_t cut = 0; cut < text.size(); cut += 37) {
    auto graph = parse_pipegen(std::string_view(text).substr(0, cut), "p.yaml");
    EXPECT_TRUE(graph.ok() || !graph.failure().empty());
  }
  Rng rng(3);
  for (int i = 0; i < 300; ++i) {
    std::string changed = text;
    changed[rng.below(changed.size())] = static_cast<char>(rng.below(256));
    auto graph = parse_pipegen(changed, "p.yaml");
    EXPECT_TRUE(graph.ok() || !graph.failure().empty());
  }
}

}  // namespace
}  // namespace buda::pipes
