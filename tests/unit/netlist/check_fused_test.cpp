// SPDX-License-Identifier: Apache-2.0
// The rules of fused ops.
#include <buda/netlist/check/check.hpp>

#include "unit/netlist/samples.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace buda::netlist {
namespace {

using samples::kSmall;
using samples::parsed;
using samples::replaced;
using ::testing::HasSubstr;

// The sample's matmul followed by a fused op of inputs mm and a 2x2 block of a; output mblock [1, 1] ublock [2, 2].
std::vector<Diagnostic> check_body(const std::string& schedules, bool grayskull = false, int intermediates = 2,
                                   const char* acc = "Float16_b") {
  std::string text =
      replaced(kSmall, "e: {type: exp, grid_loc: [0, 1], grid_size: [1, 1], inputs: [mm], in_df: [Float16_b], acc_df: Float16_b",
               std::string("e: {type: fused_op, attributes: {fused_op_id: 0}, input_1_unpad: {rt: 0, ct: 2}, grid_loc: [0, 1], grid_size: "
                           "[1, 1], inputs: [mm, a], in_df: [Float16_b, Float16_b], acc_df: ") +
                   acc);
  if (grayskull) text = replaced(text, "arch: wormhole_b0", "arch: grayskull");
  text += "fused_ops:\n  0:\n    inputs: 2\n    intermediates: " + std::to_string(intermediates) + "\n    schedules:\n" + schedules;
  return check_netlist(parsed(text), grayskull ? samples::grayskull() : samples::wormhole());
}

std::string summary(const std::vector<Diagnostic>& found) {
  std::string out;
  for (const auto& d : found) out += d.code + " " + std::to_string(d.loc.line) + ": " + d.message + "\n";
  return out;
}

constexpr const char* kFine = R"(      - - add: {type: add, inputs: [input0, input1], output: intermed0, mblock: [1, 1], ublock: [2, 2]}
        - exp: {type: exp, inputs: [intermed0], output: dest, mblock: [1, 1], ublock: [2, 2]}
        - mul: {type: multiply, inputs: [dest, intermed0], pop: [intermed0], output: output, mblock: [1, 1], ublock: [2, 2]}
)";

TEST(CheckFused, AChainIsFine) {
  EXPECT_EQ(summary(check_body(kFine)), "");
  EXPECT_EQ(summary(check_body(kFine, true)), "");
}

TEST(CheckFused, AReductionWithABroadcastIsFine) {
  EXPECT_EQ(summary(check_body(R"(      - - add: {type: add, inputs: [input0, input1], output: intermed0, mblock: [1, 1], ublock: [2, 2]}
        - max: {type: reduce, inputs: [intermed0], output: intermed1, mblock: [1, 1], ublock: [2, 1], attributes: {dim: c, type: max, m_k: 1, u_kt: 2}}
      - - sub: {type: subtract, inputs: [intermed0, intermed1], input_1_tms: [broadcast: {c: 2}], pop: [intermed0], pop_last: [intermed1], output: output, mblock: [1, 1], ublock: [2, 2]}
)")),
            "");
}

struct Wrong {
  const char* from;
  const char* to;
  const char* code;
  const char* words;
  bool grayskull = false;
};
void PrintTo(const Wrong& w, std::ostream* os) { *os << w.code << " " << w.to; }
class BadFused : public ::testing::TestWithParam<Wrong> {};

TEST_P(BadFused, IsRefused) {
  auto found = check_body(replaced(kFine, GetParam().from, GetParam().to), GetParam().grayskull);
  ASSERT_FALSE(found.empty());
  bool seen = false;
  for (const auto& d : found)
    seen = seen || (d.code == GetParam().code && d.message.find(GetParam().words) != std::string::npos && d.loc.line > 24);
  EXPECT_TRUE(seen) << summary(found);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, BadFused,
    ::testing::Values(
        Wrong{"- exp:", "- add:", "NL502", "another sub-op of this name"},
        Wrong{"[input0, input1]", "[input0, input0]", "NL503", "no sub-op reads input1"},
        Wrong{"[input0, input1]", "[input0, input2]", "NL519", "input2 is one of 2"},
        Wrong{"output: intermed0", "output: intermed2", "NL519", "intermed2 is one of 2"},
        Wrong{"output: output", "output: intermed1", "NL520", "no sub-op writes output"},
        Wrong{"exp: {type: exp, inputs: [intermed0]",
              "exp: {type: reduce, attributes: {dim: c, type: max, m_k: 1, u_kt: 2}, inputs: [intermed0]", "NL504", "has to be the last"},
        Wrong{"inputs: [dest, intermed0]", "inputs: [intermed0, intermed0]", "NL505", "the next sub-op has to read it"},
        Wrong{"inputs: [intermed0], output: dest", "inputs: [dest], output: dest", "NL523", "did not write it"},
        Wrong{"type: multiply", "type: maximum", "NL524", "maximum cannot read dest"},
        Wrong{"inputs: [dest, intermed0]", "inputs: [intermed0, dest]", "NL525", "as second operand", true},
        Wrong{"inputs: [intermed0], output: dest", "inputs: [intermed1], output: dest", "NL506", "has no value here"},
        Wrong{"output: dest, mblock: [1, 1], ublock: [2, 2]", "output: dest, mblock: [1, 1], ublock: [2, 1]", "NL507",
              "ublock [2, 1] is needed"},
        Wrong{"output: output, mblock: [1, 1], ublock: [2, 2]", "output: output, mblock: [2, 1], ublock: [1, 2]", "NL528",
              "writes the output with"},
        Wrong{"inputs: [dest, intermed0]", "input_1_tms: [broadcast: {r: 2}], inputs: [dest, intermed0]", "NL508", "one tile along r"},
        Wrong{"inputs: [input0, input1]", "input_0_tms: [broadcast: {r: 2}], inputs: [input0, input1]", "NL512", "only intermediates"},
        Wrong{"inputs: [dest, intermed0]", "input_0_tms: [tile_broadcast: r], inputs: [dest, intermed0]", "NL516", "second operand"},
        Wrong{"inputs: [dest, intermed0]", "input_1_tms: [hslice: 2], inputs: [dest, intermed0]", "NL514", "'hslice: 2'"},
        Wrong{", pop: [intermed0]", "", "NL509", "never popped"},
        Wrong{"pop: [intermed0]", "pop: [intermed0, intermed1]", "NL531", "which it does not read"},
        Wrong{"pop: [intermed0]", "pop: [intermed0], pop_last: [intermed0]", "NL533", "both pop and pop_last"},
        Wrong{"inputs: [intermed0], output: dest", "inputs: [intermed0], output: intermed0", "NL530",
              "written again before it is popped"}));

TEST(CheckFused, MatmulsAccumulateInIntermediates) {
  auto with = [](const char* output, const char* second) {
    return summary(check_body(
        std::string("      - - copy: {type: datacopy, inputs: [input0], output: intermed0, mblock: [1, 2], ublock: [2, 1]}\n"
                    "        - mm: {type: matmul, inputs: [intermed0, ") +
        second + "], pop: [intermed0], output: " + output +
        ", mblock: [1, 1], ublock: [2, 2], attributes: {m_k: 2, u_kt: 1}}\n"
        "      - - out: {type: add, inputs: [intermed1, input1], pop: [intermed1], output: output, mblock: [1, 1], ublock: [2, 2]}\n"));
  };
  EXPECT_EQ(with("intermed1", "input1"), "");
  EXPECT_THAT(with("dest", "input1"), HasSubstr("has to write an intermediate"));
  EXPECT_THAT(with("intermed1", "intermed0"), HasSubstr("operand 1 of matmul has to be an input"));
}

TEST(CheckFused, LongIntermediatesDoNotOutliveAReduction) {
  auto with = [](const char* mblock, const char* ublock) {
    std::string block = std::string("mblock: ") + mblock + ", ublock: " + ublock;
    std::string inner = std::string(mblock) == "[1, 2]" ? "m_k: 2, u_kt: 1" : "m_k: 1, u_kt: 2";
    return summary(check_body("      - - add: {type: add, inputs: [input0, input1], output: intermed0, " + block +
                              "}\n        - max: {type: reduce, inputs: [intermed0], output: intermed1, mblock: [1, 1], ublock: [2, 1], "
                              "attributes: {dim: c, type: max, " +
                              inner +
                              "}}\n      - - sub: {type: subtract, inputs: [intermed0, intermed1], input_1_tms: [broadcast: {c: 2}], pop: "
                              "[intermed0, intermed1], output: output, " +
                              block + "}\n"));
  };
  EXPECT_EQ(with("[1, 1]", "[2, 2]"), "");
  EXPECT_THAT(with("[1, 2]", "[2, 1]"), HasSubstr("NL510"));
}

TEST(CheckFused, EveryUblockFitsTheDestinationRegister) {
  EXPECT_EQ(summary(check_body(kFine, false, 2, "Float32")), "");
  auto found =
      check_body(replaced(kFine, "output: intermed0, mblock: [1, 1], ublock: [2, 2]", "output: intermed0, mblock: [1, 1], ublock: [3, 3]"));
  EXPECT_THAT(summary(found), HasSubstr("NL336"));
}

TEST(CheckFused, IntermediatesAreFew) { EXPECT_THAT(summary(check_body(kFine, false, 9)), HasSubstr("at most 8")); }

}  // namespace
}  // namespace buda::netlist
