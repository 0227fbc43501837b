// SPDX-License-Identifier: Apache-2.0
// Values of a program.
#include "value.hpp"

#include <buda/base/text.hpp>

namespace buda::torchscript {

std::string Value::describe() const {
  if (none()) return "None";
  if (const auto* v = as<bool>()) return *v ? "True" : "False";
  if (const auto* v = as<std::int64_t>()) return cat("the integer ", *v);
  if (const auto* v = as<double>()) return cat("the number ", *v);
  if (const auto* v = as<std::string>()) return cat("the text '", *v, '\'');
  if (is<Cell>()) return "a tensor";
  if (is<ComplexRef>()) return "a tensor of complex numbers";
  if (const auto* v = as<SequenceRef>()) return cat((*v)->tuple ? "a tuple of " : "a list of ", (*v)->items.size());
  if (is<MappingRef>()) return "a dictionary";
  if (const auto* v = as<Object*>()) return cat("an object of class ", (*v)->type);
  if (const auto* v = as<FullName>()) return cat('\'', v->text, '\'');
  return "a value that could not be computed";
}

Value* Mapping::find(const Value& key) {
  for (auto& [k, v] : items)
    if (same(k, key).value_or(false)) return &v;
  return nullptr;
}

Value list_of(std::vector<Value> items) { return std::make_shared<Sequence>(Sequence{false, std::move(items)}); }
Value tuple_of(std::vector<Value> items) { return std::make_shared<Sequence>(Sequence{true, std::move(items)}); }

Value complex_of(Value real, Value imaginary) {
  if (real.failed() || imaginary.failed()) return Failed{};
  return std::make_shared<ComplexPair>(ComplexPair{std::move(real), std::move(imaginary)});
}

Value integers_value(const std::vector<std::int64_t>& numbers) { return list_of({numbers.begin(), numbers.end()}); }

namespace {

std::optional<double> number(const Value& v) {
  if (const auto* b = v.as<bool>()) return *b ? 1 : 0;
  if (const auto* i = v.as<std::int64_t>()) return static_cast<double>(*i);
  if (const auto* d = v.as<double>()) return *d;
  return std::nullopt;
}

constexpr int kDeepestValue = 100;  // lists within lists
// Values looked at within one: lists may share others, so that a few of them can stand for any number of values.
constexpr int kMaxVisits = 100000;

bool any_within(const Value& value, bool (*is_it)(const Value&), int depth, int& visits) {
  if (is_it(value)) return true;
  if (depth > kDeepestValue || ++visits > kMaxVisits) return false;
  if (const auto* list = value.as<SequenceRef>())
    for (const Value& item : (*list)->items)
      if (any_within(item, is_it, depth + 1, visits)) return true;
  if (const auto* map = value.as<MappingRef>())
    for (const auto& [k, v] : (*map)->items)
      if (any_within(v, is_it, depth + 1, visits)) return true;
  return false;
}

std::optional<bool> same_within(const Value& a, const Value& b, int depth, int& visits) {
  if (a.failed() || b.failed() || depth > kDeepestValue || ++visits > kMaxVisits) return std::nullopt;
  if (a.none() || b.none()) return a.none() && b.none();
  if (const auto* x = a.as<std::int64_t>(), *y = b.as<std::int64_t>(); x != nullptr && y != nullptr) return *x == *y;
  if (auto x = number(a), y = number(b); x && y) return *x == *y;
  if (const auto* x = a.as<std::string>(), *y = b.as<std::string>(); x != nullptr && y != nullptr) return *x == *y;
  if (const auto* x = a.as<Object*>(), *y = b.as<Object*>(); x != nullptr && y != nullptr) return *x == *y;
  if (const auto* x = a.as<Cell>(), *y = b.as<Cell>(); x != nullptr && y != nullptr) {
    if (*x == *y) return true;
    return std::nullopt;
  }
  const auto *x = a.as<SequenceRef>(), *y = b.as<SequenceRef>();
  if (x == nullptr || y == nullptr) return false;
  if ((*x)->items.size() != (*y)->items.size()) return false;
  for (std::size_t i = 0; i < (*x)->items.size(); ++i) {
    auto item = same_within((*x)->items[i], (*y)->items[i], depth + 1, visits);
    if (!item || !*item) return item;
  }
  return true;
}

}  // namespace

std::optional<bool> same(const Value& a, const Value& b) {
  int visits = 0;
  return same_within(a, b, 0, visits);
}

bool contains_tensor(const Value& value) {
  int visits = 0;
  return any_within(
      value, [](const Value& v) { return v.is<Cell>() || v.is<ComplexRef>(); }, 0, visits);
}

bool contains_complex(const Value& value) {
  int visits = 0;
  return any_within(
      value, [](const Value& v) { return v.is<ComplexRef>(); }, 0, visits);
}

bool contains_failure(const Value& value) {
  int visits = 0;
  return any_within(
      value, [](const Value& v) { return v.failed(); }, 0, visits);
}

TensorCell& TensorCell::root() {
  TensorCell* at = this;
  while (at->base != nullptr) at = at->base.get();
  return *at;
}

Cell new_cell(Operand value) {
  auto cell = std::make_shared<TensorCell>();
  cell->value = std::move(value);
  return cell;
}

}  // namespace buda::torchscript
