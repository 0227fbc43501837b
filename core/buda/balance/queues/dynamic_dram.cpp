// SPDX-License-Identifier: Apache-2.0
// Best fit in what is free over a span of epochs.
#include <buda/balance/queues/dynamic_dram.hpp>

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>

namespace buda::balance {
namespace {

void sort_by_address(FreeList& blocks) {
  std::sort(blocks.begin(), blocks.end(), [](const DramBlock& a, const DramBlock& b) { return a.begin < b.begin; });
}

}  // namespace

// What the free blocks have beside the buffers that are alive in some epoch of the span.
FreeList DynamicDram::gaps(std::size_t channel, const EpochSpan& life) const {
  FreeList taken;
  const auto& alive = alive_[channel];
  for (auto it = alive.lower_bound(life.first); it != alive.end() && it->first <= life.last; ++it)
    taken.insert(taken.end(), it->second.begin(), it->second.end());
  sort_by_address(taken);
  FreeList out;
  auto next = taken.begin();
  for (const DramBlock& block : free_[channel]) {
    std::uint64_t at = block.begin;
    const std::uint64_t end = block.begin + block.size;
    for (; next != taken.end() && next->begin < end; ++next) {
      if (next->begin > at) out.push_back({at, next->begin - at});
      at = std::max(at, next->begin + next->size);
    }
    if (at < end) out.push_back({at, end - at});
  }
  return out;
}

Result<std::vector<netlist::BufferAddress>> DynamicDram::allocate(const netlist::Queue& queue, std::span<const DramBank> banks,
                                                                  const EpochSpan& life, const device::DeviceDescriptor& device) {
  const auto bytes = buffer_bytes(queue, device);
  std::vector<netlist::BufferAddress> out;
  DramBlock largest;
  std::size_t largest_in = 0;
  const auto count = static_cast<std::size_t>(queue.grid.volume());
  while (bytes && out.size() < count) {
    const std::size_t before = out.size(), first = static_cast<std::size_t>(banks[before].channel);
    for (std::size_t k = 0; k < free_.size() && out.size() == before; ++k) {
      const std::size_t channel = (first + k) % free_.size();
      const FreeList free = gaps(channel, life);
      for (const DramBlock& gap : free)
        if (gap.size > largest.size) std::tie(largest, largest_in) = std::pair(gap, channel);
      const FreeList wanted = k == 0 ? within_half(free, banks[before].half) : FreeList{};
      const DramBlock* best = smallest_of(wanted, *bytes);
      if (best == nullptr) best = smallest_of(free, *bytes);
      if (best == nullptr) continue;
      for (std::int32_t epoch = life.first; epoch <= life.last; ++epoch) alive_[channel][epoch].push_back({best->begin, *bytes});
      out.push_back({static_cast<std::int32_t>(channel), best->begin});
    }
    if (out.size() == before) break;
    largest = {};
  }
  if (out.size() == count) return out;
  return no_free_block(queue, out.size(), largest_in, largest.size, device);
}

std::vector<std::uint64_t> DynamicDram::used() const {
  std::vector<std::uint64_t> out;
  for (const auto& epochs : alive_) {
    FreeList all;
    for (const auto& [epoch, blocks] : epochs) all.insert(all.end(), blocks.begin(), blocks.end());
    sort_by_address(all);
    std::uint64_t sum = 0, at = 0;
    for (const DramBlock& b : all) {
      const std::uint64_t end = b.begin + b.size;
      sum += std::max(end, at) - std::max(b.begin, at);
      at = std::max(at, end);
    }
    out.push_back(sum);
  }
  return out;
}

}  // namespace buda::balance
