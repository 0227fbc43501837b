// SPDX-License-Identifier: Apache-2.0
// Attributes by the table of ops/table/device_attribute.hpp.
#include <buda/balance/problem/op_attributes.hpp>

#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>
#include <buda/graph/node.hpp>
#include <buda/netlist/model/op_attributes.hpp>

#include <algorithm>
#include <cmath>
#include <variant>

namespace buda::balance {
namespace {

using graph::Attr;
using netlist::DeviceAttribute;
using netlist::OpAttributes;

std::optional<double> number(const Attr& v) {
  if (const auto* value = std::get_if<double>(&v)) return *value;
  if (const auto* value = std::get_if<std::int64_t>(&v)) return static_cast<double>(*value);
  return std::nullopt;
}

// What a value has to be, for messages.
std::string wanted(const DeviceAttribute& row) {
  switch (row.type) {
    case graph::AttrType::boolean:
      return "true or false";
    case graph::AttrType::integer:
      return cat("an integer between ", row.min_integer(), " and ", row.max_integer());
    case graph::AttrType::real:
      return cat("a number", std::isfinite(row.min) ? cat(" of at least ", row.min) : "",
                 std::isfinite(row.max) ? cat(" and at most ", row.max) : "");
    default:
      if (row.words.size() == 1) return cat("'", row.words.front(), "'");
      return row.words.empty() ? "a text" : cat("one of ", join(row.words, ", "));
  }
}

bool is_valid(const DeviceAttribute& row, const Attr& v) {
  switch (row.type) {
    case graph::AttrType::integer: {
      const auto* value = std::get_if<std::int64_t>(&v);
      return value != nullptr && *value >= row.min_integer() && *value <= row.max_integer();
    }
    case graph::AttrType::real:
      return number(v) && row.in_range(*number(v));
    case graph::AttrType::text: {
      const auto* value = std::get_if<std::string>(&v);
      return value != nullptr && (row.words.empty() || std::find(row.words.begin(), row.words.end(), *value) != row.words.end());
    }
    default:
      return attr_type(v) == row.type;
  }
}

void assign(std::monostate, const Attr&) {}
void assign(bool* out, const Attr& v) { *out = std::get<bool>(v); }
void assign(std::int32_t* out, const Attr& v) { *out = static_cast<std::int32_t>(std::get<std::int64_t>(v)); }
void assign(double* out, const Attr& v) { *out = *number(v); }
void assign(std::string* out, const Attr& v) { *out = std::get<std::string>(v); }
void assign(std::vector<std::int32_t>* out, const Attr& v) {
  const auto& values = std::get<std::vector<std::int64_t>>(v);
  out->assign(values.begin(), values.end());
}
template <class E>
void assign(E* out, const Attr& v) {
  if (auto value = netlist::from_name<E>(std::get<std::string>(v))) *out = *value;
}
template <class T>
void assign(std::optional<T>* out, const Attr& v) {
  T value{};
  assign(&value, v);
  *out = value;
}

std::vector<std::string> keys_of_graphs() {
  std::vector<std::string> out;
  for (const DeviceAttribute& row : ops::device_attributes())
    if (row.source == ops::AttributeSource::graph) out.emplace_back(row.key);
  return out;
}

}  // namespace

Result<OpAttributes> netlist_attributes(const graph::Node& node) {
  auto out = netlist_attributes(node.attrs, node.name(), node.op());
  if (!out)
    for (Diagnostic& d : out.failure().diagnostics()) d.loc = node.loc;
  return out;
}

Result<OpAttributes> netlist_attributes(const graph::AttrMap& attrs, const std::string& name_of_op, const std::string& type) {
  OpAttributes out;
  Failure failure;
  auto report = [&](std::string message, std::string hint = "") {
    Diagnostic d = input_error("BL003", {}, cat("op '", name_of_op, "' (", type, "): ", message));
    d.node = name_of_op;
    d.hint = std::move(hint);
    failure.add(std::move(d));
  };
  for (const auto& [name, value] : attrs) {
    const DeviceAttribute* row = ops::find_device_attribute(name);
    if (row != nullptr && row->source == ops::AttributeSource::balancer) {
      report(cat("attribute '", name, "' is chosen by the balancer"),
             cat("leave it out; --set op.", name_of_op, ".u_kt=N and others override the choice"));
    } else if (row == nullptr || row->source != ops::AttributeSource::graph) {
      auto near = nearest_word(name, keys_of_graphs());
      report(cat("attribute '", name, "' is not an attribute of netlist ops"), near ? cat("did you mean '", *near, "'?") : "");
    } else if (!is_valid(*row, value)) {
      report(cat("attribute '", name, "': expected ", wanted(*row), ", found ", graph::attr_text(value)));
    } else {
      std::visit([&given = value](auto member) { assign(member, given); }, netlist::attribute_member(*row, out));
    }
  }
  if (!failure.empty()) return failure;
  return out;
}

}  // namespace buda::balance
