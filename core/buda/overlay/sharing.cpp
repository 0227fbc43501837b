// Pipes that share their reads (dram_pipe_num_forks): the netlist asks for it with forked_dram_inputs. One of them reads, and all the
// others send on what it has read, each with a stream of its own from the same buffer.
//
// A tile leaves that buffer when the slowest has taken it. So pipes do not share where one receiver might wait for what another has still
// to read for: where their ops meet again further on, or one feeds the other. They read for themselves then, as they do where the core
// that would read has no stream left.
#include <buda/overlay/builder.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace buda::overlay {

bool Builder::may_share_reads(const PipePlan& plan) const {
  if (plan.pipe->dram_num_forks < 2 || plan.source != SourceKind::dram || plan.sink != SinkKind::kernel || plan.before_epoch) return false;
  if (plan.over_pcie || plan.groups.size() != 1 || !plan.ways.front().hops.empty()) return false;
  const bool rows =
      std::any_of(plan.buffers.begin(), plan.buffers.end(), [](const Buffer* b) { return b->rows.hw_tilize || b->rows.embedding_table; });
  // An input that several pipes bring takes turns, which would be those of all.
  return !rows &&
         std::all_of(plan.groups.front().begin(), plan.groups.front().end(), [&](const Buffer* b) { return feeds_.at(b->id).size() == 1; });
}

// Ops and queues that an op leads to, and it itself. O(edges of the epoch), once per op that shares reads.
const std::set<std::string>& Builder::led_to(const std::string& op) {
  if (followers_.empty())
    for (const PipePlan& plan : plans_)
      for (const auto& group : plan.groups)
        for (const Buffer* source : plan.buffers) followers_[source->op].insert(group.front()->op);
  auto [it, fresh] = led_to_.try_emplace(op);
  if (!fresh) return it->second;
  std::vector<std::string> open{op};
  it->second.insert(op);
  while (!open.empty()) {
    std::string at = std::move(open.back());
    open.pop_back();
    auto next = followers_.find(at);
    if (next == followers_.end()) continue;
    for (const std::string& n : next->second)
      if (it->second.insert(n).second) open.push_back(n);
  }
  return it->second;
}

bool Builder::meet_again(const std::string& a, const std::string& b) {
  if (a == b) return false;  // cores of an op go side by side, as in a multicast
  const auto &from_a = led_to(a), &from_b = led_to(b);
  return std::any_of(from_a.begin(), from_a.end(), [&](const std::string& op) { return from_b.contains(op); });
}

// Where the plan's tiles arrive from DRAM, if it reads for itself.
std::int32_t Builder::reading_core(const PipePlan& plan) const {
  const Buffer& target = plan.first_output();
  if (!plan.multicast) return core_of_buffer(target);
  const auto& places = plan.ways.front().last->mcast_core;
  const pipes::CoreCoord at = places.empty() ? pipes::CoreCoord{target.chip, target.core} : places.front();
  return core_at(at.chip, at.core);
}

void Builder::share_reads() {
  std::map<std::pair<std::vector<Id>, std::int64_t>, std::vector<std::size_t>> groups;
  std::map<std::int32_t, std::int32_t> multicasts;  // that a core sends
  for (std::size_t i = 0; i < plans_.size(); ++i) {
    const PipePlan& plan = plans_[i];
    if (plan.multicast) ++multicasts[reading_core(plan)];
    if (may_share_reads(plan)) groups[{plan.pipe->inputs, plan.pipe->repeats()}].push_back(i);
  }
  const std::int32_t most = std::min(device_.streams.multicast_per_core, device_.streams.input(0));
  for (const auto& [reads, members] : groups) {
    std::vector<std::size_t> sharing;  // the first of them reads
    for (std::size_t i : members) {
      const PipePlan& plan = plans_[i];
      const std::string& op = plan.first_output().op;
      const bool together =
          std::none_of(sharing.begin(), sharing.end(), [&](std::size_t s) { return meet_again(plans_[s].first_output().op, op); });
      if (sharing.empty()) {
        sharing.push_back(i);
        continue;
      }
      const PipePlan& reader = plans_[sharing.front()];
      const std::int32_t core = reading_core(reader);
      if (!together || static_cast<std::int32_t>(sharing.size()) >= device_.streams.max_fan_out ||
          reader.first_output().chip != plan.first_output().chip || (plan.multicast && multicasts[core] >= most))
        continue;
      if (plan.multicast) {
        --multicasts[reading_core(plan)];
        ++multicasts[core];
      }
      plans_[sharing.front()].reads_for_others = true;
      plans_[i].reads_with = sharing.front();
      served_.insert(plan.pipe->id);
      sharing.push_back(i);
    }
  }
}

}  // namespace buda::overlay
