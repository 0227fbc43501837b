// SPDX-License-Identifier: Apache-2.0
// What a netlist uses, against the stream programs that come out of the tools' files.
#include <buda/overlay/usage.hpp>

#include <buda/overlay/blob/blob_file.hpp>
#include <buda/overlay/build.hpp>
#include <buda/overlay/l1/l1_map.hpp>

#include "unit/pipes/built.hpp"
#include "unit/pipes/check/random_netlists.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace buda::overlay {
namespace {

// By way of a blob file.
std::vector<CoreUsage> usage_of_file(const Blob& blob, const pipes::Built& b) {
  auto back = parse_blob(blob_text(blob), "blob.json");
  EXPECT_TRUE(back.ok());
  return back ? usage_of(*back, *b.device, b.cluster().eth_core) : std::vector<CoreUsage>{};
}

// Pieces lie within the operands and do not overlap.
void expect_disjoint(const CoreUsage& core, const Core& laid_out, const pipes::Built& b) {
  const device::L1Map l1 = l1_map_of(laid_out, *b.device, b.cluster().eth_core);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < core.l1.size(); ++i) {
    const std::uint64_t next = i + 1 < core.l1.size() ? core.l1[i + 1].address : l1.operands_end();
    EXPECT_LE(core.l1[i].address + core.l1[i].bytes, next) << core.l1[i].what;
    sum += core.l1[i].bytes;
  }
  EXPECT_LE(sum, core.l1_bytes);
  EXPECT_TRUE(core.l1.empty() || core.l1.front().address >= l1.operands_begin);
}

Result<std::vector<EpochUsage>> predicted_for(const pipes::Built& b, const device::DeviceDescriptor& device) {
  BUDA_ASSIGN(auto compiler, EpochCompiler::make(*b.netlist, device, "", pipes::source_host()));
  return predict_usage(compiler);
}

// The first code that a device with so many bytes of L1 less has to say of the netlist; empty when it fits.
std::string refusal_with_less(const pipes::Built& b, std::uint64_t bytes) {
  device::DeviceDescriptor device = *b.device;
  device.l1.size -= bytes;
  auto predicted = predicted_for(b, device);
  return predicted ? "" : predicted.failure().diagnostics().front().code;
}

TEST(Usage, OfRandomNetlistsIsThatOfTheirStreamPrograms) {
  Rng rng(4711);
  const int wanted = pipes::netlists_wanted(300);
  int compared = 0, limits = 0;
  for (int round = 0; compared < wanted && round < 4 * wanted; ++round) {
    const std::int32_t chips = round % 5 == 0 ? 2 : 1;
    std::string text = pipes::random_netlist(rng, chips);
    pipes::Built b(text, chips == 1 ? "wormhole_b0" : "n300");
    if (!b.ok()) continue;
    auto blob = build_blob(b.graph, *b.device, b.cluster());
    auto predicted = predicted_for(b, *b.device);
    ASSERT_EQ(blob.ok(), predicted.ok()) << text;
    if (!blob) {
      EXPECT_EQ(pipes::messages(blob.failure()), pipes::messages(predicted.failure()));
      continue;
    }
    ++compared;
    ASSERT_EQ(predicted->size(), 1u) << text;
    EXPECT_EQ(predicted->front().cores, usage_of_file(*blob, b)) << text;
    for (std::size_t i = 0; i < blob->cores.size(); ++i) {
      const CoreUsage& core = predicted->front().cores[i];
      EXPECT_LE(core.l1_bytes, core.l1_available) << text;
      EXPECT_LE(core.phases, core.phases_available) << text;
      EXPECT_EQ(core.streams, static_cast<std::int64_t>(blob->cores[i].streams.size()));
      expect_disjoint(core, blob->cores[i], b);
    }
    // What is on the way gives room where it is short, so the limit is sharp without that only.
    std::uint64_t least = UINT64_MAX;
    bool sharp = chips == 1;
    for (const CoreUsage& core : predicted->front().cores) {
      least = std::min(least, core.l1_available - core.l1_bytes);
      for (const StreamUsage& kind : core.by_kind) sharp = sharp && kind.kind != StreamKind::multicast && kind.kind != StreamKind::relay;
    }
    if (!sharp) continue;
    ++limits;
    EXPECT_EQ(refusal_with_less(b, least), "") << text;
    EXPECT_EQ(refusal_with_less(b, least + static_cast<std::uint64_t>(b.device->tile_alignment)), "OV015") << text;
  }
  EXPECT_EQ(compared, wanted);
  EXPECT_GT(limits, wanted / 10);
}

TEST(Usage, WhatDoesNotFitIsRefusedAsByPipegen) {
  std::string text = pipes::prologue_in_shares();
  text.insert(text.find("attributes:"), "input_buf_min_size_tiles: [1000, 0], ");
  pipes::Built b(text);
  ASSERT_TRUE(b.ok()) << b.problem;
  auto predicted = predicted_for(b, *b.device);
  ASSERT_FALSE(predicted.ok());
  const Diagnostic& d = predicted.failure().diagnostics().front();
  EXPECT_EQ(d.code, "OV015");
  EXPECT_EQ(d.fault, Fault::fit);
  EXPECT_EQ(d.node, "mm");
}

TEST(Usage, ADeviceMayNotSayEnough) {
  EXPECT_FALSE(missing_description(pipes::shipped("wormhole_b0")).has_value());
  device::DeviceDescriptor silent = pipes::shipped("wormhole_b0");
  silent.streams.first_extra = 0;
  ASSERT_TRUE(missing_description(silent).has_value());
  EXPECT_EQ(missing_description(silent)->code, "OV003");
}

}  // namespace
}  // namespace buda::overlay
