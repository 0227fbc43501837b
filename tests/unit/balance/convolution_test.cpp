// SPDX-License-Identifier: Apache-2.0
// Convolutions, pools and depthwise convolutions as the device has them, end to end on golden: in small whole numbers, so that every
// policy, board, format and way of streaming gives the same bits.
#include "unit/balance/fixture.hpp"
#include "unit/balance/golden_model.hpp"

#include <buda/base/rng.hpp>
#include <buda/graph/values/value.hpp>
#include <buda/netlist/text/write.hpp>

#include <set>

namespace buda::balance {
namespace {

constexpr std::int64_t kRows = 4 * 32, kColumns = 2 * 32;

// -1, 0 and 1: sums of hundreds of products stay below 256, up to which Float16_b has all whole numbers.
Tensor whole_numbers(const Shape& shape, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<float> v(static_cast<std::size_t>(*shape.volume()));
  for (float& x : v) x = static_cast<float>(rng.below(3)) - 1;
  return Tensor(shape, std::move(v));
}

graph::NodeId numbers(DeviceGraph& g, const std::string& name, const Shape& shape, std::uint64_t seed) {
  auto id = g.parameter(name, shape);
  g.graph.node(id).value = graph::Value(whole_numbers(shape, seed));
  return id;
}

// In slice t of the result row r is row r + t - slices / 2 of x, as of an image of one row. `upwards`: counted from the last row.
graph::NodeId windows(DeviceGraph& g, const std::string& name, graph::NodeId x, std::int64_t slices, bool upwards = false) {
  std::vector<std::int32_t> picks;
  for (std::int64_t t = 0; t < slices; ++t)
    for (std::int64_t r = 0; r < kRows; ++r) {
      const std::int64_t row = (upwards ? kRows - 1 - r : r) + t - slices / 2;
      picks.push_back(row < 0 || row >= kRows ? 0 : static_cast<std::int32_t>(row + 1));
    }
  auto constant = g.constant(name + ".picks", Tensor(Shape{1, 1, slices, kRows}, std::move(picks)));
  return g.op(name, "matmul", {constant, x}, {1, slices, kRows, kColumns}, {{"identity", true}, {"slices", slices}});
}

graph::NodeId image(DeviceGraph& g) { return g.input("x", {1, 1, kRows, kColumns}, {kRows, kColumns}); }

graph::Graph convolution(bool upwards) {
  DeviceGraph g("convolution");
  auto taps = windows(g, "taps", image(g), 9, upwards);
  auto weights = numbers(g, "weights", {1, 1, 9 * kColumns, 64}, 1), bias = numbers(g, "bias", {1, 1, 32, 64}, 2);
  auto conv = g.op("conv", "matmul",
                   {graph::Edge(taps, {graph::Tm::hstack(9)}), weights, graph::Edge(bias, {graph::Tm::broadcast(graph::TmDim::r, 4)})},
                   {1, 1, kRows, 64}, {{"bias", true}});
  g.output("y", conv, {kRows, 64});
  return std::move(g.graph);
}

graph::Graph pool(bool upwards) {
  DeviceGraph g("pool");
  auto taps = windows(g, "taps", image(g), 4, upwards);
  auto most = g.op("conv", "reduce", {taps}, {1, 1, kRows, kColumns},
                   {{"dim", std::string("z")}, {"type", std::string("max")}, {"z", std::int64_t{4}}});
  g.output("y", most, {kRows, kColumns});
  return std::move(g.graph);
}

graph::Graph depthwise(bool upwards) {
  DeviceGraph g("depthwise");
  auto taps = windows(g, "taps", image(g), 3, upwards);
  auto diagonals = numbers(g, "diagonals", {1, 1, 3 * 32, kColumns}, 3);
  auto sums = g.op("conv", "depthwise", {graph::Edge(taps, {graph::Tm::hstack(3)}), diagonals}, {1, 1, kRows, kColumns});
  g.output("y", sums, {kRows, kColumns});
  return std::move(g.graph);
}

struct Kind {
  const char* name;
  graph::Graph (*make)(bool upwards);
  // The parts of the op behind the selection that can take what a selection streams.
  std::vector<std::string> alike, unlike;
};

const Kind kKinds[] = {{"convolution", convolution, {"[1,1]", "[4,1]"}, {"[2,1]", "[1,2]"}},
                       {"pool", pool, {"[1,1]", "[4,1]"}, {"[2,1]"}},
                       {"depthwise", depthwise, {"[1,1]", "[4,1]"}, {"[2,1]"}}};

class Convolutions : public ::testing::TestWithParam<std::tuple<std::string, Kind>> {
 protected:
  // Three batches on golden, against the graph.
  void expect_exact(const graph::Graph& graph, const Balanced& b) {
    std::vector<NamedTensors> batches;
    for (std::uint64_t seed : {10, 11, 12}) batches.push_back({{"x", whole_numbers({kRows, kColumns}, seed)}});
    expect_same_bits(graph, b, batches);
  }

  std::int32_t parts_of(const Balanced& b, const std::string& op) {
    for (std::size_t i = 0; i < b.problem.ops.size(); ++i)
      if (b.problem.ops[i].node_name == op) return b.choice.ops[i].model.stream.parts;
    return 0;
  }
};

TEST_P(Convolutions, EveryPolicyComputesThem) {
  const auto& device = std::get<0>(GetParam());
  const auto& kind = std::get<1>(GetParam());
  for (bool upwards : {false, true})
    for (std::uint64_t policy : {0, 1, 2}) {
      const graph::Graph graph = kind.make(upwards);
      auto result = balance_with(graph, device, {}, *some_policy(policy));
      ASSERT_TRUE(result.ok()) << text_of(result.failure());
      SCOPED_TRACE(cat(kind.name, ", policy ", policy, upwards ? ", upwards" : ""));
      expect_exact(graph, *result);
    }
}

TEST_P(Convolutions, StreamedOrNotTheyAreTheSame) {
  const auto& device = std::get<0>(GetParam());
  const auto& kind = std::get<1>(GetParam());
  std::set<bool> epochs;
  auto run = [&](const std::string& taps, const std::string& behind, bool upwards) {
    BalanceOptions options;
    options.overrides = {{"taps.t-stream", taps}, {"conv.t-stream", behind}};
    const graph::Graph graph = kind.make(upwards);
    auto result = balance_with(graph, device, options, *some_policy(upwards ? 2 : 0));
    SCOPED_TRACE(cat(kind.name, ", taps ", taps, ", behind ", behind, upwards ? ", upwards" : ""));
    ASSERT_TRUE(result.ok()) << text_of(result.failure());
    EXPECT_EQ(parts_of(*result, "taps"), taps == "[1,1]" ? 1 : 4);
    EXPECT_EQ(parts_of(*result, "conv"), behind == "[1,1]" ? 1 : behind == "[4,1]" ? 4 : 2);
    epochs.insert(result->choice.epochs() > 1);
    expect_exact(graph, *result);
  };
  for (bool upwards : {false, true}) {
    for (const std::string& parts : kind.alike) run("[4,1]", parts, upwards);
    for (const std::string& parts : kind.unlike) {
      run("[4,1]", parts, upwards);
      run("[1,1]", parts, upwards);
    }
  }
  EXPECT_TRUE(epochs.contains(false)) << "parts are handed over within an epoch";
}

TEST(Convolution, APoolKeepsItsFormat) {
  graph::Graph blocked = pool(false);
  for (const char* name : {"x", "taps", "conv"}) blocked.node(blocked.find(name)).outputs[0].format = DataFormat::bfp8_b;
  auto result = balance_with(blocked, "n150");
  ASSERT_TRUE(result.ok()) << text_of(result.failure());
  EXPECT_EQ(result->built.netlist.graphs[0].ops.back().intermed_format, DataFormat::bfp8_b);
  graph::Graph mixed = pool(false);
  mixed.node(mixed.find("conv")).outputs[0].format = DataFormat::bfp8_b;
  auto refused = balance_with(mixed, "n150");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.failure().diagnostics().front().code, "BL004");
  EXPECT_THAT(text_of(refused.failure()), ::testing::HasSubstr("takes Float16_b and gives Bfp8_b"));
}

INSTANTIATE_TEST_SUITE_P(Boards, Convolutions, ::testing::Combine(::testing::Values("e75", "n150"), ::testing::ValuesIn(kKinds)),
                         [](const auto& tested) { return cat(std::get<0>(tested.param), '_', std::get<1>(tested.param).name); });

// Streaming of dense ops in both directions, past operands of every role.
TEST(Streaming, DenseOpsGiveTheSame) {
  for (const char* fc : {"[1,1]", "[2,1]", "[4,1]", "[1,2]", "[1,6]"})
    for (const char* sum : {"[1,1]", "[2,1]", "[1,3]"}) {
      DeviceGraph g;
      auto x = g.input("x", {1, 1, 128, 64}, {128, 64});
      auto w = numbers(g, "w", {1, 1, 64, 192}, 1), b = numbers(g, "b", {1, 1, 32, 192}, 2);
      auto fc1 =
          g.op("fc", "matmul", {x, w, graph::Edge(b, {graph::Tm::broadcast(graph::TmDim::r, 4)})}, {1, 1, 128, 192}, {{"bias", true}});
      auto sum1 = g.op("sum", "add", {fc1, fc1}, {1, 1, 128, 192});
      g.output("y", sum1, {128, 192});
      g.output("z", fc1, {128, 192});
      BalanceOptions options;
      options.overrides = {{"fc.t-stream", fc}, {"sum.t-stream", sum}};
      SCOPED_TRACE(cat("fc ", fc, ", sum ", sum));
      auto result = balance_with(g.graph, "n150", options);
      ASSERT_TRUE(result.ok()) << text_of(result.failure());
      expect_same_bits(g.graph, *result, {{{"x", whole_numbers({128, 64}, 5)}}});
    }
}

// Two images, one weight for both: a netlist's depthwise product takes as many matrices of weights as of images.
TEST(Depthwise, HasOneMatrixOfWeightsForAllImages) {
  DeviceGraph g;
  auto x = g.input("x", {1, 1, 64, 192}, {64, 192});
  auto images = g.op("images", "nop", {graph::Edge(x, {graph::Tm::vslice(2)})}, {1, 2, 32, 192});
  auto diagonals = numbers(g, "diagonals", {1, 1, 3 * 32, 64}, 3);
  g.output("y", g.op("conv", "depthwise", {images, diagonals}, {1, 2, 32, 64}), {2, 32, 64});
  auto result = balance_with(g.graph, "n150", {});
  ASSERT_TRUE(result.ok()) << text_of(result.failure());
  expect_same_bits(g.graph, *result, {{{"x", whole_numbers({64, 192}, 5)}}});
}

// Windows of an attention with heads: a bias for each head is added in each window. Of a parameter and of what an op gives.
TEST(Broadcasts, OfSeveralMatricesAlongZ) {
  for (bool known : {true, false}) {
    DeviceGraph g;
    auto x = g.input("x", {1, 6, 64, 32}, {6, 64, 32}), h = g.input("h", {1, 2, 64, 32}, {2, 64, 32});
    auto bias = known ? numbers(g, "bias", {1, 2, 64, 32}, 3) : g.op("bias", "nop", {h}, {1, 2, 64, 32});
    auto y = g.op("y", "add", {x, graph::Edge(bias, {graph::Tm::broadcast(graph::TmDim::z, 3)})}, {1, 6, 64, 32});
    g.output("sum", y, {6, 64, 32});
    g.output("same", g.op("same", "nop", {h}, {1, 2, 64, 32}), {2, 64, 32});
    SCOPED_TRACE(known ? "of a parameter" : "of a result");
    auto result = balance_with(g.graph, "n150", {});
    ASSERT_TRUE(result.ok()) << text_of(result.failure());
    expect_same_bits(g.graph, *result, {{{"x", whole_numbers({6, 64, 32}, 5)}, {"h", whole_numbers({2, 64, 32}, 6)}}});
  }
}

// Two heads, cut out of one value and merged again, part by part or head by head.
TEST(Streaming, MatricesGoTogetherOrOneByOne) {
  DeviceGraph g;
  auto x = g.input("x", {1, 1, 128, 128}, {128, 128});
  auto w = numbers(g, "w", {1, 2, 64, 64}, 1);
  auto heads = g.op("heads", "matmul", {graph::Edge(x, {graph::Tm::hslice(2)}), w}, {1, 2, 128, 64});
  auto sum = g.op("sum", "add", {heads, heads}, {1, 2, 128, 64});
  auto merged = g.op("merged", "nop", {graph::Edge(sum, {graph::Tm::hstack(2)})}, {1, 1, 128, 128});
  g.output("y", merged, {128, 128});
  g.output("z", sum, {2, 128, 64});
  std::set<std::string> texts;
  for (const char* of_heads : {"n", "r", "c", "rz", "cz"})
    for (const char* of_sum : {"n", "r", "c", "rz", "cz"}) {
      BalanceOptions options;
      auto override_direction = [&](const std::string& op, const std::string& direction) {
        options.overrides[op + ".t-stream-dir"] = direction;
        options.overrides[op + ".t-stream"] = direction == "n" ? "[1,1]" : direction.front() == 'r' ? "[2,1]" : "[1,2]";
      };
      override_direction("heads", of_heads);
      override_direction("sum", of_sum);
      SCOPED_TRACE(cat("heads ", of_heads, ", sum ", of_sum));
      auto result = balance_with(g.graph, "n150", options);
      ASSERT_TRUE(result.ok()) << text_of(result.failure());
      EXPECT_EQ(direction_name(result->choice.ops[0].model.stream.direction), of_heads);
      EXPECT_EQ(direction_name(result->choice.ops[1].model.stream.direction), of_sum);
      texts.insert(netlist::write_netlist(result->built.netlist));
      expect_same_bits(g.graph, *result, {{{"x", whole_numbers({128, 128}, 5)}}});
    }
  EXPECT_EQ(texts.size(), 25u) << "each is a netlist of its own";
}

// Numbers of bands among the models of the windows, on a device where a core may read so many pieces of an operand; 0: any number.
std::set<bool> are_banded(std::int32_t most_reads) {
  device::DeviceDescriptor device = board("n150");
  device.streams.max_dram_reads_per_input = most_reads;
  graph::Graph graph = convolution(false);
  normalize(graph);
  const auto problem = make_problem(graph, schedule(graph, SchedulePolicy::module_inputs_bfs), device);
  EXPECT_TRUE(problem.ok());
  std::set<bool> out;
  for (const OpSpec& op : problem->ops) {
    if (!op.selection) continue;
    for (const OpModel& model : legal_models(op, device, {}, nullptr).models)
      if (model.grid.rows == 2 && model.stream.parts == 1) out.insert(model.bands > 1);
  }
  return out;
}

// Nine slices in two bands are 18 pieces.
TEST(SelectionBands, StandAloneWhereReadersCanTakeThem) {
  EXPECT_EQ(are_banded(0), (std::set<bool>{true}));
  EXPECT_EQ(are_banded(18), (std::set<bool>{true}));
  EXPECT_EQ(are_banded(17), (std::set<bool>{false, true})) << "slice by slice, too";
}

// Sums of several blocks, added in L1 by the packer or not.
TEST(L1Accumulation, GivesTheSameSums) {
  for (const bool in_l1 : {true, false})
    for (const char* blocks : {"1", "2", "4"}) {
      DeviceGraph g;
      auto x = g.input("x", {1, 1, 64, 128}, {64, 128});
      auto w = numbers(g, "w", {1, 1, 128, 64}, 1), b = numbers(g, "b", {1, 1, 32, 64}, 2);
      auto fc = g.op("fc", "matmul", {x, w, graph::Edge(b, {graph::Tm::broadcast(graph::TmDim::r, 2)})}, {1, 1, 64, 64}, {{"bias", true}});
      g.output("y", fc, {64, 64});
      BalanceOptions options;
      options.models.l1_accumulate = in_l1;
      options.overrides = {{"fc.u_kt", blocks}};
      SCOPED_TRACE(cat("u_kt ", blocks, in_l1 ? ", in L1" : ""));
      auto result = balance_with(g.graph, "n150", options);
      ASSERT_TRUE(result.ok()) << text_of(result.failure());
      EXPECT_EQ(result->built.netlist.graphs[0].ops[0].attributes.l1_acc, in_l1 && *blocks != '4');
      expect_same_bits(g.graph, *result, {{{"x", whole_numbers({64, 128}, 5)}}});
    }
}

}  // namespace
}  // namespace buda::balance
