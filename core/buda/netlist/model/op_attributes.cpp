// SPDX-License-Identifier: Apache-2.0
// From keys to members.
#include <buda/netlist/model/op_attributes.hpp>

#include <buda/base/text.hpp>

namespace buda::netlist {

std::optional<std::uint64_t> splice_input(std::string_view key) {
  if (!key.starts_with("input")) return std::nullopt;
  auto number = parse_uint(key.substr(5));
  return number && *number < 1000 ? number : std::nullopt;
}

const DeviceAttribute* find_attribute(std::string_view key) { return ops::find_device_attribute(splice_input(key) ? "inputN" : key); }

int attribute_number(std::string_view key) {
  const DeviceAttribute* row = find_attribute(key);
  if (row == nullptr) return -1;
  const auto& all = ops::device_attributes();
  // The ranges of splice follow the table.
  if (auto input = splice_input(key)) return static_cast<int>(all.size() + *input);
  return static_cast<int>(row - all.data());
}

AttributeMember attribute_member(const DeviceAttribute& row, OpAttributes& attributes) {
  using Find = AttributeMember (*)(OpAttributes&);
  static constexpr Find kMembers[] = {
#define BUDA_ATTRIBUTE(key, member, ...) [](OpAttributes& a) -> AttributeMember { return &a.member; },
#define BUDA_OTHER_ATTRIBUTE(key, ...) [](OpAttributes&) -> AttributeMember { return std::monostate{}; },
#include <buda/ops/table/device_attributes.def>
#undef BUDA_ATTRIBUTE
#undef BUDA_OTHER_ATTRIBUTE
  };
  return kMembers[&row - ops::device_attributes().data()](attributes);
}

}  // namespace buda::netlist
