// SPDX-License-Identifier: Apache-2.0
// Enumeration of implementations, and overrides of them.
#include <buda/balance/models/op_model.hpp>

#include "unit/balance/fixture.hpp"

#include <buda/balance/legalize/overrides.hpp>
#include <buda/balance/problem/l1_accumulation.hpp>

#include <set>

namespace buda::balance {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Problem problem_of(graph::Graph& graph, const std::string& device = "n150") {
  normalize(graph);
  auto problem = make_problem(graph, schedule(graph, SchedulePolicy::module_inputs_bfs), board(device));
  EXPECT_TRUE(problem.ok()) << (problem.ok() ? "" : text_of(problem.failure()));
  return problem.ok() ? std::move(*problem) : Problem{};
}

Problem linear(std::int64_t rows, std::int64_t inner, std::int64_t cols, const std::string& device = "n150") {
  graph::Graph g = perceptron(rows, {inner, cols});
  return problem_of(g, device);
}

TEST(LegalModels, CoverEveryGridThatDividesTheResult) {
  Problem p = linear(6 * 32, 8 * 32, 16 * 32);
  ModelOptions whole;
  whole.t_streaming = false;
  auto legal = legal_models(p.ops[0], *p.device, whole, nullptr);
  std::set<std::pair<int, int>> grids;
  for (const auto& m : legal.models) {
    grids.insert({m.grid.rows, m.grid.cols});
    // What every model has to keep.
    EXPECT_EQ(m.grid.rows * m.block.mblock_m * m.block.ublock_rt, 6);
    EXPECT_EQ(m.grid.cols * m.block.mblock_n * m.block.ublock_ct, 16);
    EXPECT_EQ(m.m_k * m.u_kt, 8);
    EXPECT_LE(m.block.ublock_tiles(), 8);
    EXPECT_LE(m.l1_bytes, p.device->l1.operand_bytes());
    EXPECT_GT(m.kernel_cycles, 0);
  }
  // 1, 2, 3, 6 rows by 1, 2, 4, 8 columns; 16 columns are more than the chip's 8.
  EXPECT_EQ(grids.size(), 16u);
  EXPECT_EQ(legal.rejections.counts.at(Rejection::grid), 4u);
  EXPECT_EQ(legal.models.front().cores(), 1);
  EXPECT_EQ(legal.models.front().u_kt, 8);
}

TEST(LegalModels, TurnedGridsAreTriedOnlyWhenAllowed) {
  Problem p = linear(32, 32, 10 * 32);  // 9 rows x 8 columns of workers: no 1x10, and turned no 10x1 either
  EXPECT_EQ(legal_models(p.ops[0], *p.device, {}, nullptr).models.back().grid, (GridShape{1, 5}));
  Problem nine = linear(32, 32, 9 * 32);
  ModelOptions turned;
  turned.allow_transpose = true;
  EXPECT_EQ(legal_models(nine.ops[0], *nine.device, {}, nullptr).models.back().grid, (GridShape{1, 3}));
  EXPECT_EQ(legal_models(nine.ops[0], *nine.device, turned, nullptr).models.back().grid, (GridShape{1, 9}));
}

TEST(LegalModels, ThirtyTwoBitAccumulationHalvesTheUblock) {
  graph::Graph g = perceptron(8 * 32, {32, 8 * 32});
  g.node(g.find("fc1")).precision.accumulate = DataFormat::float32;
  Problem p = problem_of(g);
  for (const auto& m : legal_models(p.ops[0], *p.device, {}, nullptr).models) EXPECT_LE(m.block.ublock_tiles(), 4);
}

TEST(LegalModels, ParametersStayInL1WhileThereIsRoom) {
  // 16 x 16 tiles of weights: 532 KB. They fit one core of Wormhole, beside a bias of 16 tiles.
  Problem small = linear(32, 512, 512);
  EXPECT_TRUE(legal_models(small.ops[0], *small.device, {}, nullptr).models.front().is_resident(1));
  // 64 x 32 tiles: 4.2 MB do not. The bias, which is small, does where the steps of the inner dimension leave room.
  Problem large = linear(32, 2048, 1024);
  bool bias = false;
  for (const auto& m : legal_models(large.ops[0], *large.device, {}, nullptr).models) {
    if (m.cores() > 1) break;
    EXPECT_FALSE(m.is_resident(1)) << m.text();
    bias = bias || m.is_resident(2);
  }
  EXPECT_TRUE(bias);
  ModelOptions none;
  none.resident_parameters = false;
  for (const auto& m : legal_models(small.ops[0], *small.device, none, nullptr).models) EXPECT_EQ(m.resident, 0u);
  // The model's input is never kept.
  for (const auto& m : legal_models(small.ops[0], *small.device, {}, nullptr).models) EXPECT_FALSE(m.is_resident(0));
}

TEST(LegalModels, AreWhatTheResourceModelAccepts) {
  Problem p = linear(96, 1536, 768, "e150");
  auto legal = legal_models(p.ops[0], *p.device, {}, nullptr);
  ASSERT_FALSE(legal.models.empty());
  ASSERT_GT(legal.rejections.counts[Rejection::l1], 0u);
  for (const auto& m : legal.models) {
    auto all = usages(with_model(p.ops[0], m), links_alone(p.ops[0], m), *p.device);
    EXPECT_EQ(first_misfit(all), nullptr) << m.text();
    EXPECT_EQ(all.front().used, m.l1_bytes);
  }
}

TEST(LegalModels, OneOutputBufferWhereTwoDoNotFit) {
  // 20 x 20 tiles on one core: twice 832 KB is too much.
  graph::Graph g = perceptron(640, {32, 640});
  Problem p = problem_of(g);
  OpOverride one;
  one.grid = GridShape{1, 1};
  auto legal = legal_models(p.ops[0], *p.device, {}, &one);
  ASSERT_FALSE(legal.models.empty());
  EXPECT_EQ(legal.models.front().buf_size_mb, 1);
  ModelOptions strict;
  strict.t_streaming = false;
  strict.single_buffer_fallback = false;
  EXPECT_TRUE(legal_models(p.ops[0], *p.device, strict, &one).models.empty());
}

TEST(LegalModels, AFullL1IsNotTheOnlyWayToStream) {
  // What an op's neighbours add to L1 is known later, so a model that leaves little room has one with fewer parts in its buffer beside it.
  std::size_t full = 0;
  for (std::int64_t cols = 10; cols <= 16; ++cols) {
    Problem p = linear(20 * 32, 32, cols * 32);
    const auto models = legal_models(p.ops[0], *p.device, {}, nullptr).models;
    for (const OpModel& m : models) {
      if (m.stream.parts == 1 || m.buf_size_mb <= 2 || m.l1_bytes + (64 << 10) < p.device->l1.operand_bytes()) continue;
      ++full;
      EXPECT_TRUE(std::any_of(models.begin(), models.end(), [&](const OpModel& other) {
        return other.grid == m.grid && other.stream == m.stream && other.buf_size_mb == 2 && other.l1_bytes + (96 << 10) < m.l1_bytes;
      })) << m.text();
    }
  }
  EXPECT_GT(full, 0u);
}

TEST(LegalModels, NoCoreGetsNothingButPadding) {
  // 4 of 15 columns of tiles are data: of three columns of cores the last would have none. One column has no room for 23 x 15 tiles of
  // Float32, so they come in parts.
  DeviceGraph g;
  auto x = g.input("x", {1, 1, 23 * 32, 4 * 32}, {}, DataFormat::float32);
  auto first = g.op("first", "nop", {x}, {1, 1, 23 * 32, 4 * 32}, {}, DataFormat::float32);
  auto wide = g.op("wide", "nop", {graph::Edge(first, {graph::Tm::pad(0, 11, 0)})}, {1, 1, 23 * 32, 15 * 32}, {}, DataFormat::float32);
  g.output("y", wide);
  Problem p = problem_of(g.graph);
  ModelOptions whole;
  whole.t_streaming = false;
  EXPECT_TRUE(legal_models(p.ops[1], *p.device, whole, nullptr).models.empty());
  const auto models = legal_models(p.ops[1], *p.device, {}, nullptr).models;
  ASSERT_FALSE(models.empty());
  for (const OpModel& m : models) {
    EXPECT_EQ(m.grid.cols, 1) << m.text();
    EXPECT_TRUE(cuts_rows(m.stream.direction)) << m.text();
  }
  auto result = balance_with(g.graph, "n150");
  EXPECT_TRUE(result.ok()) << text_of(result.failure());
}

TEST(LegalModels, DepthwiseOpsHaveOneColumnOfCores) {
  DeviceGraph g;
  auto x = g.input("x", {1, 1, 2 * 32, 270 * 32});
  auto w = g.parameter("w", {1, 1, 9 * 32, 30 * 32});
  g.output("y", g.op("y", "depthwise", {x, w}, {1, 1, 2 * 32, 30 * 32}));
  Problem p = problem_of(g.graph);
  const auto models = legal_models(p.ops[0], *p.device, {}, nullptr).models;
  ASSERT_FALSE(models.empty());
  for (const OpModel& m : models) EXPECT_EQ(m.grid.cols, 1) << m.text();
}

TEST(LegalModels, FewThatFillL1HaveLeanerOnesBesideThem) {
  // A depthwise convolution of ConvNeXt: with all 49 x 8 tiles of weights in L1, no room is left for what neighbours add.
  DeviceGraph g;
  auto x = g.input("x", {1, 49, 25 * 32, 8 * 32});
  auto w = g.parameter("w", {1, 1, 49 * 32, 8 * 32});
  g.output("y", g.op("y", "depthwise", {graph::Edge(x, {graph::Tm::hstack(49)}), w}, {1, 1, 25 * 32, 8 * 32}));
  Problem p = problem_of(g.graph);
  std::size_t full = 0, lean = 0;
  for (const OpModel& m : legal_models(p.ops[0], *p.device, {}, nullptr).models) {
    if (m.grid.rows != 5) continue;
    ++(m.l1_bytes + (96 << 10) > p.device->l1.operand_bytes() ? full : lean);
    EXPECT_EQ(m.is_resident(1), m.l1_bytes > 800'000) << m.text();
  }
  EXPECT_GT(full, 0u);
  EXPECT_GT(lean, 0u);
}

TEST(LegalModels, ReductionsKeepTheirDimensionOnOneCore) {
  DeviceGraph g;
  auto x = g.input("x", {1, 1, 4 * 32, 6 * 32});
  auto r = g.op("r", "reduce", {x}, {1, 1, 32, 6 * 32}, {{"dim", std::string("r")}});
  auto c = g.op("c", "reduce", {x}, {1, 1, 4 * 32, 32}, {{"dim", std::string("c")}});
  g.output("a", r);
  g.output("b", c);
  Problem p = problem_of(g.graph);
  for (const auto& m : legal_models(p.ops[0], *p.device, {}, nullptr).models) {
    EXPECT_EQ(m.grid.rows, 1);
    EXPECT_EQ(m.m_k * m.u_kt, 4);
  }
  for (const auto& m : legal_models(p.ops[1], *p.device, {}, nullptr).models) {
    EXPECT_EQ(m.grid.cols, 1);
    EXPECT_EQ(m.m_k * m.u_kt, 6);
  }
}

// ---- overrides

std::vector<Diagnostic> refused(const Problem& p, std::map<std::string, std::string> given) {
  auto result = parse_overrides(p, given);
  EXPECT_FALSE(result.ok());
  return result.ok() ? std::vector<Diagnostic>{} : result.failure().diagnostics();
}

TEST(Overrides, AreReadInSeveralSpellings) {
  Problem p = linear(64, 64, 64);
  auto result = parse_overrides(
      p, {{"fc1.grid", "[2, 1]"}, {"fc1.ublock", "1x2"}, {"fc1.u_kt", "2"}, {"fc1.epoch-break", "true"}, {"fc1.dram-parameters", "1"}});
  ASSERT_TRUE(result.ok()) << text_of(result.failure());
  const OpOverride& o = (*result)[0];
  EXPECT_EQ(o.grid, (GridShape{2, 1}));
  EXPECT_EQ(o.ublock, (std::array<std::int32_t, 2>{1, 2}));
  EXPECT_EQ(o.u_kt, 2);
  EXPECT_EQ(o.epoch_break, true);
  EXPECT_EQ(o.dram_parameters, true);
  EXPECT_EQ(o.given.size(), 5u);
}

TEST(Overrides, EveryMistakeIsNamed) {
  Problem p = linear(64, 64, 64);
  auto all = refused(p, {{"fc2.grid", "[1,1]"},
                         {"fc1.gird", "[1,1]"},
                         {"fc1.grid", "[1]"},
                         {"fc1.u_kt", "0"},
                         {"fc1.epoch-break", "maybe"},
                         {"grid", "[1,1]"},
                         {"nothing.like.it.grid", "1x1"}});
  ASSERT_EQ(all.size(), 7u);
  std::string text;
  for (const auto& d : all) {
    EXPECT_EQ(d.fault, Fault::usage);
    text += cat(d.message, " | ", d.hint, '\n');
  }
  EXPECT_THAT(text, AllOf(HasSubstr("no op 'fc2' in the graph | did you mean 'fc1'?"), HasSubstr("have no 'gird'"),
                          HasSubstr("did you mean 'grid'?"), HasSubstr("'[1]' is not two positive integers"),
                          HasSubstr("'0' is not a positive integer"), HasSubstr("'maybe' is not true or false"),
                          HasSubstr("op.grid: expected one of"), HasSubstr("its ops are fc1")));
}

Diagnostic illegal(const std::map<std::string, std::string>& overrides) {
  BalanceOptions options;
  options.overrides = overrides;
  auto result = balance_with(perceptron(6 * 32, {8 * 32, 8 * 32}), "n150", options);
  EXPECT_FALSE(result.ok());
  return result.ok() ? Diagnostic{} : result.failure().diagnostics().front();
}

TEST(Overrides, IllegalOnesAreExplainedWithTheNearestLegal) {
  Diagnostic d = illegal({{"fc1.grid", "[4,4]"}});
  EXPECT_EQ(d.fault, Fault::usage);
  EXPECT_THAT(d.message, AllOf(HasSubstr("op.fc1.grid=[4,4]"), HasSubstr("grid 4x4 does not divide the result's 6x8 tiles")));
  EXPECT_THAT(d.hint, HasSubstr("nearest legal: --set 'op.fc1.grid=[3,4]' --set"));
  EXPECT_THAT(illegal({{"fc1.grid", "[10,8]"}}).message, HasSubstr("grid 10x8 does not fit n150 (9x8 workers)"));
  EXPECT_THAT(illegal({{"fc1.ublock", "[3,4]"}}).message,
              HasSubstr("a ublock of 12 tiles does not fit the destination register, which holds 8 of Float16_b"));
  EXPECT_THAT(illegal({{"fc1.ublock", "[1,3]"}}).message, HasSubstr("ublock 1x3 does not divide the result's 6x8 tiles"));
  EXPECT_THAT(illegal({{"fc1.grid", "[2,2]"}, {"fc1.mblock", "[2,1]"}}).message,
              HasSubstr("mblock 2x1 does not divide a core's 3x4 tiles"));
  EXPECT_THAT(illegal({{"fc1.u_kt", "3"}}).message, HasSubstr("u_kt 3 does not divide the inner dimension of 8 tiles"));
}

TEST(Overrides, StreamingIsDemandedByPartsAlongOneSide) {
  Problem p = linear(64, 64, 64);
  auto stream = [&](const std::string& value) { return parse_overrides(p, {{"fc1.t-stream", value}}).value()[0].stream; };
  EXPECT_EQ(stream("[2,1]"), (Stream{StreamDirection::r, 2}));
  EXPECT_EQ(stream("1x2"), (Stream{StreamDirection::c, 2}));
  EXPECT_EQ(stream("[1,1]"), Stream{});
  for (const char* value : {"[2,2]", "2", "r"})
    EXPECT_THAT(refused(p, {{"fc1.t-stream", value}}).front().message,
                HasSubstr(cat("'", value, "' is not parts along r or along c, as in [4,1] or [1,4]")));
  EXPECT_THAT(illegal({{"fc1.t-stream", "[4,1]"}}).message, HasSubstr("4 parts along r do not divide the result's 6 tile rows"));
  EXPECT_THAT(illegal({{"fc1.t-stream", "[1,3]"}}).message, HasSubstr("3 parts along c do not divide the result's 8 tile columns"));
  Diagnostic d = illegal({{"fc1.t-stream", "[3,1]"}, {"fc1.grid", "[6,1]"}});
  EXPECT_THAT(d.message, HasSubstr("grid 6x1 does not divide a part's 2x8 tiles"));
}

TEST(Overrides, DirectionsOfStreamingHavePybudasNames) {
  Problem p = linear(64, 64, 64);
  auto of = [&](const std::map<std::string, std::string>& given) { return parse_overrides(p, given).value()[0]; };
  EXPECT_EQ(of({{"fc1.t-stream-dir", "rz"}}).stream_direction, StreamDirection::rz);
  const OpOverride theirs = of({{"fc1.t_stream_dir", "c"}, {"fc1.t_stream_shape", "(1, 2)"}, {"fc1.grid_shape", "(1, 1)"}});
  EXPECT_EQ(theirs.stream_direction, StreamDirection::c);
  EXPECT_EQ(theirs.stream, (Stream{StreamDirection::c, 2}));
  EXPECT_EQ(theirs.grid, (GridShape{1, 1}));
  EXPECT_THAT(refused(p, {{"fc1.t-stream-dir", "z"}}).front().message, HasSubstr("'z' is not a direction: n, r, c, rz or cz"));
  EXPECT_THAT(illegal({{"fc1.t-stream", "[2,1]"}, {"fc1.t-stream-dir", "c"}}).message,
              HasSubstr("t-stream cuts along r, and t-stream-dir is c"));
  EXPECT_THAT(illegal({{"fc1.t-stream", "[2,1]"}, {"fc1.t-stream-dir", "n"}}).message,
              HasSubstr("t-stream cuts along r, and t-stream-dir is n"));
}

TEST(Overrides, ADirectionIsForAllMatricesOrForEach) {
  const Stream r{StreamDirection::r, 2}, c{StreamDirection::c, 2}, rz{StreamDirection::rz, 2};
  OpOverride own;
  EXPECT_TRUE(own.allows(r, 3) && own.allows(rz, 3) && own.allows({}, 3));
  own.stream = r;
  EXPECT_TRUE(own.allows(r, 3) && own.allows(rz, 3));
  EXPECT_FALSE(own.allows(c, 3) || own.allows({}, 3) || own.allows({StreamDirection::r, 4}, 3));
  own.stream_direction = StreamDirection::rz;
  EXPECT_TRUE(own.allows(rz, 3) && !own.allows(r, 3));
  EXPECT_TRUE(own.allows(r, 1)) << "of a single matrix there is no difference";
  own.stream.reset();
  EXPECT_TRUE(own.allows({}, 3)) << "what fits need not stream";
}

TEST(L1Accumulation, IsForFormatsThatPackersAdd) {
  struct Case {
    const char* device;
    DataFormat out, intermediate, accumulate;
    bool relu;
    std::int32_t least;  // blocks; 0: never
  };
  using enum DataFormat;
  for (const Case& one : {Case{"n150", float16_b, float16_b, float16_b, false, 2}, Case{"n150", float16_b, float16_b, float16_b, true, 0},
                          Case{"n150", bfp8_b, float16_b, float16_b, false, 3}, Case{"n150", bfp8_b, bfp8_b, float16_b, false, 0},
                          Case{"n150", float16_b, float32, float32, false, 3}, Case{"n150", float16_b, float16_b, float32, false, 0},
                          Case{"e75", float16_b, float16_b, float16_b, false, 0}}) {
    Problem p;
    p.device = &board(one.device);
    OpSpec fc;
    fc.op.type = netlist::OpType::matmul;
    fc.op.out_format = one.out;
    fc.op.intermed_format = one.intermediate;
    fc.op.acc_format = one.accumulate;
    fc.op.attributes.relu.enabled = one.relu;
    p.ops.push_back(fc);
    allow_l1_accumulation(p);
    EXPECT_EQ(p.ops[0].l1_acc, one.least > 0) << one.device << ' ' << format_name(one.intermediate);
    if (p.ops[0].l1_acc) {
      EXPECT_EQ(least_blocks_in_l1(p.ops[0].op), one.least);
    }
  }
}

TEST(Overrides, StreamingActsWhereStreamingIsOff) {
  BalanceOptions options;
  options.models.t_streaming = false;
  options.overrides = {{"fc1.t-stream", "[3,1]"}};
  auto result = balance_with(perceptron(6 * 32, {64, 64, 64}), "n150", options);
  ASSERT_TRUE(result.ok()) << text_of(result.failure());
  EXPECT_EQ(result->choice.ops[0].model.stream, (Stream{StreamDirection::r, 3}));
  EXPECT_EQ(result->choice.ops[1].model.stream, Stream{});
  EXPECT_EQ(result->built.netlist.graphs[0].ops[0].block.t, 3);
}

TEST(Overrides, OpsThatCannotStreamSaySo) {
  DeviceGraph g;
  auto x = g.input("x", {1, 1, 64, 64});
  auto most = g.op("most", "reduce", {x}, {1, 1, 32, 64}, {{"dim", std::string("r")}, {"type", std::string("max")}});
  g.output("y", most);
  BalanceOptions options;
  options.overrides = {{"most.t-stream", "[2,1]"}};
  auto result = balance_with(g.graph, "n150", options);
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(text_of(result.failure()), HasSubstr("its result cannot be cut into parts along r"));
}

TEST(Overrides, AreObeyed) {
  BalanceOptions options;
  options.overrides = {{"fc1.grid", "2x4"}, {"fc1.ublock", "1x1"}, {"fc1.u_kt", "2"}, {"fc1.dram-parameters", "true"}};
  auto result = balance_with(perceptron(6 * 32, {8 * 32, 8 * 32}), "n150", options);
  ASSERT_TRUE(result.ok()) << text_of(result.failure());
  const netlist::Op& op = result->built.netlist.graphs[0].ops[0];
  EXPECT_EQ(op.grid, (GridShape{2, 4}));
  EXPECT_EQ(op.block, (netlist::BlockShape{1, 3, 2, 1, 1}));
  EXPECT_EQ(op.attributes.u_kt, 2);
  EXPECT_EQ(op.inputs[1].min_buffer_tiles, 0);
  for (const auto& s : std::get<netlist::instruction::Execute>(result->built.netlist.programs[0].instructions[4].what).settings)
    EXPECT_EQ(s.prologue->immediate, 0) << s.queue;
}

}  // namespace
}  // namespace buda::balance
