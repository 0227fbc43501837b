// SPDX-License-Identifier: Apache-2.0
// split-sums: long sums on a device whose destination register has 16 bits, in parts whose results are added up.
//
// Sums of which the error model (accumulation_error.hpp) expects too large an error; on a device that accumulates in Float32 assign-formats
// does that instead, and nothing happens here. Parts are short enough to be exact to a few roundings, whose errors differ in sign.
//
// A product with a column of equal factors, a sum along c, whose parts are columns of a matrix of blocks:
//
//   before                              after
//   y = matmul(x, ones)                 parts = matmul(x [hslice: P], blocks)   column j: the sum of part j
//                                       y = matmul(parts [hstack: P], ones)     and so on, until 16 numbers are left, or 8 along r
//
// likewise along r; so a factor of more bits than the host's packer keeps becomes two. A constant that is added to the result, as layer
// norms have it, is the last product's bias. Any other product has slices for parts. A step of the matrix unit adds up 16 numbers that
// follow each other, and rounds once; so rows are put in order, and 16 parts at a time are added up by it:
//
//   y = matmul(a, b)                    parts = matmul(a [hslice: P], b [vslice: P])
//                                       ordered = matmul(order, parts [vstack: P])   row 16 i + p: row i of part p; a selection
//                                       y = matmul(blocks, ordered)                  row i: the sum of rows 16 i to 16 i + 15; and so on
//
// Putting in order takes time: parts of large results are added up tile by tile, by a depthwise product with unit matrices, which rounds
// for each.
//
// What does not divide is filled up with tiles of zeros on the edges.
#include <buda/passes/formats/accumulation_error.hpp>
#include <buda/passes/formats/constant_signs.hpp>
#include <buda/passes/formats/format_facts.hpp>
#include <buda/passes/formats/value_signs.hpp>
#include <buda/passes/fuse/fusing.hpp>
#include <buda/passes/pipeline/graph_names.hpp>
#include <buda/passes/pipeline/standard_passes.hpp>

#include <buda/base/checked.hpp>
#include <buda/graph/values/tile_count.hpp>
#include <buda/graph/values/value.hpp>
#include <buda/ops/linear_algebra/sparse.hpp>

#include <buda/tensor/formats/math_unit.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace buda::passes {
namespace {

using graph::AttrMap;

constexpr std::int64_t kSide = graph::kTileSide;
// Numbers that a sum with equal factors adds up at its end: a step along c, one of its two groups along r. There they are the right
// operand, of which a phase reads fewer bits, so that the other phase adds more, and rounds.
constexpr std::int64_t last_terms(bool along_c) { return along_c ? kTermsOfStep : kTermsOfStep / 2; }
// Numbers that one of the next stage is made of, at most: a few steps, each of which rounds. For the last stage twice as many.
constexpr std::int64_t kTermsOfColumn = 32;
// Tiles of a part of a product at most. Of results that are put in order a part has one tile, up to so many parts: what it rounds off does
// not count then, and ordering is what they pay for anyway.
constexpr std::int64_t kTilesOfPart = 4;
constexpr std::int64_t kPartsOfOneTile = 512;
// Members of the last sum, whose rounding nothing averages: of fewer numbers the leading bits add up to one that holds them.
constexpr std::int64_t kMaxLastMembers = 12;
// Tiles of a result whose parts are put in order at most; of larger ones they are added up one after the other, so many at a time.
constexpr std::int64_t kMaxOrderedTiles = 64;
constexpr std::int64_t kAddedAtOnce = 16;

// Rewrites one product.
class Splitter {
 public:
  Splitter(Graph& graph, NodeId id) : graph_(graph), editor_(graph, id), id_(id) {}

  // An op of the parts, of the type that follows from its inputs.
  NodeId op(std::string_view suffix, const std::string& type, std::vector<Edge> inputs, AttrMap attrs, Shape shape) {
    return editor_.add(suffix, type, std::move(inputs), {ValueType{graph_.node(id_).outputs[0].dtype, std::move(shape), std::nullopt}},
                       std::move(attrs));
  }
  Edge constant(std::string_view suffix, Shape shape, std::vector<float> numbers) {
    return constant(suffix, Tensor(std::move(shape), std::move(numbers)));
  }
  // Of a matrix.
  Edge constant(std::string_view suffix, Tensor tensor) {
    const NodeId made = editor_.add_constant(suffix, std::move(tensor));
    Shape& shape = graph_.node(made).outputs[0].shape;
    if (shape.rank() == 2) shape = {1, 1, graph::tiled_side(shape[0]), graph::tiled_side(shape[1])};
    return Edge(made);
  }
  Shape shape(const Edge& edge) const { return graph_.type(edge)->shape; }
  void replace_by(NodeId last) { editor_.replace(id_, last); }

 private:
  Graph& graph_;
  GraphEditor editor_;
  NodeId id_;
};

// The edge with whole tiles of zeros at the end of c (r). Nothing may follow a pad on an edge, so a copy takes it over.
Edge filled_up(Splitter& s, Edge edge, bool along_c, std::int64_t more) {
  if (more == 0) return edge;
  edge.tms.push_back(along_c ? Tm::pad(0, more, 0) : Tm::pad(more, 0, 0));
  Shape shape = s.shape(edge);
  return Edge(s.op("filled_up", "nop", {std::move(edge)}, {}, std::move(shape)));
}

// The same in so many slices.
Edge sliced(Splitter& s, Edge edge, bool along_c, std::int64_t tiles, std::int64_t parts) {
  edge = filled_up(s, std::move(edge), along_c, align_up(tiles, parts) - tiles);
  if (parts > 1) edge.tms.push_back(along_c ? Tm::hslice(parts) : Tm::vslice(parts));
  return edge;
}

// Parts of at most so many tiles: where that needs no tiles of zeros a few more parts than the fewest.
std::int64_t parts_of(std::int64_t tiles, std::int64_t most) {
  const std::int64_t fewest = ceil_div(tiles, most);
  for (std::int64_t parts = fewest; parts <= 2 * fewest; ++parts)
    if (tiles % parts == 0) return parts;
  return fewest;
}

Edge repeated(Edge edge, TmDim dim, std::int64_t n) {
  if (n > 1) edge.tms.push_back(Tm::broadcast(dim, n));
  return edge;
}

// ---- sums with equal factors

// A product with a constant whose numbers are all the same, where it has any: of the first `terms` numbers along c of operand 0, or along r
// of operand 1.
struct EqualFactors {
  bool along_c = true;
  float factor = 1;
  std::int64_t terms = 0;
};

std::optional<EqualFactors> equal_factors(const Graph& graph, const Node& n) {
  for (bool along_c : {true, false}) {
    const Edge& edge = n.inputs()[along_c ? 1 : 0];
    const Node& source = graph.node(edge.source.node);
    if (!source.has_value() || !source.value || source.value->tensor.dtype() != DType::f32) continue;
    const Tensor& t = source.value->tensor;
    const bool only_repeated =
        std::all_of(edge.tms.begin(), edge.tms.end(), [](const Tm& tm) { return tm.kind == graph::TmKind::broadcast; });
    const std::size_t axis = along_c ? 0 : 1;
    if (t.shape().rank() != 2 || t.shape()[1 - axis] != kSide || t.size() == 0 || !only_repeated) continue;
    const auto factor = only_factor(t);
    if (!factor || *factor == 0) continue;
    const Shape& other = graph.type(n.inputs()[along_c ? 0 : 1])->shape;
    const std::int64_t inner = other[along_c ? 3 : 2], stored = t.shape()[axis];
    return EqualFactors{along_c, *factor, graph::tiled_side(stored) == inner ? stored : inner};
  }
  return std::nullopt;
}

// As many for each stage, and as few as the fewest stages allow.
std::int64_t terms_of_column(std::int64_t terms, std::int64_t last) {
  std::int64_t stages = 1;
  for (std::int64_t most = 2 * last * kTermsOfColumn; most < terms; most *= kTermsOfColumn) ++stages;
  const auto root = std::pow(static_cast<double>(terms) / last, 1.0 / static_cast<double>(stages));
  return std::min(align_up(static_cast<std::int64_t>(std::ceil(root - 1e-9)), kTermsOfStep),
                  stages == 1 ? 2 * kTermsOfColumn : kTermsOfColumn);
}

// One stage: each number of the result is the sum of so many, side by side (along c) or below one another.
Edge summed_parts(Splitter& s, const Edge& x, EqualFactors& of) {
  const std::size_t axis = of.along_c ? 3 : 2;
  const Shape from = s.shape(x);
  const std::int64_t of_column = terms_of_column(of.terms, last_terms(of.along_c)), all = from[axis] / kSide;
  const std::int64_t parts = of_column * last_terms(of.along_c) >= of.terms ? 1 : parts_of(all, of_column);
  const std::int64_t length = ceil_div(all, parts) * kSide;
  // Padding of what is added up may hold anything: there the blocks are zeros, and so differ from part to part.
  const std::int64_t different = of.terms == all * kSide ? 1 : parts;
  std::vector<float> numbers(static_cast<std::size_t>(different * length * kSide), 0.0f);
  for (std::int64_t part = 0; part < different; ++part)
    for (std::int64_t i = 0; i < length; ++i) {
      if (different > 1 ? part * length + i >= of.terms : i >= of.terms) continue;
      const std::int64_t column = i / of_column, place = of.along_c ? i * kSide + column : column * length + i;
      numbers[static_cast<std::size_t>(part * length * kSide + place)] = of.factor;
    }
  const Shape matrix = of.along_c ? Shape{1, different, length, kSide} : Shape{1, different, kSide, length};
  const Edge blocks = repeated(s.constant("blocks", matrix, std::move(numbers)), TmDim::z, from[1] * parts / different);
  const Edge part = sliced(s, x, of.along_c, all, parts);
  Shape shape = from;
  shape[1] *= parts;
  shape[axis] = kSide;
  Edge sums(s.op("parts", "matmul", of.along_c ? std::vector<Edge>{part, blocks} : std::vector<Edge>{blocks, part}, {}, std::move(shape)));
  if (parts > 1) sums.tms.push_back(of.along_c ? Tm::hstack(parts) : Tm::vstack(parts));
  of.terms = parts > 1 ? parts * kSide : ceil_div(std::min(of.terms, length), of_column);
  return sums;
}

// Two numbers with the factor as their product: the first of the bits that one phase reads, so that the long sums round once a step; the
// second such that it loses least when it is cut to 8 bits.
std::pair<float, float> two_factors(float factor) {
  std::pair<float, float> best{factor, 1.0f};
  if (factor == masked_bits(factor, kMultiplierA.high) || !std::isnormal(factor)) return best;
  float least = 1;
  for (int significand = 16; significand < 32; ++significand) {
    const float first = static_cast<float>(significand) / 16, second = factor / first;
    const float lost = 1 - masked_bits(second, 0xffff0000u) / second;
    if (lost >= least) continue;
    least = lost;
    best = {first, second};
  }
  return best;
}

// The addition of a constant to a sum, which can be the bias of its last product: of one number in all places, so that it does not matter
// which row of the bias is added.
std::optional<graph::Use> added_constant(const Graph& graph, const Node& n) {
  const std::vector<graph::Use> users = graph.users(n.id());
  if (users.size() != 1 || !n.attrs.empty() || !may_fuse(n)) return std::nullopt;
  const Node& add = graph.node(users[0].node);
  if (add.op() != "add" || !only_feeds(graph, n, add) || !may_fuse(add) || !add.inputs()[users[0].input].tms.empty()) return std::nullopt;
  const Edge& other = add.inputs()[1 - users[0].input];
  const Node& source = graph.node(other.source.node);
  const bool only_repeated =
      std::all_of(other.tms.begin(), other.tms.end(), [](const Tm& tm) { return tm.kind == graph::TmKind::broadcast; });
  if (!source.has_value() || !source.value || !only_repeated || !only_factor(source.value->tensor)) return std::nullopt;
  const bool fills_tiles = source.outputs[0].shape.volume() == static_cast<std::int64_t>(source.value->tensor.size());
  auto type = graph.type(other);
  return fills_tiles && type && type->shape == n.outputs[0].shape ? std::optional(users[0]) : std::nullopt;
}

// The editor replaces the product, or the addition after it.
void split_equal_factors(Splitter& s, const Node& n, EqualFactors of, AttrMap attrs, std::optional<Edge> bias) {
  const std::size_t axis = of.along_c ? 3 : 2;
  Edge x = n.inputs()[of.along_c ? 0 : 1];
  const Shape result = n.outputs[0].shape;
  const auto [first, last] = two_factors(of.factor);
  of.factor = first;
  // Halves of a step's sum are rounded up, which would add up over the stages: every other stage has negative sums.
  bool are_negative = false;
  do {
    x = summed_parts(s, x, of);
    are_negative = are_negative != of.factor < 0;
    of.factor = -1;
  } while (of.terms > last_terms(of.along_c));
  Edge ones = s.constant("ones", Shape{1, 1, kSide, kSide}, std::vector<float>(kSide * kSide, are_negative ? -last : last));
  ones = repeated(std::move(ones), TmDim::z, s.shape(x)[1]);
  ones = repeated(std::move(ones), of.along_c ? TmDim::r : TmDim::c, s.shape(x)[axis] / kSide);
  std::vector<Edge> inputs = of.along_c ? std::vector<Edge>{x, ones} : std::vector<Edge>{ones, x};
  if (bias) {
    inputs.push_back(std::move(*bias));
    attrs["bias"] = true;
  }
  s.replace_by(s.op("sum", "matmul", std::move(inputs), std::move(attrs), result));
}

void split_equal_factors(Graph& graph, NodeId id) {
  const Node& n = graph.node(id);
  const EqualFactors of = *equal_factors(graph, n);
  const auto added = added_constant(graph, n);
  Splitter s(graph, added ? added->node : id);
  if (!added) return split_equal_factors(s, n, of, n.attrs, std::nullopt);
  const Node& add = graph.node(added->node);
  split_equal_factors(s, n, of, add.attrs, add.inputs()[1 - added->input]);
}

// ---- other products

std::vector<float> unit_matrix(std::int64_t side) {
  std::vector<float> numbers(static_cast<std::size_t>(side * side), 0.0f);
  for (std::int64_t i = 0; i < side; ++i) numbers[static_cast<std::size_t>(i * side + i)] = 1;
  return numbers;
}

// A selection matrix that lets the numbers of one sum follow each other: row 16 i + m of the slice for rows `tile_row` of sum q of batch b
// is row i of member m. Members lie below one another, `of_batch` for each batch; of those that are not there it names none.
Tensor order_of_members(std::int64_t batches, std::int64_t of_batch, std::int64_t at_once, std::int64_t tile_rows) {
  const std::int64_t sums = ceil_div(of_batch, at_once), rows = tile_rows * kSide;
  std::vector<std::int32_t> picks;
  for (std::int64_t b = 0; b < batches; ++b)
    for (std::int64_t q = 0; q < sums; ++q)
      for (std::int64_t row = 0; row < rows; ++row)
        for (std::int64_t m = 0; m < kTermsOfStep; ++m) {
          const std::int64_t member = q * at_once + m;
          const bool is_there = m < at_once && member < of_batch;
          picks.push_back(is_there ? static_cast<std::int32_t>((b * of_batch + member) * rows + row + 1) : 0);
        }
  return Tensor(Shape{batches * sums * tile_rows, kSide * kTermsOfStep}, std::move(picks));
}

// Of the next stage: few of the last one, as many for each of the others, whose errors are averaged.
std::int64_t members_of_sum(std::int64_t members) {
  if (members <= kMaxLastMembers) return members;
  std::int64_t stages = 1;
  for (std::int64_t most = kTermsOfStep * kMaxLastMembers; most < members; most *= kTermsOfStep) ++stages;
  const double sums = static_cast<double>(members) / static_cast<double>(kMaxLastMembers);
  return static_cast<std::int64_t>(std::ceil(std::pow(sums, 1.0 / static_cast<double>(stages)) - 1e-9));
}

// At least so many: the next number that divides a group, since to fill a group up takes a copy of it, which large ones have no room for.
std::int64_t added_at_once(std::int64_t group, std::int64_t least) {
  for (std::int64_t count = least; count <= kAddedAtOnce; ++count)
    if (group % count == 0) return count;
  return least;
}

// Tile by tile, one after the other: a step has one term, and each rounds.
NodeId sum_tile_by_tile(Splitter& s, Edge x, std::int64_t group, const AttrMap& packs) {
  for (;;) {
    const Shape from = s.shape(x);
    const std::int64_t ct = from[3] / kSide, outer = from[1] / group;
    std::int64_t steps = 1;
    for (std::int64_t most = kAddedAtOnce; most < group; most *= kAddedAtOnce) ++steps;
    const auto root = std::ceil(std::pow(static_cast<double>(group), 1.0 / static_cast<double>(steps)) - 1e-9);
    const std::int64_t at_once = added_at_once(group, static_cast<std::int64_t>(root)), next = ceil_div(group, at_once);
    if (next * at_once == group) {
      x.tms.push_back(Tm::hstack(at_once));
    } else {
      x.tms.push_back(Tm::hstack(group));
      x = filled_up(s, std::move(x), true, (next * at_once - group) * ct);
      x.tms.push_back(Tm::hslice(next));
    }
    Edge unit = s.constant("unit", Shape{1, 1, kSide, kSide}, unit_matrix(kSide));
    unit = repeated(repeated(std::move(unit), TmDim::r, at_once), TmDim::c, ct);
    const NodeId sum = s.op("added", "depthwise", {x, unit}, next == 1 ? packs : AttrMap{}, {from[0], outer * next, from[2], from[3]});
    if (next == 1) return sum;
    x = Edge(sum);
    group = next;
  }
}

// Row i adds up columns 16 i to 16 i + 15.
std::vector<float> blocks_of_steps(float factor) {
  constexpr std::int64_t length = kSide * kTermsOfStep;
  std::vector<float> blocks(static_cast<std::size_t>(kSide * length), 0.0f);
  for (std::int64_t i = 0; i < kSide; ++i) std::fill_n(blocks.begin() + i * length + i * kTermsOfStep, kTermsOfStep, factor);
  return blocks;
}

// What steps of 16 add up: each result's members follow each other. First the rows of the first sum, and so on.
struct InOrder {
  Edge members;
  std::int64_t sums = 1;  // of each batch
  std::int64_t batches = 1;
};

// Of slices that lie below one another, `group` for each batch.
InOrder in_order(Splitter& s, const Edge& x, std::int64_t batches, std::int64_t group, std::int64_t tile_rows) {
  const Shape from = s.shape(x);
  const std::int64_t sums = ceil_div(group, members_of_sum(group)), slices = batches * sums * tile_rows;
  const Edge picks = s.constant("order", order_of_members(batches, group, ceil_div(group, sums), tile_rows));
  return {Edge(s.op("ordered", "matmul", {picks, x}, {{"identity", true}, {"slices", slices}},
                    {from[0], slices, kSide * kTermsOfStep, from[3]})),
          sums, batches};
}

// Of the first and of the last stage.
struct Factors {
  float first = 1, last = 1;
};

// By steps that add up what lies in one group, and round once. The matrix unit rounds halves of a positive sum up twice, of a negative one
// up and down: all stages but the last have negative sums.
NodeId sum_by_steps(Splitter& s, InOrder x, std::int64_t tile_rows, Factors factors, const AttrMap& packs) {
  bool is_negative = false;
  for (bool is_first = true;; is_first = false) {
    Shape shape = s.shape(x.members);
    shape[2] = kSide;
    const bool is_last = x.sums == 1, changes_sign = is_negative == is_last;
    const float factor = (is_first ? factors.first : 1.0f) * (is_last ? factors.last : 1.0f);
    std::vector<float> blocks = blocks_of_steps(changes_sign ? -factor : factor);
    const Edge ones = repeated(s.constant("blocks", Shape{1, 1, kSide, kSide * kTermsOfStep}, std::move(blocks)), TmDim::z, shape[1]);
    is_negative = is_negative != changes_sign;
    Edge added(s.op("added", "matmul", {ones, x.members}, is_last && tile_rows == 1 ? packs : AttrMap{}, shape));
    if (is_last && tile_rows == 1) return added.source.node;
    added.tms.push_back(Tm::vstack(is_last ? tile_rows : shape[1]));
    if (is_last) return s.op("joined", "nop", {added}, packs, {shape[0], x.batches, tile_rows * kSide, shape[3]});
    x = in_order(s, added, x.batches, x.sums, tile_rows);
  }
}

// Whether a result is small enough to be added up by steps, whose rows have to be put in order first: that takes several times as long.
bool are_few(const Shape& result) { return result[0] == 1 && result[1] * result[2] * result[3] <= kMaxOrderedTiles * kSide * kSide; }

// Of each `group` slices their sum; the last op packs with these attributes.
NodeId sum_of_slices(Splitter& s, const Edge& x, std::int64_t group, const AttrMap& packs) {
  Shape result = s.shape(x);
  result[1] /= group;
  if (!are_few(result)) return sum_tile_by_tile(s, x, group, packs);
  Edge slices = x;
  if (group * result[1] > 1) slices.tms.push_back(Tm::vstack(group * result[1]));
  const std::int64_t tile_rows = result[2] / kSide;
  return sum_by_steps(s, in_order(s, slices, result[1], group, tile_rows), tile_rows, {}, packs);
}

bool flag(const AttrMap& attrs, const char* name) {
  auto it = attrs.find(name);
  const auto* value = it == attrs.end() ? nullptr : std::get_if<bool>(&it->second);
  return value != nullptr && *value;
}

std::int64_t slices_added(const Node& n) {
  auto it = n.attrs.find("z");
  const auto* z = it == n.attrs.end() ? nullptr : std::get_if<std::int64_t>(&it->second);
  return flag(n.attrs, "accumulate") && z != nullptr ? *z : 1;
}

void split_product(Splitter& s, const Node& n) {
  const Edge a = n.inputs()[0], b = n.inputs()[1];
  const Shape result = n.outputs[0].shape;
  const std::int64_t added = slices_added(n), tiles = s.shape(a)[3] / kSide;
  const std::int64_t of_part = are_few(result) ? std::clamp<std::int64_t>(tiles / kPartsOfOneTile, 1, kTilesOfPart)
                                               : (tiles <= 8 * kTilesOfPart ? kTilesOfPart / 2 : kTilesOfPart);
  const std::int64_t parts = added > 1 ? 1 : parts_of(tiles, of_part);
  AttrMap packs;
  for (const auto& [name, value] : n.attrs)
    if (name != "bias" && name != "accumulate" && name != "z") packs[name] = value;
  std::vector<Edge> last(n.inputs().begin() + 2, n.inputs().end());
  Shape shape = result;
  shape[1] *= added * parts;
  const Edge products(s.op("parts", "matmul", {sliced(s, a, true, tiles, parts), sliced(s, b, false, tiles, parts)}, {}, std::move(shape)));
  if (last.empty()) return s.replace_by(sum_of_slices(s, products, added * parts, packs));
  const NodeId sum = sum_of_slices(s, products, added * parts, {});
  packs["bias"] = true;
  Edge unit = s.constant("bias.unit", Shape{1, 1, result[3], result[3]}, unit_matrix(result[3]));
  unit = repeated(std::move(unit), TmDim::z, result[1]);
  last.insert(last.begin(), {Edge(sum), std::move(unit)});
  s.replace_by(s.op("biased", "matmul", std::move(last), packs, result));
}

// ---- products with selection matrices

// Terms that stay one sum.
constexpr std::int64_t kTermsOfSlice = 4;

// Rows of zeros at the end.
template <class T>
Tensor with_rows(const Tensor& t, std::int64_t rows) {
  std::vector<T> numbers(t.as<T>().begin(), t.as<T>().end());
  numbers.resize(static_cast<std::size_t>(rows * t.shape()[1]));
  return Tensor(Shape{rows, t.shape()[1]}, std::move(numbers));
}

// The factor of all terms, where they have one. Terms without are moved, and so keep all of their bits.
std::optional<float> common_factor(const Tensor& picks, const Tensor& factors) {
  std::optional<float> common;
  for (std::size_t i = 0; i < picks.size(); ++i) {
    if (picks.as<std::int32_t>()[i] == 0) continue;
    const float factor = factors.as<float>()[i];
    if (factor == 0 || common.value_or(factor) != factor) return std::nullopt;
    common = factor;
  }
  return common;
}

// Of a matrix with a row for each term: the terms of a result follow each other, 16 for each sum.
template <class T>
Tensor terms_in_order(const Tensor& rows, std::int64_t sums, std::int64_t tile_rows) {
  const std::int64_t terms = rows.shape()[0], width = rows.shape()[1], at_once = ceil_div(terms, sums);
  std::vector<T> out;
  for (std::int64_t sum = 0; sum < sums; ++sum)
    for (std::int64_t row = 0; row < tile_rows * kSide; ++row)
      for (std::int64_t m = 0; m < kTermsOfStep; ++m) {
        const std::int64_t term = sum * at_once + m;
        const bool is_there = m < at_once && term < terms && row < width;
        out.push_back(is_there ? rows.as<T>()[static_cast<std::size_t>(term * width + row)] : T{});
      }
  return Tensor(Shape{sums * tile_rows, kSide * kTermsOfStep}, std::move(out));
}

// A selection can put its terms in order at once: nothing is rounded before steps add them up.
NodeId sum_of_ordered_terms(Splitter& s, std::vector<Edge> inputs, const Tensor& picks, const Tensor* factors, const Shape& result,
                            const AttrMap& packs) {
  const std::int64_t tile_rows = result[2] / kSide, sums = ceil_div(picks.shape()[0], kTermsOfStep), slices = sums * tile_rows;
  inputs[0] = s.constant("order", terms_in_order<std::int32_t>(picks, sums, tile_rows));
  Factors ends;
  if (const auto common = factors != nullptr ? common_factor(picks, *factors) : std::nullopt) {
    std::tie(ends.first, ends.last) = two_factors(*common);
    inputs.pop_back();
  } else if (factors != nullptr) {
    inputs[2] = s.constant("factors", terms_in_order<float>(*factors, sums, tile_rows));
  }
  const Edge members(s.op("ordered", "matmul", std::move(inputs), {{"identity", true}, {"slices", slices}},
                          {result[0], slices, kSide * kTermsOfStep, result[3]}));
  return sum_by_steps(s, {members, sums, 1}, tile_rows, ends, packs);
}

// Of a matrix for one slice, a row for each term: the terms dealt out to several slices, which are added up.
void split_selection(Splitter& s, const Graph& graph, const Node& n, std::int64_t terms) {
  const std::int64_t slices = ceil_div(terms, kTermsOfSlice);
  AttrMap moves{{"identity", true}, {"slices", slices}}, packs;
  for (const auto& [name, value] : n.attrs)
    if (!moves.contains(name)) packs[name] = value;
  std::vector<Edge> inputs = n.inputs();
  const auto constant = [&](std::size_t i) { return i < inputs.size() ? &graph.node(inputs[i].source.node).value->tensor : nullptr; };
  const Tensor *picks = constant(0), *factors = constant(2);
  Shape shape = n.outputs[0].shape;
  if (are_few(shape)) return s.replace_by(sum_of_ordered_terms(s, std::move(inputs), *picks, factors, shape, packs));
  if (slices * kTermsOfSlice != terms) {
    inputs[0] = s.constant("picks", with_rows<std::int32_t>(*picks, slices * kTermsOfSlice));
    if (factors != nullptr) inputs[2] = s.constant("factors", with_rows<float>(*factors, slices * kTermsOfSlice));
  }
  shape[1] *= slices;
  const Edge picked(s.op("parts", "matmul", std::move(inputs), std::move(moves), std::move(shape)));
  s.replace_by(sum_of_slices(s, picked, slices, packs));
}

// Rows of the selection matrix, where that can be split: with one slice of both factors, and terms enough to stall.
constexpr std::int64_t kMinTerms = 16;

std::int64_t terms_of_selection(const Graph& graph, const Node& n) {
  const Node& picks = graph.node(n.inputs()[0].source.node);
  auto slices = n.attrs.find("slices");
  if (!picks.value || picks.value->tensor.shape().rank() != 2 || slices == n.attrs.end() || slices->second != graph::Attr(std::int64_t{1}))
    return 0;
  if (picks.value->tensor.dtype() != DType::i32) return 0;
  if (n.inputs().size() > 2) {
    const Node& factors = graph.node(n.inputs()[2].source.node);
    if (!factors.value || factors.value->tensor.dtype() != DType::f32 || factors.value->tensor.shape() != picks.value->tensor.shape())
      return 0;
  }
  auto x = graph.type(n.inputs()[1]);
  const std::int64_t terms = picks.value->tensor.shape()[0];
  return x && x->shape[1] == 1 && terms >= kMinTerms ? terms : 0;
}

// Of results of many tiles twice as much is borne: each part of a sum costs a product of as many tiles, and what adds them up rounds as
// often. The softmax of a vision transformer over 197 tokens would make it 4 % slower.
constexpr double kLargestErrorOfManyTiles = 2 * kLargestExpectedError;

// A unit matrix of this size has 16 MiB.
constexpr std::int64_t kMaxUnitColumns = 2048;

enum class How : std::uint8_t { not_at_all, equal_factors, product, selection };

bool sums_equal_factors(const Graph& graph, const Node& n) {
  return !ops::is_sparse_product(n) && n.inputs().size() == 2 && slices_added(n) == 1 && equal_factors(graph, n);
}

// Whether a sum of few numbers has a factor of more than 8 bits, which the host's packer would cut off. Of terms of both signs that matters
// little.
constexpr double kSameSign = 0.5;
bool has_long_factor(const Graph& graph, const Node& n) {
  const auto of = sums_equal_factors(graph, n) ? equal_factors(graph, n) : std::nullopt;
  return of && of->factor != masked_bits(of->factor, 0xffff0000u);
}

How how_to_split(const Graph& graph, const Node& n) {
  if (ops::is_sparse_product(n)) return terms_of_selection(graph, n) > 0 ? How::selection : How::not_at_all;
  auto a = graph.type(n.inputs()[0]);
  if (!a) return How::not_at_all;
  const std::int64_t tiles = a->shape[3] / kSide;
  if (n.inputs().size() == 2 && slices_added(n) == 1 && equal_factors(graph, n)) return tiles > 1 ? How::equal_factors : How::not_at_all;
  if (n.inputs().size() > 2 && n.outputs[0].shape[3] > kMaxUnitColumns) return How::not_at_all;
  return tiles >= (are_few(n.outputs[0].shape) ? 2 : 2 * kTilesOfPart) || slices_added(n) > 4 ? How::product : How::not_at_all;
}

Result<PassReport> split_sums(Graph& graph, PassContext& context) {
  PassReport report;
  if (context.device->features.fp32_accumulate) return report;
  const std::vector<NodeId> order = device_nodes(graph);
  const bool half = context.formats.standard && exponent_family(*context.formats.standard) == ExponentFamily::a;
  const DataFormat accumulate = half ? DataFormat::float16 : DataFormat::float16_b;
  std::vector<std::pair<NodeId, How>> found;
  const ValueSigns signs(graph, order);
  for (NodeId id : order) {
    const Node& n = graph.node(id);
    if (n.op() != "matmul") continue;
    const auto sum = signs.sum_of(n, context.formats.fidelity);
    const double largest = are_few(n.outputs[0].shape) ? kLargestExpectedError : kLargestErrorOfManyTiles;
    How how = is_inexact_in(accumulate, sum, largest) ? how_to_split(graph, n) : How::not_at_all;
    if (how == How::not_at_all && sum && sum->coherence > kSameSign && has_long_factor(graph, n)) how = How::equal_factors;
    if (how != How::not_at_all) found.emplace_back(id, how);
  }
  for (auto [id, how] : found) {
    ++report.rewrites;
    if (how == How::equal_factors) {
      split_equal_factors(graph, id);
      continue;
    }
    Splitter s(graph, id);
    const Node& n = graph.node(id);
    if (how == How::product) split_product(s, n);
    if (how == How::selection) split_selection(s, graph, n, terms_of_selection(graph, n));
  }
  return report;
}

}  // namespace

const Pass kSplitSums = {.name = "split-sums",
                         .summary = "add up long sums in parts where the destination register has 16 bits",
                         .level = graph::Level::device,
                         .needs_device = true,
                         .run = split_sums};

}  // namespace buda::passes
