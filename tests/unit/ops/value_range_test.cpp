// SPDX-License-Identifier: Apache-2.0
// Ranges hold what the operations really give.
#include "running.hpp"

#include <buda/base/rng.hpp>
#include <buda/base/text.hpp>
#include <buda/ops/table/device_op.hpp>
#include <buda/tensor/tensor.hpp>

namespace buda::ops {
namespace {

float computed(const DeviceOp& op, std::initializer_list<float> operands, const AttrMap& attrs) {
  std::vector<Tensor> inputs;
  for (float v : operands) inputs.push_back(f32({1, 1, 32, 32}, std::vector<float>(1024, v)));
  auto out = try_run(Level::device, std::string(op.name), inputs, attrs);
  if (!out) {
    ADD_FAILURE() << op.name << ": " << out.failure().diagnostics()[0].message;
    return 0;
  }
  return out->as<float>()[0];
}

const std::vector<double> kRangeEnds = {-1000, -50, -2, -1, -0.5, -1e-3, 0, 1e-3, 0.5, 1, 2, 50, 1000};

void expect_inside(const ValueRange& s, float value, const std::string& what) {
  if (!s.finite) return;
  EXPECT_TRUE(std::isfinite(value)) << what << " gives " << value;
  double slack = 1e-5 * std::max(1.0, std::abs(static_cast<double>(value)));
  EXPECT_GE(value, s.least - slack) << what;
  EXPECT_LE(value, s.most + slack) << what;
}

// Values of its own attributes, besides the standard ones.
std::vector<AttrMap> variants_of(const DeviceOp& op) {
  if (op.type == OpType::lrelu) return {{{"slope", 0.1}}, {{"slope", -0.5}}, {{"slope", 0.0}}};
  if (op.type == OpType::power) return {{{"exp", std::int64_t{2}}}, {{"exp", std::int64_t{3}}}, {{"exp", std::int64_t{-1}}}};
  return {{}};
}

TEST(ValueRanges, ResultsOfUnaryOpsAreInside) {
  Rng rng(7);
  for (const DeviceOp& op : device_ops()) {
    if (op.range == nullptr || class_info(op.op_class).max_inputs() != 1) continue;
    for (const AttrMap& attrs : variants_of(op))
      for (std::size_t i = 0; i < kRangeEnds.size(); ++i)
        for (std::size_t j = i; j < kRangeEnds.size(); ++j) {
          ValueRange s = range_after(op.name, attrs, {kRangeEnds[i], kRangeEnds[j], true});
          for (int k = 0; k < 3; ++k) {
            auto x = static_cast<float>(k == 0 ? kRangeEnds[i] : k == 1 ? kRangeEnds[j] : rng.uniform(kRangeEnds[i], kRangeEnds[j]));
            expect_inside(s, computed(op, {x}, attrs), cat(op.name, '(', x, ") in [", kRangeEnds[i], ", ", kRangeEnds[j], ']'));
          }
        }
  }
}

TEST(ValueRanges, ResultsOfBinaryOpsAreInside) {
  Rng rng(8);
  auto end = [&rng] { return kRangeEnds[rng.below(kRangeEnds.size())]; };
  for (const DeviceOp& op : device_ops()) {
    if (op.range == nullptr || op.op_class != OpClass::binary) continue;
    for (int i = 0; i < 300; ++i) {
      double a = end(), b = end(), c = end(), d = end();
      ValueRange x{std::min(a, b), std::max(a, b), true}, y{std::min(c, d), std::max(c, d), true};
      auto u = static_cast<float>(rng.uniform(x.least, x.most)), v = static_cast<float>(rng.uniform(y.least, y.most));
      expect_inside(range_after(op.name, {}, x, y), computed(op, {u, v}, {}), cat(op.name, '(', u, ", ", v, ')'));
    }
  }
}

TEST(ValueRanges, HarmlessArgumentsGiveFiniteResults) {
  for (const DeviceOp& op : device_ops()) {
    if (op.range == nullptr || op.op_class != OpClass::sfpu) continue;
    for (const AttrMap& attrs : variants_of(op))
      EXPECT_TRUE(range_after(op.name, attrs, ValueRange::exactly(op.harmless_argument)).finite) << op.name;
  }
}

TEST(ValueRanges, UnknownNumbersNeverLookSafe) {
  for (const char* op : {"exp", "log", "sqrt", "reciprocal"}) EXPECT_FALSE(range_after(op, {}, ValueRange::unknown()).finite) << op;
  EXPECT_FALSE(range_after("reciprocal", {}, {-1, 1, true}).finite);
  EXPECT_TRUE(range_after("reciprocal", {}, {1, 2, true}).finite);
  EXPECT_TRUE(range_after("reciprocal", {}, {-2, -1, true}).finite);
  EXPECT_FALSE(range_after("exp", {}, {0, 100, true}).finite);
  // What was not finite before is not made so by an op.
  for (const char* op : {"nop", "exp", "sigmoid", "tanh", "reciprocal", "sine"})
    EXPECT_FALSE(range_after(op, {}, {1, 1, false}).finite) << op;
  EXPECT_TRUE(range_after("multiply", {}, ValueRange::exactly(0), ValueRange::unknown()).is(0));
  EXPECT_FALSE(range_after("multiply", {}, ValueRange::exactly(0), {0, 0, false}).is(0));
  // Without a bound on one side there is none to compute with.
  ValueRange lost = range_after("subtract", {}, {-INFINITY, INFINITY, true}, {-INFINITY, INFINITY, true});
  EXPECT_EQ(lost.least, -INFINITY);
  EXPECT_EQ(lost.most, INFINITY);
}

TEST(ValueRanges, DifferencesOfEqualNumbersMayBeZero) {
  ValueRange third = times(ValueRange::exactly(static_cast<double>(1.0f / 3)), 3);
  EXPECT_FALSE(range_after("reciprocal", {}, range_after("subtract", {}, third, ValueRange::exactly(1))).finite);
  EXPECT_TRUE(range_after("add", {}, ValueRange::exactly(0), ValueRange::exactly(0)).is(0));
  EXPECT_TRUE(range_after("reciprocal", {}, range_after("add", {}, ValueRange::exactly(0), ValueRange::exactly(1))).finite);
}

TEST(ValueRanges, ReluClamps) {
  graph::AttrMap relu = {{"relu_en", true}, {"relu_mode", std::string("min")}, {"relu_threshold", 0.0}};
  EXPECT_EQ(after_relu(relu, {-3, 2, true}), (ValueRange{0, 2, true}));
  graph::AttrMap capped = {{"relu_en", true}, {"relu_mode", std::string("max")}, {"relu_threshold", 6.0}};
  EXPECT_EQ(after_relu(capped, {-3, 9, true}), (ValueRange{0, 6, true}));
  EXPECT_EQ(after_relu({}, {-3, 9, true}), (ValueRange{-3, 9, true}));
}

}  // namespace
}  // namespace buda::ops
