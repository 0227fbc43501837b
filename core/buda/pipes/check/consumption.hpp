// SPDX-License-Identifier: Apache-2.0
// Which tiles the cores of an epoch's ops take, and which its queues store: by the definitions of blocks, manipulations and tile orders,
// without the pipes that bring them. For whoever executes stream programs and checks what arrives.
#pragma once

#include <buda/device/descriptor.hpp>
#include <buda/diag/result.hpp>
#include <buda/netlist/model/tensor_maps.hpp>
#include <buda/pipes/build/padding_table.hpp>
#include <buda/pipes/graph/pipe_graph.hpp>
#include <buda/pipes/plan/epochs.hpp>
#include <buda/pipes/plan/netlist_index.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace buda::pipes {

// Consecutive tiles of one source.
struct ConsumedRun {
  enum class From : std::uint8_t { op, queue, padding };
  From from = From::op;
  const netlist::Op* op = nullptr;
  std::int64_t core = 0;   // of the op, row by row
  Id queue_buffer = 0;     // id of the buffer
  std::int64_t first = 0;  // among what the core or buffer has of one input of the graph
  std::int64_t count = 0;
};

// Of one input of the graph.
struct Consumption {
  std::vector<ConsumedRun> runs;
  std::int64_t tiles = 0;
  std::int64_t per_input = 0;  // added to `first` from input to input; 0 for what is read before the epoch
  // Where each tile belongs in what arrives, or is stored, as a tensor; some tiles in several places.
  struct Place {
    netlist::TileIndex tile;
    std::int64_t number = 0;  // among `tiles`
  };
  std::vector<Place> places;
  std::int64_t at_once = 1;  // tiles that the kernel waits for, reads and frees together
};

// All must outlive it.
class Consumptions {
 public:
  Consumptions(const NetlistIndex& index, const device::DeviceDescriptor& device, const Epoch& epoch, const PaddingTable& padding)
      : index_(index), device_(device), epoch_(epoch), padding_(padding) {}

  // What a core takes from an input of its op; nothing for inputs that come as rows. Errors as of check_pipes: PC015, PC017, PC019.
  Result<std::optional<Consumption>> input(const netlist::Op& op, std::size_t input, std::int64_t core, std::int64_t input_count) const;
  // What a buffer of a queue stores of the op that writes it; nothing where the op writes rows, or a gradient.
  Result<std::optional<Consumption>> stored(const netlist::Queue& queue, std::int64_t buffer, const netlist::Op& op,
                                            std::int64_t input_count) const;

 private:
  const NetlistIndex& index_;
  const device::DeviceDescriptor& device_;
  const Epoch& epoch_;
  const PaddingTable& padding_;
};

}  // namespace buda::pipes
