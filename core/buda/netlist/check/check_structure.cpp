// SPDX-License-Identifier: Apache-2.0
// Names, references and the sets of chips.
#include <buda/netlist/check/check_context.hpp>
#include <buda/netlist/program/temporal_epochs.hpp>

#include <buda/base/spelling.hpp>

namespace buda::netlist {
namespace {

void check_arch(CheckContext& ctx) {
  if (ctx.netlist.arch != ctx.device.arch)
    ctx.error("NL100", "", "", {}, cat("the netlist is for ", ctx.netlist.arch, ", device '", ctx.device.name, "' is ", ctx.device.arch));
  if (ctx.netlist.queues.empty()) ctx.error("NL109", "", "", {}, "the netlist has no queues");
}

void check_names(CheckContext& ctx) {
  std::set<std::string_view> seen;
  for (const Queue& q : ctx.netlist.queues)
    if (!seen.insert(q.name).second) ctx.queue_error("NL101", q, Field::type, "there is another queue of this name");
  std::set<std::string_view> ops, graphs;
  for (const Graph& g : ctx.netlist.graphs) {
    if (!graphs.insert(g.name).second) ctx.error("NL101", "graph", g.name, g.places.self, "there is another graph of this name");
    for (const Op& op : g.ops) {
      if (!ops.insert(op.name).second) ctx.op_error("NL101", op, Field::type, "there is another op of this name");
      if (seen.count(op.name) != 0) ctx.op_error("NL101", op, Field::type, "there is a queue of this name");
    }
  }
}

// What may have been meant by a name that nobody has. Looking costs a walk through all names, so only the first few are looked for.
std::string hint_for(CheckContext& ctx, const std::string& name) {
  if (ctx.full() || ctx.hints_left == 0) return "";
  --ctx.hints_left;
  std::vector<std::string> known;
  for (const Queue& q : ctx.netlist.queues) known.push_back(q.name);
  for (const Graph& g : ctx.netlist.graphs)
    for (const Op& op : g.ops) known.push_back(op.name);
  auto near = nearest_word(name, known);
  return near ? cat("did you mean '", *near, "'?") : std::string();
}

void check_references(CheckContext& ctx) {
  for (const Queue& q : ctx.netlist.queues) {
    if (!q.from_outside() && !ctx.index.op(q.input))
      ctx.queue_error("NL103", q, Field::input, cat("its input '", q.input, "' is neither HOST nor an op"), hint_for(ctx, q.input));
  }
  for (const Graph& g : ctx.netlist.graphs) {
    for (const Op& op : g.ops) {
      for (std::size_t i = 0; i < op.inputs.size(); ++i) {
        const std::string& name = op.inputs[i].name;
        if (!ctx.index.queue(name) && !ctx.index.op(name))
          ctx.op_error("NL102", op, Field::inputs, cat("input ", i, " '", name, "' is neither a queue nor an op"), hint_for(ctx, name),
                       static_cast<int>(i));
      }
      if (op.type == OpType::fused_op && !ctx.index.fused_op(op.attributes.fused_op_id))
        ctx.attribute_error("NL112", op, "fused_op_id",
                            op.attributes.fused_op_id.empty() ? std::string("attribute 'fused_op_id' is missing")
                                                              : cat("there is no fused op '", op.attributes.fused_op_id, "'"));
    }
  }
}

// An op may read an op of another graph when both run at the same time: on other chips, in one temporal epoch.
void check_cross_graph(CheckContext& ctx) {
  for (std::size_t g = 0; g < ctx.netlist.graphs.size(); ++g) {
    for (const Op& op : ctx.netlist.graphs[g].ops) {
      for (std::size_t i = 0; i < op.inputs.size(); ++i) {
        auto producer = ctx.index.op(op.inputs[i].name);
        if (!producer || producer->graph == g) continue;
        const Graph& other = ctx.netlist.graphs[producer->graph];
        if (other.target_device == ctx.netlist.graphs[g].target_device)
          ctx.op_error("NL108", op, Field::inputs,
                       cat("input ", i, " is an op of graph '", other.name, "' on the same chip, which runs at another time"),
                       "put a queue between them", static_cast<int>(i));
      }
    }
  }
}

void check_chips(CheckContext& ctx) {
  auto chip = [&](std::int32_t id) { return id >= 0 && id < ctx.device.chips; };
  auto message = [&](std::int32_t id) { return cat("it is on chip ", id, ", but '", ctx.device.name, "' has ", ctx.device.chips); };
  for (const Queue& q : ctx.netlist.queues)
    if (!chip(q.target_device))
      needs(ctx.queue_error("NL107", q, Field::target_device, message(q.target_device)), "chips",
            static_cast<std::uint64_t>(q.target_device) + 1, static_cast<std::uint64_t>(ctx.device.chips));
  for (const Graph& g : ctx.netlist.graphs) {
    if (!chip(g.target_device))
      needs(ctx.error("NL107", "graph", g.name, g.places.of(Field::target_device), message(g.target_device)), "chips",
            static_cast<std::uint64_t>(g.target_device) + 1, static_cast<std::uint64_t>(ctx.device.chips));
    for (const Op& op : g.ops) {
      std::int32_t dest = op.attributes.dest_device;
      if (op.type == OpType::ethernet_datacopy && !chip(dest))
        needs(ctx.attribute_error("NL107", op, "dest_device",
                                  dest < 0 ? std::string("attribute 'dest_device' is missing")
                                           : cat("its dest_device ", dest, " is none of ", ctx.device.chips, " chips")),
              "chips", static_cast<std::uint64_t>(dest < 0 ? 0 : dest) + 1, static_cast<std::uint64_t>(ctx.device.chips));
    }
  }
}

// Graphs run for one number of inputs, and so does a queue that several of them read: it is popped by that many.
void check_input_counts(CheckContext& ctx) {
  for (const Queue& q : ctx.netlist.queues) {
    if (q.kind != QueueKind::queue) continue;
    const Graph* first = nullptr;
    for (const auto& reader : ctx.readers_of(q.name)) {
      const Graph& graph = ctx.netlist.graphs[reader.op.graph];
      if (first == nullptr) first = &graph;
      if (graph.input_count == first->input_count) continue;
      Diagnostic& d = ctx.error("NL118", "graph", graph.name, graph.places.of(Field::input_count),
                                cat("its input_count is ", graph.input_count, "; it reads queue '", q.name, "', from which graph '",
                                    first->name, "' takes ", first->input_count));
      d.notes.push_back({ctx.netlist.loc(first->places.of(Field::input_count)), "the other input_count"});
      break;
    }
  }
}

void check_forks(CheckContext& ctx) {
  for (std::size_t g = 0; g < ctx.netlist.graphs.size(); ++g) {
    for (const Op& op : ctx.netlist.graphs[g].ops) {
      for (const OpInput& input : op.inputs) {
        if (input.forked_from.empty()) continue;
        if (!ctx.index.queue(input.name)) {
          ctx.op_error("NL119", op, Field::forked_dram_inputs,
                       cat("'", input.name, "' is no queue, so there are no DRAM reads to share with '", input.forked_from, '\''));
          continue;
        }
        auto from = ctx.index.op(input.forked_from);
        bool reads = false;
        if (from)
          for (const OpInput& other : ctx.op(*from).inputs) reads = reads || other.name == input.name;
        if (!from || from->graph != g || !reads)
          ctx.op_error("NL111", op, Field::forked_dram_inputs,
                       cat("'", input.name, "' cannot share the reads of '", input.forked_from,
                           "': that has to be an op of this graph that reads the same queue"));
      }
    }
  }
}

}  // namespace

void check_structure(CheckContext& ctx) {
  check_arch(ctx);
  check_names(ctx);
  check_references(ctx);
  check_cross_graph(ctx);
  check_chips(ctx);
  check_input_counts(ctx);
  check_forks(ctx);
}

}  // namespace buda::netlist
