// Ways from chip to chip over ethernet.
#pragma once

#include <buda/device/cluster.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace buda::pipes {

// The cables to take, one after the other, each written in the direction of travel.
using ChipWay = std::vector<device::EthLink>;

// Hands out ways, and keeps count of the streams that each cable has left: a way takes one at both ends of each of its cables, whichever
// direction it goes. Of equal ways, and of cables side by side, those that were handed out least often come first, so that edges spread
// over the cables; which they are depends on nothing but the order of the calls.
class ChipRoutes {
 public:
  // Without link_streams in the cluster cables have room for any number of ways.
  ChipRoutes(const device::DeviceDescriptor& device, const device::Cluster& cluster);

  // A way of fewest cables among those that have room: a detour where the shortest are full. Nothing when there is none.
  // O(chips + cables) for the first way to a chip since a cable became full, then O(length * cables of a chip).
  std::optional<ChipWay> take(std::int32_t from, std::int32_t to);
  // Only if it is as short as any that there is.
  std::optional<ChipWay> take_shortest(std::int32_t from, std::int32_t to);
  // A way that begins with one cable and ends with another, or is this one cable, given by the channel at its beginning and the channel at
  // its end.
  std::optional<ChipWay> take_between(std::int32_t from, std::int32_t channel, std::int32_t to, std::int32_t to_channel);

  // What was taken, but is not needed.
  void give_back(const ChipWay& way);

  bool joined(std::int32_t from, std::int32_t to);
  // Why there is no way, though the chips are joined: full cables, one of which every way would have to take, written outwards from
  // `from`. Those around all that can be reached from it, or around all from which `to` can be, whichever are fewer. O(chips + cables)
  std::vector<device::EthLink> full_between(std::int32_t from, std::int32_t to) const;
  std::int64_t streams_of_a_cable() const { return most_; }
  // The cable at a channel, outwards.
  std::optional<device::EthLink> cable(std::int32_t chip, std::int32_t channel) const;
  // Streams of the cable at a channel, and how many of them are left; nothing where there is none.
  struct Room {
    std::int64_t all = 0, left = 0;
  };
  std::optional<Room> room(std::int32_t chip, std::int32_t channel) const;

 private:
  struct End {
    device::EthLink link;    // outwards
    std::size_t number = 0;  // of the cable
  };
  using Distances = std::vector<std::int32_t>;  // -1 for chips from which there is no way
  Distances distances_to(std::int32_t chip, bool with_room) const;
  const Distances& known_distances(std::map<std::int32_t, Distances>& known, std::int32_t chip, bool with_room);
  std::vector<device::EthLink> full_around(std::int32_t chip) const;
  const End* end_at(std::int32_t chip, std::int32_t channel) const;
  bool is_chip(std::int32_t chip) const { return chip >= 0 && static_cast<std::size_t>(chip) < ends_.size(); }
  bool has_room(const End& end) const { return used_[end.number] < most_; }
  void use(const End& end, ChipWay& way);

  std::vector<std::vector<End>> ends_;  // per chip
  std::vector<std::int64_t> used_;      // per cable
  std::int64_t most_ = 0;               // ways over a cable
  std::map<std::int32_t, Distances> free_, all_;
};

}  // namespace buda::pipes
