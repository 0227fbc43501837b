// SPDX-License-Identifier: Apache-2.0
// Queues and graphs that list their chips become one instance per chip, also of a list of one.
//
// Instance d of X is called X.d; the ops of a graph, the inputs of ops and queues, aliases, executes and queue settings follow. A
// reference from something that is placed on one chip only to something that has instances stays as it is, and is then found to be
// missing by the validator. Host memory belongs to the first chip: instance i of a queue there lies i times the queue's size further up.
#include <buda/netlist/text/parse_context.hpp>

#include <map>

namespace buda::netlist {
namespace {

// A small file must not unfold into gigabytes; the largest real cluster has a few thousand.
constexpr std::size_t kMaxInstances = 500'000;

using Instances = std::map<std::string, std::vector<std::int32_t>>;

std::string instance_name(const std::string& name, std::int32_t device) { return cat(name, ".", device); }

class Expander {
 public:
  Expander(const std::vector<QueueDraft>& queues, const std::vector<GraphDraft>& graphs) {
    for (const auto& q : queues)
      if (q.listed) nodes_[q.queue.name] = q.devices;
    for (const auto& g : graphs) {
      if (!g.listed) continue;
      graphs_[g.graph.name] = g.devices;
      for (const auto& op : g.graph.ops) nodes_[op.name] = g.devices;
    }
  }
  // How many elements the expansion makes.
  std::size_t cost(const std::vector<QueueDraft>& queues, const std::vector<GraphDraft>& graphs,
                   const std::vector<Program>& programs) const {
    std::size_t sum = 0;
    for (const auto& q : queues)
      if (q.listed) sum += q.devices.size() * (1 + q.queue.buffers.size());
    for (const auto& g : graphs)
      if (g.listed) sum += g.devices.size() * (1 + g.graph.ops.size());
    for (const auto& p : programs) {
      for (const auto& inst : p.instructions) {
        if (auto* execute = std::get_if<instruction::Execute>(&inst.what)) {
          auto it = graphs_.find(execute->graph);
          if (it != graphs_.end()) sum += it->second.size() * (1 + execute->settings.size());
        } else if (auto* allocate = std::get_if<instruction::Allocate>(&inst.what)) {
          sum += instances_of(allocate->queues);
        } else if (auto* deallocate = std::get_if<instruction::Deallocate>(&inst.what)) {
          sum += instances_of(deallocate->queues);
        }
      }
    }
    return sum;
  }
  bool idle() const { return nodes_.empty() && graphs_.empty(); }

  void queue(QueueDraft&& d, std::vector<Queue>& out) const {
    if (!d.listed) {
      out.push_back(std::move(d.queue));
      return;
    }
    // Checked by the parser: entries * tiles fits.
    const Queue& q = d.queue;
    std::uint64_t buffer_bytes = static_cast<std::uint64_t>(q.block.tiles()) * static_cast<std::uint64_t>(q.entries) *
                                     static_cast<std::uint64_t>(tile_bytes(q.format, q.tile_dim)) +
                                 static_cast<std::uint64_t>(kTileAlignment);
    std::uint64_t step = buffer_bytes * static_cast<std::uint64_t>(q.grid.volume());
    for (std::size_t i = 0; i < d.devices.size(); ++i) {
      Queue copy = d.queue;
      std::int32_t device = d.devices[i];
      copy.name = instance_name(q.name, device);
      copy.input = renamed(q.input, device);
      if (!q.alias.empty()) copy.alias = renamed(q.alias, device);
      copy.target_device = device;
      if (q.location == QueueLocation::host) {
        copy.target_device = d.devices.front();
        for (auto& b : copy.buffers) b.address += i * step;
      }
      out.push_back(std::move(copy));
    }
  }

  void graph(GraphDraft&& d, std::vector<Graph>& out) const {
    if (!d.listed) {
      out.push_back(std::move(d.graph));
      return;
    }
    for (std::int32_t device : d.devices) {
      Graph copy = d.graph;
      copy.name = instance_name(d.graph.name, device);
      copy.target_device = device;
      for (Op& op : copy.ops) {
        op.name = instance_name(op.name, device);
        for (OpInput& input : op.inputs) {
          input.name = renamed(input.name, device);
          if (!input.forked_from.empty()) input.forked_from = renamed(input.forked_from, device);
        }
      }
      out.push_back(std::move(copy));
    }
  }

  void program(Program& p) const {
    std::vector<Instruction> out;
    for (Instruction& inst : p.instructions) {
      if (auto* execute = std::get_if<instruction::Execute>(&inst.what)) {
        auto it = graphs_.find(execute->graph);
        if (it != graphs_.end()) {
          for (std::int32_t device : it->second) out.push_back({executed(*execute, device), inst.place, inst.parts});
          continue;
        }
      } else if (auto* allocate = std::get_if<instruction::Allocate>(&inst.what)) {
        take_instances(allocate->queues, inst);
      } else if (auto* deallocate = std::get_if<instruction::Deallocate>(&inst.what)) {
        take_instances(deallocate->queues, inst);
      }
      out.push_back(std::move(inst));
    }
    p.instructions = std::move(out);
  }

 private:
  std::size_t instances_of(const std::vector<std::string>& names) const {
    std::size_t sum = 0;
    for (const auto& name : names)
      if (auto it = nodes_.find(name); it != nodes_.end()) sum += it->second.size();
    return sum;
  }
  std::string renamed(const std::string& name, std::int32_t device) const {
    auto it = nodes_.find(name);
    if (it == nodes_.end()) return name;
    for (std::int32_t d : it->second)
      if (d == device) return instance_name(name, device);
    return name;
  }
  instruction::Execute executed(const instruction::Execute& from, std::int32_t device) const {
    instruction::Execute out = from;
    out.graph = instance_name(from.graph, device);
    for (auto& setting : out.settings) setting.queue = renamed(setting.queue, device);
    return out;
  }
  // The queues of an instruction, each with the place of the one that it is an instance of.
  void take_instances(std::vector<std::string>& queues, Instruction& inst) const {
    std::vector<std::string> names;
    std::vector<SourceLocation> parts;
    auto add = [&](std::string name, std::size_t part) {
      names.push_back(std::move(name));
      parts.push_back(inst.part(part));
    };
    for (std::size_t i = 0; i < queues.size(); ++i) {
      auto it = nodes_.find(queues[i]);
      if (it == nodes_.end()) {
        add(queues[i], i);
      } else {
        for (std::int32_t device : it->second) add(instance_name(queues[i], device), i);
      }
    }
    queues = std::move(names);
    inst.parts = std::move(parts);
  }

  Instances nodes_;  // queues and ops
  Instances graphs_;
};

}  // namespace

void keep_instances(std::vector<QueueDraft> queues, std::vector<GraphDraft> graphs, Netlist& netlist) {
  auto chips = [](auto& draft) { return draft.listed ? std::move(draft.devices) : std::vector<std::int32_t>(); };
  for (auto& q : queues) {
    netlist.queues.push_back(std::move(q.queue));
    netlist.queues.back().instances = chips(q);
  }
  for (auto& g : graphs) {
    netlist.graphs.push_back(std::move(g.graph));
    netlist.graphs.back().instances = chips(g);
  }
}

void expand_instances(ParseContext& ctx, std::vector<QueueDraft> queues, std::vector<GraphDraft> graphs, Netlist& netlist) {
  Expander expander(queues, graphs);
  if (std::size_t cost = expander.cost(queues, graphs, netlist.programs); cost > kMaxInstances) {
    ctx.enter("", "");
    ctx.error(
        "NL004", SourceLocation{},
        cat("lists of target_device make ", cost, " instances of queues, ops and settings; at most ", kMaxInstances, " are possible"));
    return;
  }
  for (auto& q : queues) expander.queue(std::move(q), netlist.queues);
  for (auto& g : graphs) expander.graph(std::move(g), netlist.graphs);
  if (expander.idle()) return;
  for (auto& p : netlist.programs) expander.program(p);
}

}  // namespace buda::netlist
