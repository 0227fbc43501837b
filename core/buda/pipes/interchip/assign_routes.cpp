// SPDX-License-Identifier: Apache-2.0
// One route per edge, then further ones, then routes of single receivers.
#include <buda/pipes/interchip/assign_routes.hpp>

#include <buda/pipes/interchip/no_route.hpp>
#include <buda/pipes/interchip/rounds.hpp>

#include <algorithm>
#include <set>
#include <utility>

namespace buda::pipes {
namespace {

// The pipes of an edge, with the routes that they share; or one pipe that must not share one.
std::vector<RouteGroup> pipes_by_edge(const std::vector<InterChipPipe>& pipes) {
  std::vector<RouteGroup> out;
  for (std::size_t i = 0; i < pipes.size(); ++i) {
    const Transfer& t = pipes[i].transfer;
    const bool has_route = t.fixed_route != nullptr || t.from == t.to;
    if (!has_route && !t.rows && !out.empty() && out.back().routes.empty() && pipes[i - 1].transfer.edge == t.edge) {
      ++out.back().count;
      continue;
    }
    out.push_back({i, 1, {}});
    if (has_route) out.back().routes.push_back(t.fixed_route != nullptr ? *t.fixed_route : ChipRoute{});
  }
  return out;
}

// Further routes for edges with more pipes than routes.
void add_routes(std::vector<RouteGroup>& edges, const std::vector<InterChipPipe>& pipes, RouteAllocator& links) {
  auto is_served = [](const RouteGroup* edge) { return edge->routes.size() >= edge->count; };
  std::vector<RouteGroup*> waiting;
  for (RouteGroup& edge : edges)
    if (!is_served(&edge)) waiting.push_back(&edge);
  for (bool direct : {true, false}) {
    std::vector<RouteGroup*> asking = waiting;
    while (!asking.empty())
      std::erase_if(asking, [&](RouteGroup* edge) {
        const Transfer& t = pipes[edge->first].transfer;
        auto route = direct ? links.allocate_shortest(t.from, t.to) : links.allocate(t.from, t.to);
        if (route) edge->routes.push_back(std::move(*route));
        return !route || is_served(edge);
      });
    std::erase_if(waiting, is_served);
  }
}

// Whether several pipes of an edge lead to the same buffers, in rounds that only their first segments know.
bool share_receivers(const RouteGroup& edge, const std::vector<InterChipPipe>& pipes) {
  std::set<Id> known;
  for (std::size_t i = edge.first; i < edge.first + edge.count; ++i) {
    std::set<Id> own;
    for (const auto& group : pipes[i].pipe.outputs) own.insert(group.begin(), group.end());
    for (Id id : own)
      if (!known.insert(id).second) return true;
  }
  return false;
}

// Routes for all receivers but the first, or none.
std::vector<ChipRoute> routes_of_receivers(const InterChipPipe& pipe, RouteAllocator& links) {
  std::vector<ChipRoute> routes;
  if (!can_separate_receivers(pipe)) return routes;
  const std::size_t wanted = receivers_of(pipe).size();
  while (routes.size() + 1 < wanted) {
    auto route = links.allocate(pipe.transfer.from, pipe.transfer.to);
    if (route) {
      routes.push_back(std::move(*route));
      continue;
    }
    for (const ChipRoute& allocated : routes) links.release(allocated);
    return {};
  }
  return routes;
}

}  // namespace

Result<std::vector<RouteGroup>> assign_routes(const std::vector<InterChipPipe>& pipes, RouteAllocator& links,
                                              const netlist::Netlist& netlist, const device::DeviceDescriptor& device) {
  std::vector<RouteGroup> edges = pipes_by_edge(pipes);
  for (RouteGroup& edge : edges) {
    if (!edge.routes.empty()) continue;
    const Transfer& t = pipes[edge.first].transfer;
    auto route = links.allocate(t.from, t.to);
    if (!route) return no_route(netlist, device, links, *t.op, t.from, t.to);
    edge.routes.push_back(std::move(*route));
  }
  add_routes(edges, pipes, links);
  std::vector<RouteGroup> out;
  for (RouteGroup& edge : edges) {
    const bool shares = share_receivers(edge, pipes);
    for (std::size_t r = 0; r < edge.routes.size(); ++r) {
      const std::size_t begin = edge.count * r / edge.routes.size(), end = edge.count * (r + 1) / edge.routes.size();
      RouteGroup& group = out.emplace_back(RouteGroup{edge.first + begin, end - begin, {std::move(edge.routes[r])}});
      if (group.count != 1 || shares) continue;
      auto further = routes_of_receivers(pipes[group.first], links);
      group.routes.insert(group.routes.end(), std::make_move_iterator(further.begin()), std::make_move_iterator(further.end()));
    }
  }
  return out;
}

}  // namespace buda::pipes
