// SPDX-License-Identifier: Apache-2.0
// Arithmetic on numbers, and what is asked of values of any kind.
#include "known_ops.hpp"

#include "call.hpp"
#include "load.hpp"

#include <buda/base/text.hpp>

#include <algorithm>
#include <cmath>
#include <map>

namespace buda::torchscript {
namespace {

bool is_real(const Value& v) { return v.is<double>(); }

// ---- numbers

struct Pair {
  bool real = false;
  std::int64_t a = 0, b = 0;
  double x = 0, y = 0;
};

Result<Pair> numbers_of(Call& n) {
  Pair out;
  const Value &a = n["a"], &b = n["b"];
  out.real = is_real(a) || is_real(b);
  if (out.real) {
    BUDA_ASSIGN(out.x, n.real_of(a, "a"));
    BUDA_ASSIGN(out.y, n.real_of(b, "b"));
    return out;
  }
  BUDA_ASSIGN(out.a, n.integer_of(a, "a"));
  BUDA_ASSIGN(out.b, n.integer_of(b, "b"));
  out.x = static_cast<double>(out.a);
  out.y = static_cast<double>(out.b);
  return out;
}

// Integers are those of 64 bits, which start again at the other end.
std::int64_t wrapped(std::uint64_t v) { return static_cast<std::int64_t>(v); }

Result<Value> known_sum(Call& n) {
  if (const auto* a = n["a"].as<std::string>(), *b = n["b"].as<std::string>(); a != nullptr && b != nullptr) return Value(cat(*a, *b));
  BUDA_ASSIGN(Pair p, numbers_of(n));
  BUDA_ASSIGN(auto alpha, n.integer_or("alpha", 1));
  if (n.importer().op == "sub") alpha = -alpha;
  if (p.real) return Value(p.x + p.y * static_cast<double>(alpha));
  return Value(wrapped(static_cast<std::uint64_t>(p.a) + static_cast<std::uint64_t>(p.b) * static_cast<std::uint64_t>(alpha)));
}

Result<Value> known_product(Call& n) {
  BUDA_ASSIGN(Pair p, numbers_of(n));
  if (p.real) return Value(p.x * p.y);
  return Value(wrapped(static_cast<std::uint64_t>(p.a) * static_cast<std::uint64_t>(p.b)));
}

Result<Value> known_quotient(Call& n) {
  BUDA_ASSIGN(Pair p, numbers_of(n));
  if (p.y == 0) return n.refuse("divides by 0");
  const std::string_view name = n.importer().name;
  if (name == "div") return Value(p.x / p.y);
  const bool rest = name == "remainder";
  if (p.real) return Value(rest ? p.x - p.y * std::floor(p.x / p.y) : std::floor(p.x / p.y));
  if (p.b == -1) return Value(rest ? 0 : wrapped(0 - static_cast<std::uint64_t>(p.a)));
  std::int64_t quotient = p.a / p.b, left = p.a % p.b;
  if (left != 0 && (left < 0) != (p.b < 0)) {
    --quotient;
    left += p.b;
  }
  return Value(rest ? left : quotient);
}

Result<Value> known_power(Call& n) {
  BUDA_ASSIGN(Pair p, numbers_of(n));
  if (p.real || p.b < 0) return Value(std::pow(p.x, p.y));
  std::uint64_t out = 1, base = static_cast<std::uint64_t>(p.a);
  for (auto left = static_cast<std::uint64_t>(p.b); left != 0; left >>= 1, base *= base)
    if ((left & 1) != 0) out *= base;
  return Value(wrapped(out));
}

Result<Value> known_extreme(Call& n) {
  const bool largest = n.importer().name == "max";
  if (const auto* list = n["a"].as<SequenceRef>()) {
    if ((*list)->items.empty()) return n.refuse("is called for an empty list");
    Value best = (*list)->items[0];
    for (const Value& v : (*list)->items) {
      BUDA_ASSIGN(double x, n.real_of(v, "a"));
      BUDA_ASSIGN(double y, n.real_of(best, "a"));
      if (largest ? x > y : x < y) best = v;
    }
    return best;
  }
  BUDA_ASSIGN(Pair p, numbers_of(n));
  if (p.real) return Value(largest ? std::max(p.x, p.y) : std::min(p.x, p.y));
  return Value(largest ? std::max(p.a, p.b) : std::min(p.a, p.b));
}

Result<Value> known_order(Call& n) {
  const std::string_view name = n.importer().name;
  if (const auto* a = n["a"].as<std::string>(), *b = n["b"].as<std::string>(); a != nullptr && b != nullptr)
    return Value(name == "lt" ? *a < *b : name == "le" ? *a <= *b : name == "gt" ? *a > *b : *a >= *b);
  BUDA_ASSIGN(Pair p, numbers_of(n));
  auto holds = [&](auto a, auto b) { return name == "lt" ? a < b : name == "le" ? a <= b : name == "gt" ? a > b : a >= b; };
  return Value(p.real ? holds(p.x, p.y) : holds(p.a, p.b));
}

Result<Value> known_bits(Call& n) {
  BUDA_ASSIGN(Pair p, numbers_of(n));
  const std::string_view name = n.importer().name;
  const std::int64_t out = name == "__and__" ? (p.a & p.b) : name == "__or__" ? (p.a | p.b) : (p.a ^ p.b);
  if (n["a"].is<bool>() && n["b"].is<bool>()) return Value(out != 0);
  return Value(out);
}

// How the compiler of scripts writes range(start, stop, step): as often as this, and the number of each time.
Result<Value> known_range_length(Call& n) {
  BUDA_ASSIGN(auto start, n.integer("start"));
  BUDA_ASSIGN(auto stop, n.integer("stop"));
  BUDA_ASSIGN(auto step, n.integer("step"));
  if (step == 0) return n.refuse("has a step of 0");
  if (step > 0 ? start >= stop : start <= stop) return Value(std::int64_t{0});
  const auto distance = step > 0 ? static_cast<std::uint64_t>(stop) - static_cast<std::uint64_t>(start)
                                 : static_cast<std::uint64_t>(start) - static_cast<std::uint64_t>(stop);
  const auto stride = step > 0 ? static_cast<std::uint64_t>(step) : 0 - static_cast<std::uint64_t>(step);
  return Value(wrapped((distance - 1) / stride + 1));
}

Result<Value> known_range_number(Call& n) {
  BUDA_ASSIGN(auto index, n.integer("index"));
  BUDA_ASSIGN(auto start, n.integer("start"));
  BUDA_ASSIGN(auto step, n.integer("step"));
  return Value(wrapped(static_cast<std::uint64_t>(start) + static_cast<std::uint64_t>(index) * static_cast<std::uint64_t>(step)));
}

Result<Value> known_not(Call& n) {
  BUDA_ASSIGN(auto i, n.integer("a"));
  return Value(i == 0);
}

Result<Value> known_function(Call& n) {
  const std::string_view name = n.importer().name;
  if (const auto* i = n["a"].as<std::int64_t>(); i != nullptr && name != "sqrt" && name != "log" && name != "exp") {
    if (name == "neg") return Value(wrapped(0 - static_cast<std::uint64_t>(*i)));
    return Value(name == "abs" && *i < 0 ? wrapped(0 - static_cast<std::uint64_t>(*i)) : *i);
  }
  BUDA_ASSIGN(double x, n.real_of(n["a"], "a"));
  if (name == "neg") return Value(-x);
  if (name == "abs") return Value(std::fabs(x));
  if (name == "sqrt") return Value(std::sqrt(x));
  if (name == "log") return Value(std::log(x));
  if (name == "exp") return Value(std::exp(x));
  const double whole = name == "floor" ? std::floor(x) : name == "ceil" ? std::ceil(x) : std::nearbyint(x);
  if (name == "round") return Value(whole);
  if (!(std::fabs(whole) < 9e18)) return n.refuse(cat("rounds ", x, ", which no integer is near"));
  return Value(static_cast<std::int64_t>(whole));
}

constexpr OpImporter kNumberOps[] = {
    {"__and__", "a b", known_bits},
    {"__derive_index", "index start step", known_range_number},
    {"__not__", "a", known_not},
    {"__or__", "a b", known_bits},
    {"__range_length", "start stop step", known_range_length},
    {"__xor__", "a b", known_bits},
    {"abs", "a", known_function},
    {"add", "a b alpha", known_sum, "add"},
    {"ceil", "a", known_function},
    {"div", "a b", known_quotient},
    {"exp", "a", known_function},
    {"floor", "a", known_function},
    {"floordiv", "a b", known_quotient},
    {"ge", "a b", known_order},
    {"gt", "a b", known_order},
    {"le", "a b", known_order},
    {"log", "a", known_function},
    {"lt", "a b", known_order},
    {"max", "a b", known_extreme},
    {"min", "a b", known_extreme},
    {"mul", "a b", known_product},
    {"neg", "a", known_function},
    {"pow", "a b", known_power},
    {"remainder", "a b", known_quotient},
    {"round", "a", known_function},
    {"sqrt", "a", known_function},
    {"sub", "a b alpha", known_sum, "sub"},
};

// ---- values of any kind

Result<Value> language_is(Call& n) {
  const Value &a = n["a"], &b = n["b"];
  bool is = false;
  if (a.none() || b.none()) {
    is = a.none() && b.none();
  } else if (const auto* x = a.as<Cell>(), *y = b.as<Cell>(); x != nullptr && y != nullptr) {
    is = *x == *y;
  } else {
    is = same(a, b).value_or(false);
  }
  return Value(is == (n.importer().name == "__is__"));
}

Result<Value> language_same(Call& n) { return n["value"]; }

Result<Value> language_integer(Call& n) {
  const Value& value = n["a"];
  if (const auto* text = value.as<std::string>()) {
    if (auto i = parse_int(*text)) return Value(*i);
    return n.refuse(cat("makes an integer of the text '", *text, '\''));
  }
  if (const auto* d = value.as<double>()) {
    if (!(std::fabs(*d) < 9e18)) return n.refuse(cat("makes an integer of ", *d));
    return Value(static_cast<std::int64_t>(*d));
  }
  BUDA_ASSIGN(auto i, n.integer("a"));
  return Value(i);
}

Result<Value> language_real(Call& n) {
  if (const auto* text = n["a"].as<std::string>()) {
    std::string plain = *text == "-inf" ? "-inf" : *text;
    if (auto d = parse_double(plain)) return Value(*d);
    return n.refuse(cat("makes a number of the text '", *text, '\''));
  }
  BUDA_ASSIGN(auto d, n.real_or("a", 0));
  return Value(d);
}

Result<Value> language_boolean(Call& n) {
  BUDA_ASSIGN(auto d, n.real_or("a", 0));
  return Value(d != 0);
}

// The number that a tensor of one element holds.
Result<Value> language_item(Call& n) {
  if (!n.is_tensor("a")) return n["a"];
  BUDA_ASSIGN(auto dtype, n.dtype("a"));
  if (is_float(dtype)) return language_real(n);
  if (dtype == DType::boolean) return language_boolean(n);
  return language_integer(n);
}

Result<Value> language_raise(Call& n) {
  const auto* text = n["message"].as<std::string>();
  Diagnostic d = n.refuse(cat("the program ends with an error of its own: ", text == nullptr ? n["message"].describe() : *text));
  d.code = "TS052";
  d.hint = "the model may take inputs of other shapes only: --input-shape NAME=SIZES";
  return d;
}

// For definitions of operators (definitions.hpp), whose place has their name.
Result<Value> language_refuse(Call& n) {
  const auto* text = n["message"].as<std::string>();
  Diagnostic d = n.state().archive->error(
      "TS040", cat(n.place().text(), " (", n.place().module, "): ", text == nullptr ? "this" : *text, " is not supported"));
  d.node = n.place().module;
  return d;
}

Result<Value> language_nothing(Call&) { return Value(Nothing{}); }
Result<Value> language_no(Call&) { return Value(false); }
Result<Value> language_device(Call&) { return Value(std::string("cpu")); }

constexpr OpImporter kLanguageOps[] = {
    {"Bool", "a", language_boolean},
    {"Float", "a", language_real},
    {"FloatImplicit", "a", language_real},
    {"Int", "a", language_integer},
    {"IntImplicit", "a", language_integer},
    {"RaiseException", "message class", language_raise},
    {"Scalar", "a", language_item},
    {"ScalarImplicit", "a", language_item},
    {"__is__", "a b", language_is},
    {"__isnot__", "a b", language_is},
    {"_refuse", "message", language_refuse},
    {"cuda", "a", language_same},
    {"device", "a b", language_device},
    {"is_autocast_cpu_enabled", "", language_no},
    {"is_autocast_enabled", "", language_no},
    {"is_cuda", "a", language_no},
    {"is_grad_enabled", "", language_no},
    {"is_mkldnn", "a", language_no},
    {"is_nested", "a", language_no},
    {"is_quantized", "a", language_no},
    {"is_scripting", "", language_no},
    {"is_sparse", "a", language_no},
    {"item", "a", language_item},
    {"requires_grad", "a", language_no},
    {"set_grad_enabled", "value", language_nothing},
    {"unchecked_unwrap_optional", "value", language_same},
    {"warn", "message stacklevel", language_nothing},
};

const OpImporter* find_in(const std::map<std::string_view, const OpImporter*>& table, std::string_view name) {
  auto it = table.find(name);
  return it == table.end() ? nullptr : it->second;
}

std::map<std::string_view, const OpImporter*>* index_of(std::span<const OpImporter> ops) {
  auto* out = new std::map<std::string_view, const OpImporter*>;
  for (const OpImporter& op : ops) out->emplace(op.name, &op);
  return out;
}

}  // namespace

std::span<const OpImporter> number_ops() { return kNumberOps; }
std::span<const OpImporter> language_ops() { return kLanguageOps; }

const OpImporter* find_known_op(std::string_view name, const std::vector<Value>& arguments) {
  static const auto *numbers = index_of(number_ops()), *collections = index_of(collection_ops()), *language = index_of(language_ops());
  if (const OpImporter* op = find_in(*language, name)) return op;
  if (arguments.empty() || !arguments[0].is<Cell>())
    if (const OpImporter* op = find_in(*collections, name)) {
      // Of these some are operators on numbers, too.
      const bool collection =
          arguments.empty() || arguments[0].is<SequenceRef>() || arguments[0].is<MappingRef>() || arguments[0].is<std::string>();
      if (collection || op->op == "any") return op;
    }
  if (arguments.empty()) return nullptr;
  for (const Value& v : arguments)
    if (contains_tensor(v)) return nullptr;
  return find_in(*numbers, name);
}

}  // namespace buda::torchscript
