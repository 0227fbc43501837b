// SPDX-License-Identifier: Apache-2.0
// The actions of the epoch are timed anew, each from what it waited for, with one part twice as fast.
//
// An action begins when its cause has ended, when the tiles and the room are there that it needs, and when the stream or kernel has done
// what it did before. What did not decide anything in the run can decide then, so the epoch gains less than its chain of causes says.
#include <buda/sim/report/limits.hpp>

#include <buda/base/text.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace buda::sim {
namespace {

using perf::EpochSummary;
using Limit = EpochSummary::Limit;

// What is twice as fast.
struct Scenario {
  Limit limit;
  std::optional<Part> part;
  const netlist::Op* op = nullptr;
  std::optional<Action::Kind> action;
};

// Actions that are timed anew at most: the last ones. A limit that shows in them is that of the epoch.
constexpr std::uint32_t kMaxActions = 1u << 18;

class Retiming {
 public:
  explicit Retiming(const Machine& m) : m_(m) {
    const std::uint32_t count = m.actions.count();
    first_ = count > kMaxActions ? count - kMaxActions : 0;
    while (m.actions.find(first_) == nullptr) ++first_;
    since_ = first_ == 0 ? 0 : m.actions.find(first_)->begin;
    Ticks last = 0;
    for (std::uint32_t id = first_; id < count; ++id) last = std::max(last, m.actions.find(id)->end);
    rest_ = m.now - std::min(m.now, last);
  }

  // Part of the time that is saved.
  double gain(const Scenario& scenario) {
    const Ticks end = end_of(scenario);
    return end >= m_.now ? 0 : static_cast<double>(m_.now - end) / static_cast<double>(m_.now - since_);
  }

 private:
  Ticks end_of(const Scenario& s) {
    const bool networks = s.part == Part::networks;
    const std::uint32_t count = m_.actions.count();
    ends_.assign(count - first_, 0);
    senders_.assign(m_.streams.size(), 0);
    readers_.assign(m_.streams.size(), 0);
    kernels_.assign(m_.kernels.size(), 0);
    Ticks last = 0;
    for (std::uint32_t id = first_; id < count; ++id) {
      const Action& a = *m_.actions.find(id);
      Ticks begin = begin_of(a, networks);
      for (const Need& need : a.also) begin = std::max(begin, met(need, networks));
      if (a.kind == Action::Kind::step) begin = std::max(begin, kernels_[a.entity]);
      if (a.kind == Action::Kind::send || a.kind == Action::Kind::write) begin = std::max(begin, senders_[a.entity]);
      Ticks end = begin + duration_of(a, s);
      if (a.kind == Action::Kind::step) kernels_[a.entity] = end;
      if (a.kind == Action::Kind::send || a.kind == Action::Kind::write) senders_[a.entity] = end;
      if (a.kind == Action::Kind::read) end = readers_[a.entity] = std::max(end, readers_[a.entity]);  // answers come in order
      ends_[id - first_] = end;
      last = std::max(last, end);
    }
    return std::max(last + rest_, busiest(s));
  }

  Ticks begin_of(const Action& a, bool networks) const {
    const Action* cause = a.cause < first_ ? nullptr : m_.actions.find(a.cause);
    if (cause == nullptr) return a.begin;
    const Ticks after = a.begin - std::min(a.begin, cause->end);
    return ends_[a.cause - first_] + (networks ? after / 2 : after);
  }

  // 0 where that is too long ago to matter.
  Ticks met(const Need& need, bool networks) const {
    if (need.action == kNoAction || need.action < first_) return 0;
    return ends_[need.action - first_] + (networks ? need.after / 2 : need.after);
  }

  Ticks duration_of(const Action& a, const Scenario& s) const {
    const Ticks time = a.end - a.begin - a.queued;
    if (s.part) return time - a.saved[static_cast<std::size_t>(*s.part)];
    const bool is_faster = s.op != nullptr ? a.kind == Action::Kind::step && m_.kernels[a.entity].op == s.op : a.kind == s.action;
    return is_faster ? time / 2 : time;
  }

  // No order of events is faster than the bytes pass the busiest resource.
  Ticks busiest(const Scenario& s) const {
    double most = 0;
    for (ResourceId id = 0; id < m_.fabric.resources().size(); ++id) {
      const double part = s.part == m_.fabric.resources()[id].part ? 0.5 : 1;
      most = std::max(most, part * m_.fabric.utilisation(id, m_.now));
    }
    return static_cast<Ticks>(most * static_cast<double>(m_.now));
  }

  const Machine& m_;
  std::uint32_t first_ = 0;
  Ticks since_ = 0;
  Ticks rest_ = 0;                                  // from the end of the last action to that of the epoch
  std::vector<Ticks> ends_;                         // by action, from first_ on
  std::vector<Ticks> senders_, readers_, kernels_;  // ends of the last action of each
};

// Kernels that take most of the time of the last actions' chain, and those that take longest for an input.
std::vector<const netlist::Op*> slow_kernels(const Machine& m) {
  constexpr std::size_t kMaxPerKind = 3;
  std::map<const netlist::Op*, Ticks> longest, chain;
  for (const KernelState& k : m.kernels) longest[k.op] = std::max(longest[k.op], k.busy_time);
  std::uint32_t last = m.actions.count() - 1;
  for (std::uint32_t id = last, seen = 0; seen < 4096 && m.actions.find(id) != nullptr; --id, ++seen)
    if (m.actions.find(id)->end > m.actions.find(last)->end) last = id;
  for (const Link& link : chain_of(m.actions, last, 0))
    if (link.action->kind == Action::Kind::step) chain[m.kernels[link.action->entity].op] += link.time;
  std::vector<const netlist::Op*> out;
  for (const auto* times : {&chain, &longest}) {
    std::vector<std::pair<Ticks, const netlist::Op*>> order;
    for (const auto& [op, time] : *times) order.emplace_back(time, op);
    std::sort(order.begin(), order.end(),
              [](const auto& x, const auto& y) { return x.first != y.first ? x.first > y.first : x.second->name < y.second->name; });
    for (std::size_t i = 0; i < std::min(kMaxPerKind, order.size()); ++i)
      if (std::find(out.begin(), out.end(), order[i].second) == out.end()) out.push_back(order[i].second);
  }
  return out;
}

std::vector<Scenario> scenarios_of(const Machine& m) {
  std::vector<Scenario> out;
  out.push_back({{"networks", {}, 0}, Part::networks, nullptr, {}});
  out.push_back({{"DRAM", {}, 0}, Part::memories, nullptr, {}});
  out.push_back({{"links between chips and to the host", {}, 0}, Part::outside, nullptr, {}});
  out.push_back({{"loading of kernels and stream programs", {}, 0}, {}, nullptr, Action::Kind::load});
  out.push_back({{"the host", {}, 0}, {}, nullptr, Action::Kind::host});
  for (const netlist::Op* op : slow_kernels(m)) out.push_back({{cat("kernel of '", op->name, '\''), op->name, 0}, {}, op, {}});
  return out;
}

}  // namespace

std::vector<Limit> limits_of(const Machine& m) {
  std::vector<Limit> out;
  if (m.actions.count() == 0 || m.now == 0) return out;
  Retiming retiming(m);
  for (Scenario& scenario : scenarios_of(m)) {
    scenario.limit.gain = retiming.gain(scenario);
    if (scenario.limit.gain > 0) out.push_back(std::move(scenario.limit));
  }
  std::stable_sort(out.begin(), out.end(), [](const auto& x, const auto& y) { return x.gain > y.gain; });
  return out;
}

}  // namespace buda::sim
