// SPDX-License-Identifier: Apache-2.0
// Packing of buffers into channels.
#include <buda/image/merge_memory.hpp>

#include "buda/image/helpful_option.hpp"
#include "buda/image/merge_netlist.hpp"

#include <buda/base/checked.hpp>
#include <buda/base/text.hpp>
#include <buda/netlist/model/op_shapes.hpp>

#include <algorithm>
#include <cmath>
#include <compare>
#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace buda::image {
namespace {

using netlist::QueueLocation;

// The DRAM of a chip, or the host memory that it reaches.
struct Memory {
  std::int32_t chip = 0;
  bool host = false;
  friend auto operator<=>(const Memory&, const Memory&) = default;
};

std::string memory_text(const Memory& m, std::int32_t channel) {
  return cat(m.host ? "host" : "DRAM", " channel ", channel, " of chip ", m.chip);
}

// Addresses [begin, end) of a channel that queues may have.
struct ChannelRange {
  std::uint64_t begin = 0, end = 0;
};

std::vector<ChannelRange> channels_of(const device::DeviceDescriptor& device, bool host) {
  std::vector<ChannelRange> out;
  const auto alignment = static_cast<std::uint64_t>(device.tile_alignment);
  if (!host) {
    for (const auto& c : device.dram.channels) out.push_back({align_up(c.lowest_usable, alignment), device.dram.bank_bytes});
    return out;
  }
  for (std::int32_t i = 0; i < device.host.channels; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::uint64_t reserved = at < device.host.reserved_bytes.size() ? device.host.reserved_bytes[at] : 0;
    out.push_back({0, device.host.channel_bytes - std::min(reserved, device.host.channel_bytes)});
  }
  return out;
}

std::uint64_t bytes_of_buffer(const netlist::Queue& q, const device::DeviceDescriptor& device) {
  return align_up(netlist::buffer_bytes(q, device.tile_alignment, device.queue_header_bytes),
                  static_cast<std::uint64_t>(device.tile_alignment));
}

// Buffers that are moved together.
struct Block {
  struct Member {
    std::size_t queue = 0, buffer = 0;
    std::uint64_t offset = 0;
  };
  std::size_t model = 0;
  Memory memory;
  std::int32_t channel = 0;
  std::uint64_t bytes = 0;
  bool dynamic = false;
  std::vector<Member> members;
};

// Dynamic buffers of a model in one channel, in blocks of those that touch or cover each other.
std::vector<Block> grouped(std::vector<Block> singles, const std::vector<std::uint64_t>& addresses, std::uint64_t gap) {
  std::vector<std::size_t> order(singles.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::tie(singles[a].memory, singles[a].channel, addresses[a], a) <
           std::tie(singles[b].memory, singles[b].channel, addresses[b], b);
  });
  std::vector<Block> out;
  std::uint64_t begin = 0;
  for (std::size_t i : order) {
    Block& next = singles[i];
    const bool joins = !out.empty() && out.back().memory == next.memory && out.back().channel == next.channel &&
                       addresses[i] <= begin + out.back().bytes + gap;
    if (!joins) {
      begin = addresses[i];
      out.push_back(std::move(next));
      continue;
    }
    next.members.front().offset = addresses[i] - begin;
    out.back().bytes = std::max(out.back().bytes, next.members.front().offset + next.bytes);
    out.back().members.push_back(next.members.front());
  }
  return out;
}

std::vector<Block> blocks_of(const MemoryOfModel& model, std::size_t number, const device::DeviceDescriptor& device) {
  const auto dynamic = dynamic_queues(*model.netlist);
  const auto& queues = model.netlist->queues;
  std::vector<Block> statics, dynamics;
  std::vector<std::uint64_t> addresses;
  for (std::size_t q = 0; q < queues.size(); ++q) {
    if (!queues[q].alias.empty()) continue;
    for (std::size_t b = 0; b < queues[q].buffers.size(); ++b) {
      Block block;
      block.model = number;
      block.memory = {queues[q].target_device, queues[q].location == QueueLocation::host};
      block.channel = queues[q].buffers[b].channel;
      block.bytes = bytes_of_buffer(queues[q], device);
      block.dynamic = dynamic.contains(queues[q].name);
      block.members = {{q, b, 0}};
      if (block.dynamic) addresses.push_back(queues[q].buffers[b].address);
      (block.dynamic ? dynamics : statics).push_back(std::move(block));
    }
  }
  auto out = grouped(std::move(dynamics), addresses, static_cast<std::uint64_t>(device.tile_alignment));
  for (Block& b : out) b.bytes = align_up(b.bytes, static_cast<std::uint64_t>(device.tile_alignment));
  out.insert(out.end(), std::make_move_iterator(statics.begin()), std::make_move_iterator(statics.end()));
  return out;
}

class Packer {
 public:
  Packer(const std::vector<MemoryOfModel>& models, const device::DeviceDescriptor& device, const MemoryOptions& options)
      : models_(models), device_(device), options_(options) {
    for (bool host : {false, true}) ranges_[host] = channels_of(device, host);
  }

  // What has no room first, if anything; without changes to any netlist.
  std::optional<Diagnostic> pack() {
    std::vector<Block> statics, dynamics;
    for (std::size_t m = 0; m < models_.size(); ++m)
      for (Block& b : blocks_of(models_[m], m, device_))
        (b.dynamic && options_.overlap_dynamic ? dynamics : statics).push_back(std::move(b));
    // Models lie over each other: each begins at the bottom.
    for (std::size_t m = 0; m < models_.size(); ++m) {
      Cursors cursors;
      std::vector<Block> own;
      for (Block& b : dynamics)
        if (b.model == m) own.push_back(std::move(b));
      if (auto problem = place(std::move(own), cursors)) return problem;
      for (const auto& [key, used] : cursors) tops_[key] = std::max(tops_[key], used);
    }
    return place(std::move(statics), tops_);
  }

  void apply() {
    for (const auto& [block, channel, address] : placed_) {
      auto& queues = models_[block.model].netlist->queues;
      for (const auto& m : block.members) queues[m.queue].buffers[m.buffer] = {channel, address + m.offset};
    }
    for (const auto& model : models_)
      for (auto& q : model.netlist->queues)
        if (!q.alias.empty())
          for (const auto& other : model.netlist->queues)
            if (other.name == q.alias) q.buffers = other.buffers;
  }

 private:
  using Key = std::pair<Memory, std::int32_t>;
  using Cursors = std::map<Key, std::uint64_t>;  // bytes in use of a channel

  struct Placed {
    Block block;
    std::int32_t channel = 0;
    std::uint64_t address = 0;
  };

  std::uint64_t room(const Key& key, const Cursors& cursors) const {
    const auto& ranges = ranges_.at(key.first.host);
    if (key.second < 0 || static_cast<std::size_t>(key.second) >= ranges.size()) return 0;
    const ChannelRange& range = ranges[static_cast<std::size_t>(key.second)];
    auto used = cursors.find(key);
    const std::uint64_t from = range.begin + (used == cursors.end() ? 0 : used->second);
    return from < range.end ? range.end - from : 0;
  }

  void put(Block block, std::int32_t channel, Cursors& cursors) {
    std::uint64_t& used = cursors[{block.memory, channel}];
    const std::uint64_t address = ranges_.at(block.memory.host)[static_cast<std::size_t>(channel)].begin + used;
    used += block.bytes;
    placed_.push_back({std::move(block), channel, address});
  }

  // Largest first: small ones find room in what is left.
  std::optional<Diagnostic> place(std::vector<Block> blocks, Cursors& cursors) {
    std::stable_sort(blocks.begin(), blocks.end(), [](const Block& a, const Block& b) { return a.bytes > b.bytes; });
    std::vector<Block> left;
    for (Block& b : blocks) {
      if (b.bytes <= room({b.memory, b.channel}, cursors)) {
        const std::int32_t channel = b.channel;
        put(std::move(b), channel, cursors);
      } else if (options_.switch_channels) {
        left.push_back(std::move(b));
      } else {
        return no_room(b, b.channel, room({b.memory, b.channel}, cursors));
      }
    }
    for (Block& b : left) {
      std::int32_t best = b.channel;
      for (std::int32_t c = 0; c < static_cast<std::int32_t>(ranges_.at(b.memory.host).size()); ++c)
        if (allows(b, c) && room({b.memory, c}, cursors) > room({b.memory, best}, cursors)) best = c;
      const std::uint64_t most = room({b.memory, best}, cursors);
      if (b.bytes > most) return no_room(b, best, most);
      put(std::move(b), best, cursors);
    }
    return std::nullopt;
  }

  // A queue that chooses ports of its channel goes only where there are such ports.
  bool allows(const Block& block, std::int32_t channel) const {
    if (block.memory.host) return true;
    const auto ports = device_.dram.channels[static_cast<std::size_t>(channel)].ports.size();
    for (const auto& m : block.members) {
      const auto& q = models_[block.model].netlist->queues[m.queue];
      for (const auto* list : {&q.read_ports, &q.write_ports})
        for (auto port : *list)
          if (port < 0 || static_cast<std::size_t>(port) >= ports) return false;
    }
    return true;
  }

  Diagnostic no_room(const Block& block, std::int32_t channel, std::uint64_t available) const {
    const auto& queue = models_[block.model].netlist->queues[block.members.front().queue].name;
    const std::string where = memory_text(block.memory, channel);
    const std::string what = block.members.size() == 1 ? cat("a buffer of queue '", queue, "'")
                                                       : cat(block.members.size(), " buffers of dynamic queues, '", queue, "' first,");
    return does_not_fit("IM030", models_[block.model].name, where, block.bytes, available,
                        cat("model '", models_[block.model].name, "': ", what, " needs ", bytes_text(block.bytes), " (", block.bytes,
                            " bytes) in ", where, ", which has ", bytes_text(available), " (", available, " bytes) left",
                            options_.switch_channels ? ", more than any other channel" : ""),
                        "");
  }

  const std::vector<MemoryOfModel>& models_;
  const device::DeviceDescriptor& device_;
  const MemoryOptions options_;
  std::map<bool, std::vector<ChannelRange>> ranges_;  // by whether it is the host's
  Cursors tops_;
  std::vector<Placed> placed_;
};

}  // namespace

Result<void> place_queues(const std::vector<MemoryOfModel>& models, const device::DeviceDescriptor& device, const MemoryOptions& options) {
  Packer packer(models, device, options);
  if (auto problem = packer.pack()) {
    problem->hint =
        helpful_option(options, [&](const MemoryOptions& others) { return !Packer(models, device, others).pack().has_value(); });
    return *problem;
  }
  packer.apply();
  return success();
}

MemoryProfile memory_profile(const netlist::Netlist& netlist, const device::DeviceDescriptor& device) {
  std::map<std::pair<Memory, std::int32_t>, std::vector<std::pair<std::uint64_t, std::uint64_t>>> ranges;
  for (const auto& q : netlist.queues)
    for (const auto& b : q.buffers)
      ranges[{{q.target_device, q.location == QueueLocation::host}, b.channel}].emplace_back(b.address,
                                                                                             b.address + bytes_of_buffer(q, device));
  MemoryProfile out;
  for (std::int32_t chip = 0; chip < device.chips; ++chip) {
    MemoryProfile::Chip& c = out.chips.emplace_back();
    c.dram.resize(device.dram.channels.size());
    c.host.resize(static_cast<std::size_t>(std::max(device.host.channels, 0)));
  }
  for (auto& [key, list] : ranges) {
    const auto& [memory, channel] = key;
    std::sort(list.begin(), list.end());
    std::uint64_t used = 0, end = 0;
    for (const auto& [from, to] : list) {
      if (to > end) used += to - std::max(from, end);
      end = std::max(end, to);
    }
    if (memory.chip < 0 || static_cast<std::size_t>(memory.chip) >= out.chips.size()) continue;
    auto& channels =
        memory.host ? out.chips[static_cast<std::size_t>(memory.chip)].host : out.chips[static_cast<std::size_t>(memory.chip)].dram;
    if (channel >= 0 && static_cast<std::size_t>(channel) < channels.size()) channels[static_cast<std::size_t>(channel)] = used;
  }
  return out;
}

std::string memory_profile_text(const MemoryProfile& profile) {
  // As Python prints a number rounded to two places: 161.17, 204.4, 0.0.
  auto megabytes = [](std::uint64_t bytes) {
    const auto hundredths = static_cast<std::uint64_t>(std::llround(static_cast<double>(bytes) * 100 / (1 << 20)));
    std::string out = cat(hundredths / 100, '.', hundredths % 100 / 10);
    if (hundredths % 10 != 0) out += cat(hundredths % 10);
    return out;
  };
  std::string out;
  for (std::size_t chip = 0; chip < profile.chips.size(); ++chip) {
    const std::string of_chip = profile.chips.size() == 1 ? "" : cat(" of chip ", chip);
    auto list = [&](const char* kind, const std::vector<std::uint64_t>& channels) {
      out += cat("Displaying memory footprint per ", kind, " channel", of_chip, " (MB):\n");
      for (std::size_t c = 0; c < channels.size(); ++c) out += cat(c, " : ", megabytes(channels[c]), '\n');
    };
    list("DRAM", profile.chips[chip].dram);
    list("Host", profile.chips[chip].host);
  }
  return out;
}

}  // namespace buda::image
