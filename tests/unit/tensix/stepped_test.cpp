// SPDX-License-Identifier: Apache-2.0
// The time of kernels on a core, by events and cycle by cycle.
#include "compilers.hpp"
#include "stepped_core.hpp"

#include <buda/base/text.hpp>
#include <buda/io/file_system.hpp>
#include <buda/kernels/text/kernel_set.hpp>
#include <buda/netlist/text/parse.hpp>
#include <tensix/debug/observer.hpp>
#include <tensix/simulated_core.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <variant>

namespace buda::tensix::test {
namespace {

struct StepCase {
  std::string name, op, format, acc, fidelity, attributes;
  int inputs = 1, rows = 2, cols = 4, inner = 0;  // tiles
};

std::string netlist_of(const StepCase& c) {
  const auto queue = [&](const std::string& name, const std::string& input, int rows, int cols) {
    return cat("  ", name, ": {type: queue, input: ", input, ", entries: 1, grid_size: [1, 1], t: 1, mblock: [", rows, ", ", cols,
               "], ublock: [1, 1], ublock_order: r, df: ", c.format, ", target_device: 0, loc: dram, dram: [[0, 0x10000000]]}\n");
  };
  const bool product = c.inner > 0, two = c.inputs == 2;
  return cat("devices: {arch: wormhole_b0}\nqueues:\n", queue("a", "HOST", c.rows, product ? c.inner : c.cols),
             two ? queue("b", "HOST", product ? c.inner : c.rows, c.cols) : std::string(), queue("out", "op", c.rows, c.cols),
             "graphs:\n  g:\n    target_device: 0\n    input_count: 1\n    op: {type: ", c.op,
             ", grid_loc: [0, 0], grid_size: [1, 1], inputs: [a", two ? ", b" : "", "], t: 1, mblock: [", c.rows / 2, ", ", c.cols / 2,
             "], ublock: [2, 2], ublock_order: r, buf_size_mb: 2, in_df: [", c.format, two ? cat(", ", c.format) : std::string(),
             "], out_df: ", c.format, ", intermed_df: ", c.acc, ", acc_df: ", c.acc, ", math_fidelity: ", c.fidelity,
             c.attributes.empty() ? std::string() : cat(", attributes: {", c.attributes, "}"),
             "}\nprograms:\n  - main:\n    - execute: {graph_name: g}\n");
}

template <class Core>
std::uint64_t cycles_on(Core& core, const kernels::KernelSet& set, const device::L1Map& l1, const arith::OpCall& call) {
  kernels::ZoneMarks marks;
  const auto why = kernels::run_part(set, l1, call, {0, 0}, core, marks);
  EXPECT_FALSE(why) << *why;
  return core.cycles();
}

// Calls `run` with the kernels of a case, L1, and the op's inputs.
template <class Run>
void with_kernels(const StepCase& c, const std::string& compiler, Run run) {
  auto files = io::make_real_file_system();
  CollectingSink sink;
  Host host(*files, sink);
  host.share_dir = cat(std::getenv("BUDA_SOURCE_DIR"), "/share");
  const auto netlist = netlist::parse_netlist(netlist_of(c), "test.yaml");
  ASSERT_TRUE(netlist.ok());
  kernels::BuildOptions options;
  options.compiler = compiler == "gcc" ? kernels::Compiler::gcc : kernels::Compiler::clang;
  const auto set = kernels::build_kernels(*netlist, options, host);
  ASSERT_TRUE(set.ok()) << set.failure().diagnostics().front().message;
  const netlist::Op& op = netlist->graphs[0].ops[0];
  const bool product = c.inner > 0;
  std::vector<arith::ValuePtr> inputs = {
      std::make_shared<arith::Value>(netlist::TileShape{1, c.rows, product ? c.inner : c.cols}, TileDim{}, op.inputs[0].format)};
  if (c.inputs == 2)
    inputs.push_back(
        std::make_shared<arith::Value>(netlist::TileShape{1, product ? c.inner : c.rows, c.cols}, TileDim{}, op.inputs[0].format));
  device::L1Map l1;
  l1.size = 1499136;
  l1.operands_begin = 0x33000;
  run(*set, l1, arith::OpCall{op, inputs, arith::Mode::bits, 1, nullptr, nullptr});
}

void expect_equal_time(const StepCase& c, const std::string& compiler) {
  with_kernels(c, compiler, [&](const kernels::KernelSet& set, const device::L1Map& l1, const arith::OpCall& call) {
    SimulatedCore by_events(static_cast<std::size_t>(l1.size));
    SteppedCore stepped(static_cast<std::size_t>(l1.size));
    const auto events = static_cast<double>(cycles_on(by_events, set, l1, call)),
               steps = static_cast<double>(cycles_on(stepped, set, l1, call));
    EXPECT_NEAR(events / steps, 1, 0.01) << compiler << ", " << c.name << ": " << events << " by events, " << steps << " cycle by cycle";
  });
}

// Looks on and does nothing: each instruction is executed alone.
class Bystander final : public Observer {
 public:
  std::optional<std::string> before(std::size_t, std::uint32_t) override { return std::nullopt; }
  std::optional<std::string> after(std::size_t, const ProcessorStep&) override { return std::nullopt; }
  std::optional<std::string> after(std::size_t, const CoprocessorStep&) override { return std::nullopt; }
};

// Runs of words are pushed and executed together where nobody looks on, and a processor may then be a little ahead of others, which
// changes the time by a cycle or two.
TEST(WatchedTime, IsTheSameAsUnwatched) {
  if (compilers().empty()) GTEST_SKIP() << "no compiler for RISC-V";
  const StepCase cases[] = {
      {"copy", "nop", "Float16_b", "Float16_b", "HiFi4", "", 1, 4, 4},
      {"square", "square", "Float16_b", "Float16_b", "HiFi4", "", 1, 4, 4},
      {"exponential", "exp", "Float16_b", "Float16_b", "HiFi4", "", 1, 4, 4},
      {"exponential, Float32", "exp", "Float16_b", "Float32", "HiFi4", "", 1, 2, 4},
      {"gelu", "gelu", "Float16_b", "Float16_b", "HiFi4", "", 1, 2, 4},
      {"product, HiFi2", "matmul", "Float16_b", "Float16_b", "HiFi2", "m_k: 1, u_kt: 4", 2, 4, 4, 4},
  };
  for (const StepCase& c : cases)
    with_kernels(c, compilers().front().name, [&](const kernels::KernelSet& set, const device::L1Map& l1, const arith::OpCall& call) {
      SimulatedCore alone(static_cast<std::size_t>(l1.size)), watched(static_cast<std::size_t>(l1.size));
      Bystander bystander;
      watched.core().observer = &bystander;
      EXPECT_NEAR(static_cast<double>(cycles_on(alone, set, l1, call)), static_cast<double>(cycles_on(watched, set, l1, call)), 2)
          << c.name;
      EXPECT_EQ(alone.counts().coprocessor, watched.counts().coprocessor) << c.name;
    });
}

TEST(SteppedTime, AgreesWithTheTimeByEvents) {
  if (compilers().empty()) GTEST_SKIP() << "no compiler for RISC-V";
  const StepCase cases[] = {
      {"copy", "nop", "Float16_b", "Float16_b", "HiFi4", "", 1, 8, 8},
      {"copy of Bfp8_b", "nop", "Bfp8_b", "Float16_b", "HiFi4", "", 1, 4, 8},
      {"copy through 32 bits", "nop", "Float16_b", "Float32", "HiFi4", "", 1, 4, 4},
      {"sum", "add", "Float16_b", "Float16_b", "HiFi4", "", 2, 8, 8},
      {"elementwise product", "multiply", "Float16_b", "Float16_b", "HiFi4", "", 2, 4, 8},
      {"product, LoFi", "matmul", "Float16_b", "Float16_b", "LoFi", "m_k: 1, u_kt: 4", 2, 4, 4, 4},
      {"product, HiFi4", "matmul", "Bfp8_b", "Float16_b", "HiFi4", "m_k: 1, u_kt: 8", 2, 4, 4, 8},
      {"product in two blocks", "matmul", "Float16_b", "Float16_b", "HiFi2", "m_k: 2, u_kt: 2", 2, 4, 4, 4},
  };
  for (const InstalledCompiler& compiler : compilers())
    for (const StepCase& c : cases) expect_equal_time(c, compiler.name);
}

}  // namespace
}  // namespace buda::tensix::test
