// SPDX-License-Identifier: Apache-2.0
// sink-movement: moves reshapes and transposes below the ops that use what they give, so that inverse ones meet and cancel.
//
// before                                              after
//   t = transpose(x) perm=[0, 1, 3, 2]                  y.sunk = relu(x)
//   y = relu(t)                                         y = transpose(y.sunk) perm=[0, 1, 3, 2]
//   u = transpose(y) perm=[0, 1, 3, 2]                  u = transpose(y) perm=[0, 1, 3, 2]
//
// and algebraic-simplification then makes y.sunk of u. So convolutions, which come with their inputs turned into rows of places and their
// results turned back, hand rows to each other through whatever stands between them. With m the reshape or transpose:
//
//   elementwise      f(m(a), m(b), …) -> m(f(a, b, …)); values that only repeat along the axes that m takes apart go the other way round,
//   by a
//                    reshape or, where they are known, a transpose on the host
//   reduction        if it reduces whole axes of m's input
//   concatenation    if all inputs are moved alike, and its axis is one of m's input
//   slice            along axes of m's input, or along the outermost of those into which m cuts one
//   matmul           m(a) b -> m'(a b) for a reshape that leaves a's last axis alone
//
// What begins at a model input stays: the host brings inputs into any order. And what stands below elementwise ops on model inputs alone is
// raised above them, to the host: relu(x) with a movement below becomes relu of the moved x.
#include <buda/graph/editor.hpp>
#include <buda/graph/tags/training.hpp>
#include <buda/passes/pipeline/standard_passes.hpp>

#include <buda/ops/whole_graph/builder.hpp>
#include <buda/passes/fuse/fusing.hpp>
#include <buda/passes/lower/data_movement.hpp>
#include <buda/passes/simplify/constant_value.hpp>

#include <algorithm>
#include <array>

namespace buda::passes {
namespace {

using graph::Edge;
using graph::Graph;
using graph::GraphEditor;
using graph::Node;
using graph::NodeId;
using graph::ValueRef;
using ops::Builder;

using Dims = std::vector<std::int64_t>;

// ---- movements

// A reshape or a transpose.
struct Move {
  Shape from, to;
  bool transposes = false;
  std::vector<std::size_t> perm;  // axis i of `to` is axis perm[i] of `from`

  Move inverse() const {
    Move back{to, from, transposes, std::vector<std::size_t>(perm.size())};
    for (std::size_t i = 0; i < perm.size(); ++i) back.perm[perm[i]] = i;
    return back;
  }
  friend bool operator==(const Move&, const Move&) = default;
};

std::optional<Move> move_of(const Graph& g, const Edge& edge) {
  const Node& n = g.node(edge.source.node);
  if (!is_rearrangement(n)) return std::nullopt;
  Move m{g.type(n.inputs()[0].source)->shape, n.outputs[0].shape, n.op() == "transpose", {}};
  if (m.transposes)
    for (std::int64_t axis : std::get<Dims>(n.attrs.find("perm")->second)) m.perm.push_back(*m.from.axis(axis));
  return m;
}

// Axes [first, last) before and after that hold the same elements: the pieces of a reshape.
struct Group {
  std::size_t from_first, from_last, to_first, to_last;
};

std::vector<Group> groups_of(const Shape& from, const Shape& to) {
  std::vector<Group> out;
  std::size_t i = 0, j = 0;
  while (i < from.rank() || j < to.rank()) {
    Group g{i, i, j, j};
    std::int64_t a = 1, b = 1;
    // An axis of each side, unless one has none left or a 1 has no partner.
    bool from_alone = j == to.rank() || (i < from.rank() && from[i] == 1 && to[j] != 1);
    bool to_alone = i == from.rank() || (!from_alone && to[j] == 1 && from[i] != 1);
    if (!to_alone) a *= from[i++];
    if (!from_alone) b *= to[j++];
    while (a != b) {
      if (a < b && i < from.rank()) {
        a *= from[i++];
      } else if (b < a && j < to.rank()) {
        b *= to[j++];
      } else {
        return {};
      }
    }
    g.from_last = i;
    g.to_last = j;
    out.push_back(g);
  }
  return out;
}

std::int64_t product(const Shape& s, std::size_t first, std::size_t last) {
  std::int64_t n = 1;
  for (std::size_t i = first; i < last; ++i) n *= s[i];
  return n;
}

// The axis of m's input that is an axis of its result, if it is just one.
std::optional<std::size_t> axis_before(const Move& m, std::size_t axis) {
  if (m.transposes) return m.perm[axis];
  for (const Group& g : groups_of(m.from, m.to)) {
    if (axis < g.to_first || axis >= g.to_last) continue;
    for (std::size_t i = g.from_first; i < g.from_last; ++i)
      if (m.from[i] == m.to[axis] && m.from[i] == product(m.from, g.from_first, g.from_last)) return i;
  }
  return std::nullopt;
}

// The axis of a reshape's input that the result cuts, if `axis` is the outermost of the pieces.
std::optional<std::size_t> outermost_before(const Move& m, std::size_t axis) {
  if (m.transposes) return std::nullopt;
  for (const Group& g : groups_of(m.from, m.to)) {
    if (axis < g.to_first || axis >= g.to_last) continue;
    if (product(m.to, g.to_first, axis) != 1) return std::nullopt;
    for (std::size_t i = g.from_first; i < g.from_last; ++i)
      if (m.from[i] == product(m.from, g.from_first, g.from_last)) return i;
  }
  return std::nullopt;
}

// A value that broadcasts against m's result, as one that broadcasts against its input: the shape for a reshape. Nothing when it
// repeats along a part of an axis.
std::optional<Dims> shape_before(const Move& m, const Shape& value) {
  Dims wide(m.to.rank() - value.rank(), 1);
  wide.insert(wide.end(), value.begin(), value.end());
  Dims out;
  auto groups = groups_of(m.from, m.to);
  if (groups.empty()) return std::nullopt;
  for (const Group& g : groups) {
    bool all_one = true, all_whole = true;
    for (std::size_t j = g.to_first; j < g.to_last; ++j) {
      all_one = all_one && wide[j] == 1;
      all_whole = all_whole && wide[j] == m.to[j];
    }
    if (!all_one && !all_whole) return std::nullopt;
    for (std::size_t i = g.from_first; i < g.from_last; ++i) out.push_back(all_one ? 1 : m.from[i]);
  }
  return out;
}

class Sinker {
 public:
  Sinker(Graph& graph, PassContext& context) : g_(graph), context_(context) {}

  PassReport run() {
    std::vector<NodeId> ids = g_.ids();
    if (std::none_of(ids.begin(), ids.end(), [&](NodeId id) { return is_rearrangement(g_.node(id)); })) return report_;
    for (NodeId id : g_.topological_order()) {
      // What is below a movement now may be sunk further.
      std::optional<NodeId> next = id;
      while (next && g_.contains(*next)) next = is_rearrangement(g_.node(*next)) ? raise(*next) : sink(*next);
    }
    return report_;
  }

 private:
  // The op without its movement, when that was moved below it.
  std::optional<NodeId> sink(NodeId id) {
    const Node& n = g_.node(id);
    if (!n.is_op() || n.outputs.size() != 1 || g_.use_count(id) == 0 || is_rearrangement(n)) return std::nullopt;
    const ops::OpDef* def = context_.ops->find(graph::Level::tensor, n.op());
    if (def == nullptr) return std::nullopt;
    if (is_elementwise(n)) return below_elementwise(n);
    if (n.op() == "reduce_sum" || n.op() == "reduce_avg" || n.op() == "reduce_max" || n.op() == "reduce_min") return below_reduction(n);
    if (n.op() == "concatenate") return below_concatenation(n);
    if (n.op() == "slice") return below_slice(n);
    if (n.op() == "matmul") return below_matmul(n);
    return std::nullopt;
  }

  const Shape& shape(const Edge& e) const { return g_.type(e.source)->shape; }
  Edge before(const Edge& e) const { return g_.node(e.source.node).inputs()[0]; }
  bool is_known(const Edge& e) const { return value_of(g_, e) != nullptr; }

  // The movement of an input that is worth sinking.
  std::optional<Move> sinkable(const Edge& e) const {
    auto m = move_of(g_, e);
    if (!m) return std::nullopt;
    NodeId root = e.source.node;
    while (is_rearrangement(g_.node(root))) root = g_.node(root).inputs()[0].source.node;
    return g_.node(root).is_op() ? m : std::nullopt;
  }

  bool is_elementwise(const Node& n) const {
    static constexpr std::array kFamilies = {std::string_view("eltwise_unary"), std::string_view("eltwise_binary"),
                                             std::string_view("eltwise_math"),  std::string_view("activation"),
                                             std::string_view("comparison"),    std::string_view("int8")};
    const ops::OpDef* def = n.is_op() ? context_.ops->find(graph::Level::tensor, n.op()) : nullptr;
    // What the user put on an edge stays there (insert-buffers), and updates of states are made in the order that layout-states has chosen.
    return def != nullptr && !n.tags.contains(kBuffering) && !graph::is_of_optimizer(n) &&
           std::find(kFamilies.begin(), kFamilies.end(), def->family) != kFamilies.end();
  }

  // Elementwise of one model input and of known values, for one user.
  bool is_made_of_an_input(NodeId id) const {
    while (true) {
      const Node& n = g_.node(id);
      if (n.kind() == graph::NodeKind::input) return true;
      if (g_.use_count(id) != 1 || (!is_elementwise(n) && !is_rearrangement(n))) return false;
      NodeId main;
      for (const Edge& e : n.inputs()) {
        if (is_known(e)) continue;
        if (main.valid() || (is_elementwise(n) && shape(e) != n.outputs[0].shape)) return false;
        main = e.source.node;
      }
      if (!main.valid()) return false;
      id = main;
    }
  }

  // The movement of what goes into the op that it follows, when that was put before the op.
  std::optional<NodeId> raise(NodeId id) {
    const Node& n = g_.node(id);
    const Node& op = g_.node(n.inputs()[0].source.node);
    if (!is_elementwise(op) || op.outputs.size() != 1 || !is_made_of_an_input(op.id())) return std::nullopt;
    Move m = *move_of(g_, Edge(id)), back = m.inverse();
    std::vector<Edge> old = op.inputs(), inputs;
    std::vector<Dims> turned(old.size());
    for (std::size_t i = 0; i < old.size(); ++i) {
      if (!is_known(old[i]) || m.transposes) continue;
      auto dims = shape_before(back, shape(old[i]));
      if (!dims) return std::nullopt;
      turned[i] = *dims;
    }
    if (!allow(n)) return std::nullopt;
    std::string name = op.op();
    graph::AttrMap attrs = op.attrs;
    NodeId old_op = op.id();
    GraphEditor editor(g_, id);
    Builder b(editor);
    ValueRef main;
    for (std::size_t i = 0; i < old.size(); ++i) {
      if (is_known(old[i])) {
        inputs.push_back(turned_round(b, old[i], back, turned[i]));
        continue;
      }
      b.named("raised");
      main = m.transposes ? b.transpose(old[i], Dims(m.perm.begin(), m.perm.end())) : b.reshape(old[i], m.to);
      inputs.push_back(main);
    }
    ValueRef y = b.op(name, std::move(inputs), std::move(attrs));
    if (!b.status() || *g_.type(y) != g_.node(id).outputs[0]) return std::nullopt;
    take_over_marks(g_, y.node, old_op);
    editor.replace(id, y);
    ++report_.rewrites;
    return main.node;
  }

  bool allow(const Node& n) { return context_.rewrites.allow(kSinkMovement.name, n); }

  // `moved` is what was called `id` before its movement.
  std::optional<NodeId> finish(GraphEditor& editor, Builder& b, NodeId id, ValueRef inner, const Move& m, const Shape& to) {
    ValueRef outer = inner;
    if (m.transposes) {
      outer = b.named("back").transpose(inner, Dims(m.perm.begin(), m.perm.end()));
      if (outer.valid() && g_.type(outer)->shape != to) outer = b.reshape(outer, to);
    } else {
      outer = b.reshape(inner, to);
    }
    if (!b.status() || *g_.type(outer) != g_.node(id).outputs[0]) return std::nullopt;
    editor.replace(id, outer);
    ++report_.rewrites;
    return inner.node;
  }

  std::optional<NodeId> below_elementwise(const Node& n) {
    const Shape& result = n.outputs[0].shape;
    std::optional<Move> m;
    for (const Edge& e : n.inputs()) {
      if (shape(e) != result) continue;
      auto own = sinkable(e);
      if (own && (!m || *own == *m)) m = own;
    }
    if (!m) return std::nullopt;
    // What becomes of each input; a shape where it is turned round itself.
    std::vector<std::optional<Dims>> turned(n.inputs().size());
    for (std::size_t i = 0; i < n.inputs().size(); ++i) {
      const Edge& e = n.inputs()[i];
      if (shape(e) == result && move_of(g_, e) == m) continue;
      if (m->transposes) {
        // One axis at most that is not 1, or a known value: no data moves when the model runs.
        // Not a value of the op's own shape: in the op above it would be the one with a movement, which would be sunk again, for ever.
        auto wide = std::count_if(shape(e).begin(), shape(e).end(), [](std::int64_t d) { return d != 1; });
        if (!is_known(e) && (wide > 1 || shape(e) == result)) return std::nullopt;
        turned[i] = Dims();
      } else {
        turned[i] = shape_before(*m, shape(e));
        if (!turned[i]) return std::nullopt;
        bool stays_small = shape(e) != result || is_known(e);
        if (!stays_small) return std::nullopt;
      }
    }
    if (!allow(n)) return std::nullopt;
    NodeId id = n.id();
    std::vector<Edge> old = n.inputs(), inputs;
    std::string op = n.op();
    graph::AttrMap attrs = n.attrs;
    Shape to = result;
    GraphEditor editor(g_, id);
    Builder b(editor);
    for (std::size_t i = 0; i < old.size(); ++i) inputs.push_back(turned[i] ? turned_round(b, old[i], *m, *turned[i]) : before(old[i]));
    ValueRef inner = b.named("sunk").op(op, std::move(inputs), std::move(attrs));
    if (!b.status()) return std::nullopt;
    return finish(editor, b, id, inner, *m, to);
  }

  // m undone on a value that broadcasts.
  Edge turned_round(Builder& b, const Edge& e, const Move& m, const Dims& dims) {
    Shape own = shape(e);
    if (!m.transposes) return own == Shape(dims) ? e : Edge(b.named("turned").reshape(e, Shape(dims)));
    Dims wide(m.perm.size() - own.rank(), 1), inverse(m.perm.size());
    wide.insert(wide.end(), own.begin(), own.end());
    for (std::size_t i = 0; i < m.perm.size(); ++i) inverse[m.perm[i]] = static_cast<std::int64_t>(i);
    if (own.volume() == 1) return e;
    Edge x = own == Shape(wide) ? e : Edge(b.named("widened").reshape(e, Shape(wide)));
    return b.named("turned").transpose(x, inverse);
  }

  std::optional<NodeId> below_reduction(const Node& n) {
    auto m = sinkable(n.inputs()[0]);
    if (!m) return std::nullopt;
    Dims given = std::get<Dims>(n.attrs.count("dims") != 0 ? n.attrs.find("dims")->second : graph::Attr(Dims()));
    std::vector<char> reduced(m->to.rank(), given.empty() ? 1 : 0);
    for (std::int64_t dim : given) reduced[*m->to.axis(dim)] = 1;
    Dims dims;
    if (m->transposes) {
      for (std::size_t i = 0; i < reduced.size(); ++i)
        if (reduced[i] != 0) dims.push_back(static_cast<std::int64_t>(m->perm[i]));
    } else {
      for (const Group& g : groups_of(m->from, m->to)) {
        std::int64_t inside = 0, wide = 0;
        for (std::size_t j = g.to_first; j < g.to_last; ++j)
          if (m->to[j] != 1) (reduced[j] != 0 ? inside : wide) += 1;
        if (inside == 0) continue;
        if (wide != 0) return std::nullopt;
        for (std::size_t i = g.from_first; i < g.from_last; ++i) dims.push_back(static_cast<std::int64_t>(i));
      }
    }
    if (dims.empty() || !allow(n)) return std::nullopt;
    std::sort(dims.begin(), dims.end());
    NodeId id = n.id();
    Edge x = before(n.inputs()[0]);
    std::string op = n.op();
    Shape to = n.outputs[0].shape;
    GraphEditor editor(g_, id);
    Builder b(editor);
    ValueRef inner = b.named("sunk").op(op, {x}, {{"dims", dims}, {"keep_dims", true}});
    if (!b.status()) return std::nullopt;
    return finish(editor, b, id, inner, *m, to);
  }

  std::optional<NodeId> below_concatenation(const Node& n) {
    std::vector<Move> moves;
    for (const Edge& e : n.inputs()) {
      auto m = sinkable(e);
      if (!m || m->transposes != (moves.empty() ? m->transposes : moves[0].transposes)) return std::nullopt;
      if (!moves.empty() && m->perm != moves[0].perm) return std::nullopt;
      moves.push_back(*m);
    }
    std::size_t axis = *n.outputs[0].shape.axis(std::get<std::int64_t>(n.attrs.find("dim")->second));
    auto at = axis_before(moves[0], axis);
    for (const Move& m : moves) {
      if (!at || axis_before(m, axis) != at || m.from.rank() != moves[0].from.rank()) return std::nullopt;
      for (std::size_t i = 0; i < m.from.rank(); ++i)
        if (i != *at && m.from[i] != moves[0].from[i]) return std::nullopt;
    }
    if (!allow(n)) return std::nullopt;
    NodeId id = n.id();
    std::vector<Edge> inputs;
    for (const Edge& e : n.inputs()) inputs.push_back(before(e));
    Shape to = n.outputs[0].shape;
    GraphEditor editor(g_, id);
    Builder b(editor);
    ValueRef inner = b.named("sunk").concatenate(std::move(inputs), static_cast<std::int64_t>(*at));
    if (!b.status()) return std::nullopt;
    return finish(editor, b, id, inner, moves[0], to);
  }

  std::optional<NodeId> below_slice(const Node& n) {
    auto m = sinkable(n.inputs()[0]);
    if (!m) return std::nullopt;
    ops::Attrs given(*context_.ops->find(graph::Level::tensor, "slice"), n.attrs);
    Dims dims = given.integers("dims"), starts = given.integers("starts"), stops = given.integers("stops");
    const Dims& steps = given.integers("steps");
    for (std::size_t i = 0; i < dims.size(); ++i) {
      std::size_t axis = *m->to.axis(dims[i]);
      if (auto same = axis_before(*m, axis)) {
        dims[i] = static_cast<std::int64_t>(*same);
        continue;
      }
      auto outer = outermost_before(*m, axis);
      if (!outer || (!steps.empty() && steps[i] != 1)) return std::nullopt;
      std::int64_t size = m->to[axis], inner = m->from[*outer] / size;
      auto place = [&](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + size : at, 0, size) * inner; };
      dims[i] = static_cast<std::int64_t>(*outer);
      starts[i] = place(starts[i]);
      stops[i] = place(stops[i]);
    }
    if (!allow(n)) return std::nullopt;
    NodeId id = n.id();
    Edge x = before(n.inputs()[0]);
    graph::AttrMap attrs = n.attrs;
    attrs["dims"] = dims;
    attrs["starts"] = starts;
    attrs["stops"] = stops;
    Shape to = n.outputs[0].shape;
    GraphEditor editor(g_, id);
    Builder b(editor);
    ValueRef inner = b.named("sunk").op("slice", {x}, std::move(attrs));
    if (!b.status()) return std::nullopt;
    return finish(editor, b, id, inner, *m, to);
  }

  std::optional<NodeId> below_matmul(const Node& n) {
    auto m = sinkable(n.inputs()[0]);
    if (!m || m->transposes || shape(n.inputs()[1]).rank() != 2 || m->from.rank() < 2 || m->to.rank() < 2) return std::nullopt;
    if (m->from[m->from.rank() - 1] != m->to[m->to.rank() - 1]) return std::nullopt;
    if (n.inputs().size() == 3 && !is_row_of(shape(n.inputs()[2]), n.outputs[0].shape)) return std::nullopt;
    if (!may_fuse(n) || !allow(n)) return std::nullopt;
    NodeId id = n.id();
    std::vector<Edge> inputs = n.inputs();
    Shape to = n.outputs[0].shape;
    GraphEditor editor(g_, id);
    Builder b(editor);
    inputs[0] = before(inputs[0]);
    if (inputs.size() == 3 && shape(inputs[2]).rank() != 1)
      inputs[2] = b.named("row").reshape(inputs[2], {shape(inputs[2])[shape(inputs[2]).rank() - 1]});
    ValueRef inner = b.named("sunk").op("matmul", std::move(inputs));
    if (!b.status()) return std::nullopt;
    return finish(editor, b, id, inner, *m, to);
  }

  Graph& g_;
  PassContext& context_;
  PassReport report_;
};

Result<PassReport> sink_movement(Graph& graph, PassContext& context) { return Sinker(graph, context).run(); }

}  // namespace

const Pass kSinkMovement = {.name = "sink-movement",
                            .summary = "move reshapes and transposes after the ops that use them, so that inverse ones cancel",
                            .level = graph::Level::tensor,
                            .run = sink_movement};

}  // namespace buda::passes
