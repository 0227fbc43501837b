// SPDX-License-Identifier: Apache-2.0
// Strongly connected parts of "needs" come out of Tarjan's algorithm with those first that others need; started in file order, it changes
// no more than it has to.
#include <buda/runtime/programs/program_order.hpp>

#include <buda/netlist/model/index.hpp>

#include <algorithm>
#include <limits>
#include <set>

namespace buda::runtime {
namespace {

using netlist::Netlist;
using netlist::QueueKind;

class Order {
 public:
  // Nodes are the programs, and behind them the queues: a program needs the queues that it reads, a queue the programs that fill it.
  explicit Order(const Netlist& netlist)
      : programs_(netlist.programs.size()), needs_(programs_ + netlist.queues.size()), nodes_(needs_.size()) {
    const netlist::Index index(netlist);
    std::vector<std::vector<std::size_t>> runs(netlist.graphs.size());  // by graph: the programs
    for (std::size_t p = 0; p < programs_; ++p) {
      std::set<std::size_t> graphs;
      for (const auto& i : netlist.programs[p].instructions)
        if (const auto* execute = std::get_if<netlist::instruction::Execute>(&i.what))
          if (auto g = index.graph(execute->graph); g && graphs.insert(*g).second) runs[*g].push_back(p);
    }
    auto is_queue = [&](std::size_t q) { return netlist.queues[q].kind == QueueKind::queue; };
    for (std::size_t q = 0; q < netlist.queues.size(); ++q)
      if (auto writer = index.op(netlist.queues[q].input); writer && is_queue(q)) needs_[programs_ + q] = runs[writer->graph];
    for (std::size_t g = 0; g < netlist.graphs.size(); ++g) {
      std::set<std::size_t> read;
      for (const auto& op : netlist.graphs[g].ops)
        for (const auto& in : op.inputs)
          if (auto q = index.queue(in.name); q && is_queue(*q)) read.insert(programs_ + *q);
      for (std::size_t p : runs[g]) needs_[p].insert(needs_[p].end(), read.begin(), read.end());
    }
  }

  std::vector<std::size_t> run() {
    for (std::size_t p = 0; p < programs_; ++p)
      if (nodes_[p].number == kNew) visit(p);
    return std::move(order_);
  }

 private:
  static constexpr std::size_t kNew = std::numeric_limits<std::size_t>::max();
  struct Node {
    std::size_t number = kNew;  // in the order of discovery
    std::size_t least = 0;      // of what can be reached and is still open
    std::size_t next = 0;       // need to look at
    bool open = false;
  };

  void enter(std::size_t n) {
    nodes_[n].number = nodes_[n].least = count_++;
    nodes_[n].open = true;
    path_.push_back(n);
    open_.push_back(n);
  }

  // Without recursion: chains of programs may be long.
  void visit(std::size_t start) {
    enter(start);
    while (!path_.empty()) {
      const std::size_t n = path_.back();
      Node& node = nodes_[n];
      if (node.next < needs_[n].size()) {
        const std::size_t need = needs_[n][node.next++];
        if (nodes_[need].number == kNew) {
          enter(need);
        } else if (nodes_[need].open) {
          node.least = std::min(node.least, nodes_[need].number);
        }
        continue;
      }
      path_.pop_back();
      if (!path_.empty()) nodes_[path_.back()].least = std::min(nodes_[path_.back()].least, node.least);
      if (node.least == node.number) close(n);
    }
  }

  void close(std::size_t root) {
    const std::size_t begin = order_.size();
    for (std::size_t n = kNew; n != root;) {
      n = open_.back();
      open_.pop_back();
      nodes_[n].open = false;
      if (n < programs_) order_.push_back(n);
    }
    std::sort(order_.begin() + static_cast<std::ptrdiff_t>(begin), order_.end());
  }

  std::size_t programs_;
  std::vector<std::vector<std::size_t>> needs_;
  std::vector<Node> nodes_;
  std::vector<std::size_t> path_, open_, order_;
  std::size_t count_ = 0;
};

}  // namespace

std::vector<const netlist::Program*> program_order(const Netlist& netlist) {
  std::vector<const netlist::Program*> out;
  for (std::size_t p : Order(netlist).run()) out.push_back(&netlist.programs[p]);
  return out;
}

}  // namespace buda::runtime
