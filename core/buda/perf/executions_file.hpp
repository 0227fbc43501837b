// SPDX-License-Identifier: Apache-2.0
// executions.json, format buda.executions/1: when each epoch ran, and each op in it (docs/formats/perf.md).
#pragma once

#include <buda/perf/executions.hpp>
#include <buda/perf/summary_file.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace buda::perf {

// Inputs `first` to `last` of an op, from the first step of a core to the last of any.
struct ExecutedBar {
  std::int64_t first = 0, last = 0;
  SimTime begin, end;
  double work = 0;  // part of this time in which kernels worked
  friend bool operator==(const ExecutedBar&, const ExecutedBar&) = default;
};

struct ExecutedOp {
  std::string name;
  std::int64_t cores = 0;
  std::vector<ExecutedBar> bars;
  friend bool operator==(const ExecutedOp&, const ExecutedOp&) = default;
};

struct ExecutedEpoch {
  std::string program, graph;
  SimTime begin, end;
  std::vector<ExecutedOp> ops;  // of the last execution of a graph; empty in others
  friend bool operator==(const ExecutedEpoch&, const ExecutedEpoch&) = default;
};

struct ExecutionsFile {
  double clock_hz = 0;
  std::vector<ExecutedEpoch> executions;  // in order of time
};

ExecutionsFile executions_file(const Summary& summary, const std::vector<Execution>& executions);

const schema::Record<ExecutionsFile>& describe(const ExecutionsFile*);
const schema::Record<ExecutedEpoch>& describe(const ExecutedEpoch*);
const schema::Record<ExecutedOp>& describe(const ExecutedOp*);
const schema::Record<ExecutedBar>& describe(const ExecutedBar*);

}  // namespace buda::perf
