// SPDX-License-Identifier: Apache-2.0
// Buffers and the pipes between them: what moves where in one temporal epoch. The content of a pipegen file (docs/formats/pipegen.md).
#pragma once

#include <buda/base/grid.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::pipes {

// Ids of buffers and pipes. A buffer's id is a multiple of kIdStep; id + n names the block of a scattered buffer that begins with its tile
// n.
using Id = std::uint64_t;
inline constexpr Id kFirstId = 100'000'000'000;
inline constexpr Id kIdStep = 1'000'000'000;
constexpr Id base_id(Id id) { return id - id % kIdStep; }

enum class BufferType : std::uint8_t {
  unpacker,        // input of a kernel
  packer,          // output of a kernel
  intermediate,    // where a kernel accumulates
  gradient_op,     // the same, kept in a ram from epoch to epoch
  dram_io,         // buffer of a queue, read or written while the epoch runs
  dram_prolog,     // buffer of a queue, read into L1 before the epoch
  dram_epilog,     // written after the epoch
  relay,           // buffer in L1 between two pipes
  ethernet_relay,  // on an ethernet core
  prolog_relay,    // one core's share of an input that is read before the epoch, gathered from there
  unknown,         // padding
};
std::string_view buffer_type_name(BufferType type);
std::optional<BufferType> buffer_type_from_name(std::string_view name);

// Operand numbers in Buffer::operand.
inline constexpr std::int32_t kOutputOperand = 16;
inline constexpr std::int32_t kIntermediateOperand = 24;
inline constexpr std::int32_t kPrologChunkOperand = 32;
inline constexpr std::int32_t kRelayOperand = 33;

// The core_coordinates of a buffer that is not in a core.
inline constexpr std::int32_t kNoCore = 255;

// How a prologue buffer is read: as the queue has it, or in the order in which the consumer takes it.
enum class PrefetchType : std::int8_t { none = -1, pre_tm = 0, post_tm = 1 };

// Rows and columns of an output that is written without tiles; in tiles of tile_rows x tile_cols.
struct UntilizedOutput {
  std::int32_t full_r = 0, full_c = 0, r = 0, c = 0, z = 0, type_0_z = 0, type_1_z = 0;
  std::int32_t tile_rows = 0, tile_cols = 0;
  bool on = false;
  friend bool operator==(const UntilizedOutput&, const UntilizedOutput&) = default;
};

// Keys that only embedding tables, their indices, and inputs of the tilizer have; 0 without.
struct RowAccess {
  bool hw_tilize = false;
  std::int32_t tilize_mblock_n_loop_num_rows = 0, tilize_row_col_offset = 0;
  bool embedding_table = false, embedding_index = false;
  std::int32_t table_row_size = 0, table_row_size_per_core = 0, table_core_c_div = 0;
  std::int32_t indices_per_tile = 0, indices_per_input = 0;
  friend bool operator==(const RowAccess&, const RowAccess&) = default;
};

// Counts are in tiles, sizes in bytes. Member names follow the file's keys.
struct Buffer {
  std::string op;  // md_op_name: the op, or the queue
  BufferType type = BufferType::unknown;
  std::int32_t operand = 0;  // id: inputs 0…, output 16, intermediates 24…, prologue share 32, relays 33…
  Id id = 0;                 // uniqid
  std::int64_t epoch_tiles = 0;
  std::int64_t tiles_per_input = 0;
  std::int32_t chip = 0;
  GridCoord core{kNoCore, kNoCore};  // logical row and column
  std::int64_t size_tiles = 0;
  std::int64_t scatter_gather_num_tiles = 0;  // tiles of one block
  bool is_scatter = false;
  std::int64_t replicate = 0;  // blocks, of a scattered buffer
  std::int32_t tile_size = 0;
  std::int64_t tile_clear_granularity = 0;  // tiles that the kernel takes at once
  std::int32_t overlay_blob_size = 0;
  std::optional<Id> buffer_space_shared;  // the buffer in the same memory
  std::int32_t ublock_rt = 0, ublock_ct = 0, mblock_m = 0, mblock_n = 0, mblock_k = 0;

  std::int32_t dram_io_flag_is_remote = 0;
  bool dram_buf_flag = false;  // filled before the epoch
  bool dram_buf_streaming = false;
  bool write_dram_buf_flag = false;  // written back after the epoch
  std::int32_t dram_prefetch_incoming_noc_id = 0;
  PrefetchType prefetch_type = PrefetchType::pre_tm;
  std::int32_t dram_chan = 0, dram_sub_chan = 0;
  std::uint64_t dram_addr = 0;
  std::int64_t q_slots = 0;
  bool dram_io_flag = false, dram_io_allow_overwrite = false, dram_io_skip_flow_ctrl = false, dram_ram_flag = false;
  bool use_shadow_rd_ptr = false;
  bool is_padding = false;
  bool is_post_tm_relay_buf = false;
  std::optional<std::int32_t> ethernet_chan;
  bool use_ethernet_fw_stream = false;
  std::optional<std::int32_t> producer_epoch_id;
  bool embedding_op_data_input = false, embedding_op_index_input = false;
  UntilizedOutput untilized;
  RowAccess rows;

  bool is_queue() const {
    return type == BufferType::dram_io || type == BufferType::dram_prolog || type == BufferType::dram_epilog || is_padding;
  }
  // Tiles that one run of a pipe sees of this buffer.
  std::int64_t window_tiles() const { return is_scatter ? replicate * scatter_gather_num_tiles : scatter_gather_num_tiles; }
  friend bool operator==(const Buffer&, const Buffer&) = default;
};

// A core on a chip, logical.
struct CoreCoord {
  std::int32_t chip = 0;
  GridCoord core;
  friend bool operator==(const CoreCoord&, const CoreCoord&) = default;
};

// Takes blocks from its inputs in the order of the list, and gives all of them to each buffer of an output group; then again, with the
// next group.
struct Pipe {
  Id id = 0;
  std::vector<Id> inputs;                // blocks
  std::int64_t periodic_repeat = 0;      // how often the list is gone through; 0: once
  std::int64_t consumer_repeat = 1;      // how often each output group is in the list, one after the other
  std::vector<std::vector<Id>> outputs;  // groups; one is written as a flat list
  std::vector<Id> output_padding;        // per group: the constant that it receives instead, or 0; empty for one group
  std::vector<CoreCoord> mcast_core;     // per group: corner of the range, or the core
  std::int32_t incoming_noc = 0, outgoing_noc = 0, incoming_vc = 0, outgoing_vc = 0;
  std::int32_t op_input_dram_io_buf_size_tiles = 0;
  bool direct_mcast = false;
  bool ethernet_pipe = false;
  std::optional<std::int32_t> ethernet_chan;
  std::optional<std::int32_t> mmio_downstream;  // mmio_pipe, mmio_pipe_downstream
  bool disable_gather_optimization = false;
  // Of pipes that read DRAM: per input, how many pipes read the same buffer, and the number of this one among them.
  std::vector<std::int32_t> dram_total_readers, dram_reader_index;
  std::int32_t dram_num_forks = 1, dram_fork_index = 0;

  bool reads_dram() const { return !dram_total_readers.empty(); }
  std::int64_t repeats() const { return periodic_repeat > 0 ? periodic_repeat : 1; }
  friend bool operator==(const Pipe&, const Pipe&) = default;
};

// One temporal epoch. A graph per chip, in general one.
struct PipeGraph {
  // What it was made for: a shipped device, or the name of a descriptor file, without folders. Empty when a file does not say.
  std::string device;
  std::vector<std::string> graphs;
  std::vector<Buffer> buffers;  // ids are unique
  std::vector<Pipe> pipes;
  friend bool operator==(const PipeGraph&, const PipeGraph&) = default;
};

// Buffers by id. Look-ups are O(log n) and take ids of blocks too.
class BufferIndex {
 public:
  explicit BufferIndex(const std::vector<Buffer>& buffers);
  // The buffer that a block belongs to, or null.
  const Buffer* find(Id block) const;
  // The first of two buffers with the same id, or null.
  const Buffer* duplicate() const { return duplicate_; }

 private:
  std::vector<const Buffer*> by_id_;
  const Buffer* duplicate_ = nullptr;
};

}  // namespace buda::pipes

#pragma GCC visibility pop
