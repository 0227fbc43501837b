// SPDX-License-Identifier: Apache-2.0
// A netlist, its kernel and a core for each measurement.
#include "kernel_times.hpp"

#include "through_sim.hpp"

#include <buda/base/text.hpp>
#include <buda/kernels/compile/target_kernels.hpp>
#include <tensix/kernel_cycles.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

namespace buda::silicon {
namespace {

Result<double> cycles_of(Host& host, const device::DeviceDescriptor& device, const Measurement& m) {
  BUDA_ASSIGN(const netlist::Netlist netlist, netlist_of(m, device));
  BUDA_ASSIGN(const auto kernels, kernels::kernels_for(netlist, {}, {}, host));
  BUDA_ASSIGN(const auto cycles, tensix::KernelCycles::make(netlist, kernels, device.l1));
  if (const auto known = cycles->of(netlist.graphs[0].ops[0])) return *known;
  return input_error("SI020", {}, "its kernel did not run");
}

// Equal numbers share the mean of their ranks.
std::vector<double> ranks(const std::vector<double>& numbers) {
  std::vector<std::size_t> order(numbers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return numbers[a] < numbers[b]; });
  std::vector<double> out(numbers.size());
  for (std::size_t i = 0; i < order.size();) {
    std::size_t end = i;
    while (end < order.size() && numbers[order[end]] == numbers[order[i]]) ++end;
    for (std::size_t k = i; k < end; ++k) out[order[k]] = static_cast<double>(i + end - 1) / 2;
    i = end;
  }
  return out;
}

double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const double n = static_cast<double>(a.size());
  const double mean_a = std::accumulate(a.begin(), a.end(), 0.0) / n, mean_b = std::accumulate(b.begin(), b.end(), 0.0) / n;
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - mean_a) * (b[i] - mean_b);
    aa += (a[i] - mean_a) * (a[i] - mean_a);
    bb += (b[i] - mean_b) * (b[i] - mean_b);
  }
  return aa == 0 || bb == 0 ? 0 : ab / std::sqrt(aa * bb);
}

constexpr const char* kLookedUp = "functions that the measured kernels look up";

std::string family_of(const netlist::Op& op) {
  using netlist::OpType;
  switch (op.type) {
    case OpType::matmul:
      return "products";
    case OpType::reduce:
      return "reductions";
    case OpType::nop:
    case OpType::datacopy:
    case OpType::add:
    case OpType::subtract:
    case OpType::multiply:
    case OpType::maximum:
      return "copies, sums, elementwise products and maxima";
    // The measured kernels read them from tables of three straight lines; those of this project compute them to the last bits.
    case OpType::gelu:
    case OpType::gelu_derivative:
    case OpType::sigmoid:
    case OpType::tanh:
      return kLookedUp;
    default:
      return "other ops";
  }
}

double rank_correlation_of(const std::vector<KernelTimes::Pair>& pairs) {
  std::vector<double> measured, ours;
  for (const auto& p : pairs) {
    measured.push_back(p.measured->cycles);
    ours.push_back(p.cycles);
  }
  return correlation(ranks(measured), ranks(ours));
}

}  // namespace

bool KernelTimes::reached(double goal) const {
  std::map<std::string, std::vector<Pair>> families;
  for (const Pair& p : pairs) families[family_of(p.measured->op)].push_back(p);
  families.erase(kLookedUp);
  return std::all_of(families.begin(), families.end(), [&](const auto& f) { return rank_correlation_of(f.second) >= goal; });
}

KernelTimes kernel_times(Host& host, const device::DeviceDescriptor& device, const std::vector<Measurement>& measurements,
                         std::size_t every) {
  KernelTimes out;
  for (std::size_t i = 0; i < measurements.size(); i += every) {
    const Measurement& m = measurements[i];
    if (m.arch != device.arch) continue;
    auto cycles = cycles_of(host, device, m);
    if (cycles) {
      out.pairs.push_back({&m, *cycles});
    } else {
      ++out.left_out[cat(m.file, ": ", cycles.failure().diagnostics().front().message)];
    }
  }
  return out;
}

std::string kernel_time_table(const KernelTimes& times) {
  std::map<std::string, std::vector<KernelTimes::Pair>> files, families;
  for (const auto& p : times.pairs) {
    files[p.measured->file].push_back(p);
    families[family_of(p.measured->op)].push_back(p);
  }
  std::string text = "| ops | measurements | correlation of ranks | cycles of kernels / of silicon, geometric mean |\n|---|--:|--:|--:|\n";
  const auto row = [&](const std::string& name, const std::vector<KernelTimes::Pair>& pairs) {
    double log_ratio = 0;
    for (const auto& p : pairs) log_ratio += std::log(p.cycles / p.measured->cycles);
    char figures[96];
    std::snprintf(figures, sizeof figures, " | %zu | %.3f | %.2f |\n", pairs.size(), rank_correlation_of(pairs),
                  std::exp(log_ratio / static_cast<double>(pairs.size())));
    text += cat("| ", name, figures);
  };
  for (const auto& [family, pairs] : families) row(family, pairs);
  for (const auto& [file, pairs] : files) row(file, pairs);
  if (!times.pairs.empty()) row("all", times.pairs);
  return text;
}

}  // namespace buda::silicon
