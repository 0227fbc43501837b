// SPDX-License-Identifier: Apache-2.0
// Keeps the index of the netlist for all runs.
#include <buda/sim/epoch/program_epochs.hpp>

#include <buda/base/text.hpp>
#include <buda/overlay/epoch_compiler.hpp>
#include <buda/sim/epoch/epoch_setup.hpp>
#include <buda/sim/epoch/hint.hpp>

#include <utility>

namespace buda::sim {

struct ProgramEpochs::State {
  overlay::EpochCompiler compiler;
  const netlist::Netlist* netlist = nullptr;
  Host* host = nullptr;
};

ProgramEpochs::ProgramEpochs(std::unique_ptr<State> state) : state_(std::move(state)) {}
ProgramEpochs::ProgramEpochs(ProgramEpochs&&) noexcept = default;
ProgramEpochs& ProgramEpochs::operator=(ProgramEpochs&&) noexcept = default;
ProgramEpochs::~ProgramEpochs() = default;

Result<ProgramEpochs> ProgramEpochs::make(const netlist::Netlist& netlist, const device::DeviceDescriptor& device, Host& host) {
  BUDA_ASSIGN(auto compiler, overlay::EpochCompiler::make(netlist, device, "", host));
  return ProgramEpochs(std::make_unique<State>(State{std::move(compiler), &netlist, &host}));
}

Result<EpochRun> ProgramEpochs::begin(std::size_t epoch, std::shared_ptr<const overlay::Blob> blob, const CoreModel& cores,
                                      const EntriesByQueue& entries, const Options& options) const {
  const overlay::EpochCompiler& c = state_->compiler;
  if (epoch >= c.epochs().size()) return internal_error(cat("there is no temporal epoch ", epoch));
  return EpochRun::make({c.index(),
                         c.device(),
                         c.epochs()[epoch],
                         c.padding(),
                         std::move(blob),
                         cores,
                         {},
                         options.core_starts,
                         options.chunk_tiles,
                         options.check_tiles,
                         options.keep_arrivals,
                         options.jitter,
                         options.transfers},
                        entries);
}

Diagnostic ProgramEpochs::why(std::size_t epoch, std::shared_ptr<const overlay::Blob> blob, const CoreModel& cores,
                              const EntriesByQueue& entries, const EpochRun& stopped) const {
  const overlay::EpochCompiler& c = state_->compiler;
  Diagnostic d = stopped.why();
  const StoppedEpoch of{*state_->netlist, c.device(), epoch, cores};
  const auto trial = [&](const EpochRun::FullInput& input, std::int64_t tiles) {
    return runs_with(of, *state_->host, entries, input, tiles);
  };
  d.hint =
      hint_for({c.index(), c.device(), c.epochs()[epoch], c.padding(), std::move(blob), cores, {}, {}, 8, false}, entries, stopped, trial);
  if (d.hint.empty()) d.hint = output_hint_for(of, *state_->host, entries, stopped);
  return d;
}

}  // namespace buda::sim
