// The optimizer as an embedding program calls it.
#include "unit/compiler/stages.hpp"

#include <algorithm>

namespace buda::compiler {
namespace {

class Optimize : public Stages {
 protected:
  static bool ran(const Optimized& done, std::string_view pass) {
    return std::any_of(done.runs.begin(), done.runs.end(), [&](const passes::PassRun& run) { return run.pass->name == pass; });
  }
};

TEST_F(Optimize, OptionsActWhenTheyAreSetByThePyBudaNames) {
  graph::Graph stable = classifier(), plain = classifier();
  ASSERT_TRUE(optimize(stable));
  set(optimizer_names_, "enable_stable_softmax", "false");
  set(optimizer_names_, "math_fidelity", "LoFi");
  ASSERT_TRUE(optimize(plain));
  EXPECT_EQ(stable.level, graph::Level::device);
  EXPECT_TRUE(stable.find("p.max").valid());
  EXPECT_FALSE(plain.find("p.max").valid());
  EXPECT_EQ(plain.node(plain.find("fc")).precision.fidelity, graph::MathFidelity::lofi);
}

TEST_F(Optimize, ARulesOwnOptionHasTheLastWord) {
  graph::Graph graph = classifier();
  set(optimizer_names_, "enable_stable_softmax", "false");
  plugin_options_["decomposition.softmax"].set("stable", "true");
  ASSERT_TRUE(optimize(graph));
  EXPECT_TRUE(graph.find("p.max").valid());
}

TEST_F(Optimize, AWrongValueNamesItsOption) {
  EXPECT_EQ(message(optimizer_names_.assign("amp_level", {"3"}).failure()), "option 'amp_level': '3' is illegal; allowed: 0, 1, 2");
  set(optimizer_names_, "default_df_override", "Float17");
  graph::Graph graph = classifier();
  auto done = optimize(graph);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.failure().diagnostics().front().fault, Fault::usage);
  EXPECT_EQ(message(done.failure()).rfind("option --default-df-override (or --default-df): ", 0), 0u) << message(done.failure());
}

TEST_F(Optimize, ARunEndsAfterTheNamedPass) {
  graph::Graph graph = classifier();
  OptimizeControl control;
  control.stop_after = "decompose";
  auto done = optimize(graph, control);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->runs.back().pass->name, "decompose");
  EXPECT_EQ(graph.level, graph::Level::tensor);
}

TEST_F(Optimize, AFailureOfTheWatcherEndsTheRun) {
  graph::Graph graph = classifier();
  OptimizeControl control;
  std::size_t executions = 0;
  control.after_pass = [&](const passes::PassRun&, const graph::Graph&) -> Result<void> {
    if (++executions < 3) return success();
    return input_error("XX001", {}, "enough");
  };
  auto done = optimize(graph, control);
  ASSERT_FALSE(done);
  EXPECT_EQ(message(done.failure()), "enough");
  EXPECT_EQ(executions, 3u);
}

TEST_F(Optimize, OptionsLeavePassesOutUnlessAllAreAskedFor) {
  set(optimizer_names_, "enable_consteval", "false");
  OptimizeControl control;
  control.pipeline = *passes::pipeline_of({"infer-types", "constant-folding"});
  graph::Graph graph = classifier();
  auto done = optimize(graph, control);
  ASSERT_TRUE(done);
  EXPECT_FALSE(ran(*done, "constant-folding"));
  control.all_passes = true;
  done = optimize(graph, control);
  ASSERT_TRUE(done);
  EXPECT_TRUE(ran(*done, "constant-folding"));
}

}  // namespace
}  // namespace buda::compiler
