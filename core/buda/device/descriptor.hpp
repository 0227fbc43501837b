// SPDX-License-Identifier: Apache-2.0
// One chip kind as it sits on a board: its grid, memories, limits and costs, all data. Nothing here is an enumeration of known chips.
#pragma once

#include <buda/base/grid.hpp>
#include <buda/device/kernel_cost.hpp>
#include <buda/tensor/data_format.hpp>

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::device {

// A node of the network on chip, written "x-y": column first, unlike the logical [row, col] of workers.
struct NocCoord {
  std::int32_t x = 0;
  std::int32_t y = 0;
  std::string text() const;
  friend constexpr auto operator<=>(const NocCoord&, const NocCoord&) = default;
};

struct NocSize {
  std::int32_t x = 0;  // columns
  std::int32_t y = 0;  // rows
  constexpr bool contains(NocCoord c) const { return c.x >= 0 && c.y >= 0 && c.x < x && c.y < y; }
  friend constexpr auto operator<=>(const NocSize&, const NocSize&) = default;
};

// The workers left after harvesting: logical row r stands at NoC row y[r], logical column c at NoC column x[c]. Both ascend.
struct Workers {
  std::vector<std::int32_t> x;
  std::vector<std::int32_t> y;
  friend bool operator==(const Workers&, const Workers&) = default;
};

struct DramChannel {
  std::vector<NocCoord> ports;      // index = sub-channel
  std::uint64_t lowest_usable = 0;  // byte address below which the channel belongs to the runtime
  friend bool operator==(const DramChannel&, const DramChannel&) = default;
};

// Bytes [begin, begin + size) of one DRAM channel that the host can reach directly.
struct HostWindow {
  std::int32_t channel = 0;
  std::uint64_t begin = 0;
  std::uint64_t size = 0;
  friend bool operator==(const HostWindow&, const HostWindow&) = default;
};

struct Dram {
  std::vector<DramChannel> channels;
  std::uint64_t bank_bytes = 0;  // capacity of each channel
  std::optional<HostWindow> host_window;
  friend bool operator==(const Dram&, const Dram&) = default;
};

// Memory of the host that the chip reaches by DMA: `channels` regions of `channel_bytes` each, which the chip sees one after the other
// from address `base` on; the last `reserved_bytes[i]` of channel i belong to the runtime.
struct HostMemory {
  std::int32_t channels = 0;
  std::uint64_t channel_bytes = 0;
  std::uint64_t base = 0;
  std::vector<std::uint64_t> reserved_bytes;
  friend bool operator==(const HostMemory&, const HostMemory&) = default;
};

// A worker's L1: firmware, kernels, the default overlay blob and the headers of tiles of one size live below `operands_begin`, operand
// buffers from there to the last `reserved_end` bytes. An op whose overlay blob is larger than `overlay_blob_included` takes the difference
// from the operand buffers, and so does every further size of tiles that a core handles: `tile_headers_bytes` each.
struct L1Map {
  std::uint64_t size = 0;
  std::uint64_t operands_begin = 0;
  std::uint64_t overlay_blob_default = 0;
  std::uint64_t overlay_blob_included = 0;
  std::uint64_t tile_headers = 0;  // address of the headers of the first size
  std::uint64_t tile_headers_bytes = 0;
  std::uint64_t reserved_end = 0;
  constexpr std::uint64_t operands_end() const { return size > reserved_end ? size - reserved_end : 0; }
  constexpr std::uint64_t operand_bytes() const { return operands_end() > operands_begin ? operands_end() - operands_begin : 0; }
  friend bool operator==(const L1Map&, const L1Map&) = default;
};

// Tiles of 32x32 that one half of the double-buffered destination register holds, by the width of the accumulated values.
struct DestRegister {
  std::int32_t tiles_16bit = 0;
  std::int32_t tiles_32bit = 0;
  friend bool operator==(const DestRegister&, const DestRegister&) = default;
};

// What an op may ask of the chip; the validator and the balancer go by these, never by the name of the architecture.
struct Features {
  bool fp32_accumulate = false;       // acc_df Float32
  bool fp32_copy_needs_fp32 = false;  // with which ops that copy their input into the register take Float32 only
  bool int32_accumulate = false;      // acc_df Int32 and the integer formats
  bool l1_accumulate = false;         // the packer adds to what is in L1
  bool stochastic_rounding = false;
  bool small_tiles = false;              // tile_dim other than 32x32
  bool sfpu_on_pack = false;             // sfpu_execution_thread: pack
  bool binary_transpose = false;         // TM transpose on input 0 of a binary op
  bool dest_as_operand_1 = false;        // fused sub-op reads dest as its second operand
  bool gradient_any_op = false;          // gradient_op beyond matmul, multiply, nop and datacopy
  bool kernel_broadcast_blocks = false;  // kernel_broadcast factors of matmuls must cover whole blocks
  bool op_to_op_across_graphs = false;   // consecutive epochs of different chips become one temporal epoch
  bool dram_sub_channels = false;        // queues may choose read_ports and write_ports
  bool remote_input_queues = false;      // a queue on one chip may feed an op on another
  bool stream_tile_clearing = false;     // streams of kernel inputs free tiles themselves
  bool mixed_exponents_matmul = false;   // out_df and intermed_df of an accumulating op may differ in exponent family
  friend bool operator==(const Features&, const Features&) = default;
};

// Limits of the stream hardware and of the runtime that drives it. The number of a stream says what it may do: those from 0 on can
// multicast (multicast_per_core of them are used for it); kernel inputs, outputs and intermediates have their own from the given numbers
// on, in order of operands; those from first_extra on are free.
struct StreamLimits {
  std::int32_t per_core = 0;  // streams of one worker
  std::int32_t multicast_per_core = 0;
  std::int32_t dram_input_per_core = 0;
  std::int32_t dram_output_per_core = 0;
  std::int32_t relays_per_core = 0;
  std::int32_t max_fan_out = 0;        // streams that one producer may feed
  std::int32_t max_gather_inputs = 0;  // sources of one pipe that keep their bandwidth
  std::int32_t max_dram_input_queues = 0;
  std::int32_t max_dram_output_queues = 0;
  std::int32_t max_dram_reads_per_input = 0;  // entries of one DRAM read list
  std::int32_t bytes_per_phase = 0;           // of overlay blob, per stream phase
  std::int32_t max_tiles_per_phase = 0;
  std::int32_t first_input = 0, first_output = 0, first_intermediate = 0, first_extra = 0;
  std::vector<std::int32_t> special_inputs;  // streams of inputs 0, 1, … that do not follow from first_input
  std::int32_t input(std::int32_t operand) const {
    bool special = operand >= 0 && static_cast<std::size_t>(operand) < special_inputs.size();
    return special ? special_inputs[static_cast<std::size_t>(operand)] : first_input + operand;
  }
  friend bool operator==(const StreamLimits&, const StreamLimits&) = default;
};

// What moves data takes, as estimates and the simulator have it in common (core/buda/cost/transfer_model.hpp), with its sources in the
// device file. Rates are in bytes per cycle, times in cycles.
struct TransferParameters {
  double link_rate = 0, interface_rate = 0;  // of the networks, in practice
  // Request and response: a fixed part, and one for each link that either crosses. What is sent needs no request: half of it.
  double latency_cycles = 0, hop_cycles = 0;
  // Beyond the network: of an access to DRAM, of an Ethernet link, of a write over PCIe.
  double memory_cycles = 0, ethernet_cycles = 0, pcie_cycles = 0;
  // From one epoch to the next: queue headers and the synchronization with the firmware, and the bytes of the kernels of a worker. Until
  // its pipelines are full, an epoch takes so much beyond its estimate, when stages are cut.
  double epoch_switch_cycles = 0, kernel_bytes = 0, epoch_start_cycles = 0;
  // What a stream gets of a link's rate: one that is looked at alone, and one next to others in an epoch.
  double stream_share = 0, shared_stream_share = 0;
  // By how much networks are relieved when streams choose between them; how many links of a channel's core carry its queues.
  double network_relief = 0, links_of_queues = 0;
  friend bool operator==(const TransferParameters&, const TransferParameters&) = default;
};

// Parameters of the estimators, with their sources in the device file.
struct CostParameters {
  // Out of line, as the device's: most who ask for a parameter copy none.
  CostParameters();
  CostParameters(const CostParameters&);
  CostParameters(CostParameters&&) noexcept;
  CostParameters& operator=(const CostParameters&);
  CostParameters& operator=(CostParameters&&) noexcept;
  ~CostParameters();

  double clock_ghz = 0;
  double math_cycles_per_tile = 0;  // 32x32x32 tile product at LoFi, the hardware's peak
  double dram_channel_gbs = 0;      // 1e9 bytes per second of one channel, measured, shared by its ports
  double host_gbs = 0;              // PCIe, device to host
  double eth_link_gbs = 0;          // 0 without ethernet
  double noc_bytes_per_cycle = 0;   // one link, one direction
  TransferParameters transfers;
  // What kernels take (core/buda/cost).
  std::vector<KernelCost> kernels;
  std::vector<AccumulationCost> accumulations;
  std::vector<MatmulCost> matmuls;
  std::vector<SparseCost> sparse_matmuls;
  friend bool operator==(const CostParameters&, const CostParameters&) = default;
};

struct DeviceDescriptor {
  // Out of line, since most who ask for a property copy none.
  DeviceDescriptor();
  DeviceDescriptor(const DeviceDescriptor&);
  DeviceDescriptor(DeviceDescriptor&&) noexcept;
  DeviceDescriptor& operator=(const DeviceDescriptor&);
  DeviceDescriptor& operator=(DeviceDescriptor&&) noexcept;
  ~DeviceDescriptor();

  std::string base;                      // in files: the descriptor whose values this one starts from; empty once loaded
  std::string name;                      // "n150"
  std::string summary;                   // one line for lists
  std::string arch;                      // the name netlists use: "grayskull", "wormhole_b0"
  std::int32_t chips = 1;                // chips of this kind on the board, numbered from 0
  std::vector<std::int32_t> mmio_chips;  // those that the host reaches directly
  NocSize noc;
  std::int32_t noc_address_bits = 0;  // of an address within a NoC node; its place stands above, 6 bits x, then 6 bits y
  std::optional<NocCoord> pcie;       // where host memory is reached
  Workers workers;
  std::vector<std::int32_t> harvested_y;  // NoC rows whose workers are switched off
  std::vector<NocCoord> eth;              // index = ethernet channel
  std::uint64_t eth_l1_bytes = 0;
  Dram dram;
  HostMemory host;
  L1Map l1;
  std::int32_t tile_alignment = 0;  // bytes; of tiles, queue addresses and queue sizes
  std::int32_t queue_header_bytes = 0;
  DestRegister dest;
  Features features;
  std::vector<DataFormat> formats;  // what queues and operands may hold
  StreamLimits streams;
  CostParameters cost;
  friend bool operator==(const DeviceDescriptor&, const DeviceDescriptor&) = default;

  // The logical grid of workers.
  GridShape grid() const { return {static_cast<std::int32_t>(workers.y.size()), static_cast<std::int32_t>(workers.x.size())}; }
  // Where the worker at a logical place stands; the place must be inside grid().
  NocCoord noc_of_worker(GridCoord c) const {
    return {workers.x[static_cast<std::size_t>(c.col)], workers.y[static_cast<std::size_t>(c.row)]};
  }
  // The logical place of a worker, or nothing when no worker stands there.
  std::optional<GridCoord> worker_at(NocCoord c) const;

  // Tiles of a ublock that the destination register holds when it accumulates in `acc`.
  std::int32_t dest_tiles(DataFormat acc) const;
  bool supports(DataFormat format) const;
};

}  // namespace buda::device

#pragma GCC visibility pop
