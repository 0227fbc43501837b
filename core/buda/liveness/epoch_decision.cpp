// SPDX-License-Identifier: Apache-2.0
// Input by input, until the state is one that was there before.
#include <buda/liveness/epoch_decision.hpp>

#include <buda/liveness/token_run.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace buda::liveness {
namespace {

// Inputs after which a state has to have come back with strict relays; else the exact ones are asked.
constexpr std::int64_t kMaxStrict = 32;

// Runs up to `most` inputs; true where the outcome is known: a state came back, or everything has passed.
bool is_live(Network& network, TokenRun& run, std::int64_t most, Decision& out) {
  const bool may_repeat = !run.is_bounded_by_queues();
  // States are compared with one that is replaced after 1, 2, 4, … inputs, so that one is kept, and any period is found (Brent).
  std::vector<std::int64_t> kept;
  std::int64_t kept_after = 0;
  out.ran = 0;
  for (std::int64_t input = 1; input <= most; ++input) {
    run.advance(input);
    // A chunk of tiles may span two inputs: an input can then need tiles of the next one.
    if (!run.has_done(input)) break;
    out.ran = input;
    if (input == network.inputs || !may_repeat) continue;
    std::vector<std::int64_t> state = run.state();
    if (state == kept) {
      out.equals = kept_after;
      return true;
    }
    if (input >= 2 * kept_after) {
      kept = std::move(state);
      kept_after = input;
    }
  }
  if (out.ran >= most && most < network.inputs) return false;
  run.advance(network.inputs);
  if (!run.is_complete()) return false;
  out.ran = network.inputs;
  return true;
}

}  // namespace

Result<Decision> decide(const EpochProgram& program, const EntriesByQueue& entries) {
  Decision out;
  for (Relays relays : {Relays::strict, Relays::exact}) {
    BUDA_ASSIGN(Network network, build_network(program, entries, relays));
    if (relays == Relays::strict && !network.restricted) continue;
    out.kernels = network.kernels.size();
    out.streams = network.streams.size();
    out.inputs = network.inputs;
    TokenRun run(network);
    const std::int64_t most = relays == Relays::strict ? std::min(network.inputs, kMaxStrict) : network.inputs;
    if (is_live(network, run, most, out)) return out;
    if (relays == Relays::exact) out.deadlock = explain(network);
  }
  return out;
}

}  // namespace buda::liveness
