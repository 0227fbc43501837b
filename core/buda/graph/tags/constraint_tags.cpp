// SPDX-License-Identifier: Apache-2.0
// Lines of tags.
#include <buda/graph/tags/constraint_tags.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/node.hpp>

#include <algorithm>
#include <string>

namespace buda::graph {

std::vector<std::string_view> constraints(const Node& n, std::string_view tag) {
  auto found = n.tags.find(std::string(tag));
  return found == n.tags.end() ? std::vector<std::string_view>{} : split(found->second, '\n');
}

void add_constraint(Node& n, std::string_view tag, std::string_view line) {
  auto lines = constraints(n, tag);
  if (std::find(lines.begin(), lines.end(), line) != lines.end()) return;
  std::string& text = n.tags[std::string(tag)];
  text = lines.empty() ? std::string(line) : cat(text, '\n', line);
}

void merge_constraints(Node& to, const Node& from) {
  for (const char* tag : {kEpochBreak, kChipBreak, kChip, kSchedulePlace})
    for (std::string_view line : constraints(from, tag)) add_constraint(to, tag, line);
}

Result<std::vector<std::size_t>> queued_inputs(const Node& n) {
  std::vector<std::size_t> out;
  for (std::string_view line : constraints(n, kQueueBefore)) {
    auto input = parse_uint(line);
    if (!input || *input >= n.inputs().size())
      return input_error(
          "GR027", n.loc,
          cat("node '", n.name(), "': tag ", kQueueBefore, " has '", line, "', which is none of its ", n.inputs().size(), " inputs"));
    out.push_back(*input);
  }
  return out;
}

Result<std::optional<std::int32_t>> chip_of(const Node& n) {
  constexpr std::uint64_t kMost = 4095;
  std::optional<std::int32_t> out;
  for (std::string_view line : constraints(n, kChip)) {
    const auto chip = parse_uint(line);
    if (!chip || *chip > kMost)
      return input_error("GR027", n.loc, cat("node '", n.name(), "': tag ", kChip, " has '", line, "', which is not the number of a chip"));
    out = static_cast<std::int32_t>(*chip);
  }
  return out;
}

Result<std::vector<SchedulePlace>> schedule_places(const Node& n) {
  std::vector<SchedulePlace> out;
  for (std::string_view line : constraints(n, kSchedulePlace)) {
    auto parts = split(line, ':');
    auto order = parse_uint(parts[0]), place = parts.size() == 2 ? parse_uint(parts[1]) : std::nullopt;
    if (!order || !place)
      return input_error("GR027", n.loc, cat("node '", n.name(), "': tag ", kSchedulePlace, " has '", line, "', which is not ORDER:PLACE"));
    out.push_back({*order, *place});
  }
  return out;
}

}  // namespace buda::graph
