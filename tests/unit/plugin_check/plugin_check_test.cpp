// SPDX-License-Identifier: Apache-2.0
// Each suite finds what is wrong with plugins that break a promise, and nothing with one that keeps them.
#include "apps/plugin-check/checks.hpp"

#include <buda/balance/policy/policy.hpp>
#include <buda/base/text.hpp>
#include <buda/io/memory_file_system.hpp>
#include <buda/ops/whole_graph/builder.hpp>
#include <buda/plugin/decomposition.hpp>
#include <buda/plugin/frontend.hpp>
#include <buda/runtime/target.hpp>
#include <buda/tensor/tensor.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace buda::plugin_check {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

template <class Interface, class Made>
plugin::Entry<Interface> entry(const std::string& name, Made make) {
  return {.name = name, .summary = "for tests", .options = {}, .make = [make](const schema::OptionValues&, Host&) {
            return Result<std::unique_ptr<Interface>>(make());
          }};
}

// Places the smallest implementation of each op, unless it is told to break a promise.
class SomePolicy final : public balance::Policy {
 public:
  explicit SomePolicy(std::string flaw) : flaw_(std::move(flaw)) {}
  Result<balance::Choice> choose(balance::Placement placement, const balance::Estimator&) override {
    static int calls = 0;
    bool largest = flaw_ == "moody" && calls++ % 2 == 1;
    for (balance::OpId op : placement.schedule())
      BUDA_TRY(placement.place_best(op, [&](const balance::OpModel& a, const balance::OpModel& b) {
        return largest ? a.cores() > b.cores() : a.cores() < b.cores();
      }));
    BUDA_ASSIGN(balance::Choice choice, placement.choice());
    if (flaw_ == "lazy") choice.ops.pop_back();
    if (flaw_ == "one epoch")
      for (balance::PlacedOp& op : choice.ops) op.epoch = 0;
    return choice;
  }

 private:
  std::string flaw_;
};

// relu as a maximum, unless it is told otherwise.
class SomeRule final : public passes::Decomposition {
 public:
  explicit SomeRule(std::string flaw) : flaw_(std::move(flaw)) {}
  std::vector<std::string> consumes() const override { return {flaw_ == "unknown" ? "relo" : "relu"}; }
  std::vector<std::string> produces() const override { return {"maximum"}; }
  bool matches(const graph::Graph&, const graph::Node& n) const override { return flaw_ != "never" && is_float(n.outputs[0].dtype); }
  Result<void> rewrite(graph::GraphEditor& editor, graph::NodeId id) override {
    const graph::Node& n = editor.graph().node(id);
    graph::Edge x = n.inputs()[0];
    DType dtype = n.outputs[0].dtype;
    ops::Builder b(editor);
    graph::Edge bound = b.named("bound").constant(Tensor::scalar(flaw_ == "wrong" ? 0.5f : 0.0f).cast(dtype));
    graph::ValueRef y = b.maximum(x, bound);
    if (flaw_ == "undeclared") y = b.identity(y);
    BUDA_TRY(b.status());
    editor.replace(id, y);
    return success();
  }

 private:
  std::string flaw_;
};

// Reads a line with the width of a relu.
class SomeFrontend final : public plugin::Frontend {
 public:
  explicit SomeFrontend(std::string flaw) : flaw_(std::move(flaw)) {}
  int recognizes(std::string_view head, const std::string& file) const override {
    if (flaw_ == "greedy" && head.empty()) return 1;
    return file.ends_with(".width") ? 70 : 0;
  }
  Result<graph::Graph> import(const plugin::ModelSource& source, const plugin::ImportOptions& options, Host&) override {
    auto width = parse_int(trim(source.bytes.view()));
    if (flaw_ == "throwing" && !width) throw std::runtime_error("no number");
    if (!width || *width < 1 || *width > 1000) return input_error("SF001", {source.path}, "expected a width");
    if (flaw_ != "deaf" && (!options.dims.empty() || !options.values.empty() || !options.input_shapes.empty()))
      return input_error("SF002", {source.path}, "no such name");
    static int calls = 0;
    ops::Builder b(options.name.empty() || flaw_ == "stubborn" ? "width" : options.name);
    auto y = b.named(flaw_ == "moody" ? cat("y", calls++) : "y").relu(b.input("x", {1, *width}));
    if (flaw_ != "no origins") b.node(y).origins = {{"model.width", "line 1"}};
    b.output("out", y);
    return b.finish();
  }

 private:
  std::string flaw_;
};

// Holds numbers of entries and runs nothing.
class SomeDevice final : public runtime::Device {
 public:
  SomeDevice(const runtime::Program& program, std::string flaw) : netlist_(program.netlist), flaw_(std::move(flaw)) {}
  Result<void> push(const std::string& name, const Tensor& entries) override {
    BUDA_ASSIGN(const netlist::Queue* queue, find(name));
    if (flaw_ != "endless" && waiting_[name] + entries.shape()[0] > queue->entries) return refusal("full");
    waiting_[name] += entries.shape()[0];
    return success();
  }
  Result<void> write(const std::string& name, std::int64_t, const Tensor&) override {
    BUDA_TRY(find(name));
    return success();
  }
  Result<void> start(const std::string&, const runtime::Parameters&) override { return refusal("nothing runs here"); }
  Result<Tensor> pop(const std::string& name, std::int64_t) override {
    if (flaw_ == "throwing") throw std::runtime_error("empty");
    BUDA_TRY(find(name));
    return refusal("empty");
  }
  Result<std::int64_t> waiting(const std::string& name) override {
    if (flaw_ == "credulous") return waiting_[name];
    BUDA_TRY(find(name));
    return waiting_[name];
  }
  Result<Tensor> read(const std::string& name, std::int64_t, std::int64_t entries) override {
    BUDA_TRY(find(name));
    return Tensor::zeros(DType::f32, Shape{entries, 1, 32, 32});
  }

 private:
  static Diagnostic refusal(std::string why) { return input_error("SD001", {}, std::move(why)); }
  Result<const netlist::Queue*> find(const std::string& name) const {
    for (const netlist::Queue& queue : netlist_.queues)
      if (queue.name == name) return &queue;
    return refusal("no such queue");
  }

  netlist::Netlist netlist_;
  std::map<std::string, std::int64_t> waiting_;
  std::string flaw_;
};

class SomeTarget final : public runtime::Target {
 public:
  explicit SomeTarget(std::string flaw) : flaw_(std::move(flaw)) {}
  Result<std::unique_ptr<runtime::Device>> open(const runtime::Program& program, const device::DeviceDescriptor&, Host&) override {
    return std::unique_ptr<runtime::Device>(std::make_unique<SomeDevice>(program, flaw_));
  }

 private:
  std::string flaw_;
};

class PluginCheck : public ::testing::Test {
 protected:
  PluginCheck() {
    const char* source = std::getenv("BUDA_SOURCE_DIR");
    host_.share_dir = std::string(source == nullptr ? "." : source) + "/share";
    // What models for targets are placed by.
    add_policy("minimize_grid", "");
  }

  void add_policy(const std::string& name, const std::string& flaw) {
    host_.plugins.policies.insert(
        {entry<balance::Policy>(name, [flaw] { return std::make_unique<SomePolicy>(flaw); }), {"test", "1", "test.so"}});
  }

  // The promises that are broken.
  std::vector<std::string> broken_by(void (*check)(const std::string&, const Bench&, Suite&), const std::string& name) {
    Suite suite(name);
    check(name, Bench{host_.plugins, options_, host_}, suite);
    std::vector<std::string> out;
    for (std::string_view line : split(suite.text(), '\n'))
      if (line.starts_with("  FAIL  ")) out.emplace_back(line.substr(8));
    EXPECT_EQ(out.size(), suite.failed().size());
    for (const Diagnostic& d : suite.failed()) {
      EXPECT_EQ(d.code, "PK001");
      EXPECT_EQ(d.fault, Fault::mismatch) << d.message;
      EXPECT_THAT(d.message, HasSubstr(cat(name, ": not so: ")));
    }
    return out;
  }

  std::vector<std::string> policy(const std::string& flaw) {
    add_policy("mine", flaw);
    return broken_by(check_policy, "mine");
  }
  std::vector<std::string> rule(const std::string& flaw) {
    host_.plugins.decompositions.insert(
        {entry<passes::Decomposition>("mine", [flaw] { return std::make_unique<SomeRule>(flaw); }), {"test", "1", "test.so"}});
    return broken_by(check_decomposition, "mine");
  }
  std::vector<std::string> frontend(const std::string& flaw) {
    host_.plugins.frontends.insert(
        {entry<plugin::Frontend>("mine", [flaw] { return std::make_unique<SomeFrontend>(flaw); }), {"test", "1", "test.so"}});
    auto folder = std::string(::testing::TempDir()) + "plugin-check.width";
    EXPECT_TRUE(fs_->write(folder, "32\n"));
    options_.samples = {folder};
    return broken_by(check_frontend, "mine");
  }
  std::vector<std::string> target(const std::string& flaw) {
    host_.plugins.targets.insert(
        {entry<runtime::Target>("mine", [flaw] { return std::make_unique<SomeTarget>(flaw); }), {"test", "1", "test.so"}});
    return broken_by(check_target, "mine");
  }

  std::unique_ptr<io::FileSystem> fs_ = io::make_real_file_system();
  CollectingSink sink_;
  cli::ToolHost host_{*fs_, sink_};
  Options options_;
};

TEST_F(PluginCheck, ASoundPolicyPasses) { EXPECT_THAT(policy(""), IsEmpty()); }
TEST_F(PluginCheck, APolicyThatLeavesAnOpOutPlacesNothing) {
  EXPECT_THAT(policy("lazy"), ::testing::Contains("every op of a model finds a place, on every device"));
}
TEST_F(PluginCheck, APolicyThatChangesItsMindDoesNotRepeat) {
  EXPECT_THAT(policy("moody"), ElementsAre("the same problem gives the same choice, with any number of threads"));
}
TEST_F(PluginCheck, APolicyWithOneEpochIsIllegal) {
  EXPECT_THAT(policy("one epoch"), ::testing::Contains("every op of a model finds a place, on every device"));
}

TEST_F(PluginCheck, ASoundRulePasses) { EXPECT_THAT(rule(""), IsEmpty()); }
TEST_F(PluginCheck, ARuleThatChangesTheResultIsFound) { EXPECT_THAT(rule("wrong"), ElementsAre(HasSubstr("its result is equivalent"))); }
TEST_F(PluginCheck, ARuleThatLeavesWhatItDoesNotDeclareIsFound) {
  EXPECT_THAT(rule("undeclared"), ::testing::Contains(HasSubstr("it leaves only declared ops")));
}
TEST_F(PluginCheck, ARuleForNoOpIsFound) {
  EXPECT_THAT(rule("unknown"), ElementsAre("it replaces ops that exist, by ops that exist", "there is a sample that it replaces"));
}
TEST_F(PluginCheck, ARuleThatNothingShowsIsNotPassed) { EXPECT_THAT(rule("never"), ElementsAre("there is a sample that it replaces")); }

TEST_F(PluginCheck, ASoundFrontendPasses) { EXPECT_THAT(frontend(""), IsEmpty()); }
TEST_F(PluginCheck, AFrontendThatThrowsOnDamagedFilesIsFound) {
  EXPECT_THAT(frontend("throwing"), ElementsAre("an empty file is refused", "files that are cut off are read or refused",
                                                "files with damaged bytes are read or refused"));
}
TEST_F(PluginCheck, AFrontendThatClaimsNothingAtAllIsFound) {
  EXPECT_THAT(frontend("greedy"), ElementsAre("recognizes() gives 0 to 100 for any bytes, and 0 for none"));
}
TEST_F(PluginCheck, AFrontendThatIgnoresItsOptionsIsFound) {
  EXPECT_THAT(frontend("deaf"), ElementsAre("an unknown dimension or input is refused"));
}
TEST_F(PluginCheck, AFrontendThatIgnoresTheWantedNameIsFound) {
  EXPECT_THAT(frontend("stubborn"), ElementsAre("the graph has the name that the user wants"));
}
TEST_F(PluginCheck, AFrontendWithoutOriginsIsFound) {
  EXPECT_THAT(frontend("no origins"), ElementsAre("a model becomes a sound graph of tensor level with types and origins"));
}
TEST_F(PluginCheck, AFrontendThatGivesAnotherGraphEachTimeIsFound) {
  EXPECT_THAT(frontend("moody"), ElementsAre("the same bytes give the same graph"));
}

TEST_F(PluginCheck, ATargetThatRefusesToRunPassesOnlyWhenNoValuesAreExpected) {
  EXPECT_THAT(target(""), ::testing::Contains("programs write what they compute, and free what they have read"));
  options_.values = false;
  EXPECT_THAT(broken_by(check_target, "mine"), IsEmpty());
}
TEST_F(PluginCheck, ATargetWithEndlessQueuesIsFound) {
  options_.values = false;
  EXPECT_THAT(target("endless"), ElementsAre("queues are filled, read and emptied, up to their capacity"));
}
TEST_F(PluginCheck, ATargetThatKnowsQueuesThatDoNotExistIsFound) {
  options_.values = false;
  EXPECT_THAT(target("credulous"), ElementsAre("queues, programs and parameters that do not exist are refused"));
}
TEST_F(PluginCheck, ATargetThatThrowsIsFound) {
  options_.values = false;
  EXPECT_THAT(target("throwing"), ElementsAre("queues are filled, read and emptied, up to their capacity",
                                              "queues, programs and parameters that do not exist are refused"));
}

}  // namespace
}  // namespace buda::plugin_check
