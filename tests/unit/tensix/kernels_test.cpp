// Kernels of all families on cores: the bits of golden's mode=bits, whatever compiler made them.
#include "compilers.hpp"

#include "unit/golden/netlist_text.hpp"

#include <buda/kernels/kernel_set.hpp>
#include <tensix/simulated_core.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace buda::tensix::test {
namespace {

using golden::test::at_start;
using golden::test::netlist_text;
using golden::test::once;
using golden::test::OpText;
using testing::HasSubstr;

// With infinities' neighbours, zeros of both signs, denormals and halves of units.
Tensor wild_tensor(Shape shape, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<float> v(static_cast<std::size_t>(shape.volume().value()));
  for (float& x : v) {
    x = static_cast<float>(rng.uniform(-4, 4));
    const auto kind = rng.next() % 64;
    if (kind == 0) x = 0;
    if (kind == 1) x *= 1e-38f;
    if (kind == 2) x *= 1e30f;
    if (kind == 3) x = std::round(x * 128) / 128 + 1.0f / 256;
  }
  return Tensor(std::move(shape), std::move(v));
}

struct Case {
  OpText op;
  std::vector<Shape> shapes;  // of the inputs
  int grid_rows = 1, grid_cols = 1;
};

std::string text_of(const Case& c) {
  std::string queues, settings;
  for (std::size_t i = 0; i < c.op.inputs.size(); ++i) {
    const Shape& s = c.shapes[i];
    queues += golden::test::queue(c.op.inputs[i], "HOST", static_cast<int>(s[1]), static_cast<int>(s[2] / 32), static_cast<int>(s[3] / 32),
                                  c.op.in_df);
    settings += cat(i == 0 ? "" : ", ", at_start(c.op.inputs[i]));
  }
  queues += golden::test::queue("out", "op", c.op.t, c.op.rt, c.op.ct, c.op.out_df);
  return netlist_text(queues, c.op.text(), once(settings));
}

class Kernels : public testing::Test {
 protected:
  void SetUp() override {
    if (compilers().empty()) GTEST_SKIP() << "no compiler for RISC-V";
    files_ = io::make_real_file_system();
  }

  // The kernels of a netlist, by a compiler of this name.
  Result<kernels::KernelSet> build(const std::string& text, const std::string& compiler) {
    CollectingSink sink;
    Host host(*files_, sink);
    host.threads = 3;
    host.share_dir = cat(std::getenv("BUDA_SOURCE_DIR"), "/share");
    BUDA_ASSIGN(const auto netlist, netlist::parse_netlist(text, "test.yaml"));
    kernels::BuildOptions options;
    options.compiler = compiler == "gcc" ? kernels::Compiler::gcc : kernels::Compiler::clang;
    return kernels::build_kernels(netlist, options, host);
  }

  // Compilers take turns.
  void expect_equal_bits(const Case& c, unsigned threads = 1) {
    const std::string text = text_of(c);
    std::vector<golden::test::Given> inputs;
    for (std::size_t i = 0; i < c.op.inputs.size(); ++i) inputs.push_back({c.op.inputs[i], wild_tensor(c.shapes[i], 11 + i)});
    functional::DeviceOptions bits;
    bits.mode = arith::Mode::bits;
    const auto expected = golden::test::run_netlist(text, inputs, bits);
    ASSERT_TRUE(expected.ok()) << golden::test::first_error(expected.failure()) << text;
    const std::string compiler = compilers()[turn_++ % compilers().size()].name;
    auto set = build(text, compiler);
    ASSERT_TRUE(set.ok()) << golden::test::first_error(set.failure());
    Counts counts;
    functional::DeviceOptions options = bits;
    options.run_op = [&](const arith::OpCall& call) { return run_op(*set, l1(), call, counts); };
    const auto made = golden::test::run_netlist(text, inputs, options, threads);
    ASSERT_TRUE(made.ok()) << compiler << ": " << golden::test::first_error(made.failure());
    EXPECT_TRUE(*made == *expected) << compiler << '\n' << text;
    EXPECT_GT(counts.coprocessor, 0u);
  }

  static device::L1Map l1() {
    device::L1Map map;
    map.size = 1499136;
    map.operands_begin = 0x33000;
    map.reserved_end = 64;
    return map;
  }

  std::unique_ptr<io::FileSystem> files_;
  std::size_t turn_ = 0;
};

OpText op(std::string type, std::vector<std::string> inputs, std::string in, std::string out, std::string acc,
          std::string attributes = {}) {
  OpText o{"op", std::move(type), std::move(inputs)};
  o.in_df = std::move(in);
  o.out_df = std::move(out);
  o.acc_df = std::move(acc);
  o.intermed_df = o.acc_df;
  o.attributes = std::move(attributes);
  return o;
}

TEST_F(Kernels, CopiesHaveGoldensBits) {
  for (const auto& [in, out, acc] : {std::array{"Float16_b", "Float16_b", "Float16_b"}, std::array{"Float32", "Float32", "Float32"},
                                     std::array{"Bfp8_b", "Float32", "Float32"}, std::array{"Float32", "Bfp8_b", "Float16_b"},
                                     std::array{"Float16", "Bfp4", "Float16"}}) {
    OpText o = op("nop", {"a"}, in, out, acc);
    o.t = o.ct = 2;
    expect_equal_bits({o, {Shape{1, 2, 32, 64}}});
  }
}

TEST_F(Kernels, FunctionsHaveGoldensBits) {
  for (const auto& [type, format, acc, attributes] :
       {std::array{"gelu_derivative", "Float16_b", "Float16_b", "vector: c"}, std::array{"sqrt", "Float32", "Float32", "vector: r"},
        std::array{"power", "Float16", "Float16", "exp: -3"}}) {
    OpText o = op(type, {"a"}, format, format, acc, attributes);
    o.rt = 2;
    expect_equal_bits({o, {Shape{1, 1, 64, 32}}});
  }
}

// Golden draws its own random numbers, so only what is kept can be compared: it is the input, larger.
TEST_F(Kernels, DropoutKeepsAShareOfTheNumbers) {
  const std::string text = text_of({op("dropout", {"a"}, "Float32", "Float32", "Float32", "p: 0.25, seed: 7"), {Shape{1, 1, 32, 32}}});
  auto set = build(text, compilers().front().name);
  ASSERT_TRUE(set.ok()) << golden::test::first_error(set.failure());
  OpText o = op("dropout", {"a"}, "Float32", "Float32", "Float32", "p: 0.25, seed: 7");
  Counts counts;
  functional::DeviceOptions options;
  options.mode = arith::Mode::bits;
  options.run_op = [&](const arith::OpCall& call) {
    auto outcome = run_op(*set, l1(), call, counts);
    if (const auto* value = std::get_if<arith::Value>(&outcome)) {
      std::size_t kept = 0;
      for (std::size_t i = 0; i < value->floats.size(); ++i) {
        if (value->floats[i] == 0.0f) continue;
        ++kept;
        EXPECT_FLOAT_EQ(value->floats[i], call.inputs[0]->floats[i] / 0.75f);
      }
      EXPECT_NEAR(static_cast<double>(kept), 768, 50);
    }
    return outcome;
  };
  const auto made =
      golden::test::run_netlist(text, {golden::test::Given{"a", golden::test::random_tensor(Shape{1, 1, 32, 32}, 5)}}, options, 1);
  ASSERT_TRUE(made.ok()) << golden::test::first_error(made.failure());
}

TEST_F(Kernels, SumsAndProductsHaveGoldensBits) {
  for (const auto& [type, in, out, acc] :
       {std::array{"add", "Float16_b", "Float16_b", "Float16_b"}, std::array{"subtract", "Float32", "Float32", "Float32"},
        std::array{"multiply", "Bfp8", "Float16", "Float16"}, std::array{"multiply", "Float32", "Bfp8_b", "Float32"}}) {
    OpText o = op(type, {"a", "b"}, in, out, acc, "relu_en: true, relu_threshold: 0.25, relu_mode: max");
    o.rt = 2;
    expect_equal_bits({o, {Shape{1, 1, 64, 32}, Shape{1, 1, 64, 32}}});
  }
}

TEST_F(Kernels, MatmulsHaveGoldensBits) {
  for (const auto& [attributes, acc, fidelity] :
       {std::array{"m_k: 1, u_kt: 2", "Float16_b", "LoFi"}, std::array{"m_k: 3, u_kt: 1", "Float32", "HiFi3"},
        std::array{"m_k: 3, u_kt: 1, l1_acc: true", "Float16_b", "HiFi2"}, std::array{"m_k: 1, u_kt: 3, bias: true", "Float32", "HiFi4"},
        std::array{"m_k: 3, u_kt: 1, bias: true, l1_acc: true", "Float32", "HiFi2"},
        std::array{"m_k: 2, u_kt: 1, accumulate: true, z: 2", "Float16_b", "HiFi4"}}) {
    OpText o = op("matmul", {"a", "b"}, "Float16_b", "Float16_b", acc, attributes);
    const bool bias = o.attributes.find("bias") != std::string::npos;
    const std::int64_t z = o.attributes.find("z: 2") != std::string::npos ? 2 : 1,
                       k = o.attributes.find(": 3") != std::string::npos ? 3 : 2;
    o.rt = 2;
    o.fidelity = fidelity;
    Case c{o, {Shape{1, z, 64, 32 * k}, Shape{1, z, 32 * k, 32}}};
    if (bias) {
      c.op.inputs.emplace_back("bias");
      c.shapes.push_back(Shape{1, 1, 64, 32});
    }
    expect_equal_bits(c, 2);
  }
}

TEST_F(Kernels, ReductionsHaveGoldensBits) {
  for (const auto& [format, acc, attributes] : {std::array{"Float32", "Float32", "dim: c, type: max, m_k: 2, u_kt: 1"},
                                                std::array{"Float16_b", "Float16_b", "dim: r, type: max, m_k: 1, u_kt: 2"},
                                                std::array{"Float16", "Float16", "dim: z, type: max, z: 2"}}) {
    OpText o = op("reduce", {"a"}, format, format, acc, attributes);
    o.intermed_df = format;
    const std::string_view dim = std::string_view(attributes).substr(5, 1);
    expect_equal_bits({o, {dim == "c" ? Shape{1, 1, 32, 64} : dim == "r" ? Shape{1, 1, 64, 32} : Shape{1, 2, 32, 32}}});
  }
}

TEST_F(Kernels, MaximaHaveGoldensBits) {
  const OpText o = op("maximum", {"a", "b"}, "Float32", "Float16_b", "Float32");
  expect_equal_bits({o, {Shape{1, 1, 32, 32}, Shape{1, 1, 32, 32}}});
}

TEST_F(Kernels, FoldersKeepThem) {
  const std::string text = text_of({op("nop", {"a"}, "Float16_b", "Float16_b", "Float16_b"), {Shape{1, 1, 32, 32}}});
  auto set = build(text, compilers().front().name);
  ASSERT_TRUE(set.ok());
  CollectingSink sink;
  io::MemoryFileSystem files;
  Host host(files, sink);
  ASSERT_TRUE(kernels::write_kernels(*set, "kernels", host).ok());
  auto back = kernels::read_kernels("kernels", host);
  ASSERT_TRUE(back.ok()) << golden::test::first_error(back.failure());
  EXPECT_EQ(back->kernel_of_op, set->kernel_of_op);
  ASSERT_EQ(back->kernels.size(), 1u);
  EXPECT_EQ(back->kernels[0].executables[1].view(), set->kernels[0].executables[1].view());
}

TEST_F(Kernels, OpsWithoutAKernelAreNamed) {
  const std::string text = text_of({op("nop", {"a"}, "Float16_b", "Float16_b", "Float16_b", "srnd_fpu_en: true"), {Shape{1, 1, 32, 32}}});
  auto set = build(text, compilers().front().name);
  ASSERT_FALSE(set.ok());
  const Diagnostic& d = set.failure().diagnostics()[0];
  EXPECT_EQ(d.code, "KC001");
  EXPECT_EQ(d.node, "op");
  EXPECT_THAT(d.message, HasSubstr("stochastic rounding has no kernel"));
  EXPECT_GT(d.loc.line, 0u);
}

}  // namespace
}  // namespace buda::tensix::test
