// SPDX-License-Identifier: Apache-2.0
// Addresses of merged models, judged by comparing every pair of buffers, and by marks for every 32 bytes of memory.
#include <buda/image/merge_memory.hpp>

#include <buda/base/rng.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace buda::image {
namespace {

using netlist::QueueKind;
using netlist::QueueLocation;
using testing::HasSubstr;

constexpr std::uint64_t kUnit = 32;
constexpr std::uint64_t kLowest = 0x400;
constexpr std::uint64_t kReserved = 0x800;

// Two chips whose channels are small enough to be filled by a test.
device::DeviceDescriptor small_device(std::uint64_t bytes) {
  device::DeviceDescriptor d;
  d.name = "small";
  d.arch = "wormhole_b0";
  d.chips = 2;
  for (int i = 0; i < 3; ++i) d.dram.channels.push_back({{{i, 0}, {i, 1}}, kLowest});
  d.dram.bank_bytes = bytes;
  d.host = {2, bytes, 0, {kReserved, 0}};
  d.tile_alignment = 32;
  d.queue_header_bytes = 32;
  return d;
}

netlist::Queue queue(const std::string& name, std::int32_t tiles, std::int32_t channel, std::uint64_t address) {
  netlist::Queue q;
  q.name = name;
  q.entries = tiles;
  q.block = {};
  q.format = DataFormat::float16_b;
  q.buffers = {{channel, address}};
  return q;
}

// A tile of 32 x 32 numbers of two bytes has a header of 16 bytes and is filled up to 32; a buffer has a header of 32 bytes.
std::uint64_t bytes_of(const netlist::Queue& q) { return 32 + static_cast<std::uint64_t>(q.entries) * 2080; }

void allocate(netlist::Netlist& n, const std::vector<std::string>& queues) {
  if (n.programs.empty()) n.programs.emplace_back().name = "run";
  n.programs.front().instructions.push_back({netlist::instruction::Allocate{queues}, {}});
}

using Place = std::tuple<std::int32_t, bool, std::int32_t>;  // chip, whether of the host, channel
Place place_of(const netlist::Queue& q, std::size_t buffer) {
  return {q.target_device, q.location == QueueLocation::host, q.buffers[buffer].channel};
}

struct Owner {
  std::size_t model = 0, queue = 0, buffer = 0;
  bool dynamic = false;
  std::string alias;  // the ram whose memory it is
};

struct Random {
  std::vector<netlist::Netlist> models;
  std::vector<std::set<std::string>> dynamic;
};

Random random_models(Rng& rng) {
  Random out;
  const std::size_t count = 1 + rng.below(5);
  for (std::size_t m = 0; m < count; ++m) {
    netlist::Netlist n;
    std::set<std::string> dynamic;
    std::map<Place, std::uint64_t> tops;
    const std::size_t queues = rng.below(16);
    for (std::size_t i = 0; i < queues; ++i) {
      netlist::Queue q = queue("q" + std::to_string(i), 1 + static_cast<std::int32_t>(rng.below(6)), 0, 0);
      q.buffers.clear();
      q.target_device = static_cast<std::int32_t>(rng.below(2));
      if (rng.below(5) == 0) q.location = QueueLocation::host;
      q.grid = {1, 1 + static_cast<std::int32_t>(rng.below(3))};
      const bool is_dynamic = rng.below(2) == 0;
      q.kind = !is_dynamic && rng.below(2) == 0 ? QueueKind::ram : QueueKind::queue;
      for (std::int32_t b = 0; b < q.grid.volume(); ++b) {
        const bool host = q.location == QueueLocation::host;
        const auto channel = static_cast<std::int32_t>(rng.below(host ? 2 : 3));
        std::uint64_t& top = tops[{q.target_device, host, channel}];
        // Now and then over the queue before it, which is never there at the same time, and sometimes far away.
        if (is_dynamic && rng.below(4) == 0 && top >= 0x2000) top -= 0x2000 - rng.below(3) * kUnit;
        if (rng.below(6) == 0) top += 0x10000;
        q.buffers.push_back({channel, top});
        top += bytes_of(q) + rng.below(2) * kUnit;
      }
      if (is_dynamic) dynamic.insert(q.name);
      n.queues.push_back(q);
      if (q.kind == QueueKind::ram && rng.below(3) == 0) {
        q.alias = q.name;
        q.name += "_alias";
        n.queues.push_back(q);
      }
    }
    allocate(n, {dynamic.begin(), dynamic.end()});
    out.models.push_back(std::move(n));
    out.dynamic.push_back(std::move(dynamic));
  }
  return out;
}

std::uint64_t lowest(const Place& place) { return std::get<1>(place) ? 0 : kLowest; }
std::uint64_t capacity(const device::DeviceDescriptor& d, const Place& place) {
  if (!std::get<1>(place)) return d.dram.bank_bytes - kLowest;
  return d.host.channel_bytes - (std::get<2>(place) == 0 ? kReserved : 0);
}

bool overlap(std::uint64_t a, std::uint64_t a_bytes, std::uint64_t b, std::uint64_t b_bytes) { return a < b + b_bytes && b < a + a_bytes; }

// Who may share memory: a ram and its alias; dynamic queues of different models where that is allowed; and dynamic queues of one model that
// shared it before.
bool may_share(const Random& before, const Owner& a, const Owner& b, bool overlap_dynamic) {
  if (a.model == b.model && a.alias == b.alias) return true;
  if (!a.dynamic || !b.dynamic) return false;
  if (a.model != b.model) return overlap_dynamic;
  const netlist::Queue &x = before.models[a.model].queues[a.queue], &y = before.models[b.model].queues[b.queue];
  return place_of(x, a.buffer) == place_of(y, b.buffer) &&
         overlap(x.buffers[a.buffer].address, bytes_of(x), y.buffers[b.buffer].address, bytes_of(y));
}

class Judge {
 public:
  Judge(const Random& before, const Random& after, const device::DeviceDescriptor& device, const MemoryOptions& options)
      : before_(before), after_(after), device_(device), options_(options) {}

  void run(MemoryProfile profile) {
    for (std::size_t m = 0; m < after_.models.size(); ++m)
      for (std::size_t q = 0; q < after_.models[m].queues.size(); ++q) own(m, q);
    for (const auto& [place, ranges] : ranges_)
      for (std::size_t i = 0; i < ranges.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) {
          const Range &a = ranges[i], &b = ranges[j];
          if (!overlap(a.begin, a.bytes, b.begin, b.bytes)) continue;
          ASSERT_TRUE(may_share(before_, a.owner, b.owner, options_.overlap_dynamic))
              << "models " << a.owner.model << " and " << b.owner.model << ", queues " << a.owner.queue << " and " << b.owner.queue;
        }
    for (std::int32_t chip = 0; chip < 2; ++chip)
      for (bool host : {false, true}) {
        const auto& channels =
            host ? profile.chips.at(static_cast<std::size_t>(chip)).host : profile.chips.at(static_cast<std::size_t>(chip)).dram;
        for (std::size_t c = 0; c < channels.size(); ++c) EXPECT_EQ(channels[c], bytes_in_use({chip, host, static_cast<std::int32_t>(c)}));
      }
  }

 private:
  void own(std::size_t m, std::size_t q) {
    const netlist::Queue &is = after_.models[m].queues[q], &was = before_.models[m].queues[q];
    ASSERT_EQ(is.buffers.size(), was.buffers.size());
    for (std::size_t b = 0; b < is.buffers.size(); ++b) {
      const Place place = place_of(is, b);
      const std::uint64_t address = is.buffers[b].address, bytes = bytes_of(is);
      ASSERT_GE(is.buffers[b].channel, 0);
      ASSERT_LT(is.buffers[b].channel, is.location == QueueLocation::host ? 2 : 3);
      if (!options_.switch_channels) ASSERT_EQ(is.buffers[b].channel, was.buffers[b].channel);
      ASSERT_EQ(address % kUnit, 0u);
      ASSERT_GE(address, lowest(place));
      ASSERT_LE(address + bytes, lowest(place) + capacity(device_, place));
      ranges_[place].push_back({address, bytes, {m, q, b, after_.dynamic[m].contains(is.name), is.alias.empty() ? is.name : is.alias}});
    }
  }

  // A mark for each 32 bytes of the channel.
  std::uint64_t bytes_in_use(const Place& place) {
    std::vector<char> units((lowest(place) + capacity(device_, place)) / kUnit, 0);
    for (const Range& r : ranges_[place]) std::fill_n(units.begin() + static_cast<std::ptrdiff_t>(r.begin / kUnit), r.bytes / kUnit, 1);
    return kUnit * static_cast<std::uint64_t>(std::count(units.begin(), units.end(), 1));
  }

  struct Range {
    std::uint64_t begin = 0, bytes = 0;
    Owner owner;
  };
  const Random &before_, &after_;
  const device::DeviceDescriptor& device_;
  const MemoryOptions options_;
  std::map<Place, std::vector<Range>> ranges_;
};

netlist::Netlist all_queues(const std::vector<netlist::Netlist>& models) {
  netlist::Netlist out;
  for (const auto& n : models) out.queues.insert(out.queues.end(), n.queues.begin(), n.queues.end());
  return out;
}

TEST(MergeMemory, ThousandSetsOfQueuesShareNothingThatIsInUse) {
  Rng rng(20);
  int placed = 0, refused = 0;
  for (int i = 0; i < 1000; ++i) {
    const Random before = random_models(rng);
    Random after = before;
    const auto device = small_device(rng.below(2) == 0 ? 0x40000 : 0x14000);
    const MemoryOptions options{rng.below(2) == 0, rng.below(2) == 0};
    std::vector<MemoryOfModel> models;
    for (std::size_t m = 0; m < after.models.size(); ++m) models.push_back({"model " + std::to_string(m), &after.models[m]});
    auto result = place_queues(models, device, options);
    if (!result) {
      ++refused;
      const Diagnostic& d = result.failure().diagnostics().front();
      EXPECT_EQ(d.code, "IM030");
      EXPECT_EQ(d.fault, Fault::fit);
      for (std::size_t m = 0; m < after.models.size(); ++m) EXPECT_EQ(after.models[m].queues, before.models[m].queues);
      continue;
    }
    ++placed;
    Judge(before, after, device, options).run(memory_profile(all_queues(after.models), device));
    ASSERT_FALSE(testing::Test::HasFailure()) << "set " << i;
  }
  EXPECT_GT(placed, 400);
  EXPECT_GT(refused, 50);
}

// Without the two optimisations, a set of static queues fits if and only if the bytes in each channel do.
TEST(MergeMemory, RefusedIsOnlyWhatDoesNotFit) {
  Rng rng(7);
  int refused = 0;
  for (int i = 0; i < 200; ++i) {
    Random set = random_models(rng);
    const auto device = small_device(0x14000);
    std::map<Place, std::uint64_t> used;
    std::vector<MemoryOfModel> models;
    for (std::size_t m = 0; m < set.models.size(); ++m) {
      set.models[m].programs.clear();
      for (const auto& q : set.models[m].queues)
        for (std::size_t b = 0; b < q.buffers.size() && q.alias.empty(); ++b) used[place_of(q, b)] += bytes_of(q);
      models.push_back({"m", &set.models[m]});
    }
    const bool fits = std::all_of(used.begin(), used.end(), [&](const auto& u) { return u.second <= capacity(device, u.first); });
    EXPECT_EQ(place_queues(models, device, {false, false}).ok(), fits) << i;
    refused += fits ? 0 : 1;
  }
  EXPECT_GT(refused, 20);
}

// What a channel has room for: 0x14000 - 0x400 = 80896 bytes, 38 tiles and a header.
TEST(MergeMemory, RefusalsNameTheOptionThatHelps) {
  const auto device = small_device(0x14000);
  auto place = [&](bool first_dynamic, bool second_dynamic, std::int32_t tiles, std::int32_t second_channel, MemoryOptions options) {
    netlist::Netlist a, b;
    a.queues = {queue("x", tiles, 0, 0x400)};
    b.queues = {queue("y", tiles, second_channel, 0x400)};
    if (first_dynamic) allocate(a, {"x"});
    if (second_dynamic) allocate(b, {"y"});
    auto result = place_queues({{"first", &a}, {"second", &b}}, device, options);
    return result ? std::string("fits")
                  : result.failure().diagnostics().front().message + " -> " + result.failure().diagnostics().front().hint;
  };
  const std::string statics = place(false, false, 30, 0, {false, true});
  EXPECT_THAT(statics,
              HasSubstr("model 'second': a buffer of queue 'y' needs 61 KiB (62432 bytes) in DRAM channel 0 of chip 0, which has 18 KiB "
                        "(18464 bytes) left"));
  EXPECT_THAT(statics, HasSubstr("it fits without --skip_channel_reallocation"));
  EXPECT_EQ(place(false, false, 30, 0, {true, true}), "fits");
  EXPECT_THAT(place(true, true, 30, 0, {false, false}), HasSubstr("it fits without --skip_channel_reallocation"));
  EXPECT_EQ(place(true, true, 30, 0, {false, true}), "fits");
  EXPECT_THAT(place(true, true, 39, 0, {true, true}), HasSubstr("no option helps"));
  EXPECT_THAT(place(true, true, 39, 0, {true, true}), HasSubstr("more than any other channel"));
  // Only dynamic queues that share memory leave room: three channels, four queues.
  netlist::Netlist models[4];
  std::vector<MemoryOfModel> list;
  for (auto& n : models) {
    n.queues = {queue("q", 30, 0, 0x400)};
    allocate(n, {"q"});
    list.push_back({"m" + std::to_string(list.size()), &n});
  }
  auto result = place_queues(list, device, {true, false});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.failure().diagnostics().front().hint, "it fits without --dynamic_queue_overlap_off");
  EXPECT_TRUE(place_queues(list, device, {true, true}));
  EXPECT_EQ(models[0].queues[0].buffers, models[3].queues[0].buffers);
}

TEST(MergeMemory, ProfileInTheFormOfTheGuide) {
  MemoryProfile profile;
  profile.chips.push_back({{169000000, 0, 1048576, 5243}, {139334000}});
  EXPECT_EQ(memory_profile_text(profile),
            "Displaying memory footprint per DRAM channel (MB):\n0 : 161.17\n1 : 0.0\n2 : 1.0\n3 : 0.01\n"
            "Displaying memory footprint per Host channel (MB):\n0 : 132.88\n");
  profile.chips.push_back({{1 << 19}, {}});
  EXPECT_THAT(memory_profile_text(profile), HasSubstr("Displaying memory footprint per DRAM channel of chip 1 (MB):\n0 : 0.5\n"));
}

}  // namespace
}  // namespace buda::image
