// SPDX-License-Identifier: Apache-2.0
// Which entry of the checkpoint a variable has: a model holds the nodes that load its checkpoint: RestoreV2 takes a list of keys, and an
// assignment gives each of its results to a variable. TensorFlow 1 has them in the graph, TensorFlow 2 in a function that is called with
// all variables.
#include "variables.hpp"

#include "tensors.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

#include <set>

namespace buda::tensorflow_frontend {
namespace {

// Longer chains of Identity are no restoring.
constexpr int kLongestChain = 16;

const format::TensorProto* constant(const Body& body, std::string_view value) {
  const auto* node = body.find(parse_port(value).node);
  for (int i = 0; i < kLongestChain && node != nullptr && node->op() == "Identity" && node->input_size() > 0; ++i)
    node = body.find(parse_port(node->input(0)).node);
  if (node == nullptr || node->op() != "Const") return nullptr;
  auto found = node->attr().find("value");
  return found == node->attr().end() || !found->second.has_tensor() ? nullptr : &found->second.tensor();
}

// The key that a value is restored from; empty if it is not.
std::string key_of(const Body& body, std::string_view value) {
  Port port = parse_port(value);
  const auto* node = body.find(port.node);
  for (int i = 0; i < kLongestChain && node != nullptr && node->op() != "RestoreV2"; ++i) {
    if (node->op() != "Identity" || node->input_size() < 1) return "";
    port = parse_port(node->input(0));
    node = body.find(port.node);
  }
  if (node == nullptr || node->op() != "RestoreV2" || node->input_size() < 2) return "";
  const auto* names = constant(body, node->input(1));
  if (names == nullptr) return "";
  auto keys = strings_of(*names);
  return port.index >= 0 && port.index < static_cast<std::int64_t>(keys.size()) ? keys[static_cast<std::size_t>(port.index)] : "";
}

bool is_assignment(const format::NodeDef& node) {
  return (node.op() == "AssignVariableOp" || node.op() == "Assign") && node.input_size() >= 2;
}

// The key in the checkpoint by the node that makes the variable.
std::map<std::string, std::string> checkpoint_keys(const Model& model) {
  std::map<std::string, std::string> out;
  for (const auto& node : *model.main.nodes) {
    if (is_assignment(node)) {
      if (auto key = key_of(model.main, node.input(1)); !key.empty()) out.emplace(parse_port(node.input(0)).node, key);
      continue;
    }
    auto f = node.attr().find("f");
    auto called = f == node.attr().end() ? model.functions.end() : model.functions.find(f->second.func().name());
    if (called == model.functions.end() || node.name() != parse_port(model.saver.restore_op_name()).node) continue;
    const Body& body = called->second;
    for (const auto& inner : *body.nodes) {
      if (!is_assignment(inner)) continue;
      auto argument = body.arguments.find(parse_port(inner.input(0)).node);
      if (argument == body.arguments.end() || argument->second >= node.input_size()) continue;
      if (auto key = key_of(body, inner.input(1)); !key.empty()) out.emplace(parse_port(node.input(argument->second)).node, key);
    }
  }
  return out;
}

}  // namespace

Variables::Variables(const Model& model, Host& host) : model_(&model), host_(&host), keys_(checkpoint_keys(model)) {}

Result<frontend::Operand> Variables::read(const frontend::OpImport& reader, const std::string& name) {
  if (auto known = known_.find(name); known != known_.end()) return known->second;
  if (model_->folder.empty()) {
    Diagnostic d = reader.refuse(cat("reads the variable '", name, "', whose value is not in this file"));
    d.hint = "freeze the graph, which makes constants of its variables, or give the folder of the SavedModel";
    return d;
  }
  if (unreadable_) return Failure(std::vector<Diagnostic>{});
  if (!checkpoint_) {
    auto opened = Checkpoint::open(model_->folder + "/variables/variables", model_->folder, *host_);
    unreadable_ = !opened;
    BUDA_ASSIGN(checkpoint_, std::move(opened));
  }
  auto key = keys_.find(name);
  std::string stored = key != keys_.end() ? key->second : name;
  if (key == keys_.end() && !checkpoint_->has(stored)) stored = name + "/.ATTRIBUTES/VARIABLE_VALUE";
  if (!checkpoint_->has(stored))
    return reader.refuse(cat("reads the variable '", name, "', which the checkpoint '", model_->folder, "/variables' does not have"));
  BUDA_ASSIGN(Tensor tensor, checkpoint_->tensor(stored));
  auto operand = frontend::known_value(frontend::graph_name(name), std::move(tensor), frontend::Role::weight, stored);
  known_[name] = operand;
  return operand;
}

}  // namespace buda::tensorflow_frontend
