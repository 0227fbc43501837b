// SPDX-License-Identifier: Apache-2.0
// What the steps of building a machine share. Internal to the module.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/sim/epoch/epoch_setup.hpp>
#include <buda/sim/machine/machine.hpp>
#include <buda/sim/network/topology.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace buda::sim {

struct Building {
  const EpochSetup& setup;
  Machine& m;
  Topology topology;
  std::map<overlay::StreamRef, StreamId> ids;
  std::map<pipes::Id, TileSource> sources;                                    // of queue buffers
  std::map<std::pair<const netlist::Op*, std::int64_t>, TileSource> outputs;  // by op and core

  const overlay::Blob& blob() const { return *m.blob; }
};

// SM001.
Diagnostic not_simulated(const std::string& what, const std::string& op);

// Buffers in L1 that overlap (SM008), phases beyond their buffer (SM007), queues elsewhere than the netlist has them (SM009),
// multicasts to buffers at different addresses (SM010) (check_memory.cpp).
Result<void> check_memory(const Building& b);

// The kernels of all cores, what each takes and gives, and what must arrive there and in queues; streams are connected
// (build_kernels.cpp).
Result<void> add_kernels(Building& b);

}  // namespace buda::sim
