// SPDX-License-Identifier: Apache-2.0
// The walk over the nodes on which the outputs depend.
//
// Nodes stand in any order, and many of a file serve training or saving only, so each is imported when its value is asked for, behind what
// it depends on itself. Calls of functions become the nodes of the function. Loops of control flow v1 are nodes that point back: the nodes
// between Merge and NextIteration are walked over once for each iteration, in a scope of its own.
#include "graph_import.hpp"

#include "loops.hpp"
#include "node_import.hpp"
#include "tensors.hpp"
#include "variables.hpp"

#include <buda/base/text.hpp>
#include <buda/frontend/builder_errors.hpp>
#include <buda/frontend/unsupported.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <optional>
#include <unordered_set>

namespace buda::tensorflow_frontend {
namespace {

constexpr std::size_t kMaxSteps = std::size_t{1} << 20;  // nodes that are imported, each time that a loop or call comes to them
constexpr int kDeepest = 64;
constexpr std::int64_t kMaxResults = 4096;  // of a node that an input stands for; there is room for all before it
constexpr int kMaxIterations = 1 << 16;
const Value kFailed{Value::Kind::failed};

struct NodeResult {
  Values values;
  bool failed = false;
};

// The nodes of one body while they are imported: of the graph, of a call, or of an iteration.
struct Scope {
  const Body* body = nullptr;
  Values arguments;
  Attributes attributes;  // of the call
  std::string prefix;     // of names
  int depth = 0;
  Scope* around = nullptr;  // of an iteration: where its loop stands
  std::string frame;        // and the loop's name
  std::unordered_map<int, NodeResult> results = {};
};

bool is_variable(const format::NodeDef& node) { return is_one_of(node, {"VarHandleOp", "VariableV2", "Variable"}); }

// A node whose results conditions leave out: a Switch, or the Identity behind one.
bool is_pivot(const Body& body, std::string_view name) {
  const auto* node = body.find(name);
  if (node != nullptr && node->op() == "Identity" && node->input_size() > 0) node = body.find(parse_port(node->input(0)).node);
  return node != nullptr && is_switch(*node);
}

std::optional<std::int64_t> result_of_function(const Body& body, std::string_view name) {
  const auto& results = body.function->signature().output_arg();
  for (int i = 0; i < results.size(); ++i)
    if (name.empty() || results[i].name() == name) return i;
  return std::nullopt;
}

// Functions are walked over even where their arguments failed, so that all that is not supported is reported.
bool calls_function(const Model& model, const format::NodeDef& node) {
  return is_one_of(node, {"PartitionedCall", "StatefulPartitionedCall"}) || model.functions.count(node.op()) != 0;
}

// A node whose op is a function of the library.
Result<void> import_call(NodeImport& n) {
  BUDA_ASSIGN(Values results, n.walk().call(n, n.type_of_op(), n.all_attributes(), n.values(), n.name() + "/"));
  for (std::size_t i = 0; i < results.size(); ++i) n.output(std::move(results[i]), i);
  return success();
}

class GraphImport final : public Walk {
 public:
  GraphImport(const Model& model, const std::string& name, Host& host)
      : model_(&model), host_(&host), builder_(name), state_(model, builder_), variables_(model, host) {
    state_.walk = this;
    main_.body = &model.main;
  }

  Result<Imported> run() {
    add_inputs();
    std::vector<std::pair<const Terminal*, Value>> results;
    for (const Terminal& output : model_->outputs) {
      host_->progress("importing outputs", results.size(), model_->outputs.size());
      results.emplace_back(&output, value(main_, output.value, output.name));
    }
    if (!unsupported_.empty()) failure_.add(unsupported_.report(model_->error("GF030", "the model uses operators that are not supported")));
    if (failure_.empty())
      for (const auto& [terminal, result] : results) add_output(*terminal, result);
    if (!failure_.empty()) return std::move(failure_);
    state_.layouts.erase_unused(builder_.graph());
    state_.store.known.erase_unused(builder_.graph());
    BUDA_ASSIGN(graph::Graph graph, builder_.finish());
    return Imported{std::move(graph), variables_.files()};
  }

  // ---- for operators

  Result<Values> call(const frontend::OpImport& caller, const std::string& function, const Attributes& attributes, Values arguments,
                      const std::string& prefix) override {
    auto found = model_->functions.find(function);
    if (found == model_->functions.end()) return caller.refuse(cat("calls the function '", function, "', which the model does not have"));
    const Body& body = found->second;
    const auto& signature = body.function->signature();
    if (static_cast<std::size_t>(signature.input_arg_size()) != arguments.size())
      return caller.refuse(
          cat("calls the function '", function, "' with ", arguments.size(), " values; it takes ", signature.input_arg_size()));
    if (depth_ >= kDeepest) return caller.refuse(cat("calls functions more than ", kDeepest, " deep"));
    for (const auto& [name, node] : body.function->control_ret())
      if (const auto* last = body.find(parse_port(node).node); last != nullptr && last->op().starts_with("Assign"))
        add_unsupported(*last, prefix + last->name());
    Scope scope{.body = &body, .arguments = std::move(arguments), .attributes = attributes, .prefix = prefix};
    ++depth_;
    Values out;
    for (const auto& result : signature.output_arg()) {
      auto ret = body.function->ret().find(result.name());
      if (ret == body.function->ret().end()) {
        --depth_;
        return caller.refuse(cat("calls the function '", function, "', which does not give its result '", result.name(), '\''));
      }
      out.push_back(value(scope, ret->second, cat("function ", function)));
    }
    --depth_;
    return out;
  }

  Result<Operand> variable(const frontend::OpImport& reader, const std::string& name) override { return variables_.read(reader, name); }

 private:
  // ---- inputs and outputs

  void add_inputs() {
    for (const ModelInput& input : model_->pushed) {
      auto ref = builder_.input(input.name, input.shape, input.dtype);
      take_builder_errors(input.name, "Placeholder");
      Port port = parse_port(input.value);
      if (ref.valid()) builder_.node(ref).origins = {{model_->file, std::string(port.node)}};
      auto found = model_->main.index.find(port.node);
      if (found == model_->main.index.end()) {
        failure_.add(model_->error("GF024", cat("input '", input.name, "' is node '", port.node, "', which the graph does not have")));
        continue;
      }
      if (port.index < 0 || port.index >= kMaxResults) {
        failure_.add(model_->error("GF024", cat("input '", input.name, "' is result ", port.index, " of node '", port.node,
                                                "'; no node has more than ", kMaxResults, " results")));
        continue;
      }
      auto& values = main_.results[found->second].values;
      if (values.size() <= static_cast<std::size_t>(port.index)) values.resize(static_cast<std::size_t>(port.index) + 1);
      values[static_cast<std::size_t>(port.index)] =
          Value::of(input.fixed ? frontend::known_value(input.name, *input.fixed, frontend::Role::constant, input.name)
                                : frontend::computed_value(input.name, ref));
    }
  }

  void add_output(const Terminal& output, const Value& value) {
    Port port = parse_port(output.value);
    auto ref = value.kind == Value::Kind::tensor ? state_.store.ref(value.tensor) : graph::ValueRef();
    if (builder_.graph().type(ref) == nullptr) {
      failure_.add(model_->error(
          "GF034", cat("output '", output.name, "' has no value: it is not a tensor of real numbers, or conditions lead elsewhere")));
      return;
    }
    std::string wanted = frontend::graph_name(output.name.ends_with(":0") ? output.name.substr(0, output.name.size() - 2) : output.name);
    std::string name = wanted;
    for (int i = 1; builder_.graph().find_output(name).valid(); ++i) name = cat(wanted, '_', i);
    builder_.output(name, ref);
    take_builder_errors(name, "output");
    if (auto id = builder_.graph().find_output(name); id.valid())
      builder_.graph().node(id).origins = {{model_->file, std::string(port.node)}};
  }

  // ---- values

  // The value that a text names, for `user`, which messages name.
  Value value(Scope& scope, std::string_view text, const std::string& user) {
    Port port = parse_port(text);
    if (auto argument = scope.body->arguments.find(port.node); argument != scope.body->arguments.end())
      return scope.arguments[static_cast<std::size_t>(argument->second)];
    auto found = scope.body->index.find(port.node);
    if (found == scope.body->index.end()) {
      failure_.add(model_->error("GF031", cat("'", user, "' uses '", text, "', which is not a node of its graph or function")));
      return kFailed;
    }
    compute(scope, found->second);
    const auto& node = (*scope.body->nodes)[found->second];
    const NodeResult& result = scope.results[found->second];
    if (result.failed) return kFailed;
    std::optional<std::int64_t> first = 0;
    if (const auto* importer = find_importer(node.op())) first = first_result(*importer, port.result);
    if (auto called = model_->functions.find(node.op()); called != model_->functions.end())
      first = result_of_function(called->second, port.result);
    const auto results = static_cast<std::int64_t>(result.values.size());
    const std::int64_t at = !first || port.index < 0 || port.index >= results ? results : *first + port.index;
    if (at < 0 || at >= results || result.values[static_cast<std::size_t>(at)].kind == Value::Kind::none) {
      failure_.add(error_at(node, scope, "GF032", cat("its result '", text, "', which '", user, "' uses, is not there, or not supported")));
      return kFailed;
    }
    return result.values[static_cast<std::size_t>(at)];
  }

  // Imports a node behind all that it depends on; with a stack of its own, since graphs are deep.
  void compute(Scope& scope, int root) {
    struct Open {
      int node;
      std::vector<int> needs;
      std::size_t next = 0;
    };
    if (scope.results.count(root) != 0) return;
    std::unordered_set<int> open{root};
    std::vector<Open> stack;
    stack.push_back({root, needs_of(scope, root)});
    while (!stack.empty()) {
      Open& top = stack.back();
      if (top.next < top.needs.size()) {
        int need = top.needs[top.next++];
        if (scope.results.count(need) != 0) continue;
        if (!open.insert(need).second) {
          const auto& node = (*scope.body->nodes)[need];
          failure_.add(error_at(node, scope, "GF033", "it depends on its own result"));
          scope.results[need].failed = true;
          continue;
        }
        stack.push_back({need, needs_of(scope, need)});
        continue;
      }
      int node = top.node;
      stack.pop_back();
      open.erase(node);
      if (scope.results.count(node) == 0) import_node(scope, node);
    }
  }

  // The nodes that must be imported before. What conditions leave out is told by nodes that only run before: the two results of a Switch,
  // each behind an Identity.
  std::vector<int> needs_of(Scope& scope, int index) {
    const auto& node = (*scope.body->nodes)[index];
    std::vector<int> out;
    auto add = [&](std::string_view text) {
      if (auto found = scope.body->index.find(parse_port(text).node); found != scope.body->index.end()) out.push_back(found->second);
    };
    if (is_exit(node)) {
      if (const Loop* loop = loops_.left_by(*scope.body, index))
        for (const auto& state : loop->states) add(state.first);
      return out;
    }
    if (is_enter(node) && !scope.frame.empty()) return out;
    for (const auto& input : node.input()) {
      Port port = parse_port(input);
      if (!port.control || is_pivot(*scope.body, port.node)) add(input);
    }
    return out;
  }

  // ---- nodes

  void import_node(Scope& scope, int index) {
    const auto& node = (*scope.body->nodes)[index];
    if (++steps_ > kMaxSteps) {
      if (steps_ == kMaxSteps + 1)
        failure_.add(
            error_at(node, scope, "GF035", cat("is where the import ends: ", kMaxSteps, " nodes were imported, by loops and calls")));
      scope.results[index].failed = true;
      return;
    }
    if (is_exit(node)) return import_exit(scope, index);
    if (is_enter(node) && !scope.frame.empty()) return import_enter(scope, index);
    Values inputs;
    bool dead = false, failed = false;
    for (const auto& input : node.input()) {
      Port port = parse_port(input);
      if (port.control && !is_pivot(*scope.body, port.node)) continue;
      Value in = value(scope, port.control ? port.node : std::string_view(input), scope.prefix + node.name());
      dead = dead || in.kind == Value::Kind::dead;
      failed = failed || in.kind == Value::Kind::failed;
      if (!port.control) inputs.push_back(std::move(in));
    }
    NodeResult result;
    if (is_merge(node))
      result = merged(scope, node, inputs);
    else if (failed && !calls_function(*model_, node))
      result = left_out(scope, node);
    else if (dead)
      result.values.assign(kMaxDeadResults, Value{Value::Kind::dead});
    else
      result = imported(scope, node, std::move(inputs));
    scope.results[index] = std::move(result);
  }

  static constexpr std::size_t kMaxDeadResults = 64;  // more than any operator has that stands behind a condition

  NodeResult left_out(Scope& scope, const format::NodeDef& node) {
    if (find_importer(node.op()) == nullptr && !is_one_of(node, {"Const", "VarHandleOp", "VariableV2", "Variable"}))
      add_unsupported(node, scope.prefix + node.name());
    NodeResult out;
    out.failed = true;
    return out;
  }

  NodeResult imported(Scope& scope, const format::NodeDef& node, Values inputs) {
    std::string name = frontend::graph_name(scope.prefix + node.name());
    NodeResult out;
    if (node.op() == "Const") return constant(scope, node, name);
    if (is_variable(node)) return variable_node(scope, node, name);
    bool calls = model_->functions.count(node.op()) != 0;
    const auto* importer = find_importer(node.op());
    if (importer == nullptr && !calls) {
      add_unsupported(node, name);
      out.failed = true;
      return out;
    }
    std::size_t first_new = builder_.graph().id_bound();
    const bool complex = std::any_of(inputs.begin(), inputs.end(), [](const Value& v) { return v.kind == Value::Kind::complex; });
    NodeImport n(state_, node, scope.attributes, name, std::move(inputs));
    if (complex && !calls) importer = complex_importer(node.op());
    auto done = calls                 ? import_call(n)
                : importer == nullptr ? Result<void>(n.refuse("it is not read for complex numbers"))
                                      : importer->import(n);
    if (!done) failure_.add(std::move(done).failure());
    bool sound = take_builder_errors(name, node.op()) && done.ok();
    auto& graph = builder_.graph();
    for (std::size_t i = first_new; i < graph.id_bound(); ++i) {
      graph::NodeId id(static_cast<graph::NodeId::rep>(i));
      if (graph.contains(id) && graph.node(id).origins.empty()) graph.node(id).origins = {{model_->file, scope.prefix + node.name()}};
    }
    out.values = n.take_outputs();
    out.failed = !sound;
    for (const Value& v : out.values) out.failed = out.failed || (v.kind == Value::Kind::tensor && frontend::failed(v.tensor));
    return out;
  }

  // One value for each constant of the file, however often its function is called. Numbers with a fraction are what was trained; single
  // ones, and integers, are not.
  NodeResult constant(Scope& scope, const format::NodeDef& node, const std::string& name) {
    NodeResult out;
    auto& known = constants_[&node];
    if (known.kind == Value::Kind::none) {
      auto attr = node.attr().find("value");
      if (attr == node.attr().end() || !attr->second.has_tensor()) {
        failure_.add(error_at(node, scope, "GF041", "has no value"));
        out.failed = true;
        return out;
      }
      auto tensor = tensor_of(attr->second.tensor(), model_->bytes);
      if (!tensor) {
        failure_.add(error_at(node, scope, "GF004", tensor.failure().diagnostics().front().message));
        out.failed = true;
        return out;
      }
      bool weight = is_float(tensor->dtype()) && tensor->shape().rank() > 0;
      known = Value::of(frontend::known_value(name, std::move(*tensor), weight ? frontend::Role::weight : frontend::Role::constant, name));
    }
    out.values = {known};
    return out;
  }

  NodeResult variable_node(Scope& scope, const format::NodeDef& node, const std::string& name) {
    NodeResult out;
    Value place;
    place.kind = Value::Kind::variable;
    place.variable = node.name();
    if (node.op() == "VarHandleOp") {
      out.values = {place};
      return out;
    }
    NodeImport n(state_, node, scope.attributes, name, {});
    auto operand = variable(n, node.name());
    if (!operand) failure_.add(std::move(operand).failure());
    out.failed = !operand;
    if (operand) out.values = {Value::of(std::move(*operand))};
    return out;
  }

  // The one of two values that a condition leaves; and which of them it is.
  NodeResult merged(Scope& scope, const format::NodeDef& node, const Values& inputs) {
    NodeResult out;
    std::vector<std::size_t> alive;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      out.failed = out.failed || inputs[i].kind == Value::Kind::failed;
      if (inputs[i].kind != Value::Kind::dead) alive.push_back(i);
    }
    if (out.failed) return out;
    if (alive.empty()) {
      out.values.assign(2, Value{Value::Kind::dead});
    } else if (alive.size() > 1) {
      failure_.add(error_at(node, scope, "GF040", "several of its inputs have values; one condition must decide"));
      out.failed = true;
    } else {
      auto index = Tensor::scalar(static_cast<std::int32_t>(alive[0]));
      out.values = {inputs[alive[0]], Value::of(frontend::known_value(node.name(), index, frontend::Role::constant, node.name()))};
    }
    return out;
  }

  // ---- loops of control flow v1

  // An Enter passes on the value from the scope outside the loop.
  void import_enter(Scope& scope, int index) {
    const auto& node = (*scope.body->nodes)[index];
    Scope* home = &scope;
    std::string frame = frame_of(node);
    while (home->around != nullptr && home->frame != frame) home = home->around;
    if (home != &scope) {
      scope.results[index].values = {value(*home, node.name(), node.name())};
    } else if (node.input_size() > 0) {
      scope.results[index].values = {value(scope.frame == frame ? *scope.around : scope, node.input(0), scope.prefix + node.name())};
    }
    for (const Value& v : scope.results[index].values) scope.results[index].failed = v.kind == Value::Kind::failed;
  }

  void import_exit(Scope& scope, int index) {
    const auto& node = (*scope.body->nodes)[index];
    auto fail = [&](std::string reason) {
      if (!reason.empty()) failure_.add(error_at(node, scope, "GF040", std::move(reason)));
      scope.results[index].failed = true;
    };
    const Loop* loop = loops_.left_by(*scope.body, index);
    if (loop == nullptr || loop->condition < 0) return fail("the loop that it leaves has no Merge, NextIteration or LoopCond");
    if (depth_ >= kDeepest) return fail(cat("loops are nested more than ", kDeepest, " deep"));
    const auto& condition = (*scope.body->nodes)[loop->condition];
    if (condition.input_size() < 1) return fail("the loop that it leaves has no condition");
    ++depth_;
    Scope turn{.body = scope.body,
               .arguments = scope.arguments,
               .attributes = scope.attributes,
               .prefix = scope.prefix,
               .around = &scope,
               .frame = loop->frame};
    auto states = iterated(scope, turn, *loop, condition);
    --depth_;
    for (const auto& [exit, state] : loop->exits) {
      scope.results[exit].failed = !states;
      if (states) scope.results[exit].values = {(*states)[state]};
    }
  }

  // The states after the last iteration; nothing if something failed, which is reported.
  std::optional<Values> iterated(Scope& scope, Scope& turn, const Loop& loop, const format::NodeDef& condition) {
    Values states;
    for (const auto& state : loop.states) states.push_back(value(scope, state.first, condition.name()));
    for (int i = 0;; ++i) {
      turn.results.clear();
      for (std::size_t k = 0; k < states.size(); ++k) {
        if (states[k].kind == Value::Kind::failed) return std::nullopt;
        turn.results[loop.states[k].merge].values = {states[k]};
      }
      Value goes_on = value(turn, condition.input(0), condition.name());
      if (goes_on.kind == Value::Kind::dead) return Values(states.size(), Value{Value::Kind::dead});
      if (goes_on.kind != Value::Kind::tensor) return std::nullopt;
      NodeImport n(state_, condition, scope.attributes, scope.prefix + condition.name(), {goes_on});
      auto truth = n.known_truth(goes_on.tensor, cat("condition before iteration ", i));
      if (truth && i >= kMaxIterations) truth = n.refuse(cat("runs more than ", kMaxIterations, " times, which is the limit for loops"));
      if (!truth) {
        failure_.add(std::move(truth).failure());
        return std::nullopt;
      }
      if (!*truth) return states;
      for (std::size_t k = 0; k < states.size(); ++k) states[k] = value(turn, loop.states[k].next, condition.name());
    }
  }

  // ---- messages

  Diagnostic error_at(const format::NodeDef& node, const Scope& scope, std::string code, std::string reason) {
    return node_error(*model_, scope.prefix + node.name(), node.op(), std::move(code), std::move(reason));
  }

  void add_unsupported(const format::NodeDef& node, const std::string& name) {
    unsupported_.add(node.op(), cat("op type ", node.op()), out_of_scope(node.op()), name);
  }

  // Says what the builder found wrong since the last call of the node at hand. Was there nothing?
  bool take_builder_errors(const std::string& name, const std::string& type) {
    auto found = frontend::new_errors(builder_, builder_errors_);
    for (const Diagnostic& error : found) {
      Diagnostic d = node_error(*model_, name, type, error.code, error.message);
      d.hint = error.hint;
      d.notes = error.notes;
      failure_.add(std::move(d));
    }
    return found.empty();
  }

  const Model* model_;
  Host* host_;
  ops::Builder builder_;
  ImportState state_;
  Variables variables_;
  std::unordered_map<const format::NodeDef*, Value> constants_;
  Loops loops_;
  Scope main_;
  Failure failure_;
  frontend::UnsupportedOps unsupported_;
  std::size_t builder_errors_ = 0, steps_ = 0;
  int depth_ = 0;
};

}  // namespace

Result<Imported> import_graph(const Model& model, const std::string& name, Host& host) { return GraphImport(model, name, host).run(); }

}  // namespace buda::tensorflow_frontend
