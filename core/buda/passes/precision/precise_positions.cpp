// SPDX-License-Identifier: Apache-2.0
// precise-positions: computes on the host, before the device begins, what needs positions more precisely than the device's formats hold
// them.
//
// before                                            after
//   f = cast(p)                                       f = cast(p)             placement=host
//   a = multiply(f, frequencies)                      a = multiply(f, …)      placement=host
//   c = cosine(a)                                     c = cosine(a)           placement=host
//   y = multiply(x, c)                                y = multiply(x, c)
//
// An angle of 2,000 rad in bfloat16 is wrong by up to 8 rad, and so is its cosine by any amount; what the cosine itself is rounded to does
// no harm. The same holds for the weights of samples at coordinates of large images, and for what is rounded to integers. Such ops are
// found by what they do with an operand (critical_reader.hpp) and by how wrong the operand can be, which follows from its range
// (estimates.hpp).
//
// An op and all that it is made of go to the host only where that begins at inputs and is light: the host then computes it before the
// device begins, and the device has no segment more. What comes from a product or a convolution is as precise as the values of the network,
// and stays. Small ops that have nothing but such results as operands go along, so that not both of them have to be brought to the device.
//
// Where the bits that the matrix unit reads of a Float32 suffice for the weights of samples, all that these are made of stays and is kept
// in Float32, on a device that computes in it.
//
// It runs twice: before exact-integers and the decompositions, which hide what a model computes, and after them, for coordinates of
// samples, which only they compute. Roundings and limits of what integers are part of are left to exact-integers.
#include <buda/passes/host/host_part.hpp>
#include <buda/passes/lower/lowering_tags.hpp>
#include <buda/passes/pipeline/standard_passes.hpp>
#include <buda/passes/precision/critical_reader.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/tags/loopback.hpp>
#include <buda/graph/tags/placement.hpp>
#include <buda/graph/values/value.hpp>
#include <buda/io/process.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace buda::passes {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::NodeKind;

// Larger parameters stay where they are; smaller ones may have a copy on the host.
constexpr std::size_t kMaxCopiedBytes = std::size_t{1} << 20;
// A product with an inner dimension of this size is no more than a few elementwise ops; where it is not 1 also one side must be that short.
constexpr std::int64_t kTrivialInner = 4;

Rounding rounding_of(const PassContext& context) {
  const device::DeviceDescriptor& device = *context.device;
  DataFormat format = context.formats.standard.value_or(DataFormat::float16_b);
  if (format == DataFormat::float32 && !(device.supports(format) && device.features.fp32_accumulate))
    format = context.formats.fp32_fallback;
  // Operands in Float32 are read with the 11 bits of the matrix unit.
  return {format == DataFormat::float32 || format == DataFormat::float16 ? 1.0 / 2048 : 1.0 / 256};
}

// Whether values can be kept in Float32 although others are not. A factor of a product is then read with 10 bits.
constexpr Rounding kFloat32 = {1.0 / 1024};
bool has_float32_beside(const PassContext& context) {
  const device::DeviceDescriptor& device = *context.device;
  return device.supports(DataFormat::float32) && device.features.fp32_accumulate && rounding_of(context).relative > kFloat32.relative;
}

bool is_trivial_product(const Graph& graph, const Node& n) {
  if (n.op() != "matmul" || n.inputs().size() != 2 || n.outputs[0].shape.rank() < 2) return false;
  const Shape &a = graph.type(n.inputs()[0].source)->shape, &y = n.outputs[0].shape;
  const std::int64_t inner = a[a.rank() - 1];
  return inner == 1 || (inner <= kTrivialInner && std::min(y[y.rank() - 1], y[y.rank() - 2]) <= kTrivialInner);
}

// What the host computes at least as fast as its operands would come from somewhere else.
bool is_light(const Graph& graph, const Node& n) {
  static const std::set<std::string_view> families = {"eltwise_binary", "eltwise_unary", "eltwise_math", "activation", "comparison",
                                                      "integer",        "movement",      "rearrange",    "indexing",   "reduce"};
  const ops::OpDef* def = ops::standard_ops().find(graph::Level::tensor, n.op());
  if (def == nullptr || n.outputs.size() != 1) return false;
  return families.contains(def->family) || n.op() == "cumsum" || is_trivial_product(graph, n);
}

bool has_integers(const Node& n) {
  return std::any_of(n.outputs.begin(), n.outputs.end(), [](const graph::ValueType& type) { return is_integer(type.dtype); });
}

class Mover {
 public:
  Mover(Graph& graph, PassContext& context)
      : graph_(graph),
        context_(context),
        known_(known_nodes(graph)),
        order_(graph.topological_order()),
        estimates_(graph, rounding_of(context)),
        first_(graph.id_bound(), 0),
        moved_(graph.id_bound(), 0),
        kept_(graph.id_bound(), 0) {
    if (has_float32_beside(context)) in_float32_.emplace(graph, kFloat32);
  }

  Result<PassReport> run() {
    find_first();
    for (NodeId id : order_) {
      const Node& n = graph_.node(id);
      if (!is_counted(id) || first_[id.index()] == 0 || moved_[id.index()] != 0 || graph::on_host(n)) continue;
      if (!may_be_critical(graph_, n)) continue;
      const auto reader = critical_reader(graph_, n, estimates_);
      if (!reader) continue;
      const std::vector<NodeId> part = made_of(id);
      const bool leave = !reader->of_any_numbers && std::any_of(part.begin(), part.end(), [&](NodeId p) { return reads_integers(p); });
      if (leave || !context_.rewrites.allow("precise-positions", n)) continue;
      const bool keeps = reader->on_device && in_float32_ && !critical_reader(graph_, n, *in_float32_);
      for (NodeId p : part) (keeps ? kept_ : moved_)[p.index()] = 1;
      if (keeps) continue;
      tell_of(n, *reader, part);
    }
    if (context_.fallback.enabled && !found_.empty()) move();
    keep();
    report();
    return report_;
  }

 private:
  bool is_counted(NodeId id) const { return graph_.node(id).is_op() && known_[id.index()] == 0; }

  // What the host can compute before the device begins.
  void find_first() {
    for (NodeId id : order_) {
      const Node& n = graph_.node(id);
      if (known_[id.index()] != 0) {
        first_[id.index()] = 1;
      } else if (n.kind() == NodeKind::input) {
        first_[id.index()] = !n.tags.contains(graph::kLoopback);
      } else if (n.is_op() && (graph::on_host(n) || (is_light(graph_, n) && !shares_large_parameter(n)))) {
        first_[id.index()] = std::all_of(n.inputs().begin(), n.inputs().end(),
                                         [&](const graph::Edge& edge) { return first_[edge.source.node.index()] != 0; });
      }
    }
  }

  bool shares_large_parameter(const Node& n) const {
    return std::any_of(n.inputs().begin(), n.inputs().end(), [&](const graph::Edge& edge) {
      const Node& from = graph_.node(edge.source.node);
      return from.kind() == NodeKind::parameter && from.value && graph_.use_count(from.id()) > 1 &&
             from.value->tensor.bytes().size() > kMaxCopiedBytes;
    });
  }

  bool reads_integers(NodeId id) const {
    const Node& n = graph_.node(id);
    return has_integers(n) || std::any_of(n.inputs().begin(), n.inputs().end(),
                                          [&](const graph::Edge& edge) { return has_integers(graph_.node(edge.source.node)); });
  }

  // The op and all ops before it that the device would compute.
  std::vector<NodeId> made_of(NodeId id) const {
    std::vector<NodeId> part{id};
    std::set<NodeId> met{id};
    for (std::size_t i = 0; i < part.size(); ++i)
      for (const graph::Edge& edge : graph_.node(part[i]).inputs()) {
        const NodeId from = edge.source.node;
        if (!is_counted(from) || moved_[from.index()] != 0 || graph::on_host(graph_.node(from))) continue;
        if (met.insert(from).second) part.push_back(from);
      }
    return part;
  }

  // ---- moving

  void move() {
    take_along();
    std::set<NodeId> parameters;
    for (NodeId id : order_) {
      if (moved_[id.index()] == 0) continue;
      graph::put_on_host(graph_.node(id));
      ++report_.rewrites;
      for (const graph::Edge& edge : graph_.node(id).inputs())
        if (graph_.node(edge.source.node).kind() == NodeKind::parameter) parameters.insert(edge.source.node);
    }
    for (NodeId id : parameters) part_with(id);
  }

  // Light ops whose operands all come from what is moved, and which give no more than they take.
  void take_along() {
    for (NodeId id : order_) {
      const Node& n = graph_.node(id);
      if (!is_counted(id) || first_[id.index()] == 0 || moved_[id.index()] != 0 || graph::on_host(n)) continue;
      std::int64_t taken = 0;
      bool all = true;
      for (const graph::Edge& edge : n.inputs()) {
        const NodeId from = edge.source.node;
        if (known_[from.index()] != 0) continue;
        all = all && is_counted(from) && moved_[from.index()] != 0;
        taken += graph_.type(edge.source)->shape.volume().value_or(0);
      }
      if (all && taken > 0 && n.outputs[0].shape.volume().value_or(0) <= taken) moved_[id.index()] = 1;
    }
  }

  // A parameter is kept in one place, and cpu-fallback moves all its users there. The device keeps it where it has users, too.
  void part_with(NodeId parameter) {
    const auto users = graph_.users(parameter);
    const bool is_shared = std::any_of(users.begin(), users.end(), [&](const graph::Use& use) {
      return is_counted(use.node) && moved_[use.node.index()] == 0 && !graph::on_host(graph_.node(use.node));
    });
    if (!is_shared) return;
    const NodeId copy = graph_.add(graph_.fresh_name(cat(graph_.node(parameter).name(), ".host")), std::string(graph::kConstantOp));
    Node& made = graph_.node(copy);
    const Node& from = graph_.node(parameter);
    made.value = from.value;
    made.outputs = from.outputs;
    made.origins = from.origins;
    made.loc = from.loc;
    for (const graph::Use& use : users)
      if (use.node.index() < moved_.size() && moved_[use.node.index()] != 0) {
        graph::Edge edge = graph_.node(use.node).inputs()[use.input];
        edge.source = graph::ValueRef(copy);
        graph_.set_input(use.node, use.input, std::move(edge));
      }
  }

  // ---- keeping

  // What stays, with the inputs and constants of no integers that it reads.
  void keep() {
    for (NodeId id : order_) {
      if (kept_[id.index()] == 0 || graph::on_host(graph_.node(id))) continue;
      graph_.node(id).tags[kExact] = "";
      ++kept_ops_;
      for (const graph::Edge& edge : graph_.node(id).inputs()) {
        Node& from = graph_.node(edge.source.node);
        if (!from.is_op() || known_[from.id().index()] != 0) from.tags[kExact] = "";
      }
    }
    report_.rewrites += kept_ops_;
  }

  // ---- telling

  struct Found {
    NodeId first;
    CriticalReader worst;
    std::size_t readers = 0;
    std::size_t before = 0;
    std::string hint;
  };

  void tell_of(const Node& n, const CriticalReader& reader, const std::vector<NodeId>& part) {
    Found& found = found_[n.op()];
    if (found.readers++ == 0) found.first = n.id();
    if (found.hint.empty()) found.hint = hint_of(reader, part);
    if (found.worst.operand.error / std::max(found.worst.tolerance, 1e-300) < reader.operand.error / reader.tolerance || found.readers == 1)
      found.worst = reader;
    found.before += part.size() - 1;
  }

  // Errors are as large as the range: what is left of an input's range when the error is small enough.
  std::string hint_of(const CriticalReader& reader, const std::vector<NodeId>& part) {
    for (NodeId id : part)
      for (const graph::Edge& edge : graph_.node(id).inputs()) {
        const Node& from = graph_.node(edge.source.node);
        if (from.kind() != NodeKind::input || !has_integers(from) || from.tags.contains(graph::kLoopback)) continue;
        const auto range = estimates_.of(edge.source);
        const double most = range ? std::floor(range->size() * reader.tolerance / reader.operand.error) : 0;
        if (most < 1) return "";
        return cat(io::shell_line({"--value-range", cat(from.name(), "=0:", static_cast<std::int64_t>(most))}),
                   " keeps it on the device, if all elements are in that range");
      }
    return "";
  }

  void report() {
    std::vector<std::string> parts;
    for (const auto& [op, found] : found_) {
      const Node& n = graph_.node(found.first);
      const std::string nodes = found.readers == 1 ? "" : cat(" (", found.readers, " nodes)");
      const std::string why = cat(found.worst.what, " up to ", compact(found.worst.operand.size()), found.worst.unit,
                                  " would be wrong by up to ", compact(found.worst.operand.error), found.worst.unit, " on the device");
      if (context_.fallback.enabled) {
        const std::string who =
            found.before == 0 ? " runs on the host, as what it reads: " : cat(" and ", found.before, " ops before it run on the host: ");
        Diagnostic d = note("PA090", n.loc, cat("'", op, "'", nodes, who, why));
        d.node = n.name();
        d.hint = found.hint;
        context_.host.report(d);
        parts.push_back(found.readers == 1 ? op : cat(op, " x", found.readers));
      } else {
        Diagnostic d = warning("PA091", n.loc, cat("'", op, "'", nodes, ": ", why));
        d.node = n.name();
        d.hint = "--enable-cpu-fallback=true lets the host compute it";
        context_.host.report(d);
      }
    }
    std::vector<std::string> notes;
    if (!parts.empty()) notes.push_back(cat(report_.rewrites - kept_ops_, " ops run on the host: ", join(parts, ", ")));
    if (kept_ops_ > 0) notes.push_back(cat(kept_ops_, " ops in Float32"));
    report_.note = join(notes, "; ");
  }

  static std::string compact(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3g", value);
    return text;
  }

  Graph& graph_;
  PassContext& context_;
  PassReport report_;
  std::vector<char> known_;  // by id, as are those that follow
  std::vector<NodeId> order_;
  Estimates estimates_;
  std::optional<Estimates> in_float32_;
  std::vector<char> first_, moved_, kept_;
  std::size_t kept_ops_ = 0;
  std::map<std::string, Found> found_;  // by op
};

Result<PassReport> precise_positions(Graph& graph, PassContext& context) { return Mover(graph, context).run(); }

}  // namespace

const Pass kPrecisePositions = {.name = "precise-positions",
                                .summary = "assign what needs the absolute size of large positions to the host, before the device begins",
                                .level = graph::Level::tensor,
                                .needs_device = true,
                                .run = precise_positions};

}  // namespace buda::passes
