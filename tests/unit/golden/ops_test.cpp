// SPDX-License-Identifier: Apache-2.0
// Ops one by one, against the same computation on plain tensors in double precision.
#include "netlist_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace buda::golden::test {
namespace {

using testing::HasSubstr;

const functional::DeviceOptions kExact{arith::Mode::exact, false};
const functional::DeviceOptions kFp32{arith::Mode::fp32, false};

std::vector<double> doubles(const Tensor& t) {
  auto f = t.cast(DType::f64);
  return {f.as<double>().begin(), f.as<double>().end()};
}

void expect_near(const Tensor& got, const std::vector<double>& want, double relative, double absolute, const std::string& what) {
  auto g = doubles(got);
  ASSERT_EQ(g.size(), want.size()) << what;
  int shown = 0;
  for (std::size_t i = 0; i < g.size() && shown < 5; ++i) {
    if (std::isnan(want[i]) && std::isnan(g[i])) continue;
    if (std::fabs(g[i] - want[i]) <= absolute + relative * std::fabs(want[i]) || g[i] == want[i]) continue;
    ADD_FAILURE() << what << ": element " << i << " is " << g[i] << ", expected " << want[i];
    ++shown;
  }
}

std::string unary_text(const std::string& type, const std::string& df, const std::string& attributes = "") {
  OpText op{"op", type, {"a"}};
  op.in_df = op.out_df = df;
  op.acc_df = df == "Float32" ? "Float32" : df == "Float16" ? "Float16" : "Float16_b";
  op.intermed_df = op.acc_df;
  op.attributes = attributes;
  return netlist_text(queue("a", "HOST", 1, 1, 1, df) + queue("out", "op", 1, 1, 1, df), op.text(), once(at_start("a")));
}

struct Function {
  const char* type;
  std::function<double(double)> f;
  double low = -3, high = 3;
  const char* attributes = "";
};

TEST(SfpuOps, AgreeWithTheMathematicalFunction) {
  const Function functions[] = {
      {"exp", [](double x) { return std::exp(x); }},
      {"log", [](double x) { return std::log(x); }, 0.1, 9},
      {"sqrt", [](double x) { return std::sqrt(x); }, 0, 9},
      {"reciprocal", [](double x) { return 1 / x; }, 0.1, 9},
      {"sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
      {"tanh", [](double x) { return std::tanh(x); }},
      {"gelu", [](double x) { return x * 0.5 * (1 + std::erf(x / std::sqrt(2.0))); }},
      {"gelu_derivative",
       [](double x) { return 0.5 * (1 + std::erf(x / std::sqrt(2.0))) + x * std::exp(-x * x / 2) / std::sqrt(2 * M_PI); }},
      {"square", [](double x) { return x * x; }},
      {"sine", [](double x) { return std::sin(x); }},
      {"cosine", [](double x) { return std::cos(x); }},
      {"abs", [](double x) { return std::fabs(x); }},
      {"lrelu", [](double x) { return x < 0 ? 0.25 * x : x; }, -3, 3, "slope: 0.25"},
      {"power", [](double x) { return x * x * x; }, -3, 3, "exp: 3"},
      {"nop", [](double x) { return x; }},
      {"datacopy", [](double x) { return x; }},
  };
  for (const auto& f : functions) {
    Tensor in = random_tensor({1, 1, 32, 32}, 5, f.low, f.high);
    std::vector<double> want;
    for (double x : doubles(in)) want.push_back(f.f(x));
    auto fp32 = run_netlist(unary_text(f.type, "Float32", f.attributes), {{"a", in}}, kFp32);
    ASSERT_TRUE(fp32) << f.type << ": " << first_error(fp32.failure());
    expect_near(*fp32, want, 2e-7, 1e-7, f.type);
    auto bf16 = run_netlist(unary_text(f.type, "Float16_b", f.attributes), {{"a", in}}, kExact);
    ASSERT_TRUE(bf16) << f.type;
    expect_near(*bf16, want, std::ldexp(1.0, -8), 1e-6, cat(f.type, " in Float16_b"));  // half a unit of 8 bits
  }
}

TEST(SfpuOps, DropoutKeepsAboutAsManyAsItShouldAndScalesThem) {
  Tensor ones(Shape{1, 1, 32, 32}, std::vector<float>(1024, 1.0f));
  auto got = run_netlist(unary_text("dropout", "Float32", "p: 0.25, seed: 7"), {{"a", ones}}, kFp32);
  ASSERT_TRUE(got) << first_error(got.failure());
  int kept = 0;
  for (double v : doubles(*got)) {
    EXPECT_TRUE(v == 0 || std::fabs(v - 1 / 0.75) < 1e-6) << v;
    kept += v != 0 ? 1 : 0;
  }
  EXPECT_NEAR(kept, 768, 60);
  EXPECT_EQ(*run_netlist(unary_text("dropout", "Float32", "p: 0.25, seed: 7"), {{"a", ones}}, kFp32), *got);
}

TEST(SfpuOps, VectorModesTakeSomeFacesOnly) {
  Tensor in = random_tensor({1, 1, 32, 32}, 6, 1, 2);
  for (const char* mode : {"r", "c"}) {
    auto got = run_netlist(unary_text("square", "Float32", cat("vector: ", mode)), {{"a", in}}, kFp32);
    ASSERT_TRUE(got) << first_error(got.failure());
    auto g = doubles(*got), x = doubles(in);
    for (std::size_t i = 0; i < 1024; ++i) {
      bool processed = mode[0] == 'r' ? i / 32 < 16 : i % 32 < 16;
      EXPECT_EQ(g[i], processed ? x[i] * x[i] : x[i]);
    }
  }
}

std::string binary_text(const std::string& type, const std::string& df, const std::string& fidelity, const std::string& attributes = "",
                        const std::string& tms = "") {
  OpText op{"op", type, {"a", "b"}};
  op.in_df = op.out_df = df;
  op.acc_df = op.intermed_df = df == "Float32" ? "Float32" : df == "Int8" ? "Int32" : "Float16_b";
  if (df == "Int8") op.intermed_df = "Int8";
  op.fidelity = fidelity;
  op.rt = 2;
  op.ct = 2;
  op.attributes = attributes;
  op.more = tms;
  return netlist_text(queue("a", "HOST", 1, 2, 2, df) + queue("b", "HOST", 1, tms.empty() ? 2 : 1, 2, df) + queue("out", "op", 1, 2, 2, df),
                      op.text(), once(at_start("a") + ", " + at_start("b")));
}

TEST(BinaryOps, AgreeWithArithmetic) {
  const std::pair<const char*, std::function<double(double, double)>> functions[] = {
      {"add", [](double x, double y) { return x + y; }},
      {"subtract", [](double x, double y) { return x - y; }},
      {"multiply", [](double x, double y) { return x * y; }},
      {"maximum", [](double x, double y) { return std::max(x, y); }}};
  Tensor a = random_tensor({1, 1, 64, 64}, 1), b = random_tensor({1, 1, 64, 64}, 2);
  auto x = doubles(a), y = doubles(b);
  for (const auto& [type, f] : functions) {
    std::vector<double> want;
    for (std::size_t i = 0; i < x.size(); ++i) want.push_back(f(x[i], y[i]));
    auto fp32 = run_netlist(binary_text(type, "Float32", "HiFi4"), {{"a", a}, {"b", b}}, kFp32);
    ASSERT_TRUE(fp32) << first_error(fp32.failure());
    expect_near(*fp32, want, 0, 0, type);  // the inputs have few bits: exact
    auto bf16 = run_netlist(binary_text(type, "Float16_b", "HiFi4"), {{"a", a}, {"b", b}}, kExact);
    ASSERT_TRUE(bf16);
    expect_near(*bf16, want, std::ldexp(1.0, -8), 0, cat(type, " in Float16_b"));  // half a unit of 8 bits
  }
}

TEST(BinaryOps, FidelityLosesTheBitsOfItsMissingPhases) {
  // 1 + 127/128 has seven fraction bits; LoFi sees four of operand A and six of operand B.
  const float v = 1.0f + 127.0f / 128.0f;
  Tensor t(Shape{1, 1, 64, 64}, std::vector<float>(4096, v));
  const double a4 = 1 + 15.0 / 16, a7 = v, b6 = 1 + 63.0 / 64, b7 = v;
  const std::pair<const char*, double> products[] = {
      {"LoFi", a4 * b6}, {"HiFi2", a7 * b6}, {"HiFi2_B", a4 * b7}, {"HiFi3", a7 * b6 + a4 * (b7 - b6)}, {"HiFi4", a7 * b7}};
  for (const auto& [fidelity, product] : products) {
    std::string text = binary_text("multiply", "Float16_b", fidelity);
    // Accumulated and stored in 32 bits, so that nothing else is lost.
    for (std::string from = "acc_df: Float16_b", to = "acc_df: Float32"; text.find(from) != std::string::npos;)
      text.replace(text.find(from), from.size(), to);
    for (std::string from = "out_df: Float16_b", to = "out_df: Float32"; text.find(from) != std::string::npos;)
      text.replace(text.find(from), from.size(), to);
    auto at = text.find("df: Float16_b", text.find("  out:"));
    text.replace(at, 13, "df: Float32");
    auto got = run_netlist(text, {{"a", t}, {"b", t}}, kExact);
    ASSERT_TRUE(got) << first_error(got.failure());
    EXPECT_EQ(doubles(*got)[17], product) << fidelity;
  }
}

TEST(BinaryOps, IntegersSaturate) {
  Rng rng(4);
  std::vector<std::int8_t> x(4096), y(4096);
  for (auto& v : x) v = static_cast<std::int8_t>(static_cast<int>(rng.below(255)) - 127);
  for (auto& v : y) v = static_cast<std::int8_t>(static_cast<int>(rng.below(255)) - 127);
  Tensor a(Shape{1, 1, 64, 64}, x), b(Shape{1, 1, 64, 64}, y);
  auto clamp = [](int v) { return std::clamp(v, -127, 127); };
  const std::pair<const char*, std::function<int(int, int)>> functions[] = {{"add", [&](int p, int q) { return clamp(p + q); }},
                                                                            {"subtract", [&](int p, int q) { return clamp(p - q); }},
                                                                            {"multiply", [&](int p, int q) { return clamp(p * q); }},
                                                                            {"maximum", [&](int p, int q) { return std::max(p, q); }}};
  for (const auto& [type, f] : functions) {
    auto got = run_netlist(binary_text(type, "Int8", "HiFi4"), {{"a", a}, {"b", b}}, kExact);
    ASSERT_TRUE(got) << first_error(got.failure());
    ASSERT_EQ(got->dtype(), DType::i8);
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(got->as<std::int8_t>()[i], f(x[i], y[i])) << type << ' ' << i;
  }
}

TEST(BinaryOps, BroadcastOperandAndRelu) {
  Tensor a = random_tensor({1, 1, 64, 64}, 1), b = random_tensor({1, 1, 32, 64}, 2);
  auto x = doubles(a), y = doubles(b);
  auto plain = [&](std::size_t i) { return x[i] + y[i / 64 % 32 * 64 + i % 64]; };
  std::vector<double> want_min(4096), want_max(4096);
  for (std::size_t i = 0; i < 4096; ++i) {
    want_min[i] = plain(i) > 0.5 ? plain(i) : 0;
    want_max[i] = std::clamp(plain(i), 0.0, 0.5);
  }
  const std::string tms = ", input_1_tms: [broadcast: {r: 2}]";
  auto least = run_netlist(binary_text("add", "Float32", "HiFi4", "relu_en: true, relu_threshold: 0.5, relu_mode: min", tms),
                           {{"a", a}, {"b", b}}, kFp32);
  ASSERT_TRUE(least) << first_error(least.failure());
  expect_near(*least, want_min, 0, 0, "relu min");
  auto most = run_netlist(binary_text("add", "Float32", "HiFi4", "relu_en: true, relu_threshold: 0.5, relu_mode: max", tms),
                          {{"a", a}, {"b", b}}, kFp32);
  ASSERT_TRUE(most) << first_error(most.failure());
  expect_near(*most, want_max, 0, 0, "relu max");
}

struct Matmul {
  int t = 1, rt = 2, ct = 3, m_k = 2, u_kt = 2;
  std::string df = "Float32", acc = "Float32", intermed = "Float32", out = "Float32", fidelity = "HiFi4", more = {}, attributes = {};
  bool bias = false;
  int z = 1;

  std::string text() const {
    const int k = m_k * u_kt;
    OpText op{"op", "matmul", {"a", "b"}};
    if (bias) op.inputs.push_back("bias");
    op.t = t;
    op.rt = rt;
    op.ct = ct;
    op.in_df = df;
    op.acc_df = acc;
    op.intermed_df = intermed;
    op.out_df = out;
    op.fidelity = fidelity;
    op.attributes = cat("m_k: ", m_k, ", u_kt: ", u_kt, bias ? ", bias: true" : "",
                        z > 1 ? cat(", accumulate: true, z: ", z) : std::string(), attributes);
    op.more = more + (bias ? cat(", input_2_tms: [broadcast: {r: ", rt, "}]") : std::string());
    std::string queues = queue("a", "HOST", t * z, rt, k, df) + queue("b", "HOST", t * z, k, ct, df) + queue("out", "op", t, rt, ct, out);
    if (bias) queues += queue("bias", "HOST", t, 1, ct, df);
    std::string settings = at_start("a") + ", " + at_start("b") + (bias ? ", " + at_start("bias") : "");
    return netlist_text(queues, op.text(), once(settings));
  }
  Shape a() const { return {1, t * z, rt * 32, m_k * u_kt * 32}; }
  Shape b() const { return {1, t * z, m_k * u_kt * 32, ct * 32}; }
  Shape c() const { return {1, t, 32, ct * 32}; }
};

std::vector<double> product(const Matmul& m, const Tensor& a, const Tensor& b, const Tensor* bias = nullptr) {
  const auto rows = static_cast<std::size_t>(m.a()[2]), inner = static_cast<std::size_t>(m.a()[3]),
             cols = static_cast<std::size_t>(m.b()[3]), z = static_cast<std::size_t>(m.z);
  auto x = doubles(a), y = doubles(b);
  auto extra = bias != nullptr ? doubles(*bias) : std::vector<double>();
  std::vector<double> out(static_cast<std::size_t>(m.t) * rows * cols);
  for (std::size_t t = 0; t < static_cast<std::size_t>(m.t) * z; ++t)
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t k = 0; k < inner; ++k)
        for (std::size_t j = 0; j < cols; ++j)
          out[(t / z * rows + i) * cols + j] += x[(t * rows + i) * inner + k] * y[(t * inner + k) * cols + j];
  if (bias != nullptr)
    for (std::size_t i = 0; i < out.size(); ++i) out[i] += extra[i / (rows * cols) * 32 * cols + i % cols];  // row 0 of each bias tile
  return out;
}

TEST(MatmulOp, AgreesWithTheProduct) {
  for (Matmul m : {Matmul{}, Matmul{.t = 3, .rt = 1, .ct = 1, .m_k = 1, .u_kt = 1},
                   Matmul{.t = 2, .rt = 2, .ct = 2, .m_k = 3, .u_kt = 1, .bias = true}, Matmul{.t = 2, .bias = true, .z = 3}}) {
    Tensor a = random_tensor(m.a(), 1), b = random_tensor(m.b(), 2), c = random_tensor(m.c(), 3);
    std::vector<Given> given = {{"a", a}, {"b", b}};
    if (m.bias) given.push_back({"bias", c});
    auto got = run_netlist(m.text(), given, kFp32);
    ASSERT_TRUE(got) << first_error(got.failure()) << m.text();
    expect_near(*got, product(m, a, b, m.bias ? &c : nullptr), 1e-6, 1e-5, "matmul");
  }
}

TEST(MatmulOp, StaysWithinTheErrorOfItsFormats) {
  // The largest product of these inputs' magnitudes bounds the sum of all roundings: inner dimension 128, numbers up to 2.
  struct Case {
    const char *df, *acc, *intermed, *fidelity;
    double unit;
  };
  const Case cases[] = {{"Float16_b", "Float32", "Float32", "HiFi4", 0x1p-8}, {"Float16_b", "Float16_b", "Float16_b", "HiFi4", 0x1p-8},
                        {"Float16_b", "Float32", "Float32", "HiFi3", 0x1p-8}, {"Float16_b", "Float32", "Float32", "HiFi2", 0x1p-6},
                        {"Float16_b", "Float32", "Float32", "LoFi", 0x1p-4},  {"Bfp8_b", "Float16_b", "Bfp8_b", "HiFi2", 0x1p-6},
                        {"Float16", "Float16", "Float16", "HiFi4", 0x1p-10}};
  for (const auto& c : cases) {
    Matmul m;
    m.df = c.df;
    m.out = c.df;
    m.acc = c.acc;
    m.intermed = c.intermed;
    m.fidelity = c.fidelity;
    Tensor a = random_tensor(m.a(), 1), b = random_tensor(m.b(), 2);
    auto exact = product(m, a, b);
    auto got = run_netlist(m.text(), {{"a", a}, {"b", b}}, kExact);
    ASSERT_TRUE(got) << first_error(got.failure());
    double worst = 0, sum = 0;
    auto g = doubles(*got);
    for (std::size_t i = 0; i < g.size(); ++i) {
      worst = std::max(worst, std::fabs(g[i] - exact[i]));
      sum += std::fabs(g[i] - exact[i]);
    }
    // Each of the 128 products is off by at most a few units of its inputs, and results of about 16 by one of theirs.
    EXPECT_LT(worst, 128 * 1.4 * c.unit) << c.df << ' ' << c.fidelity;
    EXPECT_GT(sum, 0) << c.df << ' ' << c.fidelity << ": nothing was rounded";
  }
}

TEST(MatmulOp, HiFi3IsTheSumOfItsThreePhases) {
  Matmul m;
  m.df = "Float16_b";
  m.fidelity = "HiFi3";
  // One product per result: in0 is a diagonal.
  std::vector<float> diagonal(static_cast<std::size_t>(m.a().volume().value()), 0.0f);
  const float v = 1.0f + 127.0f / 128.0f;
  for (std::size_t i = 0; i < 64; ++i) diagonal[i * 128 + i] = v;
  Tensor b(m.b(), std::vector<float>(static_cast<std::size_t>(m.b().volume().value()), v));
  auto got = run_netlist(m.text(), {{"a", Tensor(m.a(), diagonal)}, {"b", b}}, kExact);
  ASSERT_TRUE(got) << first_error(got.failure());
  // in0 is operand B of the multiplier, in1 operand A.
  const double b6 = 1 + 63.0 / 64, a4 = 1 + 15.0 / 16;
  EXPECT_EQ(doubles(*got)[0], v * b6 + a4 * (v - b6));
}

TEST(MatmulOp, TransposedOperandAndGelu) {
  Matmul m{.ct = 2, .m_k = 1, .u_kt = 2, .more = ", input_1_tms: [transpose]", .attributes = ", sfpu_op: gelu"};
  std::string text = m.text();
  Tensor a = random_tensor(m.a(), 1, -0.5, 0.5), b = random_tensor(m.b(), 2, -0.5, 0.5);
  std::vector<float> turned(b.size());
  for (std::size_t i = 0; i < 64; ++i)
    for (std::size_t j = 0; j < 64; ++j) turned[j * 64 + i] = b.as<float>()[i * 64 + j];
  auto got = run_netlist(text, {{"a", a}, {"b", Tensor(m.b(), turned)}}, kFp32);
  ASSERT_TRUE(got) << first_error(got.failure());
  auto want = product(m, a, b);
  for (double& v : want) v = v * 0.5 * (1 + std::erf(v / std::sqrt(2.0)));
  expect_near(*got, want, 1e-5, 1e-5, "gelu of a product");
}

TEST(MatmulOp, Integers) {
  Matmul m{.rt = 1, .ct = 1, .m_k = 2, .u_kt = 1, .df = "Int8", .acc = "Int32", .intermed = "Int32", .out = "Int32"};
  Rng rng(9);
  std::vector<std::int8_t> x(2048), y(2048);
  for (auto& v : x) v = static_cast<std::int8_t>(static_cast<int>(rng.below(255)) - 127);
  for (auto& v : y) v = static_cast<std::int8_t>(static_cast<int>(rng.below(255)) - 127);
  Tensor a(m.a(), x), b(m.b(), y);
  auto got = run_netlist(m.text(), {{"a", a}, {"b", b}}, kExact);
  ASSERT_TRUE(got) << first_error(got.failure());
  ASSERT_EQ(got->dtype(), DType::i32);
  auto want = product(m, a, b);
  expect_near(*got, want, 0, 0, "int matmul");
}

TEST(MatmulOp, SameBytesWithAnyNumberOfThreads) {
  Matmul m{.t = 2,
           .rt = 4,
           .ct = 5,
           .m_k = 4,
           .u_kt = 2,
           .df = "Float16_b",
           .acc = "Float16_b",
           .intermed = "Bfp8_b",
           .out = "Bfp8_b",
           .fidelity = "HiFi3",
           .bias = true};
  std::vector<Given> given = {{"a", random_tensor(m.a(), 1)}, {"b", random_tensor(m.b(), 2)}, {"bias", random_tensor(m.c(), 3)}};
  auto one = run_netlist(m.text(), given, kExact, 1), four = run_netlist(m.text(), given, kExact, 4);
  ASSERT_TRUE(one && four);
  EXPECT_EQ(*one, *four);
}

std::string reduce_text(const std::string& dim, int t, int rt, int ct, int out_t, int out_rt, int out_ct) {
  OpText op{"op", "reduce", {"a"}};
  op.t = out_t;
  op.rt = out_rt;
  op.ct = out_ct;
  const int inner = dim == "r" ? rt / out_rt : ct / out_ct;
  op.attributes = dim == "z" ? cat("dim: z, type: max, z: ", t / out_t) : cat("dim: ", dim, ", type: max, m_k: ", inner, ", u_kt: 1");
  return netlist_text(queue("a", "HOST", t, rt, ct) + queue("out", "op", out_t, out_rt, out_ct), op.text(), once(at_start("a")));
}

TEST(ReduceOp, PutsMaximaWhereTheyBelongAndZerosElsewhere) {
  Tensor a = random_tensor({1, 4, 64, 96}, 3, -9, -1);  // all negative: a zero that slipped in would win
  auto x = doubles(a);
  auto at = [&](std::size_t t, std::size_t r, std::size_t c) { return x[(t * 64 + r) * 96 + c]; };

  auto rows = run_netlist(reduce_text("r", 4, 2, 3, 4, 1, 3), {{"a", a}}, kFp32);
  ASSERT_TRUE(rows) << first_error(rows.failure());
  std::vector<double> want(4 * 32 * 96);
  for (std::size_t t = 0; t < 4; ++t)
    for (std::size_t c = 0; c < 96; ++c) {
      double most = -INFINITY;
      for (std::size_t r = 0; r < 64; ++r) most = std::max(most, at(t, r, c));
      want[t * 32 * 96 + c] = most;
    }
  expect_near(*rows, want, 0, 0, "reduce r");

  auto cols = run_netlist(reduce_text("c", 4, 2, 3, 4, 2, 1), {{"a", a}}, kFp32);
  ASSERT_TRUE(cols) << first_error(cols.failure());
  want.assign(4 * 64 * 32, 0);
  for (std::size_t t = 0; t < 4; ++t)
    for (std::size_t r = 0; r < 64; ++r) {
      double most = -INFINITY;
      for (std::size_t c = 0; c < 96; ++c) most = std::max(most, at(t, r, c));
      want[(t * 64 + r) * 32] = most;
    }
  expect_near(*cols, want, 0, 0, "reduce c");

  auto depth = run_netlist(reduce_text("z", 4, 2, 3, 2, 2, 3), {{"a", a}}, kFp32);
  ASSERT_TRUE(depth) << first_error(depth.failure());
  want.assign(2 * 64 * 96, 0);
  for (std::size_t t = 0; t < 2; ++t)
    for (std::size_t i = 0; i < 64 * 96; ++i) want[t * 64 * 96 + i] = std::max(at(2 * t, i / 96, i % 96), at(2 * t + 1, i / 96, i % 96));
  expect_near(*depth, want, 0, 0, "reduce z");
}

TEST(DepthwiseOp, EachColumnOfTilesHasItsOwnProduct) {
  OpText op{"op", "depthwise", {"a", "b"}};
  op.rt = 2;
  op.ct = 2;
  op.attributes = "m_k: 3, u_kt: 1";
  auto text = netlist_text(queue("a", "HOST", 1, 2, 6) + queue("b", "HOST", 1, 3, 2) + queue("out", "op", 1, 2, 2), op.text(),
                           once(at_start("a") + ", " + at_start("b")));
  Tensor a = random_tensor({1, 1, 64, 192}, 1), b = random_tensor({1, 1, 96, 64}, 2);
  auto got = run_netlist(text, {{"a", a}, {"b", b}}, kFp32);
  ASSERT_TRUE(got) << first_error(got.failure());
  auto x = doubles(a), y = doubles(b);
  std::vector<double> want(64 * 64);
  for (std::size_t r = 0; r < 64; ++r)
    for (std::size_t c = 0; c < 64; ++c)
      for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t k = 0; k < 32; ++k) want[r * 64 + c] += x[r * 192 + (c / 32 + 2 * i) * 32 + k] * y[(i * 32 + k) * 64 + c];
  expect_near(*got, want, 1e-6, 1e-5, "depthwise");
}

TEST(SpliceOp, ConcatenatesAndSelects) {
  // Ublocks of 1x1 tile, row order: two rows of [a0 a1 | b0] side by side.
  OpText op{"op", "splice", {"a", "b"}};
  op.rt = 2;
  op.ct = 3;
  op.attributes = "granularity: ublock, input0: [0, 2, 2], input1: [0, 1, 1]";
  auto text = netlist_text(queue("a", "HOST", 1, 2, 2) + queue("b", "HOST", 1, 2, 1) + queue("out", "op", 1, 2, 3), op.text(),
                           once(at_start("a") + ", " + at_start("b")));
  Tensor a = random_tensor({1, 1, 64, 64}, 1), b = random_tensor({1, 1, 64, 32}, 2);
  auto got = run_netlist(text, {{"a", a}, {"b", b}}, kFp32);
  ASSERT_TRUE(got) << first_error(got.failure());
  auto x = doubles(a), y = doubles(b);
  std::vector<double> want;
  for (std::size_t r = 0; r < 64; ++r) {
    want.insert(want.end(), x.begin() + static_cast<std::ptrdiff_t>(r * 64), x.begin() + static_cast<std::ptrdiff_t>(r * 64 + 64));
    want.insert(want.end(), y.begin() + static_cast<std::ptrdiff_t>(r * 32), y.begin() + static_cast<std::ptrdiff_t>(r * 32 + 32));
  }
  expect_near(*got, want, 0, 0, "concatenation");

  OpText select{"op", "splice", {"a"}};
  select.t = 2;
  select.attributes = "granularity: t, input0: [1, 1, 2]";
  auto text2 = netlist_text(queue("a", "HOST", 6, 1, 1) + queue("out", "op", 2, 1, 1), select.text(), once(at_start("a")));
  Tensor c = random_tensor({1, 6, 32, 32}, 3);
  auto picked = run_netlist(text2, {{"a", c}}, kFp32);
  ASSERT_TRUE(picked) << first_error(picked.failure());
  auto v = doubles(c);
  want.assign(v.begin() + 1024, v.begin() + 2048);
  want.insert(want.end(), v.begin() + 4096, v.begin() + 5120);
  expect_near(*picked, want, 0, 0, "every third t");
}

TEST(SpliceOp, HasToUseUpItsInputs) {
  auto refusal = [](const std::string& range) {
    OpText op{"op", "splice", {"a"}};
    op.t = 2;
    op.attributes = cat("granularity: t, input0: ", range);
    auto made = run_netlist(netlist_text(queue("a", "HOST", 6, 1, 1) + queue("out", "op", 2, 1, 1), op.text(), once(at_start("a"))),
                            {{"a", random_tensor({1, 6, 32, 32}, 3)}}, kFp32);
    return made ? std::string("(none)") : first_error(made.failure());
  };
  EXPECT_EQ(refusal("[0, 2, 6]"), "(none)");
  EXPECT_EQ(refusal("[0, 1, 3]"), "(none)");
  EXPECT_THAT(refusal("[1, 1, 1]"), HasSubstr("pass 4 units of input 0 (2 rounds of index 1 and stride 1), which has 6"));
  EXPECT_THAT(refusal("[5, 2, 1]"), HasSubstr("read 7 units of input 0, which has 6"));
  EXPECT_THAT(refusal("[0, 3, 6]"), HasSubstr("copy 3 units per round, which does not fill an output of 2"));
}

TEST(QuantOps, ThereAndBack) {
  auto text = [](const std::string& type, const std::string& in, const std::string& out, const std::string& attributes) {
    OpText op{"op", type, {"a", "scale"}};
    op.attributes = attributes;
    std::string line = op.text();
    auto replace = [&](const std::string& from, const std::string& to) { line.replace(line.find(from), from.size(), to); };
    replace("in_df: [Float32, Float32]", cat("in_df: [", in, ", Float32]"));
    replace("out_df: Float32", cat("out_df: ", out));
    replace("acc_df: Float32", "acc_df: Int32");
    replace("intermed_df: Float32", "intermed_df: Int32");
    return netlist_text(queue("a", "HOST", 1, 1, 1, in) + queue("scale", "HOST", 1, 1, 1) + queue("out", "op", 1, 1, 1, out), line,
                        once(at_start("a") + ", " + at_start("scale")));
  };
  Tensor a = random_tensor({1, 1, 32, 32}, 1, -3, 3), scale(Shape{1, 1, 32, 32}, std::vector<float>(1024, 32.0f)),
         inverse(Shape{1, 1, 32, 32}, std::vector<float>(1024, 1.0f / 32));
  auto quantized = run_netlist(text("quantization", "Float32", "Int8", "zero_point: 3"), {{"a", a}, {"scale", scale}}, kExact);
  ASSERT_TRUE(quantized) << first_error(quantized.failure());
  ASSERT_EQ(quantized->dtype(), DType::i8);
  auto x = doubles(a), q = doubles(*quantized);
  for (std::size_t i = 0; i < 1024; ++i) EXPECT_EQ(q[i], std::clamp(std::round(x[i] * 32 + 3), -127.0, 127.0)) << x[i];
  auto back = run_netlist(text("dequantization", "Int8", "Float32", "zero_point: 3"), {{"a", *quantized}, {"scale", inverse}}, kExact);
  ASSERT_TRUE(back) << first_error(back.failure());
  auto y = doubles(*back);
  for (std::size_t i = 0; i < 1024; ++i) EXPECT_EQ(y[i], (q[i] - 3) / 32);
}

TEST(Embedding, AnIndexBeyondTheTableIsAnErrorOfTheRun) {
  OpText op{"look", "embedding", {"table", "index"}};
  op.in_df = op.out_df = op.intermed_df = op.acc_df = "Float16_b";
  op.attributes = "num_indices: 32";
  const std::string text = netlist_text(queue("table", "HOST", 1, 1, 1, "Float16_b", 1, "queue", ", layout: flat") +
                                            queue("index", "HOST", 1, 1, 1, "Float16_b", 1) + queue("out", "look", 1, 1, 1, "Float16_b"),
                                        op.text(), once(at_start("table") + ", " + at_start("index")));
  TestHost host;
  auto device = open_device(text, host, kExact);
  ASSERT_TRUE(device.ok()) << first_error(device.failure());
  ASSERT_TRUE((*device)->push("table", Tensor(Shape{1, 1, 32, 32}, std::vector<float>(1024, 1.0f))).ok());
  ASSERT_TRUE((*device)->push("index", Tensor(Shape{1, 1, 32, 32}, std::vector<float>(1024, 40.0f))).ok());
  auto ran = (*device)->run("main", {});
  ASSERT_FALSE(ran.ok());
  EXPECT_EQ(ran.failure().diagnostics().front().code, "GD025");
  EXPECT_THAT(first_error(ran.failure()), HasSubstr("op 'look': index 0 of core row 0 is 40; the table has 32 rows"));
}

TEST(Refusals, NameTheOpTheFeatureAndThePlace) {
  TestHost host;
  auto failure = [&](const std::string& text) {
    auto device = open_device(text, host);
    return device.ok() ? Diagnostic{} : device.failure().diagnostics().front();
  };
  OpText depthwise{"pick", "depthwise", {"a", "a"}};
  depthwise.in_df = "Int8";
  depthwise.attributes = "m_k: 1, u_kt: 1";
  auto d =
      failure(netlist_text(queue("a", "HOST", 1, 1, 1, "Int8") + queue("out", "pick", 1, 1, 1), depthwise.text(), once(at_start("a"))));
  EXPECT_EQ(d.code, "GD001");
  EXPECT_EQ(d.node, "pick");
  EXPECT_THAT(d.message, HasSubstr("integer operands are not supported"));
  EXPECT_EQ(d.loc.line, 9u);

  OpText add{"sum", "add", {"a", "b"}};
  d = failure(netlist_text(queue("a", "HOST", 1, 1, 1) + queue("b", "HOST", 1, 1, 2) + queue("out", "sum", 1, 1, 1), add.text(),
                           once(at_start("a"))));
  EXPECT_EQ(d.code, "GD002");
  EXPECT_THAT(d.message, HasSubstr("input 1 ('b') has the shape t=1 rt=1 ct=2"));

  add.more = ", input_1_tms: [hslice: 3]";
  d = failure(netlist_text(queue("a", "HOST", 1, 1, 1) + queue("b", "HOST", 1, 1, 2) + queue("out", "sum", 1, 1, 1), add.text(),
                           once(at_start("a"))));
  EXPECT_EQ(d.code, "GD003");
  EXPECT_THAT(d.message, HasSubstr("TM 1 (hslice: 3) does not apply"));
}

}  // namespace
}  // namespace buda::golden::test
