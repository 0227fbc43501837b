// SPDX-License-Identifier: Apache-2.0
// Depth-first search over relay buffers.
#include <buda/overlay/plan/relay_routes.hpp>

#include <buda/base/checked.hpp>
#include <buda/base/text.hpp>
#include <buda/overlay/plan/pipe_ends.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <set>
#include <utility>

namespace buda::overlay {
namespace {

// From source to receiver: two for each link, and one at either end. No cluster is as wide.
constexpr std::size_t kMaxHops = 1024;
// Routes branch at every relay, so a few relays make very many.
constexpr std::size_t kMaxRoutes = std::size_t{1} << 16;

// A route as far as it is known: it has reached `relay`, with a part of the tiles of each pass, or of one pass in `rounds`.
struct OpenRoute {
  const Buffer* relay = nullptr;
  const Pipe* from = nullptr;  // leads to the relay
  std::vector<RelayHop> hops;
  std::int64_t first = 0, tiles = 0;  // of the pass
  std::size_t round = 0, rounds = 1;
};

class RouteSearch {
 public:
  RouteSearch(const EpochInput& in, const RelayReaders& readers, const Pipe& start, Violations& violations)
      : in_(in), readers_(readers), start_(start), violations_(violations) {}

  bool search(const std::vector<std::vector<const Buffer*>>& groups, std::int64_t pass_tiles);
  RelayRoutes take() && { return std::move(out_); }

 private:
  bool branch(const OpenRoute& route);
  bool follow_reader(const OpenRoute& route, const Pipe& reader);
  bool take_part(const OpenRoute& route, const Pipe& reader, OpenRoute& next);
  bool lead_to(OpenRoute& route, std::vector<const Buffer*> group, std::size_t number);
  bool end(const OpenRoute& route, std::vector<const Buffer*> group, std::size_t number);
  bool check_firmware(const Pipe& reader, const Buffer& from, const Buffer& to);
  bool check_parts(std::int64_t pass_tiles);

  const EpochInput& in_;
  const RelayReaders& readers_;
  const Pipe& start_;
  Violations& violations_;
  std::vector<OpenRoute> open_;
  RelayRoutes out_;
};

// An output group at the end of a route.
bool RouteSearch::end(const OpenRoute& route, std::vector<const Buffer*> group, std::size_t number) {
  if (out_.routes.size() == kMaxRoutes) {
    violations_.error("OV002", &start_, group.front(), cat("the routes from it branch so often that there are more than ", kMaxRoutes));
    return false;
  }
  // The rounds of a part follow one another.
  if (out_.parts.empty() || out_.parts.back().first != route.first)
    out_.parts.push_back({route.first, route.tiles, std::vector<std::size_t>(route.rounds, SIZE_MAX)});
  Part& part = out_.parts.back();
  if (part.groups.size() != route.rounds || part.tiles != route.tiles || part.groups[route.round] != SIZE_MAX) {
    violations_.error("OV002", route.from, group.front(), "other pipes take the same tiles");
    return false;
  }
  part.groups[route.round] = out_.groups.size();
  out_.groups.push_back(std::move(group));
  out_.routes.push_back({route.hops, route.from, number});
  return true;
}

// The firmware of Ethernet cores carries tiles between two of its own streams.
bool RouteSearch::check_firmware(const Pipe& reader, const Buffer& from, const Buffer& to) {
  if (from.chip == to.chip || !is_relay(to) || from.use_ethernet_fw_stream == to.use_ethernet_fw_stream) return true;
  const Buffer &with = from.use_ethernet_fw_stream ? from : to, &without = from.use_ethernet_fw_stream ? to : from;
  violations_.error(
      "OV002", &reader, &to,
      cat("use_ethernet_fw_stream is set of buffer_", with.id, ", but not of buffer_", without.id, " at the other end of the link"));
  return false;
}

// One output group of the pipe that `route.from` is: the end of the route, or the next relay.
bool RouteSearch::lead_to(OpenRoute& route, std::vector<const Buffer*> group, std::size_t number) {
  if (std::none_of(group.begin(), group.end(), [](const Buffer* b) { return is_relay(*b); })) return end(route, std::move(group), number);
  if (group.size() > 1) {
    violations_.unsupported(route.from, route.relay != nullptr ? route.relay : group.front(),
                            "tiles that go to several relay buffers at once");
    return false;
  }
  const Buffer* from = std::exchange(route.relay, group.front());
  if (from != nullptr && !check_firmware(*route.from, *from, *route.relay)) return false;
  open_.push_back(route);
  return true;
}

// Which tiles of the pass a pipe takes from the relay: `next` gets them.
bool RouteSearch::take_part(const OpenRoute& route, const Pipe& reader, OpenRoute& next) {
  const Buffer& relay = *route.relay;
  const auto times = checked_mul(static_cast<std::int64_t>(reader.inputs.size()), reader.repeats());
  const auto product = times ? checked_mul(*times, relay.scatter_gather_num_tiles) : std::nullopt;
  const std::int64_t taken = product.value_or(std::numeric_limits<std::int64_t>::max());
  const bool is_shared = readers_.at(relay.id).size() > 1;
  if (is_shared || relay.is_scatter) {
    const auto first = static_cast<std::int64_t>(reader.inputs.front() - relay.id);
    const auto block = static_cast<Id>(relay.scatter_gather_num_tiles);
    bool in_order = reader.repeats() == 1 && first <= route.tiles && taken <= route.tiles - first && (is_shared || first == 0);
    for (std::size_t i = 1; i < reader.inputs.size(); ++i) in_order = in_order && reader.inputs[i] == reader.inputs[i - 1] + block;
    if (!in_order) {
      violations_.unsupported(&reader, &relay, "a relay buffer from which pipes take tiles in another order");
      return false;
    }
    if (is_shared) {
      next.first = route.first + first;
      next.tiles = taken;
    }
  }
  if (reader.outputs.size() > 1 && (route.rounds > 1 || taken != next.tiles)) {
    violations_.unsupported(&reader, &relay, "a relay buffer whose round-robin receivers take other portions than arrive");
    return false;
  }
  return true;
}

// On with a pipe that takes from the relay.
bool RouteSearch::follow_reader(const OpenRoute& route, const Pipe& reader) {
  OpenRoute next = route;
  if (!take_part(route, reader, next)) return false;
  next.hops.push_back({route.relay, route.from});
  next.from = &reader;
  const bool is_round_robin = reader.outputs.size() > 1;
  if (is_round_robin) next.rounds = reader.outputs.size();
  for (std::size_t g = 0; g < reader.outputs.size(); ++g) {
    auto group = resolve_group(in_, reader, reader.outputs[g], violations_);
    if (!group) return false;
    if (is_round_robin) next.round = g;
    next.relay = route.relay;
    if (!lead_to(next, std::move(*group), g)) return false;
  }
  return true;
}

// From a relay buffer to all pipes that take from it.
bool RouteSearch::branch(const OpenRoute& route) {
  auto readers = readers_.find(route.relay->id);
  if (readers == readers_.end()) {
    violations_.error("OV002", route.from, route.relay, cat("no pipe takes from buffer_", route.relay->id));
    return false;
  }
  if (route.hops.size() > kMaxHops) {
    violations_.error("OV002", &start_, route.relay, cat("the pipes form a cycle, or lead over more than ", kMaxHops, " relay buffers"));
    return false;
  }
  for (const Pipe* reader : readers->second) {
    if (!std::all_of(reader->inputs.begin(), reader->inputs.end(), [&](Id id) { return in_.buffers.find(id) == route.relay; })) {
      violations_.unsupported(reader, route.relay, "a pipe that takes from a relay buffer and from others");
      return false;
    }
    if (!follow_reader(route, *reader)) return false;
  }
  return true;
}

// The parts have to be all of a pass, one after the other.
bool RouteSearch::check_parts(std::int64_t pass_tiles) {
  std::sort(out_.parts.begin(), out_.parts.end(), [](const Part& a, const Part& b) { return a.first < b.first; });
  auto refuse = [&](std::int64_t tile, const char* problem) {
    violations_.error("OV002", &start_, out_.groups.front().front(),
                      cat("of the ", pass_tiles, " tiles that it brings in a pass, number ", tile, problem));
    return false;
  };
  std::int64_t at = 0;
  for (const Part& p : out_.parts) {
    const bool is_whole = std::none_of(p.groups.begin(), p.groups.end(), [](std::size_t g) { return g == SIZE_MAX; });
    if (p.first != at || !is_whole) return refuse(std::min(at, p.first), p.first < at ? " is taken twice" : " is taken by no pipe");
    at += p.tiles;
  }
  return at == pass_tiles || refuse(at, " is taken by no pipe");
}

bool RouteSearch::search(const std::vector<std::vector<const Buffer*>>& groups, std::int64_t pass_tiles) {
  for (std::size_t g = 0; g < groups.size(); ++g) {
    OpenRoute start{nullptr, &start_, {}, 0, pass_tiles, g, groups.size()};
    if (!lead_to(start, groups[g], g)) return false;
    while (!open_.empty()) {
      OpenRoute route = std::move(open_.back());
      open_.pop_back();
      if (!branch(route)) return false;
    }
  }
  return check_parts(pass_tiles);
}

}  // namespace

RelayReaders index_relay_readers(const EpochInput& in) {
  RelayReaders out;
  for (const Pipe& pipe : in.graph.pipes)
    for (Id id : pipe.inputs)
      if (const Buffer* b = in.buffers.find(id); b != nullptr && is_relay(*b)) {
        auto& readers = out[b->id];
        if (readers.empty() || readers.back() != &pipe) readers.push_back(&pipe);
      }
  return out;
}

bool starts_at_relay(const EpochInput& in, const Pipe& pipe) {
  return std::any_of(pipe.inputs.begin(), pipe.inputs.end(), [&](Id id) {
    const Buffer* b = in.buffers.find(id);
    return b != nullptr && is_relay(*b);
  });
}

std::optional<RelayRoutes> follow_relays(const EpochInput& in, const RelayReaders& readers, const Pipe& pipe,
                                         const std::vector<std::vector<const Buffer*>>& groups, std::int64_t pass_tiles,
                                         Violations& violations) {
  RouteSearch search(in, readers, pipe, violations);
  if (!search.search(groups, pass_tiles)) return std::nullopt;
  return std::move(search).take();
}

void check_relays(const EpochInput& in, const std::vector<PipePlan>& plans, Violations& violations) {
  std::set<Id> reached;
  for (const PipePlan& plan : plans)
    for (const RelayRoute& route : plan.routes)
      for (const RelayHop& hop : route.hops) reached.insert(hop.buffer->id);
  for (const Buffer& b : in.graph.buffers)
    if (is_relay(b) && !reached.contains(b.id)) violations.error("OV002", nullptr, &b, cat("no pipe leads to buffer_", b.id));
}

}  // namespace buda::overlay
