// SPDX-License-Identifier: Apache-2.0
// Which channel of DRAM each buffer of a queue lies in, and in which half of it.
#pragma once

#include <buda/balance/policy/epoch_span.hpp>
#include <buda/balance/queues/dram.hpp>
#include <buda/balance/queues/dram_algorithm.hpp>
#include <buda/balance/queues/queue_loads.hpp>
#include <buda/device/descriptor.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace buda::balance {

// A buffer without an address.
struct UnplacedBuffer {
  std::uint64_t bytes = 0;                   // that it takes
  bool for_host = false;                     // it lies in the host's window if there is room
  std::optional<std::int32_t> writer_epoch;  // nothing: the host writes it
  BufferUse use;
  Lifetime life = {};
  std::optional<std::int32_t> channel = {};  // where the user puts it
};

// The bank of each buffer: of those that the user places their channel; of those for the host the channel of the window, as long as they
// fit there; of others what the algorithm says, as far as there is room. Where there is none in any channel, it is one of them all the
// same. Only by_load asks for a half.
std::vector<DramBank> choose_banks(DramAlgorithm algorithm, const std::vector<UnplacedBuffer>& buffers, const DramRoom& room,
                                   const device::DeviceDescriptor& device);

}  // namespace buda::balance
