// SPDX-License-Identifier: Apache-2.0
// Statements, and calls of functions.
#include "evaluator.hpp"

#include <buda/base/text.hpp>

#include <algorithm>

namespace buda::torchscript {
namespace {

// A loop without an end must not run for ever. The largest models of torchvision take some ten thousand steps.
constexpr std::int64_t kMaxSteps = 3'000'000;
constexpr std::size_t kMaxNodes = 200'000;

}  // namespace

Diagnostic Evaluator::error(std::string_view code, std::string_view message) const {
  if (frame_ == nullptr) return state_.archive->error(code, std::string(message));
  const Place& place = frame_->place;
  Diagnostic d = state_.archive->error(code, cat(place.text(), place.module.empty() ? "" : cat(" (", place.module, ')'), ": ", message));
  d.node = place.module;
  return d;
}

Result<void> Evaluator::spend() {
  if (++steps_ > kMaxSteps)
    return error("TS050", cat("the program takes more than ", kMaxSteps, " steps; it may be a loop without an end"));
  if (state_.builder.graph().id_bound() > kMaxNodes) return error("TS050", cat("the program has more than ", kMaxNodes, " operations"));
  return success();
}

Result<Value> Evaluator::run(Object& object, const std::string& method, std::vector<Value> arguments) {
  for (const Object& o : loaded_.objects) own_.insert(&o);
  return call_method(Value(&object), method, {std::move(arguments), {}});
}

// ---- calls

// `defines`: the operator that the function is, if it is not of the model.
Result<Value> Evaluator::invoke(const Function& function, Arguments arguments, std::string_view defines) {
  if (++depth_ > kDeepestCall) return error("TS050", "calls are nested too deeply");
  Frame frame{&function, {}, {}, {}, !defines.empty()};
  frame.place.file = function.file;
  if (frame_ != nullptr) frame.place.module = frame_->place.module;
  if (!defines.empty()) {
    const std::string& module = frame_->place.module;
    frame.place = frame_->place;
    if (!defines.starts_with('_')) frame.place.module = module.empty() ? std::string(defines) : cat(module, '.', defines);
  }
  auto& given = arguments.given;
  if (!given.empty())
    if (const auto* self = given[0].as<Object*>(); self != nullptr && own_.count(*self) != 0) frame.place.module = (*self)->path;
  Frame* const outer = frame_;
  if (given.size() > function.parameters.size())
    return error("TS041", cat("'", function.name, "' is called with ", given.size(), " arguments and takes ", function.parameters.size()));
  for (std::size_t i = 0; i < function.parameters.size(); ++i) {
    const Parameter& p = function.parameters[i];
    auto named = std::find_if(arguments.named.begin(), arguments.named.end(), [&](const auto& n) { return n.first == p.name; });
    if (i < given.size()) {
      frame.names.insert_or_assign(p.name, std::move(given[i]));
    } else if (named != arguments.named.end()) {
      frame.names.insert_or_assign(p.name, std::move(named->second));
    } else if (p.standard) {
      BUDA_ASSIGN(Value standard, evaluate(*p.standard));
      frame.names.insert_or_assign(p.name, std::move(standard));
    } else {
      return error("TS041", cat("'", function.name, "' is called without its argument '", p.name, '\''));
    }
  }
  frame_ = &frame;
  auto flow = run_block(function.body);
  frame_ = outer;
  --depth_;
  if (!flow) return std::move(flow).failure();
  return std::move(frame.given_back);
}

Result<Value> Evaluator::call_method(const Value& of, const std::string& method, Arguments arguments) {
  if (of.failed()) return Value(Failed{});
  const auto* object = of.as<Object*>();
  if (object == nullptr) {
    if (of.none()) return error("TS041", cat("method '", method, "' of None is called"));
    // A method of a list or text: the operator of that name.
    arguments.given.insert(arguments.given.begin(), of);
    return call_operator(cat("torch.", method), std::move(arguments));
  }
  auto type = program_.classes.find((*object)->type);
  if (type == program_.classes.end()) {
    report_unsupported(cat((*object)->type, '.', method));
    return Value(Failed{});
  }
  auto found = type->second.methods.find(method);
  if (found == type->second.methods.end())
    return error("TS041", cat("class '", (*object)->type, "' has no method '", method, "' in the archive"));
  arguments.given.insert(arguments.given.begin(), of);
  return invoke(found->second, std::move(arguments));
}

Result<Value> Evaluator::construct(const Class& type, Arguments arguments) {
  if (type.base == "NamedTuple") {
    for (std::size_t i = arguments.given.size(); i < type.fields.size(); ++i)
      for (auto& [name, value] : arguments.named)
        if (name == type.fields[i]) arguments.given.push_back(std::move(value));
    if (arguments.given.size() != type.fields.size())
      return error("TS041", cat("a tuple '", type.name, "' is made with other fields than it has"));
    return Value(std::make_shared<Sequence>(Sequence{true, std::move(arguments.given), &type}));
  }
  made_.push_back({type.name, "", {}});
  Value made(&made_.back());
  if (type.methods.count("__init__") != 0) {
    auto done = call_method(made, "__init__", std::move(arguments));
    if (!done) return std::move(done).failure();
  }
  return made;
}

Result<Value> Evaluator::call_named(const std::string& name, Arguments arguments) {
  if (auto f = program_.functions.find(name); f != program_.functions.end()) return invoke(f->second, std::move(arguments));
  if (auto c = program_.classes.find(name); c != program_.classes.end()) return construct(c->second, std::move(arguments));
  constexpr std::string_view kNew = ".__new__";
  if (name.ends_with(kNew)) {
    std::string of = name.substr(0, name.size() - kNew.size());
    if (program_.classes.count(of) != 0) {
      made_.push_back({std::move(of), "", {}});
      return Value(&made_.back());
    }
  }
  // A method that is called by the name of its class.
  if (auto dot = name.rfind('.'); dot != std::string::npos)
    if (auto c = program_.classes.find(name.substr(0, dot)); c != program_.classes.end())
      if (auto m = c->second.methods.find(name.substr(dot + 1)); m != c->second.methods.end())
        return invoke(m->second, std::move(arguments));
  if (name.starts_with("__torch__")) return error("TS041", cat("the archive has no function '", name, '\''));
  return call_operator(name, std::move(arguments));
}

// ---- statements

Result<Evaluator::Flow> Evaluator::run_block(const std::vector<Statement>& block) {
  for (const Statement& s : block) {
    BUDA_ASSIGN(Flow flow, run_statement(s));
    if (flow == Flow::back) return flow;
  }
  return Flow::on;
}

Result<Evaluator::Flow> Evaluator::run_statement(const Statement& s) {
  BUDA_TRY(spend());
  if (!frame_->defines_operator) frame_->place.line = s.line;
  switch (s.kind) {
    case Statement::Kind::pass:
      return Flow::on;
    case Statement::Kind::expression:
      if (auto value = evaluate(s.value); !value) return std::move(value).failure();
      return Flow::on;
    case Statement::Kind::give_back: {
      BUDA_ASSIGN(frame_->given_back, evaluate(s.value));
      return Flow::back;
    }
    case Statement::Kind::assign: {
      BUDA_ASSIGN(Value value, evaluate(s.value));
      BUDA_TRY(assign(s.target, std::move(value)));
      return Flow::on;
    }
    case Statement::Kind::branch: {
      BUDA_ASSIGN(bool holds, condition(s.value));
      return run_block(holds ? s.body : s.otherwise);
    }
    case Statement::Kind::repeat:
      return run_repetition(s);
    case Statement::Kind::loop:
      break;
  }
  return run_loop(s);
}

Result<Evaluator::Flow> Evaluator::run_repetition(const Statement& s) {
  while (true) {
    BUDA_TRY(spend());
    if (!frame_->defines_operator) frame_->place.line = s.line;
    BUDA_ASSIGN(bool holds, condition(s.value));
    if (!holds) return Flow::on;
    BUDA_ASSIGN(Flow flow, run_block(s.body));
    if (flow == Flow::back) return flow;
  }
}

// Through a list; range() gives one.
Result<Evaluator::Flow> Evaluator::run_loop(const Statement& s) {
  BUDA_ASSIGN(Value through, evaluate(s.value));
  const auto* list = through.as<SequenceRef>();
  if (list == nullptr) {
    if (through.failed()) return error("TS051", "how often a loop runs depends on what could not be imported");
    return error("TS051", cat("a loop goes through ", through.describe(), "; lists whose length is known are supported"));
  }
  const std::vector<Value> items = (*list)->items;
  for (const Value& item : items) {
    BUDA_TRY(spend());
    BUDA_TRY(assign(s.target, item));
    BUDA_ASSIGN(Flow flow, run_block(s.body));
    if (flow == Flow::back) return flow;
  }
  return Flow::on;
}

Result<void> Evaluator::assign(const Expr& target, Value value) {
  if (target.kind == Expr::Kind::name) {
    frame_->names.insert_or_assign(target.text, std::move(value));
    return success();
  }
  if (target.kind == Expr::Kind::attribute) return assign_field(target, std::move(value));
  if (target.kind == Expr::Kind::subscript) {
    BUDA_ASSIGN(Value of, evaluate(target.children[0]));
    BUDA_ASSIGN(Value at, evaluate(target.children[1]));
    auto set = call_operator("torch._set_item", {{std::move(of), std::move(at), std::move(value)}, {}});
    if (!set) return std::move(set).failure();
    return success();
  }
  if (target.kind != Expr::Kind::tuple && target.kind != Expr::Kind::list)
    return error("TS041", cat("assigns to '", text_of(target), '\''));
  const auto* items = value.as<SequenceRef>();
  if (items == nullptr && !value.failed()) return error("TS041", cat("takes ", value.describe(), " apart"));
  if (items != nullptr && (*items)->items.size() != target.children.size())
    return error("TS041", cat("takes ", value.describe(), " apart into ", target.children.size()));
  for (std::size_t i = 0; i < target.children.size(); ++i)
    BUDA_TRY(assign(target.children[i], items == nullptr ? Value(Failed{}) : (*items)->items[i]));
  return success();
}

Result<void> Evaluator::assign_field(const Expr& target, Value value) {
  BUDA_ASSIGN(Value of, evaluate(target.children[0]));
  if (of.failed()) return success();
  const auto* object = of.as<Object*>();
  if (object == nullptr) return error("TS041", cat("assigns to field '", target.text, "' of ", of.describe()));
  if (own_.count(*object) != 0 && contains_tensor(value))
    return error("TS041", cat("keeps a tensor in '", (*object)->path.empty() ? "" : cat((*object)->path, '.'), target.text,
                              "' for the next run; a compiled model keeps nothing between runs: make it an input and an output"));
  (*object)->fields.insert_or_assign(target.text, std::move(value));
  return success();
}

// ---- conditions

Result<bool> Evaluator::condition(const Expr& e) {
  BUDA_ASSIGN(Value value, evaluate(e));
  return truth(value, "if");
}

Result<bool> Evaluator::truth(const Value& value, std::string_view op) {
  if (value.failed()) return error("TS051", "a condition depends on what could not be imported");
  if (value.none()) return false;
  if (const auto* d = value.as<double>()) return *d != 0;
  if (const auto* s = value.as<std::string>()) return !s->empty();
  if (const auto* l = value.as<SequenceRef>()) return !(*l)->items.empty();
  if (const auto* m = value.as<MappingRef>()) return !(*m)->items.empty();
  if (value.is<Object*>() || value.is<FullName>()) return true;
  Call call(state_, frame_->place, std::string(op), {});
  BUDA_ASSIGN(auto number, call.integer_of(value, "condition"));
  return number != 0;
}

}  // namespace buda::torchscript
