// SPDX-License-Identifier: Apache-2.0
// Where dynamic queues lie in DRAM: those that are not alive in the same epoch may lie over each other.
#pragma once

#include <buda/balance/policy/epoch_span.hpp>
#include <buda/balance/queues/dram.hpp>

#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace buda::balance {

// Within a bank the smallest block is taken that is large enough and free in all epochs of a lifetime, at its low end. Large queues
// should come first: small ones find room in what is left.
class DynamicDram {
 public:
  // In what the static queues leave, which all have their places.
  explicit DynamicDram(const DramAllocator& statics) : free_(statics.free()), alive_(free_.size()) {}

  // The addresses of all buffers of a queue, as DramAllocator::allocate. O(buffers that are alive in the span).
  Result<std::vector<netlist::BufferAddress>> allocate(const netlist::Queue& queue, std::span<const DramBank> banks, const EpochSpan& life,
                                                       const device::DeviceDescriptor& device);
  // Bytes given out at any time, by channel.
  std::vector<std::uint64_t> used() const;

 private:
  FreeList gaps(std::size_t channel, const EpochSpan& life) const;

  std::vector<FreeList> free_;                           // by channel
  std::vector<std::map<std::int32_t, FreeList>> alive_;  // by channel and epoch: blocks given out, in the order of their allocation
};

}  // namespace buda::balance
