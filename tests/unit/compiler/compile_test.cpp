// SPDX-License-Identifier: Apache-2.0
// The whole compiler in one call.
#include "stages.hpp"

#include <buda/compiler/compile.hpp>
#include <buda/graph/file/graph_file.hpp>
#include <buda/graph/tags/input_range.hpp>
#include <buda/image/image.hpp>
#include <buda/io/memory_file_system.hpp>

namespace buda::compiler {
namespace {

class Compile : public Stages {
 protected:
  // The classifier as a file of the native frontend.
  static plugin::ModelSource model() { return {"models/classifier.graph.json", io::Bytes(graph::graph_text(classifier()))}; }
  Result<image::Image> compile(const plugin::ModelSource& source) { return buda::compile(source, options_, build_plugins(), host_); }

  CompileOptions options_;
};

TEST_F(Compile, GivesAnImageWithEverythingThatRunningNeeds) {
  auto image = compile(model());
  ASSERT_TRUE(image) << message(image.failure());
  EXPECT_EQ(image->netlist_name, "classifier.yaml");
  EXPECT_EQ(image->device.name, "classifier");
  EXPECT_EQ(image->device.plan.inputs.front().name, "x");
  EXPECT_EQ(image->device.plan.outputs.front().name, "y");
  EXPECT_FALSE(image->parameters.empty());
  for (const char* member : {"netlist_queues.yaml", "padding_table.yaml", "temporal_epoch_0/overlay/blob.json"})
    EXPECT_TRUE(image->build.contains(member)) << member;
}

TEST_F(Compile, PipesNameTheDescriptorFileWithoutItsFolder) {
  options_.device = host_.share_dir + "/devices/n150.yaml";
  auto image = compile(model());
  ASSERT_TRUE(image) << message(image.failure());
  auto pipes = image->build.find("temporal_epoch_0/overlay/pipes.json");
  ASSERT_NE(pipes, image->build.end());
  EXPECT_NE(pipes->second.view().find("\"device\": \"n150.yaml\""), std::string_view::npos);
}

TEST_F(Compile, TheSameModelGivesTheSameBytesWhateverTheThreads) {
  auto bytes = [&](unsigned threads) {
    host_.threads = threads;
    auto image = compile(model());
    EXPECT_TRUE(image);
    io::MemoryFileSystem files;
    auto out = files.create("m.tti", io::WriteMode::always);
    EXPECT_TRUE(image::write_image(**out, std::move(*image)));
    EXPECT_TRUE((*out)->commit());
    return std::string(files.find("m.tti")->view());
  };
  EXPECT_EQ(bytes(1), bytes(3));
}

TEST_F(Compile, IsCancelledWhereverItIs) {
  int asked = 0;
  options_.cancelled = [&] {
    ++asked;
    return false;
  };
  ASSERT_TRUE(compile(model()));
  const int whole = asked;
  EXPECT_GT(whole, 10) << "stages, passes and epochs ask";
  for (int last : {1, 2, whole / 2, whole}) {
    asked = 0;
    options_.cancelled = [&] { return ++asked == last; };
    auto image = compile(model());
    ASSERT_FALSE(image) << last;
    EXPECT_EQ(image.failure().diagnostics().front().code, "CO001");
    EXPECT_EQ(image.failure().diagnostics().front().fault, Fault::interrupted);
    EXPECT_EQ(asked, last);
  }
}

TEST_F(Compile, ReportsWhatAStageFinds) {
  auto image = compile({"model.bin", io::Bytes(std::string("what is this?"))});
  ASSERT_FALSE(image);
  EXPECT_EQ(image.failure().diagnostics().front().code, "IP001");
  options_.device = "n15";
  EXPECT_FALSE(compile(model()));
}

class WithoutRoom : public Compile {
 protected:
  std::vector<Diagnostic> hosted() const {
    std::vector<Diagnostic> out;
    for (const Diagnostic& d : sink_.diagnostics())
      if (d.code == "CO010") out.push_back(d);
    return out;
  }

  static plugin::ModelSource source(ops::Builder& b) {
    auto graph = b.finish();
    EXPECT_TRUE(graph);
    return {"large.graph.json", io::Bytes(graph::graph_text(*graph))};
  }
};

// What the second optimization reads (the pipeline, the device) is what the first one read.
TEST_F(WithoutRoom, TheHostRunsOpsOfIntegers) {
  ops::Builder b("integers");
  const auto index = b.input("index", Shape{2, 3}, DType::i64);
  b.node(index).tags[graph::kValueRange] = "-2053:2052";
  const auto values = b.constant(Shape{2}, std::vector<std::int64_t>{0, 1});
  b.output("y", b.named("hot").op("one_hot", {index, values}, {{"depth", std::int64_t{2053}}, {"dim", std::int64_t{0}}}));
  const plugin::ModelSource model = source(b);
  auto image = compile(model);
  ASSERT_TRUE(image) << message(image.failure());
  ASSERT_EQ(hosted().size(), 1u);
  EXPECT_EQ(hosted().front().node, "hot");
  EXPECT_NE(hosted().front().message.find("'hot' (one_hot) is of integers, and runs on the host: "), std::string::npos);
  options_.optimizer.cpu_fallback = false;
  EXPECT_FALSE(compile(model)) << "refused without a host";
}

}  // namespace
}  // namespace buda::compiler
