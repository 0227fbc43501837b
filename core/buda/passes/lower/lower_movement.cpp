// Lowering of reshapes, transposes and broadcasts.
//
// A chain of reshapes and transposes is one rearrangement of axes (rearrangement.hpp). On the way to its user it takes, in this order:
//   1. nothing, or manipulations of the edge: slices and stacks of whole tiles, and transposes. So attention heads are cut out by an
//      hslice, and put side by side again by an hstack;
//   2. pickers, which gather rows in any order, among them rows of what a transpose has made of columns:
//        columns stay as they are                                  one picker
//        rows, or parts of z, become the columns                   a picker that brings them to r, a transpose, a picker
//        columns are cut, or come together with rows               the same twice
//   3. where two shapes cut the elements in ways that do not go together ([6, 10] and [10, 6]), both through a third: as many columns as
//      the greatest common divisor of theirs.
// The batch w stays in its place: the device works through it one after the other.
#include <buda/base/text.hpp>
#include <buda/ops/device/device_layout.hpp>
#include <buda/passes/lower/lowering_rules.hpp>

#include <algorithm>
#include <array>
#include <numeric>

namespace buda::passes {
namespace {

using graph::Graph;
using graph::Node;
using graph::Tm;
using graph::TmKind;

using Factors = std::vector<int>;
using Sizes = std::vector<std::int64_t>;

// Pickers of more rows than this are refused: something is wrong with the model, or with us.
constexpr std::int64_t kMostPickedRows = std::int64_t{1} << 24;

bool contains(const Factors& all, int f) { return std::find(all.begin(), all.end(), f) != all.end(); }

Factors without(const Factors& all, const Factors& some) {
  Factors out;
  for (int f : all)
    if (!contains(some, f)) out.push_back(f);
  return out;
}

Factors joined(const Factors& a, const Factors& b) {
  Factors out = a;
  out.insert(out.end(), b.begin(), b.end());
  return out;
}

bool is_among(const Factors& some, const Factors& all) {
  return std::all_of(some.begin(), some.end(), [&](int f) { return contains(all, f); });
}

// The same factors, those of `first` before the others and in its order.
Factors ordered_like(const Factors& factors, const Factors& first) {
  Factors out;
  for (int f : first)
    if (contains(factors, f)) out.push_back(f);
  return joined(out, without(factors, out));
}

Lowered manipulated(Lowered x, const Tm& tm) {
  if (tm.kind == TmKind::transpose) return transposed(std::move(x));
  bool rows = tm.kind == TmKind::vslice || tm.kind == TmKind::vstack, slices = tm.kind == TmKind::vslice || tm.kind == TmKind::hslice;
  std::int64_t& side = x.shape[rows ? 2 : 3];
  if (slices) {
    x.shape[1] *= tm.factor;
    side /= tm.factor;
  } else {
    x.shape[1] /= tm.factor;
    side *= tm.factor;
  }
  (rows ? x.rows_alike : x.cols_alike) = false;
  x.zero_cols = 0;
  x.peak.reset();
  x.tms.push_back(tm);
  return x;
}

// ---- with pickers

// For each place in `to` (z, then r) the row in `from`, all of whose slices stand below one another, in whole tiles.
std::vector<std::int64_t> source_rows(const DeviceAxes& from, const DeviceAxes& to, const Sizes& sizes) {
  Factors order = joined(to.z(), to.r());
  std::vector<std::int64_t> steps;
  for (int f : order) {
    auto step_in = [&](const Factors& axis, std::int64_t whole) {
      auto at = std::find(axis.begin(), axis.end(), f);
      return at == axis.end() ? 0 : whole * size_of(Factors(at + 1, axis.end()), sizes);
    };
    std::int64_t padded_rows = tiles(size_of(from.r(), sizes)) * graph::kTileSide;
    steps.push_back(step_in(from.z(), padded_rows) + step_in(from.r(), 1));
  }
  std::vector<std::int64_t> rows{0};
  for (std::size_t i = 0; i < order.size(); ++i) {
    std::vector<std::int64_t> next;
    next.reserve(rows.size() * static_cast<std::size_t>(sizes[static_cast<std::size_t>(order[i])]));
    for (std::int64_t row : rows)
      for (std::int64_t k = 0; k < sizes[static_cast<std::size_t>(order[i])]; ++k) next.push_back(row + k * steps[i]);
    rows = std::move(next);
  }
  return rows;
}

class Mover {
 public:
  Mover(Lowering& lowering, const Node& n, Lowered x, DeviceAxes axes, const Sizes& sizes)
      : l_(lowering), n_(n), x_(std::move(x)), at_(std::move(axes)), sizes_(sizes) {}

  // The rows of all slices in another order, columns as they are.
  Result<void> pick(DeviceAxes to) {
    if (at_ == to) return success();
    std::int64_t z = size_of(to.z(), sizes_), r = size_of(to.r(), sizes_);
    if (z * r > kMostPickedRows) return l_.refuse(n_, cat("it moves ", z * r, " rows, each by itself"), "give the model a smaller input");
    std::vector<std::int32_t> picks;
    for (std::int64_t row : source_rows(at_, to, sizes_)) picks.push_back(static_cast<std::int32_t>(row + 1));
    BUDA_ASSIGN(x_, l_.picked(n_, "picked", Lowering::stacked(x_), Tensor(Shape{1, z, r}, std::move(picks)), nullptr));
    at_ = std::move(to);
    return success();
  }

  void turn() {
    x_ = transposed(std::move(x_));
    std::swap(at_.lists[1], at_.lists[2]);
  }

  // See the head of this file.
  Result<Lowered> arrive(const DeviceAxes& to) {
    const Factors movable = joined(at_.z(), at_.r());
    if (at_.c() != to.c() && is_among(to.c(), movable)) {
      BUDA_TRY(pick({{ordered_like(without(movable, to.c()), to.z()), to.c(), at_.c()}}));
      turn();
    } else if (at_.c() != to.c()) {
      // What shall be rows then, waits as columns.
      Factors waiting = without(to.r(), at_.c());
      if (waiting.empty()) waiting = without(movable, to.c());
      BUDA_TRY(pick({{ordered_like(without(movable, waiting), to.z()), waiting, at_.c()}}));
      turn();
      Factors others = without(joined(at_.z(), at_.r()), to.c());
      BUDA_TRY(pick({{ordered_like(others, to.z()), to.c(), at_.c()}}));
      turn();
    }
    BUDA_TRY(pick(to));
    return std::move(x_);
  }

 private:
  Lowering& l_;
  const Node& n_;
  Lowered x_;
  DeviceAxes at_;
  const Sizes& sizes_;
};

std::string change(const Shape& from, const Shape& to) { return cat("(w, z, r, c) would change from ", from.text(), " to ", to.text()); }

// ---- rules

Result<Lowered> lower_rearrangement(Lowering& l, const Node& n) { return l.value(graph::Edge(n.id())); }

Result<Lowered> lower_broadcast(Lowering& l, const Node& n) {
  BUDA_ASSIGN(Shape wanted, l.four(n, n.outputs[0].shape));
  BUDA_ASSIGN(Lowered x, l.stretched(n.inputs()[0], wanted, n));
  if (x.shape == wanted) return x;
  return l.refuse(n, "it repeats a value along the first axis, the batch, which the device works through one after the other",
                  "repeat the value along one of the last three axes");
}

constexpr std::array kReshapes = {std::string_view("reshape"), std::string_view("squeeze"), std::string_view("unsqueeze")};

}  // namespace

Lowered Lowering::stacked(Lowered x) {
  if (x.shape[1] == 1) return x;
  // Padding between the slices counts as data now.
  if (x.pads_rows()) {
    x.data = hull(x.data, x.rows);
    x.cols = hull(x.cols, x.corner);
  }
  x.tms.push_back(Tm::vstack(x.shape[1]));
  x.shape = {x.shape[0], 1, x.shape[1] * tiles(x.shape[2]) * graph::kTileSide, x.shape[3]};
  x.rows_alike = false;
  return x;
}

Result<Lowered> Lowering::rearranged(const Node& n, Lowered x, const Rearrangement& how) {
  BUDA_ASSIGN(Shape to, four(n, how.to()));
  Shape from = x.shape;
  if (how.moves_nothing() && from == to) return x;
  auto places = how.places(from, to);
  if (!places) {
    if (!how.moves_nothing() && from[0] == 1 && to[0] == 1) {
      // First the order of axes, then the shape.
      std::vector<std::int64_t> dims = how.split(), in_order;
      for (std::int64_t axis : how.order()) in_order.push_back(dims[static_cast<std::size_t>(axis)]);
      while (in_order.size() > 3) {
        in_order[1] *= in_order[0];
        in_order.erase(in_order.begin());
      }
      Rearrangement order = how, shape{Shape(in_order)};
      order.reshape(shape.from());
      shape.reshape(how.to());
      if (order.places(from, axes_of(order.to()))) {
        BUDA_ASSIGN(x, rearranged(n, std::move(x), order));
        return rearranged(n, std::move(x), shape);
      }
    }
    if (!how.moves_nothing() || from[0] != to[0])
      return refuse(n, cat(change(from, to), " by axes that are cut in ways that do not go together"),
                    "let the model reshape and transpose in steps whose axes are whole parts of each other");
    std::int64_t columns = std::gcd(from[3], to[3]);
    Rearrangement narrower(from), wider(Shape{from[0], 1, from[1] * from[2] * from[3] / columns, columns});
    narrower.reshape(wider.from());
    wider.reshape(to);
    BUDA_ASSIGN(x, rearranged(n, std::move(x), narrower));
    return rearranged(n, std::move(x), wider);
  }
  if (places->from[0] != places->to[0])
    return refuse(
        n, cat(change(from, to), ", which moves data between the inputs of a batch; the device works through these one after the other"),
        "keep the first axis, the batch, in its place and as large as it is");
  DeviceAxes source{{places->from[1], places->from[2], places->from[3]}}, target{{places->to[1], places->to[2], places->to[3]}};
  auto tms = manipulations(source, target, places->sizes);
  if (!tms) return Mover(*this, n, std::move(x), std::move(source), places->sizes).arrive(target);
  for (const Tm& tm : *tms) x = manipulated(std::move(x), tm);
  return x;
}

bool is_reshape(const Graph& graph, const Node& n) {
  if (n.op() != "transpose") return std::find(kReshapes.begin(), kReshapes.end(), n.op()) != kReshapes.end();
  const Shape& in = graph.type(n.inputs()[0].source)->shape;
  std::vector<std::size_t> moving;
  for (std::int64_t axis : std::get<std::vector<std::int64_t>>(n.attrs.find("perm")->second))
    if (in[*in.axis(axis)] != 1) moving.push_back(*in.axis(axis));
  return std::is_sorted(moving.begin(), moving.end());
}

bool is_rearrangement(const Node& n) {
  return n.op() == "transpose" || std::find(kReshapes.begin(), kReshapes.end(), n.op()) != kReshapes.end();
}

const std::vector<LoweringRule>& movement_rules() {
  static const std::vector<LoweringRule> rules = {{"reshape", lower_rearrangement, false, true},
                                                  {"squeeze", lower_rearrangement, false, true},
                                                  {"unsqueeze", lower_rearrangement, false, true},
                                                  {"transpose", lower_rearrangement, false, true},
                                                  {"broadcast", lower_broadcast, false, true}};
  return rules;
}

}  // namespace buda::passes
