// SPDX-License-Identifier: Apache-2.0
// Netlists of one op, compiled and executed on cores.
#pragma once

#include "compilers.hpp"

#include "unit/golden/netlist_text.hpp"

#include <buda/kernels/text/kernel_set.hpp>
#include <tensix/simulated_core.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace buda::tensix::test {
using golden::test::at_start;
using golden::test::netlist_text;
using golden::test::once;
using golden::test::OpText;

// With infinities' neighbours, zeros of both signs, denormals and halves of units.
inline Tensor wild_tensor(Shape shape, std::uint64_t seed) {
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

inline std::string text_of(const Case& c) {
  std::string queues, settings;
  for (std::size_t i = 0; i < c.op.inputs.size(); ++i) {
    const Shape& s = c.shapes[i];
    queues += golden::test::queue(c.op.inputs[i], "HOST", static_cast<int>(s[1]), static_cast<int>(s[2] / 32), static_cast<int>(s[3] / 32),
                                  c.op.in_dfs.empty() ? c.op.in_df : c.op.in_dfs[i]);
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
  Result<kernels::KernelSet> build(const std::string& text, const std::string& compiler, std::vector<std::string> packages = {}) {
    CollectingSink sink;
    Host host(*files_, sink);
    host.threads = 3;
    host.share_dir = cat(std::getenv("BUDA_SOURCE_DIR"), "/share");
    BUDA_ASSIGN(const auto netlist, netlist::parse_netlist(text, "test.yaml"));
    kernels::BuildOptions options;
    options.compiler = compiler == "gcc" ? kernels::Compiler::gcc : kernels::Compiler::clang;
    options.packages = std::move(packages);
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

inline OpText op(std::string type, std::vector<std::string> inputs, std::string in, std::string out, std::string acc,
                 std::string attributes = {}) {
  OpText o{"op", std::move(type), std::move(inputs)};
  o.in_df = std::move(in);
  o.out_df = std::move(out);
  o.acc_df = std::move(acc);
  o.intermed_df = o.acc_df;
  o.attributes = std::move(attributes);
  return o;
}

}  // namespace buda::tensix::test
