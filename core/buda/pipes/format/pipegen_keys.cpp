// SPDX-License-Identifier: Apache-2.0
// Tables of keys.
#include <buda/pipes/format/pipegen_keys.hpp>

#include <buda/base/text.hpp>

#include <algorithm>
#include <array>

namespace buda::pipes {
namespace {

using B = Buffer;
using U = UntilizedOutput;
using R = RowAccess;

// Sorted by name.
constexpr std::array kBufferKeys = std::to_array<BufferKey>({
    {"buffer_space_shared", &B::buffer_space_shared},
    {"buffer_type", SpecialKey::type},
    {"chip_id", SpecialKey::chip},
    {"core_coordinates", SpecialKey::core},
    {"dram_addr", SpecialKey::address},
    {"dram_buf_flag", &B::dram_buf_flag},
    {"dram_buf_streaming", &B::dram_buf_streaming},
    {"dram_chan", &B::dram_chan},
    {"dram_io_allow_overwrite", &B::dram_io_allow_overwrite},
    {"dram_io_flag", &B::dram_io_flag},
    {"dram_io_flag_is_remote", &B::dram_io_flag_is_remote},
    {"dram_io_skip_flow_ctrl", &B::dram_io_skip_flow_ctrl},
    {"dram_prefetch_incoming_noc_id", &B::dram_prefetch_incoming_noc_id},
    {"dram_ram_flag", &B::dram_ram_flag},
    {"dram_sub_chan", &B::dram_sub_chan},
    {"embedding_index", &R::embedding_index},
    {"embedding_indices_per_input", &R::indices_per_input},
    {"embedding_indices_per_tile", &R::indices_per_tile},
    {"embedding_op_data_input", &B::embedding_op_data_input},
    {"embedding_op_index_input", &B::embedding_op_index_input},
    {"embedding_table", &R::embedding_table},
    {"embedding_table_core_c_div", &R::table_core_c_div},
    {"embedding_table_row_size", &R::table_row_size},
    {"embedding_table_row_size_per_core", &R::table_row_size_per_core},
    {"epoch_tiles", &B::epoch_tiles},
    {"ethernet_chan", &B::ethernet_chan},
    {"hw_tilize", &R::hw_tilize},
    {"id", &B::operand},
    {"is_padding", &B::is_padding},
    {"is_post_tm_relay_buf", &B::is_post_tm_relay_buf},
    {"is_scatter", &B::is_scatter},
    {"mblock_k", &B::mblock_k},
    {"mblock_m", &B::mblock_m},
    {"mblock_n", &B::mblock_n},
    {"md_op_name", SpecialKey::op},
    {"overlay_blob_size", &B::overlay_blob_size},
    {"prefetch_type", SpecialKey::prefetch},
    {"producer_epoch_id", &B::producer_epoch_id},
    {"q_slots", &B::q_slots},
    {"replicate", &B::replicate},
    {"scatter_gather_num_tiles", &B::scatter_gather_num_tiles},
    {"size_tiles", &B::size_tiles},
    {"tile_clear_granularity", &B::tile_clear_granularity},
    {"tile_size", &B::tile_size},
    {"tiles_per_input", &B::tiles_per_input},
    {"tilize_mblock_n_loop_num_rows", &R::tilize_mblock_n_loop_num_rows},
    {"tilize_row_col_offset", &R::tilize_row_col_offset},
    {"ublock_ct", &B::ublock_ct},
    {"ublock_rt", &B::ublock_rt},
    {"uniqid", &B::id},
    {"untilized_output", &U::on},
    {"untilized_output_c_dim", &U::c},
    {"untilized_output_full_c_dim", &U::full_c},
    {"untilized_output_full_r_dim", &U::full_r},
    {"untilized_output_r_dim", &U::r},
    {"untilized_output_tile_dim_c", &U::tile_cols},
    {"untilized_output_tile_dim_r", &U::tile_rows},
    {"untilized_output_type_0_zdim", &U::type_0_z},
    {"untilized_output_type_1_zdim", &U::type_1_z},
    {"untilized_output_z_dim", &U::z},
    {"use_ethernet_fw_stream", &B::use_ethernet_fw_stream},
    {"use_shadow_rd_ptr", &B::use_shadow_rd_ptr},
    {"write_dram_buf_flag", &B::write_dram_buf_flag},
});

using P = Pipe;

// Sorted by name.
constexpr std::array kPipeKeys = std::to_array<PipeKey>({
    {"direct_mcast", &P::direct_mcast},
    {"dis_gather_opt", &P::disable_gather_optimization},
    {"dram_pipe_fork_index", &P::dram_fork_index},
    {"dram_pipe_num_forks", &P::dram_num_forks},
    {"dram_pipe_reader_index", &P::dram_reader_index},
    {"dram_pipe_total_readers", &P::dram_total_readers},
    {"ethernet_chan", &P::ethernet_chan},
    {"ethernet_pipe", &P::ethernet_pipe},
    {"id", &P::id},
    {"incoming_noc_id", &P::incoming_noc},
    {"incoming_vc", &P::incoming_vc},
    {"input_list", &P::inputs},
    {"mcast_core_rc", &P::mcast_core},
    {"mmio_pipe", MmioFlag{}},
    {"mmio_pipe_downstream", &P::mmio_downstream},
    {"op_input_dram_io_buf_size_tiles", &P::op_input_dram_io_buf_size_tiles},
    {"outgoing_noc_id", &P::outgoing_noc},
    {"outgoing_vc", &P::outgoing_vc},
    {"output_list", &P::outputs},
    {"output_padding_list", &P::output_padding},
    {"pipe_consumer_repeat", &P::consumer_repeat},
    {"pipe_periodic_repeat", &P::periodic_repeat},
});

template <class Keys>
std::optional<std::size_t> find_key(const Keys& keys, std::string_view name) {
  auto it = std::lower_bound(keys.begin(), keys.end(), name, [](const auto& key, std::string_view n) { return key.name < n; });
  if (it == keys.end() || it->name != name) return std::nullopt;
  return static_cast<std::size_t>(it - keys.begin());
}

// Keys in the order of net2pipe's files; a question mark after those that are left out when there is nothing to say.
constexpr std::string_view kShape = " ublock_rt ublock_ct mblock_m mblock_n mblock_k";
constexpr std::string_view kTilize =
    " hw_tilize? embedding_table? embedding_table_row_size? embedding_table_row_size_per_core? embedding_table_core_c_div?"
    " tilize_mblock_n_loop_num_rows? embedding_index? embedding_indices_per_tile? embedding_indices_per_input?";
constexpr std::string_view kUntilized =
    " untilized_output_tile_dim_r? untilized_output_tile_dim_c? untilized_output_c_dim? untilized_output untilized_output_full_r_dim"
    " untilized_output_full_c_dim untilized_output_r_dim untilized_output_z_dim untilized_output_type_0_zdim untilized_output_type_1_zdim";
constexpr std::string_view kDramFlags = " dram_io_flag dram_io_allow_overwrite dram_io_skip_flow_ctrl";
constexpr std::string_view kRare = " ethernet_chan? use_ethernet_fw_stream? producer_epoch_id?";

std::string keys_of(BufferType type, bool padding) {
  switch (type) {
    case BufferType::unpacker:
      return cat(
          "md_op_name buffer_type id uniqid epoch_tiles tiles_per_input ethernet_chan? chip_id core_coordinates size_tiles"
          " scatter_gather_num_tiles is_scatter replicate tile_size tile_clear_granularity tilize_row_col_offset?"
          " embedding_op_data_input? embedding_op_index_input? dram_io_flag_is_remote overlay_blob_size dram_buf_flag"
          " dram_buf_streaming write_dram_buf_flag dram_chan dram_sub_chan dram_addr q_slots",
          kDramFlags, " dram_ram_flag use_shadow_rd_ptr", kShape, kUntilized, " producer_epoch_id?");
    case BufferType::packer:
      return cat(
          "md_op_name buffer_type id uniqid epoch_tiles ethernet_chan? tiles_per_input chip_id core_coordinates size_tiles"
          " scatter_gather_num_tiles is_scatter replicate tile_size dram_io_flag_is_remote dram_buf_flag dram_buf_streaming"
          " write_dram_buf_flag dram_chan dram_sub_chan dram_addr q_slots",
          kDramFlags, " use_shadow_rd_ptr buffer_space_shared?", kShape, kUntilized, " producer_epoch_id?");
    case BufferType::intermediate:
    case BufferType::gradient_op:
      return cat(
          "md_op_name buffer_type id uniqid epoch_tiles chip_id core_coordinates size_tiles scatter_gather_num_tiles is_scatter"
          " replicate tile_size dram_io_flag_is_remote dram_buf_flag dram_buf_streaming write_dram_buf_flag"
          " dram_prefetch_incoming_noc_id dram_chan dram_sub_chan dram_addr q_slots",
          kDramFlags, " dram_ram_flag use_shadow_rd_ptr", kShape, kUntilized, kRare);
    case BufferType::relay:
    case BufferType::ethernet_relay:
      return cat(
          "md_op_name buffer_type id uniqid epoch_tiles chip_id tiles_per_input ethernet_chan? core_coordinates size_tiles"
          " scatter_gather_num_tiles is_scatter replicate tile_size dram_io_flag_is_remote dram_buf_flag dram_buf_streaming"
          " write_dram_buf_flag dram_prefetch_incoming_noc_id dram_chan dram_sub_chan dram_addr q_slots",
          kDramFlags, " dram_ram_flag use_shadow_rd_ptr ublock_rt ublock_ct mblock_m mblock_n use_ethernet_fw_stream?");
    case BufferType::prolog_relay:
      return cat(
          "md_op_name buffer_type id uniqid epoch_tiles chip_id core_coordinates size_tiles scatter_gather_num_tiles is_scatter"
          " replicate tile_size dram_io_flag_is_remote dram_buf_flag dram_buf_streaming write_dram_buf_flag dram_chan"
          " dram_sub_chan dram_addr q_slots",
          kDramFlags, " dram_ram_flag use_shadow_rd_ptr", kShape, kUntilized, " is_post_tm_relay_buf");
    case BufferType::dram_io:
    case BufferType::dram_prolog:
    case BufferType::dram_epilog:
    case BufferType::unknown:
      break;
  }
  return cat(
      "md_op_name buffer_type id uniqid epoch_tiles chip_id core_coordinates size_tiles scatter_gather_num_tiles tiles_per_input"
      " is_scatter replicate",
      padding ? " is_padding" : "",
      " tile_size dram_io_flag_is_remote dram_buf_flag prefetch_type dram_buf_streaming write_dram_buf_flag"
      " dram_prefetch_incoming_noc_id dram_chan dram_sub_chan dram_addr q_slots",
      kDramFlags, " dram_ram_flag use_shadow_rd_ptr", kShape, kTilize, kUntilized, kRare);
}

std::vector<WrittenKey> compile(const std::string& names) {
  std::vector<WrittenKey> out;
  for (std::string_view name : split(names, ' ')) {
    bool optional = name.ends_with('?');
    if (optional) name.remove_suffix(1);
    if (auto key = find_buffer_key(name)) out.push_back({*key, optional});
  }
  return out;
}

}  // namespace

std::span<const BufferKey> buffer_keys() { return kBufferKeys; }

std::span<const PipeKey> pipe_keys() { return kPipeKeys; }

std::optional<std::size_t> find_buffer_key(std::string_view name) { return find_key(kBufferKeys, name); }

std::optional<std::size_t> find_pipe_key(std::string_view name) { return find_key(kPipeKeys, name); }

const std::vector<WrittenKey>& written_keys(BufferType type, bool padding) {
  static const auto tables = [] {
    std::array<std::vector<WrittenKey>, 12> t;
    for (std::size_t i = 0; i < 11; ++i) t[i] = compile(keys_of(static_cast<BufferType>(i), false));
    t[11] = compile(keys_of(BufferType::unknown, true));
    return t;
  }();
  return tables[padding ? 11 : static_cast<std::size_t>(type)];
}

}  // namespace buda::pipes
