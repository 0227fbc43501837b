// From a netlist to the buffers and pipes of one epoch.
#pragma once

#include <buda/device/cluster.hpp>
#include <buda/diag/result.hpp>
#include <buda/pipes/graph/pipe_graph.hpp>
#include <buda/pipes/plan/epochs.hpp>
#include <buda/pipes/plan/netlist_index.hpp>
#include <buda/tensor/data_format.hpp>

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace buda::pipes {

// Constants that inputs are padded with: kept by the runtime in every DRAM bank, the same addresses in all epochs.
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

  // All pads of all inputs of the graphs that the epochs execute; too many for the area is an error.
  static Result<PaddingTable> make(const netlist::Netlist& netlist, const std::vector<Epoch>& epochs, std::int32_t tile_alignment);

  const std::vector<Entry>& entries() const { return entries_; }  // by format, then the bits of the value
  std::uint64_t address(DataFormat format, double value) const;

 private:
  std::vector<Entry> entries_;
};

// Ids begin after those of the netlist's queues in every epoch, so that an epoch's file does not depend on other epochs.
// `cluster` is asked where an epoch spans several chips.
Result<PipeGraph> build_pipes(const NetlistIndex& index, const device::DeviceDescriptor& device, const Epoch& epoch,
                              const PaddingTable& padding, const device::Cluster& cluster = {});

}  // namespace buda::pipes
