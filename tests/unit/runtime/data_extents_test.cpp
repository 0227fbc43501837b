// SPDX-License-Identifier: Apache-2.0
// Which part of an op's results is data.
#include <buda/netlist/text/parse.hpp>
#include <buda/runtime/reference/data_extents.hpp>
#include <buda/tensor/tensor.hpp>

#include <gtest/gtest.h>

namespace buda::runtime {
namespace {

constexpr const char* kNetlist = R"(
devices: {arch: wormhole_b0}
queues:
  x: {type: queue, input: HOST, entries: 4, grid_size: [1, 1], t: 1, mblock: [1, 2], ublock: [1, 1], ublock_order: r, df: Float16_b, target_device: 0, loc: dram, dram: [[0, 0x20000000]]}
  w: {type: ram, input: HOST, entries: 1, grid_size: [1, 1], t: 1, mblock: [2, 1], ublock: [1, 1], ublock_order: r, df: Float16_b, target_device: 0, loc: dram, dram: [[1, 0x20000000]]}
  y: {type: queue, input: sum, entries: 4, grid_size: [1, 1], t: 1, mblock: [1, 1], ublock: [1, 1], ublock_order: r, df: Float16_b, target_device: 0, loc: dram, dram: [[2, 0x20000000]]}
graphs:
  fwd:
    target_device: 0
    input_count: 1
    mm: {type: matmul, grid_loc: [0, 0], grid_size: [1, 1], inputs: [x, w], in_df: [Float16_b, Float16_b], out_df: Float16_b, intermed_df: Float16_b, acc_df: Float16_b, math_fidelity: HiFi3,
      t: 1, mblock: [1, 1], ublock: [1, 1], ublock_order: r, buf_size_mb: 2, attributes: {m_k: 1, u_kt: 2}}
    act: {type: tanh, grid_loc: [0, 1], grid_size: [1, 1], inputs: [mm], in_df: [Float16_b], out_df: Float16_b, intermed_df: Float16_b, acc_df: Float16_b, math_fidelity: HiFi3,
      t: 1, mblock: [1, 1], ublock: [1, 1], ublock_order: r, buf_size_mb: 2, input_0_tms: [transpose]}
    sum: {type: add, grid_loc: [0, 2], grid_size: [1, 1], inputs: [act, mm], in_df: [Float16_b, Float16_b], out_df: Float16_b, intermed_df: Float16_b, acc_df: Float16_b, math_fidelity: HiFi3,
      t: 1, mblock: [1, 1], ublock: [1, 1], ublock_order: r, buf_size_mb: 2, input_0_tms: [broadcast: {c: 1}]}
)";

TEST(DataExtents, FollowTheDataFromTheQueues) {
  const auto netlist = netlist::parse_netlist(kNetlist, "m.yaml");
  ASSERT_TRUE(netlist);
  host_plan::HostPlan plan;
  host_plan::PlanTensor x;
  x.name = "image";
  x.shape = {7, 45};
  x.queue = "x";
  x.transforms = {{host_plan::TransformKind::reshape, {1, 1, 7, 45}, 0}, {host_plan::TransformKind::pad, {0, 0, 25, 19}, 0}};
  plan.inputs = {x};
  std::vector<float> w(64 * 32);
  for (std::size_t r = 0; r < 45; ++r)
    for (std::size_t c = 0; c < 11; ++c) w[r * 32 + c] = 0.5f;
  const auto extents = data_extents(*netlist, plan, {{"w", Tensor(Shape{1, 1, 64, 32}, w)}});
  EXPECT_EQ(extents.at("mm"), (DataExtent{7, 11}));
  EXPECT_EQ(extents.at("act"), (DataExtent{11, 7})) << "transposed";
  EXPECT_EQ(extents.at("sum"), (DataExtent{11, 11})) << "the broadcast operand has as many columns as the other";
}

TEST(DataExtents, OfWhatIsNotPaddedIsNothingKnown) {
  const auto netlist = netlist::parse_netlist(kNetlist, "m.yaml");
  ASSERT_TRUE(netlist);
  const auto extents = data_extents(*netlist, {}, {});
  EXPECT_EQ(extents.at("mm"), DataExtent{});
}

TEST(DataOnly, CutsWhatIsKnown) {
  const Tensor whole(Shape{2, 1, 32, 32}, std::vector<float>(2 * 1024, 1.0f));
  const auto cut = data_only({{"a", whole}, {"b", whole}, {"c", whole}}, {{"a", {3, 5}}, {"b", {std::nullopt, 7}}});
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->at("a").shape(), (Shape{2, 1, 3, 5}));
  EXPECT_EQ(cut->at("b").shape(), (Shape{2, 1, 32, 7}));
  EXPECT_EQ(cut->at("c").shape(), whole.shape());
}

}  // namespace
}  // namespace buda::runtime
