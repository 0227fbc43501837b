// SPDX-License-Identifier: Apache-2.0
// The five algorithms.
#include <buda/balance/queues/dram_placement.hpp>

#include <buda/balance/queues/load_placement.hpp>
#include <buda/overlay/traffic.hpp>
#include <buda/pipes/noc/noc.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

namespace buda::balance {
namespace {

constexpr std::int32_t kOpen = -1;

// The channel of those that lie in the window, kOpen of all others.
std::vector<std::int32_t> windowed(const std::vector<UnplacedBuffer>& buffers, const DramRoom& room) {
  std::vector<std::int32_t> out(buffers.size(), kOpen);
  std::uint64_t left = room.window_channel < 0 ? 0 : room.window;
  for (std::size_t b = 0; b < buffers.size(); ++b) {
    if (!buffers[b].for_host || buffers[b].channel || buffers[b].bytes > left) continue;
    left -= buffers[b].bytes;
    out[b] = room.window_channel;
  }
  return out;
}

// Hops of all ends in all epochs, each epoch on the network on which they are fewer.
std::int64_t distance(const std::vector<BufferEnd>& ends, const device::DramChannel& channel, const device::DeviceDescriptor& device) {
  std::map<std::int32_t, std::pair<std::int64_t, std::int64_t>> hops;
  for (const BufferEnd& end : ends) {
    if (channel.ports.empty()) continue;
    const device::NocCoord worker = device.noc_of_worker(end.worker);
    const device::NocCoord port = channel.ports[static_cast<std::size_t>(pipes::nearest_port(channel, worker, device.noc))];
    const auto [from, to] = end.writes ? std::pair{worker, port} : std::pair{port, worker};
    hops[end.epoch].first += pipes::hops(0, from, to, device.noc);
    hops[end.epoch].second += pipes::hops(1, from, to, device.noc);
  }
  std::int64_t sum = 0;
  for (const auto& [epoch, both] : hops) sum += std::min(both.first, both.second);
  return sum;
}

// Channels [first, first + count), one after the other, over and over.
class Turns {
 public:
  Turns(std::size_t first, std::size_t count) : first_(first), count_(std::max<std::size_t>(count, 1)) {}
  // The first of the next ones with room, or the next one.
  std::size_t next(const UnplacedBuffer& buffer, const ChannelRoom& room) {
    for (std::size_t k = 0; k < count_; ++k) {
      const std::size_t channel = first_ + (turn_ + k) % count_;
      if (room.left(channel, buffer.life) < buffer.bytes) continue;
      turn_ += k + 1;
      return channel;
    }
    return first_ + turn_ % count_;
  }

 private:
  std::size_t first_, count_, turn_ = 0;
};

class Chooser {
 public:
  Chooser(DramAlgorithm algorithm, const DramRoom& room, const device::DeviceDescriptor& device)
      : algorithm_(algorithm),
        device_(device),
        room_(room.channels, room.epochs),
        all_(0, room.channels.size()),
        even_(0, room.channels.size() / 2),
        odd_(room.channels.size() / 2, room.channels.size() - room.channels.size() / 2) {}

  void put(const UnplacedBuffer& buffer, std::int32_t channel) { room_.take(static_cast<std::size_t>(channel), buffer.bytes, buffer.life); }
  std::int32_t choose(const UnplacedBuffer& buffer) {
    const std::size_t channel = channel_of(buffer);
    room_.take(channel, buffer.bytes, buffer.life);
    return static_cast<std::int32_t>(channel);
  }

 private:
  std::size_t channel_of(const UnplacedBuffer& buffer) {
    if (algorithm_ == DramAlgorithm::greatest_capacity) return emptiest_for(buffer);
    if (algorithm_ == DramAlgorithm::closest) return closest_to(buffer);
    if (algorithm_ == DramAlgorithm::flip_flop && buffer.writer_epoch && room_.channels() > 1)
      return (*buffer.writer_epoch % 2 == 0 ? even_ : odd_).next(buffer, room_);
    return all_.next(buffer, room_);
  }

  std::size_t emptiest_for(const UnplacedBuffer& buffer) const {
    std::size_t best = 0;
    std::uint64_t most = 0;
    for (std::size_t c = 0; c < room_.channels(); ++c) {
      const std::uint64_t left = room_.left(c, buffer.life);
      if (left <= most) continue;
      best = c;
      most = left;
    }
    return best;
  }

  std::size_t closest_to(const UnplacedBuffer& buffer) {
    std::set<std::pair<std::int32_t, bool>> epochs;
    for (const BufferLoad& load : buffer.use.loads) epochs.insert({load.epoch, load.before});
    std::size_t best = 0;
    std::pair<std::pair<bool, std::int64_t>, std::int64_t> least;
    bool found = false;
    for (std::size_t c = 0; c < room_.channels(); ++c) {
      std::int64_t used = 0;
      for (const auto& epoch : epochs) used = std::max(used, uses_[{epoch, c}]);
      const std::pair rank{std::pair{room_.left(c, buffer.life) < buffer.bytes, used},
                           distance(buffer.use.ends, device_.dram.channels[c], device_)};
      if (found && rank >= least) continue;
      found = true;
      least = rank;
      best = c;
    }
    for (const auto& epoch : epochs) ++uses_[{epoch, best}];
    return best;
  }

  DramAlgorithm algorithm_;
  const device::DeviceDescriptor& device_;
  ChannelRoom room_;
  Turns all_, even_, odd_;
  // By epoch (and whether before it) and channel: buffers that lie there.
  std::map<std::pair<std::pair<std::int32_t, bool>, std::size_t>, std::int64_t> uses_;
};

// Halves of channels are loaded alike, where there are any.
std::vector<DramBank> banks_by_load(const std::vector<UnplacedBuffer>& buffers, const std::vector<std::int32_t>& in_window,
                                    const DramRoom& room, const device::DeviceDescriptor& device) {
  const std::int32_t halves = room.halves.empty() ? 1 : 2;
  const auto& window = device.dram.host_window;
  const std::int32_t window_half = halves > 1 && window && window->begin >= overlay::kDramHalf ? 1 : 0;
  std::vector<LoadedBuffer> loaded;
  std::int32_t placed = 0;
  for (std::size_t b = 0; b < buffers.size(); ++b) {
    LoadedBuffer one{buffers[b].bytes, buffers[b].use.loads, kOpen, in_window[b] == kOpen, buffers[b].life, buffers[b].use.turns};
    if (in_window[b] != kOpen) one.fixed = in_window[b] * halves + window_half;
    // The halves in turn.
    if (buffers[b].channel) one.fixed = *buffers[b].channel * halves + placed++ % halves;
    loaded.push_back(std::move(one));
  }
  std::vector<DramBank> out;
  for (std::int32_t bank : place_by_load(loaded, ChannelRoom(halves > 1 ? room.halves : room.channels, room.epochs), halves > 1))
    out.emplace_back(bank / halves, halves > 1 ? bank % halves : DramBank::kEitherHalf);
  return out;
}

}  // namespace

std::vector<DramBank> choose_banks(DramAlgorithm algorithm, const std::vector<UnplacedBuffer>& buffers, const DramRoom& room,
                                   const device::DeviceDescriptor& device) {
  const std::vector<std::int32_t> in_window = windowed(buffers, room);
  if (algorithm == DramAlgorithm::by_load) return banks_by_load(buffers, in_window, room, device);
  Chooser chooser(algorithm, room, device);
  for (const UnplacedBuffer& buffer : buffers)
    if (buffer.channel) chooser.put(buffer, *buffer.channel);
  std::vector<DramBank> out;
  for (std::size_t b = 0; b < buffers.size(); ++b) {
    if (buffers[b].channel) {
      out.emplace_back(*buffers[b].channel);
    } else {
      out.emplace_back(in_window[b] == kOpen ? chooser.choose(buffers[b]) : in_window[b]);
    }
  }
  return out;
}

}  // namespace buda::balance
