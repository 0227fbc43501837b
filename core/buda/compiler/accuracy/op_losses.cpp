// SPDX-License-Identifier: Apache-2.0
// Own errors op by op, and their ways to the outputs.
#include <buda/compiler/accuracy/op_losses.hpp>

#include <buda/compiler/accuracy/score.hpp>
#include <buda/graph/tags/placement.hpp>
#include <buda/ops/device/device_layout.hpp>
#include <buda/ops/elements/buffer.hpp>
#include <buda/ops/table/registry.hpp>
#include <buda/ops/whole_graph/evaluate.hpp>
#include <buda/ops/whole_graph/evaluate_formats.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

namespace buda::compiler {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::NodeKind;

// Ops whose errors are followed to the outputs one by one; of the others, which err less, the effect is estimated from these.
constexpr std::size_t kMaxFollowed = 96;
// Where an output is no number.
constexpr double kMissOfInfinity = 1e6;

using Values = std::vector<std::vector<Tensor>>;  // by id

class Losses {
 public:
  Losses(const Trial& base, double floor, Host& host)
      : base_(base), graph_(base.graph), order_(graph_.topological_order()), floor_(floor), reads_(graph_.id_bound()) {
    options_.threads = host.threads;
    for (const NodeId id : order_)
      for (const graph::Edge& e : graph_.node(id).inputs()) ++reads_[e.source.node.index()];
  }

  Result<std::vector<OpLoss>> measure(const NamedTensors& inputs, const std::vector<Raise>& raises, Host& host) {
    BUDA_TRY(evaluate_reference(inputs));
    for (const NodeId id : order_)
      if (counts(graph_.node(id))) BUDA_TRY(add_op(graph_.node(id)));
    BUDA_TRY(follow(host));
    for (std::size_t i = 0; i < found_.size(); ++i)
      if (is_positive(found_[i].effects)) BUDA_TRY(add_raises(graph_.node(ids_[i]), raises, found_[i]));
    return std::move(found_);
  }

 private:
  static bool is_positive(const std::vector<double>& effects) {
    return std::any_of(effects.begin(), effects.end(), [](double e) { return e > 0; });
  }

  bool counts(const Node& n) const {
    return n.is_op() && n.op() != graph::kToDevice && n.op() != graph::kToHost && graph::level_of(graph_, n) == graph::Level::device &&
           n.outputs.size() == 1 && n.outputs[0].shape.rank() == 4 && is_float(n.outputs[0].dtype) && n.outputs[0].format &&
           is_float(*n.outputs[0].format);
  }

  Result<void> evaluate_reference(const NamedTensors& inputs) {
    reference_.resize(graph_.id_bound());
    ops::EvaluateOptions options = options_;
    options.observe = [this](const Node& n, std::span<const Tensor> results) {
      reference_[n.id().index()].assign(results.begin(), results.end());
    };
    BUDA_TRY(ops::evaluate_graph(graph_, inputs, options));
    return success();
  }

  bool is_known(const Node& n) const { return !reference_[n.id().index()].empty(); }

  // What the op has made on the device; nothing where the balancer has made other ops of it.
  std::optional<Tensor> made(const Node& n) const {
    const auto op = base_.ops.find(n.name());
    if (op == base_.ops.end()) return std::nullopt;
    const auto found = base_.run.ops.find(op->second);
    if (found == base_.run.ops.end() || found->second.shape() != n.outputs[0].shape) return std::nullopt;
    return found->second.cast(DType::f32);
  }

  Result<void> add_op(const Node& n) {
    if (!is_known(n)) return success();
    OpLoss op{.name = n.name(), .type = n.op(), .effects = {}, .sources = {}, .raises = {}};
    for (std::size_t i = 0; i < n.inputs().size(); ++i)
      if (is_floating_source(graph_, n, i)) op.sources.push_back(i);
    BUDA_ASSIGN(const Tensor error, own_error(n));
    found_.push_back(std::move(op));
    ids_.push_back(n.id());
    shares_.push_back(share_of_value(n, error));
    return success();
  }

  // Operands as they are on the device, those that come from outside as the model has them. Nothing where one of the others is not known.
  std::optional<std::vector<Tensor>> operands(const Node& n) const {
    std::vector<Tensor> out;
    for (const graph::Edge& edge : n.inputs()) {
      const Node& source = graph_.node(edge.source.node);
      std::optional<Tensor> there = counts(source) ? made(source) : reference_[source.id().index()][edge.source.port];
      if (!there) return std::nullopt;
      out.push_back(std::move(*there));
    }
    return out;
  }

  Result<Tensor> own_error(const Node& n) const {
    const std::optional<Tensor> there = made(n);
    const std::optional<std::vector<Tensor>> in = there ? operands(n) : std::nullopt;
    if (!in) return error_with(n, {});
    BUDA_ASSIGN(const auto right, ops::evaluate_node(n, graph::Level::device, *in, options_));
    return difference(*there, right[0]);
  }

  // The same by the evaluation in formats, with the raise.
  Result<Tensor> error_with(const Node& given, const Raise& raise) const {
    Node n = given;
    if (raise.fidelity) n.precision.fidelity = raise.fidelity;
    if (raise.accumulate) n.precision.accumulate = n.precision.intermediate = raise.accumulate;
    if (raise.output) n.outputs[0].format = raise.output;
    std::vector<Tensor> arriving, exact;
    std::vector<DataFormat> formats;
    for (std::size_t i = 0; i < n.inputs().size(); ++i) {
      const graph::Edge& edge = n.inputs()[i];
      const bool outside = is_floating_source(graph_, n, i);
      DataFormat format = *graph_.type(edge.source)->format;
      if (outside && raise.sources && bits_per_datum(*raise.sources) > bits_per_datum(format)) format = *raise.sources;
      const Tensor& value = reference_[edge.source.node.index()][edge.source.port];
      BUDA_ASSIGN(const Tensor stored, outside ? ops::as_pushed(value, format) : ops::as_stored(value, format));
      exact.push_back(outside ? value : stored);
      BUDA_ASSIGN(Tensor here, ops::apply_tms(stored, edge.tms));
      arriving.push_back(std::move(here));
      formats.push_back(format);
    }
    BUDA_ASSIGN(const ops::OpDef* def, ops::standard_ops().require(graph::Level::device, n.op()));
    BUDA_ASSIGN(const auto there, ops::evaluate_in_formats(*def, n, arriving, formats, std::max(options_.threads, 1u)));
    BUDA_ASSIGN(const auto right, ops::evaluate_node(n, graph::Level::device, exact, options_));
    return difference(there[0], right[0]);
  }

  // Zero where it is no number.
  static Result<Tensor> difference(const Tensor& there, const Tensor& right) {
    const Tensor a = there.cast(DType::f32), b = right.cast(DType::f32);
    BUDA_ASSIGN(ops::Buffer out, ops::Buffer::make(DType::f32, a.shape()));
    const auto errors = out.as<float>();
    for (std::size_t i = 0; i < errors.size(); ++i) {
      errors[i] = i < b.size() ? a.as<float>()[i] - b.as<float>()[i] : 0.0f;
      if (!std::isfinite(errors[i])) errors[i] = 0;
    }
    return std::move(out).take();
  }

  // Of its data, where the sizes without padding are known.
  double energy(const Node& n, const Tensor& error) const {
    const auto e = error.as<float>();
    const auto known = base_.data.find(n.name());
    const Shape& s = error.shape();
    bool fits = known != base_.data.end() && s.rank() == 4;
    for (std::size_t axis = 0; fits && axis < 4; ++axis) fits = known->second[axis] <= s[axis];
    fits = fits && known->second[0] == s[0] && known->second[1] == s[1];
    const std::int64_t rows = fits ? known->second[2] : s[2], cols = fits ? known->second[3] : s[3];
    double sum = 0;
    for (std::int64_t slice = 0; slice < s[0] * s[1]; ++slice)
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t c = 0; c < cols; ++c) {
          const double v = e[static_cast<std::size_t>((slice * s[2] + r) * s[3] + c)];
          sum += v * v;
        }
    return sum;
  }

  double share_of_value(const Node& n, const Tensor& own_error) const {
    const double whole = energy(n, reference_[n.id().index()][0].cast(DType::f32));
    const double error = energy(n, own_error);
    return whole > 0 ? error / whole : (error > 0 ? 1 : 0);
  }

  Result<void> follow(Host& host) {
    std::vector<std::size_t> largest(found_.size());
    std::iota(largest.begin(), largest.end(), std::size_t{0});
    std::stable_sort(largest.begin(), largest.end(), [&](std::size_t a, std::size_t b) { return shares_[a] > shares_[b]; });
    double followed = 0;
    std::vector<double> effects(base_.score.misses.size());
    for (std::size_t k = 0; k < largest.size(); ++k) {
      const std::size_t i = largest[k];
      if (shares_[i] == 0) continue;
      if (k < kMaxFollowed) {
        host.progress("measuring what ops lose", k, std::min(largest.size(), kMaxFollowed));
        // Computed again: the errors of all ops would need as much memory as all values of the model.
        BUDA_ASSIGN(const Tensor error, own_error(graph_.node(ids_[i])));
        BUDA_ASSIGN(found_[i].effects, effect(ids_[i], error));
        followed += shares_[i];
        for (std::size_t o = 0; o < effects.size(); ++o) effects[o] += found_[i].effects[o];
      } else {
        for (const double e : effects) found_[i].effects.push_back(e / followed * shares_[i]);
      }
    }
    return success();
  }

  // What the error of this op does to the outputs: only what depends on it is computed again, and kept until its last reader has it.
  Result<std::vector<double>> effect(NodeId disturbed, const Tensor& error) const {
    Values changed(graph_.id_bound());
    std::vector<std::size_t> unread = reads_;
    BUDA_ASSIGN(Tensor value, sum_of(reference_[disturbed.index()][0], error));
    changed[disturbed.index()] = {std::move(value)};
    std::vector<double> out(base_.score.misses.size());
    for (const NodeId id : order_) {
      const Node& n = graph_.node(id);
      const bool depends =
          std::any_of(n.inputs().begin(), n.inputs().end(), [&](const graph::Edge& e) { return !changed[e.source.node.index()].empty(); });
      if (id == disturbed || !depends || !is_known(n)) continue;
      std::vector<Tensor> in;
      for (const graph::Edge& e : n.inputs()) {
        const Values& from = changed[e.source.node.index()].empty() ? reference_ : changed;
        in.push_back(from[e.source.node.index()][e.source.port]);
      }
      for (const graph::Edge& e : n.inputs())
        if (--unread[e.source.node.index()] == 0) changed[e.source.node.index()].clear();
      BUDA_ASSIGN(auto results, ops::evaluate_node(n, graph::level_of(graph_, n), in, options_));
      if (n.kind() == NodeKind::output) {
        const auto output = base_.score.misses.find(n.name());
        if (output == base_.score.misses.end()) continue;
        const double m = miss(reference_[id.index()][0], results[0], floor_);
        out[static_cast<std::size_t>(std::distance(base_.score.misses.begin(), output))] = std::isfinite(m) ? m : kMissOfInfinity;
      } else {
        changed[id.index()] = std::move(results);
      }
    }
    return out;
  }

  static Result<Tensor> sum_of(const Tensor& value, const Tensor& error) {
    const Tensor a = value.cast(DType::f32);
    BUDA_ASSIGN(ops::Buffer out, ops::Buffer::make(DType::f32, a.shape()));
    const auto sums = out.as<float>();
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = a.as<float>()[i] + error.as<float>()[i];
    return std::move(out).take().cast(value.dtype());
  }

  Result<void> add_raises(const Node& n, const std::vector<Raise>& raises, OpLoss& op) const {
    BUDA_ASSIGN(const Tensor now, error_with(n, {}));
    const double before = energy(n, now);
    for (const Raise& raise : raises) {
      const Raise useful = useful_part(raise, graph_, n);
      if (useful.empty() || std::any_of(op.raises.begin(), op.raises.end(), [&](const auto& p) { return p.raise == useful; })) continue;
      BUDA_ASSIGN(const Tensor then, error_with(n, useful));
      const double after = energy(n, then);
      op.raises.push_back({useful, before > 0 ? std::min(1.0, after / before) : 1});
    }
    return success();
  }

  const Trial& base_;
  const Graph& graph_;
  std::vector<NodeId> order_;
  ops::EvaluateOptions options_;
  double floor_;
  std::vector<std::size_t> reads_;  // by id: edges that read the node's values
  Values reference_;                // in fp32
  std::vector<OpLoss> found_;
  std::vector<NodeId> ids_;     // of found_
  std::vector<double> shares_;  // of found_: of the energy of its values that of its own error
};

}  // namespace

Result<std::vector<OpLoss>> op_losses(const Trial& base, const NamedTensors& inputs, double floor, const std::vector<Raise>& raises,
                                      Host& host) {
  return Losses(base, floor, host).measure(inputs, raises, host);
}

}  // namespace buda::compiler
