// SPDX-License-Identifier: Apache-2.0
// The epochs of a netlist, for targets that execute their stream programs.
//
//   BUDA_ASSIGN(auto epochs, sim::ProgramEpochs::make(netlist, device, host));
//   BUDA_ASSIGN(auto run, epochs.begin(streams.number, streams.blob, cores, {}, {}));
//   BUDA_ASSIGN(auto state, run.advance(sim::kForever));
#pragma once

#include <buda/device/descriptor.hpp>
#include <buda/diag/result.hpp>
#include <buda/io/host.hpp>
#include <buda/netlist/model/netlist.hpp>
#include <buda/overlay/blob/blob.hpp>
#include <buda/sim/cores/core_model.hpp>
#include <buda/sim/epoch/epoch_run.hpp>
#include <buda/sim/time/time_scale.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace buda::sim {

class ProgramEpochs {
 public:
  // The netlist obeys the rules; it and the host outlive this.
  static Result<ProgramEpochs> make(const netlist::Netlist& netlist, const device::DeviceDescriptor& device, Host& host);
  ProgramEpochs(ProgramEpochs&&) noexcept;
  ProgramEpochs& operator=(ProgramEpochs&&) noexcept;
  ~ProgramEpochs();

  struct Options {
    bool check_tiles = true;         // that each kernel input and each queue gets the tiles that the netlist means, in order
    std::vector<Ticks> core_starts;  // by Blob::cores: when each has its program; empty: at once
    std::int64_t chunk_tiles = 8;    // that travel together at most
    bool keep_arrivals = false;      // for values; with check_tiles
    std::uint64_t jitter = 0;        // a seed: every duration times 0.7 to 1.3; 0: times 1
    TimeScale transfers;             // how much longer they take
  };
  // Begins an execution of temporal epoch `epoch` with its stream programs. The core model, and this, outlive the run. Errors: SM001 for
  // what is not simulated, and those of the core model.
  Result<EpochRun> begin(std::size_t epoch, std::shared_ptr<const overlay::Blob> blob, const CoreModel& cores,
                         const EntriesByQueue& entries, const Options& options) const;
  // Why a run that began so stopped: EpochRun::why(), with the smallest room that lets it end, where that is a matter of room.
  Diagnostic why(std::size_t epoch, std::shared_ptr<const overlay::Blob> blob, const CoreModel& cores, const EntriesByQueue& entries,
                 const EpochRun& stopped) const;

 private:
  struct State;
  explicit ProgramEpochs(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace buda::sim
