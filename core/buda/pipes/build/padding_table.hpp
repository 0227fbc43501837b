// SPDX-License-Identifier: Apache-2.0
// Constants with which inputs are padded.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/netlist/model/netlist.hpp>
#include <buda/pipes/plan/epochs.hpp>
#include <buda/tensor/data_format.hpp>

#include <cstdint>
#include <vector>

namespace buda::pipes {

// The runtime keeps the constants in every DRAM bank, at the same addresses in all epochs.
class PaddingTable {
 public:
  static constexpr std::uint64_t kAddress = 6 * 1024 * 1024;
  static constexpr std::uint64_t kBytes = 100 * 1024;
  static constexpr std::int64_t kTiles = 13;  // of one constant

  struct Entry {
    DataFormat format{};
    double value = 0;
    std::uint64_t address = 0;
  };

  // All pads of all inputs of the graphs that the epochs execute. PP032 if the area is too small for them.
  static Result<PaddingTable> make(const netlist::Netlist& netlist, const std::vector<Epoch>& epochs, std::int32_t tile_alignment);

  const std::vector<Entry>& entries() const { return entries_; }  // by format, then the bits of the value
  std::uint64_t address(DataFormat format, double value) const;

 private:
  std::vector<Entry> entries_;
};

}  // namespace buda::pipes
