// SPDX-License-Identifier: Apache-2.0
// Queues, rows of datums, and links over PCIe.
#include <buda/overlay/blob/yaml_phases.hpp>

#include <optional>

namespace buda::overlay {
namespace {

void add_pcie_keys(const YamlSource& y, const Stream& s, const Stream* sender, YamlEntry& e) {
  const PcieWrite& w = sender != nullptr ? *sender->pcie : *s.pcie;
  e.hex("dram_buf_noc_addr", y.noc_address(w.port, w.address)).add("dram_streaming", true);
  if (sender == nullptr) {
    const bool packed = s.kind == StreamKind::output || s.kind == StreamKind::fork;
    e.add("dram_output", true).add("dram_output_no_push", packed).add("dram_writes_with_cmd_buf", true);
    if (!packed) e.add("legacy_pack", true);
    return;
  }
  e.add("dram_input", true).add("num_scatter_inner_loop", 1).add("pipe_scatter_output_loop_count", 1);
  e.add("ptrs_not_zero", moves_pointers(s)).add("resend", false);
  if (s.kind == StreamKind::input) e.add("dram_input_no_push", true);
}

void add_row_keys(const YamlSource& y, const Stream& s, const RowReading& rows, YamlEntry& e) {
  e.add("c_dim_size", rows.columns);
  e.add("dram_embeddings_row_shift", rows.row_bytes).add("dram_embeddings_row_tiles", rows.tiles_per_chunk);
  if (rows.looks_up) {
    const RowLookup& lookup = *s.read->lookup;
    e.add("scatter_list_stream_id", lookup.stream).add("scatter_list_indicies_per_tile", lookup.numbers_per_tile);
    e.add("scatter_list_indicies_per_input", rows.rows_per_pass);
    return;
  }
  const pipes::Buffer& source = *y.buffers.find(y.dram(s.read->buffers.front().dram).id);
  e.add("hw_tilize", true).add("c_dim_loop_num_rows", rows.rows_per_column).add("tilize_row_col_offset", rows.first_byte);
  e.add("tile_dim_r", source.untilized.tile_rows).add("tile_dim_c", source.untilized.tile_cols);
}

// Cores that write the same rows are numbered; the number of a core follows from the offset of its first row.
void add_written_row_keys(const RowWrite& w, YamlEntry& e) {
  const std::int64_t row_of_cores = w.pitch * w.rows;
  const std::int64_t across = w.pitch / w.row_bytes, down = w.plane_pitch / row_of_cores;
  e.add("moves_raw_data", true).add("batch_dim_size", w.planes).add("r_dim_size", w.rows / w.tile_rows);
  e.add("c_dim_size", w.tiles_across);
  e.add("zr_dim_size", 1).add("zc_dim_size", 1).add("tile_dim_r", w.tile_rows).add("tile_dim_c", w.tile_cols);
  e.add("skip_col_bytes", w.pitch).add("skip_col_tile_row_bytes", w.pitch * w.tile_rows).add("skip_col_row_bytes", w.plane_pitch);
  e.add("skip_col_zrow_bytes", row_of_cores).add("skip_zcol_bytes", w.row_bytes);
  e.add("stride", w.offset / row_of_cores * across + w.offset % w.pitch / w.row_bytes).add("total_strides", across * down);
  e.add("stride_offset_size_bytes", w.offset);
}

void add_dram_keys(const YamlSource& y, const YamlPhaseIndex& index, const YamlPhase& p, YamlEntry& e) {
  const Stream& s = *p.stream;
  const DramBuffer& d = y.dram(s.read ? s.read->buffers.front().dram : s.write->dram);
  e.hex("dram_buf_noc_addr", y.noc_address(d));
  bool streamed = s.read ? !s.read->before_epoch : !s.write->after_epoch;
  e.add("dram_io", streamed);
  if (d.ram) e.add("dram_ram", true);
  if (s.read) e.add("dram_input", true);
  if (s.write) e.add("dram_output", true);
  if (s.kind == StreamKind::intermediate) {
    e.add("outgoing_data_noc", s.noc_out).add("vc", s.vc);
    return;
  }
  if (s.read) {
    const std::optional<RowReading> rows = y.rows_of(s);
    e.add("num_scatter_inner_loop", rows && rows->looks_up ? rows->columns : 1).add("pipe_scatter_output_loop_count", 1);
    e.add("ptrs_not_zero", moves_pointers(s));
    e.add("resend", s.read->before_epoch);
    if (streamed && s.kind == StreamKind::input && !index.row_numbers.contains({p.core, s.number})) e.add("dram_input_no_push", true);
    if (rows) add_row_keys(y, s, *rows, e);
  }
  if (s.write) {
    const bool packed = (s.kind == StreamKind::output || s.kind == StreamKind::fork) && !s.scattered && !s.write->rows;
    e.add("dram_output_no_push", streamed && packed)
        .add("dram_writes_with_cmd_buf", s.write->rows.has_value() || y.dram(s.write->dram).host);
    if (s.write->rows) add_written_row_keys(*s.write->rows, e);
  }
}

}  // namespace

void add_queue_keys(const YamlSource& y, const YamlPhaseIndex& index, const YamlPhase& p, YamlEntry& e) {
  const Stream& s = *p.stream;
  if (s.read || s.write) add_dram_keys(y, index, p, e);
  if (const Stream* sender = y.blob.sender_over_pcie(s); s.pcie || sender != nullptr) add_pcie_keys(y, s, sender, e);
}

}  // namespace buda::overlay
