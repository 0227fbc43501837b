// SPDX-License-Identifier: Apache-2.0
// How much processor time kernels take on simulated cores, per tile of work; with --library FILE also on Tenstorrent's simulator, with the
// same programs and tiles: paired, in turn, the best of five, and every output compared.
//
//   bench_tensix [--library libttsim.so] [--case PART-OF-A-NAME] [--portable]
//
// --portable: without the processor's vector instructions.
#include <buda/base/rng.hpp>
#include <buda/base/text.hpp>
#include <buda/io/file_system.hpp>
#include <buda/kernels/compile/target_kernels.hpp>
#include <buda/netlist/text/parse.hpp>
#include <buda/numerics/kernels.hpp>
#include <buda/tensor/formats/quantize.hpp>
#include <tensix/simulated_core.hpp>
#include <ttsim/run_op.hpp>

#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

namespace {

using namespace buda;

struct Case {
  std::string name, op, format, acc, fidelity, attributes;
  int inputs = 2, rows = 8, cols = 8, inner = 0;  // tiles
  double units() const { return static_cast<double>(rows) * cols * std::max(inner, 1); }
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"product, LoFi", "matmul", "Float16_b", "Float16_b", "LoFi", "m_k: 1, u_kt: 8", 2, 8, 8, 8},
      {"product, HiFi2", "matmul", "Float16_b", "Float16_b", "HiFi2", "m_k: 1, u_kt: 8", 2, 8, 8, 8},
      {"product, HiFi4", "matmul", "Float16_b", "Float16_b", "HiFi4", "m_k: 1, u_kt: 8", 2, 8, 8, 8},
      {"product, HiFi2, Float32 sums", "matmul", "Float16_b", "Float32", "HiFi2", "m_k: 1, u_kt: 8", 2, 8, 8, 8},
      {"product, HiFi2, Bfp8_b", "matmul", "Bfp8_b", "Float16_b", "HiFi2", "m_k: 1, u_kt: 8", 2, 8, 8, 8},
      {"copy", "nop", "Float16_b", "Float16_b", "HiFi4", "", 1, 16, 16, 0},
      {"sum", "add", "Float16_b", "Float16_b", "HiFi4", "", 2, 16, 16, 0},
      {"elementwise product, HiFi4", "multiply", "Float16_b", "Float16_b", "HiFi4", "", 2, 16, 16, 0},
      {"square (160 words)", "square", "Float16_b", "Float16_b", "HiFi4", "", 1, 16, 16, 0},
      {"exponential", "exp", "Float16_b", "Float16_b", "HiFi4", "", 1, 16, 16, 0},
  };
  return all;
}

std::string netlist_of(const Case& c) {
  const auto queue = [](const std::string& name, const std::string& input, int rows, int cols, const std::string& format) {
    return cat("  ", name, ": {type: queue, input: ", input, ", entries: 1, grid_size: [1, 1], t: 1, mblock: [", rows, ", ", cols,
               "], ublock: [1, 1], ublock_order: r, df: ", format, ", target_device: 0, loc: dram, dram: [[0, 0x10000000]]}\n");
  };
  const bool product = c.inner > 0, two = c.inputs == 2;
  return cat("devices: {arch: wormhole_b0}\nqueues:\n", queue("a", "HOST", c.rows, product ? c.inner : c.cols, c.format),
             two ? queue("b", "HOST", product ? c.inner : c.rows, c.cols, c.format) : std::string(),
             queue("out", "op", c.rows, c.cols, c.format), "graphs:\n  g:\n    target_device: 0\n    input_count: 1\n    op: {type: ", c.op,
             ", grid_loc: [0, 0], grid_size: [1, 1], inputs: [a", two ? ", b" : "", "], t: 1, mblock: [", c.rows / 2, ", ", c.cols / 2,
             "], ublock: [2, 2], ublock_order: r, buf_size_mb: 2, in_df: [", c.format, two ? cat(", ", c.format) : std::string(),
             "], out_df: ", c.format, ", intermed_df: ", c.acc, ", acc_df: ", c.acc, ", math_fidelity: ", c.fidelity,
             c.attributes.empty() ? std::string() : cat(", attributes: {", c.attributes, "}"),
             "}\nprograms:\n  - main:\n    - execute: {graph_name: g}\n");
}

arith::ValuePtr random_value(netlist::TileShape shape, DataFormat format, std::uint64_t seed) {
  auto value = std::make_shared<arith::Value>(shape, TileDim{}, format);
  Rng rng(seed);
  for (float& x : value->floats) x = static_cast<float>(std::round(rng.uniform(-2, 2) * 64) / 64);
  quantize_to_format(std::span<float>(value->floats), value->rows(), value->cols(), format);
  return value;
}

// Of processor time, in this process and in those that it has waited for: other work on the machine is not counted.
double processor_seconds() {
  double sum = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage = {};
    getrusage(who, &usage);
    for (const timeval& t : {usage.ru_utime, usage.ru_stime}) sum += static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  }
  return sum;
}

double seconds(const std::function<void()>& work) {
  const double begin = processor_seconds();
  work();
  return processor_seconds() - begin;
}

std::string failure_text(const Failure& failure) { return failure.diagnostics().front().message; }

// What went wrong; empty otherwise.
std::string run(const Case& c, const std::string& library, double& log_ratio) {
  auto files = io::make_real_file_system();
  CollectingSink sink;
  Host host(*files, sink);
  host.share_dir = BUDA_SHARE_DIR;
  auto netlist = netlist::parse_netlist(netlist_of(c), "bench.yaml");
  if (!netlist) return failure_text(netlist.failure());
  auto kernels = kernels::kernels_for(*netlist, {}, {}, host);
  if (!kernels) return failure_text(kernels.failure());
  const netlist::Op& op = netlist->graphs[0].ops[0];
  const DataFormat format = op.inputs[0].format;
  const bool product = c.inner > 0;
  std::vector<arith::ValuePtr> inputs = {random_value({1, c.rows, product ? c.inner : c.cols}, format, 1)};
  if (c.inputs == 2) inputs.push_back(random_value({1, product ? c.inner : c.rows, c.cols}, format, 2));
  const arith::OpCall call{op, inputs, arith::Mode::bits, 1, nullptr, nullptr};
  device::L1Map l1;
  l1.size = 1499136;
  l1.operands_begin = 0x33000;
  tensix::Counts counts;
  arith::Outcome ours, golden, theirs;
  double fastest = 1e9, bits = 1e9, vendor = 1e9;
  for (int i = 0; i < 5; ++i) {
    // Once unmeasured: the simulator's process had copies of all pages, for which this one pays when it writes to them.
    tensix::run_op(*kernels, l1, call, counts);
    fastest = std::min(fastest, seconds([&] { ours = tensix::run_op(*kernels, l1, call, counts); }));
    bits = std::min(bits, seconds([&] { golden = arith::op_kind(op.type).run(call); }));
    if (!library.empty()) vendor = std::min(vendor, seconds([&] { theirs = ttsim::run_op(library, *kernels, l1, call); }));
  }
  for (const auto* outcome : {&ours, &golden, &theirs})
    if (const auto* why = std::get_if<std::string>(outcome)) return *why;
  const auto& made = std::get<arith::Value>(ours).floats;
  if (made != std::get<arith::Value>(golden).floats) return "golden has other bits";
  std::cout << c.name << ": " << fastest / c.units() * 1e6 << " us on tensix, " << bits / c.units() * 1e6 << " us by golden's bits";
  if (!library.empty()) {
    if (made != std::get<arith::Value>(theirs).floats) return "ttsim has other bits";
    std::cout << ", " << vendor / c.units() * 1e6 << " us on ttsim: " << vendor / fastest << " times";
    log_ratio += std::log(vendor / fastest);
  }
  std::cout << std::endl;
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  std::string library, part;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i], value = i + 1 < argc ? argv[i + 1] : "";
    if (option == "--portable") {
      numerics::use_at_most(numerics::InstructionSet::portable);
    } else if (option == "--avx2") {
      numerics::use_at_most(numerics::InstructionSet::avx2);
    } else if ((option == "--library" || option == "--case") && !value.empty()) {
      (option == "--library" ? library : part) = value;
      ++i;
    } else {
      std::cerr << "bench_tensix [--library libttsim.so] [--case PART-OF-A-NAME] [--avx2 | --portable]\n";
      return 1;
    }
  }
  double log_ratio = 0;
  int count = 0;
  for (const Case& c : cases()) {
    if (c.name.find(part) == std::string::npos) continue;
    ++count;
    if (const std::string why = run(c, library, log_ratio); !why.empty()) {
      std::cerr << c.name << ": " << why << '\n';
      return 1;
    }
  }
  if (!library.empty() && count > 0) std::cout << "geometric mean: " << std::exp(log_ratio / count) << " times\n";
}
