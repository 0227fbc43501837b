// SPDX-License-Identifier: Apache-2.0
// Checks fields of pipes.
#include <buda/pipes/check/check_readers.hpp>

#include <buda/base/text.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace buda::pipes {

using netlist::Op;

namespace {

// A multicast begins at an end of the line of cores that it reaches; other pipes are on a core that sends or receives.
void check_pipe_cores(const CheckedEpoch& epoch, const Pipe& pipe, Findings& findings) {
  for (std::size_t g = 0; g < pipe.outputs.size() && g < pipe.mcast_core.size(); ++g) {
    const auto& group = pipe.outputs[g];
    const CoreCoord& at = pipe.mcast_core[g];
    bool here = false;
    std::set<std::pair<std::int32_t, std::int32_t>> reached;
    for (Id id : group)
      if (const Buffer* b = epoch.buffers.find(id); b != nullptr && b->core.row != kNoCore) {
        reached.insert({b->core.row, b->core.col});
        here = here || (b->chip == at.chip && b->core == at.core);
      }
    if (group.size() > 1) {
      here = !reached.empty() &&
             (std::pair{at.core.row, at.core.col} == *reached.begin() || std::pair{at.core.row, at.core.col} == *reached.rbegin());
      if (reached.size() != group.size()) findings.error("PC021", "", cat("pipe_", pipe.id, " reaches a core twice"));
    } else if (!here) {
      for (Id id : pipe.inputs)
        if (const Buffer* b = epoch.buffers.find(id); b != nullptr && b->chip == at.chip && b->core == at.core) here = true;
    }
    if (!here && !pipe.ethernet_chan && !pipe.ethernet_pipe)
      findings.error(
          "PC021", "",
          cat("pipe_", pipe.id, " is on core [", at.core.row, ", ", at.core.col, "] of chip ", at.chip, ", which is not among its ends"));
  }
}

// Pipes that share reads transfer the same blocks, and only to ops that ask for it.
void check_shared_reads(const CheckedEpoch& epoch, Findings& findings) {
  using Key = std::tuple<std::vector<Id>, std::int64_t, std::vector<std::int32_t>>;
  std::map<Key, std::vector<const Pipe*>> groups;
  for (const Pipe& pipe : epoch.graph.pipes)
    if (pipe.dram_num_forks > 1 || pipe.dram_fork_index != 0)
      groups[{pipe.inputs, pipe.periodic_repeat, pipe.dram_reader_index}].push_back(&pipe);
  for (auto& [key, pipes] : groups) {
    std::sort(pipes.begin(), pipes.end(), [](const Pipe* a, const Pipe* b) { return a->dram_fork_index < b->dram_fork_index; });
    const Buffer* first = epoch.buffers.find(pipes.front()->outputs.front().front());
    for (std::size_t i = 0; i < pipes.size(); ++i) {
      const Pipe& p = *pipes[i];
      const Buffer *b = epoch.buffers.find(p.outputs.front().front()), *source = epoch.buffers.find(p.inputs.front());
      bool asked = first != nullptr && b != nullptr && b->op == first->op;  // an op's own pipes may share too
      const Op* op = b == nullptr ? nullptr : epoch.index.op(b->op).op;
      for (std::size_t k = 0; op != nullptr && first != nullptr && source != nullptr && k < op->inputs.size(); ++k)
        asked = asked || (op->inputs[k].name == source->op && op->inputs[k].forked_from == first->op);
      if (p.dram_fork_index == static_cast<std::int32_t>(i) && p.dram_num_forks == static_cast<std::int32_t>(pipes.size()) && asked)
        continue;
      findings.error("PC022", "",
                     cat("pipe_", p.id, " shares its reads as number ", p.dram_fork_index, " of ", p.dram_num_forks,
                         asked ? "; that many do not transfer the same" : ", for which its op does not ask"));
      break;
    }
  }
}

}  // namespace

void check_readers(const CheckedEpoch& epoch, Findings& findings) {
  check_shared_reads(epoch, findings);
  std::map<Id, std::vector<std::pair<std::int32_t, std::int32_t>>> readers;  // index and total
  for (const Pipe& pipe : epoch.graph.pipes) {
    check_pipe_cores(epoch, pipe, findings);
    if (!pipe.reads_dram()) continue;
    if (pipe.dram_total_readers.size() != pipe.inputs.size() &&
        pipe.dram_total_readers.size() != pipe.inputs.size() * static_cast<std::size_t>(pipe.repeats())) {
      findings.error("PC022", "", cat("pipe_", pipe.id, ": there is not one number of readers for each block"));
      continue;
    }
    std::set<Id> seen;
    for (std::size_t i = 0; i < pipe.inputs.size(); ++i) {
      const Buffer* b = epoch.buffers.find(pipe.inputs[i]);
      if (b == nullptr || !seen.insert(b->id).second) continue;
      if (!b->is_queue() || b->is_padding || pipe.dram_fork_index != 0) continue;
      readers[b->id].emplace_back(pipe.dram_reader_index[i], pipe.dram_total_readers[i]);
    }
  }
  for (auto& [id, list] : readers) {
    std::sort(list.begin(), list.end());
    for (std::size_t i = 0; i < list.size(); ++i)
      if (list[i].first != static_cast<std::int32_t>(i) || list[i].second != static_cast<std::int32_t>(list.size())) {
        findings.error("PC022", "",
                       cat("buffer_", id, " is read by ", list.size(), " pipes, which do not number themselves 0 to ", list.size() - 1));
        break;
      }
  }
}

}  // namespace buda::pipes
