// Groups executed graphs.
#include <buda/netlist/temporal_epochs.hpp>

#include <buda/netlist/index.hpp>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace buda::netlist {
namespace {

// Graphs that are joined by op-to-op edges; representative by graph.
class Units {
 public:
  explicit Units(const Netlist& netlist) : parent_(netlist.graphs.size()) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
    Index index(netlist);
    for (std::size_t g = 0; g < netlist.graphs.size(); ++g)
      for (const Op& op : netlist.graphs[g].ops)
        for (const OpInput& input : op.inputs)
          if (auto producer = index.op(input.name)) parent_[find(g)] = find(producer->graph);
  }
  std::size_t find(std::size_t g) {
    while (parent_[g] != g) {
      parent_[g] = parent_[parent_[g]];
      g = parent_[g];
    }
    return g;
  }

 private:
  std::vector<std::size_t> parent_;
};

}  // namespace

Result<std::vector<TemporalEpoch>> temporal_epochs(const Netlist& netlist, bool merge_chips) {
  BUDA_ASSIGN(std::vector<StaticEpoch> epochs, static_epochs(netlist));
  Units units(netlist);
  std::map<std::size_t, std::set<std::int32_t>> chips;  // by unit
  for (std::size_t g = 0; g < netlist.graphs.size(); ++g) chips[units.find(g)].insert(netlist.graphs[g].target_device);

  std::vector<TemporalEpoch> out;
  std::map<std::size_t, std::size_t> place;  // unit to position in out
  std::set<std::int32_t> busy;               // chips of the last temporal epoch
  for (StaticEpoch& e : epochs) {
    std::size_t unit = units.find(e.graph);
    if (place.find(unit) == place.end()) {
      const auto& wanted = chips[unit];
      bool clash = std::any_of(wanted.begin(), wanted.end(), [&](std::int32_t chip) { return busy.count(chip) != 0; });
      if (out.empty() || !merge_chips || clash) {
        out.emplace_back();
        busy.clear();
      }
      busy.insert(wanted.begin(), wanted.end());
      place[unit] = out.size() - 1;
    }
    TemporalEpoch& t = out[place[unit]];
    if (std::find(t.graphs.begin(), t.graphs.end(), e.graph) == t.graphs.end()) t.graphs.push_back(e.graph);
    t.epochs.push_back(std::move(e));
  }
  return out;
}

}  // namespace buda::netlist
