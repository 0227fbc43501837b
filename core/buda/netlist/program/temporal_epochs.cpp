// SPDX-License-Identifier: Apache-2.0
// Groups executed graphs, and numbers the groups as TT-Buda does: its runtime finds the products of an epoch by that number.
#include <buda/netlist/program/temporal_epochs.hpp>

#include <buda/netlist/model/index.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace buda::netlist {
namespace {

// Groups of graphs that run together; some are empty in the end.
class Groups {
 public:
  explicit Groups(const Netlist& netlist) : netlist_(netlist), index_(netlist), number_(netlist.graphs.size(), kNone) {}

  // In the order of the file, each graph without a group opens one. Then those that feed its ops come to it, with all that are with them.
  void join_what_is_connected() {
    for (std::size_t g = 0; g < number_.size(); ++g) {
      if (number_[g] == kNone) open(g);
      for (std::size_t producer : producers(g)) {
        if (number_[producer] == kNone) {
          put(producer, number_[g]);
        } else if (number_[producer] != number_[g]) {
          move(number_[producer], number_[g]);
        }
      }
    }
  }

  // A group joins that of the execute before, if they have no chip in common.
  void join_neighbours() {
    std::size_t last = kNone;
    for (const Program& program : netlist_.programs)
      for (const Instruction& i : program.instructions) {
        auto* execute = std::get_if<instruction::Execute>(&i.what);
        auto graph = execute == nullptr ? std::nullopt : index_.graph(execute->graph);
        if (!graph) continue;
        if (last != kNone && number_[*graph] != last && !overlap(last, number_[*graph])) move(number_[*graph], last);
        last = number_[*graph];
      }
  }

  std::size_t number(std::size_t graph) const { return number_[graph]; }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  struct Group {
    std::vector<std::size_t> graphs;
    std::set<std::int32_t> chips;
  };

  std::set<std::size_t> producers(std::size_t graph) const {
    std::set<std::size_t> out;
    for (const Op& op : netlist_.graphs[graph].ops)
      for (const OpInput& input : op.inputs)
        if (auto producer = index_.op(input.name); producer && producer->graph != graph) out.insert(producer->graph);
    return out;
  }

  void open(std::size_t graph) {
    groups_.emplace_back();
    put(graph, groups_.size() - 1);
  }

  void put(std::size_t graph, std::size_t number) {
    number_[graph] = number;
    groups_[number].graphs.push_back(graph);
    groups_[number].chips.insert(netlist_.graphs[graph].target_device);
  }

  void move(std::size_t from, std::size_t to) {
    for (std::size_t graph : groups_[from].graphs) put(graph, to);
    groups_[from] = {};
  }

  bool overlap(std::size_t a, std::size_t b) const {
    return std::any_of(groups_[a].chips.begin(), groups_[a].chips.end(),
                       [&](std::int32_t chip) { return groups_[b].chips.contains(chip); });
  }

  const Netlist& netlist_;
  Index index_;
  std::vector<std::size_t> number_;  // by graph
  std::vector<Group> groups_;
};

}  // namespace

Result<std::vector<TemporalEpoch>> temporal_epochs(const Netlist& netlist, bool merge_chips) {
  BUDA_ASSIGN(std::vector<StaticEpoch> epochs, static_epochs(netlist));
  Groups groups(netlist);
  groups.join_what_is_connected();
  if (merge_chips) groups.join_neighbours();
  std::map<std::size_t, TemporalEpoch> by_number;
  for (StaticEpoch& e : epochs) {
    TemporalEpoch& t = by_number[groups.number(e.graph)];
    if (std::find(t.graphs.begin(), t.graphs.end(), e.graph) == t.graphs.end()) t.graphs.push_back(e.graph);
    t.epochs.push_back(std::move(e));
  }
  std::vector<TemporalEpoch> out;
  for (auto& [number, t] : by_number) out.push_back(std::move(t));
  return out;
}

}  // namespace buda::netlist
