// SPDX-License-Identifier: Apache-2.0
// The texts are small pieces of YAML; on a command line the brackets of a list may be left out.
#include <buda/compiler/option_values.hpp>

#include <buda/base/text.hpp>
#include <buda/io/yaml.hpp>

#include <algorithm>
#include <optional>

namespace buda::compiler {
namespace {

using passes::BufferKind;
using passes::BufferRequest;
using passes::FractureAxis;
using passes::FractureMember;

Diagnostic wrong(const std::string& text, std::string_view expected) {
  return usage_error("OZ006", cat("expected ", expected, ", found '", text, '\''));
}

bool is_name(const io::Node& n) { return n.is_scalar() && !n.is_null() && !n.text().empty(); }
std::optional<std::int64_t> number(const io::Node& n) { return n.is_scalar() ? parse_int(n.text()) : std::nullopt; }

// A text is one entry, or a list of them, as config files have it.
Result<std::vector<io::Node>> entries_of(const std::string& text, std::string_view expected) {
  std::string_view trimmed = trim(text);
  bool is_structure = trimmed.starts_with('[') || trimmed.starts_with('{');
  auto node = io::parse_yaml(is_structure ? std::string(trimmed) : cat('[', trimmed, ']'), "");
  if (!node || node->size() == 0) return wrong(text, expected);
  if (node->is_list() && !is_name(node->items()[0])) return node->items();
  return std::vector{std::move(*node)};
}

// All names in a list of names and of lists of them.
bool collect_names(const io::Node& n, std::vector<std::string>& out) {
  if (is_name(n)) {
    out.push_back(n.text());
    return true;
  }
  if (!n.is_list()) return false;
  for (const io::Node& item : n.items())
    if (!collect_names(item, out)) return false;
  return true;
}

constexpr std::int64_t kMaxInputs = 1000;

std::optional<FractureAxis> axis_of(const io::Node& axis, const io::Node& factor) {
  FractureAxis out;
  auto parts = number(factor), at = number(axis);
  out.inner = axis.is_scalar() && axis.text() == "k";
  if (!parts || *parts < 1 || (!at && !out.inner)) return std::nullopt;
  out.factor = *parts;
  if (at) out.axis = *at;
  return out;
}

std::optional<FractureMember> member_of(const io::Node& node) {
  if (!node.is_list() || node.size() != 3 || !is_name(node.items()[0])) return std::nullopt;
  const io::Node &axes = node.items()[1], &factors = node.items()[2];
  FractureMember out{node.items()[0].text(), {}, {}};
  if (axes.is_list() != factors.is_list() || axes.is_map() || factors.is_map()) return std::nullopt;
  if (!axes.is_list()) {
    auto axis = axis_of(axes, factors);
    if (!axis) return std::nullopt;
    out.axes.push_back(*axis);
    return out;
  }
  if (axes.size() != factors.size() || axes.size() == 0) return std::nullopt;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    auto axis = axis_of(axes.items()[i], factors.items()[i]);
    if (!axis) return std::nullopt;
    out.axes.push_back(*axis);
  }
  return out;
}

}  // namespace

Result<std::vector<BufferRequest>> queue_requests(const std::string& text) {
  constexpr std::string_view kForm = "PRODUCER,CONSUMER or PRODUCER,CONSUMER,INPUT";
  BUDA_ASSIGN(std::vector<io::Node> nodes, entries_of(text, kForm));
  std::vector<BufferRequest> out;
  for (const io::Node& node : nodes) {
    const auto& items = node.items();
    bool sound = node.is_list() && (items.size() == 2 || items.size() == 3) && is_name(items[0]) && is_name(items[1]);
    auto input = sound && items.size() == 3 ? number(items[2]) : std::nullopt;
    if (!sound || (items.size() == 3 && (!input || *input < 0 || *input > kMaxInputs))) return wrong(text, kForm);
    out.push_back({BufferKind::queue, items[0].text(), {items[1].text()}, {}, "insert-queues"});
    if (input) out.back().operand = static_cast<std::uint32_t>(*input);
  }
  return out;
}

Result<std::vector<BufferRequest>> nop_requests(const std::string& text) {
  constexpr std::string_view kForm = "PRODUCER,CONSUMER,... or {PRODUCER: [CONSUMER, ...]}";
  BUDA_ASSIGN(std::vector<io::Node> nodes, entries_of(text, kForm));
  std::vector<BufferRequest> out;
  auto add = [&](const std::string& producer, std::vector<std::string> consumers) {
    out.push_back({BufferKind::nop, producer, std::move(consumers), {}, "insert-buffering-nop"});
    return !out.back().consumers.empty();
  };
  bool sound = true;
  for (const io::Node& node : nodes) {
    std::vector<std::string> names;
    for (std::size_t i = 0; node.is_map() && i < node.size(); ++i) {
      names.clear();
      sound = collect_names(node.items()[i], names) && add(node.keys()[i], names) && sound;
    }
    if (node.is_map()) continue;
    sound = collect_names(node, names) && !names.empty() && add(names.front(), {names.begin() + 1, names.end()}) && sound;
  }
  if (!sound) return wrong(text, kForm);
  return out;
}

namespace {

bool is_member(const io::Node& n) { return n.is_list() && n.size() != 0 && is_name(n.items()[0]); }
bool is_group(const io::Node& n) {
  return n.is_list() && n.size() != 0 &&
         std::all_of(n.items().begin(), n.items().end(), [](const io::Node& item) { return is_member(item); });
}
bool are_chips(const io::Node& n) { return n.is_map() || (n.is_list() && n.size() != 0 && number(n.items()[0])); }
// A group and the chips of its parts.
bool is_placed_group(const std::vector<io::Node>& items) { return items.size() == 2 && is_group(items[0]) && are_chips(items[1]); }

std::optional<std::vector<std::int64_t>> chips_in(const io::Node& list) {
  std::vector<std::int64_t> out;
  if (!list.is_list()) return std::nullopt;
  for (const io::Node& item : list.items()) {
    const auto chip = number(item);
    if (!chip || *chip < 0) return std::nullopt;
    out.push_back(*chip);
  }
  return out;
}

// The chips of all members of a group, or by their names.
bool give_chips(const io::Node& chips, passes::FractureGroup& group) {
  for (FractureMember& member : group) {
    const io::Node* own = chips.is_map() ? chips.find(member.name) : &chips;
    if (own == nullptr) continue;
    auto numbers = chips_in(*own);
    if (!numbers) return false;
    member.chips = std::move(*numbers);
  }
  const auto is_of_group = [&](const std::string& name) {
    return std::any_of(group.begin(), group.end(), [&](const FractureMember& member) { return member.name == name; });
  };
  return !chips.is_map() || std::all_of(chips.keys().begin(), chips.keys().end(), is_of_group);
}

std::optional<passes::FractureGroup> group_of(const std::vector<io::Node>& items) {
  const bool is_placed = is_placed_group(items);
  passes::FractureGroup out;
  for (const io::Node& item : is_placed ? items[0].items() : items) {
    auto member = member_of(item);
    if (!member) return std::nullopt;
    out.push_back(std::move(*member));
  }
  if (is_placed && !give_chips(items[1], out)) return std::nullopt;
  return out;
}

}  // namespace

Result<std::vector<passes::FractureGroup>> fracture_groups(const std::string& text) {
  constexpr std::string_view kForm =
      "a list of [NAME, AXIS, FACTOR], where AXIS is a number or k, or lists of axes and factors; with chips: [[[NAME, AXIS, FACTOR], "
      "...], "
      "[CHIP, ...]]";
  BUDA_ASSIGN(std::vector<io::Node> nodes, entries_of(text, kForm));
  // Members of one group, also with its chips; or groups.
  std::vector<std::vector<io::Node>> groups{nodes};
  if (!is_member(nodes.front()) && !is_placed_group(nodes)) {
    groups.clear();
    for (const io::Node& node : nodes) groups.push_back(node.items());
  }
  std::vector<passes::FractureGroup> out;
  for (const auto& items : groups) {
    auto group = group_of(items);
    if (!group || group->empty()) return wrong(text, kForm);
    out.push_back(std::move(*group));
  }
  return out;
}

Result<std::vector<std::pair<std::string, std::int64_t>>> fracture_factors(const std::string& text) {
  constexpr std::string_view kForm = "CONVOLUTION,FACTOR or {CONVOLUTION: FACTOR}";
  BUDA_ASSIGN(std::vector<io::Node> nodes, entries_of(text, kForm));
  std::vector<std::pair<std::string, std::int64_t>> out;
  auto add = [&](const std::string& name, const io::Node& value) {
    auto factor = number(value);
    if (factor) out.emplace_back(name, *factor);
    return factor && (*factor >= 1 || *factor == -1);
  };
  bool sound = true;
  for (const io::Node& node : nodes) {
    for (std::size_t i = 0; node.is_map() && i < node.size(); ++i) sound = add(node.keys()[i], node.items()[i]) && sound;
    if (node.is_map()) continue;
    sound = node.size() == 2 && is_name(node.items()[0]) && add(node.items()[0].text(), node.items()[1]) && sound;
  }
  if (!sound) return wrong(text, kForm);
  return out;
}

Result<std::vector<std::int64_t>> chip_numbers(const std::string& text) {
  constexpr std::string_view kForm = "numbers of chips, as in 0,1";
  const std::string_view trimmed = trim(text);
  auto node = io::parse_yaml(trimmed.starts_with('[') ? std::string(trimmed) : cat('[', trimmed, ']'), "");
  if (!node || !node->is_list() || node->size() == 0) return wrong(text, kForm);
  std::vector<std::int64_t> out;
  for (const io::Node& item : node->items()) {
    const auto chip = number(item);
    if (!chip || *chip < 0) return wrong(text, kForm);
    out.push_back(*chip);
  }
  return out;
}

}  // namespace buda::compiler
