// Walking the tensor graph: sources, outputs, known values, and one rule for each op.
#include <buda/passes/lower/lowering.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/loopback.hpp>
#include <buda/ops/device/device_layout.hpp>
#include <buda/ops/whole_graph/evaluate.hpp>
#include <buda/ops/whole_graph/infer.hpp>
#include <buda/passes/lower/lowering_rules.hpp>
#include <buda/passes/lower/lowering_tags.hpp>
#include <buda/tensor/visit.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace buda::passes {

using graph::Edge;
using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::NodeKind;
using graph::ValueRef;

namespace {

// Of all values on the device; the data format says what it makes of them.
constexpr DType kDeviceType = DType::f32;

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

// What the host does between the model's shape and the device's at the border; nothing where it has nothing to do.
void note_view(Node& border, const Rearrangement& how, const Shape& model, const Shape& on_device) {
  if (model == on_device && how.moves_nothing()) return;
  border.attrs[std::string(ops::kViewShape)] = on_device.dims();
  if (how.moves_nothing()) return;
  border.attrs[std::string(ops::kViewSplit)] = how.split();
  border.attrs[std::string(ops::kViewOrder)] = how.order();
}

ValueRange span_of(const Tensor& t) {
  if (t.size() == 0) return ValueRange::exactly(0);
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
      if (d != d) return ValueRange::unknown();
      least = std::min(least, d);
      most = std::max(most, d);
    }
    return ValueRange{least, most, true};
  });
}

std::string shapes_text(const Graph& graph, const Node& n) {
  std::string out;
  for (const Edge& edge : n.inputs()) out += cat(out.empty() ? "" : ", ", graph.type(edge.source)->text());
  if (!n.outputs.empty()) out += cat(" -> ", n.outputs.front().text());
  return out;
}

// Whether two rearrangements of a value lead to the same axes on the device.
bool same_on_device(const Lowering& l, Rearrangement a, Rearrangement b) {
  a.reshape(l.axes_of(a.to()));
  b.reshape(l.axes_of(b.to()));
  return a == b;
}

// Whether manipulations of an edge do what a rearrangement does.
bool edges_can(const Lowering& l, const Rearrangement& how) {
  auto places = how.places(l.axes_of(how.from()), l.axes_of(how.to()));
  if (!places || places->from[0] != places->to[0]) return false;
  DeviceAxes from{{places->from[1], places->from[2], places->from[3]}}, to{{places->to[1], places->to[2], places->to[3]}};
  return manipulations(from, to, places->sizes).has_value();
}

}  // namespace

Lowering::Lowering(const Graph& graph, PassContext& context, Batch batch)
    : from_(graph),
      context_(context),
      batch_(batch),
      out_(graph.name, graph::Level::device),
      values_(graph.id_bound()),
      known_(graph.id_bound()),
      placed_{graph::ValueTable<Lowered>(graph.id_bound()), graph::ValueTable<Lowered>(graph.id_bound()),
              graph::ValueTable<Lowered>(graph.id_bound()), graph::ValueTable<Lowered>(graph.id_bound())} {
  out_.tags = graph.tags;
}

Result<Graph> Lowering::run() {
  lower_all();
  if (!failure_.empty()) return failure_;
  return std::move(out_);
}

std::vector<Lowering::Refusal> Lowering::probe() {
  probing_ = true;
  lower_all();
  std::vector<std::size_t> place(from_.id_bound(), 0);
  std::vector<NodeId> order = from_.topological_order();
  for (std::size_t i = 0; i < order.size(); ++i) place[order[i].index()] = i;
  std::stable_sort(refused_.begin(), refused_.end(),
                   [&](const Refusal& a, const Refusal& b) { return place[a.node.index()] < place[b.node.index()]; });
  return std::move(refused_);
}

void Lowering::lower_all() {
  find_state();
  find_row_readers();
  find_views();
  auto handle = [&](const Node& n, Result<void> done) {
    if (!done) fail(n, std::move(done).failure());
  };
  for (NodeId id : from_.inputs()) handle(from_.node(id), visit_input(from_.node(id)));
  for (NodeId id : from_.topological_order()) {
    const Node& n = from_.node(id);
    if (n.kind() == NodeKind::input || n.kind() == NodeKind::output) continue;
    auto behind = std::find_if(n.inputs().begin(), n.inputs().end(), [&](const Edge& e) { return failed_.contains(e.source.node); });
    if (behind == n.inputs().end()) {
      if (!is_rearrangement(n) || all_known(n)) handle(n, visit(n));  // others wait until somebody asks for them
    } else if (probing_) {
      fail(n, refuse(n, cat("the device cannot hold its input '", from_.node(behind->source.node).name(), '\''), ""));
    } else {
      failed_.insert(id);
    }
  }
  for (NodeId id : from_.outputs())
    if (!failed_.contains(from_.node(id).inputs()[0].source.node)) handle(from_.node(id), visit_output(from_.node(id)));
}

void Lowering::fail(const Node& n, Failure failure) {
  if (!probing_) {
    failed_.insert(n.id());
    failure_.add(std::move(failure));
    return;
  }
  if (failed_.insert(n.id()).second) refused_.push_back({n.id(), failure.diagnostics().front()});
  if (n.is_op() && enter(n)) failed_.erase(n.id());
}

// The results of an op that runs elsewhere, as inputs of the device.
Result<void> Lowering::enter(const Node& n) {
  for (std::uint32_t port = 0; port < n.outputs.size(); ++port) {
    Lowered value;
    BUDA_ASSIGN(value.shape, four(n, n.outputs[port].shape));
    NodeId id = out_.add(free_name(n.name()), std::string(graph::kInputOp));
    out_.node(id).outputs = {{kDeviceType, padded(value.shape), std::nullopt}};
    value.source = id;
    values_.set({n.id(), port}, std::move(value));
  }
  return success();
}

Diagnostic Lowering::refuse(const Node& n, const std::string& reason, std::string remedy) const {
  Diagnostic d = input_error(
      "PA020", n.loc, cat("node '", n.name(), "' (", n.op(), ", ", shapes_text(from_, n), ") cannot be lowered to the device: ", reason));
  d.node = n.name();
  d.hint = std::move(remedy);
  for (const auto& origin : n.origins) d.notes.push_back({{origin.file}, cat("'", n.name(), "' comes from node '", origin.node, '\'')});
  return d;
}

// ---- state

// What is an output in one step and an input in the next stays on the device, so that both have one form: the host does nothing to either,
// and the padding is zero, as the host fills it up in the first step.
void Lowering::find_state() {
  auto found = graph::loopbacks(from_);
  if (!found) {
    failure_.add(std::move(found).failure());
    return;
  }
  for (const graph::Loopback& l : *found) {
    state_.insert(l.input);
    state_.insert(l.output);
  }
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
    if (state_.contains(*it)) rows_read_[it->index()] = 1;  // to be made zero
    for (std::uint32_t i = 0; i < n.inputs().size(); ++i)
      if (rows_read_[it->index()] != 0 || reads_rows(n, i)) rows_read_[n.inputs()[i].source.node.index()] = 1;
  }
}

bool Lowering::reads_rows(const Node& n, std::uint32_t input) const {
  if (!n.is_op()) return false;
  if (n.op() == "matmul") return input != 0;
  if (n.op() == "depthwise") return input != 0;
  static constexpr std::array kReaders = {
      std::string_view("reduce_max"),  std::string_view("reduce_sum"),    std::string_view("reduce_avg"),
      std::string_view("transpose"),   std::string_view("sparse_matmul"), std::string_view("slice"),
      std::string_view("concatenate"), std::string_view("pad"),           std::string_view("gather")};
  if (std::find(kReaders.begin(), kReaders.end(), n.op()) != kReaders.end()) return true;
  auto in = ops::four_axes(type(n.inputs()[input]).shape), out = ops::four_axes(n.outputs[0].shape);
  return !in || !out || (*in)[2] != (*out)[2] || (is_reshape(from_, n) && *in != *out);
}

// An input that the model only uses in one other order of its elements enters the device in that order: the host pads and tiles it anyway.
// What edges on the device can do is left to them, but for reshapes.
void Lowering::find_views() {
  for (NodeId id : from_.inputs()) {
    if (state_.contains(id)) continue;
    std::vector<Rearrangement> uses;
    std::vector<NodeId> pending{id};
    bool is_possible = true;
    while (!pending.empty() && is_possible) {
      NodeId at = pending.back();
      pending.pop_back();
      for (const graph::Use& use : from_.users(at)) {
        const Node& user = from_.node(use.node);
        if (is_rearrangement(user)) {
          pending.push_back(use.node);
          continue;
        }
        Chain chain = chain_to(Edge(at));
        is_possible = user.is_op() && chain.root.source == ValueRef(id) && ops::four_axes(chain.how.to());
        if (!is_possible) break;
        if (uses.empty() || !same_on_device(*this, uses.front(), chain.how)) uses.push_back(chain.how);
      }
    }
    const Shape& model = from_.node(id).outputs[0].shape;
    if (!is_possible || uses.size() != 1 || !ops::four_axes(model)) continue;
    const Rearrangement& use = uses.front();
    if (use.moves_nothing() ? axes_of(use.to()) != axes_of(model) : !edges_can(*this, use)) views_.emplace(id, use);
  }
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
    if (!is_float(type(edge).dtype) && !rule->takes_known_integers && !rule->any_type)
      return refuse(n, cat("it computes with ", dtype_name(type(edge).dtype), ", and the device computes with floating-point numbers"),
                    "cast its inputs to F32 in the model");
  BUDA_ASSIGN(Lowered value, rule->lower(*this, n));
  values_.set(n.id(), std::move(value));
  return success();
}

bool Lowering::all_known(const Node& n) const {
  return std::all_of(n.inputs().begin(), n.inputs().end(), [&](const Edge& e) { return known_.contains(e.source); });
}

Result<void> Lowering::visit_source(const Node& n) {
  if (auto tiled = ops::tiled_shape(n.outputs[0].shape); !tiled) return refuse(n, tiled.failure().diagnostics().front().message, "");
  known_.set(n.id(), {&*n.value, n.kind(), n.id()});
  return success();
}

Result<void> Lowering::fold(const Node& n) {
  std::vector<Tensor> inputs;
  NodeKind kind = NodeKind::constant;
  for (const Edge& edge : n.inputs()) {
    const Known& k = *known_.find(edge.source);
    inputs.push_back(k.value->tensor);
    if (k.kind == NodeKind::parameter) kind = NodeKind::parameter;
  }
  ops::EvaluateOptions options;
  options.threads = context_.host.threads;
  options.registry = context_.ops;
  BUDA_ASSIGN(std::vector<Tensor> results, ops::evaluate_node(n, graph::Level::tensor, inputs, options));
  for (std::uint32_t port = 0; port < results.size(); ++port)
    known_.set({n.id(), port}, {&folded_.emplace_back(std::move(results[port])), kind, n.id()});
  return success();
}

Result<void> Lowering::visit_input(const Node& n) {
  const Shape& model = n.outputs[0].shape;
  const Rearrangement* view = host_view(n);
  const Shape& seen = view == nullptr ? model : view->to();
  // An input without elements that nobody reads (axes that the importer knows by now) is still one that the user gives.
  Shape shape{1, 1, 1, 1};
  bool is_idle = model.volume() == 0 && model.rank() <= 2 && from_.use_count(n.id()) == 0;
  if (!is_idle) {
    BUDA_ASSIGN(shape, four(n, seen));
  }
  Rearrangement how = view == nullptr ? Rearrangement(model) : *view;
  NodeId id = out_.add(n.name(), std::string(graph::kInputOp));
  Node& made = out_.node(id);
  describe_as(made, n);
  made.outputs = {{kDeviceType, padded(shape), std::nullopt}};
  made.attrs[std::string(ops::kModelShape)] = model.dims();
  name_model_type(made, n.outputs[0].dtype);
  if (!is_idle) note_view(made, how, model, border_shape(seen));
  Lowered value;
  value.source = id;
  value.shape = shape;
  values_.set(n.id(), std::move(value));
  return success();
}

Result<void> Lowering::visit_output(const Node& n) {
  const Edge& edge = n.inputs()[0];
  // The host brings elements into the model's order, as it cuts off padding.
  const bool is_state = state_.contains(n.id());
  Chain chain = is_state ? Chain{edge, Rearrangement(type(edge).shape)} : chain_to(edge);
  BUDA_ASSIGN(Lowered x, value(chain.root));
  if (is_state) {
    BUDA_ASSIGN(x, with_rows(n, x, 0));
    BUDA_ASSIGN(x, with_cols(n, x, 0));
  }
  // Queues are filled by ops, and nothing can be done on the edge to a queue.
  if (!x.tms.empty() || !out_.node(x.source.node).is_op()) {
    BUDA_ASSIGN(x, settled(n, "copy", x));
  }
  NodeId id = out_.add(n.name(), std::string(graph::kOutputOp), {x.edge()});
  Node& made = out_.node(id);
  describe_as(made, n);
  made.attrs[std::string(ops::kModelShape)] = type(edge).shape.dims();
  name_model_type(made, type(edge).dtype);
  note_view(made, chain.how, type(edge).shape, border_shape(chain.how.from()));
  return success();
}

void Lowering::name_model_type(Node& made, DType model) {
  if (model != kDeviceType) made.attrs[std::string(ops::kModelType)] = std::string(dtype_name(model));
}

void Lowering::describe_as(Node& made, const Node& basis) {
  made.origins = basis.origins;
  made.tags = basis.tags;
  made.loc = basis.loc;
  // Whole numbers of more than a byte stay whole.
  bool is_wide = basis.is_op() && !basis.outputs.empty() && is_integer(basis.outputs[0].dtype) && dtype_size(basis.outputs[0].dtype) > 1;
  if (is_wide) made.tags[kExact] = "";
}

// ---- values

const Tensor* Lowering::known(const Edge& edge) const {
  const Known* k = known_.find(edge.source);
  return k == nullptr ? nullptr : &k->value->tensor;
}

std::optional<double> Lowering::uniform(const Edge& edge) const {
  const Tensor* t = known(edge);
  if (t == nullptr) return std::nullopt;
  ValueRange s = span_of(*t);
  return s.least == s.most ? std::optional(s.least) : std::nullopt;
}

Result<Lowered> Lowering::value(const Edge& edge) {
  if (known_.contains(edge.source)) return place(edge.source, Copies::none);
  if (const Lowered* lowered = values_.find(edge.source)) return *lowered;
  const Node& n = from_.node(edge.source.node);
  auto x = moved(n);
  if (!x && probing_) {
    Failure why = std::move(x).failure();
    fail(n, why);
    if (const Lowered* lowered = values_.find(edge.source)) return *lowered;
    return why;
  }
  if (!x) {
    failed_.insert(n.id());
    return std::move(x).failure();
  }
  values_.set(n.id(), *x);
  return x;
}

Result<Lowered> Lowering::moved(const Node& n) {
  Chain chain = chain_to(Edge(n.id()));
  BUDA_ASSIGN(Lowered x, value(chain.root));
  Rearrangement how = chain.how;
  if (const Rearrangement* view = host_view(from_.node(chain.root.source.node))) {
    how = view->inverse();
    if (!how.append(chain.how)) return refuse(n, "it undoes, in a way that axes do not show, how the host brings the input in", "");
  }
  return rearranged(n, std::move(x), how);
}

const Rearrangement* Lowering::host_view(const Node& input) const {
  auto view = views_.find(input.id());
  return view == views_.end() ? nullptr : &view->second;
}

Lowering::Chain Lowering::chain_to(const Edge& edge) const {
  std::vector<const Node*> steps;
  Edge root = edge;
  while (is_rearrangement(from_.node(root.source.node)) && !known_.contains(root.source)) {
    steps.push_back(&from_.node(root.source.node));
    root = steps.back()->inputs()[0];
  }
  Rearrangement how(type(root).shape);
  for (auto it = steps.rbegin(); it != steps.rend(); ++it) {
    const Node& step = **it;
    if (step.op() != "transpose") {
      how.reshape(step.outputs[0].shape);
      continue;
    }
    std::vector<std::size_t> permutation;
    for (std::int64_t axis : attrs(step).integers("perm")) permutation.push_back(*type(step.inputs()[0]).shape.axis(axis));
    if (how.transpose(permutation)) continue;
    // Begin again with what there is so far.
    root = step.inputs()[0];
    how = Rearrangement(type(root).shape);
    how.transpose(permutation);
  }
  return {root, how};
}

Result<Shape> Lowering::four(const Node& n, const Shape& model) const {
  if (auto tiled = ops::tiled_shape(model); !tiled) return refuse(n, tiled.failure().diagnostics().front().message, "");
  return axes_of(model);
}

Shape Lowering::axes_of(const Shape& model) const {
  Shape four = *ops::four_axes(model);
  return joins_batch() ? Shape{1, four[0] * four[1], four[2], four[3]} : four;
}

Shape Lowering::border_shape(const Shape& model) const {
  if (!joins_batch() || model.rank() <= 3) return model;
  Shape four = axes_of(model);
  return {four[1], four[2], four[3]};
}

std::string Lowering::free_name(const std::string& wanted) const {
  std::string name = out_.fresh_name(wanted);
  for (int i = 1; from_.find(name).valid() || from_.find_output(name).valid(); ++i) name = out_.fresh_name(cat(wanted, '.', i));
  return name;
}

namespace {

// Is there a finite number that became infinite?
bool has_overflow(const graph::Value& wide, const graph::Value& narrow) {
  auto from = wide.tensor.as<double>();
  auto to = narrow.tensor.as<float>();
  for (std::size_t i = 0; i < from.size(); ++i)
    if (std::isfinite(from[i]) && !std::isfinite(to[i])) return true;
  return false;
}

}  // namespace

Result<Lowered> Lowering::place(ValueRef value, Copies copies) {
  auto& placed = placed_[static_cast<std::size_t>(copies)];
  if (const Lowered* before = placed.find(value)) return *before;
  const Known& k = *known_.find(value);
  const Node& basis = from_.node(k.from);
  BUDA_ASSIGN(Shape shape, four(basis, k.value->tensor.shape()));
  graph::Value content = *k.value;
  // The device computes with F32; narrower floats are stored as they are.
  if (content.tensor.dtype() == DType::f64) {
    content = graph::Value(content.tensor.cast(kDeviceType));
    if (has_overflow(*k.value, content))
      return refuse(basis, "it has numbers beyond 3.4e38, which F32 cannot hold", "scale them, or compute with them on the host");
  } else if (!is_float(content.tensor.dtype())) {
    content = graph::Value(k.value->tensor.cast(kDeviceType));
    if (content.tensor.cast(k.value->tensor.dtype()) != k.value->tensor)
      return refuse(basis, "it has whole numbers beyond 2^24, which F32 cannot hold", "compute with them on the host");
  }
  static constexpr std::string_view kSuffixes[] = {"", ".rows", ".columns", ".tile"};
  std::string name = basis.name() + std::string(kSuffixes[static_cast<std::size_t>(copies)]);
  if (value.port != 0) name += cat('.', value.port);
  if (copies != Copies::none || value.port != 0) name = free_name(name);
  NodeId id = out_.add(name, std::string(k.kind == NodeKind::parameter ? graph::kParameterOp : graph::kConstantOp));
  Node& made = out_.node(id);
  describe_as(made, basis);
  if (copies != Copies::none) {
    made.value = graph::Value(visit_dtype(content.tensor.dtype(), [&](auto tag) {
      return copied_through_tile<typename decltype(tag)::type>(content.tensor, shape, copies);
    }));
  } else if (padded(shape) != *ops::tiled_shape(content.tensor.shape())) {
    BUDA_ASSIGN(Tensor joined, content.tensor.reshaped(shape));
    made.value = graph::Value(joined);
  } else {
    made.value = std::move(content);
  }
  made.outputs = {{kDeviceType, padded(shape), std::nullopt}};

  Lowered out;
  out.source = id;
  out.shape = shape;
  out.data = span_of(k.value->tensor);
  out.rows_alike = copies == Copies::rows || copies == Copies::both;
  out.cols_alike = copies == Copies::columns || copies == Copies::both;
  if (out.rows_alike) out.rows = out.data;
  if (out.cols_alike) out.cols = out.data;
  if (copies == Copies::both) out.corner = out.data;
  placed.set(value, out);
  return out;
}

Result<Lowered> Lowering::constant(const Node& n, std::string_view suffix, const Tensor& tensor) {
  return constant_as_is(n, suffix, tensor.cast(kDeviceType));
}

Result<Lowered> Lowering::constant_as_is(const Node& n, std::string_view suffix, const Tensor& tensor) {
  BUDA_ASSIGN(Shape shape, four(n, tensor.shape()));
  NodeId id = out_.add(free_name(cat(n.name(), '.', suffix)), std::string(graph::kConstantOp));
  Node& made = out_.node(id);
  made.origins = n.origins;
  made.loc = n.loc;
  if (auto original = n.tags.find(kOriginalOpType); original != n.tags.end()) made.tags.insert(*original);
  BUDA_ASSIGN(Tensor placed, tensor.reshaped(joins_batch() && tensor.shape().rank() > 3 ? shape : tensor.shape()));
  made.value = graph::Value(placed);
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
