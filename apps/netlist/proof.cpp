// SPDX-License-Identifier: Apache-2.0
// The sketch of a proof: the forks and joins, and the state that came back, or that everything was passed on.
#include "apps/netlist/proof.hpp"

#include <buda/base/text.hpp>

#include <algorithm>

namespace buda::netlist_tool {
namespace {

using liveness::EpochLiveness;

constexpr std::size_t kMost = 3;

std::string pairs_text(const EpochLiveness& epoch) {
  if (epoch.fork_joins.empty()) return "no paths that part and meet again";
  std::string out = "paths part and meet again: ";
  for (std::size_t i = 0; i < std::min(epoch.fork_joins.size(), kMost); ++i)
    out += cat(i == 0 ? "" : ", ", '\'', epoch.fork_joins[i].fork, "' to '", epoch.fork_joins[i].join, '\'');
  if (epoch.fork_joins.size() > kMost) out += cat(", and ", epoch.fork_joins.size() - kMost, " more");
  return out;
}

// What the host has to do, which a netlist does not say.
std::string given_text(const EpochLiveness& epoch) {
  if (epoch.given_first.empty()) return "";
  std::string out = cat("; if the host gives the first ", epoch.given_first.size() == 1 ? "entry of the queue" : "entries of queues");
  for (std::size_t i = 0; i < std::min(epoch.given_first.size(), kMost); ++i) out += cat(i == 0 ? " '" : ", '", epoch.given_first[i], '\'');
  if (epoch.given_first.size() > kMost) out += cat(", and ", epoch.given_first.size() - kMost, " more");
  return out + (epoch.given_first.size() == 1 ? ", which follows from itself" : ", which follow from themselves");
}

std::string end_text(const EpochLiveness& epoch) {
  if (epoch.deadlock) return cat("deadlock after ", epoch.ran, " of ", epoch.inputs, " inputs");
  if (epoch.equals != 0)
    return cat("live: after ", epoch.ran, " of ", epoch.inputs, " inputs the state is the same as after ", epoch.equals);
  return cat("live: all of ", epoch.inputs, epoch.inputs == 1 ? " input" : " inputs", epoch.inputs == 1 ? " passes" : " pass");
}

}  // namespace

std::string proof_text(const std::vector<EpochLiveness>& epochs) {
  std::string out;
  for (const EpochLiveness& epoch : epochs)
    out += cat("  epoch ", epoch.epoch, " '", join(epoch.graphs, "', '"), "': ", end_text(epoch), "; ", epoch.kernels, " kernels, ",
               epoch.streams, " streams; ", pairs_text(epoch), given_text(epoch), '\n');
  return out;
}

io::Node proof_json(const std::vector<EpochLiveness>& epochs) {
  io::Node list = io::Node::list();
  for (const EpochLiveness& epoch : epochs) {
    io::Node line = io::Node::map();
    line.add("epoch", io::Node::integer(epoch.epoch));
    io::Node graphs = io::Node::list();
    for (const auto& graph : epoch.graphs) graphs.push(io::Node::string(graph));
    line.add("graphs", std::move(graphs));
    line.add("live", io::Node::boolean(!epoch.deadlock));
    line.add("inputs", io::Node::integer(epoch.inputs));
    line.add("ran", io::Node::integer(epoch.ran));
    if (epoch.equals != 0) line.add("state_after", io::Node::integer(epoch.equals));
    line.add("kernels", io::Node::integer(static_cast<std::int64_t>(epoch.kernels)));
    line.add("streams", io::Node::integer(static_cast<std::int64_t>(epoch.streams)));
    io::Node pairs = io::Node::list();
    for (const auto& pair : epoch.fork_joins) {
      io::Node both = io::Node::list();
      both.push(io::Node::string(pair.fork));
      both.push(io::Node::string(pair.join));
      pairs.push(std::move(both));
    }
    line.add("fork_joins", std::move(pairs));
    if (!epoch.given_first.empty()) {
      io::Node queues = io::Node::list();
      for (const auto& queue : epoch.given_first) queues.push(io::Node::string(queue));
      line.add("given_first", std::move(queues));
    }
    list.push(std::move(line));
  }
  return list;
}

}  // namespace buda::netlist_tool
