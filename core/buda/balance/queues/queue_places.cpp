// SPDX-License-Identifier: Apache-2.0
// Reading of places, and what keeps queues from them.
#include <buda/balance/queues/queue_places.hpp>

#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>

#include <algorithm>
#include <optional>
#include <vector>

namespace buda::balance {
namespace {

constexpr std::string_view kKey = "dram";

// "[0, 3]", "(0, 3)" or "0,3".
std::optional<DramPlace> place_of(std::string_view text) {
  text = trim(text);
  if (text.size() >= 2 && ((text.front() == '[' && text.back() == ']') || (text.front() == '(' && text.back() == ')')))
    text = text.substr(1, text.size() - 2);
  const auto parts = split(text, ',');
  if (parts.size() != 2) return std::nullopt;
  const auto chip = parse_int(trim(parts[0])), channel = parse_int(trim(parts[1]));
  constexpr std::int64_t kMost = 1 << 20;
  if (!chip || !channel || *chip < 0 || *channel < 0 || *chip > kMost || *channel > kMost) return std::nullopt;
  return DramPlace{static_cast<std::int32_t>(*chip), static_cast<std::int32_t>(*channel)};
}

// What is wrong with the place; empty if nothing.
std::string missing_place(const DramPlace& place, const device::DeviceDescriptor& device) {
  const std::size_t channels = device.dram.channels.size();
  if (place.chip >= device.chips && device.chips == 1) return cat("the only chip of ", device.name, " is 0");
  if (place.chip >= device.chips) return cat("the chips of ", device.name, " are 0 to ", device.chips - 1);
  if (static_cast<std::size_t>(place.channel) >= channels) return cat("the channels of DRAM of ", device.name, " are 0 to ", channels - 1);
  return "";
}

Diagnostic unknown_queue(const QueueSet& set, const std::string& name) {
  std::vector<std::string> names;
  for (const QueuePlan& plan : set.queues) names.push_back(plan.queue.name);
  Diagnostic d = usage_error("BL053", cat("queue.", name, '.', kKey, ": the plan has no queue '", name, "'"));
  if (auto near = nearest_word(name, names)) {
    d.hint = cat("did you mean '", *near, "'?");
  } else {
    constexpr std::size_t kMaxNames = 12;
    const bool more = names.size() > kMaxNames;
    if (more) names.resize(kMaxNames);
    d.hint = cat("its queues are ", join(names, ", "), more ? ", …" : "");
  }
  return d;
}

// Why the queue does not lie there; empty if it does.
std::string misplaced(const netlist::Queue& queue, const DramPlace& place) {
  if (queue.location == netlist::QueueLocation::host) return "it lies in the host's memory";
  if (queue.target_device != place.chip) return cat("the ops that use it run on chip ", queue.target_device);
  const auto is_elsewhere = [&](const netlist::BufferAddress& b) { return b.channel != place.channel; };
  const auto elsewhere = std::count_if(queue.buffers.begin(), queue.buffers.end(), is_elsewhere);
  if (elsewhere == 0) return "";
  return cat("the channel has no room for ", elsewhere, " of its ", queue.buffers.size(), " buffers");
}

}  // namespace

Result<QueuePlaces> parse_queue_places(const std::map<std::string, std::string>& given, const device::DeviceDescriptor& device) {
  QueuePlaces out;
  Failure failure;
  for (const auto& [key, value] : given) {
    const std::size_t dot = key.rfind('.');
    const auto place = place_of(value);
    if (dot == std::string::npos || std::string_view(key).substr(dot + 1) != kKey) {
      failure.add(usage_error("BL052", cat("queue.", key, ": expected ", kQueuePlaceForm)));
    } else if (!place) {
      failure.add(usage_error("BL052", cat("queue.", key, ": '", value, "' is not a chip and a channel, as in [0,3]")));
    } else if (const std::string missing = missing_place(*place, device); !missing.empty()) {
      failure.add(usage_error("BL052", cat("queue.", key, '=', value, ": ", missing)));
    } else {
      out[key.substr(0, dot)] = *place;
    }
  }
  if (!failure.empty()) return failure;
  return out;
}

Result<void> check_queue_places(const QueueSet& set, const QueuePlaces& places) {
  Failure failure;
  for (const auto& [name, place] : places) {
    const auto plan =
        std::find_if(set.queues.begin(), set.queues.end(), [&wanted = name](const QueuePlan& p) { return p.queue.name == wanted; });
    if (plan == set.queues.end()) {
      failure.add(unknown_queue(set, name));
    } else if (const std::string why = misplaced(plan->queue, place); !why.empty()) {
      failure.add(usage_error("BL053", cat("queue.", name, '.', kKey, ": '", name, "' cannot lie on chip ", place.chip, " in channel ",
                                           place.channel, ": ", why)));
    }
  }
  if (!failure.empty()) return failure;
  return success();
}

}  // namespace buda::balance
