// SPDX-License-Identifier: Apache-2.0
// Selection of positions by shape, unpad, pad and gather.
#include <buda/passes/lower/steps/select.hpp>

#include <buda/passes/lower/steps/copies.hpp>
#include <buda/passes/lower/steps/padding.hpp>

#include <algorithm>
#include <array>
#include <optional>

namespace buda::passes {

using graph::Tm;

namespace {

using Selection = std::array<Places, 4>;  // of (w, z, r, c)

// How many places of the list are its first ones in their order; what follows must be zeros only for it to be a prefix.
struct Prefix {
  std::int64_t kept = 0;
  bool is_all = false;  // nothing but zeros follows
};

Prefix prefix_of(const Places& places) {
  Prefix p;
  auto at = places.begin();
  while (at != places.end() && *at == p.kept) ++p.kept, ++at;
  p.is_all = std::all_of(at, places.end(), [](std::int64_t place) { return place == kNone; });
  return p;
}

// The first `kept` columns (rows) alone: what is left out is padding now, or whole tiles of it are left out on the edge.
Result<Lowered> first_places(OpBuilder& out, Lowered x, std::int64_t kept, bool columns) {
  const std::size_t axis = columns ? 3 : 2;
  const std::int64_t side = x.shape[axis];
  std::int64_t fewer = tiles(side) - tiles(kept), cut = side - kept;
  if (fewer > 0) {
    BUDA_ASSIGN(x, ready_for_unpad(out, x, !columns));
    x.tms.push_back(columns ? Tm::unpad(0, fewer) : Tm::unpad(fewer, 0));
  }
  bool zeros = columns && x.cols.is(0) && x.corner.is(0) && cut <= x.zero_cols;
  // Where there was no padding, what is known of it has no meaning.
  const auto with_left_out = [padded = columns ? x.pads_cols() : x.pads_rows()](const ValueRange& padding, const ValueRange& left_out) {
    return padded ? hull(padding, left_out) : left_out;
  };
  if (columns && !zeros) {
    x.cols = fewer > 0 && graph::fills_tiles(kept) ? x.cols : with_left_out(x.cols, x.data);
    x.corner = with_left_out(x.corner, x.rows);
  } else if (!columns) {
    x.rows = with_left_out(x.rows, x.data);
    x.corner = with_left_out(x.corner, x.cols);
  }
  x.zero_cols = columns ? std::max<std::int64_t>(0, x.zero_cols - cut) : x.zero_cols;
  (columns ? x.cols_alike : x.rows_alike) = false;
  x.shape[axis] = kept;
  return x;
}

// With zeros after the last column (row), `size` of both together.
Result<Lowered> with_zeros_after(OpBuilder& out, Lowered x, std::int64_t size, bool columns) {
  const std::size_t axis = columns ? 3 : 2;
  const std::int64_t side = x.shape[axis];
  BUDA_ASSIGN(x, columns ? with_column_padding(out, x, 0) : with_row_padding(out, x, 0));
  (columns ? x.cols_alike : x.rows_alike) = false;
  x.data = hull(x.data, ValueRange::exactly(0));
  if (columns) {
    x.zero_cols += size - side;
    x.rows = hull(x.rows, x.corner);
    x.cols = x.corner = ValueRange::exactly(0);
  } else {
    x.cols = hull(x.cols, x.corner);
    x.rows = x.corner = ValueRange::exactly(0);
  }
  x.shape[axis] = size;
  const std::int64_t more = tiles(size) - tiles(side);
  if (more == 0) return x;
  x.tms.push_back(columns ? Tm::pad(0, more, 0) : Tm::pad(more, 0, 0));
  return materialized(out, "copy", x);
}

// Places along one side (rows or columns) that are a prefix with zeros after it; nothing where they are not.
Result<std::optional<Lowered>> selected_prefix(OpBuilder& out, Lowered x, const Places& places, bool columns) {
  const Prefix prefix = prefix_of(places);
  const auto size = static_cast<std::int64_t>(places.size());
  if (!prefix.is_all || prefix.kept == 0) return std::optional<Lowered>();
  x.peak.reset();
  if (prefix.kept < x.shape[columns ? 3 : 2]) {
    BUDA_ASSIGN(x, first_places(out, std::move(x), prefix.kept, columns));
  }
  if (size > prefix.kept) {
    BUDA_ASSIGN(x, with_zeros_after(out, std::move(x), size, columns));
  }
  return std::optional(std::move(x));
}

Result<Lowered> selected_rows(OpBuilder& out, Lowered x, const Places& z, const Places& r) {
  const bool slices_stay = keeps_all(z, x.shape[1]);
  if (slices_stay && keeps_all(r, x.shape[2])) return x;
  if (slices_stay) {
    BUDA_ASSIGN(auto prefix, selected_prefix(out, x, r, false));
    if (prefix) return std::move(*prefix);
  }
  return gathered_places(out, x, z, r);
}

Result<Lowered> selected_columns(OpBuilder& out, Lowered x, const Places& c) {
  if (keeps_all(c, x.shape[3])) return x;
  BUDA_ASSIGN(auto prefix, selected_prefix(out, x, c, true));
  if (prefix) return std::move(*prefix);
  Lowered turned = transposed(std::move(x));
  BUDA_ASSIGN(turned, gathered_places(out, turned, all_places(turned.shape[1]), c));
  return transposed(std::move(turned));
}

// Places along all leading axes together, in row-major order, from places along each.
Places joined_places(const Shape& model, std::size_t leading, const PlacesByAxis& axes) {
  Places joined{0};
  for (std::size_t axis = 0; axis < leading; ++axis) {
    Places along = all_places(model[axis]);
    for (const auto& [which, places] : axes)
      if (which == axis) along = places;
    Places next;
    for (std::int64_t outer : joined)
      for (std::int64_t place : along) next.push_back(outer == kNone || place == kNone ? kNone : outer * model[axis] + place);
    joined = std::move(next);
  }
  return joined;
}

// The four axes' selection from one of some of the model's axes; nothing where an axis inside the batch changes.
std::optional<Selection> in_four_axes(const Shape& model, const Shape& four, const PlacesByAxis& axes, Batch batch) {
  Selection which{all_places(four[0]), all_places(four[1]), all_places(four[2]), all_places(four[3])};
  if (batch == Batch::joined && model.rank() > 2) {
    which[1] = joined_places(model, model.rank() - 2, axes);
    for (const auto& [axis, places] : axes)
      if (axis + 2 >= model.rank()) which[axis + 4 - model.rank()] = places;
    return which;
  }
  for (const auto& [axis, places] : axes) {
    if (axis + 3 >= model.rank()) {
      which[axis + 4 - model.rank()] = places;
    } else if (axis + 4 == model.rank() && model.rank() == 4) {
      which[0] = places;
    } else if (!keeps_all(places, model[axis])) {
      return std::nullopt;
    }
  }
  return which;
}

}  // namespace

Result<Lowered> selected(Operands& in, std::size_t operand, const PlacesByAxis& axes, OpBuilder& out) {
  BUDA_ASSIGN(Lowered x, in.value(operand));
  auto which = in_four_axes(in.type(operand).shape, x.shape, axes, out.task().batch);
  if (!which)
    return out.refuse("it selects along axes whose elements the device processes one after the other",
                      "let it select along the last three axes");
  if (!keeps_all((*which)[0], x.shape[0]))
    return out.refuse("it selects among the inputs of a batch, which the device processes one after the other",
                      "select before the model's inputs are pushed");
  BUDA_ASSIGN(x, selected_rows(out, std::move(x), (*which)[1], (*which)[2]));
  return selected_columns(out, std::move(x), (*which)[3]);
}

Result<Lowered> sum_of(OpBuilder& out, std::string_view suffix, Lowered a, Lowered b) {
  BUDA_ASSIGN(a, without_transpose(out, "copy", a));
  BUDA_ASSIGN(b, without_transpose(out, "copy", b));
  Lowered sum = after_binary("add", {}, a, b);
  BUDA_ASSIGN(sum.source, out.op(suffix, "add", {a.edge(), b.edge()}));
  return sum;
}

}  // namespace buda::passes
