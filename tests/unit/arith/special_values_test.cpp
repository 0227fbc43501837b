// NaN, infinities, -0, denormals and the largest numbers in every op: mode exact agrees with bits, and the table of
// docs/internals/special-values.md says what they give. With BUDA_UPDATE_DOCS=1 in the environment the table is written anew.
#include <buda/arith/op.hpp>

#include <buda/base/text.hpp>
#include <buda/io/file_system.hpp>

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <optional>

namespace buda::arith::special_values {
namespace {

using netlist::Op;
using netlist::OpType;

constexpr float kInf = std::numeric_limits<float>::infinity(), kNaN = std::numeric_limits<float>::quiet_NaN();
const float kLargest = std::bit_cast<float>(0x7f7f0000u);  // of Float16_b
constexpr float kDenormal = 0x1p-130f;
constexpr std::size_t kSide = 32;

struct Formats {
  DataFormat in = DataFormat::float16_b, acc = DataFormat::float16_b, out = DataFormat::float16_b;
};

Op op_of(OpType type, const Formats& formats, std::size_t inputs) {
  Op op;
  op.name = "op";
  op.type = type;
  op.inputs.resize(inputs);
  for (auto& in : op.inputs) in.format = formats.in;
  op.out_format = formats.out;
  op.intermed_format = op.acc_format = formats.acc;
  op.attributes.m_k = op.attributes.u_kt = 1;
  op.attributes.reduce_dim = netlist::Dim::c;
  op.attributes.exp = 3;
  op.attributes.slope = 0.5;
  return op;
}

using Numbers = std::vector<float>;

ValuePtr tile(DataFormat format, Numbers numbers) {
  auto value = std::make_shared<Value>(netlist::TileShape{1, 1, 1}, TileDim{}, format);
  numbers.resize(kSide * kSide);
  value->floats = std::move(numbers);
  return value;
}

Numbers run(const Op& op, Mode mode, std::vector<Numbers> operands) {
  std::vector<ValuePtr> inputs;
  for (std::size_t i = 0; i < operands.size(); ++i) inputs.push_back(tile(op.inputs[i].format, std::move(operands[i])));
  const Outcome outcome = op_kind(op.type).run({op, inputs, mode, 1, nullptr, nullptr});
  const auto* value = std::get_if<Value>(&outcome);
  EXPECT_NE(value, nullptr) << std::get<std::string>(outcome);
  return value == nullptr ? Numbers(kSide * kSide) : value->floats;
}

constexpr std::array kBinary = {OpType::add, OpType::subtract, OpType::multiply, OpType::maximum};
constexpr std::array kFunctions = {
    OpType::nop,     OpType::exp,  OpType::log,       OpType::sqrt,   OpType::gelu,   OpType::gelu_derivative,
    OpType::sigmoid, OpType::tanh, OpType::sine,      OpType::cosine, OpType::square, OpType::power,
    OpType::lrelu,   OpType::abs,  OpType::reciprocal};

bool is_special(float v) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(v), exponent = bits >> 23 & 255;
  return exponent == 255 || (exponent == 0 && bits != 0) || std::abs(v) == kLargest;
}

// All pairs of these are operands.
const std::array<float, 16>& operands() {
  static const std::array<float, 16> values = {kNaN,     -kNaN,     kInf,      -kInf,      0.0f, -0.0f, kDenormal, -kDenormal,
                                               kLargest, -kLargest, 0x1p-126f, -0x1p-126f, 1.0f, -1.5f, 0x1p100f,  -0x1p40f};
  return values;
}

struct Pairs {
  Numbers a, b;
  Pairs() {
    for (float x : operands())
      for (float y : operands()) a.push_back(x), b.push_back(y);
    a.resize(kSide * kSide);
    b.resize(kSide * kSide);
  }
};

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

struct Row {
  std::string text;  // of the operation
  OpType type;
  std::optional<float> (*second)(float x);  // operand 1; null: of one operand
  double (*ieee)(double x, double y);
};

std::optional<float> zero(float) { return 0.0f; }
std::optional<float> one(float) { return 1.0f; }
std::optional<float> infinity(float) { return kInf; }
std::optional<float> itself(float x) { return x; }

double larger_of(double x, double y) { return std::isnan(x) || std::isnan(y) ? kNaN : std::max(x, y); }

std::vector<Row> table_rows() {
  const auto sum = [](double x, double y) { return x + y; };
  const auto difference = [](double x, double y) { return x - y; };
  const auto product = [](double x, double y) { return x * y; };
  return {{"x + 0", OpType::add, zero, sum},
          {"x + ∞", OpType::add, infinity, sum},
          {"x - x", OpType::subtract, itself, difference},
          {"x * 0", OpType::multiply, zero, product},
          {"x * 1", OpType::multiply, one, product},
          {"x * ∞", OpType::multiply, infinity, product},
          {"x * x", OpType::multiply, itself, product},
          {"max(x, 0)", OpType::maximum, zero, larger_of},
          {"max(x, ∞)", OpType::maximum, infinity, larger_of},
          {"copy", OpType::nop, nullptr, [](double x, double) { return x; }},
          {"abs", OpType::abs, nullptr, [](double x, double) { return std::abs(x); }},
          {"exp", OpType::exp, nullptr, [](double x, double) { return std::exp(x); }},
          {"log", OpType::log, nullptr, [](double x, double) { return std::log(x); }},
          {"sqrt", OpType::sqrt, nullptr, [](double x, double) { return std::sqrt(x); }},
          {"reciprocal", OpType::reciprocal, nullptr, [](double x, double) { return 1 / x; }},
          {"sigmoid", OpType::sigmoid, nullptr, [](double x, double) { return 1 / (1 + std::exp(-x)); }},
          {"tanh", OpType::tanh, nullptr, [](double x, double) { return std::tanh(x); }},
          {"gelu", OpType::gelu, nullptr,
           [](double x, double) { return std::isinf(x) && x < 0 ? 0 : x * 0.5 * std::erfc(-x / std::sqrt(2.0)); }},
          {"sine", OpType::sine, nullptr, [](double x, double) { return std::sin(x); }},
          {"cosine", OpType::cosine, nullptr, [](double x, double) { return std::cos(x); }},
          {"square", OpType::square, nullptr, [](double x, double) { return x * x; }}};
}

struct Column {
  const char* text;
  float value;
};
std::array<Column, 8> columns() {
  return {{{"NaN", kNaN},
           {"∞", kInf},
           {"-∞", -kInf},
           {"-0", -0.0f},
           {"denormal", kDenormal},
           {"-denormal", -kDenormal},
           {"largest", kLargest},
           {"-largest", -kLargest}}};
}

std::string name_of(float v) {
  if (std::isnan(v)) return "NaN";
  if (std::isinf(v)) return v > 0 ? "∞" : "-∞";
  if (v == 0) return std::signbit(v) ? "-0" : "0";
  if (std::abs(v) == kLargest) return v > 0 ? "largest" : "-largest";
  if (std::abs(v) < 0x1p-126f) return v > 0 ? "denormal" : "-denormal";
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", static_cast<double>(v));
  return text;
}

bool by_matrix_unit(OpType type) { return type == OpType::add || type == OpType::subtract || type == OpType::multiply; }

// The note that says why a chip differs from IEEE 754; empty where none does.
std::string reason(OpType type, float x, float y, const std::string& ieee, const std::string& chip) {
  const auto is_denormal = [](float v) { return v != 0 && std::abs(v) < 0x1p-126f; };
  if (chip == "0" && ieee == "-0") return "z";
  if (type == OpType::reciprocal && x == 0) return "z";
  if (is_denormal(x) || ieee == "denormal" || ieee == "-denormal") return "d";
  if (by_matrix_unit(type))
    return std::isfinite(x) && std::isfinite(y) ? "o" : chip == "0" && x != 0 && y != 0 && type == OpType::multiply ? "o" : "m";
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
  const std::string why = reason(row.type, x, y, ieee, chip);
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
