// SPDX-License-Identifier: Apache-2.0
// Ops on the grid of workers.
#include <buda/netlist/check/check_context.hpp>

namespace buda::netlist {
namespace {

std::string rect_text(const GridRect& r) {
  return cat("rows ", r.origin.row, "-", r.origin.row + r.shape.rows - 1, ", columns ", r.origin.col, "-", r.origin.col + r.shape.cols - 1);
}

bool fits(CheckContext& ctx, const Op& op) {
  GridShape grid = ctx.device.grid();
  GridRect r = op.occupied();
  if (std::int64_t{r.origin.row} + r.shape.rows <= grid.rows && std::int64_t{r.origin.col} + r.shape.cols <= grid.cols) return true;
  Diagnostic& d =
      ctx.op_error("NL301", op, Field::grid_size,
                   cat("it is placed on ", rect_text(r), ", but '", ctx.device.name, "' has ", grid.rows, "x", grid.cols, " workers"));
  needs(d, "workers", static_cast<std::uint64_t>(r.shape.volume()), static_cast<std::uint64_t>(grid.volume()));
  if (r.shape.rows <= grid.rows && r.shape.cols <= grid.cols) d.hint = "move it with grid_loc";
  return false;
}

}  // namespace

// Each worker of the grid remembers which op is placed on it, so that a graph costs as much as its ops are large, at most the grid's size
// each.
void check_placement(CheckContext& ctx) {
  GridShape grid = ctx.device.grid();
  for (const Graph& graph : ctx.netlist.graphs) {
    std::vector<const Op*> owner(static_cast<std::size_t>(grid.volume()), nullptr);
    for (const Op& op : graph.ops) {
      if (op.type == OpType::ethernet_datacopy) {
        if (ctx.device.eth.empty())
          ctx.op_error("NL301", op, Field::type, cat("it is placed on Ethernet cores, and '", ctx.device.name, "' has none"));
        continue;
      }
      if (!fits(ctx, op)) continue;
      GridRect r = op.occupied();
      const Op* clash = nullptr;
      for (std::int32_t row = r.origin.row; row < r.origin.row + r.shape.rows; ++row) {
        for (std::int32_t col = r.origin.col; col < r.origin.col + r.shape.cols; ++col) {
          const Op*& place = owner[static_cast<std::size_t>(row) * static_cast<std::size_t>(grid.cols) + static_cast<std::size_t>(col)];
          if (place != nullptr) clash = place;
          place = &op;
        }
      }
      if (clash == nullptr) continue;
      Diagnostic& d = ctx.op_error("NL302", op, Field::grid_loc,
                                   cat("it is placed on ", rect_text(r), ", which overlaps the workers of '", clash->name, "'"));
      d.notes.push_back(
          {ctx.netlist.loc(clash->places.of(Field::grid_loc)), cat("'", clash->name, "' is placed on ", rect_text(clash->occupied()))});
    }
  }
}

}  // namespace buda::netlist
