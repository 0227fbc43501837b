// Pipes that share their reads (dram_pipe_num_forks): the netlist asks for it with forked_dram_inputs. One of them reads, and all the
// others send on what it has read, each with a stream of its own from the same buffer.
//
// A tile leaves that buffer when the slowest has taken it, so receivers hold each other up. Two ops may, if nothing else ties them to each
// other: no op that both take from or lead to, and no other reads that they share. Else one might wait for a tile that comes after what the
// other has no room for, while that one waits for what it should get the other way. Such pipes read for themselves, as do those for which
// the core that would read has no stream left.
#include <buda/overlay/builder.hpp>

#include <buda/base/text.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

namespace buda::overlay {
namespace {

// Names that hang together.
class Ties {
 public:
  bool tied(const std::string& a, const std::string& b) { return find(number(a)) == find(number(b)); }
  void tie(const std::string& a, const std::string& b) { parent_[find(number(a))] = find(number(b)); }

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

// What feeds an op while the epoch runs ties it to all that is fed from there. A queue ties only if it is written in the epoch.
Ties ties_of(const std::vector<PipePlan>& plans) {
  std::set<std::string> written;
  for (const PipePlan& p : plans)
    if (p.sink == SinkKind::queue) written.insert(p.first_output().op);
  Ties ties;
  for (const PipePlan& p : plans) {
    bool feeds = false;
    for (const Buffer* source : p.buffers) {
      if (source->is_queue() && !written.contains(source->op)) continue;
      ties.tie(source->op, p.first_output().op);
      feeds = true;
    }
    if (!feeds) continue;
    for (const auto& group : p.groups) ties.tie(group.front()->op, p.first_output().op);
  }
  return ties;
}

std::string input_of(const Buffer& b) { return cat(b.op, ' ', b.operand); }

}  // namespace

bool Builder::may_share_reads(const PipePlan& plan) const {
  if (plan.pipe->dram_num_forks < 2 || plan.source != SourceKind::dram || plan.sink != SinkKind::kernel || plan.before_epoch) return false;
  if (plan.over_pcie() || plan.groups.size() != 1 || !plan.ways.front().hops.empty()) return false;
  const bool rows =
      std::any_of(plan.buffers.begin(), plan.buffers.end(), [](const Buffer* b) { return b->rows.hw_tilize || b->rows.embedding_table; });
  // An input that several pipes bring takes turns, which would be those of all.
  return !rows &&
         std::all_of(plan.groups.front().begin(), plan.groups.front().end(), [&](const Buffer* b) { return feeds_.at(b->id).size() == 1; });
}

// Where the plan's tiles arrive from DRAM, if it reads for itself.
std::int32_t Builder::reading_core(const PipePlan& plan) const {
  const Buffer& target = plan.first_output();
  if (!plan.multicast) return core_of_buffer(target);
  const auto& places = plan.ways.front().last->mcast_core;
  const pipes::CoreCoord at = places.empty() ? pipes::CoreCoord{target.chip, target.core} : places.front();
  return core_at(at.chip, at.core);
}

// Pipes that could share, those that save most first.
std::vector<std::vector<std::size_t>> Builder::groups_that_could_share() const {
  std::map<std::pair<std::vector<Id>, std::int64_t>, std::vector<std::size_t>> by_reads;
  for (std::size_t i = 0; i < plans_.size(); ++i)
    if (may_share_reads(plans_[i])) by_reads[{plans_[i].pipe->inputs, plans_[i].pipe->repeats()}].push_back(i);
  std::vector<std::vector<std::size_t>> out;
  for (auto& [reads, members] : by_reads) out.push_back(std::move(members));
  auto saved = [&](const std::vector<std::size_t>& members) {
    const PipePlan& p = plans_[members.front()];
    return static_cast<double>(members.size() - 1) * static_cast<double>(p.passes * p.pass_tiles) * p.first_output().tile_size;
  };
  std::stable_sort(out.begin(), out.end(), [&](const auto& a, const auto& b) { return saved(a) > saved(b); });
  return out;
}

void Builder::share_reads() {
  const auto groups = groups_that_could_share();
  if (groups.empty()) return;
  std::map<std::int32_t, std::int32_t> multicasts;  // that a core sends
  for (const PipePlan& plan : plans_)
    if (plan.multicast) ++multicasts[reading_core(plan)];
  const std::int32_t most = std::min(device_.streams.multicast_per_core, device_.streams.input(0));
  Ties ops = ties_of(plans_), inputs;
  for (const auto& members : groups) {
    PipePlan& reader = plans_[members.front()];
    const Buffer& first = reader.first_output();
    const std::int32_t core = reading_core(reader);
    std::int32_t sending = 1;
    for (std::size_t i : members) {
      PipePlan& plan = plans_[i];
      const Buffer& b = plan.first_output();
      if (i == members.front() || b.chip != first.chip || sending >= device_.streams.max_fan_out) continue;
      if (plan.multicast && multicasts[core] >= most) continue;
      // Cores of an op go side by side with the same input, as in a multicast; so do two ops with the one input that they share.
      const bool alike = inputs.tied(input_of(first), input_of(b));
      if (!alike && (b.op == first.op || ops.tied(b.op, first.op))) continue;
      ops.tie(b.op, first.op);
      inputs.tie(input_of(b), input_of(first));
      if (plan.multicast) {
        --multicasts[reading_core(plan)];
        ++multicasts[core];
      }
      ++sending;
      reader.reads_for_others = true;
      plan.reads_with = members.front();
      served_.insert(plan.pipe->id);
    }
  }
}

}  // namespace buda::overlay
