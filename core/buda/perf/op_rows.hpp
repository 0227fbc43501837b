// SPDX-License-Identifier: Apache-2.0
// The ops of an execution over its time: when each worked on which input, from the first of its cores to the last.
#pragma once

#include <buda/perf/executions.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace buda::perf {

struct Bar {
  std::int64_t first = 0, last = 0;  // inputs
  SimTime begin, end;
  double work = 0;  // ticks, of all cores
  std::int64_t cores = 0;
};

struct OpRow {
  std::string name;
  std::int64_t cores = 0;
  std::map<std::int64_t, Bar> bars;  // by input
};

// In the order in which ops begin. The names are copies; the execution need not outlive them.
std::vector<OpRow> rows_of(const Execution& execution);

// Neighbours that together are narrower than two pixels are one bar.
std::vector<Bar> drawn_bars(const OpRow& row, double ticks_per_pixel);

// The part of a bar's time in which the kernels of the op's cores worked.
double work_share(const Bar& bar);

}  // namespace buda::perf
