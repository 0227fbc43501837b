// SPDX-License-Identifier: Apache-2.0
// Attributes as text, their comparison, and what their types are made of.
#include <buda/graph/attribute.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/values/fused_body.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

namespace buda::graph {
namespace {

bool same_real(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

template <class T>
std::string value_text(const T& v) {
  if constexpr (std::is_same_v<T, SharedBody>) {
    std::vector<std::string> steps;
    for (const FusedSubOp& step : v->steps) steps.push_back(text(step));
    return value_text(steps);
  } else if constexpr (std::is_same_v<T, std::string>) {
    return cat('"', v, '"');
  } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
    std::vector<std::string> quoted;
    for (const auto& s : v) quoted.push_back(cat('"', s, '"'));
    return list_text(quoted);
  } else if constexpr (requires { v.begin(); }) {
    return list_text(v);
  } else {
    return cat(v);
  }
}

}  // namespace

SharedBody::SharedBody(FusedBody body) : body_(std::make_shared<const FusedBody>(std::move(body))) {}

bool operator==(const SharedBody& a, const SharedBody& b) { return a.body_ == b.body_ || *a == *b; }

Attr::Attr() = default;
Attr::Attr(std::string value) : AttrAlternatives(std::move(value)) {}
Attr::Attr(const char* value) : AttrAlternatives(std::string(value)) {}
Attr::Attr(std::vector<std::int64_t> value) : AttrAlternatives(std::move(value)) {}
Attr::Attr(std::vector<double> value) : AttrAlternatives(std::move(value)) {}
Attr::Attr(std::vector<std::string> value) : AttrAlternatives(std::move(value)) {}
Attr::Attr(SharedBody value) : AttrAlternatives(std::move(value)) {}
Attr::Attr(std::in_place_t, bool value) : AttrAlternatives(value) {}
Attr::Attr(std::in_place_t, std::int64_t value) : AttrAlternatives(value) {}
Attr::Attr(std::in_place_t, double value) : AttrAlternatives(value) {}
Attr::Attr(const Attr&) = default;
Attr::Attr(Attr&&) noexcept = default;
Attr& Attr::operator=(const Attr&) = default;
Attr& Attr::operator=(Attr&&) noexcept = default;
Attr::~Attr() = default;

bool operator==(const Attr& a, const Attr& b) { return static_cast<const AttrAlternatives&>(a) == static_cast<const AttrAlternatives&>(b); }

AttrMap::AttrMap() = default;
AttrMap::AttrMap(std::initializer_list<Entry> entries) {
  for (const Entry& e : entries) emplace(e.name, e.value);
}
AttrMap::AttrMap(const AttrMap&) = default;
AttrMap::AttrMap(AttrMap&&) noexcept = default;
AttrMap& AttrMap::operator=(const AttrMap&) = default;
AttrMap& AttrMap::operator=(AttrMap&&) noexcept = default;
AttrMap::~AttrMap() = default;

AttrMap::iterator AttrMap::find(std::string_view name) { return map::find(name); }
AttrMap::const_iterator AttrMap::find(std::string_view name) const { return map::find(name); }
bool AttrMap::contains(std::string_view name) const { return map::find(name) != end(); }
const Attr& AttrMap::at(std::string_view name) const {
  const auto found = map::find(name);
  if (found == end()) throw std::out_of_range(cat("no attribute '", name, "'"));
  return found->second;
}
Attr& AttrMap::operator[](std::string_view name) {
  const auto found = lower_bound(name);
  if (found != end() && found->first == name) return found->second;
  return emplace_hint(found, name, Attr())->second;
}

bool operator==(const AttrMap& a, const AttrMap& b) { return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin()); }

std::string_view attr_type_name(AttrType type) {
  switch (type) {
    case AttrType::boolean:
      return "true or false";
    case AttrType::integer:
      return "an integer";
    case AttrType::real:
      return "a number";
    case AttrType::text:
      return "a string";
    case AttrType::integers:
      return "a list of integers";
    case AttrType::reals:
      return "a list of numbers";
    case AttrType::texts:
      return "a list of strings";
    case AttrType::fused_body:
      return "the body of a fused op";
  }
  return "";
}

std::string attr_text(const Attr& a) {
  return std::visit([](const auto& v) { return value_text(v); }, static_cast<const AttrAlternatives&>(a));
}

bool same_attr(const Attr& a, const Attr& b) {
  if (a.index() != b.index()) return false;
  if (const auto* x = std::get_if<double>(&a)) return same_real(*x, std::get<double>(b));
  if (const auto* x = std::get_if<std::vector<double>>(&a)) {
    const auto& y = std::get<std::vector<double>>(b);
    if (x->size() != y.size()) return false;
    for (std::size_t i = 0; i < y.size(); ++i)
      if (!same_real((*x)[i], y[i])) return false;
    return true;
  }
  return a == b;
}

bool same_attrs(const AttrMap& a, const AttrMap& b) {
  if (a.size() != b.size()) return false;
  for (auto x = a.begin(), y = b.begin(); x != a.end(); ++x, ++y)
    if (x->first != y->first || !same_attr(x->second, y->second)) return false;
  return true;
}

}  // namespace buda::graph
