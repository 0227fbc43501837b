// SPDX-License-Identifier: Apache-2.0
// Greedy choice of pipes that share.
#include <buda/overlay/streams/shared_reads.hpp>

#include <buda/base/text.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace buda::overlay {
namespace {

// Disjoint sets of names.
class NameSets {
 public:
  bool are_joined(const std::string& a, const std::string& b) { return find(number(a)) == find(number(b)); }
  void join(const std::string& a, const std::string& b) { parent_[find(number(a))] = find(number(b)); }

 private:
  std::size_t number(const std::string& name) {
    auto [it, fresh] = numbers_.emplace(name, parent_.size());
    if (fresh) parent_.push_back(it->second);
    return it->second;
  }
  std::size_t find(std::size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  std::map<std::string, std::size_t> numbers_;
  std::vector<std::size_t> parent_;
};

// Ops that depend on each other during the epoch: what feeds an op is joined with it. A queue joins only if it is written in the epoch.
NameSets dependent_ops(const std::vector<PipePlan>& plans) {
  std::set<std::string> written;
  for (const PipePlan& p : plans)
    if (p.sink == SinkKind::queue) written.insert(p.first_output().op);
  NameSets ops;
  for (const PipePlan& p : plans) {
    bool feeds = false;
    for (const Buffer* source : p.sources) {
      if (source->is_queue() && !written.contains(source->op)) continue;
      ops.join(source->op, p.first_output().op);
      feeds = true;
    }
    if (!feeds) continue;
    for (const auto& group : p.groups) ops.join(group.front()->op, p.first_output().op);
  }
  return ops;
}

std::string input_name(const Buffer& b) { return cat(b.op, ' ', b.operand); }

bool may_share(const PipePlans& plans, const PipePlan& plan) {
  if (plan.pipe->dram_num_forks < 2 || plan.source != SourceKind::dram || plan.sink != SinkKind::kernel || plan.before_epoch) return false;
  if (plan.over_pcie() || plan.groups.size() != 1 || !plan.routes.front().hops.empty() || plan.reads_rows()) return false;
  // An input to which several pipes lead takes them in round-robin order, which would bind all receivers.
  return std::all_of(plan.groups.front().begin(), plan.groups.front().end(),
                     [&](const Buffer* b) { return plans.feeds.at(b->id).size() == 1; });
}

// Pipes with the same reads, those that save most first.
std::vector<std::vector<std::size_t>> groups_that_may_share(const PipePlans& plans) {
  std::map<std::pair<std::vector<Id>, std::int64_t>, std::vector<std::size_t>> by_reads;
  for (std::size_t i = 0; i < plans.pipes.size(); ++i)
    if (const PipePlan& p = plans.pipes[i]; may_share(plans, p)) by_reads[{p.pipe->inputs, p.pipe->repeats()}].push_back(i);
  std::vector<std::vector<std::size_t>> out;
  for (auto& [reads, members] : by_reads) out.push_back(std::move(members));
  auto saved = [&](const std::vector<std::size_t>& members) {
    const PipePlan& p = plans.pipes[members.front()];
    return static_cast<double>(members.size() - 1) * static_cast<double>(p.passes * p.pass_tiles) * p.first_output().tile_size;
  };
  std::stable_sort(out.begin(), out.end(), [&](const auto& a, const auto& b) { return saved(a) > saved(b); });
  return out;
}

}  // namespace

bool SharedReads::empty() const {
  return std::none_of(reader.begin(), reader.end(), [](const auto& r) { return r.has_value(); });
}

std::int32_t reading_core(const CoreMap& cores, const PipePlan& plan) {
  const Buffer& target = plan.first_output();
  if (!plan.multicast) return cores.of(target);
  const auto& corners = plan.routes.front().last->mcast_core;
  const pipes::CoreCoord at = corners.empty() ? pipes::CoreCoord{target.chip, target.core} : corners.front();
  return cores.worker(at.chip, at.core);
}

SharedReads no_shared_reads(const PipePlans& plans) {
  return {std::vector<std::optional<std::size_t>>(plans.pipes.size()), std::vector<bool>(plans.pipes.size(), false)};
}

SharedReads share_reads(const EpochInput& in, const CoreMap& cores, const PipePlans& plans) {
  SharedReads out = no_shared_reads(plans);
  const auto groups = groups_that_may_share(plans);
  if (groups.empty()) return out;
  std::map<std::int32_t, std::int32_t> multicasts;  // that a core sends
  for (const PipePlan& plan : plans.pipes)
    if (plan.multicast) ++multicasts[reading_core(cores, plan)];
  const std::int32_t max_multicasts = std::min(in.device.streams.multicast_per_core, in.device.streams.input(0));
  NameSets ops = dependent_ops(plans.pipes), inputs;
  for (const auto& members : groups) {
    const PipePlan& reader = plans.pipes[members.front()];
    const Buffer& first = reader.first_output();
    const std::int32_t core = reading_core(cores, reader);
    std::int32_t sending = 1;
    for (std::size_t i : members) {
      const PipePlan& plan = plans.pipes[i];
      const Buffer& b = plan.first_output();
      if (i == members.front() || b.chip != first.chip || sending >= in.device.streams.max_fan_out) continue;
      if (plan.multicast && multicasts[core] >= max_multicasts) continue;
      // Cores of an op receive the same input in step, as in a multicast; so do two ops with the one input that they share.
      const bool is_same_input = inputs.are_joined(input_name(first), input_name(b));
      if (!is_same_input && (b.op == first.op || ops.are_joined(b.op, first.op))) continue;
      ops.join(b.op, first.op);
      inputs.join(input_name(b), input_name(first));
      if (plan.multicast) {
        --multicasts[reading_core(cores, plan)];
        ++multicasts[core];
      }
      ++sending;
      out.reads_for_others[members.front()] = true;
      out.reader[i] = members.front();
    }
  }
  return out;
}

}  // namespace buda::overlay
