// SPDX-License-Identifier: Apache-2.0
// Inputs that are taken as rows: which piece of which row each core gets, datum by datum.
//
// A block of the file names a row of the queue's buffer. Which part of the row it is follows from its place in the pipe's list (after so
// many rows the next column of pieces begins) and from where the core's part of the buffer begins. The address that comes out is turned
// back into plane, row and column of the whole tensor, and compared with what the op's block shape says.
#include <buda/ops/table/op_traits.hpp>
#include <buda/pipes/check/check_rows.hpp>

#include <buda/base/text.hpp>
#include <buda/pipes/check/check_ops.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace buda::pipes {

using netlist::Op;
using netlist::Queue;

namespace {

// The first datum of a piece, in the whole tensor. For a table, `row` is the place in the list of indices.
struct PiecePlace {
  std::int64_t t = 0, row = 0, datum = 0;
  friend bool operator==(const PiecePlace&, const PiecePlace&) = default;
  std::string text() const { return cat("t=", t, " row=", row, " datum=", datum); }
};

// In the order in which the kernel takes them; `width` datums each.
std::vector<PiecePlace> pieces_taken(const Op& op, GridCoord core, TileDim tile, std::int64_t width) {
  const auto& b = op.block;
  const std::int64_t across = std::int64_t{b.mblock_n} * b.ublock_ct * tile.cols, left = core.col * across;
  std::vector<PiecePlace> out;
  auto strip = [&](std::int64_t t, std::int64_t first, std::int64_t rows) {
    for (std::int64_t datum = 0; datum < across; datum += width)
      for (std::int64_t i = 0; i < rows; ++i) out.push_back({t, first + i, left + datum});
  };
  if (ops::looks_up_rows(op.type)) {
    strip(0, 0, op.attributes.num_indices);
    return out;
  }
  const std::int64_t down = std::int64_t{b.mblock_m} * b.ublock_rt * tile.rows, top = core.row * down;
  const std::int64_t height = op.ublock_order == netlist::UblockOrder::r ? std::int64_t{b.ublock_rt} * tile.rows : down;
  for (std::int64_t t = 0; t < b.t; ++t)
    for (std::int64_t row = 0; row < down; row += height) strip(t, top + row, height);
  return out;
}

// The buffer of a queue that holds rows, as a pipe sees it through the keys of the file.
class RowReader {
 public:
  RowReader(const Queue& queue, bool looks_up, const Buffer& target)
      : queue_(queue),
        looks_up_(looks_up),
        offset_(target.rows.tilize_row_col_offset),
        datum_(tile_datum_bytes(queue.format, queue.tile_dim) / (queue.tile_dim.rows * queue.tile_dim.cols)) {}

  // Place of the piece that is number `position` in the list; nothing when it is not in the buffer.
  std::optional<PiecePlace> place(const Buffer& b, std::int64_t buffer, std::int64_t row, std::int64_t position,
                                  std::int64_t rows_per_column) const {
    const std::int64_t wide = std::int64_t{queue_.block.mblock_n} * queue_.block.ublock_ct * queue_.tile_dim.cols,
                       high = std::int64_t{queue_.block.mblock_m} * queue_.block.ublock_rt * queue_.tile_dim.rows;
    const std::int64_t columns = b.untilized.c, row_bytes = b.tile_size * columns * b.rows.table_core_c_div;
    if (rows_per_column < 1 || columns < 1 || row_bytes != wide * datum_) return std::nullopt;
    std::int64_t at = (looks_up_ ? 0 : row * row_bytes) + position / rows_per_column % columns * b.tile_size + offset_;
    if (at % datum_ != 0 || (!looks_up_ && at >= queue_.block.t * high * row_bytes)) return std::nullopt;
    std::int64_t line = at / row_bytes, column = at % row_bytes / datum_;
    PiecePlace p{line / high, line % high, column};
    p.datum += buffer % queue_.grid.cols * wide;
    if (looks_up_) {
      p.row = line == 0 ? row : -1;
    } else {
      p.row += buffer / queue_.grid.cols * high;
    }
    return p;
  }
  std::int64_t datum() const { return datum_; }

 private:
  const Queue& queue_;
  bool looks_up_;
  std::int64_t offset_, datum_;
};

// The pipe that reads the rows for a buffer, perhaps in front of relays, through which pieces pass in their order. Null after an error.
const Pipe* reading_pipe(const Checked& checked, const Buffer& target, const std::string& what, Findings& findings) {
  const CheckedEpoch& epoch = checked.epoch;
  const Buffer* at = &target;
  for (std::size_t steps = 0; steps < epoch.graph.buffers.size(); ++steps) {
    auto feeds = checked.feeds.find(at->id);
    if (feeds == checked.feeds.end() || feeds->second.size() != 1) break;
    const Pipe& pipe = epoch.graph.pipes[feeds->second.front().pipe];
    if (pipe.outputs.size() != 1) break;
    const Buffer* from = epoch.buffers.find(pipe.inputs.front());
    const bool is_relayed = checked.owners.is_relay(from);
    if (!is_relayed && at->rows.tilize_row_col_offset != target.rows.tilize_row_col_offset) {
      findings.error("PC016", target.op,
                     cat(what, ": rows are read from byte ", at->rows.tilize_row_col_offset, " on, and should be from ",
                         target.rows.tilize_row_col_offset));
      return nullptr;
    }
    if (!is_relayed) return &pipe;
    if (pipe.inputs.size() > 1 || pipe.repeats() > 1 || from->is_scatter || from->tile_size != target.tile_size) {
      findings.error("PC016", target.op,
                     cat(what, ": not all that comes to relay buffer_", from->id, " goes on in pieces of ", target.tile_size, " bytes"));
      return nullptr;
    }
    at = from;
  }
  findings.error("PC010", target.op, cat(what, ": rows must come from one pipe, and this pipe must have no other receiver"));
  return nullptr;
}

// Compares the pieces that a pipe lists with those that a core takes. Their number, or nothing after an error.
std::optional<std::size_t> compare_pieces(const Checked& checked, const Op& op, const Queue& queue, const Buffer& target, const Pipe& pipe,
                                          const RowReader& reader, const std::vector<PiecePlace>& wanted, const std::string& what,
                                          Findings& findings) {
  const bool looks_up = ops::looks_up_rows(op.type);
  std::size_t at = 0;
  for (std::int64_t r = 0; r < pipe.repeats(); ++r)
    for (Id block : pipe.inputs) {
      const Buffer* b = checked.epoch.buffers.find(block);
      const Owner* owner = checked.owners.find(b);
      const bool known = owner != nullptr && owner->kind == Owner::Kind::queue && &checked.epoch.netlist().queues[owner->queue] == &queue &&
                         b->tile_size == target.tile_size && (looks_up ? b->rows.embedding_table : b->rows.hw_tilize);
      if (!known) {
        findings.error("PC008", op.name,
                       cat(what, ": pipe_", pipe.id, " takes from ", block, ", which has no rows of queue '", queue.name, "'"));
        return std::nullopt;
      }
      const std::int64_t per_column = looks_up ? op.attributes.num_indices : b->rows.tilize_mblock_n_loop_num_rows;
      for (std::int64_t k = 0; k < b->scatter_gather_num_tiles; ++k, ++at) {
        auto place = reader.place(*b, owner->core, static_cast<std::int64_t>(block - b->id) + k, static_cast<std::int64_t>(at), per_column);
        if (at < wanted.size() && place && *place == wanted[at]) continue;
        findings.error(at < wanted.size() ? "PC013" : "PC014", op.name,
                       cat(what, ", piece ", at, ": ", place ? place->text() : std::string("nothing of the queue"), " comes (block ", block,
                           "); it should be ", at < wanted.size() ? wanted[at].text() : std::string("nothing")));
        return std::nullopt;
      }
    }
  return at;
}

}  // namespace

void check_rows(const Checked& checked, const Op& op, const netlist::Graph& graph, const Queue& queue, Findings& findings) {
  for (std::int64_t core = 0; core < op.grid.volume(); ++core) {
    const std::string what = cat("op '", op.name, "', input 0, core [", core / op.grid.cols, ", ", core % op.grid.cols, "]");
    const Buffer* target = checked.owners.input(op, core, 0);
    if (target == nullptr) {
      findings.error("PC018", op.name, cat(what, ": there is no buffer"));
      continue;
    }
    const Pipe* pipe = reading_pipe(checked, *target, what, findings);
    if (pipe == nullptr) continue;
    const RowReader reader(queue, ops::looks_up_rows(op.type), *target);
    if (target->tile_size < 1 || target->tile_size % reader.datum() != 0) {
      findings.error("PC016", op.name, cat(what, ": pieces of ", target->tile_size, " bytes are not whole datums"));
      continue;
    }
    const GridCoord coord{static_cast<std::int32_t>(core / op.grid.cols), static_cast<std::int32_t>(core % op.grid.cols)};
    const auto wanted = pieces_taken(op, coord, queue.tile_dim, target->tile_size / reader.datum());
    const auto count = compare_pieces(checked, op, queue, *target, *pipe, reader, wanted, what, findings);
    if (!count) continue;
    if (*count < wanted.size()) {
      findings.error("PC012", op.name, cat(what, ": the pipe ends; ", wanted[*count].text(), " is missing"));
      continue;
    }
    findings.counts.tiles += static_cast<std::int64_t>(*count);
    ++findings.counts.buffers;
    check_kernel_buffer(op, graph, 0, *target, static_cast<std::int64_t>(*count), findings);
  }
}

}  // namespace buda::pipes
