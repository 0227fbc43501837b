// SPDX-License-Identifier: Apache-2.0
// Executes the stream programs of one temporal epoch, tile by tile and in time.
//
//   BUDA_ASSIGN(auto run, epochs.begin(0, blob, cores, {}));  // program_epochs.hpp
//   BUDA_ASSIGN(auto state, run.advance(sim::kForever));
//   if (state == sim::RunState::ended) … run.time() …
#pragma once

#include <buda/device/descriptor.hpp>
#include <buda/diag/result.hpp>
#include <buda/perf/event.hpp>
#include <buda/perf/summary.hpp>
#include <buda/sim/time/time.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace buda::sim {

struct Arrivals;
struct Machine;
struct EpochSetup;
class EntityTable;
struct RunRecord;

// Of a queue, when the epoch begins: entries that it can read and write, and how far the read pointer of the header moves for each that is
// read.
struct QueueEntries {
  std::int64_t ready = 0, room = 0, frees = 0;
  friend auto operator<=>(const QueueEntries&, const QueueEntries&) = default;
};
using EntriesByQueue = std::map<std::size_t, QueueEntries>;  // by index in Netlist::queues; those that are missing have all they need

// Of a queue: entries that all its readers have read, and that are all written, since the epoch began.
struct QueueFlow {
  std::int64_t read = 0, written = 0;
};

// A core, and the time of its last event.
struct LastEvent {
  std::int32_t chip = 0;
  device::NocCoord core;
  Ticks time = 0;
};

enum class RunState : std::uint8_t {
  ended,
  moved,      // an entry of a queue has been read or written, and the caller asked to stop there
  running,    // the time has come
  waits,      // only more entries, or more room, in queues of the host let it go on: waiting_queues()
  deadlocked  // nothing does: why() has the reason
};

// A queue without which nothing goes on.
struct QueueWait {
  std::size_t queue = 0;
  bool for_room = false;
  std::int64_t entries = 1;
};

class EpochRun {
 public:
  // For ProgramEpochs::begin() and tests. Errors: SM001 for what is not simulated, and those of the core model.
  static Result<EpochRun> make(const EpochSetup& setup, const EntriesByQueue& entries);
  EpochRun(EpochRun&&) noexcept;
  EpochRun& operator=(EpochRun&&) noexcept;
  ~EpochRun();

  // Goes on up to a time. In whatever slices, the outcome is the same. SM002: a wrong tile arrives. SM004: tiles are left over, or missing.
  Result<RunState> advance(Ticks until, bool stop_at_queues = false);
  // Entries that the host has pushed, or popped, at a time that is not before that of the last event.
  void add_entries(std::size_t queue, std::int64_t ready, std::int64_t room, Ticks now);
  // The same at the end of a transfer that began then.
  void add_transferred(std::size_t queue, std::int64_t ready, std::int64_t room, Ticks began, Ticks now);
  QueueFlow flow(std::size_t queue) const;
  std::vector<LastEvent> last_events() const;

  // Records what happens from now on; the entities outlive the run. Called before the first advance(). No level changes times.
  void record(EntityTable& entities, perf::Level level);
  // What has been recorded until now; nothing is recorded from then on.
  RunRecord take_record();

  Ticks time() const;  // of the last event
  std::vector<QueueWait> waiting_queues() const;
  // Of `deadlocked`: SM003, with the shortest cycle of what waits for what.
  Diagnostic why() const;
  // Inputs of kernels in that cycle that are full.
  struct FullInput {
    std::string op;
    std::int32_t operand = 0;
    std::int64_t tiles = 0;  // that fit
  };
  std::vector<FullInput> full_inputs() const;
  // Ops whose output is in that cycle: it is full, or is sent in an order that its size decides.
  std::vector<std::string> outputs_in_cycle() const;
  // What has arrived by now; null where that is not kept.
  std::shared_ptr<const Arrivals> arrivals() const;
  // Of one execution, this one.
  perf::EpochSummary summary() const;

 private:
  explicit EpochRun(std::unique_ptr<Machine> machine, std::string graph);
  Result<void> check_leftovers() const;
  Result<void> check_totals() const;
  std::unique_ptr<Machine> m_;
  std::string graph_;
  bool begun_ = false;
};

}  // namespace buda::sim
