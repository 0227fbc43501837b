// SPDX-License-Identifier: Apache-2.0
// Operators on lists, dictionaries and texts.
#include "call.hpp"
#include "known_ops.hpp"

#include <buda/base/text.hpp>

#include <algorithm>

namespace buda::torchscript {
namespace {

constexpr std::size_t kLongest = 1'000'000;

Result<SequenceRef> list_argument(Call& n) {
  if (const auto* list = n["list"].as<SequenceRef>()) return *list;
  return n.refuse(wrong_argument("list", n["list"], "a list"));
}

Result<std::size_t> place_in(Call& n, const Sequence& list, const Value& index) {
  BUDA_ASSIGN(auto i, n.integer_of(index, "index"));
  const auto size = static_cast<std::int64_t>(list.items.size());
  if (i < -size || i >= size) return n.refuse(cat("index ", i, " is outside of a list of ", size));
  return static_cast<std::size_t>(i < 0 ? i + size : i);
}

Result<Value> collection_length(Call& n) {
  const Value& v = n["list"];
  if (const auto* map = v.as<MappingRef>()) return Value(static_cast<std::int64_t>((*map)->items.size()));
  if (const auto* text = v.as<std::string>()) return Value(static_cast<std::int64_t>(text->size()));
  BUDA_ASSIGN(auto list, list_argument(n));
  return Value(static_cast<std::int64_t>(list->items.size()));
}

Result<Value> collection_item(Call& n) {
  if (const auto* map = n["list"].as<MappingRef>()) {
    if (Value* found = (*map)->find(n["index"])) return *found;
    return n.refuse(cat("the dictionary has no ", n["index"].describe()));
  }
  BUDA_ASSIGN(auto list, list_argument(n));
  BUDA_ASSIGN(auto i, place_in(n, *list, n["index"]));
  return list->items[i];
}

Result<Value> collection_get(Call& n) {
  const auto* map = n["list"].as<MappingRef>();
  if (map == nullptr) return n.refuse(wrong_argument("list", n["list"], "a dictionary"));
  if (Value* found = (*map)->find(n["index"])) return *found;
  return n["standard"];
}

Result<Value> collection_set(Call& n) {
  if (const auto* map = n["list"].as<MappingRef>()) {
    if (Value* found = (*map)->find(n["index"]))
      *found = n["value"];
    else
      (*map)->items.emplace_back(n["index"], n["value"]);
    return n["list"];
  }
  BUDA_ASSIGN(auto list, list_argument(n));
  BUDA_ASSIGN(auto i, place_in(n, *list, n["index"]));
  list->items[i] = n["value"];
  return n["list"];
}

Result<Value> collection_append(Call& n) {
  BUDA_ASSIGN(auto list, list_argument(n));
  if (list->items.size() > kLongest) return n.refuse(cat("makes a list longer than ", kLongest));
  list->items.push_back(n["value"]);
  return n["list"];
}

Result<Value> collection_extend(Call& n) {
  BUDA_ASSIGN(auto list, list_argument(n));
  const auto* more = n["value"].as<SequenceRef>();
  if (more == nullptr) return n.refuse(wrong_argument("value", n["value"], "a list"));
  if (list->items.size() + (*more)->items.size() > kLongest) return n.refuse(cat("makes a list longer than ", kLongest));
  const std::vector<Value> copy = (*more)->items;
  list->items.insert(list->items.end(), copy.begin(), copy.end());
  return n["list"];
}

Result<Value> collection_insert(Call& n) {
  BUDA_ASSIGN(auto list, list_argument(n));
  BUDA_ASSIGN(auto i, n.integer("index"));
  const auto size = static_cast<std::int64_t>(list->items.size());
  if (size > static_cast<std::int64_t>(kLongest)) return n.refuse(cat("makes a list longer than ", kLongest));
  if (i < 0) i += size;
  list->items.insert(list->items.begin() + std::clamp<std::int64_t>(i, 0, size), n["value"]);
  return Value(Nothing{});
}

Result<Value> collection_pop(Call& n) {
  BUDA_ASSIGN(auto list, list_argument(n));
  const Value last = std::int64_t{-1};
  BUDA_ASSIGN(auto i, place_in(n, *list, n.has("index") ? n["index"] : last));
  Value out = list->items[i];
  list->items.erase(list->items.begin() + static_cast<std::ptrdiff_t>(i));
  return out;
}

Result<Value> collection_copy(Call& n) {
  if (const auto* map = n["list"].as<MappingRef>()) return Value(std::make_shared<Mapping>(**map));
  BUDA_ASSIGN(auto list, list_argument(n));
  return list_of(list->items);
}

Result<Value> collection_reverse(Call& n) {
  BUDA_ASSIGN(auto list, list_argument(n));
  std::reverse(list->items.begin(), list->items.end());
  return Value(Nothing{});
}

Result<Value> collection_clear(Call& n) {
  BUDA_ASSIGN(auto list, list_argument(n));
  list->items.clear();
  return Value(Nothing{});
}

Result<Value> collection_dict(Call& n) {
  auto out = std::make_shared<Mapping>();
  if (const auto* map = n["list"].as<MappingRef>()) return Value(std::make_shared<Mapping>(**map));
  if (!n.has("list")) return Value(out);
  BUDA_ASSIGN(auto list, list_argument(n));
  for (const Value& item : list->items) {
    const auto* pair = item.as<SequenceRef>();
    if (pair == nullptr || (*pair)->items.size() != 2) return n.refuse("makes a dictionary of what are no pairs");
    out->items.emplace_back((*pair)->items[0], (*pair)->items[1]);
  }
  return Value(out);
}

Result<Value> collection_parts(Call& n) {
  const auto* map = n["list"].as<MappingRef>();
  if (map == nullptr) return n.refuse(wrong_argument("list", n["list"], "a dictionary"));
  std::vector<Value> out;
  for (const auto& [key, value] : (*map)->items)
    out.push_back(n.importer().name == "keys" ? key : n.importer().name == "values" ? value : tuple_of({key, value}));
  return list_of(std::move(out));
}

Result<Value> collection_contains(Call& n) {
  if (const auto* map = n["list"].as<MappingRef>()) return Value((*map)->find(n["value"]) != nullptr);
  if (const auto* text = n["list"].as<std::string>(), *part = n["value"].as<std::string>(); text != nullptr && part != nullptr)
    return Value(text->find(*part) != std::string::npos);
  BUDA_ASSIGN(auto list, list_argument(n));
  for (const Value& item : list->items)
    if (same(item, n["value"]).value_or(false)) return Value(true);
  return Value(false);
}

Result<Value> collection_slice(Call& n) {
  BUDA_ASSIGN(auto list, list_argument(n));
  const auto size = static_cast<std::int64_t>(list->items.size());
  BUDA_ASSIGN(auto start, n.integer_or("start", 0));
  BUDA_ASSIGN(auto end, n.integer_or("end", size));
  BUDA_ASSIGN(auto step, n.integer_or("step", 1));
  if (step < 1) return n.refuse(cat("its step is ", step, "; 1 and more are supported"));
  start = std::clamp<std::int64_t>(start < 0 ? start + size : start, 0, size);
  end = std::clamp<std::int64_t>(end < 0 ? end + size : end, 0, size);
  std::vector<Value> out;
  for (std::int64_t i = start; i < end; i += std::min(step, size + 1)) out.push_back(list->items[static_cast<std::size_t>(i)]);
  return (*n["list"].as<SequenceRef>())->tuple ? tuple_of(std::move(out)) : list_of(std::move(out));
}

Result<Value> collection_add(Call& n) {
  if (const auto* a = n["list"].as<std::string>(), *b = n["value"].as<std::string>(); a != nullptr && b != nullptr)
    return Value(cat(*a, *b));
  BUDA_ASSIGN(auto list, list_argument(n));
  const auto* more = n["value"].as<SequenceRef>();
  if (more == nullptr) return n.refuse(wrong_argument("value", n["value"], "a list"));
  std::vector<Value> out = list->items;
  if (out.size() + (*more)->items.size() > kLongest) return n.refuse(cat("makes a list longer than ", kLongest));
  out.insert(out.end(), (*more)->items.begin(), (*more)->items.end());
  return list->tuple ? tuple_of(std::move(out)) : list_of(std::move(out));
}

Result<Value> collection_repeat(Call& n) {
  BUDA_ASSIGN(auto list, list_argument(n));
  BUDA_ASSIGN(auto times, n.integer("value"));
  std::vector<Value> out;
  if (times > 0 && list->items.size() > kLongest / static_cast<std::size_t>(times))
    return n.refuse(cat("makes a list longer than ", kLongest));
  for (std::int64_t i = 0; i < times; ++i) out.insert(out.end(), list->items.begin(), list->items.end());
  return list_of(std::move(out));
}

Result<Value> collection_equal(Call& n) {
  auto equal = same(n["list"], n["value"]);
  if (!equal) return n.refuse("compares values that hold tensors");
  return Value(*equal == (n.importer().name == "eq"));
}

Result<Value> collection_sum(Call& n) {
  BUDA_ASSIGN(auto list, list_argument(n));
  std::uint64_t whole = 0;
  double real = 0;
  bool reals = false;
  for (const Value& item : list->items) {
    reals = reals || item.is<double>();
    BUDA_ASSIGN(double number, n.real_of(item, "list"));
    real += number;
    if (!item.is<double>()) {
      BUDA_ASSIGN(auto integer, n.integer_of(item, "list"));
      whole += static_cast<std::uint64_t>(integer);
    }
  }
  return reals ? Value(real) : Value(static_cast<std::int64_t>(whole));
}

Result<Value> collection_truth(Call& n) {
  BUDA_ASSIGN(auto list, list_argument(n));
  const bool all = n.importer().name == "all";
  for (const Value& item : list->items) {
    BUDA_ASSIGN(double number, n.real_of(item, "list"));
    if ((number != 0) != all) return Value(!all);
  }
  return Value(all);
}

// "{} and {}" with values in place of the brackets: texts of messages.
Result<Value> collection_format(Call& n) {
  const auto* text = n["list"].as<std::string>();
  if (text == nullptr) return n.refuse(wrong_argument("list", n["list"], "a text"));
  std::string out;
  std::size_t next = 1;
  for (std::size_t i = 0; i < text->size(); ++i) {
    const bool place = text->compare(i, 2, "{}") == 0 && next < n.count();
    if (!place) {
      out += (*text)[i];
      continue;
    }
    const Value& value = n.argument(next++);
    const auto* word = value.as<std::string>();
    const auto* number = value.as<std::int64_t>();
    out += word != nullptr ? *word : number != nullptr ? cat(*number) : value.describe();
    ++i;
    if (out.size() > kLongest) return n.refuse("makes a very long text");
  }
  return Value(std::move(out));
}

Result<Value> collection_text(Call& n) {
  const Value& v = n["list"];
  if (const auto* text = v.as<std::string>()) return Value(*text);
  if (const auto* i = v.as<std::int64_t>()) return Value(cat(*i));
  if (const auto* d = v.as<double>()) return Value(to_text(*d));
  return Value(v.describe());
}

Result<Value> collection_find(Call& n) {
  const auto *text = n["list"].as<std::string>(), *part = n["value"].as<std::string>();
  if (text == nullptr || part == nullptr) return n.refuse("looks for what is no text");
  const std::string_view name = n.importer().name;
  if (name == "startswith") return Value(text->starts_with(*part));
  if (name == "endswith") return Value(text->ends_with(*part));
  auto at = text->find(*part);
  return Value(at == std::string::npos ? std::int64_t{-1} : static_cast<std::int64_t>(at));
}

constexpr OpImporter kCollectionOps[] = {
    {"__contains__", "list value", collection_contains},
    {"__getitem__", "list index", collection_item},
    {"_set_item", "list index value", collection_set},
    {"add", "list value", collection_add},
    {"add_", "list value", collection_extend},
    {"all", "list", collection_truth},
    {"any", "list", collection_truth},
    {"append", "list value", collection_append},
    {"clear", "list", collection_clear},
    {"copy", "list", collection_copy},
    {"dict", "list", collection_dict},
    {"endswith", "list value", collection_find},
    {"eq", "list value", collection_equal, "any"},
    {"extend", "list value", collection_extend},
    {"find", "list value start end", collection_find},
    {"format", "list a b c d e f g h i j", collection_format},
    {"get", "list index standard", collection_get},
    {"insert", "list index value", collection_insert},
    {"items", "list", collection_parts},
    {"keys", "list", collection_parts},
    {"len", "list", collection_length},
    {"list", "list", collection_copy},
    {"mul", "list value", collection_repeat},
    {"ne", "list value", collection_equal, "any"},
    {"pop", "list index", collection_pop},
    {"reverse", "list", collection_reverse},
    {"slice", "list start end step", collection_slice},
    {"startswith", "list value start end", collection_find},
    {"str", "list", collection_text, "any"},
    {"sum", "list", collection_sum},
    {"values", "list", collection_parts},
};

}  // namespace

std::span<const OpImporter> collection_ops() { return kCollectionOps; }

}  // namespace buda::torchscript
