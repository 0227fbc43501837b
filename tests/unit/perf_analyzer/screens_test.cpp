// SPDX-License-Identifier: Apache-2.0
// Screens as text, and what keys do to them.
#include "apps/perf-analyzer/draw.hpp"
#include "apps/perf-analyzer/figures.hpp"
#include "apps/perf-analyzer/print.hpp"
#include "unit/perf_analyzer/a_run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>

namespace buda::perf_analyzer {
namespace {

using screen::Span;
using screen::Style;
using ::testing::HasSubstr;
using Kind = Key::Kind;

constexpr Size kUsual{24, 80}, kSmall{10, 40};

// What is marked has a '*' before and after it. Of several empty lines one is left.
std::string screen(const View& view, Size size, const Run& run = a_run()) {
  std::string out;
  for (const Line& line : draw(run, view, size)) {
    std::size_t width = 0;
    std::string text;
    for (const Span& span : line) {
      width += span.text.size();
      text += span.style == Style::bad ? "*" + span.text + "*" : span.text;
    }
    EXPECT_LE(width, size.columns) << text;
    text.resize(text.find_last_not_of(' ') + 1);
    if (!text.empty() || !out.ends_with("\n\n")) out += text + '\n';
  }
  return out;
}

View after(const std::string& keys, Size size = kUsual, View view = {}) {
  for (const char c : keys) view = press(a_run(), view, {Kind::character, c}, size);
  return view;
}

View after(View view, Kind kind, Size size = kUsual) { return press(a_run(), view, {kind}, size); }

TEST(PerfAnalyzerScreens, Summary) {
  EXPECT_EQ(screen(View{}, kUsual), R"(perf-analyzer: summary
report: wormhole_b0 at 1000 MHz
5263158 inputs/s by the slowest ops, 2666666 in the run
util 49.3 %, balancer util 52.1 %
epoch           cycles     speed  util  mm cores  balancer util  period  inputs
0 fwd_0            100  20000000  62.5         0           56.8     220       4
1 fwd_1            200  10000000  31.2         2           39.1     220       4
2 fwd_2, fwd_3      80  25000000  78.1         4           69.4     220       4

N next  P previous  E epoch  F full names  arrows scroll  H help  Q quit
)");
}

TEST(PerfAnalyzerScreens, EpochOnASmallScreen) {
  EXPECT_EQ(screen(after("nn"), kSmall), R"(perf-analyzer: epoch analysis
epoch 1 of 3: fwd_1
200 cycles, 10000000 inputs/s, util 31.2
%
to gain: --microbatch 16 predicts 99
op                grid  est  kernel
...ery.long.name   2x1  140     150
softmax.exp        2x1  110     120

N P E F arrows  H help  Q quit
)");
}

TEST(PerfAnalyzerScreens, Epoch) {
  EXPECT_EQ(screen(after("nn"), kUsual), R"(perf-analyzer: epoch analysis
epoch 1 of 3: fwd_1
200 cycles, 10000000 inputs/s, util 31.2 %
to gain: --microbatch 16 predicts 99 cycles per input
op                                grid  est  kernel  bw_kernel  bw problem
....matmul.with.a.very.long.name   2x1  140     150        200  input 1 dram
softmax.exp                        2x1  110     120        120

N next  P previous  E epoch  F full names  arrows scroll  H help  Q quit
)");
}

TEST(PerfAnalyzerScreens, ArrowsScrollTheColumnsBesideTheName) {
  View view = after("nn", kSmall);
  for (int i = 0; i < 3; ++i) view = after(view, Kind::right, kSmall);
  EXPECT_EQ(screen(view, kSmall), R"(perf-analyzer: epoch analysis
epoch 1 of 3: fwd_1
200 cycles, 10000000 inputs/s, util 31.2
%
to gain: --microbatch 16 predicts 99
op                bw_kernel
...ery.long.name        200
softmax.exp             120

N P E F arrows  H help  Q quit
)");
  view = after("nn");
  for (int i = 0; i < 5; ++i) view = after(view, Kind::right);
  EXPECT_EQ(screen(view, kUsual), R"(perf-analyzer: epoch analysis
epoch 1 of 3: fwd_1
200 cycles, 10000000 inputs/s, util 31.2 %
to gain: --microbatch 16 predicts 99 cycles per input
op                                util  u_kt  in0 req  in0 meas  in1 req
....matmul.with.a.very.long.name   *4.5*     *1*      6.7       6.7     13.3
softmax.exp                       50.0            8.3       8.3

N next  P previous  E epoch  F full names  arrows scroll  H help  Q quit
)");
}

TEST(PerfAnalyzerScreens, NAndPGoThroughTheEpochs) {
  EXPECT_EQ(after("n").epoch, 0u);
  EXPECT_EQ(after("nnn").epoch, 2u);
  EXPECT_EQ(after("nnnn").epoch, 2u) << "there is no other";
  EXPECT_EQ(after("NNp").epoch, 0u) << "capitals, too";
  EXPECT_EQ(after("nnpp").epoch, std::nullopt);
  EXPECT_EQ(after("p").epoch, std::nullopt);
}

TEST(PerfAnalyzerScreens, EGoesToANumber) {
  EXPECT_THAT(screen(after("e2"), kUsual), HasSubstr("\nepoch: 2_\n"));
  EXPECT_EQ(after(after("e2"), Kind::enter).epoch, 2u);
  EXPECT_EQ(after(after("e9"), Kind::enter).epoch, std::nullopt) << "there is none";
  EXPECT_EQ(after(after("e99999999999999999999"), Kind::enter).epoch, std::nullopt);
  EXPECT_EQ(after(after(after("e12"), Kind::backspace), Kind::enter).epoch, 1u);
  EXPECT_EQ(after(after("ne2"), Kind::escape).epoch, 0u);
  EXPECT_FALSE(after("eq").quit) << "a letter among digits";
}

TEST(PerfAnalyzerScreens, FShowsFullNamesThatScroll) {
  const std::string name = a_run().epochs[1].ops[1].name;
  EXPECT_THAT(screen(after("nn"), kUsual), ::testing::Not(HasSubstr(name)));
  EXPECT_THAT(screen(after("nnf"), kUsual), HasSubstr(name));
  EXPECT_EQ(screen(after("nnff"), kUsual), screen(after("nn"), kUsual));
  View view = after("nnf", kSmall);
  EXPECT_THAT(screen(view, kSmall), HasSubstr("\n" + name.substr(0, 40) + "\n"));
  EXPECT_THAT(screen(after(view, Kind::right, kSmall), kSmall), HasSubstr("\n" + name.substr(20, 40) + "\n"));
}

TEST(PerfAnalyzerScreens, HelpScrollsAndEnds) {
  View view = after("nh", kSmall);
  EXPECT_THAT(screen(view, kSmall), HasSubstr("help on epochs"));
  const std::string top = screen(view, kSmall);
  view = after(view, Kind::end, kSmall);
  EXPECT_THAT(screen(view, kSmall), HasSubstr("inputs in an execution."));
  EXPECT_EQ(screen(after(view, Kind::home, kSmall), kSmall), top);
  EXPECT_EQ(screen(after("q", kSmall, view), kSmall), screen(after("n", kSmall), kSmall)) << "Q ends the help first";
  EXPECT_TRUE(after("q").quit);
}

TEST(PerfAnalyzerScreens, AnySizeIsDrawn) {
  for (std::size_t rows = 1; rows < 30; rows += 2)
    for (std::size_t columns = 1; columns < 200; columns += 7)
      for (const char* keys : {"", "n", "nnf", "nnh", "e1"}) {
        const Size size{rows, columns};
        View view = after(keys, size);
        for (const Kind kind : {Kind::down, Kind::right, Kind::end, Kind::page_up, Kind::right}) view = after(view, kind, size);
        EXPECT_EQ(draw(a_run(), view, size).size(), rows);
        screen(view, {rows, columns});
        screen(view, {rows + 3, columns + 9});
      }
}

TEST(PerfAnalyzerScreens, NothingButTextReachesTheTerminal) {
  auto run = a_run();
  run.epochs[0].graph = "evil\x1b]0;title\x07";
  run.epochs[0].ops[0].name =
      "a\nb\x9b"
      "31m\xc3\xa9";
  run.epochs[0].advice = {"\x1b[2J"};
  run.report.arch = "\x1b[31m";
  run.report.netlist = "\r";
  for (const std::string& text :
       {printed(run, true), screen(View{}, kUsual, run), screen(press(run, {}, {Kind::character, 'n'}, kUsual), kUsual, run)})
    for (const char c : text) ASSERT_TRUE(c == '\n' || (c >= ' ' && c <= '~')) << text;
  EXPECT_THAT(printed(run, true), HasSubstr("a\\x0ab\\x9b31m\\xc3\\xa9"));
}

TEST(PerfAnalyzerScreens, HugeAndAbsentNumbers) {
  auto run = a_run();
  run.report.clock_hz = 1e308;
  run.report.executed_inputs = 0;
  run.epochs[1].executions = std::int64_t{1} << 62;
  run.epochs[1].inputs = 0;
  run.epochs[1].ops[0].estimate = 1e300;
  run.epochs[1].ops[0].cores = std::int64_t{1} << 62;
  run.epochs[1].ops[1].cores = std::int64_t{1} << 62;
  run.epochs[2].ops.clear();
  run.report.epochs = run.epochs;
  EXPECT_THAT(printed(run, false), HasSubstr("1e+300"));
  run.epochs.clear();
  EXPECT_EQ(screen(press(run, {}, {Kind::character, 'n'}, kUsual), kUsual, run), screen(View{}, kUsual, run));
}

// Ops that take 100 cycles for one of four inputs in epochs of 1000: four of ten of the time that was measured.
TEST(PerfAnalyzerFigures, AreOfTheSlowestOps) {
  const auto run = a_run();
  const EpochFigures first = figures_of(run, run.epochs[0]), second = figures_of(run, run.epochs[1]);
  EXPECT_DOUBLE_EQ(first.cycles, 100);
  EXPECT_DOUBLE_EQ(first.speed, 2e7) << "two samples in an input";
  EXPECT_DOUBLE_EQ(first.util, 100 * 0.25 * 250 / 100);
  EXPECT_DOUBLE_EQ(first.balancer_util, 100 * 0.25 * 250 / 110);
  EXPECT_DOUBLE_EQ(first.mm_cores, 0);
  EXPECT_DOUBLE_EQ(second.cycles, 200) << "with the waits for transfers";
  EXPECT_DOUBLE_EQ(second.mm_cores, 2);
  // 12 inputs at 100, 200 and 80 cycles.
  EXPECT_DOUBLE_EQ(figures_of(run).speed, 24 * 1e9 / (12 * 380));
}

}  // namespace
}  // namespace buda::perf_analyzer
