// SPDX-License-Identifier: Apache-2.0
// What must hold before a model is turned into a graph: operators that are read, values that are computed before their users, subgraphs
// that do not call themselves.
#include "model.hpp"
#include "op_table.hpp"

#include <buda/base/text.hpp>
#include <buda/frontend/unsupported.hpp>

#include <set>

namespace buda::tflite_frontend {
namespace {

class Check {
 public:
  explicit Check(const Model& model) : model_(&model), states_(model.subgraphs.size()) {}

  Result<void> run() {
    visit(model_->entry.subgraph);
    if (!unsupported_.empty()) failure_.add(unsupported_.report(model_->error("TF030", "the model uses operators that are not supported")));
    if (model_->entry.outputs.empty()) failure_.add(model_->error("TF034", "the model has no output"));
    if (!failure_.empty()) return std::move(failure_);
    return success();
  }

 private:
  enum class State : std::uint8_t { unvisited, open, done };

  // Each subgraph is entered once, and one that no operator calls never.
  void visit(std::size_t number) {
    const Subgraph& graph = model_->subgraphs[number];
    states_[number] = State::open;
    check_order(graph);
    for (const auto& op : graph.operators) {
      if (op.custom && find_custom_importer(op.type) != nullptr) continue;
      if (op.custom)
        unsupported_.add(op.type, cat("op type ", op.type, " (a custom operator)"), std::string(custom_out_of_scope(op.type)), op.name);
      else if (find_importer(op.code) == nullptr)
        unsupported_.add(op.type, cat("op type ", op.type, " (version ", op.version, ')'), std::string(out_of_scope(op.code)), op.name);
      for (auto called : op.called) {
        if (states_[called] == State::open)
          failure_.add(node_error(*model_, op, "TF002", cat("calls subgraph ", called, ", which calls it: this has no end")));
        else if (states_[called] == State::unvisited)
          visit_called(op, called);
      }
    }
    states_[number] = State::done;
  }

  // Calls are followed by functions that call themselves.
  void visit_called(const OperatorInfo& op, std::size_t called) {
    if (depth_ >= kDeepestCalls) {
      failure_.add(node_error(*model_, op, "TF002", cat("is a call within ", kDeepestCalls, " others, which is the limit")));
      return;
    }
    ++depth_;
    visit(called);
    --depth_;
  }

  void check_order(const Subgraph& graph) {
    std::set<std::int32_t> known(graph.inputs.begin(), graph.inputs.end()), computed;
    for (std::size_t i = 0; i < graph.tensors.size(); ++i) {
      const auto& t = graph.tensors[i];
      if (t.value || t.is_variable || !t.unreadable.empty()) known.insert(static_cast<std::int32_t>(i));
    }
    auto name = [&](std::int32_t tensor) { return graph.tensors[static_cast<std::size_t>(tensor)].name; };
    for (const auto& op : graph.operators) {
      for (auto input : op.inputs)
        if (input >= 0 && known.count(input) == 0 &&
            (!op.custom || find_custom_importer(op.type) != nullptr))  // a custom one may have memory of its own there
          failure_.add(node_error(*model_, op, "TF033", cat("its input '", name(input), "' is computed by no operator before it")));
      for (auto output : op.outputs) {
        if (!computed.insert(output).second)
          failure_.add(node_error(*model_, op, "TF032", cat("computes '", name(output), "', which another operator computes too")));
        known.insert(output);
      }
    }
    for (auto output : graph.outputs)
      if (known.count(output) == 0) failure_.add(model_->error("TF034", cat("output '", name(output), "' is computed by no operator")));
  }

  const Model* model_;
  std::vector<State> states_;
  int depth_ = 0;
  frontend::UnsupportedOps unsupported_;
  Failure failure_;
};

}  // namespace

Result<void> check_model(const Model& model) { return Check(model).run(); }

}  // namespace buda::tflite_frontend
