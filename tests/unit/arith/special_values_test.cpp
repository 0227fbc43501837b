// SPDX-License-Identifier: Apache-2.0
// NaN, infinities, -0, denormals and the largest numbers in every op: mode exact agrees with bits, and the table of
// docs/internals/special-values.md says what they give. With BUDA_UPDATE_DOCS=1 in the environment the table is written anew.
#include "special_values_rows.hpp"

#include <buda/base/text.hpp>
#include <buda/io/file_system.hpp>

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

namespace buda::arith::special_values {
namespace {

constexpr std::array kBinary = {OpType::add, OpType::subtract, OpType::multiply, OpType::maximum};
constexpr std::array kFunctions = {
    OpType::nop,     OpType::exp,  OpType::log,       OpType::sqrt,   OpType::gelu,   OpType::gelu_derivative,
    OpType::sigmoid, OpType::tanh, OpType::sine,      OpType::cosine, OpType::square, OpType::power,
    OpType::lrelu,   OpType::abs,  OpType::reciprocal};

bool is_special(float v) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(v), exponent = bits >> 23 & 255;
  return exponent == 255 || (exponent == 0 && bits != 0) || std::abs(v) == kLargest;
}

void expect_same(const char* name, const Formats& formats, const Numbers& exact, const Numbers& bits, std::size_t i, float x, float y) {
  EXPECT_EQ(std::bit_cast<std::uint32_t>(exact[i]), std::bit_cast<std::uint32_t>(bits[i]))
      << name << " of " << x << " and " << y << ", " << format_name(formats.in) << " " << format_name(formats.acc) << " "
      << format_name(formats.out) << ": exact " << exact[i] << ", bits " << bits[i];
}

std::vector<Formats> all_formats() {
  using F = DataFormat;
  return {{},
          {F::float16_b, F::float32, F::float16_b},
          {F::float32, F::float32, F::float32},
          {F::float32, F::float16_b, F::float16_b},
          {F::float16_b, F::float16_b, F::bfp8_b}};
}

TEST(SpecialValues, ExactAgreesWithBitsInEveryElementwiseOp) {
  const Pairs pairs;
  for (const Formats& formats : all_formats()) {
    const auto compare = [&](OpType type, const std::vector<Numbers>& in) {
      const Op op = op_of(type, formats, in.size());
      const Numbers exact = run(op, Mode::exact, in), bits = run(op, Mode::bits, in);
      for (std::size_t i = 0; i < exact.size(); ++i)
        if (is_special(in[0][i]) || (in.size() > 1 && is_special(in[1][i])))
          expect_same(std::string(netlist::op_type_name(type)).c_str(), formats, exact, bits, i, in[0][i], in.back()[i]);
    };
    for (OpType type : kBinary) compare(type, {pairs.a, pairs.b});
    for (OpType type : kFunctions) compare(type, {pairs.a});
  }
}

// Row i of the left matrix is (x_i, 1, 0, …), column j of the right one (y_j, 0, …): every x times every y, and zeros beside them.
struct Matrices {
  Numbers left, right;
  Matrices() : left(kSide * kSide), right(kSide * kSide) {
    for (std::size_t i = 0; i < operands().size(); ++i) {
      left[i * kSide] = operands()[i];
      left[i * kSide + 1] = 1;
      right[i] = operands()[i];
    }
  }
};

TEST(SpecialValues, ExactAgreesWithBitsInProducts) {
  const Matrices m;
  for (const Formats& formats : all_formats()) {
    const Op op = op_of(OpType::matmul, formats, 2);
    const Numbers exact = run(op, Mode::exact, {m.left, m.right}), bits = run(op, Mode::bits, {m.left, m.right});
    for (std::size_t i = 0; i < operands().size(); ++i)
      for (std::size_t j = 0; j < operands().size(); ++j)
        if (!std::isfinite(operands()[i]) || !std::isfinite(operands()[j]))
          expect_same("matmul", formats, exact, bits, i * kSide + j, operands()[i], operands()[j]);
  }
}

TEST(SpecialValues, ExactAgreesWithBitsInReductions) {
  Numbers rows;
  for (std::size_t i = 0; i < kSide; ++i)
    for (std::size_t j = 0; j < kSide; ++j) rows.push_back(operands()[(i + (j % 2) * (1 + i / 16)) % operands().size()]);
  for (const Formats& formats : all_formats()) {
    const Op op = op_of(OpType::reduce, formats, 1);
    const Numbers exact = run(op, Mode::exact, {rows}), bits = run(op, Mode::bits, {rows});
    for (std::size_t i = 0; i < kSide; ++i) expect_same("reduce", formats, exact, bits, i * kSide, rows[i * kSide], rows[i * kSide + 1]);
  }
}

// A mask that is never the maximum changes no maximum, not even how it is packed.
TEST(SpecialValues, MasksThatLoseLeaveNoTrace) {
  const Formats formats{DataFormat::float16, DataFormat::float16, DataFormat::bfp4};
  Numbers rows(kSide * kSide), masked;
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = 0.25f * static_cast<float>(i % 37) - 2;
  masked = rows;
  for (std::size_t i = 0; i < kSide; ++i) {
    rows[i * kSide + i] = -2;
    masked[i * kSide + i] = -131008;
  }
  const Op op = op_of(OpType::reduce, formats, 1);
  EXPECT_EQ(run(op, Mode::exact, {masked}), run(op, Mode::exact, {rows}));
}

// Nothing that is multiplied by 0 is seen again, in any mode.
TEST(SpecialValues, ZeroTimesAnythingIsZero) {
  const Pairs pairs;
  const Matrices m;
  for (Mode mode : {Mode::exact, Mode::bits, Mode::fp32}) {
    const Numbers products = run(op_of(OpType::multiply, {}, 2), mode, {pairs.a, pairs.b});
    const Numbers sums = run(op_of(OpType::matmul, {}, 2), mode, {m.left, m.right});
    for (std::size_t i = 0; i < pairs.a.size(); ++i) {
      if (pairs.a[i] == 0 || pairs.b[i] == 0) EXPECT_EQ(products[i], 0) << pairs.a[i] << " * " << pairs.b[i];
    }
    for (std::size_t i = 0; i < operands().size(); ++i)
      for (std::size_t j = 0; j < operands().size(); ++j)
        if (operands()[i] == 0 || operands()[j] == 0) EXPECT_EQ(sums[i * kSide + j], 0) << operands()[i] << " * " << operands()[j];
  }
}

// ---- the table

bool by_matrix_unit(OpType type) { return type == OpType::add || type == OpType::subtract || type == OpType::multiply; }

// The note that says why a chip differs from IEEE 754; empty where none does.
std::string reason(OpType type, float x, const std::string& ieee, const std::string& chip) {
  const auto is_denormal = [](float v) { return v != 0 && std::abs(v) < 0x1p-126f; };
  if (chip == "0" && ieee == "-0") return "z";
  if (type == OpType::reciprocal && x == 0) return "z";
  if (is_denormal(x) || ieee == "denormal" || ieee == "-denormal") return "d";
  if (by_matrix_unit(type)) return "m";
  if (ieee == "NaN" && (chip == "∞" || chip == "-∞")) return "p";
  if (type == OpType::sine || type == OpType::cosine) return "f";
  return ieee == "NaN" && !std::isfinite(x) ? "f" : "";
}

std::string cell(const Row& row, float x) {
  const float y = row.second == nullptr ? 0 : *row.second(x);
  const Op op = op_of(row.type, {}, row.second == nullptr ? 1 : 2);
  std::vector<Numbers> in{Numbers(kSide * kSide, x)};
  if (row.second != nullptr) in.emplace_back(kSide * kSide, y);
  const float exact = run(op, Mode::exact, in)[0], bits = run(op, Mode::bits, in)[0];
  EXPECT_EQ(std::bit_cast<std::uint32_t>(exact), std::bit_cast<std::uint32_t>(bits)) << row.text << " of " << x;
  const auto wanted = static_cast<float>(row.ieee(static_cast<double>(x), static_cast<double>(y)));
  const std::string ieee = name_of(wanted), chip = name_of(bits);
  const bool close =
      std::isfinite(wanted) && std::isfinite(bits) && std::abs(wanted) >= 0x1p-126f && std::abs(wanted - bits) <= 0.02f * std::abs(wanted);
  if (close || ieee == chip) return ieee;
  const std::string why = reason(row.type, x, ieee, chip);
  EXPECT_FALSE(why.empty()) << row.text << " of " << x << ": IEEE 754 says " << ieee << ", the chip " << chip;
  return cat(ieee, " / ", chip, " (", why, ")");
}

std::string table() {
  std::string text = "| op |", line = "|---|";
  for (const Column& c : columns()) text += cat(" ", c.text, " |"), line += "---|";
  text += "\n" + line + "\n";
  for (const Row& row : table_rows()) {
    text += cat("| ", row.text, " |");
    for (const Column& c : columns()) text += cat(" ", cell(row, c.value), " |");
    text += "\n";
  }
  return text;
}

TEST(SpecialValues, TheTableIsTheDocumentations) {
  const char* source = std::getenv("BUDA_SOURCE_DIR");
  if (source == nullptr) GTEST_SKIP() << "BUDA_SOURCE_DIR is not set";
  constexpr std::string_view kBegin = "<!-- generated: table -->\n", kEnd = "<!-- end of table -->";
  auto fs = io::make_real_file_system();
  const std::string path = cat(source, "/docs/internals/special-values.md");
  auto bytes = fs->read(path);
  ASSERT_TRUE(bytes.ok());
  const std::string page(bytes->view());
  const std::size_t begin = page.find(kBegin), end = page.find(kEnd);
  ASSERT_NE(begin, std::string::npos);
  ASSERT_NE(end, std::string::npos);
  const std::string wanted = page.substr(0, begin + kBegin.size()) + table() + page.substr(end);
  if (std::getenv("BUDA_UPDATE_DOCS") != nullptr) {
    const auto written = io::make_real_file_system()->write(path, wanted);  // another one, which has not read it
    ASSERT_TRUE(written.ok()) << written.failure().diagnostics()[0].message;
    return;
  }
  EXPECT_EQ(page, wanted) << "run `BUDA_UPDATE_DOCS=1 ctest -R unit.arith`";
}

}  // namespace
}  // namespace buda::arith::special_values
