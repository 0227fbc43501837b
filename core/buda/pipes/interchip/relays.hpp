// SPDX-License-Identifier: Apache-2.0
// Relays: buffers between the segments of a pipe.
#pragma once

#include <buda/device/descriptor.hpp>
#include <buda/pipes/graph/id_sequence.hpp>
#include <buda/pipes/graph/pipe_graph.hpp>
#include <buda/pipes/interchip/transfer.hpp>
#include <buda/pipes/plan/epoch_plan.hpp>

#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace buda::pipes {

// The core behind an Ethernet channel, as buffers name it: row and column on the NoC.
GridCoord ethernet_core(const device::DeviceDescriptor& device, std::int32_t channel);

// Makes relays, and the pipes to them. Relays that any worker can hold are distributed over the chip: an op counts like four relays.
class RelayAllocator {
 public:
  // Both must outlive it.
  RelayAllocator(const EpochPlan& plan, IdSequence& ids) : plan_(plan), ids_(ids) {}

  // The worker of a chip with the least work, which gets one relay more.
  GridCoord worker(std::int32_t chip);
  // Where tiles are gathered before they leave a chip: on the core that produces them, if there is one.
  GridCoord gathering_worker(const Transfer& transfer);

  // A relay for one pass of a transfer. Its buffer keeps a link busy, and leaves room for all streams of an Ethernet core.
  Buffer relay(BufferType type, const CoreCoord& at, const Transfer& transfer);
  // The relay at one end of a link.
  Buffer ethernet_relay(std::int32_t chip, std::int32_t channel, const Transfer& transfer);
  // A unicast from blocks to one buffer.
  Pipe pipe(std::vector<Id> inputs, Id output, const CoreCoord& at);
  Id new_id() { return ids_.next(); }
  const device::DeviceDescriptor& device() const { return *plan_.device; }

 private:
  using WorkersByLoad = std::set<std::pair<std::int32_t, std::int32_t>>;  // load and number, row by row
  WorkersByLoad workers_of(std::int32_t chip) const;

  const EpochPlan& plan_;
  IdSequence& ids_;
  std::map<std::int32_t, WorkersByLoad> workers_;                                                    // by chip
  std::map<std::tuple<BufferType, std::int32_t, std::int32_t, std::int32_t>, std::int32_t> counts_;  // of relays, by type and core
};

}  // namespace buda::pipes
