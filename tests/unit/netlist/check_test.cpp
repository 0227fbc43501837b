// SPDX-License-Identifier: Apache-2.0
// The validator: the sample is fine, and each rule catches what breaks it, and only that.
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

std::vector<Diagnostic> check(const std::string& text, bool on_grayskull = false, CheckLevel level = CheckLevel::compile) {
  return check_netlist(parsed(text), on_grayskull ? samples::grayskull() : samples::wormhole(), {level});
}

std::string check_summary(const std::vector<Diagnostic>& found) {
  std::string out;
  for (const auto& d : found) out += d.code + " " + std::to_string(d.loc.line) + ": " + d.message + "\n";
  return out;
}

TEST(CheckNetlist, TheSampleIsFine) {
  EXPECT_EQ(check_summary(check(kSmall, false, CheckLevel::run)), "");
  EXPECT_EQ(check_summary(check(replaced(kSmall, "arch: wormhole_b0", "arch: grayskull"), true, CheckLevel::run)), "");
}

// Edits of the sample: `from` -> `to`, up to three, and the one rule they break.
struct Edit {
  const char* from;
  const char* to;
};
struct Breach {
  const char* code;
  const char* words;
  std::vector<Edit> edits;
  bool grayskull = false;
};
void PrintTo(const Breach& b, std::ostream* os) { *os << b.code << " " << b.words; }

class BadNetlistOn : public ::testing::TestWithParam<Breach> {};

TEST_P(BadNetlistOn, BreaksOneRule) {
  const Breach& b = GetParam();
  std::string text = kSmall;
  if (b.grayskull) text = replaced(text, "arch: wormhole_b0", "arch: grayskull");
  for (const Edit& e : b.edits) text = replaced(text, e.from, e.to);
  auto found = check(text, b.grayskull, CheckLevel::run);
  ASSERT_FALSE(found.empty());
  for (const auto& d : found) EXPECT_EQ(d.code, b.code) << d.message;
  EXPECT_THAT(found.front().message, HasSubstr(b.words));
  EXPECT_GT(found.front().loc.line, 0u);
}

constexpr const char* kMm =
    "mm: {type: matmul, grid_loc: [0, 0], grid_size: [1, 1], inputs: [a, w], in_df: [Float16_b, Bfp8_b], acc_df: Float16_b, out_df: "
    "Float16_b, intermed_df: Float16_b, ublock_order: r, buf_size_mb: 2";
constexpr const char* kAttributes = "attributes: {m_k: 2, u_kt: 2}";
constexpr const char* kExp = "e: {type: exp,";

INSTANTIATE_TEST_SUITE_P(
    Structure, BadNetlistOn,
    ::testing::Values(
        Breach{"NL102", "'mmm' is neither", {{"inputs: [mm]", "inputs: [mmm]"}}},
        Breach{"NL103", "'ee' is neither HOST", {{"out: {type: queue, input: e", "out: {type: queue, input: ee"}}},
        Breach{"NL105", "takes 2 inputs, not 1", {{kExp, "e: {type: add,"}}},
        Breach{"NL106", "it cannot be an alias of 'nobody'", {{"w: {type: ram,", "w: {alias: nobody, type: ram,"}}},
        Breach{"NL113", "that is itself", {{"w: {type: ram,", "w: {alias: w, type: ram,"}}},
        Breach{"NL115",
               "'a' is a queue",
               {{"w: {type: ram, input: HOST, entries: 1, grid_size: [1, 1], t: 1, mblock: [2, 1]",
                 "w: {alias: a, type: ram, input: HOST, entries: 4, grid_size: [1, 1], t: 1, mblock: [2, 1]"},
                {"[[1, 0x10000000]]", "[[0, 0x10000000]]"}}},
        Breach{"NL107", "on chip 1, but 'wh' has 1", {{"    target_device: 0\n", "    target_device: 1\n"}}},
        Breach{"NL111", "cannot share the reads", {{kAttributes, "forked_dram_inputs: [{a: e}], attributes: {m_k: 2, u_kt: 2}"}}},
        Breach{"NL112", "fused_op_id", {{kExp, "e: {type: fused_op,"}}}));

INSTANTIATE_TEST_SUITE_P(
    Queues, BadNetlistOn,
    ::testing::Values(
        Breach{"NL201", "has 1 buffers, but 2 addresses", {{"[[0, 0x10000000]]", "[[0, 0x10000000], [2, 0x10000000]]"}}},
        Breach{"NL202", "DRAM channel 6", {{"[[0, 0x10000000]]", "[[6, 0x10000000]]"}}},
        Breach{"NL202", "host channel 4", {{"host: [0x0]", "host: [[4, 0]]"}}},
        Breach{"NL203", "not aligned to 32", {{"[[0, 0x10000000]]", "[[0, 0x10000010]]"}}},
        Breach{"NL204", "beyond the 2 GiB of DRAM channel 0", {{"[[0, 0x10000000]]", "[[0, 0x7ffffe00]]"}}},
        Breach{"NL204", "of host channel 0", {{"host: [0x0]", "host: [0x37ffff00]"}}},
        Breach{"NL204", "no address", {{"[[0, 0x10000000]]", "[[0, 0xffffffffffffffe0]]"}}},
        Breach{"NL205", "the runtime keeps its own data", {{"[[0, 0x10000000]]", "[[0, 0x100000]]"}}},
        Breach{"NL206", "overlaps buffer 0 of 'a'", {{"[[1, 0x10000000]]", "[[0, 0x10010000]]"}}},
        Breach{"NL207", "beyond the 1 GiB", {{"host: [0x0]", "host: [0x40000000]"}}},
        Breach{"NL213", "port 2 of DRAM channel 0", {{"dram: [[0, 0x10000000]]", "dram: [[0, 0x10000000]], read_ports: [2]"}}},
        Breach{"NL208", "one port per DRAM channel", {{"dram: [[0, 0x10000000]]", "dram: [[0, 0x10000000]], read_ports: [0]"}}, true},
        Breach{"NL209", "32x32 only", {{"a: {type: queue,", "a: {tile_dim: [16, 32], type: queue,"}}, true},
        Breach{"NL211", "but 'e' makes 32x32", {{"out: {type: queue,", "out: {tile_dim: [16, 32], type: queue,"}}}));

INSTANTIATE_TEST_SUITE_P(
    Ops, BadNetlistOn,
    ::testing::Values(
        Breach{"NL301", "rows 10-10, columns 0-0, but 'wh' has 10x8", {{"grid_loc: [0, 0]", "grid_loc: [10, 0]"}}},
        Breach{"NL302", "overlaps the workers of 'mm'", {{"grid_loc: [0, 1]", "grid_loc: [0, 0]"}}},
        Breach{"NL303",
               "holds 4 tiles of Float32",
               {{"grid_loc: [0, 1], grid_size: [1, 1], inputs: [mm], in_df: [Float16_b], acc_df: Float16_b",
                 "grid_loc: [0, 1], grid_size: [1, 1], inputs: [mm], in_df: [Float16_b], acc_df: Float32"},
                {"t: 1, mblock: [1, 1], ublock: [2, 2]}\n", "t: 1, mblock: [1, 1], ublock: [2, 4], input_0_tms: [broadcast: {c: 2}]}\n"},
                {"t: 1, mblock: [1, 1], ublock: [2, 2], df", "t: 1, mblock: [1, 2], ublock: [2, 2], df"}}},
        Breach{"NL304", "counts both halves", {{"buf_size_mb: 2", "buf_size_mb: 3"}}},
        Breach{"NL304", "at least one mblock", {{"buf_size_mb: 2", "buf_size_mb: 0"}}},
        Breach{"NL305", "matmul takes ublock_order r", {{"ublock_order: r", "ublock_order: c"}}},
        Breach{"NL393", "without accumulate", {{kAttributes, "attributes: {m_k: 2, u_kt: 2, z: 2}"}}},
        Breach{"NL309", "cannot accumulate in Float32", {{"acc_df: Float16_b", "acc_df: Float32"}}, true},
        Breach{"NL310", "the packer of grayskull cannot", {{kAttributes, "attributes: {m_k: 2, u_kt: 2, l1_acc: true}"}}, true},
        Breach{"NL339",
               "is Float16",
               {{kAttributes, "attributes: {m_k: 2, u_kt: 2, l1_acc: true}"}, {"intermed_df: Float16_b", "intermed_df: Float16"}}},
        Breach{"NL311",
               "has to be the same, not Float16_b",
               {{kAttributes, "attributes: {m_k: 2, u_kt: 2, l1_acc: true}"}, {"acc_df: Float16_b", "acc_df: Float32"}}},
        Breach{"NL312", "of one exponent family", {{"intermed_df: Float16_b", "intermed_df: Float16"}}, true},
        Breach{"NL313", "too few bits", {{"intermed_df: Float16_b", "intermed_df: Bfp4_b"}}},
        Breach{"NL314", "needs a broadcast", {{kAttributes, "attributes: {m_k: 2, u_kt: 2, kernel_broadcast: {input_1: 2}}"}}},
        Breach{"NL315",
               "not a multiple of its block of 2",
               {{kAttributes, "input_1_tms: [broadcast: {r: 1}], attributes: {m_k: 2, u_kt: 2, kernel_broadcast: {input_1: 3}}"}}},
        Breach{"NL317",
               "takes ublock_order r",
               {{kExp, "e: {untilize_output: true, type: exp,"},
                {"inputs: [mm], in_df: [Float16_b], acc_df: Float16_b, out_df: Float16_b, intermed_df: Float16_b, ublock_order: r",
                 "inputs: [mm], in_df: [Float16_b], acc_df: Float16_b, out_df: Float16_b, intermed_df: Float16_b, ublock_order: c"}}},
        Breach{"NL357",
               "has to be out_df",
               {{kAttributes, "gradient_op: true, attributes: {m_k: 2, u_kt: 2}"}, {"intermed_df: Float16_b", "intermed_df: Float32"}}},
        Breach{"NL318",
               "exp cannot be a gradient_op on grayskull",
               {{kExp, "e: {gradient_op: true, type: exp,"},
                {"w: {prologue: true",
                 "out: {prologue: true, epilogue: true, rd_ptr_global: $zero, wr_ptr_global: $zero}, w: {prologue: true"},
                {"out: {type: queue", "out: {type: ram"}},
               true},
        Breach{"NL322",
               "does not accumulate in Int32",
               {{kExp, "e: {type: datacopy,"},
                {"inputs: [mm], in_df: [Float16_b], acc_df: Float16_b", "inputs: [mm], in_df: [Float16_b], acc_df: Int32"}}},
        Breach{"NL324",
               "math thread only",
               {{"math_fidelity: HiFi3, t: 1, mblock: [1, 1], ublock: [2, 2]}\n",
                 "math_fidelity: HiFi3, t: 1, mblock: [1, 1], ublock: [2, 2], attributes: {sfpu_execution_thread: pack}}\n"}},
               true},
        Breach{"NL325", "has no stochastic rounding", {{kAttributes, "attributes: {m_k: 2, u_kt: 2, stoch_rnd_mode: fpu}"}}, true},
        Breach{"NL333", "read as Float16, but 'w' holds Bfp8_b", {{"in_df: [Float16_b, Bfp8_b]", "in_df: [Float16_b, Float16]"}}},
        Breach{"NL395",
               "it holds Float16, but 'e' makes Float16_b",
               {{"df: Float16_b, target_device: 0, loc: host", "df: Float16, target_device: 0, loc: host"}}},
        Breach{"NL012", "not for datacopy", {{kExp, "e: {attributes: {sfpu_execution_thread: math}, type: datacopy,"}}},
        Breach{"NL010", "2 formats for 1 inputs", {{"inputs: [mm], in_df: [Float16_b]", "inputs: [mm], in_df: [Float16_b, Float16_b]"}}}));

INSTANTIATE_TEST_SUITE_P(
    Edges, BadNetlistOn,
    ::testing::Values(
        Breach{"NL401",
               "'hslice: 3' cannot be applied to input 0 'a' (t=1 rt=2 ct=4): ct 4 is not divisible by 3",
               {{kAttributes, "input_0_tms: [hslice: 3], attributes: {m_k: 2, u_kt: 2}"}}},
        Breach{"NL401", "'unpad'", {{kAttributes, "input_0_unpad: {rt: 2, ct: 0}, attributes: {m_k: 2, u_kt: 2}"}}},
        Breach{"NL402", "has shape t=1 rt=2 ct=4, but t=1 rt=2 ct=2 is needed", {{"m_k: 2, u_kt: 2", "m_k: 1, u_kt: 2"}}},
        Breach{"NL416",
               "'e' makes t=1 rt=2 ct=2, the queue holds t=1 rt=2 ct=4",
               {{"t: 1, mblock: [1, 1], ublock: [2, 2], df", "t: 1, mblock: [1, 2], ublock: [2, 2], df"}}},
        Breach{"NL403",
               "z can be broadcast from t 1 only",
               {{kAttributes,
                 "input_0_unpad: {rt: 0, ct: 2}, input_0_tms: [hslice: 2, broadcast: {z: 2}, hstack: 4], attributes: {m_k: 2, u_kt: 2}"}}},
        Breach{"NL404",
               "only slices may",
               {{kAttributes, "input_0_tms: [pad: [0, 0, 0.0], transpose, transpose], attributes: {m_k: 2, u_kt: 2}"}}},
        Breach{
            "NL412",
            "padded twice",
            {{kAttributes, "input_0_tms: [pad: [0, 0, 0.0]], input_0_pad: {rt: 0, ct: 0, pad_value: 0.0}, attributes: {m_k: 2, u_kt: 2}"}}},
        Breach{"NL406", "sub-ops of fused ops", {{kAttributes, "input_0_tms: [tile_broadcast: r], attributes: {m_k: 2, u_kt: 2}"}}},
        Breach{"NL408", "is illegal between", {{"out: {type: queue,", "out: {input_tms: [transpose], type: queue,"}}}));

TEST(CheckNetlist, TransposesWhereTheyCanBe) {
  auto with = [](const char* tms) { return check(replaced(kSmall, kAttributes, std::string(tms) + ", attributes: {m_k: 2, u_kt: 2}")); };
  EXPECT_EQ(check_summary(with("input_1_tms: [transpose, broadcast: {r: 1}, transpose]")), "");
  auto on_row = with("input_0_tms: [transpose]");
  ASSERT_FALSE(on_row.empty());
  EXPECT_TRUE(std::any_of(on_row.begin(), on_row.end(), [](const Diagnostic& d) { return d.code == "NL405"; })) << check_summary(on_row);
}

TEST(CheckNetlist, RunTimeRulesAreWarningsWhenCompiling) {
  std::string text = replaced(kSmall, "[[1, 0x10000000]]", "[[0, 0x10010000]]");
  auto compile = check(text);
  ASSERT_EQ(compile.size(), 1u);
  EXPECT_EQ(compile[0].code, "NL206");
  EXPECT_EQ(compile[0].severity, Severity::warning);
  EXPECT_EQ(check(text, false, CheckLevel::run)[0].severity, Severity::error);
}

TEST(CheckNetlist, DynamicQueuesMayShareMemoryInTurn) {
  // q1 and q2 at one address; who lives when is up to the program.
  auto with = [](const char* program) {
    std::string text = replaced(
        kSmall, "graphs:\n",
        R"(  q1: {type: queue, input: HOST, entries: 1, grid_size: [1, 1], t: 1, mblock: [1, 1], ublock: [1, 1], df: Float16_b, target_device: 0, loc: dram, dram: [[3, 0x10000000]]}
  q2: {type: queue, input: HOST, entries: 1, grid_size: [1, 1], t: 1, mblock: [1, 1], ublock: [1, 1], df: Float16_b, target_device: 0, loc: dram, dram: [[3, 0x10000400]]}
graphs:
)");
    return check(replaced(text, "      - var: {$c_inputs", std::string(program) + "      - var: {$c_inputs"));
  };
  EXPECT_EQ(
      check_summary(with(
          "      - allocate_queue: [q1]\n      - deallocate_queue: [q1]\n      - allocate_queue: [q2]\n      - deallocate_queue: [q2]\n")),
      "");
  EXPECT_EQ(
      with("      - allocate_queue: [q1]\n      - allocate_queue: [q2]\n      - deallocate_queue: [q1]\n      - deallocate_queue: [q2]\n")
          .size(),
      1u);
  EXPECT_EQ(with("      - allocate_queue: [q1]\n      - deallocate_queue: [q1]\n").size(), 1u);  // q2 lives always
}

TEST(CheckNetlist, WhatDoesNotFitSaysHowMuch) {
  auto found = check(replaced(kSmall, "grid_loc: [0, 0], grid_size: [1, 1]", "grid_loc: [0, 0], grid_size: [12, 2]"));
  ASSERT_FALSE(found.empty());
  const auto grid = std::find_if(found.begin(), found.end(), [](const Diagnostic& d) { return d.code == "NL301"; });
  ASSERT_NE(grid, found.end());
  EXPECT_EQ(grid->fault, Fault::fit);
  EXPECT_EQ(grid->node, "mm");
  EXPECT_EQ(grid->data, (std::vector<std::pair<std::string, std::string>>{{"resource", "workers"}, {"needed", "24"}, {"available", "80"}}));
  EXPECT_EQ(grid->loc.line, 11u);
}

TEST(CheckNetlist, TransposedGridsTurnOnTheDevice) {
  // 8 x 10 does not fit 10 x 8 workers, transposed it does.
  std::string text = replaced(kSmall, "grid_loc: [0, 1], grid_size: [1, 1]", "grid_loc: [1, 0], grid_size: [1, 9]");
  auto has = [](const std::vector<Diagnostic>& found, const char* code) {
    return std::any_of(found.begin(), found.end(), [&](const Diagnostic& d) { return d.code == code; });
  };
  EXPECT_TRUE(has(check(text), "NL301"));
  EXPECT_FALSE(has(check(replaced(text, kExp, "e: {grid_transpose: true, type: exp,")), "NL301"));
}

TEST(CheckNetlist, GraphsAreConnectedThroughQueues) {
  std::string text = replaced(kSmall, "    e: {", "  second:\n    target_device: 0\n    input_count: 2\n    e: {");
  auto found = check(text);
  ASSERT_EQ(found.size(), 1u) << check_summary(found);
  EXPECT_EQ(found[0].code, "NL108");
  EXPECT_EQ(found[0].hint, "put a queue between them");
}

TEST(CheckNetlist, IntegerMatmuls) {
  std::string text = kSmall;
  for (const char* edit :
       {"in_df: [Float16_b, Bfp8_b]|in_df: [Int8, Int8]", "acc_df: Float16_b|acc_df: Int32", "out_df: Float16_b|out_df: Int32",
        "intermed_df: Float16_b|intermed_df: Int32", "math_fidelity: HiFi3|math_fidelity: HiFi4",
        "df: Float16_b, target_device: 0, loc: dram|df: Int8, target_device: 0, loc: dram", "df: Bfp8_b|df: Int8", "type: exp|type: nop",
        "inputs: [mm], in_df: [Float16_b], acc_df: Float16_b, out_df: Float16_b, intermed_df: Float16_b|inputs: [mm], in_df: [Int32], "
        "acc_df: Int32, out_df: Int32, intermed_df: Int32",
        "math_fidelity: HiFi3|math_fidelity: HiFi4", "df: Float16_b, target_device: 0, loc: host|df: Int32, target_device: 0, loc: host"}) {
    std::string e = edit;
    text = replaced(text, e.substr(0, e.find('|')), e.substr(e.find('|') + 1));
  }
  EXPECT_EQ(check_summary(check(text)), "");
  for (const auto& [code, edit] : {std::pair("NL371", "in_df: [Int8, Int8]|in_df: [Int8, Int32]"),
                                   {"NL364", "acc_df: Int32|acc_df: Float16_b"},
                                   {"NL363", "math_fidelity: HiFi4|math_fidelity: LoFi"},
                                   {"NL319", "out_df: Int32|out_df: Float16_b"},
                                   {"NL372", "u_kt: 2}|u_kt: 2, l1_acc: true}"},
                                   {"NL376", "u_kt: 2}|u_kt: 2, min_buffer_input: 1}"},
                                   {"NL378", "u_kt: 2}|u_kt: 2, relu_en: true, relu_mode: max, relu_threshold: 1.0}"}}) {
    std::string e = edit, wanted = code;
    auto found = check(replaced(text, e.substr(0, e.find('|')), e.substr(e.find('|') + 1)));
    EXPECT_TRUE(std::any_of(found.begin(), found.end(), [&](const Diagnostic& d) { return d.code == wanted; })) << edit << "\n"
                                                                                                                << check_summary(found);
  }
}

TEST(CheckNetlist, FindingsAreBounded) {
  std::string text =
      "devices: {arch: wormhole_b0}\nqueues: {q: {type: queue, input: HOST, entries: 1, grid_size: [1, 1], t: 1, mblock: [1, 1], ublock: "
      "[1, 1], df: Float16_b, target_device: 0, loc: dram, dram: [[0, 0x10000000]]}}\ngraphs:\n  g:\n    target_device: 0\n    "
      "input_count: 1\n";
  for (int i = 0; i < 2000; ++i)
    text +=
        "    op" + std::to_string(i) +
        ": {type: nop, grid_loc: [50, 0], grid_size: [1, 1], inputs: [nobody], in_df: [Float16_b], acc_df: Float16_b, out_df: Float16_b, "
        "intermed_df: Float16_b, ublock_order: r, buf_size_mb: 2, math_fidelity: HiFi3, t: 1, mblock: [1, 1], ublock: [1, 1]}\n";
  EXPECT_EQ(check(text).size(), kMaxFindings);
}

TEST(CheckNetlist, TheDeviceHasToBeTheRightOne) {
  auto found = check_netlist(parsed(kSmall), samples::grayskull());
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].code, "NL100");
}

}  // namespace
}  // namespace buda::netlist
