// SPDX-License-Identifier: Apache-2.0
// Inputs that are outputs of the step before stay on the device, whichever epochs read and write them.
#include "unit/balance/fixture.hpp"
#include "unit/balance/golden_model.hpp"

#include <buda/graph/tags/loopback.hpp>
#include <buda/graph/values/value.hpp>
#include <buda/tensor/tensor.hpp>

#include <numeric>

namespace buda::balance {
namespace {

using testing::HasSubstr;

// s' = s / 2 + x, r = s + x: s is read by both. `w` inputs are taken at once.
graph::Graph cell(std::int64_t w, DataFormat state = DataFormat::float16_b) {
  DeviceGraph g("cell");
  const Shape shape{w, 1, 32, 64};
  auto x = g.input("x", shape, {w, 1, 32, 64});
  auto s = g.input("s", shape, {w, 1, 32, 64}, state);
  auto half = g.parameter("half", {1, 1, 32, 64});
  g.graph.node(half).value = graph::Value(Tensor(Shape{1, 1, 32, 64}, std::vector<float>(32 * 64, 0.5F)));
  auto decayed = g.op("decayed", "multiply", {s, half}, shape);
  auto next = g.op("next", "add", {decayed, x}, shape);
  auto read = g.op("read", "add", {s, x}, shape);
  g.output("r", read, {w, 1, 32, 64});
  g.output("t", next, {w, 1, 32, 64});
  g.graph.node(s).tags[graph::kLoopback] = "t";
  return std::move(g.graph);
}

Tensor filled(std::int64_t rows, float first, float more) {
  std::vector<float> v;
  for (std::int64_t i = 0; i < rows; ++i, first += more) v.insert(v.end(), 32 * 64, first);
  return Tensor(Shape{rows, 1, 32, 64}, std::move(v));
}

// The first element of each row.
std::vector<float> firsts(const Tensor& t) {
  std::vector<float> out;
  const std::vector<float> all = t.to_f32();
  for (std::size_t i = 0; i < all.size(); i += 32 * 64) out.push_back(all[i]);
  return out;
}

Result<GoldenSession> open(graph::Graph graph, std::map<std::string, std::string> overrides) {
  BalanceOptions options;
  options.overrides = std::move(overrides);
  BUDA_ASSIGN(auto balanced, balance_with(std::move(graph), "n150", options));
  return GoldenSession::open(balanced);
}

// Epochs of "decayed", "next" and "read": all in one; written before it is read; written after.
class LoopbackEpochs : public ::testing::TestWithParam<std::map<std::string, std::string>> {};

TEST_P(LoopbackEpochs, EachStepTakesWhatTheOneBeforeLeft) {
  auto session = open(cell(1), GetParam());
  ASSERT_TRUE(session.ok()) << text_of(session.failure());
  auto out = session->run({{"x", filled(5, 1, 1)}, {"s", filled(1, 8, 0)}});
  ASSERT_TRUE(out.ok()) << text_of(out.failure());
  // s: 8, 5, 4.5, 5.25, 6.625, 8.3125
  EXPECT_EQ(firsts(out->at("r")), (std::vector<float>{9, 7, 7.5, 9.25, 11.625}));
  EXPECT_EQ(firsts(out->at("t")), (std::vector<float>{8.3125}));
  // The next run goes on; another one begins anew.
  out = session->run({{"x", filled(1, 1, 0)}});
  ASSERT_TRUE(out.ok()) << text_of(out.failure());
  EXPECT_EQ(firsts(out->at("r")), (std::vector<float>{9.3125}));
  out = session->run({{"x", filled(2, 1, 0)}, {"s", filled(1, 0, 0)}});
  ASSERT_TRUE(out.ok()) << text_of(out.failure());
  EXPECT_EQ(firsts(out->at("r")), (std::vector<float>{1, 2}));
  EXPECT_EQ(firsts(out->at("t")), (std::vector<float>{1.5}));
}

INSTANTIATE_TEST_SUITE_P(Splits, LoopbackEpochs,
                         ::testing::Values(std::map<std::string, std::string>{},
                                           std::map<std::string, std::string>{{"read.epoch-break", "true"}},
                                           std::map<std::string, std::string>{{"next.epoch-break", "true"}}));

TEST(Loopback, BatchesKeepAStateEach) {
  auto session = open(cell(2), {});
  ASSERT_TRUE(session.ok()) << text_of(session.failure());
  auto out = session->run({{"x", filled(4, 1, 1)}});
  ASSERT_TRUE(out.ok()) << text_of(out.failure());
  EXPECT_EQ(firsts(out->at("r")), (std::vector<float>{1, 2, 4, 6}));  // 0 + 1, 0 + 2, 1 + 3, 2 + 4
  EXPECT_EQ(firsts(out->at("t")), (std::vector<float>{3.5, 5}));
  const auto odd = session->run({{"x", filled(3, 1, 1)}});
  ASSERT_FALSE(odd.ok());
  EXPECT_THAT(text_of(odd.failure()), HasSubstr("not a multiple of the batch of 2"));
}

TEST(Loopback, HasAQueueThatItsOutputWrites) {
  auto b = balance_with(cell(1), "n150");
  ASSERT_TRUE(b.ok()) << text_of(b.failure());
  auto model = model_of(*b);
  ASSERT_TRUE(model.ok()) << text_of(model.failure());
  EXPECT_EQ(model->plan.inputs[1].queue, "s");
  EXPECT_EQ(model->plan.inputs[1].loopback, "t");
  EXPECT_EQ(model->plan.outputs[1].queue, "s");
  const auto& queues = b->built.netlist.queues;
  auto queue = std::find_if(queues.begin(), queues.end(), [](const auto& q) { return q.name == "s"; });
  ASSERT_NE(queue, queues.end());
  EXPECT_EQ(queue->input, "next");
  EXPECT_EQ(queue->entries, 2);
}

// A cache of two heads of 64 entries: a step's 32 are joined to its end, and the last 64 are kept: a sparse matmul selects the rows.
graph::Graph growing_cache() {
  DeviceGraph g("cache");
  const Shape kept{1, 2, 64, 32}, more{1, 2, 32, 32};
  auto x = g.input("x", more, {1, 2, 32, 32});
  auto s = g.input("s", kept, {1, 2, 64, 32});
  auto joined = g.op("joined", "splice", {s, x}, {1, 2, 96, 32}, {{"dim", std::string("r")}});
  std::vector<std::int32_t> rows(64);
  std::iota(rows.begin(), rows.end(), 32 + 1);
  auto picks = g.constant("picks", Tensor(Shape{1, 1, 1, 64}, std::move(rows)));
  auto last = g.op("last", "matmul", {picks, joined}, kept, {{"identity", true}, {"slices", std::int64_t{1}}});
  g.output("r", joined, {1, 2, 96, 32});
  g.output("t", last, {1, 2, 64, 32});
  g.graph.node(s).tags[graph::kLoopback] = "t";
  return std::move(g.graph);
}

TEST(Loopback, IsReadMatrixByMatrixWhateverOpWritesIt) {
  auto session = open(growing_cache(), {});
  ASSERT_TRUE(session.ok()) << text_of(session.failure());
  // Step i gives head h the value 10 h + i.
  for (int step = 1; step <= 3; ++step) {
    std::vector<float> x(2 * 32 * 32);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(10 * (i / 1024)) + static_cast<float>(step);
    auto out = session->run({{"x", Tensor(Shape{1, 2, 32, 32}, std::move(x))}});
    ASSERT_TRUE(out.ok()) << text_of(out.failure());
    std::vector<float> blocks;  // of 32 rows
    const std::vector<float> all = out->at("r").to_f32();
    for (std::size_t i = 0; i < all.size(); i += 1024) blocks.push_back(all[i]);
    const auto at = static_cast<float>(step);
    const auto before = [&](float head, float back) { return at > back ? head + at - back : 0; };
    EXPECT_EQ(blocks, (std::vector<float>{before(0, 2), before(0, 1), at, before(10, 2), before(10, 1), 10 + at})) << step;
  }
}

TEST(Loopback, FormatsHaveToAgree) {
  auto b = balance_with(cell(1, DataFormat::float32), "n150");
  ASSERT_FALSE(b.ok());
  EXPECT_THAT(text_of(b.failure()), HasSubstr("its format is Float32, and that of output 't'"));
}

}  // namespace
}  // namespace buda::balance
