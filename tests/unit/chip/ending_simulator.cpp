// SPDX-License-Identifier: Apache-2.0
// A library with the interface of Tenstorrent's simulator that ends the process when its clock is to go on, as that one does on errors.
#include <cstdint>
#include <cstdlib>

extern "C" {

void libttsim_init() {}
void libttsim_clock(std::uint32_t) { std::_Exit(7); }
std::uint32_t libttsim_pci_config_rd32(std::uint32_t, std::uint32_t offset) { return offset == 0 ? 0x401e1e52 : 0; }
void libttsim_pci_mem_rd_bytes(std::uint64_t, void* to, std::uint32_t bytes) {
  for (std::uint32_t i = 0; i < bytes; ++i) static_cast<char*>(to)[i] = 0;
}
void libttsim_pci_mem_wr_bytes(std::uint64_t, const void*, std::uint32_t) {}
void libttsim_set_pci_dma_mem_callbacks(void (*)(std::uint64_t, void*, std::uint32_t),
                                        void (*)(std::uint64_t, const void*, std::uint32_t)) {}
}
