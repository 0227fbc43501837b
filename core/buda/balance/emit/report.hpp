// SPDX-License-Identifier: Apache-2.0
// The placement report, format buda.placement-report/1: where each op stands, what it takes, how long it is expected to need
// (docs/formats/placement-report.md).
#pragma once

#include <buda/balance/chips/chip_stages.hpp>
#include <buda/balance/emit/netlist_builder.hpp>
#include <buda/balance/policy/choice_space.hpp>
#include <buda/schema/record.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace buda::balance {

struct ReportPart {
  std::string what;
  std::uint64_t amount = 0;
  friend bool operator==(const ReportPart&, const ReportPart&) = default;
};

// One resource of one op's cores, against its limit.
struct ReportUsage {
  std::string resource;
  std::uint64_t used = 0;
  std::uint64_t available = 0;
  std::vector<ReportPart> parts;
  friend bool operator==(const ReportUsage&, const ReportUsage&) = default;
};

// Cycles of one input.
struct ReportCycles {
  std::int64_t kernel = 0;
  std::vector<std::int64_t> inputs;
  std::int64_t output = 0;
  std::int64_t limiter = 0;
  friend bool operator==(const ReportCycles&, const ReportCycles&) = default;
};

// What `limiter` is the time of: "kernel", "input 0" (its transfer), "output".
std::string limiter_name(const ReportCycles& cycles);
struct ReportOp {
  std::string name;  // in the netlist
  std::string node;  // in the graph
  // Nodes of the model whose work it does (emit/layers.hpp); empty for ops of netlists.
  std::vector<std::string> layers;
  std::string type;
  GridCoord grid_loc;
  GridShape grid;
  bool transposed = false;
  std::int32_t t = 1;
  std::vector<std::int32_t> mblock, ublock;
  std::int32_t m_k = 0, u_kt = 0, buf_size_mb = 0;
  std::vector<std::int64_t> resident_inputs;
  std::int64_t candidates = 0;  // legal implementations that there were
  ReportCycles cycles;
  std::string limiter;  // limiter_name(cycles)
  std::vector<ReportUsage> resources;
  friend bool operator==(const ReportOp&, const ReportOp&) = default;
};

// The busiest path of a kind (cost/epoch_loads.hpp). Bytes and cycles of one input.
struct ReportPath {
  std::string kind, busiest;
  std::int64_t bytes = 0, mean = 0, cycles = 0;
  friend bool operator==(const ReportPath&, const ReportPath&) = default;
};

// Bytes of one input.
struct ReportLink {
  std::string link;
  std::int64_t bytes = 0;
  friend bool operator==(const ReportLink&, const ReportLink&) = default;
};

// What a channel of DRAM moves in an epoch, with all inputs of one iteration of the loop. Bytes.
struct ReportTraffic {
  std::uint64_t read = 0, written = 0, before = 0, after = 0;
  friend bool operator==(const ReportTraffic&, const ReportTraffic&) = default;
};

struct ReportEpoch {
  std::string graph;
  std::string phase;  // of a training step: "forward", "backward, optimizer"; empty without one
  std::int32_t chip = 0;
  std::int32_t inputs = 0;  // of an iteration of the loop, where they are not the microbatch (inputs_of)
  std::int64_t cores = 0;
  std::int64_t cycles = 0;              // of all inputs of one iteration of the loop
  std::int64_t change = 0;              // of `cycles`, those of the change to this epoch
  std::int64_t hidden = 0;              // further ones of the change, which pass while the epoch before still works
  std::int64_t interval = 0;            // between inputs
  std::string limiter;                  // what the interval is the time of: of the slowest op, a path, or kBetweenOps
  std::int64_t bound = 0;               // cycles that the same ops take in an epoch at least; 0 where nothing is known
  double gap = 0;                       // of `cycles` above it, percent
  std::string between_chips;            // how it takes what other chips make at the same time; empty where it does not
  std::string ended_by;                 // why the next op is not in it; empty where nothing is known
  std::vector<ReportPath> paths;        // of the kinds on which anything moves: DRAM, NoC, PCIe, Ethernet
  std::vector<ReportTraffic> channels;  // by number; empty where streams are not known
  std::vector<ReportLink> links;        // of the networks, the busiest first, a few
  std::string slowest_op;
  std::vector<ReportOp> ops;
  friend bool operator==(const ReportEpoch&, const ReportEpoch&) = default;
};

struct ReportQueue {
  std::string name;
  std::string role;
  std::int32_t chip = 0;  // in whose memory it lies
  std::int32_t entries = 0;
  GridShape grid;
  std::uint64_t bytes = 0;  // of all its buffers
  bool prologue = false;
  std::string writer;  // an op's name; empty: the host
  std::vector<std::string> readers;
  std::vector<std::int64_t> channels;  // of DRAM, of each buffer in order
  std::vector<std::int64_t> epochs;    // of a dynamic queue: the first and the last in which it has memory
  friend bool operator==(const ReportQueue&, const ReportQueue&) = default;
};

struct ReportChannel {
  std::int32_t chip = 0;
  std::uint64_t used = 0;
  std::uint64_t capacity = 0;
  friend bool operator==(const ReportChannel&, const ReportChannel&) = default;
};

// Cycles of one iteration that no plan can beat (solve/bounds.hpp), and by how many percent the plan's cycles are above them.
struct ReportBound {
  std::int64_t cycles = 0;
  double gap = 0;
  std::string limiter;  // "cores", "slowest op", "DRAM"; of the universal bound
  friend bool operator==(const ReportBound&, const ReportBound&) = default;
};

// Of one iteration of the program's loop.
struct ReportChip {
  std::int32_t chip = 0;
  std::int64_t epochs = 0, cycles = 0;
  friend bool operator==(const ReportChip&, const ReportChip&) = default;
};

// The epochs of a training step that have ops of the same phases.
struct ReportPhase {
  std::string phase;  // as ReportEpoch has it
  std::int64_t ops = 0, epochs = 0, cycles = 0;
  friend bool operator==(const ReportPhase&, const ReportPhase&) = default;
};

// Bytes of the queues of a training step.
struct ReportStepMemory {
  std::uint64_t states = 0, gradients = 0;  // parameters, moments and what pairs have lost; sums of gradients
  std::uint64_t saved = 0;                  // what a phase makes and a later one reads
  friend bool operator==(const ReportStepMemory&, const ReportStepMemory&) = default;
};

struct ReportTotals {
  std::int64_t ops = 0;
  std::int64_t epochs = 0;
  std::int64_t chip_cores = 0;
  std::int64_t most_cores = 0;  // of an epoch
  std::int64_t cycles = 0;      // from one iteration to the next: through all epochs, or through those of the slowest chip
  std::vector<ReportChip> chips;
  std::vector<ReportPhase> phases;  // of a training step, in the order in which they begin
  std::optional<ReportStepMemory> step_memory;
  std::int64_t idle_chips = 0;  // of the device, that the plan may not use
  double inputs_per_second = 0;
  std::string bottleneck_op;
  std::string limiter;  // of that op, or the path for which its epoch waits
  // Of plans that follow the schedule, as this one does, and of all plans.
  std::optional<ReportBound> schedule_bound, universal_bound;
  std::uint64_t parameter_bytes = 0;  // of the queues of parameters and constants
  std::vector<ReportChannel> dram;    // by channel
  friend bool operator==(const ReportTotals&, const ReportTotals&) = default;
};

// The plan of the netlist from which the ops were taken (balancer --from-netlist), by the same estimate.
struct ReportGiven {
  std::int64_t epochs = 0;
  std::int64_t cycles = 0;
  double gap = 0;       // above the universal bound, percent
  double speedup = 0;   // its cycles over those of the new plan
  std::string limiter;  // of its longest epoch
  friend bool operator==(const ReportGiven&, const ReportGiven&) = default;
};

struct PlacementReport {
  std::string model;
  std::string device;
  std::string policy;
  std::int32_t microbatch = 1;                 // inputs of an iteration of the program's loop
  std::int64_t batch = 1;                      // the same as the user counts them
  std::int64_t max_batches = kMaxEntries / 2;  // of the model, that queues and its state allow in one epoch
  std::optional<ReportGiven> given;
  ReportTotals totals;
  std::vector<ReportEpoch> epochs;
  std::vector<ReportQueue> queues;
  friend bool operator==(const PlacementReport&, const PlacementReport&) = default;
};

const schema::Record<PlacementReport>& describe(const PlacementReport*);

// `candidates`: by OpId.
PlacementReport make_report(const Problem& problem, const Choice& choice, const BuiltNetlist& built,
                            const std::vector<std::int64_t>& candidates, const std::string& policy);

// That an epoch takes in an iteration of the loop.
std::int64_t inputs_of(const PlacementReport& report, const ReportEpoch& epoch);

// Of its epochs.
std::vector<EpochTime> times_of_epochs(const PlacementReport& report);

std::string report_text(const PlacementReport& report);
// For --verbose: a line per op (epoch, op, grid, place, cores, cycles), then the summary (report_summary.hpp).
std::vector<std::string> report_table(const PlacementReport& report);

}  // namespace buda::balance
