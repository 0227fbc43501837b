// SPDX-License-Identifier: Apache-2.0
// Models that share a device compute what they compute alone, in whatever order they are called.
#include "stages.hpp"

#include <buda/base/rng.hpp>
#include <buda/compiler/compile.hpp>
#include <buda/compiler/merge_models.hpp>
#include <buda/device/cluster.hpp>
#include <buda/graph/file/graph_file.hpp>
#include <buda/image/merge_netlist.hpp>
#include <buda/io/memory_file_system.hpp>
#include <buda/netlist/check/check.hpp>
#include <buda/plugin/target.hpp>
#include <buda/runtime/merged_session.hpp>

#include <gmock/gmock.h>

namespace buda::compiler {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Tensor random_tensor(Rng& rng, Shape shape) {
  std::vector<float> values(static_cast<std::size_t>(shape.volume().value_or(0)));
  for (float& v : values) v = static_cast<float>(rng.below(2001)) / 1000 - 1;
  return Tensor(std::move(shape), std::move(values));
}

class MergeModels : public Stages {
 protected:
  // Two layers, in one epoch or in two; the names are those of all others.
  image::Image model(const std::string& name, std::int64_t width, bool two_epochs) {
    ops::Builder b(name);
    auto x = b.input("x", Shape{32, width});
    auto fc1 = b.named("fc1").matmul(x, b.parameter("w1", random_tensor(rng_, Shape{width, 64})));
    auto act = b.named("act").op("relu", {fc1});
    auto fc2 = b.named("fc2").matmul(act, b.parameter("w2", random_tensor(rng_, Shape{64, 32})));
    b.output("y", b.named("out").op("gelu", {fc2}));
    auto graph = b.finish();
    EXPECT_TRUE(graph);
    CompileOptions options;
    if (two_epochs) options.optimizer.epoch_breaks = {"fc2"};
    auto image = buda::compile({name + ".graph.json", io::Bytes(graph::graph_text(*graph))}, options, build_plugins(), host_);
    EXPECT_TRUE(image) << message(image.failure());
    return image ? std::move(*image) : image::Image{};
  }

  std::vector<image::NamedImage> five_models() {
    return {{"a", model("a", 64, false)},
            {"b", model("b", 32, true)},
            {"c", model("c", 96, true)},
            {"d", model("d", 64, true)},
            {"e", model("e", 160, false)}};
  }

  std::unique_ptr<runtime::Target> golden() {
    auto target = plugin::make(build_plugins(), build_plugins().targets, plugin::Kind::target, "golden", {}, host_);
    EXPECT_TRUE(target) << message(target.failure());
    return target ? std::move(*target) : nullptr;
  }

  // As from a file: what was not written would be missed.
  static image::Image reread(image::Image image) {
    io::MemoryFileSystem files;
    auto out = files.create("m.tti", io::WriteMode::always);
    EXPECT_TRUE(image::write_image(**out, std::move(image)));
    EXPECT_TRUE((*out)->commit());
    auto again = image::read_image(*files.find("m.tti"), "m.tti");
    EXPECT_TRUE(again) << message(again.failure());
    return again ? std::move(*again) : image::Image{};
  }

  // Calls the models of the merged image and the single ones, in a random order and with one to five batches each.
  void expect_equal_results(const std::vector<image::NamedImage>& images, const image::MergeOptions& options, int calls) {
    auto merged = merge_models(images, options, host_);
    ASSERT_TRUE(merged) << message(merged.failure());
    auto target = golden();
    auto models = runtime::load_models("merged.tti", reread(std::move(merged->image)));
    ASSERT_TRUE(models) << message(models.failure());
    auto together = runtime::MergedSession::open(std::move(*models), *target, device(), host_);
    ASSERT_TRUE(together) << message(together.failure());
    std::vector<std::unique_ptr<runtime::Session>> alone;
    for (const auto& [name, image] : images) {
      auto one = runtime::load_image(name, image);
      ASSERT_TRUE(one) << message(one.failure());
      auto session = runtime::Session::open(std::move(*one), *target, device(), host_);
      ASSERT_TRUE(session) << message(session.failure());
      alone.push_back(std::move(*session));
    }
    for (int i = 0; i < calls; ++i) {
      const std::size_t m = rng_.below(images.size());
      const auto width = images[m].image.device.plan.inputs.front().shape[1];
      const NamedTensors inputs{{"x", random_tensor(rng_, Shape{32 * static_cast<std::int64_t>(1 + rng_.below(5)), width})}};
      auto here = (*together)->run(images[m].name, inputs), there = alone[m]->run(inputs);
      ASSERT_TRUE(here) << images[m].name << ": " << message(here.failure());
      ASSERT_TRUE(there) << message(there.failure());
      ASSERT_EQ(*here, *there) << "call " << i << " of " << images[m].name;
    }
  }

  Rng rng_{20};
};

TEST_F(MergeModels, TwoModelsInAnyOrderOfCalls) {
  std::vector<image::NamedImage> images = five_models();
  images.resize(2);
  expect_equal_results(images, {}, 20);
}

TEST_F(MergeModels, FiveModelsInAnyOrderOfCalls) {
  const auto images = five_models();
  for (bool overlap : {true, false}) {
    image::MergeOptions options;
    options.memory.overlap_dynamic = overlap;
    expect_equal_results(images, options, 40);
  }
}

// The checker of netlists, which finds buffers that are there at the same time by its own means, and stricter than the tool.
TEST_F(MergeModels, TheMergedNetlistObeysTheRulesOfARun) {
  auto images = five_models();
  auto merged = merge_models(images, {}, host_);
  ASSERT_TRUE(merged) << message(merged.failure());
  netlist::CheckOptions strict;
  strict.level = netlist::CheckLevel::run;
  for (const auto& d : netlist::check_netlist(merged->netlist, merged->device, strict)) EXPECT_NE(d.severity, Severity::error) << d.message;
  EXPECT_THAT(image::dynamic_queues(merged->netlist), ::testing::SizeIs(3)) << "what goes from epoch to epoch in b, c and d";
  EXPECT_EQ(merged->image.build.count("temporal_epoch_7/overlay/blob.json"), 1u) << "2 x 1 and 3 x 2 epochs";
  EXPECT_EQ(merged->image.build.count("temporal_epoch_8/overlay/blob.json"), 0u);
  EXPECT_THAT(merged->image.settings, ::testing::Contains(::testing::Key("b.optimizer.opt-level")));
}

// Stream programs are made for the cluster that the images keep, so that it has to be the same in all of them.
TEST_F(MergeModels, TheClusterIsThatOfTheImages) {
  auto images = five_models();
  images.resize(2);
  auto keep = [&](std::size_t i, io::Bytes text) { images[i].image.extras.insert_or_assign(image::kClusterMember, std::move(text)); };
  auto error = [&] {
    auto merged = merge_models(images, {}, host_);
    return merged ? std::string("merged") : merged.failure().diagnostics().front().code + ": " + message(merged.failure());
  };
  auto own = device::load_cluster(host_, device());
  ASSERT_TRUE(own);
  own->links = {{0, 8, 1, 0}};
  const io::Bytes linked(device::cluster_text(*own));
  keep(1, linked);
  EXPECT_THAT(error(), HasSubstr("IM031: a and b are for different clusters"));
  keep(0, linked);
  auto merged = merge_models(images, {}, host_);
  ASSERT_TRUE(merged) << message(merged.failure());
  EXPECT_EQ(merged->image.extras.at(image::kClusterMember).view(), linked.view());
  EXPECT_FALSE(merged->image.build.empty());
  images[0].image.extras.erase(image::kClusterMember);  // as of an earlier version
  EXPECT_EQ(error(), "merged");
  own->links = {{0, 99, 1, 0}};
  keep(1, io::Bytes(device::cluster_text(*own)));
  EXPECT_THAT(error(), HasSubstr("channel"));
}

TEST_F(MergeModels, WhatDoesNotBelongTogetherIsRefused) {
  auto images = five_models();
  auto error = [&](std::vector<image::NamedImage> list, const image::MergeOptions& options = {}) {
    auto merged = merge_models(std::move(list), options, host_);
    return merged ? std::string("merged") : merged.failure().diagnostics().front().code + ": " + message(merged.failure());
  };
  EXPECT_THAT(error({}), HasSubstr("IM031: there are no images"));
  EXPECT_THAT(error({images[0], images[0]}), HasSubstr("IM031: model 'a' is named twice"));
  EXPECT_THAT(error({images[0]}, {"m", "grayskull", {}}),
              HasSubstr("IM031: the image is for architecture wormhole_b0, to be merged for grayskull"));
  auto merged = merge_models(images, {}, host_);
  ASSERT_TRUE(merged);
  EXPECT_THAT(error({{"m", merged->image}, images[0]}), HasSubstr("IM031: the image holds several models already"));
  auto whole = runtime::load_image("m.tti", merged->image);
  ASSERT_FALSE(whole);
  EXPECT_THAT(message(whole.failure()), HasSubstr("the image holds several models: a, b, c, d, e"));
  auto models = runtime::load_models("m.tti", merged->image);
  ASSERT_TRUE(models);
  auto target = golden();
  auto session = runtime::MergedSession::open(std::move(*models), *target, device(), host_);
  ASSERT_TRUE(session);
  EXPECT_THAT((*session)->models(), ElementsAre("a", "b", "c", "d", "e"));
  EXPECT_THAT(message((*session)->run("f", {}).failure()), HasSubstr("the image has no model 'f'; it holds a, b, c, d, e"));
  images[1].image.extras.erase(image::kDeviceMember);
  EXPECT_THAT(error(images), HasSubstr("IM005: the image has no device descriptor"));
}

}  // namespace
}  // namespace buda::compiler
