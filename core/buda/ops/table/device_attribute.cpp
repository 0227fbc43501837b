// SPDX-License-Identifier: Apache-2.0
// The table of attributes.
#include <buda/ops/table/device_attribute.hpp>

#include <buda/base/text.hpp>
#include <buda/ops/table/device_op.hpp>

#include <algorithm>
#include <cmath>

namespace buda::ops {
namespace {

bool named_by(OpType type, std::string_view key) {
  const auto& own = device_op(type).attributes;
  return std::any_of(own.begin(), own.end(), [&](const OwnAttribute& a) { return a.key == key; });
}

bool named_by_any(std::string_view key) {
  const auto& ops = device_ops();
  return std::any_of(ops.begin(), ops.end(), [&](const DeviceOp& op) { return named_by(op.type, key); });
}

// "r, c or z"
std::string one_of(const std::vector<std::string>& words) {
  if (words.size() < 2) return join(words, "");
  return cat(join(std::vector<std::string>(words.begin(), words.end() - 1), ", "), " or ", words.back());
}

std::string real_range(double min, double max) {
  if (!std::isfinite(min)) return "real";
  return std::isfinite(max) ? cat("real in [", min, ", ", max, ']') : cat("real >= ", min);
}

}  // namespace

const std::vector<DeviceAttribute>& device_attributes() {
  static const std::vector<DeviceAttribute> table = {
#define BUDA_ATTRIBUTE(name, member, ...) DeviceAttribute{.key = #name, __VA_ARGS__},
#define BUDA_OTHER_ATTRIBUTE(name, ...) DeviceAttribute{.key = #name, __VA_ARGS__},
#include <buda/ops/table/device_attributes.def>
#undef BUDA_ATTRIBUTE
#undef BUDA_OTHER_ATTRIBUTE
  };
  return table;
}

const DeviceAttribute* find_device_attribute(std::string_view key) {
  const auto& all = device_attributes();
  auto it = std::find_if(all.begin(), all.end(), [&](const DeviceAttribute& a) { return a.key == key; });
  return it == all.end() ? nullptr : &*it;
}

std::int64_t DeviceAttribute::min_integer() const {
  constexpr auto kLeast = std::numeric_limits<std::int32_t>::min();
  return min > kLeast ? static_cast<std::int64_t>(min) : kLeast;
}

std::int64_t DeviceAttribute::max_integer() const {
  constexpr auto kMost = std::numeric_limits<std::int32_t>::max();
  return max < kMost ? static_cast<std::int64_t>(max) : kMost;
}

std::string DeviceAttribute::value_text() const {
  if (!value.empty()) return std::string(value);
  switch (type) {
    case AttrType::boolean:
      return "true or false";
    case AttrType::integer:
      return "int";
    case AttrType::real:
      return real_range(min, max);
    case AttrType::integers:
      return "list of int";
    default:
      return one_of(words);
  }
}

std::string DeviceAttribute::standard_text() const {
  if (!standard) return "";
  const auto* text = std::get_if<std::string>(&*standard);
  return text != nullptr ? *text : graph::attr_text(*standard);
}

bool DeviceAttribute::for_op(OpType type_of_op) const {
  const OpClass c = op_class(type_of_op);
  return contains(accepted_by, c) || named_by(type_of_op, key) || (c == OpClass::fused && named_by_any(key));
}

bool DeviceAttribute::for_sub_op(OpType type_of_op) const {
  return contains(in_sub_ops, op_class(type_of_op)) || named_by(type_of_op, key);
}

bool DeviceAttribute::is_used_by(OpType type_of_op) const { return contains(used_by, op_class(type_of_op)) || named_by(type_of_op, key); }

AttrDef device_attr(std::string_view key) {
  const DeviceAttribute& row = *find_device_attribute(key);
  return {std::string(key), row.type, row.standard, std::string(row.meaning), row.words};
}

AttrDef device_attr(std::string_view key, Attr standard) {
  AttrDef def = device_attr(key);
  def.standard = std::move(standard);
  return def;
}

}  // namespace buda::ops
