// SPDX-License-Identifier: Apache-2.0
// Differences of netlists: by name, field by field, and programs by their longest common part.
#include <buda/base/text.hpp>
#include <buda/netlist/text/diff.hpp>

#include "unit/netlist/samples.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace buda::netlist {
namespace {

using samples::kSmall;
using samples::parsed;
using samples::replaced;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> lines(const std::string& before, const std::string& after) {
  std::vector<std::string> out;
  for (const Difference& d : diff(parsed(before), parsed(after))) out.push_back(d.text());
  return out;
}

TEST(DiffNetlists, SeesNoneInOrderAndLayout) {
  EXPECT_THAT(lines(kSmall, kSmall), IsEmpty());
  std::string moved = replaced(kSmall, "type: queue, input: HOST, entries: 4", "entries: 4, input: HOST,\n      type: queue");
  EXPECT_THAT(lines(kSmall, moved), IsEmpty());
}

TEST(DiffNetlists, NamesFieldsAndAttributes) {
  EXPECT_THAT(
      lines(kSmall, replaced(kSmall, "m_k: 2, u_kt: 2", "m_k: 4, u_kt: 1, bias: true")),
      ElementsAre("~ op 'mm' attributes.m_k: 2 -> 4", "~ op 'mm' attributes.u_kt: 2 -> 1", "~ op 'mm' attributes.bias: none -> true"));
  EXPECT_THAT(lines(kSmall, replaced(kSmall, "input_count: 2", "input_count: 3")), ElementsAre("~ graph 'fwd' input_count: 2 -> 3"));
  EXPECT_THAT(lines(kSmall, replaced(kSmall, "arch: wormhole_b0", "arch: [wormhole_b0]")), IsEmpty());
}

TEST(DiffNetlists, TellsWhatOnlyOneHas) {
  std::string more = replaced(kSmall, "  out: {",
                              "  other: {type: ram, input: HOST, entries: 1, grid_size: [1, 1], t: 1, mblock: [2, 1], ublock: [2, 2], df: "
                              "Bfp8_b, target_device: 0, loc: dram, dram: [[2, 0x10000000]]}\n  out: {");
  EXPECT_THAT(lines(kSmall, more), ElementsAre("+ queue 'other'"));
  EXPECT_THAT(lines(more, kSmall), ElementsAre("- queue 'other'"));
}

TEST(DiffNetlists, AlignsPrograms) {
  std::string other = replaced(kSmall, "      - loop: $p_loops\n", "      - varinst: [$l, set, 0]\n      - loop: $p_loops\n");
  other = replaced(other, "rd_ptr_local: $l,", "rd_ptr_local: $g,");
  other = replaced(other, "      - varinst: [$g, incwrap, $c_inputs, 8]\n", "");
  EXPECT_THAT(lines(kSmall, other),
              ElementsAre("+ program 'run': varinst: [$l, set, 0]", "~ program 'run' execute 'fwd' setting 'a' rd_ptr_local: $l -> $g",
                          "- program 'run': varinst: [$g, incwrap, $c_inputs, 8]"));
  EXPECT_THAT(lines(kSmall, replaced(kSmall, ", zero: false, rd_ptr_global: $zero, wr_ptr_global: $zero}",
                                     ", rd_ptr_global: $zero, wr_ptr_global: $zero}")),
              ElementsAre("~ program 'run' execute 'fwd' setting 'w' zero: false -> none"));
}

TEST(DiffNetlists, IsLinearWhereProgramsAgreeAtTheirEnds) {
  std::string steps;
  for (int i = 0; i < 20000; ++i) steps += cat("      - varinst: [$l, set, ", i, "]\n");
  const std::string a = replaced(kSmall, "      - endloop\n", steps + "      - endloop\n");
  EXPECT_THAT(lines(a, replaced(a, "[$l, set, 9999]", "[$l, set, 1]")),
              ElementsAre("- program 'run': varinst: [$l, set, 9999]", "+ program 'run': varinst: [$l, set, 1]"));
}

}  // namespace
}  // namespace buda::netlist
