// SPDX-License-Identifier: Apache-2.0
// Pipes files: there and back with every key, and what is wrong with others.
#include <buda/pipes/format/pipes_file.hpp>

#include <buda/pipes/format/pipegen_keys.hpp>

#include "unit/pipes/built.hpp"

#include <gmock/gmock.h>

namespace buda::pipes {
namespace {

using ::testing::HasSubstr;

// Sets what a key stands for to something that is not its default; `i` makes a difference between buffers or pipes.
struct SetKey {
  int i;
  Buffer* b = nullptr;
  void operator()(SpecialKey key) const {
    switch (key) {
      case SpecialKey::op:
        b->op = cat("op \"", i, "\"\n");
        return;
      case SpecialKey::type:
        b->type = BufferType::relay;
        return;
      case SpecialKey::chip:
        b->chip = 1 + i;
        return;
      case SpecialKey::core:
        b->core = {i, 1};
        return;
      case SpecialKey::prefetch:
        b->prefetch_type = PrefetchType::post_tm;
        return;
      case SpecialKey::address:
        b->dram_addr = 0x8000'0000'0000 + static_cast<std::uint64_t>(i);
        return;
    }
  }
  void operator()(MmioFlag) const {}
  void operator()(bool& value) const { value = true; }
  void operator()(std::vector<Id>& list) const { list.assign(static_cast<std::size_t>(3 + i), kFirstId); }
  void operator()(std::vector<std::vector<Id>>& groups) const { groups.assign(2, {kFirstId, kFirstId + kIdStep}); }
  void operator()(std::vector<CoreCoord>& cores) const { cores.assign(2, {1, {2, 3 + i}}); }
  void operator()(std::vector<std::int32_t>& list) const { list.assign(2, 5 + i); }
  template <class T>
  void operator()(T& value) const {
    value = static_cast<T>(static_cast<typename std::conditional_t<std::is_integral_v<T>, T, int>>(2 + i));
  }
  template <class T>
  void operator()(std::optional<T>& value) const {
    value = static_cast<T>(i);
  }
};

// Two buffers and two pipes with every key there is: a key that a form of the file forgets is a difference.
PipeGraph pipes_file_everything() {
  PipeGraph g;
  g.device = "n150";
  g.graphs = {"one", "two"};
  for (int i = 0; i < 2; ++i) {
    Buffer& b = g.buffers.emplace_back();
    for (const BufferKey& key : buffer_keys()) visit_key(key, SetKey{i, &b}, b);
    b.id = kFirstId + static_cast<Id>(i) * kIdStep;
    Pipe& p = g.pipes.emplace_back();
    for (const PipeKey& key : pipe_keys()) visit_key(key, SetKey{i}, p);
    p.id = kFirstId + static_cast<Id>(7 + i) * kIdStep;
    p.output_padding.resize(2);
  }
  return g;
}

Diagnostic pipes_file_first_error(const std::string& text) {
  auto graph = parse_pipe_graph(text, "p.json");
  EXPECT_FALSE(graph.ok());
  return graph.ok() ? Diagnostic{} : graph.failure().diagnostics().front();
}

std::string file(const std::string& kinds, const std::string& buffers, const std::string& pipe_kinds = "", const std::string& pipes = "") {
  return cat(R"({"schema": "buda.pipes/1", "graphs": ["g"],)", "\n\"buffer_kinds\": [", kinds, "],\n\"buffers\": [", buffers,
             "],\n\"pipe_kinds\": [", pipe_kinds, "],\n\"pipes\": [", pipes, "]}");
}

const char* const kQueue = R"({"buffer_type": "dram_io", "md_op_name": "q", "each": ["uniqid"]})";
const char* const kPipe = R"({"mcast_core_rc": [[0, 0, 0]], "each": ["id", "input_list", "output_list"]})";

TEST(PipesFile, WhatIsWrittenReadsBackEqualWithEveryKey) {
  PipeGraph g = pipes_file_everything();
  auto back = parse_pipe_graph(pipes_text(g), "p.json");
  ASSERT_TRUE(back.ok()) << messages(back.failure());
  EXPECT_EQ(back->graph, g);
  g.buffers[1] = Buffer{};
  g.buffers[1].id = kFirstId + kIdStep;
  back = parse_pipe_graph(pipes_text(g), "p.json");
  ASSERT_TRUE(back.ok()) << messages(back.failure());
  EXPECT_EQ(back->graph, g);
}

TEST(PipesFile, WhatIsCommonIsSaidOnce) {
  PipeGraph g = pipes_file_everything();
  g.buffers[1] = g.buffers[0];
  g.buffers[1].id += kIdStep;
  std::string text = pipes_text(g);
  EXPECT_THAT(text, HasSubstr(R"("each": ["uniqid"]}],)"));
  EXPECT_THAT(text, HasSubstr("\n[0, 100000000000],\n[0, 101000000000]],"));
}

// A line says the value of each key of its kind, so those that have no value are of another kind.
TEST(PipesFile, SomeMayHaveNoValueWhereOthersOfTheOperandHaveOne) {
  PipeGraph g = pipes_file_everything();
  g.buffers[1].op = g.buffers[0].op;
  g.buffers[1].operand = g.buffers[0].operand;
  for (Id i : {2, 3}) {
    g.buffers.push_back(Buffer(g.buffers[i - 2]));
    g.pipes.push_back(Pipe(g.pipes[i - 2]));
    g.buffers[i].id += 2 * kIdStep;
    g.buffers[i].ethernet_chan.reset();
    g.pipes[i].id += 2 * kIdStep;
    g.pipes[i].mmio_downstream.reset();
  }
  g.buffers[3].buffer_space_shared.reset();
  g.buffers[3].producer_epoch_id.reset();
  g.pipes[3].ethernet_chan.reset();
  auto back = parse_pipe_graph(pipes_text(g), "p.json");
  ASSERT_TRUE(back.ok()) << messages(back.failure());
  EXPECT_EQ(back->graph, g);
}

TEST(PipesFile, IdsHave64Bits) {
  PipeGraph g = pipes_file_everything();
  g.buffers[0].id = UINT64_MAX;
  for (Pipe& p : g.pipes) {
    p.id = UINT64_MAX - 1 - (p.id == g.pipes[1].id ? 1 : 0);
    p.inputs = {UINT64_MAX, g.buffers[1].id, UINT64_MAX, g.buffers[1].id};
    p.outputs = {{UINT64_MAX}, {UINT64_MAX, g.buffers[1].id}};
    p.output_padding = {0, UINT64_MAX};
  }
  auto back = parse_pipe_graph(pipes_text(g), "p.json");
  ASSERT_TRUE(back.ok()) << messages(back.failure());
  EXPECT_EQ(back->graph, g);
}

TEST(PipesFile, RunsAreSpelledOut) {
  auto graph = parse_pipe_graph(file(kQueue, "[0, 100000000000], [0, 200000000000]", kPipe,
                                     "[0, 300000000000, [[[100000000000, 200000000000], 2, 0], [200000000000, 2, -100000000000]], "
                                     "[[100000000000]]]"),
                                "p.json");
  ASSERT_TRUE(graph.ok()) << messages(graph.failure());
  constexpr Id a = 100'000'000'000, b = 200'000'000'000;
  EXPECT_EQ(graph->graph.pipes[0].inputs, (std::vector<Id>{a, b, a, b, b, a}));
}

TEST(PipesFile, RunsMayHaveRunsInside) {
  auto graph =
      parse_pipe_graph(file(kQueue, "[0, 100], [0, 110], [0, 200]", kPipe, "[0, 300, [[[[100, 2, 10], 200], 2, 0]], [[100]]]"), "p.json");
  ASSERT_TRUE(graph.ok()) << messages(graph.failure());
  EXPECT_EQ(graph->graph.pipes[0].inputs, (std::vector<Id>{100, 110, 200, 100, 110, 200}));
}

TEST(BadPipes, PointsToThePlace) {
  Diagnostic d = pipes_file_first_error(file(kQueue, "[0, 100000000000],\n[1, 200000000000]"));
  EXPECT_EQ(d.code, "PG011");
  EXPECT_EQ(d.loc.line, 4u);
  EXPECT_EQ(d.loc.column, 2u);
  d = pipes_file_first_error(file(R"({"buffer_type": "dram_io", "epoch_tils": 3, "each": ["uniqid"]})", "[0, 1]"));
  EXPECT_EQ(d.code, "PG003");
  EXPECT_EQ(d.loc.line, 2u);
  EXPECT_THAT(d.hint, HasSubstr("epoch_tiles"));
}

TEST(BadPipes, EachIsRefusedForItsReason) {
  auto code = [](const std::string& text) { return pipes_file_first_error(text).code; };
  EXPECT_EQ(code(file(kQueue, "[0]")), "PG011");
  EXPECT_EQ(code(file(kQueue, "0")), "PG007");
  EXPECT_EQ(code(file("[]", "[0, 1]")), "PG007");
  EXPECT_EQ(code(file(R"({"each": ["uniqid"]})", "[0, 1]")), "PG004");
  EXPECT_EQ(code(file(kQueue, "")), "PG002");
  EXPECT_EQ(code(file(kQueue, "[0, 1], [0, 1]")), "PG009");
  EXPECT_EQ(code(file(kQueue, R"([0, "x"])")), "PG007");
  EXPECT_EQ(code(file(kQueue, R"([0, {}])")), "PG007");
  // The same key for the kind and for each.
  EXPECT_EQ(code(file(R"({"buffer_type": "dram_io", "uniqid": 1, "each": ["uniqid"]})", "[0, 1]")), "PG006");
  auto pipe = [&](const std::string& inputs) { return code(file(kQueue, "[0, 5]", kPipe, "[0, 9, " + inputs + ", [[5]]]")); };
  EXPECT_EQ(pipe("[6]"), "PG010");
  EXPECT_EQ(pipe("[[5, 2]]"), "PG007");
  EXPECT_EQ(pipe("[[5, 1, 0]]"), "PG007");
  EXPECT_EQ(pipe("[[[], 3, 0]]"), "PG007");
  EXPECT_EQ(pipe("[-5]"), "PG007");
  EXPECT_EQ(pipe("5"), "PG007");
  // Few bytes, many numbers.
  EXPECT_EQ(pipe("[[5, 4000000000, 0]]"), "PG011");
  EXPECT_EQ(pipe("[[5, 1000000, 0], [5, 67000000, 0]]"), "PG011");
  EXPECT_EQ(code(R"({"schema": "buda.pipes/2"})"), code(R"({"schema": "buda.pipes/3"})"));
}

TEST(BadPipes, NamesAreStringsAndAllElseNumbersOrLists) {
  auto code = [](const std::string& text) { return pipes_file_first_error(text).code; };
  EXPECT_EQ(code(file(R"({"buffer_type": "dram_io", "md_op_name": ["q"], "each": ["uniqid"]})", "[0, 1]")), "PG007");
  EXPECT_EQ(code(file(R"({"buffer_type": "dram_io", "md_op_name": null, "each": ["uniqid"]})", "[0, 1]")), "PG007");
  EXPECT_EQ(code(file(R"({"buffer_type": "dram_io", "epoch_tiles": "0x4", "each": ["uniqid"]})", "[0, 1]")), "PG007");
  EXPECT_EQ(code(R"({"schema": "buda.pipes/1", "graphs": [[]], "buffer_kinds": [], "buffers": [], "pipe_kinds": [], "pipes": []})"),
            "PG007");
}

// Also where no line is of the kind.
TEST(BadPipes, KeysOfEachAreThoseThatThereAre) {
  Diagnostic d = pipes_file_first_error(file(R"({"buffer_type": "dram_io", "each": ["uniqid", "epoch_tils"]})", ""));
  EXPECT_EQ(d.code, "PG003");
  EXPECT_EQ(d.loc.line, 2u);
  EXPECT_THAT(d.hint, HasSubstr("epoch_tiles"));
  EXPECT_EQ(pipes_file_first_error(file(R"({"buffer_type": "dram_io", "each": ["uniqid", "uniqid"]})", "")).code, "PG006");
  EXPECT_EQ(pipes_file_first_error(file(R"({"buffer_type": "dram_io", "each": ["uniqid", 5]})", "")).code, "PG007");
  EXPECT_EQ(pipes_file_first_error(file(R"({"buffer_type": "dram_io", "each": "uniqid"})", "")).code, "PG007");
}

// A kind that has much is not much by itself, but each of its lines has it.
TEST(BadPipes, WhatAKindSaysCountsForEachLine) {
  std::string lines;
  for (int i = 0; i < 1000; ++i) lines += cat(i > 0 ? ", " : "", '[', 0, ", ", i, ']');
  const std::string name(100'000, 'q');
  EXPECT_EQ(
      pipes_file_first_error(file(cat(R"({"buffer_type": "dram_io", "md_op_name": ")", name, R"(", "each": ["uniqid"]})"), lines)).code,
      "PG011");
  const char* const kind = R"({"mcast_core_rc": [[0, 0, 0]], "input_list": [[5, 100000, 0]], "output_list": [[5]], "each": ["id"]})";
  EXPECT_EQ(pipes_file_first_error(file(kQueue, "[0, 5]", kind, lines)).code, "PG011");
}

TEST(BadPipes, PipesLeadSomewhere) {
  EXPECT_EQ(pipes_file_first_error(file(kQueue, "[0, 5]", R"({"each": ["id", "input_list", "output_list"]})", "[0, 9, [5], []]")).code,
            "PG010");
}

// Whatever is cut off or changed, there is a diagnostic or a graph.
TEST(BadPipes, NothingBreaksTheReader) {
  std::string text = pipes_text(pipes_file_everything());
  // All but the last line break is needed.
  for (std::size_t cut = 0; cut + 1 < text.size(); cut += 7) EXPECT_FALSE(parse_pipe_graph(text.substr(0, cut), "p.json").ok());
  for (std::size_t at = 0; at < text.size(); at += 5)
    for (char c : {'0', '9', '[', '"', '-'}) {
      std::string changed = text;
      changed[at] = c;
      auto graph = parse_pipe_graph(changed, "p.json");
      if (!graph.ok()) {
        EXPECT_FALSE(graph.failure().diagnostics().empty());
      }
    }
}

}  // namespace
}  // namespace buda::pipes
