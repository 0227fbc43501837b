// SPDX-License-Identifier: Apache-2.0
// Models from files: a netlist with its plan, and an image.
#include "fixture.hpp"

#include <buda/graph/graph.hpp>
#include <buda/image/image.hpp>
#include <buda/io/json.hpp>

#include <buda/graph/file/graph_file.hpp>
#include <buda/ops/whole_graph/builder.hpp>
#include <buda/tensor/tensor_file.hpp>

#include <gmock/gmock.h>

#include <cstring>

namespace buda::runtime::test {
namespace {

using testing::HasSubstr;

class ModelTest : public testing::Test {
 protected:
  void SetUp() override {
    plan_ = plan();
    plan_.parameters = {{"w",
                         "q_w",
                         "weights.npz",
                         "fc.w",
                         {3, 3},
                         {{host_plan::TransformKind::reshape, {1, 1, 3, 3}, 0}, {host_plan::TransformKind::pad, {0, 0, 29, 29}, 0}}}};
    host_.files.put("a/net.yaml", netlist_text());
    // Nine elements under another shape, as exporters like to have it.
    ASSERT_TRUE(write_tensors(host_.files, "a/weights.npz", {{"fc.w", Tensor(Shape{9}, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9})}}));
  }
  Result<Model> load() {
    host_.files.put("a/net.plan.json", host_plan::host_plan_text(plan_));
    return load_planned(host_, "a/net.yaml", "a/net.plan.json");
  }
  TestHost host_;
  host_plan::HostPlan plan_;
};

TEST_F(ModelTest, NetlistWithPlan) {
  auto m = load();
  ASSERT_TRUE(m) << error_of(m);
  const Tensor& w = m->parameters.at("q_w");
  EXPECT_EQ(w.shape(), (Shape{1, 1, 32, 32}));
  EXPECT_EQ(w.as<float>()[32 + 1], 5);
  EXPECT_EQ(w.as<float>()[3], 0);
  EXPECT_TRUE(bind_ports(m->plan, m->program.netlist, m->parameters));
  EXPECT_THAT(host_.files.files_read(), testing::UnorderedElementsAre("a/net.yaml", "a/net.plan.json", "a/weights.npz"));
}

// As the weights of an ONNX file lie in it.
TEST_F(ModelTest, ParametersThatLieBareInAFile) {
  const std::vector<float> values{1, 2, 3, 4, 5, 6, 7, 8, 9};
  std::string content = "abcd" + std::string(values.size() * sizeof(float), ' ') + "z";
  std::memcpy(content.data() + 4, values.data(), values.size() * sizeof(float));
  host_.files.put("a/model.onnx", content);
  host_plan::PlanParameter& w = plan_.parameters[0];
  w.file = "model.onnx";
  w.tensor = "";
  w.dtype = "F32";
  w.offset = 4;
  w.file_size = static_cast<std::int64_t>(content.size());
  auto m = load();
  ASSERT_TRUE(m) << error_of(m);
  EXPECT_EQ(m->parameters.at("q_w").as<float>()[32 + 1], 5);
  EXPECT_THAT(host_.files.files_read(), testing::UnorderedElementsAre("a/net.yaml", "a/net.plan.json", "a/model.onnx"));

  host_.files.put("a/model.onnx", content + "z");
  EXPECT_THAT(error_of(load()), HasSubstr("parameter 'w': the file has 42 bytes, and had 41"));
  host_.files.put("a/model.onnx", content);
  w.offset = 8;
  EXPECT_THAT(error_of(load()), HasSubstr("do not hold a tensor of F32 [3, 3] at byte 8"));
  w.offset = 4;
  const host_plan::PlanParameter sound = w;
  for (auto spoil : {+[](host_plan::PlanParameter& p) { p.dtype = "F33"; }, +[](host_plan::PlanParameter& p) { p.tensor = "w"; },
                     +[](host_plan::PlanParameter& p) { p.offset.reset(); }, +[](host_plan::PlanParameter& p) { p.file_size.reset(); }}) {
    w = sound;
    spoil(w);
    EXPECT_THAT(error_of(load()), HasSubstr("RT002: parameter 'w': 'offset', 'file_size' and a 'dtype' belong together"));
  }
}

TEST_F(ModelTest, ParametersThatAreNotThere) {
  plan_.parameters[0].tensor = "fc.v";
  EXPECT_THAT(error_of(load()), HasSubstr("RT002: parameter 'w': there is no tensor 'fc.v' in the file"));
  plan_.parameters[0].tensor = "fc.w";
  plan_.parameters[0].shape = {3, 4};
  EXPECT_THAT(error_of(load()), HasSubstr("RT002: parameter 'w': tensor 'fc.w' is F32 [9], the plan says [3, 4]"));
  plan_.parameters[0].shape = {9};
  plan_.parameters[0].transforms[1].dims = {0, 0, 29};
  EXPECT_THAT(error_of(load()), HasSubstr("parameter 'w': transform pad"));
  plan_.parameters[0].file = "missing.npz";
  EXPECT_FALSE(load());
  plan_.parameters.push_back(plan_.parameters[0]);
}

TEST_F(ModelTest, SegmentsOfTheHostAreGraphsAtTensorLevel) {
  plan_.segments.push_back({host_plan::SegmentKind::host, "tail.graph.json", {}});
  EXPECT_FALSE(load()) << "the graph is missing";
  ops::Builder b("tail");
  b.output("z", b.exp(b.input("y", {2, 3})));
  auto tail = b.finish();
  ASSERT_TRUE(tail && graph::write_graph(host_.files, *tail, "a/tail.graph.json"));
  auto m = load();
  ASSERT_TRUE(m) << error_of(m);
  EXPECT_TRUE(m->uses_device());
  EXPECT_EQ(m->host_graphs.at("tail.graph.json")->outputs().size(), 1u);
  ops::Builder d("tail", graph::Level::device);
  d.output("z", d.exp(d.input("y", {2, 3})));
  ASSERT_TRUE(graph::write_graph(host_.files, *d.finish(), "a/tail.graph.json"));
  EXPECT_THAT(error_of(load()), HasSubstr("RT001: the host executes graphs at tensor level"));
}

TEST_F(ModelTest, SegmentsOfTheDeviceAreOfOneNetlist) {
  plan_.segments = {plan_.segments[0], plan_.segments[0]};
  EXPECT_TRUE(load());
  plan_.segments[1].file = "other.yaml";
  EXPECT_THAT(error_of(load()), HasSubstr("RT001: the plan has device segments of several netlists"));
  plan_.segments.clear();
  EXPECT_THAT(error_of(load()), HasSubstr("RT001: the plan has no segments"));
}

TEST_F(ModelTest, Image) {
  image::Image image;
  image.device.name = "m";
  image.device.arch = "wormhole_b0";
  image.device.grid = {8, 8};
  image.device.plan = plan();
  image.netlist_name = "net.yaml";
  image.netlist = io::Bytes(netlist_text());
  image.parameters.emplace("q_w", tile(3));
  auto out = host_.files.create("m.tti", io::WriteMode::always);
  ASSERT_TRUE(image::write_image(**out, image));
  ASSERT_TRUE((*out)->commit());
  auto m = load_image("m.tti", *host_.files.find("m.tti"));
  ASSERT_TRUE(m) << error_of(m);
  EXPECT_EQ(m->plan, plan());
  EXPECT_FALSE(m->device);
  FakeTarget target;
  auto session = Session::open(std::move(*m), target, {}, host_);
  ASSERT_TRUE(session) << error_of(session);
  auto y = (*session)->run({{"x", Tensor(Shape{2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6})}});
  ASSERT_TRUE(y);
  EXPECT_EQ(y->at("y"), Tensor(Shape{2, 3}, std::vector<float>{3, 6, 9, 12, 15, 18}));

  image.extras[image::kDeviceMember] = io::Bytes(std::string("schema: buda.device/1\nname: broken\n"));
  out = host_.files.create("m.tti", io::WriteMode::always);
  ASSERT_TRUE(image::write_image(**out, image));
  ASSERT_TRUE((*out)->commit());
  EXPECT_THAT(error_of(load_image("m.tti", *host_.files.find("m.tti"))), HasSubstr("DV01"));
}

}  // namespace
}  // namespace buda::runtime::test
