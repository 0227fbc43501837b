// SPDX-License-Identifier: Apache-2.0
// Kernels of all families on cores: the bits of golden's mode=bits, whatever compiler made them.
#include "kernel_fixture.hpp"

#include <gmock/gmock.h>

namespace buda::tensix::test {
namespace {

using testing::HasSubstr;

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

// 400 tiles of Float32 have no room in L1.
TEST_F(Kernels, LongReductionsTakeTilesAsTheyCome) {
  for (const char* dim : {"c", "r"}) {
    OpText o = op("reduce", {"a"}, "Float32", "Float32", "Float32", cat("dim: ", dim, ", type: max, m_k: 50, u_kt: 8"));
    o.t = 2;
    expect_equal_bits({o, {*dim == 'c' ? Shape{1, 2, 32, 12800} : Shape{1, 2, 12800, 32}}});
  }
}

TEST_F(Kernels, MaximaHaveGoldensBits) {
  const OpText o = op("maximum", {"a", "b"}, "Float32", "Float16_b", "Float32");
  expect_equal_bits({o, {Shape{1, 1, 32, 32}, Shape{1, 1, 32, 32}}});
}

TEST_F(Kernels, IntegersHaveGoldensBits) {
  const auto integer = [](std::string type, std::vector<std::string> formats, std::string out, std::string attributes) {
    std::vector<std::string> names = {"a", "b", "c", "d"};
    names.resize(formats.size());
    OpText o = op(std::move(type), std::move(names), "", std::move(out), "Int32", std::move(attributes));
    o.in_dfs = std::move(formats);
    return o;
  };
  const Shape tile{1, 1, 32, 32};
  expect_equal_bits({integer("quantization", {"Float32", "Float32"}, "Int8", "zero_point: 2.5"), {tile, tile}});
  expect_equal_bits({integer("requantization", {"Int32", "Float32"}, "Int8", "zero_point: -3.0"), {tile, tile}});
  expect_equal_bits({integer("dequantization", {"Int8", "Float32"}, "Float32", "zero_point: 1.0"), {tile, tile}});
  expect_equal_bits({integer("multiply", {"Int8", "Int8"}, "Int32", ""), {tile, tile}});
  expect_equal_bits({integer("maximum", {"Int8", "Int32"}, "Int8", ""), {tile, tile}});
  expect_equal_bits({integer("nop", {"Int32"}, "Int8", "relu_en: true, relu_threshold: 0.0, relu_mode: min"), {tile}});
  expect_equal_bits({integer("matmul", {"Int8", "Int8", "Int32", "Float32"}, "Int8", "m_k: 2, u_kt: 1, bias: true, requant: true"),
                     {Shape{1, 1, 32, 64}, Shape{1, 1, 64, 32}, tile, tile}});
}

// Rows of 64 numbers, some of them equal.
TEST_F(Kernels, LargestNumbersHaveGoldensBits) {
  for (const auto& [k, sort, out] : {std::array{"32", "max", "Float16_b"}, std::array{"4", "argmax", "UInt16"}}) {
    OpText o = op("topk", {"a", "b"}, "", out, "Float16_b", cat("m_k: 1, u_kt: 2, k: ", k, ", sort: ", sort));
    o.in_dfs = {"Bfp4_b", "UInt16"};
    expect_equal_bits({o, {Shape{1, 1, 32, 64}, Shape{1, 1, 32, 64}}});
  }
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
