// Pipes that meet at relay buffers are planned as one: from the first, which has the sources and the order of blocks, along the relays to
// the last, which have the outputs. Each relay buffer is a stream that receives and sends on, so its phases are those of the whole way.
// Several pipes may take from one relay, each a part of every pass; then the ways part there.
#include <buda/overlay/builder.hpp>

#include <buda/base/checked.hpp>
#include <buda/base/text.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

namespace buda::overlay {
namespace {

// From source to receiver: two for each cable, and one at either end. No cluster is as wide.
constexpr std::size_t kMostHops = 1024;
// Ways part at every relay, so a few relays make very many.
constexpr std::size_t kMostWays = std::size_t{1} << 16;

}  // namespace

void Builder::index_relays() {
  for (const Pipe& pipe : graph_.pipes)
    for (Id id : pipe.inputs)
      if (const Buffer* b = index_.find(id); b != nullptr && is_relay(*b)) {
        auto& readers = relay_readers_[b->id];
        if (readers.empty() || readers.back() != &pipe) readers.push_back(&pipe);
      }
}

bool Builder::starts_at_relay(const Pipe& pipe) const {
  return std::any_of(pipe.inputs.begin(), pipe.inputs.end(), [&](Id id) {
    const Buffer* b = index_.find(id);
    return b != nullptr && is_relay(*b);
  });
}

// A way as far as it is known: it has reached `relay`, with some of the tiles of each pass, or of each turn-th pass.
struct Builder::Trail {
  const Buffer* relay = nullptr;
  const Pipe* bringing = nullptr;
  std::vector<Hop> hops;
  std::int64_t first = 0, tiles = 0;  // of the pass
  std::size_t turn = 0, turns = 1;
};

// An output group at the end of a way.
bool Builder::end(PipePlan& plan, const Trail& trail, std::vector<const Buffer*> group, const Pipe& last, std::size_t number) {
  if (plan.ways.size() == kMostWays) {
    error("OV002", plan.pipe, group.front(), cat("the ways from it part so often that there are more than ", kMostWays));
    return false;
  }
  // The turns of a part follow one another.
  if (plan.parts.empty() || plan.parts.back().first != trail.first)
    plan.parts.push_back({trail.first, trail.tiles, std::vector<std::size_t>(trail.turns, SIZE_MAX)});
  Part& part = plan.parts.back();
  if (part.groups.size() != trail.turns || part.tiles != trail.tiles || part.groups[trail.turn] != SIZE_MAX) {
    error("OV002", &last, group.front(), "other pipes take the same tiles");
    return false;
  }
  part.groups[trail.turn] = plan.groups.size();
  plan.groups.push_back(std::move(group));
  plan.ways.push_back({trail.hops, &last, number});
  return true;
}

// The firmware of ethernet cores carries tiles between two of its own streams.
bool Builder::check_firmware(const Pipe& reader, const Buffer& from, const Buffer& to) {
  if (from.chip == to.chip || !is_relay(to) || from.use_ethernet_fw_stream == to.use_ethernet_fw_stream) return true;
  error("OV002", &reader, &to,
        cat("use_ethernet_fw_stream is set of buffer_", from.use_ethernet_fw_stream ? from.id : to.id, ", but not of buffer_",
            from.use_ethernet_fw_stream ? to.id : from.id, " at the other end of the link"));
  return false;
}

// On with a pipe that takes from the relay.
bool Builder::follow_reader(PipePlan& plan, const Trail& trail, const Pipe& reader, std::vector<Trail>& open) {
  Trail next = trail;
  const auto times = checked_mul(static_cast<std::int64_t>(reader.inputs.size()), reader.repeats());
  const auto product = times ? checked_mul(*times, trail.relay->scatter_gather_num_tiles) : std::nullopt;
  const std::int64_t taken = product.value_or(std::numeric_limits<std::int64_t>::max());
  const bool is_shared = relay_readers_.at(trail.relay->id).size() > 1;
  if (is_shared || trail.relay->is_scatter) {
    const auto first = static_cast<std::int64_t>(reader.inputs.front() - trail.relay->id);
    const auto block = static_cast<Id>(trail.relay->scatter_gather_num_tiles);
    bool in_order = reader.repeats() == 1 && first <= trail.tiles && taken <= trail.tiles - first && (is_shared || first == 0);
    for (std::size_t i = 1; i < reader.inputs.size(); ++i) in_order = in_order && reader.inputs[i] == reader.inputs[i - 1] + block;
    if (!in_order) {
      unsupported(&reader, trail.relay, "a relay buffer from which pipes take tiles out of their order");
      return false;
    }
    if (is_shared) {
      next.first = trail.first + first;
      next.tiles = taken;
    }
  }
  if (reader.outputs.size() > 1 && (trail.turns > 1 || taken != next.tiles)) {
    unsupported(&reader, trail.relay, "a relay buffer from which receivers take other portions in turns than arrive");
    return false;
  }
  next.hops.push_back({trail.relay, trail.bringing});
  next.bringing = &reader;
  if (reader.outputs.size() > 1) next.turns = reader.outputs.size();
  for (std::size_t g = 0; g < reader.outputs.size(); ++g) {
    std::vector<const Buffer*> group;
    if (!resolve_group(reader, reader.outputs[g], group)) return false;
    if (reader.outputs.size() > 1) next.turn = g;
    if (!is_relay(*group.front())) {
      if (!end(plan, next, std::move(group), reader, g)) return false;
      continue;
    }
    if (group.size() > 1) {
      unsupported(&reader, trail.relay, "tiles that go to several relay buffers at once");
      return false;
    }
    next.relay = group.front();
    if (!check_firmware(reader, *trail.relay, *next.relay)) return false;
    open.push_back(next);
  }
  return true;
}

// From a relay buffer to all pipes that take from it.
bool Builder::branch(PipePlan& plan, const Trail& trail, std::vector<Trail>& open) {
  auto readers = relay_readers_.find(trail.relay->id);
  if (readers == relay_readers_.end()) {
    error("OV002", trail.bringing, trail.relay, cat("no pipe takes from buffer_", trail.relay->id));
    return false;
  }
  if (trail.hops.size() > kMostHops) {
    error("OV002", plan.pipe, trail.relay, cat("the pipes lead in a circle, or over more than ", kMostHops, " relay buffers"));
    return false;
  }
  for (const Pipe* reader : readers->second) {
    if (!std::all_of(reader->inputs.begin(), reader->inputs.end(), [&](Id id) { return index_.find(id) == trail.relay; })) {
      unsupported(reader, trail.relay, "a pipe that takes from a relay buffer and from others");
      return false;
    }
    if (!follow_reader(plan, trail, *reader, open)) return false;
  }
  return true;
}

// The parts have to be all of a pass, one after the other.
bool Builder::check_parts(PipePlan& plan) {
  std::sort(plan.parts.begin(), plan.parts.end(), [](const Part& a, const Part& b) { return a.first < b.first; });
  std::int64_t at = 0;
  for (const Part& p : plan.parts) {
    const bool is_whole = std::none_of(p.groups.begin(), p.groups.end(), [](std::size_t g) { return g == SIZE_MAX; });
    if (p.first == at && is_whole) {
      at += p.tiles;
      continue;
    }
    error("OV002", plan.pipe, &plan.first_output(),
          cat("of the ", plan.pass_tiles, " tiles that it brings in a pass, number ", std::min(at, p.first), " is taken ",
              p.first < at ? "twice" : "by nobody"));
    return false;
  }
  if (at == plan.pass_tiles) return true;
  error("OV002", plan.pipe, &plan.first_output(),
        cat("of the ", plan.pass_tiles, " tiles that it brings in a pass, number ", at, " is taken by nobody"));
  return false;
}

// Replaces output groups that are relay buffers by what lies at the ends of the ways from there.
bool Builder::follow_relays(PipePlan& plan) {
  const auto groups = std::exchange(plan.groups, {});
  std::vector<Trail> open;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    Trail trail{nullptr, plan.pipe, {}, 0, plan.pass_tiles, g, groups.size()};
    if (std::none_of(groups[g].begin(), groups[g].end(), [](const Buffer* b) { return is_relay(*b); })) {
      if (!end(plan, trail, groups[g], *plan.pipe, g)) return false;
      continue;
    }
    if (groups[g].size() > 1) {
      unsupported(plan.pipe, groups[g].front(), "tiles that go to several relay buffers at once");
      return false;
    }
    trail.relay = groups[g].front();
    open.push_back(std::move(trail));
    while (!open.empty()) {
      Trail here = std::move(open.back());
      open.pop_back();
      if (!branch(plan, here, open)) return false;
    }
  }
  return check_parts(plan);
}

// What stands on no way from a source is fed by nobody.
void Builder::check_relays() {
  std::set<Id> reached;
  for (const PipePlan& plan : plans_)
    for (const Way& way : plan.ways)
      for (const Hop& hop : way.hops) reached.insert(hop.buffer->id);
  for (const Buffer& b : graph_.buffers)
    if (is_relay(b) && !reached.contains(b.id)) error("OV002", nullptr, &b, cat("no pipe leads to buffer_", b.id));
}

std::int32_t Builder::core_of_buffer(const Buffer& b) const {
  if (!is_on_ethernet(b)) return core_at(b.chip, b.core);
  auto it = link_core_.find({b.chip, b.ethernet_chan.value_or(-1)});
  return it == link_core_.end() ? -1 : it->second;
}

}  // namespace buda::overlay
