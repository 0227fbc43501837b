// SPDX-License-Identifier: Apache-2.0
// Tenstorrent's simulator, where the user has it: a shared library that looks like a PCI device.
//
// Its functions are those of its documented interface; what is reached through them, as on the device: BAR 0, in which windows of 16 MiB
// onto the network on chip begin at 0x0b000000 (number 166), and their registers of 8 bytes at 0x1fc00000.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>

namespace buda::ttsim {

class Library {
 public:
  // Loads and initialises it, which a process can do once. A sentence without a full stop where that fails.
  static std::variant<Library, std::string> load(const std::string& path);

  // Node (x, y) of the network, of which addresses below 16 MiB and the last 16 MiB are reached.
  void look_at(std::uint32_t x, std::uint32_t y);
  void read(std::uint32_t address, void* to, std::uint32_t bytes);
  void write(std::uint32_t address, const void* from, std::uint32_t bytes);
  void clock(std::uint32_t cycles) { clock_(cycles); }

 private:
  std::uint64_t window(std::uint32_t address) const;

  void (*init_)() = nullptr;
  void (*clock_)(std::uint32_t) = nullptr;
  std::uint32_t (*config_)(std::uint32_t, std::uint32_t) = nullptr;
  void (*read_)(std::uint64_t, void*, std::uint32_t) = nullptr;
  void (*write_)(std::uint64_t, const void*, std::uint32_t) = nullptr;
  std::uint64_t bar_ = 0;
};

}  // namespace buda::ttsim
