// Sizes, places and counts of buffers and pipes.
#include <buda/pipes/check/checker.hpp>

#include <buda/base/text.hpp>

#include <set>

namespace buda::pipes {

using netlist::Op;
using netlist::OpClass;
using netlist::Queue;

void Checker::check_kernel_buffer(const Op& op, const netlist::Graph& graph, std::size_t input, const Buffer& b, std::int64_t delivered) {
  auto bad = [&](std::string_view key, std::int64_t found, std::int64_t wanted, std::string_view relation) {
    error("PC016", op.name,
          cat("op '", op.name, "', input ", input, ", buffer_", b.id, ": ", key, " is ", found, "; it should be ", relation, wanted));
  };
  bool counted_otherwise = op_class(op.type) == OpClass::splice || (op.attributes.identity && input == 1);
  if (!counted_otherwise && b.epoch_tiles != delivered * graph.input_count)
    bad("epoch_tiles", b.epoch_tiles, delivered * graph.input_count, "");
  if (b.tile_clear_granularity < 1) bad("tile_clear_granularity", b.tile_clear_granularity, 1, "at least ");
  if (b.size_tiles < b.tile_clear_granularity) bad("size_tiles", b.size_tiles, b.tile_clear_granularity, "at least ");
  if (b.tile_clear_granularity > 0 && b.size_tiles % b.tile_clear_granularity != 0)
    bad("size_tiles", b.size_tiles, b.tile_clear_granularity, "a multiple of ");
}

void Checker::check_output(const Op& op, const netlist::Graph& graph, std::int64_t core) {
  if (op.gradient_op || op_class(op.type) == OpClass::drainer) return;
  auto found = packers_.find({&op, core});
  std::string what = cat("op '", op.name, "', output of core [", core / op.grid.cols, ", ", core % op.grid.cols, "]");
  if (found == packers_.end()) return error("PC018", op.name, cat(what, ": there is no buffer"));
  const Buffer& b = *found->second;
  std::int64_t window = window_of(op, graph.input_count),
               half = std::int64_t{op.buf_size_mb > 1 ? op.buf_size_mb / 2 : 1} * op.block.mblock_tiles();
  if (b.is_scatter ? b.window_tiles() != window : b.window_tiles() != half)
    error("PC005", op.name, cat(what, ": it is handed out in ", b.window_tiles(), " tiles at a time, not ", b.is_scatter ? window : half));
  std::int64_t all = b.size_tiles * (b.is_scatter ? b.replicate : 1);
  std::int64_t least = op.untilize_output ? std::int64_t{op.block.mblock_n} * op.block.ublock_rt * op.block.ublock_ct : window;
  if (all < least) error("PC016", op.name, cat(what, ": the buffer has ", all, " tiles; ", least, " are handed out at once"));
  std::int64_t epoch = b.epoch_tiles * (b.is_scatter ? b.replicate : 1);
  if (epoch != graph.input_count * op.block.tiles())
    error("PC016", op.name, cat(what, ": epoch_tiles says ", epoch, " tiles in all, not ", graph.input_count * op.block.tiles()));
}

void Checker::check_gradient(const Op& op) {
  for (const Buffer& b : graph_.buffers) {
    if (b.type != BufferType::gradient_op || b.op != op.name) continue;
    auto it = core_at_.find({b.chip, b.core.row, b.core.col});
    const auto& queues = index_.queues_written_by(op.name);
    if (it == core_at_.end() || queues.empty()) continue;
    const Queue& queue = netlist().queues[queues.front()];
    auto core = static_cast<std::size_t>(it->second.second);
    if (core >= queue.buffers.size() || b.dram_addr != address_of(queue, core) || b.dram_chan != queue.buffers[core].channel)
      error("PC003", op.name,
            cat("op '", op.name, "', core ", core, ": its ram '", queue.name, "' is not at address ", b.dram_addr, " of channel ",
                b.dram_chan));
    ++counts_.buffers;
  }
}

// A multicast begins at an end of the line of cores that it reaches; other pipes stand on a core that gives or takes.
void Checker::check_pipe_cores(const Pipe& pipe) {
  for (std::size_t g = 0; g < pipe.outputs.size() && g < pipe.mcast_core.size(); ++g) {
    const auto& group = pipe.outputs[g];
    const CoreCoord& at = pipe.mcast_core[g];
    bool here = false;
    std::set<std::pair<std::int32_t, std::int32_t>> reached;
    for (Id id : group)
      if (const Buffer* b = buffers_.find(id); b != nullptr && b->core.row != kNoCore) {
        reached.insert({b->core.row, b->core.col});
        here = here || (b->chip == at.chip && b->core == at.core);
      }
    if (group.size() > 1) {
      here = !reached.empty() &&
             (std::pair{at.core.row, at.core.col} == *reached.begin() || std::pair{at.core.row, at.core.col} == *reached.rbegin());
      if (reached.size() != group.size()) error("PC021", "", cat("pipe_", pipe.id, " reaches a core twice"));
    } else if (!here) {
      for (Id id : pipe.inputs)
        if (const Buffer* b = buffers_.find(id); b != nullptr && b->chip == at.chip && b->core == at.core) here = true;
    }
    if (!here && !pipe.ethernet_chan && !pipe.ethernet_pipe)
      error("PC021", "",
            cat("pipe_", pipe.id, " stands on core [", at.core.row, ", ", at.core.col, "] of chip ", at.chip,
                ", which is not among its ends"));
  }
}

// Pipes that share reads bring the same blocks, and only to ops that ask for it.
void Checker::check_shared_reads() {
  using Key = std::tuple<std::vector<Id>, std::int64_t, std::vector<std::int32_t>>;
  std::map<Key, std::vector<const Pipe*>> groups;
  for (const Pipe& pipe : graph_.pipes)
    if (pipe.dram_num_forks > 1 || pipe.dram_fork_index != 0)
      groups[{pipe.inputs, pipe.periodic_repeat, pipe.dram_reader_index}].push_back(&pipe);
  for (auto& [key, pipes] : groups) {
    std::sort(pipes.begin(), pipes.end(), [](const Pipe* a, const Pipe* b) { return a->dram_fork_index < b->dram_fork_index; });
    const Buffer* first = buffers_.find(pipes.front()->outputs.front().front());
    for (std::size_t i = 0; i < pipes.size(); ++i) {
      const Pipe& p = *pipes[i];
      const Buffer *b = buffers_.find(p.outputs.front().front()), *source = buffers_.find(p.inputs.front());
      bool asked = first != nullptr && b != nullptr && b->op == first->op;  // an op's own pipes may share too
      const Op* op = b == nullptr ? nullptr : index_.op(b->op).op;
      for (std::size_t k = 0; op != nullptr && first != nullptr && source != nullptr && k < op->inputs.size(); ++k)
        asked = asked || (op->inputs[k].name == source->op && op->inputs[k].forked_from == first->op);
      if (p.dram_fork_index == static_cast<std::int32_t>(i) && p.dram_num_forks == static_cast<std::int32_t>(pipes.size()) && asked)
        continue;
      error("PC022", "",
            cat("pipe_", p.id, " shares its reads as number ", p.dram_fork_index, " of ", p.dram_num_forks,
                asked ? "; that many do not bring the same" : ", for which its op does not ask"));
      break;
    }
  }
}

void Checker::check_readers() {
  check_shared_reads();
  std::map<Id, std::vector<std::pair<std::int32_t, std::int32_t>>> readers;  // index and total
  for (const Pipe& pipe : graph_.pipes) {
    check_pipe_cores(pipe);
    if (!pipe.reads_dram()) continue;
    if (pipe.dram_total_readers.size() != pipe.inputs.size() &&
        pipe.dram_total_readers.size() != pipe.inputs.size() * static_cast<std::size_t>(pipe.repeats())) {
      error("PC022", "", cat("pipe_", pipe.id, ": there is not one number of readers for each block"));
      continue;
    }
    std::set<Id> seen;
    for (std::size_t i = 0; i < pipe.inputs.size(); ++i) {
      const Buffer* b = buffers_.find(pipe.inputs[i]);
      if (b == nullptr || !seen.insert(b->id).second) continue;
      if (!b->is_queue() || b->is_padding || pipe.dram_fork_index != 0) continue;
      readers[b->id].emplace_back(pipe.dram_reader_index[i], pipe.dram_total_readers[i]);
    }
  }
  for (auto& [id, list] : readers) {
    std::sort(list.begin(), list.end());
    for (std::size_t i = 0; i < list.size(); ++i)
      if (list[i].first != static_cast<std::int32_t>(i) || list[i].second != static_cast<std::int32_t>(list.size())) {
        error("PC022", "",
              cat("buffer_", id, " is read by ", list.size(), " pipes, which do not number themselves 0 to ", list.size() - 1));
        break;
      }
  }
}

}  // namespace buda::pipes
