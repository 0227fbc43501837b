// Lowering of ops that select elements along axes: slices, borders, concatenations, gathers with known indices.
//
// Each is, for every axis, a list of places in the input (or of none, where a zero comes). The device does such a list
//   for nothing   where it keeps all places, or the first ones; zeros behind them that fit into the tile are there already
//   by an unpad   where whole tiles at the end are left out
//   by a picker   along z and r at once; along c after a transpose
// A concatenation is the sum of its parts, each with zeros in the others' places. A border of another number than 0 is added.
#include <buda/base/text.hpp>
#include <buda/ops/whole_graph/evaluate.hpp>
#include <buda/passes/lower/lowering_rules.hpp>

#include <algorithm>
#include <array>
#include <numeric>

namespace buda::passes {
namespace {

using graph::Edge;
using graph::Node;
using graph::Tm;

constexpr std::int64_t kNone = -1;
constexpr std::int64_t kMostPlaces = std::int64_t{1} << 24;

using Places = std::vector<std::int64_t>;
using Selection = std::array<Places, 4>;  // of (w, z, r, c)

Places all_of(std::int64_t size) {
  Places out(static_cast<std::size_t>(size));
  std::iota(out.begin(), out.end(), 0);
  return out;
}

Selection everything(const Shape& shape) { return {all_of(shape[0]), all_of(shape[1]), all_of(shape[2]), all_of(shape[3])}; }

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

bool keeps_all(const Places& places, std::int64_t size) {
  return static_cast<std::int64_t>(places.size()) == size && prefix_of(places).kept == size;
}

// Places along one side (rows or columns) that are a prefix with zeros behind it: by shape, unpad and padding. False where it is not so.
Result<bool> select_prefix(Lowering& l, const Node& n, Lowered& x, const Places& places, bool columns) {
  Prefix p = prefix_of(places);
  auto size = static_cast<std::int64_t>(places.size());
  const std::size_t axis = columns ? 3 : 2;
  std::int64_t side = x.shape[axis];
  if (!p.is_all || p.kept == 0) return false;
  x.peak.reset();
  if (p.kept < side) {
    std::int64_t fewer = tiles(side) - tiles(p.kept), cut = side - p.kept;
    if (fewer > 0) {
      // A netlist's edge begins with what it leaves out, and ends with what it adds.
      if (!x.tms.empty()) {
        BUDA_ASSIGN(x, l.settled(n, "copy", x));
      }
      x.tms.push_back(columns ? Tm::unpad(0, fewer) : Tm::unpad(fewer, 0));
    }
    bool zeros = columns && x.cols.is(0) && x.corner.is(0) && cut <= x.zero_cols;
    // What is left out is padding now.
    if (columns && !zeros) {
      x.cols = fewer > 0 && p.kept % graph::kTileSide == 0 ? x.cols : hull(x.cols, x.data);
      x.corner = hull(x.corner, x.rows);
    } else if (!columns) {
      x.rows = hull(x.rows, x.data);
      x.corner = hull(x.corner, x.cols);
    }
    x.zero_cols = columns ? std::max<std::int64_t>(0, x.zero_cols - cut) : x.zero_cols;
    (columns ? x.cols_alike : x.rows_alike) = false;
    side = x.shape[axis] = p.kept;
  }
  if (size > p.kept) {
    BUDA_ASSIGN(x, columns ? l.with_cols(n, x, 0) : l.with_rows(n, x, 0));
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
    std::int64_t more = tiles(size) - tiles(side);
    x.shape[axis] = size;
    if (more > 0) {
      x.tms.push_back(columns ? Tm::pad(0, more, 0) : Tm::pad(more, 0, 0));
      BUDA_ASSIGN(x, l.settled(n, "copy", x));
    }
  }
  return true;
}

Result<Lowered> pick_rows(Lowering& l, const Node& n, const Lowered& given, const Places& z, const Places& r) {
  auto slices = static_cast<std::int64_t>(z.size()), rows = static_cast<std::int64_t>(r.size());
  if (slices * rows > kMostPlaces) return l.refuse(n, cat("it moves ", slices * rows, " rows, each by itself"), "");
  bool slices_stay = keeps_all(z, given.shape[1]);
  std::int64_t below = tiles(given.shape[2]) * graph::kTileSide;
  Lowered x = slices_stay ? given : Lowering::stacked(given);
  std::vector<std::int32_t> picks;
  for (std::int64_t slice : slices_stay ? Places{0} : z)
    for (std::int64_t row : r) picks.push_back(slice == kNone || row == kNone ? 0 : static_cast<std::int32_t>(slice * below + row + 1));
  return l.picked(n, "picked", x, Tensor(Shape{1, slices_stay ? 1 : slices, rows}, std::move(picks)), nullptr);
}

Result<Lowered> selected(Lowering& l, const Node& n, Lowered x, const Selection& which) {
  if (!keeps_all(which[0], x.shape[0]))
    return l.refuse(n, "it selects among the inputs of a batch, through which the device works one after the other",
                    "select before the model's inputs are pushed");
  bool slices_stay = keeps_all(which[1], x.shape[1]), rows_stay = keeps_all(which[2], x.shape[2]);
  if (!slices_stay || !rows_stay) {
    bool done = false;
    if (slices_stay) {
      BUDA_ASSIGN(done, select_prefix(l, n, x, which[2], false));
    }
    if (!done) {
      BUDA_ASSIGN(x, pick_rows(l, n, x, which[1], which[2]));
    }
  }
  if (keeps_all(which[3], x.shape[3])) return x;
  BUDA_ASSIGN(bool done, select_prefix(l, n, x, which[3], true));
  if (done) return x;
  Lowered turned = transposed(std::move(x));
  BUDA_ASSIGN(turned, pick_rows(l, n, turned, all_of(turned.shape[1]), which[3]));
  return transposed(std::move(turned));
}

// Places along all leading axes together, in row-major order, from places along each.
Places joined_places(const Shape& model, std::size_t leading, const std::vector<std::pair<std::size_t, Places>>& axes) {
  Places out{0};
  for (std::size_t axis = 0; axis < leading; ++axis) {
    Places along = all_of(model[axis]);
    for (const auto& [which, places] : axes)
      if (which == axis) along = places;
    Places next;
    for (std::int64_t outer : out)
      for (std::int64_t place : along) next.push_back(outer == kNone || place == kNone ? kNone : outer * model[axis] + place);
    out = std::move(next);
  }
  return out;
}

// The four axes' selection from one of some of the model's axes; nothing where an axis inside the batch changes.
std::optional<Selection> in_four_axes(const Lowering& l, const Shape& model, const Shape& four,
                                      const std::vector<std::pair<std::size_t, Places>>& axes) {
  Selection out = everything(four);
  if (l.joins_batch() && model.rank() > 2) {
    out[1] = joined_places(model, model.rank() - 2, axes);
    for (const auto& [axis, places] : axes)
      if (axis + 2 >= model.rank()) out[axis + 4 - model.rank()] = places;
    return out;
  }
  for (const auto& [axis, places] : axes) {
    if (axis + 3 >= model.rank()) {
      out[axis + 4 - model.rank()] = places;
    } else if (axis + 4 == model.rank() && model.rank() == 4) {
      out[0] = places;
    } else if (!keeps_all(places, model[axis])) {
      return std::nullopt;
    }
  }
  return out;
}

Result<Lowered> selected(Lowering& l, const Node& n, const Edge& edge, const std::vector<std::pair<std::size_t, Places>>& axes) {
  BUDA_ASSIGN(Lowered x, l.value(edge));
  auto which = in_four_axes(l, l.type(edge).shape, x.shape, axes);
  if (!which)
    return l.refuse(n, "it selects along axes through which the device works one after the other",
                    "let it select along the last three axes");
  return selected(l, n, std::move(x), *which);
}

Result<Lowered> lower_slice(Lowering& l, const Node& n) {
  const Shape& shape = l.type(n.inputs()[0]).shape;
  std::vector<std::pair<std::size_t, Places>> axes;
  const auto &dims = l.attrs(n).integers("dims"), &starts = l.attrs(n).integers("starts"), &steps = l.attrs(n).integers("steps");
  for (std::size_t i = 0; i < dims.size(); ++i) {
    std::size_t axis = *shape.axis(dims[i]);
    std::int64_t step = steps.empty() ? 1 : steps[i], size = shape[axis], first = starts[i];
    if (first < 0) first += size;
    first = std::clamp<std::int64_t>(first, 0, step > 0 ? size : size - 1);
    Places places;
    for (std::int64_t k = 0; k < n.outputs[0].shape[axis]; ++k) places.push_back(first + k * step);
    axes.emplace_back(axis, std::move(places));
  }
  return selected(l, n, n.inputs()[0], axes);
}

Result<Lowered> lower_gather(Lowering& l, const Node& n) {
  const Tensor* indices = l.known(n.inputs()[1]);
  if (indices == nullptr)
    return l.refuse(n, "its indices are known only when the model runs", "look them up on the host, or use an embedding");
  const Shape& shape = l.type(n.inputs()[0]).shape;
  std::size_t axis = *shape.axis(l.attrs(n).integer("dim"));
  Places places;
  Tensor whole = indices->cast(DType::i64);
  for (std::int64_t i : whole.as<std::int64_t>()) places.push_back(i < 0 ? i + shape[axis] : i);
  BUDA_ASSIGN(Lowered x, selected(l, n, n.inputs()[0], {{axis, places}}));
  // The indices' axes in the place of the one axis.
  std::vector<std::int64_t> dims = shape.dims();
  dims[axis] = static_cast<std::int64_t>(places.size());
  Rearrangement with_axes{Shape(dims)};
  with_axes.reshape(n.outputs[0].shape);
  return l.rearranged(n, std::move(x), with_axes);
}

Result<Lowered> sum_of(Lowering& l, const Node& n, std::string_view suffix, Lowered a, Lowered b) {
  BUDA_ASSIGN(a, l.without_transpose(n, "copy", a));
  BUDA_ASSIGN(b, l.without_transpose(n, "copy", b));
  Lowered out = after_binary("add", {}, a, b);
  BUDA_ASSIGN(out.source, l.emit(n, suffix, "add", {a.edge(), b.edge()}));
  return out;
}

Result<Lowered> lower_concatenate(Lowering& l, const Node& n) {
  if (n.inputs().size() == 1) return l.value(n.inputs()[0]);
  const Shape& result = n.outputs[0].shape;
  std::size_t axis = *result.axis(l.attrs(n).integer("dim"));
  std::optional<Lowered> sum;
  std::int64_t begin = 0;
  ValueRange data = ValueRange::exactly(0);
  bool first = true;
  std::size_t last = n.inputs().size() - 1;
  while (last > 0 && l.type(n.inputs()[last]).shape.volume() == 0) --last;
  for (std::size_t i = 0; i < n.inputs().size(); ++i) {
    std::int64_t size = l.type(n.inputs()[i]).shape[axis];
    if (l.type(n.inputs()[i]).shape.volume() == 0) continue;
    Places places(static_cast<std::size_t>(result[axis]), kNone);
    std::iota(places.begin() + begin, places.begin() + begin + size, 0);
    begin += size;
    BUDA_ASSIGN(Lowered part, selected(l, n, n.inputs()[i], {{axis, places}}));
    BUDA_ASSIGN(Lowered own, l.value(n.inputs()[i]));
    data = first ? own.data : hull(data, own.data);
    first = false;
    if (sum) {
      BUDA_ASSIGN(part, sum_of(l, n, i == last ? "" : "sum", std::move(*sum), std::move(part)));
    }
    sum = std::move(part);
  }
  if (!sum) return l.refuse(n, "none of its inputs has elements", "leave it out of the model");
  sum->data = data;
  return std::move(*sum);
}

// A border of another number than 0: a value that is this number there, and 0 inside.
Result<Lowered> border(Lowering& l, const Node& n, const Shape& inside, const std::vector<std::int64_t>& before, double value) {
  const Shape& result = n.outputs[0].shape;
  std::int64_t volume = *result.volume();
  if (volume > kMostPlaces) return l.refuse(n, cat("its border would be a constant of ", volume, " numbers"), "pad with zeros");
  std::vector<float> elements(static_cast<std::size_t>(volume), static_cast<float>(value));
  std::vector<std::int64_t> strides = result.strides(), at(inside.rank(), 0);
  for (std::int64_t i = 0; i < *inside.volume(); ++i) {
    std::int64_t place = 0, rest = i;
    for (std::size_t k = inside.rank(); k-- > 0;) {
      place += (rest % inside[k] + before[k]) * strides[k];
      rest /= inside[k];
    }
    elements[static_cast<std::size_t>(place)] = 0;
  }
  return l.constant(n, "border", Tensor(result, std::move(elements)));
}

Result<Lowered> lower_pad(Lowering& l, const Node& n) {
  const Shape& shape = l.type(n.inputs()[0]).shape;
  const auto &before = l.attrs(n).integers("before"), &after = l.attrs(n).integers("after");
  double value = l.attrs(n).real("value");
  std::vector<std::pair<std::size_t, Places>> axes;
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    if (before[i] == 0 && after[i] == 0) continue;
    // Negative borders cut.
    Places places;
    for (std::int64_t k = -before[i]; k < shape[i] + after[i]; ++k) places.push_back(k >= 0 && k < shape[i] ? k : kNone);
    axes.emplace_back(i, std::move(places));
  }
  BUDA_ASSIGN(Lowered x, selected(l, n, n.inputs()[0], axes));
  if (value == 0 || n.outputs[0].shape.volume() == shape.volume()) return x;
  for (std::size_t i = 0; i < before.size(); ++i)
    if (before[i] < 0 || after[i] < 0) return l.refuse(n, "it cuts and adds a border at once", "slice first, and pad then");
  BUDA_ASSIGN(Lowered frame, border(l, n, shape, before, value));
  if (frame.shape[0] != x.shape[0]) return l.refuse(n, "it adds to the batch", "");
  return sum_of(l, n, "", std::move(x), std::move(frame));
}

}  // namespace

Result<Lowered> Lowering::with_slices(const Node& n, const Lowered& x, const std::vector<std::int64_t>& slices) {
  return keeps_all(slices, x.shape[1]) ? Result<Lowered>(x) : pick_rows(*this, n, x, slices, all_of(x.shape[2]));
}

Result<Lowered> Lowering::with_leading_axes(const Node& n, const Lowered& x, const Shape& from, const Shape& to) {
  std::vector<std::int64_t> axes(to.rank() - from.rank(), 1);
  axes.insert(axes.end(), from.begin(), from.end());
  // Leading ones repeat all slices, one run after the other, which edges do.
  std::size_t ones = 0;
  while (ones < axes.size() && axes[ones] == 1) ++ones;
  if (std::equal(axes.begin() + static_cast<std::ptrdiff_t>(ones), axes.end(), to.begin() + static_cast<std::ptrdiff_t>(ones))) {
    Lowered out = x;
    out.tms.push_back(Tm::broadcast(graph::TmDim::z, *to.volume() / x.shape[1]));
    out.shape[1] = *to.volume();
    return out;
  }
  std::vector<std::int64_t> strides = Shape(axes).strides(), slices{0};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    std::vector<std::int64_t> next;
    for (std::int64_t outer : slices)
      for (std::int64_t k = 0; k < to[i]; ++k) next.push_back(outer + (axes[i] == 1 ? 0 : k * strides[i]));
    slices = std::move(next);
  }
  return with_slices(n, x, slices);
}

const std::vector<LoweringRule>& selection_rules() {
  static const std::vector<LoweringRule> rules = {{"slice", lower_slice, false, true},
                                                  {"gather", lower_gather, true},
                                                  {"concatenate", lower_concatenate, false, true},
                                                  {"pad", lower_pad, false, true}};
  return rules;
}

}  // namespace buda::passes
