// Lowering of ops that move elements: what costs nothing on a chip, and what edges can do. The rest (slices at odd places, concatenations,
// reshapes through tiles) needs ops that are not lowered yet, and is refused with its reason.
#include <buda/base/text.hpp>
#include <buda/passes/lowering_rules.hpp>

#include <algorithm>
#include <array>
#include <numeric>

namespace buda::passes {
namespace {

using graph::Edge;
using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::Tm;

// Whether what a node gives reaches outputs only, through nothing but reshapes.
bool feeds_outputs_only(const Graph& g, NodeId id) {
  auto users = g.users(id);
  return std::all_of(users.begin(), users.end(), [&](const graph::Use& use) {
    const Node& user = g.node(use.node);
    return user.kind() == graph::NodeKind::output || (is_reshape(g, user) && feeds_outputs_only(g, use.node));
  });
}

std::int64_t rows_multiple(const Shape& s) { return s[1] == 1 ? 1 : graph::kTileSide; }

Result<Lowered> reshaped(Lowering& l, const Node& n, Lowered x) {
  BUDA_ASSIGN(Shape wanted, l.four(n, n.outputs[0].shape));
  if (x.host_view || l.is_viewed(n.inputs()[0])) return x;
  switch (reshape_way(x.shape, wanted)) {
    case ReshapeWay::same:
      return x;
    case ReshapeWay::transpose:
      return transposed(std::move(x));
    case ReshapeWay::stacks:
      if (x.shape[1] > 1) x.tms.push_back(Tm::vstack(x.shape[1]));
      if (wanted[1] > 1) x.tms.push_back(Tm::vslice(wanted[1]));
      x.shape = wanted;
      x.rows_alike = false;
      return x;
    case ReshapeWay::none:
      break;
  }
  if (feeds_outputs_only(l.from(), n.id())) {
    x.host_view = l.type(n.inputs()[0]).shape;
    return x;
  }
  return l.refuse(
      n, cat("(w, z, r, c) would change from ", x.shape.text(), " to ", wanted.text(), ", which moves data between tiles"),
      "the device stacks z onto r and slices r into z in whole tiles of 32 rows; reshapes of model inputs, outputs and parameters are "
      "done by the host");
}

Result<Lowered> lower_reshape(Lowering& l, const Node& n) {
  BUDA_ASSIGN(Lowered x, l.value(n.inputs()[0]));
  return reshaped(l, n, std::move(x));
}

Result<Lowered> lower_transpose(Lowering& l, const Node& n) {
  BUDA_ASSIGN(Lowered x, l.value(n.inputs()[0]));
  if (is_reshape(l.from(), n)) return reshaped(l, n, std::move(x));
  // What counts is the order of the axes that are not 1.
  std::vector<std::size_t> from = four_axis_permutation(l.attrs(n).integers("perm")), moving;
  if (from.empty())
    return l.refuse(n, "it moves axes that the device works through one after the other", "keep all but the last three axes in place");
  for (std::size_t axis : from)
    if (x.shape[axis] != 1) moving.push_back(axis);
  if (moving.size() >= 2) std::swap(moving[moving.size() - 1], moving[moving.size() - 2]);
  bool rows_and_columns = std::is_sorted(moving.begin(), moving.end()) && moving.size() >= 2 && moving[moving.size() - 2] == 2;
  if (!rows_and_columns)
    return l.refuse(n, cat("it exchanges other axes than the last two of ", x.shape.text(), ", which moves data between tiles"),
                    "let the model exchange its last two axes only");
  return reshaped(l, n, transposed(std::move(x)));
}

Result<Lowered> lower_broadcast(Lowering& l, const Node& n) {
  BUDA_ASSIGN(Shape wanted, l.four(n, n.outputs[0].shape));
  BUDA_ASSIGN(Lowered x, l.stretched(n.inputs()[0], wanted, n));
  if (x.shape == wanted) return x;
  return l.refuse(n, "it repeats a value along the first axis, the batch, which the device works through one after the other",
                  "repeat the value along one of the last three axes");
}

Result<Lowered> lower_slice(Lowering& l, const Node& n) {
  const auto& steps = l.attrs(n).integers("steps");
  bool forwards = std::all_of(steps.begin(), steps.end(), [](std::int64_t s) { return s > 0; });
  if (forwards && n.outputs[0].shape == l.type(n.inputs()[0]).shape) return l.value(n.inputs()[0]);
  return l.refuse(n, "parts of a value are not cut out on the device yet", "slice in the model's code before or after it");
}

Result<Lowered> lower_concatenate(Lowering& l, const Node& n) {
  if (n.inputs().size() == 1) return l.value(n.inputs()[0]);
  return l.refuse(n, "values are not concatenated on the device yet", "concatenate in the model's code before or after it");
}

Result<Lowered> lower_pad(Lowering& l, const Node& n) {
  if (n.outputs[0].shape == l.type(n.inputs()[0]).shape) return l.value(n.inputs()[0]);
  return l.refuse(n, "borders are not added on the device yet", "pad the model's input before it is pushed");
}

constexpr std::array kReshapes = {std::string_view("reshape"), std::string_view("squeeze"), std::string_view("unsqueeze")};

}  // namespace

bool is_reshape(const Graph& graph, const Node& n) {
  if (n.op() != "transpose") return std::find(kReshapes.begin(), kReshapes.end(), n.op()) != kReshapes.end();
  const Shape& in = graph.type(n.inputs()[0].source)->shape;
  std::vector<std::size_t> moving;
  for (std::int64_t axis : std::get<std::vector<std::int64_t>>(n.attrs.find("perm")->second))
    if (in[*in.axis(axis)] != 1) moving.push_back(*in.axis(axis));
  return std::is_sorted(moving.begin(), moving.end());
}

ReshapeWay reshape_way(const Shape& in, const Shape& out) {
  if (in == out) return ReshapeWay::same;
  if (in[0] != out[0]) return ReshapeWay::none;
  if (in[1] == out[1] && in[2] == out[3] && in[3] == out[2] && (in[2] == 1 || in[3] == 1)) return ReshapeWay::transpose;
  if (in[3] == out[3] && in[2] % rows_multiple(in) == 0 && out[2] % rows_multiple(out) == 0) return ReshapeWay::stacks;
  return ReshapeWay::none;
}

std::vector<std::size_t> four_axis_permutation(const std::vector<std::int64_t>& permutation) {
  auto rank = static_cast<std::int64_t>(permutation.size());
  std::vector<std::size_t> out(4);
  std::iota(out.begin(), out.end(), std::size_t{0});
  for (std::int64_t i = 0; i < rank; ++i) {
    std::int64_t from = permutation[static_cast<std::size_t>(i)];
    if (from < 0) from += rank;
    std::int64_t to4 = i + 4 - rank, from4 = from + 4 - rank;
    if (rank > 4 && (to4 <= 0 || from4 <= 0)) {
      if (from != i) return {};
      continue;
    }
    out[static_cast<std::size_t>(to4)] = static_cast<std::size_t>(from4);
  }
  return out;
}

const std::vector<LoweringRule>& movement_rules() {
  static const std::vector<LoweringRule> rules = {
      {"reshape", lower_reshape},     {"squeeze", lower_reshape}, {"unsqueeze", lower_reshape},       {"transpose", lower_transpose},
      {"broadcast", lower_broadcast}, {"slice", lower_slice},     {"concatenate", lower_concatenate}, {"pad", lower_pad},
  };
  return rules;
}

}  // namespace buda::passes
