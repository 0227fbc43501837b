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
  // Loads and initialises it, which a process can do once. A sentence without a full stop where that fails. `with_memory`: of the host, for
  // chips to reach.
  static std::variant<Library, std::string> load(const std::string& path, bool with_memory = false);

  // Node (x, y) of the network, of which addresses below 16 MiB and the last 16 MiB are reached.
  void look_at(std::uint32_t x, std::uint32_t y);
  void read(std::uint32_t address, void* to, std::uint32_t bytes);
  void write(std::uint32_t address, const void* from, std::uint32_t bytes);
  void clock(std::uint32_t cycles) { clock_(cycles); }

  // Any address of any node, through a window of their own.
  void read_node(std::uint32_t x, std::uint32_t y, std::uint64_t address, char* to, std::size_t bytes);
  void write_node(std::uint32_t x, std::uint32_t y, std::uint64_t address, const char* from, std::size_t bytes);
  // Memory of the host, which the chip reaches over PCIe; addresses are taken modulo its size.
  static char* host_memory(std::uint64_t address);

 private:
  std::uint64_t window(std::uint32_t address) const;
  bool share_memory();
  std::uint64_t node_window(std::uint32_t x, std::uint32_t y, std::uint64_t address);

  void (*init_)() = nullptr;
  void (*clock_)(std::uint32_t) = nullptr;
  std::uint32_t (*config_)(std::uint32_t, std::uint32_t) = nullptr;
  void (*read_)(std::uint64_t, void*, std::uint32_t) = nullptr;
  void (*write_)(std::uint64_t, const void*, std::uint32_t) = nullptr;
  using ReadMemory = void (*)(std::uint64_t, void*, std::uint32_t);
  using WriteMemory = void (*)(std::uint64_t, const void*, std::uint32_t);
  void (*share_)(ReadMemory, WriteMemory) = nullptr;
  std::uint64_t bar_ = 0;
};

}  // namespace buda::ttsim
