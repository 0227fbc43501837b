// Intervals hold what the operations really give.
#include "harness.hpp"

#include <buda/passes/lowered.hpp>
#include <buda/passes/span.hpp>

#include <cmath>

namespace buda::passes {
namespace {

float computed(const std::string& op, std::vector<float> x, const graph::AttrMap& attrs) {
  std::vector<Tensor> inputs;
  for (float v : x) inputs.push_back(Tensor(Shape{1, 1, 32, 32}, std::vector<float>(1024, v)));
  auto out = ops::evaluate(*ops::standard_ops().find(graph::Level::device, op), inputs, attrs, 1);
  if (!out) {
    ADD_FAILURE() << Bench::message(out.failure());
    return 0;
  }
  return (*out)[0].as<float>()[0];
}

const std::vector<double> kEnds = {-1000, -50, -2, -1, -0.5, -1e-3, 0, 1e-3, 0.5, 1, 2, 50, 1000};

void expect_inside(const Span& s, float value, const std::string& what) {
  if (!s.finite) return;
  EXPECT_TRUE(std::isfinite(value)) << what << " gives " << value;
  double slack = 1e-5 * std::max(1.0, std::abs(static_cast<double>(value)));
  EXPECT_GE(value, s.least - slack) << what;
  EXPECT_LE(value, s.most + slack) << what;
}

TEST(Span, UnaryOpsStayInside) {
  Rng rng(7);
  for (std::string op : {"nop", "exp", "log", "sqrt", "square", "reciprocal", "abs", "sigmoid", "tanh", "gelu", "gelu_derivative", "sine",
                         "cosine", "lrelu", "power"}) {
    std::vector<graph::AttrMap> variants = {{}};
    if (op == "lrelu") variants = {{{"slope", 0.1}}, {{"slope", -0.5}}, {{"slope", 0.0}}};
    if (op == "power") variants = {{{"exp", std::int64_t{2}}}, {{"exp", std::int64_t{3}}}, {{"exp", std::int64_t{-1}}}};
    for (const auto& attrs : variants)
      for (std::size_t i = 0; i < kEnds.size(); ++i)
        for (std::size_t j = i; j < kEnds.size(); ++j) {
          Span s = after_unary(op, attrs, {kEnds[i], kEnds[j], true});
          for (int k = 0; k < 3; ++k) {
            auto x = static_cast<float>(k == 0 ? kEnds[i] : k == 1 ? kEnds[j] : rng.uniform(kEnds[i], kEnds[j]));
            expect_inside(s, computed(op, {x}, attrs), cat(op, '(', x, ") in [", kEnds[i], ", ", kEnds[j], ']'));
          }
        }
  }
}

TEST(Span, BinaryOpsStayInside) {
  Rng rng(8);
  for (std::string op : {"add", "subtract", "multiply", "maximum"})
    for (int i = 0; i < 300; ++i) {
      double a = kEnds[rng.below(kEnds.size())], b = kEnds[rng.below(kEnds.size())], c = kEnds[rng.below(kEnds.size())],
             d = kEnds[rng.below(kEnds.size())];
      Span x{std::min(a, b), std::max(a, b), true}, y{std::min(c, d), std::max(c, d), true};
      auto u = static_cast<float>(rng.uniform(x.least, x.most)), v = static_cast<float>(rng.uniform(y.least, y.most));
      expect_inside(after_binary(op, x, y), computed(op, {u, v}, {}), cat(op, '(', u, ", ", v, ')'));
    }
}

TEST(Span, UnknownNumbersNeverLookSafe) {
  for (const char* op : {"exp", "log", "sqrt", "reciprocal"}) EXPECT_FALSE(after_unary(op, {}, Span::unknown()).finite) << op;
  EXPECT_FALSE(after_unary("reciprocal", {}, {-1, 1, true}).finite);
  EXPECT_TRUE(after_unary("reciprocal", {}, {1, 2, true}).finite);
  EXPECT_TRUE(after_unary("reciprocal", {}, {-2, -1, true}).finite);
  EXPECT_FALSE(after_unary("exp", {}, {0, 100, true}).finite);
  // What was not finite before is not made so by an op.
  for (const char* op : {"nop", "exp", "sigmoid", "tanh", "reciprocal", "sine"})
    EXPECT_FALSE(after_unary(op, {}, {1, 1, false}).finite) << op;
  EXPECT_TRUE(after_binary("multiply", Span::exactly(0), Span::unknown()).is(0));
  EXPECT_FALSE(after_binary("multiply", Span::exactly(0), {0, 0, false}).is(0));
  // Without a bound on one side there is none to compute with.
  Span lost = after_binary("subtract", {-INFINITY, INFINITY, true}, {-INFINITY, INFINITY, true});
  EXPECT_EQ(lost.least, -INFINITY);
  EXPECT_EQ(lost.most, INFINITY);
}

TEST(Span, DifferencesOfEqualNumbersMayBeZero) {
  Span third = times(Span::exactly(static_cast<double>(1.0f / 3)), 3);
  EXPECT_FALSE(after_unary("reciprocal", {}, after_binary("subtract", third, Span::exactly(1))).finite);
  EXPECT_TRUE(after_binary("add", Span::exactly(0), Span::exactly(0)).is(0));
  EXPECT_TRUE(after_unary("reciprocal", {}, after_binary("add", Span::exactly(0), Span::exactly(1))).finite);
}

TEST(Span, ReluClamps) {
  graph::AttrMap relu = {{"relu_en", true}, {"relu_mode", std::string("min")}, {"relu_threshold", 0.0}};
  EXPECT_EQ(after_relu(relu, {-3, 2, true}), (Span{0, 2, true}));
  graph::AttrMap capped = {{"relu_en", true}, {"relu_mode", std::string("max")}, {"relu_threshold", 6.0}};
  EXPECT_EQ(after_relu(capped, {-3, 9, true}), (Span{0, 6, true}));
  EXPECT_EQ(after_relu({}, {-3, 9, true}), (Span{-3, 9, true}));
}

TEST(Lowered, ProductsOfPadding) {
  Lowered a, b;
  a.shape = {1, 1, 10, 20};
  b.shape = {1, 1, 20, 5};
  EXPECT_TRUE(adds_zeros(a, b));
  Lowered out = after_matmul(a, b);
  EXPECT_EQ(out.shape, (Shape{1, 1, 10, 5}));
  EXPECT_TRUE(out.rows.is(0) && out.cols.is(0) && out.corner.is(0));
  a.cols = Span::exactly(0.5);
  EXPECT_TRUE(adds_zeros(a, b)) << "zeros on one side are enough";
  b.rows = Span::exactly(1);
  EXPECT_FALSE(adds_zeros(a, b));
  a.cols = {0, 0, false};
  b.rows = Span::exactly(0);
  EXPECT_FALSE(adds_zeros(a, b)) << "0 times infinity is no zero";
  a.shape[3] = b.shape[2] = 32;
  EXPECT_TRUE(adds_zeros(a, b)) << "there is no padding";
}

TEST(Lowered, PeaksOfRowsGoThroughExponentials) {
  Lowered x;
  x.shape = {1, 1, 10, 10};
  x.cols = {-1e6, kVanishingExponent, true};
  x.peak = 0;
  Lowered e = after_unary("exp", {}, x);
  EXPECT_EQ(e.peak, 1.0);
  EXPECT_TRUE(e.cols.is(0)) << "as fp32 has it";
  EXPECT_FALSE(after_unary("abs", {}, x).peak);
  EXPECT_FALSE(after_binary("add", {}, x, x).peak);
  EXPECT_FALSE(transposed(x).peak);
}

TEST(Lowered, TransposesExchangeSides) {
  Lowered x;
  x.shape = {1, 2, 3, 1};
  x.rows = Span::exactly(1);
  x.cols_alike = true;
  Lowered t = transposed(x);
  EXPECT_EQ(t.shape, (Shape{1, 2, 1, 3}));
  EXPECT_TRUE(t.cols.is(1) && t.rows.is(0) && t.rows_alike && !t.cols_alike);
  EXPECT_EQ(t.tms, std::vector<Tm>{Tm::transpose()});
  EXPECT_TRUE(transposed(t).tms.empty());
}

}  // namespace
}  // namespace buda::passes
