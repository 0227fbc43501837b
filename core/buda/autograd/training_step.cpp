// SPDX-License-Identifier: Apache-2.0
// Forward, loss, gradients and update in one graph.
#include <buda/autograd/training_step.hpp>

#include <buda/autograd/clip_gradients.hpp>
#include <buda/autograd/differentiate.hpp>
#include <buda/autograd/initialize.hpp>
#include <buda/autograd/loss_domain.hpp>
#include <buda/autograd/parameter_update.hpp>
#include <buda/autograd/splice.hpp>
#include <buda/autograd/statistics.hpp>
#include <buda/autograd/step_states.hpp>
#include <buda/base/text.hpp>
#include <buda/graph/editor.hpp>
#include <buda/graph/tags/loopback.hpp>
#include <buda/graph/tags/training.hpp>
#include <buda/graph/values/value.hpp>
#include <buda/ops/whole_graph/builder.hpp>
#include <buda/ops/whole_graph/infer.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <map>
#include <regex>
#include <set>

namespace buda::autograd {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::NodeKind;
using graph::ValueRef;
using graph::ValueType;

namespace {

Result<std::optional<std::regex>> regex_of(const char* option, const std::string& text) {
  if (text.empty()) return std::optional<std::regex>();
  try {
    return std::optional<std::regex>(std::regex(text));
  } catch (const std::regex_error&) {
    return usage_error("AG015", cat("option ", option, ": '", text, "' is not a regular expression"));
  }
}

class StepBuilder {
 public:
  StepBuilder(Graph graph, const StepOptions& options)
      : graph_(std::move(graph)), o_(options), loss_(options.loss), states_(graph_, options.update) {}

  Result<TrainingStep> run() {
    if (graph_.level != graph::Level::tensor)
      return input_error("AG013", {}, "the graph is at device level; a training step is made of the graph that the importer writes");
    BUDA_TRY(ops::infer_types(graph_));
    BUDA_TRY(ops::check(graph_));
    BUDA_ASSIGN(statistics_, find_statistics(graph_));
    BUDA_TRY(find_parameters());
    if (o_.initialize) BUDA_TRY(initialize(graph_, trained_, *o_.initialize));
    if (o_.gives_gradients) find_inputs();
    BUDA_ASSIGN(const std::vector<NodeId> differentiated, add_losses());
    const NodeId output = differentiated.front();
    if (o_.decompose) BUDA_TRY(decompose_for_gradients(graph_, wanted(), o_.decompose, o_.gradients));
    BUDA_ASSIGN(std::vector<ValueRef> gradients, add_gradients(differentiated));
    if (o_.gives_gradients) give_gradients(gradients);
    gradients.resize(trained_.size());
    const std::vector<ValueRef> whole = gradients;
    if (o_.form == StepForm::programs) BUDA_TRY(accumulate(gradients));
    const std::size_t clipping = graph_.id_bound();
    BUDA_TRY(clip_gradients(graph_, output, gradients, {o_.clip_norm, o_.clip_value}));
    states_.tag_phase(clipping, graph::kPhaseOptimizer);
    BUDA_TRY(add_updates(gradients, whole));
    BUDA_TRY(move_statistics(states_, statistics_, o_.form == StepForm::programs));
    BUDA_TRY(ops::check(graph_));
    out_.state_elements = states_.elements();
    out_.graph = std::move(graph_);
    return std::move(out_);
  }

 private:
  // ---- what is trained

  // Means and variances that a normalisation has stored are measured, not learned.
  bool is_statistic(NodeId id) const {
    if (statistics_.contains(graph_.node(id).name())) return true;
    constexpr std::uint32_t kFirstStatistic = 3;
    const auto users = graph_.users(id);
    return !users.empty() && std::all_of(users.begin(), users.end(), [&](const graph::Use& use) {
      return graph_.node(use.node).op() == "batchnorm" && use.input >= kFirstStatistic;
    });
  }

  Result<void> find_parameters() {
    BUDA_ASSIGN(const auto trainable, regex_of("--trainable", o_.trainable));
    BUDA_ASSIGN(const auto frozen, regex_of("--frozen", o_.frozen));
    std::vector<std::string> names;
    for (NodeId id : graph_.ids()) {
      const Node& n = graph_.node(id);
      if (n.kind() != NodeKind::parameter || !is_float(n.outputs[0].dtype) || is_statistic(id)) continue;
      names.push_back(n.name());
      const bool is_trained = (!trainable || std::regex_search(n.name(), *trainable)) && (!frozen || !std::regex_search(n.name(), *frozen));
      if (is_trained) trained_.push_back(id);
    }
    if (!trained_.empty()) return success();
    Diagnostic d = input_error("AG014", {}, cat("the graph '", graph_.name, "' has no trainable parameter"));
    if (!names.empty()) d.notes.push_back({{}, cat("its parameters are ", join(names, ", "))});
    d.hint = names.empty() ? "weights that the exporter has turned into constants are not parameters" : "see --trainable and --frozen";
    return d;
  }

  Result<ValueRef> find_prediction() {
    std::vector<std::string> names;
    std::vector<NodeId> outputs;
    for (NodeId id : graph_.outputs())
      if (!is_of_statistic(graph_.node(id))) outputs.push_back(id);
    for (NodeId id : outputs) names.push_back(graph_.node(id).name());
    NodeId id = o_.prediction.empty() && outputs.size() == 1 ? outputs[0] : graph_.find_output(o_.prediction);
    if (!id.valid()) {
      Diagnostic d = input_error("AG013", {},
                                 o_.prediction.empty() ? cat("the graph has the outputs ", join(names, ", "), "; one is the prediction")
                                                       : cat("the graph has no output '", o_.prediction, "'; it has ", join(names, ", ")));
      d.hint = cat("--prediction ", names.empty() ? "NAME" : names.front());
      return d;
    }
    graph_.node(id).tags[graph::kTraining] = graph::kTrainingPrediction;
    prediction_ = id;
    const ValueRef value = graph_.node(id).inputs()[0].source;
    if (const ValueType& type = *graph_.type(value); !is_float(type.dtype))
      return input_error("AG013", graph_.node(id).loc,
                         cat("output '", graph_.node(id).name(), "' is ", type.text(), ", not of floating-point numbers"));
    return value;
  }

  // ---- the loss

  // The outputs whose gradients are known: the loss, or all where the host computes it.
  Result<std::vector<NodeId>> add_losses() {
    if (!o_.loss_on_host) {
      BUDA_ASSIGN(const ValueRef prediction, find_prediction());
      forward_ = graph_.id_bound();
      BUDA_ASSIGN(const NodeId output, add_loss(prediction));
      return std::vector<NodeId>{output};
    }
    std::vector<NodeId> outputs;
    for (NodeId id : graph_.outputs())
      if (!is_of_statistic(graph_.node(id)) && is_float(graph_.type(graph_.node(id).inputs()[0].source)->dtype)) outputs.push_back(id);
    if (outputs.empty())
      return input_error("AG013", {},
                         cat("the graph '", graph_.name, "' has no output of floating-point numbers, so that no loss depends on it"));
    return outputs;
  }

  // A cross entropy is computed from what its softmax (or sigmoid) was given: the logarithm of the sum then cancels what may overflow.
  ValueRef before_probabilities(ValueRef value) {
    const Node& n = graph_.node(value.node);
    if (n.op().empty() || n.op() != op_before(loss_.kind)) return value;
    if (n.op() == "softmax") {
      const auto rank = static_cast<std::int64_t>(n.outputs[0].shape.rank());
      const auto dim = n.attrs.find("dim");
      if (dim == n.attrs.end() || (dim->second != graph::Attr(rank - 1) && dim->second != graph::Attr(std::int64_t{-1}))) return value;
    }
    loss_.kind = of_input(loss_.kind);
    out_.logits = graph_.node(n.inputs()[0].source.node).name();
    return n.inputs()[0].source;
  }

  Result<Graph> loss_of(const ValueType& prediction) {
    if (!o_.loss_from_file) return loss_graph(loss_, prediction);
    Graph part = *o_.loss_from_file;
    BUDA_TRY(ops::infer_types(part));
    BUDA_TRY(ops::check(part));
    if (part.level != graph::Level::tensor || part.inputs().size() < 2 || part.outputs().size() != 1)
      return input_error("AG016", {},
                         cat("the loss '", part.name, "' has ", part.inputs().size(), " inputs and ", part.outputs().size(),
                             " outputs; a loss takes a prediction and targets and gives one output, at tensor level"));
    if (const ValueType& taken = part.node(part.inputs()[0]).outputs[0]; !(taken == prediction))
      return input_error("AG016", {},
                         cat("the loss '", part.name, "' takes a prediction ", taken.text(), ", and the model's is ", prediction.text()));
    return part;
  }

  // Gives the output node.
  Result<NodeId> add_loss(ValueRef prediction) {
    if (!o_.loss_from_file) {
      prediction = before_probabilities(prediction);
      out_.doubt = domain_doubt(graph_, prediction, graph_.node(prediction_), loss_.kind);
      if (out_.doubt) graph_.node(prediction_).tags[graph::kTraining] = cat(graph::kTrainingPrediction, ' ', loss_name(loss_.kind));
    }
    BUDA_ASSIGN(const Graph part, loss_of(*graph_.type(prediction)));
    std::vector<ValueRef> inputs{prediction};
    for (std::size_t i = 1; i < part.inputs().size(); ++i) {
      const Node& target = part.node(part.inputs()[i]);
      inputs.emplace_back(states_.input(target.name(), target.outputs[0], graph::kTrainingTarget));
    }
    const ValueRef loss = splice(graph_, part, inputs, "loss.").front();
    states_.tag_phase(forward_, graph::kPhaseLoss);
    const NodeId output = graph_.add(graph_.find_output("loss").valid() ? graph_.fresh_name("loss") : "loss", std::string(graph::kOutputOp),
                                     {graph::Edge(loss)});
    graph_.node(output).tags[graph::kTraining] = graph::kTrainingLoss;
    return output;
  }

  // ---- gradients

  // Of a mean over all losses, which the host takes: the device sees the constant 1 / n.
  Seed mean_of(ValueRef loss) {
    const ValueType type = *graph_.type(loss);
    const auto count = static_cast<std::size_t>(type.shape.volume().value_or(0));
    const NodeId share = graph_.add(graph_.fresh_name("grad.loss"), std::string(graph::kConstantOp));
    graph_.node(share).outputs = {type};
    graph_.node(share).value =
        graph::Value(Tensor(type.shape, std::vector<double>(count, 1.0 / static_cast<double>(count))).cast(type.dtype));
    return {loss, share};
  }

  // The host computes the gradient of an output.
  Seed given_for(NodeId output) {
    const ValueRef value = graph_.node(output).inputs()[0].source;
    const std::string& name = graph_.node(output).name();
    return {value, states_.input(cat(name, ".gradient"), *graph_.type(value), cat(graph::kTrainingOutputGradient, ' ', name))};
  }

  Result<std::vector<ValueRef>> add_gradients(const std::vector<NodeId>& outputs) {
    const std::size_t first = graph_.id_bound();
    std::vector<Seed> seeds;
    for (NodeId id : outputs) seeds.push_back(o_.loss_on_host ? given_for(id) : mean_of(graph_.node(id).inputs()[0].source));
    BUDA_ASSIGN(auto gradients, differentiate(graph_, seeds, wanted(), o_.gradients));
    states_.tag_phase(first, graph::kPhaseBackward);
    count_saved(first);
    return gradients;
  }

  Result<void> accumulate(std::vector<ValueRef>& gradients) {
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      if (!gradients[i].valid()) continue;
      const std::string name = cat("grad_acc.", graph_.node(trained_[i]).name());
      if (o_.sums_gradients) {
        gradients[i] = states_.sum_over_batches(gradients[i], name, trained_[i]);
      } else {
        BUDA_ASSIGN(gradients[i], states_.mean_over_batches(gradients[i], name, trained_[i]));
      }
    }
    return success();
  }

  // Trained parameters, and behind them inputs whose gradients are given.
  std::vector<ValueRef> wanted() const {
    std::vector<ValueRef> out(trained_.begin(), trained_.end());
    out.insert(out.end(), inputs_.begin(), inputs_.end());
    return out;
  }

  void find_inputs() {
    for (NodeId id : graph_.inputs()) {
      const Node& n = graph_.node(id);
      if (is_float(n.outputs[0].dtype) && !n.tags.contains(graph::kTraining) && !n.tags.contains(graph::kLoopback)) inputs_.push_back(id);
    }
  }

  void give_gradients(const std::vector<ValueRef>& gradients) {
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      if (!gradients[i].valid()) continue;
      const bool is_parameter = i < trained_.size();
      const std::string name = graph_.node(is_parameter ? trained_[i] : inputs_[i - trained_.size()]).name();
      const std::string given = cat(name, ".gradient");
      const NodeId output = graph_.add(graph_.find_output(given).valid() ? graph_.fresh_name(given) : given, std::string(graph::kOutputOp),
                                       {graph::Edge(gradients[i])});
      graph_.node(output).tags[graph::kTraining] =
          cat(is_parameter ? graph::kTrainingParameterGradient : graph::kTrainingInputGradient, ' ', name);
    }
  }

  bool is_weight(NodeId id) const {
    return graph_.node(id).has_value() || std::find(trained_.begin(), trained_.end(), id) != trained_.end();
  }

  // What the backward phase reads of the forward phase, but for weights and constants, which are there anyway.
  void count_saved(std::size_t first) {
    std::set<ValueRef> saved;
    for (NodeId id : graph_.ids())
      if (id.index() >= first)
        for (const graph::Edge& edge : graph_.node(id).inputs())
          if (edge.source.node.index() < first && !is_weight(edge.source.node)) saved.insert(edge.source);
    for (const ValueRef& value : saved) out_.saved_elements += graph_.type(value)->shape.volume().value_or(0);
  }

  // ---- updates

  Result<void> add_updates(const std::vector<ValueRef>& gradients, const std::vector<ValueRef>& whole) {
    Failure failure;
    const std::size_t first = graph_.id_bound();
    for (std::size_t i = 0; i < trained_.size(); ++i) {
      if (!gradients[i].valid()) {
        out_.unused.push_back(graph_.node(trained_[i]).name());
        continue;
      }
      const std::int64_t elements = graph_.type(ValueRef(trained_[i]))->shape.volume().value_or(0);
      out_.parameters.push_back({graph_.node(trained_[i]).name(), elements, whole[i]});
      if (auto done = update(trained_[i], gradients[i]); !done) {
        // What is wrong with an optimizer's file is so for all parameters.
        if (o_.optimizer_from_file) return done;
        failure.add(std::move(done).failure());
      }
    }
    if (out_.parameters.empty() && failure.empty()) return input_error("AG014", {}, "the loss depends on no trainable parameter");
    states_.tag_phase(first, graph::kPhaseOptimizer);
    if (!failure.empty()) return failure;
    return success();
  }

  Result<void> update(NodeId id, ValueRef gradient) {
    Node& n = graph_.node(id);
    graph_.set_op(id, std::string(graph::kInputOp));
    graph::GraphEditor editor(graph_, id);
    ops::Builder b(editor);
    const graph::Graph* file = o_.optimizer_from_file ? &*o_.optimizer_from_file : nullptr;
    BUDA_TRY(update_parameter(states_, b, id, gradient, {o_.optimizer, file}));
    n.tags[graph::kTraining] = graph::kTrainingParameter;
    states_.mark_exact(n);
    return b.status();
  }

  Graph graph_;
  const StepOptions& o_;
  Loss loss_;
  TrainingStep out_;
  std::vector<NodeId> trained_, inputs_;
  NodeId prediction_ = {};   // an output
  std::size_t forward_ = 0;  // ids below are the model's
  StepStates states_;
  Statistics statistics_;
};

}  // namespace

Result<TrainingStep> training_step(Graph graph, const StepOptions& options) { return StepBuilder(std::move(graph), options).run(); }

}  // namespace buda::autograd
