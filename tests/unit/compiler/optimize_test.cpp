// SPDX-License-Identifier: Apache-2.0
// The optimizer as an embedding program calls it.
#include "unit/compiler/stages.hpp"

#include <algorithm>
#include <cmath>

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
  const auto assigned = optimizer_names_.assign("default_df_override", {"Float17"});
  ASSERT_FALSE(assigned);
  EXPECT_EQ(assigned.failure().diagnostics().front().fault, Fault::usage);
  EXPECT_EQ(message(assigned.failure()).rfind("option 'default_df_override': ", 0), 0u) << message(assigned.failure());
}

TEST_F(Optimize, AValueThatNoCommandLineGivesIsRefused) {
  graph::Graph graph = classifier();
  const auto refused = [&](auto change) {
    const OptimizerOptions standard = optimizer_;
    change(optimizer_);
    const auto done = optimize(graph);
    optimizer_ = standard;
    if (done) return std::string("nothing");
    const Diagnostic& d = done.failure().diagnostics().front();
    return d.fault == Fault::usage ? d.code + ": " + d.message : d.message;
  };
  EXPECT_EQ(refused([](OptimizerOptions& o) { o.level = 3; }), "CL003: option --opt-level: 'number 3' is illegal; allowed: 0, 1, 2");
  EXPECT_EQ(refused([](OptimizerOptions& o) { o.amp_level = -1; }), "CL003: option --amp-level: 'number -1' is illegal; allowed: 0, 1, 2");
  EXPECT_EQ(refused([](OptimizerOptions& o) { o.quantized = static_cast<passes::QuantizedModels>(7); }),
            "CL003: option --quantized: 'number 7' is illegal; allowed: dequantize, int8, host");
  EXPECT_EQ(refused([](OptimizerOptions& o) { o.accuracy = std::nan(""); }),
            "CL003: option --accuracy: nan is out of range; allowed: 0 to 1");
  EXPECT_EQ(refused([](OptimizerOptions& o) { o.tm_cpu_fallback_max_depth = -1; }),
            "CL003: option --tm-cpu-fallback-max-depth: -1 is out of range; allowed: at least 0");
  EXPECT_NE(refused([](OptimizerOptions& o) { o.nops = {"a"}; }).find("option --insert-buffering-nop: "), std::string::npos);
  EXPECT_EQ(refused([](OptimizerOptions&) {}), "nothing");
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
