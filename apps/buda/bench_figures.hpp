// SPDX-License-Identifier: Apache-2.0
// What `buda bench` finds out, format buda.bench/1 (docs/formats/summary.md).
#pragma once

#include <buda/balance/emit/report_figures.hpp>
#include <buda/perf/summary_file.hpp>
#include <buda/schema/record.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace buda::driver {

// Of a run on a target with simulated time, as its summary.json has it.
struct SimulatedFigures {
  std::int64_t inputs = 0;
  double cycles = 0;  // of the whole run
  double inputs_per_second = 0;
  double latency_cycles = 0, latency_seconds = 0;
  std::string limited_by;  // of the epoch that takes longest
  friend bool operator==(const SimulatedFigures&, const SimulatedFigures&) = default;
};

struct BenchFigures {
  std::string target;
  std::int64_t rounds = 0;
  balance::ReportFigures compiled;
  std::optional<SimulatedFigures> simulated;  // none where no device of the run simulates time
  friend bool operator==(const BenchFigures&, const BenchFigures&) = default;
};

const schema::Record<SimulatedFigures>& describe(const SimulatedFigures*);
const schema::Record<BenchFigures>& describe(const BenchFigures*);

SimulatedFigures simulated_figures(const perf::SummaryFile& summary);

std::string bench_table(const BenchFigures& figures);

}  // namespace buda::driver
