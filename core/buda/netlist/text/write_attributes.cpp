// SPDX-License-Identifier: Apache-2.0
// Writes names, numbers, TMs and attributes.
#include <buda/netlist/text/write_context.hpp>

#include <buda/base/text.hpp>
#include <buda/io/yaml.hpp>
#include <buda/netlist/model/op_attributes.hpp>

#include <cmath>
#include <type_traits>

namespace buda::netlist {

std::string name_text(std::string_view name) { return parse_int(name) ? std::string(name) : io::yaml_scalar(name); }

std::string real_text(double value) {
  if (std::isnan(value)) return ".nan";
  if (std::isinf(value)) return value > 0 ? ".inf" : "-.inf";
  std::string text = to_text(value);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string tms_text(const std::vector<Tm>& tms) {
  std::vector<std::string> parts;
  for (const Tm& tm : tms) parts.push_back(tm.text());
  return list_text(parts);
}

namespace {

std::string value_text(bool value) { return value ? "true" : "false"; }
std::string value_text(std::int32_t value) { return cat(value); }
std::string value_text(double value) { return real_text(value); }
std::string value_text(const std::string& value) { return name_text(value); }
std::string value_text(const std::vector<std::int32_t>& value) { return list_text(value); }
template <class E>
std::string value_text(E value) {
  return std::string(name_of(value));
}
template <class T>
std::string value_text(const std::optional<T>& value) {
  return value ? value_text(*value) : "";
}

// The value of an attribute; nothing where it is the default, or the attribute has no member.
std::optional<std::string> text_of(const DeviceAttribute& row, OpAttributes& attributes) {
  static OpAttributes none;
  return std::visit(
      [&](auto member) -> std::optional<std::string> {
        if constexpr (std::is_same_v<decltype(member), std::monostate>) {
          return std::nullopt;
        } else {
          if (*member == *std::get<decltype(member)>(attribute_member(row, none))) return std::nullopt;
          return value_text(*member);
        }
      },
      attribute_member(row, attributes));
}

void write_by_input(const std::vector<OpInput>& inputs, FlowMap& out) {
  for (bool per_t : {false, true}) {
    FlowMap map;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const KernelBroadcast& k = inputs[i].kernel_broadcast;
      if (k.tiles != 0 && k.per_t == per_t) map.add(cat("input_", i), cat(k.tiles));
    }
    if (!map.empty()) out.add(per_t ? "kernel_broadcast_per_t" : "kernel_broadcast", map.text());
  }
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (const auto& s = inputs[i].splice) out.add(cat("input", i), cat('[', s->index, ", ", s->length, ", ", s->stride, ']'));
}

}  // namespace

FlowMap attribute_fields(const OpAttributes& given, const std::vector<OpInput>* inputs) {
  OpAttributes attributes = given;
  FlowMap out;
  for (const DeviceAttribute& row : ops::device_attributes()) {
    if (inputs == nullptr && row.key == "zero_point") continue;  // sub-ops have it beside their attributes
    if (auto text = text_of(row, attributes)) out.add(row.key, *text);
    if (row.key == "type" && attributes.reduce_dim != Dim::none) out.add("type", "max");
  }
  if (inputs != nullptr) write_by_input(*inputs, out);
  return out;
}

}  // namespace buda::netlist
