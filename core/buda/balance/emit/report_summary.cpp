// SPDX-License-Identifier: Apache-2.0
// Facts of a placement report in sentences.
#include <buda/balance/emit/report_summary.hpp>

#include <buda/balance/cost/epoch_loads.hpp>
#include <buda/base/text.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

namespace buda::balance {
namespace {

std::string count_text(std::int64_t count, std::string_view what) { return cat(count, ' ', what, count == 1 ? "" : "s"); }

std::string gap_text(double gap) { return gap > 0 ? cat("the estimate is ", gap, " % above it") : "the estimate reaches it"; }

// "430 cycles for plans of this order of ops (the estimate is 31.4 % above it), 350 for any plan, because of the cores (…)"
std::string bounds_text(const ReportTotals& t) {
  std::string out;
  if (t.schedule_bound && t.schedule_bound->cycles != t.universal_bound->cycles)
    out = cat(t.schedule_bound->cycles, " cycles for plans with this order of ops (", gap_text(t.schedule_bound->gap), "), ");
  const ReportBound& any = *t.universal_bound;
  return cat(out, any.cycles, out.empty() ? " cycles" : "", " for any plan, because of the ", any.limiter, " (", gap_text(any.gap), ')');
}

// "chips: 1 is busy 410 cycles with 3 epochs, 0 is busy 390 cycles with 4 epochs"
std::string chips_text(const ReportTotals& t) {
  std::vector<std::string> out;
  for (const ReportChip& c : t.chips) out.push_back(cat(c.chip, " is busy ", c.cycles, " cycles with ", count_text(c.epochs, "epoch")));
  return cat("chips: ", join(out, ", "));
}

// "forward 30 ops in 1 epoch, 30903 cycles; optimizer 12 ops in 2 epochs, 21011 cycles"
std::string phases_text_of(const ReportTotals& t) {
  std::vector<std::string> out;
  for (const ReportPhase& p : t.phases)
    out.push_back(cat(p.phase, ' ', count_text(p.ops, "op"), " in ", count_text(p.epochs, "epoch"), ", ", p.cycles, " cycles"));
  return cat("phases: ", join(out, "; "));
}

std::string step_memory_text(const ReportStepMemory& memory) {
  return cat("of the step: ", bytes_text(memory.states), " of states, ", bytes_text(memory.gradients), " of sums of gradients, ",
             bytes_text(memory.saved), " that a phase leaves for a later one");
}

std::string given_text(const ReportGiven& given) {
  return cat("given plan: ", given.cycles, " cycles in ", count_text(given.epochs, "epoch"), ", ", given.speedup,
             " times those of the new plan; its longest epoch is limited by ", given.limiter);
}

// What the cycles of the epochs of the busiest chip are made of.
struct CyclesParts {
  std::int64_t changes = 0;  // of epochs
  std::int64_t first = 0;    // of the first input, through the ops of each epoch one after the other
  std::int64_t others = 0;   // of all further inputs
};

CyclesParts parts_of(const PlacementReport& report) {
  CyclesParts out;
  const auto& chips = report.totals.chips;
  const auto busiest = std::max_element(chips.begin(), chips.end(), [](const auto& a, const auto& b) { return a.cycles < b.cycles; });
  for (const ReportEpoch& e : report.epochs) {
    if (busiest != chips.end() && e.chip != busiest->chip) continue;
    const std::int64_t others = (inputs_of(report, e) - 1) * e.interval;
    out.changes += e.change;
    out.others += others;
    out.first += e.cycles - e.change - others;
  }
  return out;
}

// Without an exponent: 1e6 is 1000000.
std::string rate_text(double rate) { return rate >= 1000 ? cat(std::llround(rate)) : cat(rate); }

// "an input", "a batch of 64 inputs", "a microbatch of 16 batches of 64 inputs": rows of the model's batch are inputs.
std::string iteration_text(const PlacementReport& report) {
  const std::int64_t batches = std::max<std::int64_t>(report.microbatch, 1), batch = report.batch / batches;
  const std::string one = batch > 1 ? cat(batch, " inputs") : "input";
  if (batches > 1) return cat("a microbatch of ", batches, batch > 1 ? cat(" batches of ", one) : cat(' ', one, 's'));
  return batch > 1 ? cat("a batch of ", one) : "an input";
}

// What epochs of many batches would give; nothing where they have many, cannot have more, or gain little.
std::vector<std::string> larger_microbatch_text(const PlacementReport& report) {
  constexpr std::int64_t kOfThroughput = 64;
  constexpr double kWorthwhile = 1.5;
  const CyclesParts parts = parts_of(report);
  std::int64_t intervals = 0, hidden = 0;
  for (const ReportEpoch& e : report.epochs) {
    intervals += e.inputs > 0 ? 0 : e.interval;
    hidden += e.hidden;
  }
  const std::int64_t batches = std::min(kOfThroughput, report.max_batches);
  if (report.microbatch > 1 || batches <= 1 || !report.totals.chips.empty()) return {};
  const auto all = static_cast<double>(parts.changes + hidden + parts.first + (batches - 1) * intervals);
  const double times = static_cast<double>(batches) * static_cast<double>(report.totals.cycles) / std::max(all, 1.0);
  if (times < kWorthwhile) return {};
  return {cat("throughput: --microbatch ", batches, " gives about ", rate_text(three_digits(times * report.totals.inputs_per_second)),
              " inputs/s; so far each epoch takes one batch at a time, for the least latency")};
}

// What inputs cannot follow each other faster for.
std::string interval_text(const PlacementReport& report) {
  const ReportTotals& t = report.totals;
  std::int64_t cycles = 0;
  for (const ReportEpoch& e : report.epochs)
    for (const ReportOp& op : e.ops) {
      if (op.name != t.bottleneck_op) continue;
      if (t.limiter == kBetweenOps) return cat("the ", t.limiter, " in epoch ", e.graph, " (", e.interval, " cycles)");
      for (const ReportPath& p : e.paths)
        if (p.busiest == t.limiter) return cat(t.limiter, " in epoch ", e.graph, " (", p.cycles, " cycles)");
      cycles = op.cycles.limiter;
    }
  return cat(t.limiter.starts_with("input") ? "" : "the ", t.limiter, " of op '", t.bottleneck_op, "' (", cycles, " cycles)");
}

}  // namespace

std::string limiter_text(const PlacementReport& report) {
  const CyclesParts parts = parts_of(report);
  if (parts.others >= std::max(parts.changes, parts.first)) return interval_text(report);
  if (parts.changes >= parts.first) return cat("the changes of epochs (", parts.changes, " cycles)");
  return cat("the time of the first input, which passes the ops one after the other (", parts.first, " cycles)");
}

std::optional<std::int64_t> latency_cycles(const PlacementReport& report) {
  if (report.epochs.empty() || !report.totals.chips.empty()) return std::nullopt;
  return report.totals.cycles - (inputs_of(report, report.epochs.back()) - 1) * report.epochs.back().interval;
}

// By way of the digits: a multiple of 0.1 as a product would show more of them.
double three_digits(double rate) {
  if (!std::isfinite(rate)) return 0;
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), rate, std::chars_format::scientific, 2).ptr;
  double out = 0;
  std::from_chars(digits.data(), end, out);
  return out;
}

std::vector<std::string> report_summary(const PlacementReport& report) {
  const ReportTotals& t = report.totals;
  if (t.ops == 0) return {cat(report.model, " on ", report.device, ": no op on the chip, the host executes the whole model")};
  std::uint64_t used = 0, capacity = 0;
  for (const ReportChannel& c : t.dram) {
    used += c.used;
    capacity += c.capacity;
  }
  std::vector<std::string> out{cat(report.model, " on ", report.device, ": ", count_text(t.ops, "op"), " in ",
                                   count_text(t.epochs, "epoch"), ", at most ", t.most_cores, " of ", t.chip_cores, " cores in use"),
                               cat("estimate: ", rate_text(t.inputs_per_second), " inputs/s (", t.cycles, " cycles for ",
                                   iteration_text(report), "), limited by ", limiter_text(report))};
  for (std::string& line : larger_microbatch_text(report)) out.push_back(std::move(line));
  if (!t.chips.empty()) out.push_back(chips_text(t));
  if (t.idle_chips > 0)
    out.push_back(
        cat(count_text(t.idle_chips, "chip"), " of the device ", t.idle_chips == 1 ? "is" : "are", " idle: --num-chips 0 uses all"));
  if (!t.phases.empty()) out.push_back(phases_text_of(t));
  if (report.given) out.insert(out.begin(), given_text(*report.given));
  if (t.universal_bound) out.push_back(cat("lower bound: ", bounds_text(t)));
  out.push_back(
      cat(bytes_text(t.parameter_bytes), " of parameters; queues use ", bytes_text(used), " of ", bytes_text(capacity), " of DRAM"));
  if (t.step_memory) out.push_back(step_memory_text(*t.step_memory));
  return out;
}

}  // namespace buda::balance
