// SPDX-License-Identifier: Apache-2.0
// Numbers readers in the order of the pipes.
#include <buda/pipes/build/dram_readers.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace buda::pipes {
namespace {

// Per pipe, the one whose reads serve it. Among pipes that share, the reader's own come first.
std::vector<std::size_t> share_reads(std::vector<Pipe>& pipes, const std::vector<QueueRead>& reads) {
  std::vector<std::size_t> served_by(pipes.size());
  std::iota(served_by.begin(), served_by.end(), std::size_t{0});
  std::set<std::pair<std::size_t, std::size_t>> shared;  // queue and reader
  for (const QueueRead& read : reads)
    if (!read.is_own) shared.insert({read.queue, read.reader});
  if (shared.empty()) return served_by;
  std::map<Id, const QueueRead*> read_of;
  for (const QueueRead& read : reads)
    if (shared.contains({read.queue, read.reader})) read_of.emplace(read.pipe, &read);
  std::map<std::tuple<std::size_t, std::size_t, std::int64_t, std::vector<Id>>, std::vector<std::size_t>> groups;
  for (bool own : {true, false})
    for (std::size_t i = 0; i < pipes.size(); ++i) {
      auto read = read_of.find(pipes[i].id);
      if (read == read_of.end() || read->second->is_own != own) continue;
      groups[{read->second->queue, read->second->reader, pipes[i].periodic_repeat, pipes[i].inputs}].push_back(i);
    }
  for (const auto& [key, group] : groups)
    for (std::size_t k = 0; k < group.size(); ++k) {
      pipes[group[k]].dram_num_forks = static_cast<std::int32_t>(group.size());
      pipes[group[k]].dram_fork_index = static_cast<std::int32_t>(k);
      served_by[group[k]] = group.front();
    }
  return served_by;
}

// Ids of the queue buffers and constants that a pipe reads, ascending.
std::vector<Id> sources_in_dram(const Pipe& pipe, const BufferIndex& buffers) {
  std::vector<Id> out;
  for (Id block : pipe.inputs) out.push_back(base_id(block));
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  std::erase_if(out, [&](Id id) {
    const Buffer* b = buffers.find(id);
    return b == nullptr || !b->is_queue();
  });
  return out;
}

}  // namespace

std::optional<QueueRead> queue_read(const EpochPlan& plan, std::size_t op, std::size_t number, Id pipe) {
  const InputPlan& input = plan.ops[op].inputs[number];
  if (!input.source.is_queue()) return std::nullopt;
  const std::string& other = plan.ops[op].op->inputs[number].forked_from;
  auto reader = other.empty() ? plan.op_index.end() : plan.op_index.find(other);
  const bool is_own = reader == plan.op_index.end();
  return QueueRead{pipe, input.source.queue, is_own ? op : reader->second, is_own};
}

std::vector<Pipe> number_readers(std::vector<Pipe> pipes, const std::vector<Buffer>& buffers, const std::vector<QueueRead>& reads) {
  const BufferIndex index(buffers);
  const std::vector<std::size_t> served_by = share_reads(pipes, reads);
  std::map<Id, std::int32_t> total, next;
  std::vector<std::vector<Id>> sources;
  for (std::size_t i = 0; i < pipes.size(); ++i) {
    sources.push_back(sources_in_dram(pipes[i], index));
    if (served_by[i] != i) continue;
    for (Id id : sources.back()) ++total[id];
  }
  for (std::size_t i = 0; i < pipes.size(); ++i) {
    if (sources[i].empty() || served_by[i] != i) continue;
    Pipe& pipe = pipes[i];
    for (Id block : pipe.inputs) {
      // Outputs of ops, among the inputs of a pipe that reads padding, have one reader.
      auto it = total.find(base_id(block));
      pipe.dram_total_readers.push_back(it == total.end() ? 1 : it->second);
      pipe.dram_reader_index.push_back(it == total.end() ? 0 : next[base_id(block)]);
    }
    for (Id id : sources[i]) ++next[id];
  }
  for (std::size_t i = 0; i < pipes.size(); ++i) {
    if (served_by[i] == i) continue;
    pipes[i].dram_total_readers = pipes[served_by[i]].dram_total_readers;
    pipes[i].dram_reader_index = pipes[served_by[i]].dram_reader_index;
  }
  return pipes;
}

}  // namespace buda::pipes
