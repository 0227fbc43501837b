// SPDX-License-Identifier: Apache-2.0
// Best fit in the chosen channels.
#include <buda/balance/queues/dram.hpp>

#include <buda/base/checked.hpp>
#include <buda/base/text.hpp>
#include <buda/overlay/traffic.hpp>

#include <algorithm>

namespace buda::balance {

std::optional<std::uint64_t> buffer_bytes(const netlist::Queue& queue, const device::DeviceDescriptor& device) {
  auto tile = static_cast<std::uint64_t>(tile_bytes(queue.format, queue.tile_dim, device.tile_alignment));
  auto entry = checked_mul(static_cast<std::uint64_t>(queue.block.tiles()), tile);
  auto all = entry ? checked_mul(*entry, static_cast<std::uint64_t>(queue.entries)) : std::nullopt;
  auto sum = all ? checked_add(*all, static_cast<std::uint64_t>(device.queue_header_bytes)) : std::nullopt;
  if (!sum || *sum > std::uint64_t{1} << 62) return std::nullopt;
  return align_up(*sum, static_cast<std::uint64_t>(std::max(device.tile_alignment, 1)));
}

Diagnostic no_free_block(const netlist::Queue& queue, std::size_t index, std::size_t channel, std::uint64_t available,
                         const device::DeviceDescriptor& device) {
  const std::uint64_t needed = buffer_bytes(queue, device).value_or(std::uint64_t{1} << 62);
  Diagnostic d =
      does_not_fit("BL016", queue.name, "dram", needed, available,
                   cat("queue '", queue.name, "': buffer ", index + 1, " of ", queue.grid.volume(), " (", queue.entries,
                       queue.entries == 1 ? " entry of " : " entries of ", queue.block.tiles(), " tiles in ", format_name(queue.format),
                       ") needs ", needed, " bytes; the largest free block, in channel ", channel, ", has ", available),
                   "a narrower format would take less");
  d.data.emplace_back("channel", cat(channel));
  return d;
}

DramAllocator::DramAllocator(const device::DeviceDescriptor& device) : has_halves_(halves_of_channel(device) > 1) {
  auto alignment = static_cast<std::uint64_t>(std::max(device.tile_alignment, 1));
  for (std::size_t i = 0; i < device.dram.channels.size(); ++i) {
    FreeList list;
    auto add = [&](FreeList& to, std::uint64_t begin, std::uint64_t end) {
      begin = align_up(begin, alignment);
      if (begin < end) to.push_back({begin, end - begin});
    };
    std::uint64_t begin = device.dram.channels[i].lowest_usable, end = device.dram.bank_bytes;
    const auto& window = device.dram.host_window;
    if (window && window->channel == static_cast<std::int32_t>(i)) {
      std::uint64_t from = std::clamp(window->begin, begin, end), to = std::clamp(window->begin + window->size, from, end);
      add(list, begin, from);
      add(list, to, end);
      add(window_, from, to);
      window_channel_ = window->channel;
    } else {
      add(list, begin, end);
    }
    std::uint64_t capacity = 0;
    for (const DramBlock& b : list) capacity += b.size;
    if (window_channel_ == static_cast<std::int32_t>(i))
      for (const DramBlock& b : window_) capacity += b.size;
    largest_ = std::max(largest_, largest_in(list));
    free_.push_back(std::move(list));
    capacity_.push_back(capacity);
  }
  used_.assign(free_.size(), 0);
}

std::uint64_t DramAllocator::largest_in(const FreeList& list) {
  std::uint64_t most = 0;
  for (const DramBlock& b : list) most = std::max(most, b.size);
  return most;
}

std::int32_t halves_of_channel(const device::DeviceDescriptor& device) { return device.dram.bank_bytes > overlay::kDramHalf ? 2 : 1; }

FreeList within_half(const FreeList& free, std::int32_t half) {
  if (half == DramBank::kEitherHalf) return free;
  FreeList out;
  for (const DramBlock& block : free) {
    const std::uint64_t end = block.begin + block.size;
    const std::uint64_t from = half == 0 ? block.begin : std::max(block.begin, overlay::kDramHalf);
    const std::uint64_t to = half == 0 ? std::min(end, overlay::kDramHalf) : end;
    if (from < to) out.push_back({from, to - from});
  }
  return out;
}

const DramBlock* smallest_of(const FreeList& free, std::uint64_t bytes) {
  const DramBlock* best = nullptr;
  for (const DramBlock& block : free)
    if (block.size >= bytes && (best == nullptr || block.size < best->size)) best = &block;
  return best;
}

std::optional<std::uint64_t> DramAllocator::take(FreeList& list, std::uint64_t bytes, std::int32_t half) {
  const FreeList parts = within_half(list, half);
  const DramBlock* best = smallest_of(parts, bytes);
  if (best == nullptr) return std::nullopt;
  const std::uint64_t address = best->begin;
  const auto block = std::find_if(list.begin(), list.end(), [&](const DramBlock& b) { return address - b.begin < b.size; });
  const DramBlock before{block->begin, address - block->begin}, behind{address + bytes, block->begin + block->size - address - bytes};
  auto at = list.erase(block);
  if (behind.size > 0) at = list.insert(at, behind);
  if (before.size > 0) list.insert(at, before);
  return address;
}

std::optional<netlist::BufferAddress> DramAllocator::take_from(const DramBank& bank, std::uint64_t bytes, bool host_window) {
  if (host_window && window_channel_ >= 0)
    if (auto address = take(window_, bytes, DramBank::kEitherHalf)) return netlist::BufferAddress{window_channel_, *address};
  const auto first = static_cast<std::size_t>(bank.channel);
  if (bank.half != DramBank::kEitherHalf)
    if (auto address = take(free_[first], bytes, bank.half)) return netlist::BufferAddress{bank.channel, *address};
  for (std::size_t k = 0; k < free_.size(); ++k) {
    const std::size_t channel = (first + k) % free_.size();
    auto address = take(free_[channel], bytes, DramBank::kEitherHalf);
    if (!address) continue;
    return netlist::BufferAddress{static_cast<std::int32_t>(channel), *address};
  }
  return std::nullopt;
}

DramRoom DramAllocator::room() const {
  auto sum = [](const FreeList& list) {
    std::uint64_t out = 0;
    for (const DramBlock& b : list) out += b.size;
    return out;
  };
  DramRoom out;
  for (const FreeList& list : free_) out.channels.push_back(sum(list));
  if (has_halves_)
    for (const FreeList& list : free_)
      for (std::int32_t half : {0, 1}) out.halves.push_back(sum(within_half(list, half)));
  out.window_channel = window_channel_;
  out.window = sum(window_);
  return out;
}

Result<std::vector<netlist::BufferAddress>> DramAllocator::allocate(const netlist::Queue& queue, std::span<const DramBank> banks,
                                                                    bool host_window, const device::DeviceDescriptor& device) {
  auto bytes = buffer_bytes(queue, device);
  std::vector<netlist::BufferAddress> out;
  for (std::int64_t i = 0; bytes && i < queue.grid.volume(); ++i) {
    auto address = take_from(banks[static_cast<std::size_t>(i)], *bytes, host_window);
    if (!address) break;
    used_[static_cast<std::size_t>(address->channel)] += *bytes;
    out.push_back(*address);
  }
  if (static_cast<std::int64_t>(out.size()) == queue.grid.volume()) return out;
  std::size_t channel = 0;
  for (std::size_t i = 0; i < free_.size(); ++i)
    if (largest_in(free_[i]) > largest_in(free_[channel])) channel = i;
  return no_free_block(queue, out.size(), channel, free_.empty() ? 0 : largest_in(free_[channel]), device);
}

}  // namespace buda::balance
