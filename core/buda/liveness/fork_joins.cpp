// SPDX-License-Identifier: Apache-2.0
// Sets of ancestors as bits, in topological order.
#include <buda/liveness/fork_joins.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>

namespace buda::liveness {
namespace {

class Paths {
 public:
  Paths(const pipes::NetlistIndex& index, const pipes::Epoch& epoch) : index_(index) {
    for (const auto* graph : epoch.graphs)
      for (const auto& op : graph->ops) {
        number_[op.name] = ops_.size();
        ops_.push_back(&op);
      }
    ancestors_.resize(ops_.size());
    state_.assign(ops_.size(), State::fresh);
    rank_.assign(ops_.size(), 0);
    for (std::size_t i = 0; i < ops_.size(); ++i) visit(i);
  }

  std::vector<ForkJoin> pairs() const {
    std::vector<ForkJoin> out;
    for (std::size_t join : order_) {
      const std::vector<std::size_t> from = sources(join);
      for (std::size_t a = 0; a < from.size(); ++a)
        for (std::size_t b = a + 1; b < from.size(); ++b) {
          const std::size_t fork = nearest(from[a], from[b]);
          if (fork == kNo) continue;
          ForkJoin pair{ops_[fork]->name, ops_[join]->name};
          if (std::find(out.begin(), out.end(), pair) == out.end()) out.push_back(std::move(pair));
        }
    }
    return out;
  }

 private:
  enum class State : std::uint8_t { fresh, open, done };
  static constexpr std::size_t kNo = static_cast<std::size_t>(-1);

  std::vector<std::size_t> sources(std::size_t op) const {
    std::vector<std::size_t> out;
    for (const auto& in : ops_[op]->inputs) {
      const std::size_t queue = index_.queue(in.name);
      const auto found = number_.find(queue == pipes::NetlistIndex::kNone ? in.name : index_.netlist().queues[queue].input);
      if (found != number_.end()) out.push_back(found->second);
    }
    return out;
  }

  // Depth first; an edge back to an op whose ancestors are being collected closes a loop through a queue, and is left out.
  void visit(std::size_t root) {
    std::vector<std::pair<std::size_t, bool>> stack{{root, false}};
    while (!stack.empty()) {
      const auto [op, closes] = stack.back();
      stack.pop_back();
      if (closes) {
        close(op);
        continue;
      }
      if (state_[op] != State::fresh) continue;
      state_[op] = State::open;
      stack.push_back({op, true});
      for (std::size_t from : sources(op))
        if (state_[from] == State::fresh) stack.push_back({from, false});
    }
  }

  void close(std::size_t op) {
    auto& mine = ancestors_[op];
    mine.assign(ops_.size(), false);
    mine[op] = true;
    for (std::size_t from : sources(op))
      if (state_[from] == State::done)
        for (std::size_t i = 0; i < mine.size(); ++i)
          if (ancestors_[from][i]) mine[i] = true;
    state_[op] = State::done;
    rank_[op] = order_.size();
    order_.push_back(op);
  }

  std::size_t nearest(std::size_t a, std::size_t b) const {
    std::size_t best = kNo;
    for (std::size_t i = 0; i < ops_.size(); ++i)
      if (ancestors_[a][i] && ancestors_[b][i] && (best == kNo || rank_[i] > rank_[best])) best = i;
    return best;
  }

  const pipes::NetlistIndex& index_;
  std::vector<const netlist::Op*> ops_;
  std::map<std::string, std::size_t> number_;
  std::vector<std::vector<bool>> ancestors_;
  std::vector<State> state_;
  std::vector<std::size_t> rank_, order_;
};

}  // namespace

std::vector<ForkJoin> fork_joins(const pipes::NetlistIndex& index, const pipes::Epoch& epoch) { return Paths(index, epoch).pairs(); }

}  // namespace buda::liveness
