// SPDX-License-Identifier: Apache-2.0
// Loading the library, and its windows.
#include "library.hpp"

#include <buda/base/text.hpp>

#include <algorithm>
#include <cstring>

#include <dlfcn.h>
#include <sys/mman.h>

namespace buda::ttsim {
namespace {

constexpr std::uint32_t kWormhole = 0x401e1e52;  // device and vendor
constexpr std::uint64_t kWindowBytes = 16 << 20, kWindows = 0x0b000000, kWindowRegisters = 0x1fc00000;
constexpr unsigned kFirstWindow = 166;
constexpr std::uint64_t kHostBytes = std::uint64_t{1} << 32;
char* host_bytes = nullptr;  // of the process: the library's callbacks have no context
constexpr std::uint32_t kLast = 0xff000000u;

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

}  // namespace

std::variant<Library, std::string> Library::load(const std::string& path, bool with_memory) {
  // Without a folder, dlopen would look in those of the system.
  const std::string file = path.find('/') == std::string::npos ? "./" + path : path;
  void* handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return cat("it cannot be loaded: ", ::dlerror());
  Library out;
  if (!find(handle, "libttsim_init", out.init_) || !find(handle, "libttsim_clock", out.clock_) ||
      !find(handle, "libttsim_pci_config_rd32", out.config_) || !find(handle, "libttsim_pci_mem_rd_bytes", out.read_) ||
      !find(handle, "libttsim_pci_mem_wr_bytes", out.write_))
    return std::string("it has not the functions of libttsim");
  find(handle, "libttsim_set_pci_dma_mem_callbacks", out.share_);
  if (with_memory && !out.share_memory()) return std::string("it does not let a chip reach memory of the host");
  out.init_();
  const std::uint32_t device = out.config_(0, 0);
  if (device != kWormhole) return cat("its device is ", hex_text(device), ", and Wormhole's is ", hex_text(kWormhole));
  out.bar_ = std::uint64_t{out.config_(0, 0x14)} << 32 | (out.config_(0, 0x10) & ~15u);
  return out;
}

void Library::look_at(std::uint32_t x, std::uint32_t y) {
  const std::uint64_t node = std::uint64_t{x | y << 6} << 12;
  const std::uint64_t low = node, high = node | kLast / kWindowBytes;
  write_(bar_ + kWindowRegisters + std::uint64_t{8} * kFirstWindow, &low, 8);
  write_(bar_ + kWindowRegisters + std::uint64_t{8} * (kFirstWindow + 1), &high, 8);
}

std::uint64_t Library::window(std::uint32_t address) const {
  return bar_ + kWindows + (address >= kLast ? kWindowBytes + (address - kLast) : address);
}

void Library::read(std::uint32_t address, void* to, std::uint32_t bytes) { read_(window(address), to, bytes); }
void Library::write(std::uint32_t address, const void* from, std::uint32_t bytes) { write_(window(address), from, bytes); }

// Two windows after those of look_at().
std::uint64_t Library::node_window(std::uint32_t x, std::uint32_t y, std::uint64_t address) {
  const unsigned number = kFirstWindow + 2;
  const std::uint64_t place = std::uint64_t{x | y << 6} << 12 | address / kWindowBytes;
  write_(bar_ + kWindowRegisters + std::uint64_t{8} * number, &place, 8);
  return bar_ + kWindows + 2 * kWindowBytes + address % kWindowBytes;
}

void Library::read_node(std::uint32_t x, std::uint32_t y, std::uint64_t address, char* to, std::size_t bytes) {
  while (bytes > 0) {
    const std::size_t part = std::min<std::size_t>(bytes, kWindowBytes - address % kWindowBytes);
    read_(node_window(x, y, address), to, static_cast<std::uint32_t>(part));
    address += part;
    to += part;
    bytes -= part;
  }
}

void Library::write_node(std::uint32_t x, std::uint32_t y, std::uint64_t address, const char* from, std::size_t bytes) {
  while (bytes > 0) {
    const std::size_t part = std::min<std::size_t>(bytes, kWindowBytes - address % kWindowBytes);
    write_(node_window(x, y, address), from, static_cast<std::uint32_t>(part));
    address += part;
    from += part;
    bytes -= part;
  }
}

bool Library::share_memory() {
  if (share_ == nullptr) return false;
  void* memory = ::mmap(nullptr, kHostBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  host_bytes = static_cast<char*>(memory);
  share_([](std::uint64_t address, void* to, std::uint32_t bytes) { std::memcpy(to, host_bytes + address % kHostBytes, bytes); },
         [](std::uint64_t address, const void* from, std::uint32_t bytes) { std::memcpy(host_bytes + address % kHostBytes, from, bytes); });
  return true;
}
char* Library::host_memory(std::uint64_t address) { return host_bytes + address % kHostBytes; }

}  // namespace buda::ttsim
