// SPDX-License-Identifier: Apache-2.0
// Expressions, and calls of operators.
#include "evaluator.hpp"

#include "definitions.hpp"
#include "known_ops.hpp"

#include <buda/base/text.hpp>
#include <buda/frontend/builder_errors.hpp>

#include <algorithm>

namespace buda::torchscript {
namespace {

constexpr std::int64_t kLongestRange = 1'000'000;

// Operators on lists that take no part of them apart: one that could not be computed does not spoil the others.
bool moves_parts(std::string_view name, const std::vector<Value>& given) {
  constexpr std::string_view kMoving[] = {"__getitem__", "append", "copy", "len", "list", "slice"};
  if (given.empty() || (!given[0].is<SequenceRef>() && !given[0].is<MappingRef>())) return false;
  if (std::find(std::begin(kMoving), std::end(kMoving), name) == std::end(kMoving)) return false;
  return name == "append" || std::none_of(given.begin() + 1, given.end(), contains_failure);
}

bool is_root(const std::string& name) { return name == "torch" || name == "ops" || name == "__torch__" || name == "CONSTANTS"; }

constexpr std::string_view kBuiltIns[] = {"annotate", "unchecked_cast", "uninitialized", "getattr", "hasattr", "isinstance",
                                          "int",      "float",          "bool",          "range",   "str",     "len"};

// The operators that signs stand for.
constexpr std::pair<std::string_view, std::string_view> kSigns[] = {
    {"+", "add"},
    {"-", "sub"},
    {"*", "mul"},
    {"/", "div"},
    {"//", "floordiv"},
    {"%", "remainder"},
    {"**", "pow"},
    {"@", "matmul"},
    {"==", "eq"},
    {"!=", "ne"},
    {"<", "lt"},
    {"<=", "le"},
    {">", "gt"},
    {">=", "ge"},
    {"&", "__and__"},
    {"|", "__or__"},
    {"^", "__xor__"},
    {"is", "__is__"},
    {"is not", "__isnot__"},
    {"<<", "__lshift__"},
    {">>", "__rshift__"},
};

}  // namespace

Result<Value> Evaluator::evaluate(const Expr& e) {
  struct Deeper {
    int& depth;
    ~Deeper() { --depth; }
  } const deeper{depth_};
  if (++depth_ > kDeepestCall) return error("TS050", "expressions and calls are nested too deeply");
  switch (e.kind) {
    case Expr::Kind::name:
      return name(e);
    case Expr::Kind::attribute:
      return attribute(e);
    case Expr::Kind::call:
      return evaluate_call(e);
    case Expr::Kind::subscript:
      return subscript(e);
    case Expr::Kind::unary:
      return unary(e);
    case Expr::Kind::binary:
      return binary(e);
    case Expr::Kind::conditional: {
      BUDA_ASSIGN(bool holds, condition(e.children[0]));
      return evaluate(e.children[holds ? 1 : 2]);
    }
    case Expr::Kind::keyword:
      return error("TS041", cat("'", e.text, "=' stands outside of a call"));
    default:
      return literal(e);
  }
}

Result<Value> Evaluator::literal(const Expr& e) {
  if (e.kind == Expr::Kind::none) return Value(Nothing{});
  if (e.kind == Expr::Kind::boolean) return Value(e.integer != 0);
  if (e.kind == Expr::Kind::integer) return Value(e.integer);
  if (e.kind == Expr::Kind::real) return Value(e.real);
  if (e.kind == Expr::Kind::text) return Value(e.text);
  std::vector<Value> items;
  for (const Expr& child : e.children) {
    BUDA_ASSIGN(Value item, evaluate(child));
    items.push_back(std::move(item));
  }
  if (e.kind != Expr::Kind::dictionary) return e.kind == Expr::Kind::list ? list_of(std::move(items)) : tuple_of(std::move(items));
  auto out = std::make_shared<Mapping>();
  for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
    if (Value* there = out->find(items[i]))
      *there = std::move(items[i + 1]);
    else
      out->items.emplace_back(std::move(items[i]), std::move(items[i + 1]));
  }
  return Value(out);
}

Result<Value> Evaluator::name(const Expr& e) {
  if (frame_ != nullptr)
    if (auto it = frame_->names.find(e.text); it != frame_->names.end()) return it->second;
  if (is_root(e.text)) return Value(FullName{e.text});
  if (e.text == "inf") return Value(std::numeric_limits<double>::infinity());
  if (e.text == "nan") return Value(std::numeric_limits<double>::quiet_NaN());
  return error("TS041", cat("uses '", e.text, "', which nothing defines"));
}

Result<Value> Evaluator::attribute(const Expr& e) {
  BUDA_ASSIGN(Value of, evaluate(e.children[0]));
  if (const auto* full = of.as<FullName>()) {
    if (full->text == "CONSTANTS" && e.text.starts_with('c')) {
      auto i = parse_uint(std::string_view(e.text).substr(1));
      if (i && *i < loaded_.constants.size()) return loaded_.constants[*i];
      return error("TS041", cat("uses constant '", e.text, "', which the archive does not have"));
    }
    return Value(FullName{cat(full->text, '.', e.text)});
  }
  return field(of, e.text);
}

Result<Value> Evaluator::field(const Value& of, const std::string& name) {
  if (of.failed()) return Value(Failed{});
  if (const auto* tuple = of.as<SequenceRef>(); tuple != nullptr && (*tuple)->type != nullptr) {
    const auto& fields = (*tuple)->type->fields;
    auto it = std::find(fields.begin(), fields.end(), name);
    if (it != fields.end()) return (*tuple)->items[static_cast<std::size_t>(it - fields.begin())];
  }
  const auto* object = of.as<Object*>();
  if (object == nullptr) return error("TS041", cat("uses field '", name, "' of ", of.describe()));
  if (auto it = (*object)->fields.find(name); it != (*object)->fields.end()) return it->second;
  if (auto type = program_.classes.find((*object)->type); type != program_.classes.end())
    if (auto it = type->second.constants.find(name); it != type->second.constants.end()) return evaluate(it->second);
  return error("TS041", cat("uses field '", name, "', which '", (*object)->path, "' of class '", (*object)->type, "' does not have"));
}

Result<Value> Evaluator::subscript(const Expr& e) {
  BUDA_ASSIGN(Value of, evaluate(e.children[0]));
  BUDA_ASSIGN(Value at, evaluate(e.children[1]));
  if (of.failed() || at.failed()) return Value(Failed{});
  if ((of.is<Cell>() || of.is<ComplexRef>()) && at.is<std::int64_t>())
    return call_operator("torch.select", {{of, Value(std::int64_t{0}), at}, {}});
  return call_operator("torch.__getitem__", {{of, at}, {}});
}

Result<Value> Evaluator::unary(const Expr& e) {
  BUDA_ASSIGN(Value value, evaluate(e.children[0]));
  if (value.failed()) return value;
  if (e.text == "-") {
    if (const auto* i = value.as<std::int64_t>()) return Value(static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(*i)));
    if (const auto* d = value.as<double>()) return Value(-*d);
    return call_operator("torch.neg", {{value}, {}});
  }
  if (e.text == "+") return value;
  if (e.text == "~") return call_operator("torch.bitwise_not", {{value}, {}});
  BUDA_ASSIGN(bool holds, truth(value, "not"));
  return Value(!holds);
}

Result<Value> Evaluator::binary(const Expr& e) {
  if (e.text == "and" || e.text == "or") {
    BUDA_ASSIGN(bool holds, condition(e.children[0]));
    if (holds == (e.text == "or")) return Value(holds);
    BUDA_ASSIGN(bool second, condition(e.children[1]));
    return Value(second);
  }
  BUDA_ASSIGN(Value a, evaluate(e.children[0]));
  BUDA_ASSIGN(Value b, evaluate(e.children[1]));
  if (e.text == "in" || e.text == "not in") {
    BUDA_ASSIGN(Value in, call_operator("torch.__contains__", {{b, a}, {}}));
    if (e.text == "in" || !in.is<bool>()) return in;
    return Value(!*in.as<bool>());
  }
  for (const auto& [sign, op] : kSigns)
    if (sign == e.text) return call_operator(cat("torch.", op), {{std::move(a), std::move(b)}, {}});
  return error("TS041", cat("uses the sign '", e.text, "', which is not supported"));
}

// ---- calls

Result<Evaluator::Arguments> Evaluator::arguments_of(const Expr& call) {
  Arguments out;
  for (std::size_t i = 1; i < call.children.size(); ++i) {
    const Expr& child = call.children[i];
    if (child.kind == Expr::Kind::keyword) {
      BUDA_ASSIGN(Value value, evaluate(child.children[0]));
      out.named.emplace_back(child.text, std::move(value));
    } else {
      BUDA_ASSIGN(Value value, evaluate(child));
      out.given.push_back(std::move(value));
    }
  }
  return out;
}

Result<Value> Evaluator::evaluate_call(const Expr& e) {
  BUDA_TRY(spend());
  const Expr& callee = e.children[0];
  if (frame_ != nullptr && e.line != 0 && !frame_->defines_operator) frame_->place.line = e.line;
  if (callee.kind == Expr::Kind::name && frame_->names.count(callee.text) == 0 &&
      std::find(std::begin(kBuiltIns), std::end(kBuiltIns), callee.text) != std::end(kBuiltIns))
    return built_in(callee.text, e);
  const std::uint32_t line = frame_->defines_operator ? frame_->place.line : e.line;
  if (callee.kind == Expr::Kind::attribute) {
    BUDA_ASSIGN(Value of, evaluate(callee.children[0]));
    BUDA_ASSIGN(Arguments arguments, arguments_of(e));
    frame_->place.line = line;
    if (const auto* full = of.as<FullName>()) return call_named(cat(full->text, '.', callee.text), std::move(arguments));
    return call_method(of, callee.text, std::move(arguments));
  }
  BUDA_ASSIGN(Value of, evaluate(callee));
  BUDA_ASSIGN(Arguments arguments, arguments_of(e));
  frame_->place.line = line;
  if (const auto* full = of.as<FullName>()) return call_named(full->text, std::move(arguments));
  return call_method(of, "forward", std::move(arguments));
}

// Functions of the language. Types are not values here, so that they are looked at as they are written.
Result<Value> Evaluator::built_in(const std::string& name, const Expr& e) {
  const std::size_t count = e.children.size() - 1;
  if (name == "uninitialized") return Value(Nothing{});
  if ((name == "annotate" || name == "unchecked_cast") && count == 2) return evaluate(e.children[2]);
  if ((name == "getattr" || name == "hasattr") && count == 2 && e.children[2].kind == Expr::Kind::text) {
    BUDA_ASSIGN(Value of, evaluate(e.children[1]));
    if (name == "getattr") return field(of, e.children[2].text);
    const auto* object = of.as<Object*>();
    return Value(object != nullptr && (*object)->fields.count(e.children[2].text) != 0);
  }
  if (name == "isinstance" && count == 2) {
    BUDA_ASSIGN(Value of, evaluate(e.children[1]));
    return Value(is_instance(of, e.children[2]));
  }
  BUDA_ASSIGN(Arguments arguments, arguments_of(e));
  for (const Value& v : arguments.given)
    if (v.failed()) return Value(Failed{});
  if (name == "len" || name == "str") return call_operator(cat("torch.", name), std::move(arguments));
  const auto& given = arguments.given;
  Call call(state_, frame_->place, name, {});
  if (name == "range" && !given.empty() && given.size() <= 3) {
    Dims bounds;
    for (const Value& v : given) {
      BUDA_ASSIGN(auto bound, call.integer_of(v, "range"));
      bounds.push_back(bound);
    }
    if (bounds.size() == 1) bounds.insert(bounds.begin(), 0);
    if (bounds.size() == 2) bounds.push_back(1);
    std::vector<Value> items;
    if (bounds[2] == 0) return error("TS041", "a range has a step of 0");
    for (std::int64_t i = bounds[0]; bounds[2] > 0 ? i < bounds[1] : i > bounds[1];) {
      if (items.size() > kLongestRange) return error("TS050", cat("a range has more than ", kLongestRange, " numbers"));
      items.emplace_back(i);
      if (__builtin_add_overflow(i, bounds[2], &i)) break;
    }
    return list_of(std::move(items));
  }
  if (given.size() != 1) return error("TS041", cat("'", name, "' is called with ", given.size(), " arguments"));
  if (name == "bool") {
    BUDA_ASSIGN(bool holds, truth(given[0], name));
    return Value(holds);
  }
  return call_operator(name == "int" ? "torch.Int" : "torch.Float", std::move(arguments));
}

bool Evaluator::is_instance(const Value& value, const Expr& type) const {
  if (type.kind == Expr::Kind::tuple || type.kind == Expr::Kind::list)
    return std::any_of(type.children.begin(), type.children.end(), [&](const Expr& t) { return is_instance(value, t); });
  const std::string name = type.kind == Expr::Kind::subscript ? text_of(type.children[0]) : text_of(type);
  if (name == "Tensor") return value.is<Cell>() || value.is<ComplexRef>();
  if (name == "int") return value.is<std::int64_t>();
  if (name == "float") return value.is<double>();
  if (name == "bool") return value.is<bool>();
  if (name == "str") return value.is<std::string>();
  if (name == "None" || name == "NoneType") return value.none();
  if (name == "Dict") return value.is<MappingRef>();
  if (name == "Optional") return value.none() || is_instance(value, type.children[1]);
  if (const auto* list = value.as<SequenceRef>()) {
    if ((*list)->tuple != (name == "Tuple" || name == "tuple") && (*list)->type == nullptr) return false;
    if (name == "list" || name == "tuple" || name == "Tuple" || (*list)->items.empty()) return name != "" && name[0] != '_';
    return name == "List" && is_instance((*list)->items[0], type.children[1]);
  }
  const auto* object = value.as<Object*>();
  return object != nullptr && (*object)->type == name;
}

// ---- operators

void Evaluator::report_unsupported(const std::string& op) {
  const std::string_view name = std::string_view(op).substr(op.rfind('.') + 1);
  const std::string node = cat(frame_->place.module.empty() ? "" : cat(frame_->place.module, ' '), '(', frame_->place.text(), ')');
  state_.unsupported.add(op, cat("operator ", op), std::string(out_of_scope(name)), node);
}

Result<Value> Evaluator::call_operator(const std::string& op, Arguments arguments) {
  std::string_view name = op;
  for (std::string_view space : {"torch.", "ops.aten.", "ops.prim."})
    if (name.starts_with(space)) name.remove_prefix(space.size());
  if (name.starts_with("ops.torchvision.")) name.remove_prefix(4);
  // Of another library, as "ops.quantized.conv2d".
  const bool nested = name.find('.') != std::string_view::npos && find_importer(name) == nullptr;
  const bool moves = moves_parts(name, arguments.given);
  for (const Value& v : arguments.given)
    if (moves ? &v == &arguments.given[0] && v.failed() : contains_failure(v)) return Value(Failed{});
  for (const auto& [key, v] : arguments.named)
    if (contains_failure(v)) return Value(Failed{});
  if (nested) {
    report_unsupported(op);
    return Value(Failed{});
  }
  BUDA_ASSIGN(auto complex, call_complex(name, arguments));
  if (complex) return std::move(*complex);
  const OpImporter* importer = find_known_op(name, arguments.given);
  if (importer == nullptr) importer = find_importer(name);
  if (importer == nullptr) {
    const bool changes = name.ends_with('_') && !name.ends_with("__");
    if (const Function* definition = find_definition(changes ? name.substr(0, name.size() - 1) : name))
      return call_definition(*definition, name, std::move(arguments));
    report_unsupported(op);
    return Value(Failed{});
  }
  Call call(state_, frame_->place, op, std::move(arguments.given));
  return import_call(call, *importer, arguments);
}

// An operator that others define. One whose name ends with an underscore changes its first argument.
Result<Value> Evaluator::call_definition(const Function& definition, std::string_view name, Arguments arguments) {
  const bool changes = name.ends_with('_') && !arguments.given.empty();
  const Value target = changes ? arguments.given[0] : Value(Nothing{});
  const auto takes = [&](std::string_view parameter) {
    return std::any_of(definition.parameters.begin(), definition.parameters.end(), [&](const Parameter& p) { return p.name == parameter; });
  };
  std::erase_if(arguments.named, [&](const auto& n) { return n.second.none() || (n.first == "dtype" && !takes("dtype")); });
  for (const auto& argument : arguments.named)
    if (!takes(argument.first)) {
      state_.failure.add(error("TS040", cat("torch.", name, " has an argument '", argument.first, "', which is not supported")));
      return Value(Failed{});
    }
  BUDA_ASSIGN(Value made, invoke(definition, std::move(arguments), definition.name.substr(definition.name.find('.') + 1)));
  if (!changes || made.failed()) return made;
  return call_operator("torch.copy_", {{target, std::move(made)}, {}});
}

// Errors of an operator do not end the import: others may have some as well.
Result<Value> Evaluator::import_call(Call& call, const OpImporter& importer, Arguments& arguments) {
  const std::size_t first_new = state_.builder.graph().id_bound();
  Cell target;
  auto imported = [&]() -> Result<Value> {
    BUDA_TRY(call.bind(importer, std::move(arguments.named)));
    if (call.in_place() && call.count() > 0)
      if (const auto* cell = call.argument(0).as<Cell>()) target = *cell;
    BUDA_ASSIGN(Value result, importer.import(call));
    if (target == nullptr || result.failed()) return result;
    return change_in_place(call, target, std::move(result));
  }();
  finish_nodes(first_new, call);
  if (imported) return imported;
  const bool ends = imported.failure().empty() || imported.failure().diagnostics()[0].code == "TS052";
  if (ends) return imported;
  state_.failure.add(std::move(imported).failure());
  return Value(Failed{});
}

// The result has the type of what is changed.
Result<Value> Evaluator::change_in_place(Call& call, const Cell& target, Value result) {
  const Ref before = call.value_ref(Value(target));
  const auto* type = state_.builder.graph().type(before);
  Ref after = call.value_ref(result);
  if (type == nullptr || !after.valid()) return Value(Failed{});
  const graph::ValueType wanted = *type;
  after = call.cast(after, wanted.dtype);
  BUDA_ASSIGN(Shape shape, call.shape_of(after));
  if (shape != wanted.shape)
    return call.refuse(cat("changes a tensor of shape ", wanted.shape.text(), " in place to shape ", shape.text()));
  BUDA_TRY(call.write(target, after));
  return Value(target);
}

// Nodes get their origin: part of the model, operator and line. What the builder found wrong is said of the call.
void Evaluator::finish_nodes(std::size_t first_new, const Call& call) {
  auto& graph = state_.builder.graph();
  for (std::size_t i = first_new; i < graph.id_bound(); ++i) {
    graph::NodeId id(static_cast<graph::NodeId::rep>(i));
    if (!graph.contains(id) || !graph.node(id).origins.empty()) continue;
    const Place& place = call.place();
    graph.node(id).origins = {
        {state_.archive->file, cat(place.module.empty() ? "" : cat(place.module, ' '), call.op(), " (", place.text(), ')')}};
  }
  for (const Diagnostic& found : frontend::new_errors(state_.builder, state_.builder_errors)) {
    Diagnostic d = call.refuse(found.message);
    d.code = found.code;
    d.hint = found.hint;
    d.notes = found.notes;
    state_.failure.add(std::move(d));
  }
}

}  // namespace buda::torchscript
