// SPDX-License-Identifier: Apache-2.0
// The summary of a compilation for programs, format buda.summary/1 (docs/formats/summary.md): the facts of report_summary.hpp as figures.
#pragma once

#include <buda/balance/emit/layers.hpp>
#include <buda/balance/emit/report.hpp>
#include <buda/schema/record.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace buda::balance {

struct CoreFigures {
  std::int64_t used = 0;  // in the fullest epoch
  std::int64_t available = 0;
  friend bool operator==(const CoreFigures&, const CoreFigures&) = default;
};

struct EstimateFigures {
  std::int64_t cycles = 0;  // of one iteration of the program's loop
  double inputs_per_second = 0;
  std::optional<std::int64_t> latency_cycles;  // latency_cycles()
  friend bool operator==(const EstimateFigures&, const EstimateFigures&) = default;
};

// Lower bounds of the cycles of an iteration.
struct BoundFigures {
  std::optional<std::int64_t> schedule;  // for plans with this order of ops
  std::optional<double> schedule_gap_percent;
  std::int64_t any_plan = 0;
  std::string because_of;  // what the bound of any plan follows from
  friend bool operator==(const BoundFigures&, const BoundFigures&) = default;
};

// Bytes.
struct MemoryFigures {
  std::uint64_t parameters = 0;
  std::uint64_t dram_used = 0, dram_available = 0;
  std::uint64_t l1_used = 0, l1_available = 0;  // of the fullest core
  friend bool operator==(const MemoryFigures&, const MemoryFigures&) = default;
};

struct ReportFigures {
  std::string model, device, policy;
  std::int64_t microbatch = 1;
  std::int64_t batch = 1;  // inputs of an iteration
  std::int64_t ops = 0, epochs = 0;
  CoreFigures cores;
  EstimateFigures estimate;
  std::string limited_by;
  std::optional<BoundFigures> bound;
  std::optional<double> gap_percent;  // of the estimate above the bound of any plan
  MemoryFigures memory;
  std::vector<ReportChip> chips;
  std::vector<ReportPhase> phases;  // of a training step
  std::optional<ReportStepMemory> step_memory;
  std::vector<LayerFigures> layers;
  friend bool operator==(const ReportFigures&, const ReportFigures&) = default;
};

// report_schema.cpp
const schema::Record<ReportChip>& describe(const ReportChip*);
const schema::Record<ReportPhase>& describe(const ReportPhase*);
const schema::Record<ReportStepMemory>& describe(const ReportStepMemory*);
const schema::Record<ReportFigures>& describe(const ReportFigures*);
const schema::Record<CoreFigures>& describe(const CoreFigures*);
const schema::Record<EstimateFigures>& describe(const EstimateFigures*);
const schema::Record<BoundFigures>& describe(const BoundFigures*);
const schema::Record<MemoryFigures>& describe(const MemoryFigures*);

ReportFigures figures_of(const PlacementReport& report);

}  // namespace buda::balance
