// SPDX-License-Identifier: Apache-2.0
// From what a run of an epoch begins. Internal to the module.
#pragma once

#include <buda/device/descriptor.hpp>
#include <buda/overlay/blob/blob.hpp>
#include <buda/pipes/build/padding_table.hpp>
#include <buda/pipes/plan/epochs.hpp>
#include <buda/pipes/plan/netlist_index.hpp>
#include <buda/sim/cores/core_model.hpp>
#include <buda/sim/time/time_scale.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace buda::sim {

// What an epoch is made of. All but the blob must outlive its runs.
struct EpochSetup {
  const pipes::NetlistIndex& index;
  const device::DeviceDescriptor& device;
  const pipes::Epoch& epoch;
  const pipes::PaddingTable& padding;
  std::shared_ptr<const overlay::Blob> blob;
  const CoreModel& cores;
  std::map<std::pair<std::string, std::int32_t>, std::int64_t> input_tiles = {};  // larger buffers of inputs, by op and operand
  std::vector<Ticks> core_starts = {};  // by Blob::cores: when each has its program; empty: at once
  std::int64_t chunk_tiles = 8;         // that travel together at most
  bool check_tiles = true;              // that each kernel input and each queue gets the tiles that the netlist means, in order
  bool keep_arrivals = false;           // with check_tiles
  std::uint64_t jitter = 0;             // seed of durations that vary; 0: they do not
  TimeScale transfers = {};             // how much longer they take
};

}  // namespace buda::sim
