// SPDX-License-Identifier: Apache-2.0
// Whether the epochs of a netlist can deadlock because their buffers are finite (docs/internals/liveness.md).
//
//   BUDA_ASSIGN(auto epochs, liveness::check_liveness(netlist, device, host));
//   for (const auto& epoch : epochs)
//     if (epoch.deadlock) …  // else its proof: `fork_joins`, `ran`, `equals`
#pragma once

#include <buda/device/descriptor.hpp>
#include <buda/diag/result.hpp>
#include <buda/io/host.hpp>
#include <buda/netlist/model/netlist.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace buda::liveness {

// Paths that leave an op, or a queue, and meet again.
struct ForkJoin {
  std::string fork, join;
  friend bool operator==(const ForkJoin&, const ForkJoin&) = default;
};

struct EpochLiveness {
  std::int32_t epoch = 0;  // as netlist::temporal_epochs numbers them
  std::vector<std::string> graphs;
  std::size_t kernels = 0, streams = 0;
  std::vector<ForkJoin> fork_joins;  // of ops, nearest pairs
  std::int64_t inputs = 1;           // of the epoch
  std::int64_t ran = 0;              // inputs that were executed without time
  std::int64_t equals = 0;           // the state after input `ran` equals that after this one, so that all repeats; 0: it ran to its end
  // Queues that it reads and whose writers follow from what is read of them, in whatever epochs. That the host gives their first entries,
  // as those of a training step's states, is taken for granted: else the epoch waits for ever.
  std::vector<std::string> given_first;
  // LV001: a cycle of waits, with fork, join, paths, fill of buffers, missing tiles; its hint is the change of the netlist that mends it,
  // which has been tried. LV002: a queue of the epoch gives or takes too few entries.
  std::optional<Diagnostic> deadlock;
};

// Whether the change that mends a deadlock is looked for: many epochs are laid out and decided for it.
enum class Remedy { tried, left_out };

// The netlist satisfies the rules of check_netlist. Errors: what netlist2pipe and pipegen cannot lay out (PP…, OV…), and LV003. Epochs are
// decided side by side by host.threads.
Result<std::vector<EpochLiveness>> check_liveness(const netlist::Netlist& netlist, const device::DeviceDescriptor& device, Host& host,
                                                  Remedy remedy = Remedy::tried);

}  // namespace buda::liveness
