// Walking the tensor graph: sources, outputs, known values, and one rule for each op.
#include <buda/passes/lowering.hpp>

#include <buda/base/text.hpp>
#include <buda/ops/device_layout.hpp>
#include <buda/ops/evaluate.hpp>
#include <buda/ops/infer.hpp>
#include <buda/passes/lowering_rules.hpp>
#include <buda/tensor/visit.hpp>

#include <algorithm>
#include <limits>

namespace buda::passes {

using graph::Edge;
using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::NodeKind;
using graph::ValueRef;

namespace {

// Copies of a matrix's only row or column are made for whole tiles.
template <class T>
Tensor copied_through_tile(const Tensor& in, const Shape& four, Copies copies) {
  bool rows = copies == Copies::rows || copies == Copies::both, cols = copies == Copies::columns || copies == Copies::both;
  Shape out{four[0], four[1], rows ? graph::kTileSide : four[2], cols ? graph::kTileSide : four[3]};
  std::span<const T> x = in.as<T>();
  std::vector<T> y;
  y.reserve(static_cast<std::size_t>(*out.volume()));
  for (std::int64_t m = 0; m < out[0] * out[1]; ++m)
    for (std::int64_t r = 0; r < out[2]; ++r)
      for (std::int64_t c = 0; c < out[3]; ++c)
        y.push_back(x[static_cast<std::size_t>((m * four[2] + (rows ? 0 : r)) * four[3] + (cols ? 0 : c))]);
  return Tensor(out, std::move(y));
}

Span span_of(const Tensor& t) {
  if (t.size() == 0) return Span::exactly(0);
  return visit_dtype(t.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    double least = std::numeric_limits<double>::infinity(), most = -least;
    for (T v : t.as<T>()) {
      double d = 0;
      if constexpr (std::is_same_v<T, Boolean>) {
        d = v ? 1 : 0;
      } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
        d = to_float(v);
      } else {
        d = static_cast<double>(v);
      }
      if (d != d) return Span::unknown();
      least = std::min(least, d);
      most = std::max(most, d);
    }
    return Span{least, most, true};
  });
}

std::string shapes_text(const Graph& graph, const Node& n) {
  std::string out;
  for (const Edge& edge : n.inputs()) out += cat(out.empty() ? "" : ", ", graph.type(edge.source)->text());
  if (!n.outputs.empty()) out += cat(" -> ", n.outputs.front().text());
  return out;
}

}  // namespace

Lowering::Lowering(const Graph& graph, PassContext& context) : from_(graph), context_(context), out_(graph.name, graph::Level::device) {
  out_.tags = graph.tags;
}

Result<Graph> Lowering::run() {
  find_row_readers();
  find_views();
  Failure failure;
  auto handle = [&](NodeId id, Result<void> done) {
    if (done) return;
    failed_.insert(id);
    failure.add(std::move(done).failure());
  };
  for (NodeId id : from_.inputs()) handle(id, visit_input(from_.node(id)));
  for (NodeId id : from_.topological_order()) {
    const Node& n = from_.node(id);
    if (n.kind() == NodeKind::input || n.kind() == NodeKind::output) continue;
    bool behind = std::any_of(n.inputs().begin(), n.inputs().end(), [&](const Edge& e) { return failed_.contains(e.source.node); });
    if (behind) {
      failed_.insert(id);
    } else {
      handle(id, visit(n));
    }
  }
  for (NodeId id : from_.outputs())
    if (!failed_.contains(from_.node(id).inputs()[0].source.node)) handle(id, visit_output(from_.node(id)));
  if (!failure.empty()) return failure;
  return std::move(out_);
}

Diagnostic Lowering::refuse(const Node& n, const std::string& reason, std::string remedy) const {
  Diagnostic d = input_error(
      "PA020", n.loc, cat("node '", n.name(), "' (", n.op(), ", ", shapes_text(from_, n), ") cannot be lowered to the device: ", reason));
  d.node = n.name();
  d.hint = std::move(remedy);
  for (const auto& origin : n.origins) d.notes.push_back({{origin.file}, cat("'", n.name(), "' comes from node '", origin.node, '\'')});
  return d;
}

// ---- who reads padding

// The padding below a value's rows is read by whoever adds up or compares along r, or turns r into another axis. Nodes whose users do so,
// directly or through other ops, must keep it finite. Along c everybody's padding is kept finite: block floating-point formats share an
// exponent among neighbours in a row, so that an infinity there would take the data with it.
void Lowering::find_row_readers() {
  rows_read_.assign(from_.id_bound(), 0);
  std::vector<NodeId> order = from_.topological_order();
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const Node& n = from_.node(*it);
    for (std::uint32_t i = 0; i < n.inputs().size(); ++i)
      if (rows_read_[it->index()] != 0 || reads_rows(n, i)) rows_read_[n.inputs()[i].source.node.index()] = 1;
  }
}

bool Lowering::reads_rows(const Node& n, std::uint32_t input) const {
  if (!n.is_op()) return false;
  if (n.op() == "matmul") return input != 0;
  if (n.op() == "reduce_max" || n.op() == "reduce_sum" || n.op() == "reduce_avg" || n.op() == "transpose") return true;
  auto in = ops::four_axes(type(n.inputs()[input]).shape), out = ops::four_axes(n.outputs[0].shape);
  return !in || !out || (*in)[2] != (*out)[2] || (is_reshape(from_, n) && *in != *out);
}

// An input that the model reshapes before it uses it in any other way enters the device under the shape in which it is used: that is the
// host's work, which pads and tiles it anyway.
void Lowering::find_views() {
  for (NodeId id : from_.inputs()) {
    std::set<std::vector<std::int64_t>> fours;
    Shape view;
    std::vector<NodeId> pending{id};
    while (!pending.empty()) {
      NodeId at = pending.back();
      pending.pop_back();
      for (const graph::Use& use : from_.users(at)) {
        const Node& user = from_.node(use.node);
        if (is_reshape(from_, user)) {
          pending.push_back(use.node);
        } else if (auto shape = ops::four_axes(from_.node(at).outputs[0].shape)) {
          fours.insert(shape->dims());
          view = from_.node(at).outputs[0].shape;
        }
      }
    }
    auto natural = ops::four_axes(from_.node(id).outputs[0].shape);
    if (fours.size() == 1 && natural && *fours.begin() != natural->dims()) views_[id] = view;
  }
}

bool Lowering::is_viewed(const Edge& edge) const {
  NodeId id = edge.source.node;
  while (is_reshape(from_, from_.node(id))) id = from_.node(id).inputs()[0].source.node;
  return views_.contains(id);
}

// ---- nodes

Result<void> Lowering::visit(const Node& n) {
  if (!n.is_op()) return visit_source(n);
  // Broadcasts of known values are left to edges: nothing is gained by making a tensor larger.
  if (all_known(n) && n.op() != "broadcast") return fold(n);
  const LoweringRule* rule = find_lowering_rule(n.op());
  if (rule == nullptr)
    return refuse(n, "no device op does this", "write a decomposition plugin that replaces it (docs/plugins/decomposition.md)");
  for (const Edge& edge : n.inputs())
    if (!is_float(type(edge).dtype))
      return refuse(n, cat("it computes with ", dtype_name(type(edge).dtype), ", and only floating-point values are lowered yet"),
                    "cast its inputs to F32 in the model");
  BUDA_ASSIGN(Lowered value, rule->lower(*this, n));
  values_[n.id()] = std::move(value);
  return success();
}

bool Lowering::all_known(const Node& n) const {
  return std::all_of(n.inputs().begin(), n.inputs().end(), [&](const Edge& e) { return known_.contains(e.source); });
}

Result<void> Lowering::visit_source(const Node& n) {
  if (auto tiled = ops::tiled_shape(n.outputs[0].shape); !tiled) return refuse(n, tiled.failure().diagnostics().front().message, "");
  known_[n.id()] = {*n.value, n.kind(), n.id()};
  return success();
}

Result<void> Lowering::fold(const Node& n) {
  std::vector<Tensor> inputs;
  NodeKind kind = NodeKind::constant;
  for (const Edge& edge : n.inputs()) {
    const Known& k = known_.at(edge.source);
    inputs.push_back(k.value.tensor);
    if (k.kind == NodeKind::parameter) kind = NodeKind::parameter;
  }
  ops::EvaluateOptions options;
  options.threads = context_.host.threads;
  options.registry = context_.ops;
  BUDA_ASSIGN(std::vector<Tensor> results, ops::evaluate_node(n, graph::Level::tensor, inputs, options));
  for (std::uint32_t port = 0; port < results.size(); ++port) known_[{n.id(), port}] = {graph::Value(results[port]), kind, n.id()};
  return success();
}

Result<void> Lowering::visit_input(const Node& n) {
  const Shape& model = n.outputs[0].shape;
  auto view = views_.find(n.id());
  const Shape& seen = view == views_.end() ? model : view->second;
  BUDA_ASSIGN(Shape shape, four(n, seen));
  NodeId id = out_.add(n.name(), std::string(graph::kInputOp));
  Node& made = out_.node(id);
  describe_as(made, n);
  made.outputs = {{n.outputs[0].dtype, padded(shape), std::nullopt}};
  made.attrs[std::string(ops::kModelShape)] = model.dims();
  if (view != views_.end()) made.attrs[std::string(ops::kViewShape)] = seen.dims();
  Lowered value;
  value.source = id;
  value.shape = shape;
  values_[n.id()] = value;
  return success();
}

Result<void> Lowering::visit_output(const Node& n) {
  const Edge& edge = n.inputs()[0];
  BUDA_ASSIGN(Lowered x, value(edge));
  // Queues are filled by ops, and nothing can be done on the edge to a queue.
  if (!x.tms.empty() || !out_.node(x.source.node).is_op()) {
    BUDA_ASSIGN(x, settled(n, "copy", x));
  }
  NodeId id = out_.add(n.name(), std::string(graph::kOutputOp), {x.edge()});
  Node& made = out_.node(id);
  describe_as(made, n);
  made.attrs[std::string(ops::kModelShape)] = type(edge).shape.dims();
  if (x.host_view) made.attrs[std::string(ops::kViewShape)] = x.host_view->dims();
  return success();
}

void Lowering::describe_as(Node& made, const Node& basis) {
  made.origins = basis.origins;
  made.tags = basis.tags;
  made.loc = basis.loc;
}

// ---- values

const Tensor* Lowering::known(const Edge& edge) const {
  auto it = known_.find(edge.source);
  return it == known_.end() ? nullptr : &it->second.value.tensor;
}

std::optional<double> Lowering::uniform(const Edge& edge) const {
  const Tensor* t = known(edge);
  if (t == nullptr) return std::nullopt;
  Span s = span_of(*t);
  return s.least == s.most ? std::optional(s.least) : std::nullopt;
}

Result<Lowered> Lowering::value(const Edge& edge) {
  if (known_.contains(edge.source)) return place(edge.source, Copies::none);
  return values_.at(edge.source);
}

Result<Shape> Lowering::four(const Node& n, const Shape& model) const {
  if (auto tiled = ops::tiled_shape(model); !tiled) return refuse(n, tiled.failure().diagnostics().front().message, "");
  return ops::four_axes(model);
}

std::string Lowering::free_name(const std::string& wanted) const {
  std::string name = out_.fresh_name(wanted);
  for (int i = 1; from_.find(name).valid() || from_.find_output(name).valid(); ++i) name = out_.fresh_name(cat(wanted, '.', i));
  return name;
}

Result<Lowered> Lowering::place(ValueRef value, Copies copies) {
  if (auto it = placed_.find({value, copies}); it != placed_.end()) return it->second;
  const Known& k = known_.at(value);
  const Node& basis = from_.node(k.from);
  BUDA_ASSIGN(Shape shape, four(basis, k.value.tensor.shape()));
  static constexpr std::string_view kSuffixes[] = {"", ".rows", ".columns", ".tile"};
  std::string name = basis.name() + std::string(kSuffixes[static_cast<std::size_t>(copies)]);
  if (value.port != 0) name += cat('.', value.port);
  if (copies != Copies::none || value.port != 0) name = free_name(name);
  NodeId id = out_.add(name, std::string(k.kind == NodeKind::parameter ? graph::kParameterOp : graph::kConstantOp));
  Node& made = out_.node(id);
  describe_as(made, basis);
  made.value = k.value;
  if (copies != Copies::none)
    made.value = graph::Value(visit_dtype(k.value.tensor.dtype(), [&](auto tag) {
      return copied_through_tile<typename decltype(tag)::type>(k.value.tensor, shape, copies);
    }));
  made.outputs = {{k.value.tensor.dtype(), padded(shape), std::nullopt}};

  Lowered out;
  out.source = id;
  out.shape = shape;
  out.data = span_of(k.value.tensor);
  out.rows_alike = copies == Copies::rows || copies == Copies::both;
  out.cols_alike = copies == Copies::columns || copies == Copies::both;
  if (out.rows_alike) out.rows = out.data;
  if (out.cols_alike) out.cols = out.data;
  if (copies == Copies::both) out.corner = out.data;
  placed_[{value, copies}] = out;
  return out;
}

Result<Lowered> Lowering::constant(const Node& n, std::string_view suffix, const Tensor& given) {
  // Device ops take inputs of one element type.
  Tensor tensor = given.cast(n.inputs().empty() ? DType::f32 : type(n.inputs()[0]).dtype);
  BUDA_ASSIGN(Shape shape, four(n, tensor.shape()));
  NodeId id = out_.add(free_name(cat(n.name(), '.', suffix)), std::string(graph::kConstantOp));
  Node& made = out_.node(id);
  made.origins = n.origins;
  made.loc = n.loc;
  if (auto original = n.tags.find(kOriginalOpType); original != n.tags.end()) made.tags.insert(*original);
  made.value = graph::Value(tensor);
  made.outputs = {{tensor.dtype(), padded(shape), std::nullopt}};
  Lowered out;
  out.source = id;
  out.shape = shape;
  out.data = span_of(tensor);
  return out;
}

Result<ValueRef> Lowering::emit(const Node& n, std::string_view suffix, std::string op, std::vector<Edge> inputs, graph::AttrMap attrs) {
  std::string name = suffix.empty() ? n.name() : free_name(cat(n.name(), '.', suffix));
  NodeId id = out_.add(std::move(name), std::move(op), std::move(inputs));
  Node& made = out_.node(id);
  describe_as(made, n);
  made.attrs = std::move(attrs);
  BUDA_ASSIGN(made.outputs, ops::infer_node(out_, made, *context_.ops));
  return ValueRef(id);
}

}  // namespace buda::passes
