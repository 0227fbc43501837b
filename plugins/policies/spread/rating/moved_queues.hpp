// SPDX-License-Identifier: Apache-2.0
// What an epoch moves through queues of DRAM, while ops are placed.
#pragma once

#include <buda/balance/policy/placement.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace buda::balance {

// What one input moves from or to a queue: `bytes`, from or to `buffers` of equal size.
struct MovedQueue {
  OpId op;  // whose result it holds; invalid: a source
  bool is_read = false;
  double bytes = 0;
  std::int64_t buffers = 1;
};

// Of the placement's present epoch, which ends before number `end` of the schedule: its sources, results of earlier epochs, and its results
// that later ones read or that are outputs.
std::vector<MovedQueue> moved_queues(const Placement& placement, std::size_t end);

// Bytes of a tensor in DRAM, without the headers of its queue.
double tensor_bytes(const netlist::TileShape& shape, DataFormat format, const device::DeviceDescriptor& device);

}  // namespace buda::balance
