// Assembly of queues, graphs and programs.
#include <buda/balance/emit/netlist_builder.hpp>

#include <buda/balance/emit/program.hpp>
#include <buda/balance/legalize/neighbours.hpp>
#include <buda/balance/models/fused.hpp>
#include <buda/balance/queues/dram.hpp>
#include <buda/base/text.hpp>

#include <algorithm>

namespace buda::balance {
namespace {

class Builder {
 public:
  Builder(const Problem& problem, const Choice& choice, QueueSet queues) : problem_(problem), choice_(choice) {
    out_.queues = std::move(queues);
  }

  Result<BuiltNetlist> run() {
    netlist::Netlist& n = out_.netlist;
    n.arch = problem_.device->arch;
    n.archs = {n.arch};
    place_queues();
    for (std::int32_t e = 0; e < choice_.epochs(); ++e) {
      netlist::Graph g;
      g.name = graph_name(e);
      g.target_device = chip();
      g.input_count = problem_.microbatch;
      n.graphs.push_back(std::move(g));
    }
    measure();
    for (std::size_t i = 0; i < problem_.ops.size(); ++i) place_op(OpId(static_cast<std::uint32_t>(i)));
    if (!failure_.empty()) return failure_;
    n.programs.push_back(make_program(problem_, choice_, out_.queues));
    return std::move(out_);
  }

 private:
  std::int32_t chip() const { return problem_.device->mmio_chips.empty() ? 0 : problem_.device->mmio_chips.front(); }

  void place_queues() {
    DramAllocator dram(*problem_.device);
    for (QueuePlan& plan : out_.queues.queues) {
      bool for_host = plan.role == QueueRole::input && plan.queue.grid.volume() == 1;
      auto buffers = dram.allocate(plan.queue, for_host, *problem_.device);
      if (!buffers) {
        failure_.add(std::move(buffers).failure());
        continue;
      }
      plan.queue.buffers = std::move(*buffers);
      out_.netlist.queues.push_back(plan.queue);
    }
    out_.dram_used = dram.used();
    for (std::size_t i = 0; i < out_.dram_used.size(); ++i) out_.dram_capacity.push_back(dram.capacity(i));
  }

  // The edges as they are now: from queues with their final blocking, or from ops of the same epoch.
  void measure() {
    for (std::size_t i = 0; i < problem_.ops.size(); ++i) {
      const OpSpec& spec = problem_.ops[i];
      const OpModel& model = choice_.ops[i].model;
      netlist::Op op = with_model(spec, model);
      EdgeBook::Entry entry;
      for (std::size_t k = 0; k < spec.operands.size(); ++k) {
        std::size_t queue = out_.queues.feeds[i][k];
        TileLayout from =
            queue != kNoQueue ? tiling::layout_of(out_.queues.queues[queue].queue) : producer_layout(spec.operands[k].from.op);
        auto cost = measure_edge(from, maps_of(OpId(static_cast<std::uint32_t>(i)), k), op, k);
        if (auto* reason = std::get_if<std::string>(&cost))
          failure_.add(internal_error(cat("op '", spec.label, "', input ", k, ": ", *reason)));
        entry.costs.push_back(std::holds_alternative<EdgeCost>(cost) ? std::get<EdgeCost>(cost) : EdgeCost{1, 1, 1, 1, 1, 1});
        entry.direct.push_back(queue == kNoQueue);
      }
      book_.enter(OpId(static_cast<std::uint32_t>(i)), std::move(entry));
    }
  }

  // As they were found legal when the op was placed.
  netlist::EdgeMaps maps_of(OpId op, std::size_t input) const {
    const OpId from = problem_.op(op).operands[input].from.op;
    auto maps = edge_maps(problem_, op, choice_.ops[op.index()].model, input, from.valid() ? &choice_.ops[from.index()].model : nullptr);
    return std::holds_alternative<netlist::EdgeMaps>(maps) ? std::get<netlist::EdgeMaps>(std::move(maps)) : netlist::EdgeMaps{};
  }

  TileLayout producer_layout(OpId op) const {
    return tiling::layout_of(with_model(problem_.op(op), choice_.ops[op.index()].model), problem_.microbatch);
  }

  void place_op(OpId id) {
    const OpSpec& spec = problem_.op(id);
    const PlacedOp& placed = choice_.ops[id.index()];
    netlist::Op op = with_model(spec, placed.model);
    op.grid_loc = placed.place.at;
    op.grid_transpose = placed.place.transposed;
    Links links = book_.links(id, placed.model, book_.entry(id), {});
    auto verdict = judge(spec, op, links, *problem_.device, "");
    if (auto* d = std::get_if<Diagnostic>(&verdict)) {
      failure_.add(std::move(*d));
    } else {
      op.overlay_size = std::get<std::int32_t>(verdict);
    }
    if (spec.fused) set_fused_op(op, *spec.fused);
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      op.inputs[i].maps = maps_of(id, i);
      if (std::size_t queue = out_.queues.feeds[id.index()][i]; queue != kNoQueue) op.inputs[i].name = out_.queues.queues[queue].queue.name;
    }
    out_.links.push_back(std::move(links));
    out_.netlist.graphs[static_cast<std::size_t>(placed.epoch)].ops.push_back(std::move(op));
  }

  // Ops of equal schedules and blocks share a fused op of the netlist.
  void set_fused_op(netlist::Op& op, const netlist::FusedOp& schedules) {
    auto& all = out_.netlist.fused_ops;
    netlist::FusedOp fused = with_blocks(schedules, op);
    auto same = [&](const netlist::FusedOp& f) { return f.intermediates == fused.intermediates && f.schedules == fused.schedules; };
    auto found = std::find_if(all.begin(), all.end(), same);
    if (found == all.end()) {
      fused.id = cat(all.size());
      found = all.insert(all.end(), std::move(fused));
    }
    op.attributes.fused_op_id = found->id;
  }

  const Problem& problem_;
  const Choice& choice_;
  BuiltNetlist out_;
  EdgeBook book_{problem_};
  Failure failure_;
};

}  // namespace

Result<BuiltNetlist> build_netlist(const Problem& problem, const Choice& choice, QueueSet queues) {
  return Builder(problem, choice, std::move(queues)).run();
}

}  // namespace buda::balance
