// SPDX-License-Identifier: Apache-2.0
// fracture: ops that the user names are split into several, each of which computes a part of the result (or adds a part to it). Elsewhere
// this is called sharding.
//
// before                                          after {fc1, -1, 2}, {act, -1, 2}, {fc2, k, 2}
//   fc1 = matmul(x, w) : [64, 512]                  fc1.part.0 = matmul(x, w.part.0) : [64, 256]        w.part.0: columns 0 to 255 of w
//   act = relu(fc1) : [64, 512]                     act.part.0 = relu(fc1.part.0) : [64, 256]
//   fc2 = matmul(act, v) : [64, 10]                 fc2.part.0 = matmul(act.part.0, v.part.0) : [64, 10]   rows 0 to 255 of v
//                                                   (and likewise part 1)
//                                                   fc2 = add(fc2.part.0, fc2.part.1)
//
// Inputs are cut as the op's rule says (fracture_rules.hpp): parameters by slices that are folded later, values by slices, and values that
// are in just these parts already not at all, so that the ops of a group hand parts to each other. So do reshapes and transposes that stand
// between them, which are copied for each part. Results that somebody needs as a whole are put together, by a concatenation or by adds.
//
// Parts may have chips: part i the chip i, modulo their number. What puts parts together is on the chip of the last one, and what cuts a
// value is where the value is.
//
// Early, because the user names ops of his model. What cannot be split is an error (PA071): he asked for it.
#include <buda/passes/fracture/fracture.hpp>

#include <buda/base/pattern.hpp>
#include <buda/base/text.hpp>
#include <buda/graph/editor.hpp>
#include <buda/graph/tags/constraint_tags.hpp>
#include <buda/graph/tags/placement.hpp>
#include <buda/ops/whole_graph/infer.hpp>
#include <buda/passes/fracture/fracture_rules.hpp>
#include <buda/passes/lower/data_movement.hpp>
#include <buda/passes/pipeline/standard_passes.hpp>

#include <algorithm>
#include <map>
#include <tuple>

namespace buda::passes {
namespace {

using graph::Edge;
using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::ValueRef;
using Dims = std::vector<std::int64_t>;

struct Task {
  const FractureMember* member;
  std::size_t group;
};

class Fracturer {
 public:
  Fracturer(Graph& graph, PassContext& context) : g_(graph), context_(context) {}

  Result<PassReport> run() {
    if (context_.fractures.empty()) return report_;
    find_members();
    for (NodeId id : g_.topological_order()) {
      auto task = tasks_.find(id);
      if (task == tasks_.end()) continue;
      auto whole = split(id, *task->second.member, 0, 0);
      if (!whole) failure_.add(std::move(whole).failure());
    }
    if (!failure_.empty()) return failure_;
    for (const ValueRef& whole : wholes_) graph::GraphEditor(g_, whole.node).erase_unused(whole.node);
    context_.fractures.clear();
    return report_;
  }

 private:
  // ---- who

  void find_members() {
    std::map<std::string, std::vector<NodeId>> called;
    for (NodeId id : g_.ids()) {
      const Node& n = g_.node(id);
      if (!n.is_op()) continue;
      called[n.name()].push_back(id);
      for (const graph::Origin& origin : n.origins)
        if (origin.node != n.name()) called[origin.node].push_back(id);
    }
    for (std::size_t group = 0; group < context_.fractures.size(); ++group)
      for (const FractureMember& member : context_.fractures[group]) {
        auto found = called.find(member.name);
        std::vector<NodeId> ids = found == called.end() ? matching(member.name) : found->second;
        if (ids.empty())
          context_.host.report(warning("PA072", {}, cat("option --insert-fracture-group: the graph has no op '", member.name, '\'')));
        for (NodeId id : ids) add_task(id, {&member, group});
      }
  }

  std::vector<NodeId> matching(const std::string& expression) const {
    std::vector<NodeId> out;
    const auto pattern = Pattern::compile(expression);
    if (!pattern) return out;  // a name that no op has, and nothing else
    for (NodeId id : g_.ids())
      if (g_.node(id).is_op() && pattern->matches(g_.node(id).name())) out.push_back(id);
    return out;
  }

  void add_task(NodeId id, Task task) {
    auto [at, is_new] = tasks_.emplace(id, task);
    if (is_new || (at->second.member->axes == task.member->axes && at->second.member->chips == task.member->chips)) return;
    const Node& n = g_.node(id);
    refuse(n, cat("fracture groups ", at->second.group + 1, " and ", task.group + 1, " split it in different ways"),
           "name it once, with all axes: [NAME, [-2, -1], [2, 2]]");
  }

  Diagnostic refusal(const Node& n, const std::string& why, std::string hint) const {
    Diagnostic d = input_error("PA071", n.loc, cat("op '", n.name(), "' (", n.op(), ") cannot be fractured: ", why));
    d.node = n.name();
    d.hint = std::move(hint);
    return d;
  }
  void refuse(const Node& n, const std::string& why, std::string hint) { failure_.add(refusal(n, why, std::move(hint))); }

  // ---- how

  std::string axes_that_can_be_split(const Node& n, std::int64_t factor) const {
    std::vector<std::string> out;
    auto rank = static_cast<std::int64_t>(n.outputs[0].shape.rank());
    for (std::int64_t axis = -rank; axis < 0; ++axis) {
      auto at = static_cast<std::size_t>(axis + rank);
      if (n.outputs[0].shape[at] % factor == 0 && std::holds_alternative<Split>(split_along(g_, n, at, factor, *context_.ops)))
        out.push_back(cat(axis));
    }
    if (auto inner = inner_size(g_, n, *context_.ops); inner && *inner % factor == 0) out.emplace_back("k");
    return out.empty() ? cat("no axis of it can be split into ", factor, " parts")
                       : cat("into ", factor, " parts it can be split along ", buda::join(out, ", "));
  }

  static std::string factors_of(std::int64_t size) {
    std::vector<std::string> out;
    constexpr std::size_t kMaxShown = 12;
    for (std::int64_t f = 2; f <= size && out.size() < kMaxShown; ++f)
      if (size % f == 0) out.push_back(cat(f));
    return out.empty() ? "an axis of one element has no parts" : cat("factors that divide it: ", buda::join(out, ", "));
  }

  Result<Split> rule_for(const Node& n, const FractureAxis& how) const {
    if (graph::on_host(n))
      return refusal(n, "it runs on the host", "leave it out of --cpu-fallback-ops and --cpu-fallback-nodes, or of the group");
    if (n.outputs.size() != 1) return refusal(n, cat("it has ", n.outputs.size(), " results"), "split what uses them");
    const Shape& shape = n.outputs[0].shape;
    std::optional<std::int64_t> size;
    std::string axis_text = how.inner ? std::string("the inner dimension (k)") : cat("axis ", how.axis);
    std::size_t axis = 0;
    if (how.inner) {
      size = inner_size(g_, n, *context_.ops);
    } else if (auto at = shape.axis(how.axis)) {
      axis = *at;
      size = shape[axis];
    } else {
      return refusal(n, cat("its result, ", shape.text(), ", has no axis ", how.axis), axes_that_can_be_split(n, how.factor));
    }
    if (size && (*size % how.factor != 0 || *size == 0))
      return refusal(n, cat(axis_text, " has size ", *size, ", which cannot be divided into ", how.factor, " parts"), factors_of(*size));
    auto rule = how.inner ? split_inner(g_, n, how.factor, *context_.ops) : split_along(g_, n, axis, how.factor, *context_.ops);
    if (auto* why = std::get_if<std::string>(&rule))
      return refusal(n, cat(axis_text, size ? cat(" of size ", *size) : "", " cannot be split into ", how.factor, " parts, because ", *why),
                     axes_that_can_be_split(n, how.factor));
    return std::get<Split>(std::move(rule));
  }

  // Into how many parts the axes from the given one on split.
  static std::size_t parts_from(const FractureMember& member, std::size_t next) {
    std::size_t out = 1;
    for (; next < member.axes.size(); ++next) out *= static_cast<std::size_t>(member.axes[next].factor);
    return out;
  }

  // The chip of part number `part` of an op.
  void put_on_chip(NodeId id, const FractureMember& member, std::size_t part) {
    if (!member.chips.empty()) g_.node(id).tags[graph::kChip] = cat(member.chips[part % member.chips.size()]);
  }

  // Splits part number `number` of a node along the axes from number `next` on; returns the value that replaces its result.
  Result<ValueRef> split(NodeId id, const FractureMember& member, std::size_t next, std::size_t number) {
    if (next == member.axes.size()) {
      put_on_chip(id, member, number);
      return ValueRef(id);
    }
    const FractureAxis& how = member.axes[next];
    if (how.factor == 1) return split(id, member, next + 1, number);
    BUDA_ASSIGN(Split rule, rule_for(g_.node(id), how));
    const std::vector<Edge> inputs = g_.node(id).inputs();
    const Shape result = g_.node(id).outputs[0].shape;
    graph::GraphEditor editor(g_, id);
    std::vector<ValueRef> parts;
    for (std::int64_t i = 0; i < how.factor; ++i) {
      std::vector<Edge> own;
      for (std::size_t k = 0; k < inputs.size(); ++k) {
        if (rule.once_from && k >= *rule.once_from && i > 0) break;
        if (!rule.cuts[k]) {
          own.push_back(inputs[k]);
          continue;
        }
        BUDA_ASSIGN(ValueRef piece, piece_of(inputs[k].source, *rule.cuts[k], how.factor, i));
        own.emplace_back(piece);
      }
      BUDA_ASSIGN(ValueRef part, make(editor, cat("part.", i), g_.node(id).op(), std::move(own), rule.attrs));
      parts.push_back(part);
    }
    const std::size_t count = parts.size();
    BUDA_ASSIGN(const std::vector<NodeId> gathering, together(editor, how, result, parts));
    for (NodeId gathers : gathering) put_on_chip(gathers, member, (number + 1) * parts_from(member, next) - 1);
    const ValueRef whole(gathering.back());
    editor.replace(id, whole);
    ++report_.rewrites;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      BUDA_ASSIGN(parts[i], split(parts[i].node, member, next + 1, number * count + i));
    }
    if (!how.inner) pieces_[{whole, *result.axis(how.axis), how.factor}] = parts;
    wholes_.push_back(whole);
    return whole;
  }

  Result<ValueRef> make(graph::GraphEditor& editor, const std::string& suffix, const std::string& op, std::vector<Edge> inputs,
                        graph::AttrMap attrs) {
    NodeId id = editor.add(suffix, op, std::move(inputs), {}, std::move(attrs));
    BUDA_ASSIGN(g_.node(id).outputs, ops::infer_node(g_, g_.node(id), *context_.ops));
    return ValueRef(id);
  }

  // The ops that put parts together; the last one has the whole result.
  Result<std::vector<NodeId>> together(graph::GraphEditor& editor, const FractureAxis& how, const Shape& result,
                                       const std::vector<ValueRef>& parts) {
    if (!how.inner) {
      BUDA_ASSIGN(const ValueRef whole, make(editor, "whole", "concatenate", {parts.begin(), parts.end()},
                                             {{"dim", static_cast<std::int64_t>(*result.axis(how.axis))}}));
      return std::vector{whole.node};
    }
    std::vector<NodeId> sums;
    ValueRef sum = parts[0];
    for (std::size_t i = 1; i < parts.size(); ++i) {
      BUDA_ASSIGN(sum, make(editor, "sum", "add", {sum, parts[i]}, {}));
      sums.push_back(sum.node);
    }
    return sums;
  }

  // ---- parts of inputs

  // Whether the value is there in such parts, or is a movement of one that is: then the axis of what it moves.
  std::optional<Split> carried_by(ValueRef value, std::size_t axis, std::int64_t factor) const {
    const Node& n = g_.node(value.node);
    if (!is_rearrangement(n) || n.outputs[0].shape[axis] % factor != 0) return std::nullopt;
    auto rule = split_along(g_, n, axis, factor, *context_.ops);
    const Split* split = std::get_if<Split>(&rule);
    if (split == nullptr || !split->cuts[0]) return std::nullopt;
    ValueRef source = n.inputs()[0].source;
    if (!pieces_.contains({source, *split->cuts[0], factor}) && !carried_by(source, *split->cuts[0], factor)) return std::nullopt;
    return *split;
  }

  Result<ValueRef> piece_of(ValueRef value, std::size_t axis, std::int64_t factor, std::int64_t number) {
    if (auto found = pieces_.find({value, axis, factor}); found != pieces_.end()) return found->second[static_cast<std::size_t>(number)];
    std::vector<ValueRef> parts;
    graph::GraphEditor editor(g_, value.node);
    auto carried = carried_by(value, axis, factor);
    std::int64_t size = g_.type(value)->shape[axis] / factor;
    for (std::int64_t i = 0; i < factor; ++i) {
      std::string suffix = value.port == 0 ? cat("part.", i) : cat("part.", value.port, '.', i);
      if (carried) {
        BUDA_ASSIGN(ValueRef below, piece_of(g_.node(value.node).inputs()[0].source, *carried->cuts[0], factor, i));
        BUDA_ASSIGN(ValueRef part, make(editor, suffix, g_.node(value.node).op(), {below}, carried->attrs));
        parts.push_back(part);
      } else {
        BUDA_ASSIGN(ValueRef part,
                    make(editor, suffix, "slice", {value},
                         {{"dims", Dims{static_cast<std::int64_t>(axis)}}, {"starts", Dims{i * size}}, {"stops", Dims{(i + 1) * size}}}));
        // What is said of an input of the model is not said of its parts.
        if (!g_.node(value.node).is_op()) g_.node(part.node).tags.clear();
        parts.push_back(part);
      }
    }
    auto [at, is_new] = pieces_.emplace(std::tuple{value, axis, factor}, std::move(parts));
    return at->second[static_cast<std::size_t>(number)];
  }

  Graph& g_;
  PassContext& context_;
  std::map<NodeId, Task> tasks_;
  // The parts that there are of a value: by value, axis and their number.
  std::map<std::tuple<ValueRef, std::size_t, std::int64_t>, std::vector<ValueRef>> pieces_;
  std::vector<ValueRef> wholes_;
  PassReport report_;
  Failure failure_;
};

Result<PassReport> fracture(Graph& graph, PassContext& context) { return Fracturer(graph, context).run(); }

}  // namespace

const Pass kFracture = {.name = "fracture",
                        .summary = "split the ops of fracture groups into ops that compute one part each",
                        .level = graph::Level::tensor,
                        .run = fracture};

}  // namespace buda::passes
