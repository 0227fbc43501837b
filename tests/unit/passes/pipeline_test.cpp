// SPDX-License-Identifier: Apache-2.0
// Pipelines: the file, its mistakes, and how stages run.
#include "default_pipeline.hpp"
#include "harness.hpp"

namespace buda::passes {
namespace {

Diagnostic refusal(const std::string& text) {
  auto pipeline = parse_pipeline(text, "p.yaml");
  if (pipeline) {
    ADD_FAILURE() << "accepted: " << text;
    return {};
  }
  return pipeline.failure().diagnostics().front();
}

TEST(Pipeline, ReadsWhatStandsThere) {
  auto pipeline = parse_pipeline(
      "schema: buda.pipeline/1\n"
      "summary: a test\n"
      "stages:\n"
      "  - {name: a, passes: [infer-types, decompose], comment: why}\n"
      "  - {name: b, passes: [fuse-bias], from_level: 2, rounds: 7}\n",
      "p.yaml");
  ASSERT_TRUE(pipeline.ok()) << Bench::message(pipeline.failure());
  Pipeline expected{"a test", {{"a", "why", {{"infer-types"}, {"decompose"}}, 0, 1}, {"b", "", {{"fuse-bias"}}, 2, 7}}};
  EXPECT_EQ(*pipeline, expected);
}

TEST(Pipeline, BadPassNameIsFoundAtItsPlace) {
  Diagnostic d = refusal("schema: buda.pipeline/1\nstages:\n  - name: a\n    passes: [infer-types, constant-foldin]\n");
  EXPECT_EQ(d.code, "PA001");
  EXPECT_EQ(d.loc, (SourceLoc{"p.yaml", 4, 27}));
  EXPECT_EQ(d.hint, "did you mean 'constant-folding'?");
}

TEST(Pipeline, BadKeysAndValuesAreRefused) {
  Diagnostic d = refusal("schema: buda.pipeline/1\nstages:\n  - {name: a, passes: [decompose], round: 3}\n");
  EXPECT_EQ(d.loc.line, 3u);
  EXPECT_NE(d.hint.find("rounds"), std::string::npos) << d.hint;
  EXPECT_EQ(refusal("schema: buda.pipeline/2\nstages: []\n").loc.line, 1u);
  EXPECT_NE(
      refusal("schema: buda.pipeline/1\nstages:\n  - {name: a, passes: [decompose], from_level: 3}\n").message.find("levels are 0 to 2"),
      std::string::npos);
  EXPECT_NE(
      refusal("schema: buda.pipeline/1\nstages:\n  - {name: a, passes: [decompose], rounds: 0}\n").message.find("allowed are 1 to 100"),
      std::string::npos);
  EXPECT_NE(refusal("schema: buda.pipeline/1\nstages:\n  - {name: a, passes: []}\n").message.find("it has no passes"), std::string::npos);
  refusal("");
  refusal("[1, 2]");
}

TEST(Pipeline, DefaultOneReadsAndUsesEveryPass) {
  Pipeline pipeline = default_pipeline();
  for (const Pass* pass : standard_passes()) {
    bool used = false;
    for (const Stage& stage : pipeline.stages) {
      EXPECT_FALSE(stage.comment.empty()) << stage.name;
      for (const PassName& name : stage.passes) used = used || name.text == pass->name;
    }
    EXPECT_TRUE(used) << pass->name;
  }
}

// x -> nop -> nop -> … -> y, which algebraic-simplification takes away one after the other within one execution.
Graph chain(int length) {
  Builder b("chain");
  Edge x = b.input("x", {2});
  for (int i = 0; i < length; ++i)
    x = called(b, "n" + std::to_string(i),
               b.op("reshape", {x}, {{"shape", std::vector<std::int64_t>{i % 2 == 0 ? 2 : 1, i % 2 == 0 ? 1 : 2}}}));
  b.output("y", x);
  return finished(b);
}

std::vector<PassRun> run(const std::string& text, Graph& graph, Bench& bench, RunOptions options = {}) {
  auto pipeline = parse_pipeline("schema: buda.pipeline/1\nstages:\n" + text, "p.yaml");
  EXPECT_TRUE(pipeline.ok());
  auto runs = run_pipeline(*pipeline, graph, bench.context, options);
  if (!runs) ADD_FAILURE() << Bench::message(runs.failure());
  return runs ? *runs : std::vector<PassRun>{};
}

std::string names(const std::vector<PassRun>& runs) {
  std::vector<std::string> out;
  for (const PassRun& r : runs) out.push_back(std::string(r.pass->name) + "/" + std::to_string(r.round));
  return join(out, " ");
}

TEST(RunPipeline, RoundsEndWhenNothingChanges) {
  Bench bench;
  Graph graph = chain(3);
  auto runs = run("  - {name: a, passes: [algebraic-simplification, dead-code-elimination], rounds: 9}\n", graph, bench);
  EXPECT_EQ(names(runs), "algebraic-simplification/1 dead-code-elimination/1 algebraic-simplification/2");
  EXPECT_TRUE(bench.sink.diagnostics().empty());
  EXPECT_EQ(runs[0].number, 1u);
  EXPECT_EQ(runs[0].nodes_before, 5u);
  EXPECT_EQ(runs.back().nodes_after, 3u);
  EXPECT_EQ(runs.back().report.rewrites, 0u);
}

// Also in other stages.
TEST(RunPipeline, PassesThatFoundNothingWaitForAChange) {
  Bench bench;
  Graph graph = chain(3);
  const std::string stages =
      "  - {name: a, passes: [dead-code-elimination, fuse-bias, dead-code-elimination]}\n"
      "  - {name: b, passes: [fuse-bias, algebraic-simplification, fuse-bias]}\n";
  EXPECT_EQ(names(run(stages, graph, bench)), "dead-code-elimination/1 fuse-bias/1 algebraic-simplification/1 fuse-bias/1");
}

TEST(RunPipeline, StillChangingInTheLastRoundIsAWarning) {
  auto graph = [] {
    Builder b("g");
    auto x = b.input("x", {2});
    b.output("y", b.multiply(x, b.multiply(b.constant(2.0f), b.constant(0.5f))));
    return finished(b);
  };
  // The factor is seen to be 1 in the first round, and left out in the second.
  for (int rounds : {1, 2, 3}) {
    Bench bench;
    Graph g = graph();
    run(cat("  - {name: s, passes: [algebraic-simplification, constant-folding], rounds: ", rounds, "}\n"), g, bench);
    ASSERT_EQ(bench.sink.diagnostics().size(), rounds == 2 ? 1u : 0u) << rounds;
    if (rounds != 2) continue;
    EXPECT_EQ(bench.sink.diagnostics()[0].severity, Severity::warning);
    EXPECT_NE(bench.sink.diagnostics()[0].message.find(
                  "stage 's' was still changing the graph in its last round (2), lastly by algebraic-simplification"),
              std::string::npos)
        << bench.sink.diagnostics()[0].message;
  }
}

TEST(RunPipeline, LevelsChooseStages) {
  for (std::int64_t level = 0; level <= 2; ++level) {
    Bench bench;
    Graph graph = chain(1);
    auto runs =
        run("  - {name: a, passes: [infer-types]}\n  - {name: b, passes: [fuse-bias], from_level: 1}\n  - {name: c, passes: [fold-scale], "
            "from_level: 2}\n",
            graph, bench, {.level = level});
    EXPECT_EQ(runs.size(), static_cast<std::size_t>(level + 1));
  }
}

TEST(RunPipeline, StopsAfterAPass) {
  Bench bench;
  Graph graph = chain(2);
  auto runs = run("  - {name: a, passes: [infer-types, fuse-bias, fold-scale], rounds: 3}\n  - {name: b, passes: [decompose]}\n", graph,
                  bench, {.stop_after = "fuse-bias"});
  EXPECT_EQ(names(runs), "infer-types/1 fuse-bias/1");
}

TEST(RunPipeline, LoweredGraphsGoThroughAgain) {
  Bench bench;
  Graph graph = chain(2);
  std::string text = "  - {name: a, passes: [algebraic-simplification, lower-to-device, assign-formats]}\n";
  run(text, graph, bench);
  std::string first = listing(graph);
  auto again = run(text, graph, bench);
  EXPECT_EQ(names(again), "assign-formats/1");
  EXPECT_EQ(again[0].report.rewrites, 0u);
  EXPECT_EQ(listing(graph), first);
  auto pipeline = pipeline_of({"lower-to-device"});
  ASSERT_TRUE(pipeline.ok());
  EXPECT_FALSE(run_pipeline(*pipeline, graph, bench.context, {.skip_other_level = false}).ok());
}

TEST(RunPipeline, HooksSeeEveryExecutionAndMayEndTheRun) {
  Bench bench;
  Graph graph = chain(2);
  auto pipeline = pipeline_of({"infer-types", "algebraic-simplification", "dead-code-elimination"});
  ASSERT_TRUE(pipeline.ok());
  std::string seen;
  RunOptions options;
  options.before = [&](const PassRun& r, const Graph&) {
    seen += cat('<', r.pass->name);
    return success();
  };
  options.after = [&](const PassRun& r, const Graph&) -> Result<void> {
    seen += cat('>', r.report.rewrites);
    if (r.report.changed()) return input_error("T1", {}, "enough");
    return success();
  };
  auto runs = run_pipeline(*pipeline, graph, bench.context, options);
  ASSERT_FALSE(runs.ok());
  EXPECT_EQ(Bench::message(runs.failure()), "T1: enough");
  EXPECT_EQ(seen, "<infer-types>0<algebraic-simplification>1");
}

TEST(TimingTable, HasALinePerExecution) {
  Bench bench;
  Graph graph = chain(2);
  auto runs = run("  - {name: a, passes: [infer-types, algebraic-simplification]}\n", graph, bench);
  std::string table = timing_table(runs);
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 4);
  EXPECT_NE(table.find("algebraic-simplification  a"), std::string::npos) << table;
  EXPECT_NE(table.find("total: 2 executions"), std::string::npos) << table;
}

}  // namespace
}  // namespace buda::passes
