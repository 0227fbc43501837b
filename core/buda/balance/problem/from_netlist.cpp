// SPDX-License-Identifier: Apache-2.0
// Queues become sources and edges; what a plan decided is taken off the ops.
#include <buda/balance/problem/from_netlist.hpp>

#include <buda/balance/problem/names.hpp>
#include <buda/balance/problem/operand_shapes.hpp>
#include <buda/balance/problem/split_fused.hpp>
#include <buda/balance/problem/tile_sizes.hpp>
#include <buda/balance/resources/edge.hpp>
#include <buda/base/text.hpp>
#include <buda/netlist/model/index.hpp>
#include <buda/netlist/model/op_shapes.hpp>
#include <buda/netlist/program/program_vm.hpp>
#include <buda/ops/table/op_class.hpp>
#include <buda/ops/table/op_traits.hpp>
#include <buda/tiling/flat_rows.hpp>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

namespace buda::balance {
namespace {

using netlist::Graph;
using netlist::Netlist;
using netlist::Op;
using netlist::Queue;

class ProblemReader {
 public:
  ProblemReader(const Netlist& netlist, const device::DeviceDescriptor& device) : netlist_(netlist), index_(netlist) {
    problem_.device = &device;
    problem_.name = netlist.graphs.empty() ? "netlist" : netlist.graphs.front().name;
  }

  Result<Problem> run() {
    BUDA_TRY(find_order());
    for (const Graph* graph : order_) check_graph(*graph);
    if (!failure_.empty()) return failure_;
    add_sources();
    for (const Graph* graph : order_)
      for (const Op* op : in_order_of_data(*graph)) add_op(*op, *graph);
    add_sinks();
    for (OpSpec& spec : problem_.ops) set_depth(spec);
    set_tile_sizes(problem_.ops, *problem_.device);
    if (!failure_.empty()) return failure_;
    problem_.names = std::make_shared<const NameTable>(std::move(names_));
    return std::move(problem_);
  }

 private:
  void refuse(netlist::SourceLocation place, const std::string& node, std::string message) {
    Diagnostic d = input_error("BL045", netlist_.loc(place), std::move(message));
    d.node = node;
    d.hint = "what can be balanced is a netlist for one chip, as the balancer writes it";
    failure_.add(std::move(d));
  }
  // What reads its result is then not refused for that.
  void refuse_op(const Op& op, std::string_view why) {
    refuse(op.places.self, op.name, cat("op '", op.name, "' ", why));
    refused_.insert(op.name);
  }

  // Graphs in the order of their first execution; what is loaded before any of them.
  Result<void> find_order() {
    BUDA_ASSIGN(auto epochs, netlist::static_epochs(netlist_));
    for (const netlist::StaticEpoch& epoch : epochs) {
      const Graph* graph = &netlist_.graphs[epoch.graph];
      if (std::find(order_.begin(), order_.end(), graph) == order_.end()) order_.push_back(graph);
      for (const auto& setting : epoch.settings)
        if (setting.prologue) prologues_.insert(netlist_.queues[setting.queue].name);
    }
    return success();
  }

  void check_graph(const Graph& graph) {
    const Graph& first = *order_.front();
    if (graph.target_device != first.target_device)
      refuse(graph.places.self, graph.name,
             cat("graph '", graph.name, "' is for chip ", graph.target_device, ", and '", first.name, "' for chip ", first.target_device));
    if (graph.input_count != first.input_count)
      refuse(graph.places.self, graph.name,
             cat("graph '", graph.name, "' takes ", graph.input_count, " inputs, and '", first.name, "' takes ", first.input_count));
    if (graph.input_count > kMaxEntries / 2)
      refuse(
          graph.places.self, graph.name,
          cat("graph '", graph.name, "' takes ", graph.input_count, " inputs; queues hold two epochs' of ", kMaxEntries / 2, " at most"));
    problem_.batches = problem_.microbatch = first.input_count;
  }

  bool is_parameter(const Queue& queue) const { return queue.kind == netlist::QueueKind::ram || prologues_.contains(queue.name); }

  // Of the queues that some op reads and no op writes: inputs first.
  void add_sources() {
    std::set<std::string> read;
    for (const Graph* graph : order_)
      for (const Op& op : graph->ops)
        for (const auto& in : op.inputs) read.insert(in.name);
    for (const bool parameters : {false, true})
      for (const Queue& queue : netlist_.queues) {
        if (!read.contains(queue.name) || !queue.from_outside() || is_parameter(queue) != parameters) continue;
        SourceSpec spec;
        spec.kind = parameters ? SourceKind::parameter : SourceKind::input;
        spec.label = queue.name;
        spec.name = names_.take(queue.name);
        spec.format = queue.format;
        spec.shape = queue.shape();
        spec.tile_dim = queue.tile_dim;
        if (queue.layout != netlist::QueueLayout::tilized)
          refuse(queue.places.self, queue.name, cat("queue '", queue.name, "' holds rows of datums instead of tiles"));
        origins_[queue.name] = {OpId{}, SourceId(static_cast<std::uint32_t>(problem_.sources.size()))};
        problem_.sources.push_back(std::move(spec));
      }
  }

  // Each op behind those of the graph that it takes from, otherwise as the file has them. Chains of ops may be longer than a stack is deep.
  static std::vector<const Op*> in_order_of_data(const Graph& graph) {
    std::map<std::string_view, const Op*> by_name;
    for (const Op& op : graph.ops) by_name[op.name] = &op;
    std::vector<const Op*> out;
    std::set<const Op*> seen;
    for (const Op& root : graph.ops) {
      std::vector<std::pair<const Op*, std::size_t>> open;
      if (seen.insert(&root).second) open.emplace_back(&root, 0);
      while (!open.empty()) {
        auto& [op, next] = open.back();
        if (next == op->inputs.size()) {
          out.push_back(op);
          open.pop_back();
          continue;
        }
        const auto from = by_name.find(op->inputs[next++].name);
        if (from != by_name.end() && seen.insert(from->second).second) open.emplace_back(from->second, 0);
      }
    }
    return out;
  }

  void add_op(const Op& op, const Graph& graph) {
    if (!ops::class_info(netlist::op_class(op.type)).balanced || op.attributes.identity || ops::splices(op.type) ||
        ops::reads_datums(op.type)) {
      refuse_op(op, cat("has type ", netlist::op_type_name(op.type), op.attributes.identity ? " (sparse)" : "",
                        ", which cannot be taken over from a netlist"));
      return;
    }
    const netlist::FusedOp* body = op.attributes.fused_op_id.empty() ? nullptr : index_.find_fused_op(op.attributes.fused_op_id);
    if (body == nullptr || !spreads_column(*body)) {
      add_part(op, body, graph);
    } else if (auto split = split_fused(op, *body)) {
      add_part(split->column.op, &split->column.body, graph);
      add_part(split->rest.op, &split->rest.body, graph);
    } else {
      refuse_op(op, "is a fused op whose steps have different numbers of columns, and cannot be divided into two");
    }
  }

  void add_part(const Op& op, const netlist::FusedOp* body, const Graph& graph) {
    const OpId id(static_cast<std::uint32_t>(problem_.ops.size()));
    OpSpec spec;
    spec.op = without_plan(op);
    spec.node_name = spec.label = op.name;
    spec.op.name = names_.take(op.name);
    spec.out = op.shape();
    if (body != nullptr) {
      netlist::FusedOp schedules = *body;
      schedules.id.clear();
      spec.fused = std::make_shared<const netlist::FusedOp>(std::move(schedules));
    }
    for (std::size_t i = 0; i < op.inputs.size(); ++i)
      if (!add_operand(op, id, i, graph, spec)) return;
    set_inner(op, spec);
    origins_[op.name] = {id, SourceId{}};
    written_in_[id] = &graph;
    problem_.ops.push_back(std::move(spec));
  }

  // The op as a graph would give it.
  static Op without_plan(const Op& op) {
    Op out = op;
    out.grid = {1, 1};
    out.grid_loc = {};
    out.grid_transpose = false;
    out.block = {};
    out.ublock_order = netlist::UblockOrder::r;
    out.buf_size_mb = 2;
    out.overlay_size = -1;
    out.untilize_output = false;
    out.places = {};
    netlist::OpAttributes& a = out.attributes;
    a.m_k = a.u_kt = 0;
    a.l1_acc = false;
    a.min_buffer_input.reset();
    a.fused_op_id.clear();
    for (netlist::OpInput& in : out.inputs) {
      in.min_buffer_tiles = in.dram_io_tiles = 0;
      in.forked_from.clear();
      in.kernel_broadcast = {};
    }
    return out;
  }

  bool add_operand(const Op& op, OpId id, std::size_t i, const Graph& graph, OpSpec& spec) {
    std::string from = op.inputs[i].name;
    bool queued = false;
    if (const Queue* queue = index_.find_queue(from); queue != nullptr && !queue->from_outside()) {
      if (!queue->input_tms.empty()) {
        refuse(queue->places.self, queue->name, cat("queue '", queue->name, "' has manipulations at its input"));
        return false;
      }
      from = queue->input;
      queued = true;
    }
    const auto origin = origins_.find(from);
    if (refused_.contains(from)) {
      refused_.insert(op.name);
      return false;
    }
    if (origin == origins_.end()) {
      refuse_op(op, cat("takes input ", i, " from '", op.inputs[i].name, "', which is written after it is read"));
      return false;
    }
    Operand operand;
    operand.from = origin->second;
    netlist::OpInput& input = spec.op.inputs[i];
    if (operand.from.op.valid()) {
      OpSpec& producer = problem_.ops[operand.from.op.index()];
      operand.shape = producer.out;
      operand.queued = queued && written_in_.at(operand.from.op) == &graph;
      producer.feeds_queued = producer.feeds_queued || operand.queued;
      producer.users.push_back({id, i});
      input.name = producer.op.name;
      input.format = producer.op.out_format;
    } else {
      SourceSpec& source = problem_.sources[operand.from.source.index()];
      operand.shape = source.shape;
      operand.constant = source.kind != SourceKind::input;
      source.users.push_back({id, i});
      input.name = source.name;
    }
    spec.operands.push_back(operand);
    return true;
  }

  void set_inner(const Op& op, OpSpec& spec) {
    if (!netlist::class_of(op).inner) return;
    if (op.type != netlist::OpType::reduce) {
      spec.inner = op.inner_tiles();
      return;
    }
    auto map = netlist::TileMap::make(spec.operands[0].shape, spec.op.inputs[0].maps);
    if (const auto* arriving = std::get_if<netlist::TileMap>(&map))
      spec.inner = op.attributes.reduce_dim == netlist::Dim::r ? arriving->shape().rt : arriving->shape().ct;
  }

  // Queues that ops write and the host empties.
  void add_sinks() {
    std::set<std::string> read;
    for (const Graph* graph : order_)
      for (const Op& op : graph->ops)
        for (const auto& in : op.inputs) read.insert(in.name);
    for (const Queue& queue : netlist_.queues) {
      const auto writer = origins_.find(queue.input);
      if (read.contains(queue.name) || writer == origins_.end() || !writer->second.op.valid()) continue;
      problem_.ops[writer->second.op.index()].outputs += 1;
      problem_.sinks.push_back({{}, writer->second.op, names_.take(queue.name), {}});
    }
  }

  void set_depth(OpSpec& spec) {
    for (const OpUse& use : spec.users) {
      const OpSpec& user = problem_.ops[use.op.index()];
      auto depth = stack_depth(user.op.inputs[use.input].maps.tms);
      if (const auto* reason = std::get_if<std::string>(&depth)) {
        refuse({}, user.node_name, cat("op '", user.label, "', input ", use.input, ": ", *reason));
        return;
      }
      spec.depth = std::lcm(spec.depth, std::get<std::int64_t>(depth));
    }
    if (spec.users.size() > 1) spec.depth = spec.out.t;
  }

  const Netlist& netlist_;
  netlist::Index index_;
  std::vector<const Graph*> order_;
  std::set<std::string> prologues_, refused_;
  std::map<std::string, Origin> origins_;  // of queues that the host fills, and of ops
  std::map<OpId, const Graph*> written_in_;
  Problem problem_;
  NameTable names_;
  Failure failure_;
};

}  // namespace

Result<Problem> problem_from_netlist(const Netlist& netlist, const device::DeviceDescriptor& device) {
  return ProblemReader(netlist, device).run();
}

}  // namespace buda::balance
