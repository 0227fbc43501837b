// SPDX-License-Identifier: Apache-2.0
// A chip, from the host: memory and registers of the nodes of its network, and its clock where the host has it in its hands.
#pragma once

#include <buda/device/descriptor.hpp>
#include <buda/diag/result.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

#pragma GCC visibility push(default)

namespace buda::chip {

class Bus {
 public:
  virtual ~Bus() = default;
  // An error: what the chip, or the way to it, has refused; nothing works any longer.
  virtual Result<void> write(device::NocCoord node, std::uint64_t address, std::string_view bytes) = 0;
  virtual Result<void> read(device::NocCoord node, std::uint64_t address, char* to, std::size_t bytes) = 0;
  // Lets the chip go on for so many steps of its clock, or, where it has its own, for a while.
  virtual Result<void> step(std::uint32_t cycles) = 0;
};

}  // namespace buda::chip

#pragma GCC visibility pop
