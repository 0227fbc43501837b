// SPDX-License-Identifier: Apache-2.0
// Where static queues lie in DRAM: allocation within the channels of one chip.
#pragma once

#include <buda/device/descriptor.hpp>
#include <buda/diag/result.hpp>
#include <buda/netlist/model/queue.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::balance {

// Bytes of one buffer of a queue, header included, rounded up to the alignment. Nothing when they do not fit in 63 bits.
std::optional<std::uint64_t> buffer_bytes(const netlist::Queue& queue, const device::DeviceDescriptor& device);

// A channel of more than 1 GiB has two halves, which move their data beside each other, each with half of the channel's rate.
std::int32_t halves_of_channel(const device::DeviceDescriptor& device);

// Where a buffer is to lie: in a channel, and in one half of it if that matters.
struct DramBank {
  static constexpr std::int32_t kEitherHalf = -1;
  std::int32_t channel = 0;
  std::int32_t half = kEitherHalf;
  DramBank() = default;
  DramBank(std::int32_t c, std::int32_t h = kEitherHalf) : channel(c), half(h) {}  // NOLINT: a channel as a whole
  friend bool operator==(const DramBank&, const DramBank&) = default;
};

// Free bytes by channel, outside the window that the host reaches directly, and in it.
struct DramRoom {
  std::vector<std::uint64_t> channels;
  std::int32_t window_channel = -1;  // none
  std::uint64_t window = 0;
  std::int32_t epochs = 1;  // of the programs that use it
  // Of each channel those in the lower and in the upper half; empty where channels have no halves.
  std::vector<std::uint64_t> halves = {};
};

struct DramBlock {
  std::uint64_t begin = 0;
  std::uint64_t size = 0;
};
// By address, no two adjacent.
using FreeList = std::vector<DramBlock>;

// The parts of free blocks that lie in one half; all of them for either half.
FreeList within_half(const FreeList& free, std::int32_t half);
// The smallest block that is large enough; null where none is.
const DramBlock* smallest_of(const FreeList& free, std::uint64_t bytes);

// What to say of a queue whose buffer number `index` finds no free block: the largest there is, in `channel`, has `available` bytes.
Diagnostic no_free_block(const netlist::Queue& queue, std::size_t index, std::size_t channel, std::uint64_t available,
                         const device::DeviceDescriptor& device);

// A buffer goes to the bank that was chosen for it, or, where that is full, anywhere in its channel, or to the next channel that has room.
// The smallest free block that is large enough is taken, at its low end. What belongs to the runtime (below lowest_usable) is never given
// out; the window that the host reaches directly is kept for queues that the host writes or reads, as long as they fit there.
class DramAllocator {
 public:
  explicit DramAllocator(const device::DeviceDescriptor& device);

  // The addresses of all buffers of a queue. `banks`: chosen, by buffer (dram_placement.hpp). The error names the queue, the fullest
  // attempt, what was needed and what is free.
  Result<std::vector<netlist::BufferAddress>> allocate(const netlist::Queue& queue, std::span<const DramBank> banks, bool host_window,
                                                       const device::DeviceDescriptor& device);
  DramRoom room() const;
  // Of each channel, outside the window.
  const std::vector<FreeList>& free() const { return free_; }

  // Bytes given out, by channel.
  const std::vector<std::uint64_t>& used() const { return used_; }
  // Bytes that could be given out in an empty channel, the window included.
  std::uint64_t capacity(std::size_t channel) const { return capacity_[channel]; }
  // The largest buffer that an empty chip could take.
  std::uint64_t largest_block() const { return largest_; }

 private:
  static std::optional<std::uint64_t> take(FreeList& list, std::uint64_t bytes, std::int32_t half);
  static std::uint64_t largest_in(const FreeList& list);
  std::optional<netlist::BufferAddress> take_from(const DramBank& bank, std::uint64_t bytes, bool host_window);

  bool has_halves_;
  std::vector<FreeList> free_;  // by channel
  FreeList window_;
  std::int32_t window_channel_ = -1;
  std::vector<std::uint64_t> used_, capacity_;
  std::uint64_t largest_ = 0;
};

}  // namespace buda::balance

#pragma GCC visibility pop
