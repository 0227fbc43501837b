// SPDX-License-Identifier: Apache-2.0
// Assembly of queues, graphs and programs.
#include <buda/balance/emit/netlist_builder.hpp>

#include <buda/balance/chips/chips_of_choice.hpp>
#include <buda/balance/emit/epoch_phases.hpp>
#include <buda/balance/emit/program.hpp>
#include <buda/balance/policy/neighbours.hpp>
#include <buda/balance/problem/fused.hpp>
#include <buda/balance/problem/phases.hpp>
#include <buda/balance/queues/divided_layouts.hpp>
#include <buda/balance/queues/dram_placement.hpp>
#include <buda/balance/queues/dynamic_dram.hpp>
#include <buda/balance/queues/host_memory.hpp>
#include <buda/balance/queues/queue_loads.hpp>
#include <buda/balance/resources/fused_blocks.hpp>
#include <buda/base/text.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <utility>

namespace buda::balance {
namespace {

// A buffer that is more than so much of what a channel moves in an epoch, or reads, on average is divided.
constexpr double kMaxChannelPart = 0.5;
// Each part may cost its readers streams and phases.
constexpr std::int64_t kMaxParts = 16;

bool is_for_host(const QueuePlan& plan) { return plan.role == QueueRole::input && plan.queue.grid.volume() == 1; }
bool lies_on_host(const QueuePlan& plan) { return plan.queue.location == netlist::QueueLocation::host; }

class Builder {
 public:
  Builder(const Problem& problem, const Choice& choice, QueueSet queues, const QueuePlaces& places)
      : problem_(problem), choice_(choice), places_(places) {
    out_.queues = std::move(queues);
    for (const QueuePlan& plan : out_.queues.queues) out_.uses.emplace_back(static_cast<std::size_t>(plan.queue.grid.volume()));
  }

  Result<BuiltNetlist> run(const QueueOptions& options) {
    netlist::Netlist& n = out_.netlist;
    n.arch = problem_.device->arch;
    n.archs = {n.arch};
    measure();
    if (options.placement == DramAlgorithm::by_load && failure_.empty()) divide_queues(options.divided_from);
    place_queues(options.placement);
    const std::int32_t epochs = choice_.epochs();
    const std::vector<std::int32_t> segments = segments_of_epochs(problem_, choice_);
    std::vector<std::string> names = graph_names(problem_, choice_);
    for (std::int32_t e = 0; e < epochs; ++e) {
      netlist::Graph g;
      g.name = std::move(names[static_cast<std::size_t>(e)]);
      g.target_device = chip_of_epoch(problem_, choice_, e);
      g.input_count = inputs_of_segment(problem_, segments[static_cast<std::size_t>(e)]);
      n.graphs.push_back(std::move(g));
    }
    for (std::size_t i = 0; i < problem_.ops.size(); ++i) place_op(OpId(static_cast<std::uint32_t>(i)));
    if (!failure_.empty()) return failure_;
    for (std::int32_t s = 0; s < problem_.segments(); ++s) n.programs.push_back(make_program(problem_, choice_, out_.queues, s));
    return std::move(out_);
  }

 private:
  void place_queues(DramAlgorithm algorithm) {
    HostPlace on_host;
    std::map<std::int32_t, std::vector<std::size_t>> by_chip;
    for (std::int32_t chip : problem_.chips) by_chip[chip];
    for (std::size_t q = 0; q < out_.queues.queues.size(); ++q) {
      QueuePlan& plan = out_.queues.queues[q];
      if (lies_on_host(plan)) {
        give(plan, allocate_on_host(plan.queue, *problem_.device, on_host));
      } else {
        by_chip[plan.queue.target_device].push_back(q);
      }
    }
    for (const auto& [chip, queues] : by_chip) place_on_chip(chip, queues, algorithm);
    for (const QueuePlan& plan : out_.queues.queues) out_.netlist.queues.push_back(plan.queue);
    if (!no_space_.empty()) failure_.add(first_without_space(std::move(no_space_)));
  }

  void give(QueuePlan& plan, Result<std::vector<netlist::BufferAddress>> buffers) {
    if (buffers) {
      plan.queue.buffers = std::move(*buffers);
    } else {
      no_space_.add(std::move(buffers).failure());
    }
  }

  // In the DRAM of one chip.
  void place_on_chip(std::int32_t chip, const std::vector<std::size_t>& queues, DramAlgorithm algorithm) {
    DramAllocator dram(*problem_.device);
    DramRoom room = dram.room();
    room.epochs = choice_.epochs();
    const std::vector<DramBank> banks = choose_banks(algorithm, unplaced_buffers(queues), room, *problem_.device);
    std::size_t at = 0;
    std::vector<std::pair<QueuePlan*, std::span<const DramBank>>> dynamic;
    for (std::size_t q : queues) {
      QueuePlan& plan = out_.queues.queues[q];
      const auto count = static_cast<std::size_t>(plan.queue.grid.volume());
      const auto own = std::span(banks).subspan(at, count);
      at += count;
      if (plan.life) {
        dynamic.emplace_back(&plan, own);
      } else {
        give(plan, dram.allocate(plan.queue, own, is_for_host(plan) && !places_.contains(plan.queue.name), *problem_.device));
      }
    }
    std::stable_sort(dynamic.begin(), dynamic.end(), [&](const auto& a, const auto& b) { return bytes_of(*a.first) > bytes_of(*b.first); });
    DynamicDram shared(dram);
    for (auto& [plan, own] : dynamic) give(*plan, shared.allocate(plan->queue, own, *plan->life, *problem_.device));
    const std::vector<std::uint64_t> used = shared.used();
    for (std::size_t i = 0; i < used.size(); ++i) out_.dram.push_back({chip, used[i] + dram.used()[i], dram.capacity(i)});
  }

  // Of one buffer.
  std::uint64_t bytes_of(const QueuePlan& plan) const { return buffer_bytes(plan.queue, *problem_.device).value_or(0); }

  // The first queue for which there is no space stands for the others: what helps is less in all of them.
  Diagnostic first_without_space(Failure failure) const {
    Diagnostic first = std::move(failure.diagnostics().front());
    if (failure.diagnostics().size() == 1) return first;
    std::vector<SpanBytes> all;
    for (const QueuePlan& plan : out_.queues.queues)
      if (!lies_on_host(plan))
        all.push_back({plan.life, static_cast<double>(bytes_of(plan)) * static_cast<double>(plan.queue.grid.volume())});
    const auto needed = static_cast<std::uint64_t>(peak_bytes(all, choice_.epochs()));
    std::uint64_t capacity = 0;
    for (const DramChannelUse& channel : out_.dram) capacity += channel.capacity;
    first.notes.push_back({{},
                           cat(failure.diagnostics().size() - 1, " further queues do not fit; in some epoch all queues together need ",
                               needed, " bytes of DRAM, and ", problem_.device->name, " has ", capacity)});
    return first;
  }

  // Of these queues, one after the other.
  std::vector<UnplacedBuffer> unplaced_buffers(const std::vector<std::size_t>& queues) const {
    std::vector<UnplacedBuffer> out;
    for (std::size_t q : queues) {
      const QueuePlan& plan = out_.queues.queues[q];
      std::optional<std::int32_t> epoch;
      if (plan.writer.valid()) epoch = choice_.ops[plan.writer.index()].epoch;
      std::optional<std::int32_t> channel;
      if (const auto place = places_.find(plan.queue.name); place != places_.end()) channel = place->second.channel;
      for (const BufferUse& use : out_.uses[q]) out.push_back({bytes_of(plan), is_for_host(plan), epoch, use, plan.life, channel});
    }
    return out;
  }

  std::uint64_t inputs_of(OpId op) const { return static_cast<std::uint64_t>(inputs_of_op(problem_, op)); }

  std::uint64_t stored_tile_bytes(const netlist::Queue& queue) const {
    return static_cast<std::uint64_t>(tile_bytes(queue.format, queue.tile_dim, problem_.device->tile_alignment));
  }

  netlist::Op placed_op(OpId id) const {
    const PlacedOp& placed = choice_.ops[id.index()];
    netlist::Op op = with_model(problem_.op(id), placed.model);
    op.grid_loc = placed.place.at;
    op.grid_transpose = placed.place.transposed;
    return op;
  }

  // The edges as they are now: from queues with their final blocking, or from ops of the same epoch.
  void measure() {
    for (std::size_t i = 0; i < problem_.ops.size(); ++i) {
      const OpId id(static_cast<std::uint32_t>(i));
      const OpSpec& spec = problem_.ops[i];
      const netlist::Op op = placed_op(id);
      EdgeBook::Entry entry;
      for (std::size_t k = 0; k < spec.operands.size(); ++k) {
        std::size_t queue = out_.queues.feeds[i][k];
        TileLayout from =
            queue != kNoQueue ? tiling::layout_of(out_.queues.queues[queue].queue) : producer_layout(spec.operands[k].from.op);
        auto routes = edge_routes(from, maps_of(id, k), op, k);
        if (auto* reason = std::get_if<std::string>(&routes)) {
          failure_.add(internal_error(cat("op '", spec.label, "', input ", k, ": ", *reason)));
          entry.costs.push_back({1, 1, 1, 1, 1, 1});
        } else {
          entry.costs.push_back(cost_of_routes(std::get<tiling::EdgeRoutes>(routes), from));
          if (queue != kNoQueue) add_reader(std::get<tiling::EdgeRoutes>(routes), op, access_of(id, k, op, queue), out_.uses[queue]);
        }
        entry.direct.push_back(queue == kNoQueue);
      }
      book_.enter(id, std::move(entry));
    }
    for (std::size_t q = 0; q < out_.uses.size(); ++q) {
      const QueuePlan& plan = out_.queues.queues[q];
      if (!plan.writer.valid()) continue;
      const std::int32_t epoch = choice_.ops[plan.writer.index()].epoch;
      add_writer(placed_op(plan.writer), {epoch, false, 0, stored_tile_bytes(plan.queue), inputs_of(plan.writer)}, out_.uses[q]);
    }
  }

  // Where one buffer of a queue that the host fills keeps its channel much busier than the others, channels share its parts instead. What
  // ops write has their blocking.
  void divide_queues(std::uint64_t least_read) {
    const EpochMeans means(out_.uses, problem_.device->dram.channels.size() * static_cast<std::size_t>(halves_of_channel(*problem_.device)),
                           least_read);
    for (std::size_t q = 0; q < out_.uses.size(); ++q) {
      const QueuePlan& plan = out_.queues.queues[q];
      const bool is_divisible = !plan.writer.valid() && plan.source.valid() &&
                                problem_.source(plan.source).encoded != EncodedPart::indices && !lies_on_host(plan) &&
                                plan.queue.layout != netlist::QueueLayout::flat;
      if (is_divisible && means.busiest_share(out_.uses[q]) > kMaxChannelPart) divide_queue(q, means);
    }
  }

  struct Division {
    TileLayout layout;
    QueueUse use;
    std::map<OpId, EdgeBook::Entry> entries;  // of its readers
    std::int64_t reads = 0;                   // of all readers
    double share = 0;
  };

  // Of the layouts that are even enough, or come closest to it, the one that takes the fewest reads.
  void divide_queue(std::size_t q, const EpochMeans& means) {
    QueuePlan& plan = out_.queues.queues[q];
    std::optional<Division> best;
    for (const TileLayout& layout : divided_layouts(tiling::layout_of(plan.queue), kMaxParts)) {
      auto division = divided(q, layout);
      if (!division) continue;
      division->share = std::max(means.busiest_share(division->use), kMaxChannelPart);
      if (!best || std::pair(division->share, division->reads) < std::pair(best->share, best->reads)) best = std::move(division);
    }
    if (!best || best->share >= means.busiest_share(out_.uses[q])) return;
    plan.queue.grid = best->layout.grid;
    plan.queue.block = best->layout.block;
    out_.uses[q] = std::move(best->use);
    for (auto& [reader, entry] : best->entries) book_.enter(reader, std::move(entry));
  }

  // Nothing if a reader cannot take the queue in this layout.
  std::optional<Division> divided(std::size_t q, const TileLayout& layout) const {
    Division out{layout, QueueUse(static_cast<std::size_t>(layout.grid.volume())), {}, 0, 0};
    for (const OpUse& reader : out_.queues.queues[q].readers) {
      const netlist::Op op = placed_op(reader.op);
      auto routes = edge_routes(layout, maps_of(reader.op, reader.input), op, reader.input);
      if (std::holds_alternative<std::string>(routes)) return std::nullopt;
      const auto& routed = std::get<tiling::EdgeRoutes>(routes);
      const EdgeCost cost = cost_of_routes(routed, layout);
      add_reader(routed, op, access_of(reader.op, reader.input, op, q), out.use);
      out.reads += dram_reads(cost, op, reader.input, *problem_.device);
      EdgeBook::Entry& entry = out.entries.try_emplace(reader.op, book_.entry(reader.op)).first->second;
      entry.costs[reader.input] = cost;
      const Links links = book_.links(reader.op, choice_.ops[reader.op.index()].model, entry, {});
      if (std::holds_alternative<Diagnostic>(judge(problem_.op(reader.op), op, links, *problem_.device, ""))) return std::nullopt;
    }
    return out;
  }

  // What is kept in L1 each core reads for itself, but shares of a matmul's right operand, which its columns hand on.
  QueueAccess access_of(OpId id, std::size_t input, const netlist::Op& op, std::size_t queue) const {
    QueueAccess out;
    out.epoch = choice_.ops[id.index()].epoch;
    out.op = static_cast<std::int32_t>(id.index());
    out.tile_bytes = stored_tile_bytes(out_.queues.queues[queue].queue);
    out.before = choice_.ops[id.index()].model.is_resident(input);
    out.times = inputs_of(id);
    if (!out.before) return out;
    const tiling::TileOrder order = input_order(op, input);
    const bool is_handed_on = order.axis == tiling::MulticastAxis::column && order.tiles() > input_buffer(op, input, *problem_.device).size;
    out.times = is_handed_on ? 1 : static_cast<std::uint64_t>(order.cores_per_destination());
    return out;
  }

  // As they were found legal when the op was placed.
  netlist::EdgeMaps maps_of(OpId op, std::size_t input) const {
    const OpId from = problem_.op(op).operands[input].from.op;
    auto maps = edge_maps(problem_, op, choice_.ops[op.index()].model, input, from.valid() ? &choice_.ops[from.index()].model : nullptr);
    return std::holds_alternative<netlist::EdgeMaps>(maps) ? std::get<netlist::EdgeMaps>(std::move(maps)) : netlist::EdgeMaps{};
  }

  TileLayout producer_layout(OpId op) const {
    return tiling::layout_of(with_model(problem_.op(op), choice_.ops[op.index()].model), inputs_of_op(problem_, op));
  }

  void place_op(OpId id) {
    const OpSpec& spec = problem_.op(id);
    const PlacedOp& placed = choice_.ops[id.index()];
    netlist::Op op = placed_op(id);
    Links links = book_.links(id, placed.model, book_.entry(id), {});
    auto verdict = judge(spec, op, links, *problem_.device, "");
    if (auto* d = std::get_if<Diagnostic>(&verdict)) {
      failure_.add(std::move(*d));
    } else {
      op.overlay_size = std::get<std::int32_t>(verdict);
      bound_dram_reads(op, links, *problem_.device, spec.fused.get());
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
  const QueuePlaces& places_;
  BuiltNetlist out_;
  EdgeBook book_{problem_};
  Failure failure_, no_space_;
};

}  // namespace

Result<BuiltNetlist> build_netlist(const Problem& problem, const Choice& choice, QueueSet queues, const QueueOptions& options) {
  return Builder(problem, choice, std::move(queues), options.places).run(options);
}

}  // namespace buda::balance
