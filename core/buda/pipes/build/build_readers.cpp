// Who reads which buffer in DRAM.
//
// The readers of a buffer free its slots together, so each pipe says how many there are and which one it is. Pipes that share their reads
// are one reader: those that bring the same blocks to an op and to the ops that name it in forked_dram_inputs.
#include <buda/pipes/build/graph_builder.hpp>

#include <algorithm>
#include <numeric>

namespace buda::pipes {

void GraphBuilder::note_sharing(std::size_t o, std::size_t number, Id pipe) {
  const InputPlan& input = plan_.ops[o].inputs[number];
  if (!input.source.is_queue()) return;
  const std::string& other = plan_.ops[o].op->inputs[number].forked_from;
  auto reader = other.empty() ? plan_.op_index.end() : plan_.op_index.find(other);
  const bool shares = reader != plan_.op_index.end();
  Sharing s{input.source.queue, shares ? reader->second : o, !shares};
  if (shares) shared_.insert({s.queue, s.reader});
  sharing_.emplace(pipe, s);
}

// Per pipe, the one whose reads serve it. Among pipes that share, the reader's own comes first.
std::vector<std::size_t> GraphBuilder::share_reads() {
  std::vector<std::size_t> served_by(graph_.pipes.size());
  std::iota(served_by.begin(), served_by.end(), std::size_t{0});
  if (shared_.empty()) return served_by;
  std::map<std::tuple<std::size_t, std::size_t, std::int64_t, std::vector<Id>>, std::vector<std::size_t>> groups;
  for (bool reads : {true, false})
    for (std::size_t i = 0; i < graph_.pipes.size(); ++i) {
      const Pipe& pipe = graph_.pipes[i];
      auto s = sharing_.find(pipe.id);
      if (s == sharing_.end() || s->second.reads != reads || !shared_.contains({s->second.queue, s->second.reader})) continue;
      groups[{s->second.queue, s->second.reader, pipe.periodic_repeat, pipe.inputs}].push_back(i);
    }
  for (const auto& [key, pipes] : groups)
    for (std::size_t k = 0; k < pipes.size(); ++k) {
      graph_.pipes[pipes[k]].dram_num_forks = static_cast<std::int32_t>(pipes.size());
      graph_.pipes[pipes[k]].dram_fork_index = static_cast<std::int32_t>(k);
      served_by[pipes[k]] = pipes.front();
    }
  return served_by;
}

void GraphBuilder::note_readers() {
  BufferIndex buffers(graph_.buffers);
  std::vector<std::size_t> served_by = share_reads();
  std::map<Id, std::int32_t> total, next;
  std::vector<std::vector<Id>> sources;
  for (std::size_t i = 0; i < graph_.pipes.size(); ++i) {
    std::vector<Id> bases;
    for (Id block : graph_.pipes[i].inputs) bases.push_back(base_id(block));
    std::sort(bases.begin(), bases.end());
    bases.erase(std::unique(bases.begin(), bases.end()), bases.end());
    std::erase_if(bases, [&](Id id) {
      const Buffer* b = buffers.find(id);
      return b == nullptr || !b->is_queue();
    });
    if (served_by[i] == i)
      for (Id id : bases) ++total[id];
    sources.push_back(std::move(bases));
  }
  for (std::size_t i = 0; i < graph_.pipes.size(); ++i) {
    if (sources[i].empty() || served_by[i] != i) continue;
    Pipe& pipe = graph_.pipes[i];
    for (Id block : pipe.inputs) {
      // Padding within the input of an op's output has no readers to count; it stands for one.
      auto it = total.find(base_id(block));
      pipe.dram_total_readers.push_back(it == total.end() ? 1 : it->second);
      pipe.dram_reader_index.push_back(it == total.end() ? 0 : next[base_id(block)]);
    }
    for (Id id : sources[i]) ++next[id];
  }
  for (std::size_t i = 0; i < graph_.pipes.size(); ++i) {
    if (served_by[i] == i) continue;
    graph_.pipes[i].dram_total_readers = graph_.pipes[served_by[i]].dram_total_readers;
    graph_.pipes[i].dram_reader_index = graph_.pipes[served_by[i]].dram_reader_index;
  }
}

}  // namespace buda::pipes
