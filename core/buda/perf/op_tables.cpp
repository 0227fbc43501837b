// SPDX-License-Identifier: Apache-2.0
// op_perf.csv, as the compiler of PyBuda writes it, and graph_perf_report.csv, as its performance analysis reads it.
#include <buda/perf/writers.hpp>

#include <buda/base/text.hpp>

#include <algorithm>

namespace buda::perf {
namespace {

constexpr std::size_t kInputs = 8;  // for which op_perf.csv has columns

// Bytes per cycle.
std::string rate(std::uint64_t bytes, double cycles) { return cycles <= 0 ? "0" : rounded(static_cast<double>(bytes) / cycles); }

std::int64_t out_tiles(const EpochSummary::Op& op) {
  return std::int64_t{op.t} * op.mblock_m * op.mblock_n * op.ublock_r * op.ublock_c * op.cores;
}

}  // namespace

// Estimates: what the kernel takes and gives in the time that the balancer reckons with.
std::string op_perf_csv(const Summary& summary) {
  std::string out = "name, type, epoch, grid, tiles, cycles, limiter_cycles";
  for (std::size_t i = 0; i < kInputs; ++i) out += cat(", estimated input bandwidth ", i);
  out += ", estimated output bandwidth 0\n";
  for (std::size_t e = 0; e < summary.epochs.size(); ++e)
    for (const auto& op : summary.epochs[e].ops) {
      out += cat(op.name, ", ", op.type, ", ", e, ", ", op.grid.rows, 'x', op.grid.cols, ", ", out_tiles(op), ", ", rounded(op.estimate, 0),
                 ", ", rounded(op.limiter, 0));
      for (std::size_t i = 0; i < kInputs; ++i) out += cat(", ", i < op.inputs.size() ? rate(op.inputs[i].bytes, op.limiter) : "0");
      out += cat(", ", rate(op.output.bytes, op.limiter), '\n');
    }
  return out;
}

std::string graph_perf_report_csv(const Summary&, const EpochSummary& epoch, std::size_t number, const std::string& program) {
  std::size_t inputs = 1;
  for (const auto& op : epoch.ops) inputs = std::max(inputs, op.inputs.size());
  std::vector<std::string> fields = {"global_epoch_ids",
                                     "program_names",
                                     "graph_name",
                                     "op_name",
                                     "first_to_last_input",
                                     "grid_size",
                                     "kernel_total_runtime",
                                     "kernel_runtime_per_input",
                                     "kernel_math_utilization",
                                     "bw_bound_total_runtime",
                                     "bw_bound_runtime_per_input",
                                     "bw_bound_math_utilization"};
  for (std::size_t i = 0; i < inputs; ++i) {
    fields.push_back(cat("input_pipe_bw_", i));
    fields.push_back(cat("required_input_bw_", i));
  }
  fields.insert(fields.end(), {"output_pipe_bw_0", "required_output_pipe_bw_0"});
  std::string out = csv_line(fields);
  for (const auto& op : epoch.ops) {
    const double kernel = op.kernel.cycles(), bound = bound_cycles(epoch, op), count = static_cast<double>(epoch.inputs);
    fields = {cat(number),
              program,
              epoch.graph,
              op.name,
              cat("0->", epoch.inputs - 1),
              cat('[', op.grid.cols, ',', op.grid.rows, ']'),
              rounded(kernel * count, 0),
              rounded(kernel, 0),
              rounded(math_percent(op, kernel)),
              rounded(bound * count, 0),
              rounded(bound, 0),
              rounded(math_percent(op, bound))};
    auto add = [&](const Bandwidth& bandwidth) {
      fields.push_back(rounded(bandwidth.measured));
      fields.push_back(rounded(bandwidth.required));
    };
    for (std::size_t i = 0; i < inputs; ++i) add(i < op.inputs.size() ? bandwidth_of(epoch, op, op.inputs[i]) : Bandwidth());
    add(bandwidth_of(epoch, op, op.output));
    out += csv_line(fields);
  }
  return out;
}

}  // namespace buda::perf
