// SPDX-License-Identifier: Apache-2.0
// What reports tell of an op in an epoch, in cycles and bytes of one of its cores for one input.
#pragma once

#include <buda/perf/summary.hpp>

namespace buda::perf {

// Part of these cycles, in per cent, that the math unit works.
double math_percent(const EpochSummary::Op& op, double cycles_per_input);

// Cycles for one input in which the kernel waits for tiles of the pipe that are on their way, in a full pipeline.
double delay_of(const EpochSummary& epoch, const EpochSummary::Pipe& pipe);

// Cycles of an op when all other ops wait for nothing: its kernel, and what its tiles need on their way. At most the epoch's period, but
// for a kernel that takes longer.
double bound_cycles(const EpochSummary& epoch, const EpochSummary::Op& op);

// Bytes per cycle: with which the kernel would not wait, and that there are.
struct Bandwidth {
  double required = 0, measured = 0;
};
// Of an input of the op, or of its output.
Bandwidth bandwidth_of(const EpochSummary& epoch, const EpochSummary::Op& op, const EpochSummary::Pipe& pipe);

}  // namespace buda::perf
