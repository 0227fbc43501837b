// SPDX-License-Identifier: Apache-2.0
// Mode bits: ops are made of the steps that docs/internals/numerics.md lists, in their order. The steps themselves are tested with module
// numerics; here they are put together once more, in plain loops.
#include "netlist_text.hpp"

#include <buda/numerics/matrix_unit.hpp>
#include <buda/numerics/pack.hpp>
#include <buda/numerics/unpack.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>

namespace buda::golden::test {
namespace {

using numerics::Dest;
using numerics::Source;
using testing::HasSubstr;

const functional::DeviceOptions kBits{arith::Mode::bits, false};

struct MatmulText {
  int m_k = 2, u_kt = 2;
  std::string df = "Float16_b", acc = "Float16_b", intermed = "Float16_b", out = "Float16_b", fidelity = "HiFi2", attributes = {};
  bool bias = false;

  std::string text() const {
    OpText op{"op", "matmul", {"a", "b"}};
    op.rt = 2;
    op.ct = 3;
    op.in_df = df;
    op.acc_df = acc;
    op.intermed_df = intermed;
    op.out_df = out;
    op.fidelity = fidelity;
    op.attributes = cat("m_k: ", m_k, ", u_kt: ", u_kt, attributes, bias ? ", bias: true" : "");
    std::string queues =
        queue("a", "HOST", 1, 2, m_k * u_kt, df) + queue("b", "HOST", 1, m_k * u_kt, 3, df) + queue("out", "op", 1, 2, 3, out);
    std::string settings = at_start("a") + ", " + at_start("b");
    if (bias) {
      op.inputs.push_back("bias");
      op.more = ", input_2_tms: [broadcast: {r: 2}]";
      queues += queue("bias", "HOST", 1, 1, 3, df);
      settings += ", " + at_start("bias");
    }
    return netlist_text(queues, op.text(), once(settings));
  }
  std::size_t inner() const { return static_cast<std::size_t>(m_k * u_kt) * 32; }
};

// Packed into `format` and read back, sixteen numbers at a time.
void through_l1(Dest dest, DataFormat format, std::vector<std::uint32_t>& words) {
  std::vector<float> values(words.size());
  numerics::pack(numerics::packing_for(dest, format), words, values);
  numerics::copy_to_dest(format, dest, values, words);
}

// C = A B for 64 x inner and inner x 96: block, inner tile, phase, half of a tile. Sums of a block begin at zero, and are added to those
// that wait when they are complete; those of 32 bits that wait as Float32 go on.
std::vector<std::uint32_t> product(const MatmulText& m, const Tensor& a, const Tensor& b, std::span<const unsigned> phases, Dest dest,
                                   DataFormat intermediate) {
  const std::size_t inner = m.inner(), block = static_cast<std::size_t>(m.u_kt) * 32;
  auto bits = [](const Tensor& t, std::size_t i) { return std::bit_cast<std::uint32_t>(t.as<float>()[i]); };
  const bool goes_on = dest == Dest::fp32 && intermediate == DataFormat::float32;
  std::vector<std::uint32_t> sums(64 * 96), waiting(64 * 96);
  for (std::size_t k0 = 0; k0 < inner; k0 += 32) {
    for (std::size_t i = 0; i < 64; ++i)
      for (std::size_t j = 0; j < 96; ++j)
        for (unsigned phase : phases)
          for (std::size_t half : {k0, k0 + 16}) {
            std::array<std::uint32_t, 16> left{}, right{};
            for (std::size_t k = 0; k < 16; ++k) {
              left[k] = bits(a, i * inner + half + k);
              right[k] = bits(b, (half + k) * 96 + j);
            }
            sums[i * 96 + j] = numerics::mvmul({Source::bf16, dest, phase}, right, left, sums[i * 96 + j]);
          }
    if ((k0 + 32) % block != 0) continue;
    if (!goes_on && k0 + 32 > block)
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = numerics::elwadd(Source::tf32, dest, waiting[i], 0, sums[i]);
    if (k0 + 32 < inner || m.bias) through_l1(dest, intermediate, sums);
    if (goes_on || k0 + 32 == inner) continue;
    waiting = sums;
    std::fill(sums.begin(), sums.end(), 0u);
  }
  return sums;
}

std::vector<float> floats(const Result<Tensor>& t) {
  EXPECT_TRUE(t) << first_error(t.failure());
  if (!t) return {};
  return {t->as<float>().begin(), t->as<float>().end()};
}

TEST(BitsOfMatmul, AreThoseOfItsSteps) {
  struct Case {
    const char *fidelity, *acc, *intermed, *out;
    Dest dest;
    DataFormat intermediate, format;
    std::vector<unsigned> phases;
  };
  const Case cases[] = {
      {"LoFi", "Float16_b", "Float16_b", "Float16_b", Dest::bf16, DataFormat::float16_b, DataFormat::float16_b, {0}},
      {"HiFi2", "Float16_b", "Bfp8_b", "Float16_b", Dest::bf16, DataFormat::bfp8_b, DataFormat::float16_b, {1, 0}},
      {"HiFi2_B", "Float16_b", "Float16_b", "Bfp8_b", Dest::bf16, DataFormat::float16_b, DataFormat::bfp8_b, {2, 0}},
      {"HiFi3", "Float32", "Float16_b", "Float16_b", Dest::fp32, DataFormat::float16_b, DataFormat::float16_b, {2, 1, 0}},
      {"HiFi4", "Float32", "Float32", "Float32", Dest::fp32, DataFormat::float32, DataFormat::float32, {3, 2, 1, 0}},
  };
  for (const Case& c : cases) {
    const MatmulText m{.acc = c.acc, .intermed = c.intermed, .out = c.out, .fidelity = c.fidelity};
    const auto inner = static_cast<std::int64_t>(m.inner());
    const Tensor a = random_tensor({1, 1, 64, inner}, 1), b = random_tensor({1, 1, inner, 96}, 2);
    const auto sums = product(m, a, b, c.phases, c.dest, c.intermediate);
    std::vector<float> want(sums.size());
    numerics::pack(numerics::packing_for(c.dest, c.format), sums, want);
    for (unsigned threads : {1u, 3u}) EXPECT_EQ(floats(run_netlist(m.text(), {{"a", a}, {"b", b}}, kBits, threads)), want) << c.fidelity;
  }
}

TEST(BitsOfMatmul, BiasIsAddedToWhatWasPacked) {
  const MatmulText m{.intermed = "Bfp8_b", .bias = true};
  const auto inner = static_cast<std::int64_t>(m.inner());
  const Tensor a = random_tensor({1, 1, 64, inner}, 1), b = random_tensor({1, 1, inner, 96}, 2), bias = random_tensor({1, 1, 32, 96}, 3);
  const unsigned phases[] = {1, 0};
  auto sums = product(m, a, b, phases, Dest::bf16, DataFormat::bfp8_b);
  for (std::size_t i = 0; i < sums.size(); ++i)
    sums[i] = numerics::elwadd(Source::bf16, Dest::bf16, sums[i], std::bit_cast<std::uint32_t>(bias.as<float>()[i % 96]), 0);
  std::vector<float> want(sums.size());
  numerics::pack(numerics::packing_for(Dest::bf16, DataFormat::float16_b), sums, want);
  EXPECT_EQ(floats(run_netlist(m.text(), {{"a", a}, {"b", b}, {"bias", bias}}, kBits)), want);
}

TEST(BitsOfMatmul, L1AccumulationRoundsToTheNearestEvenNumber) {
  // Blocks of 256, 1 and 1, 1, 1 …: 256 + 1 stays 256 in L1, and would be 258 in the destination register.
  MatmulText m{.m_k = 4, .u_kt = 1};
  Tensor a = Tensor(Shape{1, 1, 64, 128}, std::vector<float>(64 * 128)), b = Tensor(Shape{1, 1, 128, 96}, std::vector<float>(128 * 96));
  std::vector<float> left(64 * 128), right(128 * 96);
  for (std::size_t block = 0; block < 4; ++block) {
    left[block * 32] = 1;
    right[block * 32 * 96] = block == 0 ? 256.0f : 1.0f;
  }
  a = Tensor(Shape{1, 1, 64, 128}, left);
  b = Tensor(Shape{1, 1, 128, 96}, right);
  EXPECT_EQ(floats(run_netlist(m.text(), {{"a", a}, {"b", b}}, kBits))[0], 262.0f);
  m.attributes = ", l1_acc: true";
  EXPECT_EQ(floats(run_netlist(m.text(), {{"a", a}, {"b", b}}, kBits))[0], 256.0f);
}

std::string one_tile(const std::string& type, const std::string& df, const std::string& acc, int inputs, const std::string& attributes = "",
                     const std::string& other = "") {
  OpText op{"op", type, {"a"}};
  if (inputs == 2) op.inputs.push_back("b");
  op.in_df = op.out_df = df;
  op.acc_df = op.intermed_df = acc;
  op.attributes = attributes;
  std::string text = op.text(), settings = at_start("a");
  if (inputs == 2) settings += ", " + at_start("b");
  const std::string second = other.empty() ? df : other;
  if (!other.empty())
    text.replace(text.find(cat("in_df: [", df, ", ", df)), cat("in_df: [", df, ", ", df).size(), cat("in_df: [", df, ", ", other));
  return netlist_text(queue("a", "HOST", 1, 1, 1, df) + (inputs == 2 ? queue("b", "HOST", 1, 1, 1, second) : std::string()) +
                          queue("out", "op", 1, 1, 1, df),
                      text, once(settings));
}

float one(const std::string& text, float a, float b = 0) {
  std::vector<Given> given = {{"a", entries({a})}};
  if (text.find("b: {type") != std::string::npos) given.push_back({"b", entries({b})});
  return floats(run_netlist(text, given, kBits)).at(5);
}

TEST(BitsOfElementwiseOps, AreThoseOfTheMatrixUnit) {
  EXPECT_EQ(one(one_tile("add", "Float16_b", "Float16_b", 2), 256, 1), 258.0f);
  EXPECT_EQ(one(one_tile("subtract", "Float16_b", "Float16_b", 2), -256, 1), -258.0f);
  // In source registers a Float32 has ten fraction bits, and 2^-12 vanishes beside 1.
  EXPECT_EQ(one(one_tile("add", "Float32", "Float32", 2), 1, 0x1p-11f), 1 + 0x1p-10f);
  EXPECT_EQ(one(one_tile("add", "Float32", "Float32", 2), 1, 0x1p-12f), 1.0f);
  // 1.5 * 1.5 in one phase after the other.
  EXPECT_EQ(one(one_tile("multiply", "Float16_b", "Float16_b", 2), 1.5f, -1.5f), -2.25f);
  EXPECT_EQ(one(one_tile("multiply", "Float16", "Float16", 2), 300, 500), 131008.0f);
  EXPECT_EQ(one(one_tile("maximum", "Float16_b", "Float16_b", 2), -3, -2), -2.0f);
  EXPECT_EQ(one(one_tile("maximum", "Float32", "Float32", 2), 1.0000001f, 1), 1.0000001f);  // past the matrix unit
}

TEST(BitsOfElementwiseOps, OverflowAndNaNAreNotIeees) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(one(one_tile("add", "Float16_b", "Float16_b", 2), 3e38f, 3e38f), infinity);
  // The difference of two infinities is that of two equal numbers.
  EXPECT_EQ(one(one_tile("subtract", "Float16_b", "Float16_b", 2), infinity, infinity), 0.0f);
  EXPECT_EQ(one(one_tile("datacopy", "Float16_b", "Float16_b", 1), std::numeric_limits<float>::quiet_NaN()), infinity);
  EXPECT_EQ(one(one_tile("datacopy", "Float16_b", "Float16_b", 1), 1e-39f), 0.0f);
}

TEST(BitsOfElementwiseOps, NeedExponentsOfOneWidth) {
  const auto text = one_tile("add", "Float16_b", "Float32", 2, "", "Float16");
  auto got = run_netlist(text, {{"a", entries({1})}, {"b", entries({2})}}, kBits);
  ASSERT_FALSE(got);
  EXPECT_THAT(first_error(got.failure()), HasSubstr("Float16_b and Float16, and the matrix unit takes exponents of one width"));
}

TEST(BitsOfVectorFunctions, AreNearTheFunctionAndRounded) {
  const std::pair<const char*, float> exp_of[] = {{"exp", std::exp(1.5f)},   {"sigmoid", 1 / (1 + std::exp(-1.5f))},
                                                  {"square", 2.25f},         {"tanh", std::tanh(1.5f)},
                                                  {"sqrt", std::sqrt(1.5f)}, {"reciprocal", 1 / 1.5f}};
  for (const auto& [type, exact] : exp_of) {
    EXPECT_NEAR(one(one_tile(type, "Float32", "Float32", 1), 1.5f), exact, std::fabs(exact) * 1e-6f) << type;
    const float rounded = one(one_tile(type, "Float16_b", "Float16_b", 1), 1.5f);
    EXPECT_NEAR(rounded, exact, std::fabs(exact) / 256) << type;
    EXPECT_EQ(std::bit_cast<std::uint32_t>(rounded) & 0xffffu, 0u) << type;
  }
  EXPECT_EQ(one(one_tile("power", "Float32", "Float32", 1, "exp: 3"), -1.5f), -3.375f);
  EXPECT_EQ(one(one_tile("lrelu", "Float32", "Float32", 1, "slope: 0.25"), -2), -0.5f);
}

TEST(BitsOfRelu, StandsInThePacker) {
  EXPECT_EQ(one(one_tile("datacopy", "Float16_b", "Float16_b", 1, "relu_en: true, relu_threshold: 0.0, relu_mode: min"), -2), 0.0f);
  EXPECT_EQ(one(one_tile("datacopy", "Float16_b", "Float16_b", 1, "relu_en: true, relu_threshold: 1.5, relu_mode: max"), 2), 1.5f);
}

TEST(BitsOfReduce, AreThoseOfCopies) {
  OpText op{"op", "reduce", {"a"}};
  op.attributes = "dim: r, type: max, m_k: 1, u_kt: 1";
  std::vector<float> numbers(1024, -7.0f);
  numbers[32 * 9 + 4] = 1.0001f;
  const auto got =
      floats(run_netlist(netlist_text(queue("a", "HOST", 1, 1, 1) + queue("out", "op", 1, 1, 1), op.text(), once(at_start("a"))),
                         {{"a", Tensor(Shape{1, 1, 32, 32}, numbers)}}, kBits));
  EXPECT_EQ(got.at(4), 1.0001f);  // a Float32 is copied whole into 32 bits
  EXPECT_EQ(got.at(5), -7.0f);
  EXPECT_EQ(got.at(32 + 4), 0.0f);
}

TEST(BitsOfGradients, AreAddedUpByThePacker) {
  OpText op{"op", "datacopy", {"a"}};
  op.in_df = op.out_df = op.acc_df = op.intermed_df = "Float16_b";
  op.more = ", gradient_op: true";
  TestHost host;
  auto device = open_device(
      netlist_text(
          queue("a", "HOST", 1, 1, 1, "Float16_b") + queue("grad", "op", 1, 1, 1, "Float16_b", 1, "ram"), op.text(),
          "  - main:\n    - execute: {graph_name: g, queue_settings: {a: {rd_ptr_local: 0, rd_ptr_global: 0}, grad: {prologue: true, "
          "epilogue: true, zero: true, rd_ptr_global: 0, wr_ptr_global: 0}}}\n",
          3),
      host, kBits);
  ASSERT_TRUE(device) << first_error(device.failure());
  ASSERT_TRUE((*device)->push("a", entries({256, 1, 1})));
  ASSERT_TRUE((*device)->run("main", {}));
  EXPECT_EQ(constants((*device)->read("grad", 0, 1)), (std::vector<float>{256}));  // 258 if halves went away from zero
}

}  // namespace
}  // namespace buda::golden::test
