// SPDX-License-Identifier: Apache-2.0
// The rules of programs and queue settings.
#include <buda/netlist/check/check.hpp>

#include "unit/netlist/samples.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace buda::netlist {
namespace {

using samples::kSmall;
using samples::parsed;
using samples::replaced;

struct CheckProgramsWrong {
  const char* from;
  const char* to;
  const char* code;
  std::uint32_t line;
};
void PrintTo(const CheckProgramsWrong& w, std::ostream* os) { *os << w.code << " " << w.to; }
class BadProgram : public ::testing::TestWithParam<CheckProgramsWrong> {};

TEST_P(BadProgram, IsRefusedAtItsPlace) {
  auto found = check_netlist(parsed(replaced(kSmall, GetParam().from, GetParam().to)), samples::wormhole());
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.front().code, GetParam().code) << found.front().message;
  EXPECT_EQ(found.front().loc.line, GetParam().line) << found.front().message;
  EXPECT_EQ(found.front().severity, Severity::error);
}

constexpr const char* kA = "rd_ptr_local: $l, rd_ptr_global: $g";
constexpr const char* kW = "w: {prologue: true, epilogue: false, zero: false, rd_ptr_global: $zero, wr_ptr_global: $zero}";

INSTANTIATE_TEST_SUITE_P(
    Rules, BadProgram,
    ::testing::Values(CheckProgramsWrong{kA, "rd_ptr_local: $l", "NL620", 20}, CheckProgramsWrong{kA, "rd_ptr_global: $g", "NL621", 20},
                      CheckProgramsWrong{kA, "rd_ptr_local: $l, rd_ptr_global: $g, wr_ptr_global: 0", "NL635", 20},
                      CheckProgramsWrong{kW, "w: {rd_ptr_global: $zero}", "NL622", 21},
                      CheckProgramsWrong{kW, "w: {rd_ptr_global: $zero, wr_ptr_global: $zero, rd_ptr_local: $zero}", "NL636", 21},
                      CheckProgramsWrong{kA, "rd_ptr_local: $l, rd_ptr_global: $g, rd_ptr_autoinc: 2, global_rdptr_autoinc: 1", "NL623",
                                         20},
                      CheckProgramsWrong{kW, "a2: {rd_ptr_global: $zero}", "NL603", 21},
                      CheckProgramsWrong{"a: {prologue: false", "out: {prologue: true", "NL625", 19},
                      CheckProgramsWrong{kW, "out: {prologue: true, rd_ptr_local: 0, rd_ptr_global: 0}", "NL631", 21},
                      CheckProgramsWrong{"a: {prologue: false, epilogue: false", "a: {prologue: false, epilogue: true", "NL632", 20},
                      CheckProgramsWrong{"w: {prologue: true", "w: {prologue: $p_loops", "NL627", 21},
                      CheckProgramsWrong{"- varinst: [$l, incwrap, $c_inputs, 8]", "- varinst: [$c_inputs, set, 8]", "NL628", 22},
                      CheckProgramsWrong{"      - endloop\n", "", "NL601", 18},
                      CheckProgramsWrong{"graph_name: fwd", "graph_name: bwd", "NL602", 19},
                      CheckProgramsWrong{"[$l, incwrap, $c_inputs, 8]", "[$l, add, $l, $nobody]", "NL604", 22},
                      CheckProgramsWrong{"- staticvar: [$l, $g]", "- staticvar: [$l, $g, $zero]", "NL605", 17}));

TEST(CheckPrograms, GradientsNeedTheirRam) {
  // exp becomes a gradient op into a ram.
  std::string text = replaced(kSmall, "e: {type: exp,", "e: {type: datacopy, gradient_op: true,");
  auto codes = [](const std::string& t) {
    std::string out;
    for (const auto& d : check_netlist(parsed(t), samples::wormhole())) out += d.code + " ";
    return out;
  };
  EXPECT_EQ(codes(text), "NL626 ");  // no setting
  std::string with = replaced(
      replaced(text, "out: {type: queue", "out: {type: ram"), kW,
      std::string(kW) + ",\n          out: {prologue: true, epilogue: true, zero: false, rd_ptr_global: $zero, wr_ptr_global: $zero}");
  EXPECT_EQ(codes(with), "");
  EXPECT_EQ(codes(replaced(with, "epilogue: true", "epilogue: false")), "NL629 ");
}

TEST(CheckPrograms, AHostileProgramEnds) {
  std::string loops, ends;
  for (int i = 0; i < 20; ++i) {
    loops += "      - loop: 1000000\n";
    ends += "      - endloop\n";
  }
  std::string text = replaced(kSmall, "      - loop: $p_loops\n", loops);
  text = replaced(text, "      - endloop\n", ends);
  auto found = check_netlist(parsed(text), samples::wormhole());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].code, "NL607");
}

}  // namespace
}  // namespace buda::netlist
