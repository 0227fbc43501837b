// SPDX-License-Identifier: Apache-2.0
// Choice of the blocking, kind and size of queues.
#include <buda/balance/queues/queues.hpp>

#include <buda/balance/chips/chips_of_choice.hpp>
#include <buda/balance/chips/crossings.hpp>
#include <buda/balance/models/encoded_selection.hpp>
#include <buda/balance/models/sparse.hpp>
#include <buda/balance/policy/neighbours.hpp>
#include <buda/balance/problem/names.hpp>
#include <buda/balance/problem/phases.hpp>
#include <buda/balance/queues/dram.hpp>
#include <buda/balance/queues/host_memory.hpp>
#include <buda/base/checked.hpp>
#include <buda/base/text.hpp>

#include <algorithm>
#include <map>

namespace buda::balance {
namespace {

using netlist::Op;

netlist::Queue queue_of(const TileLayout& layout, std::string name, DataFormat format, std::int64_t entries) {
  netlist::Queue q;
  q.name = std::move(name);
  q.entries = static_cast<std::int32_t>(entries);
  q.grid = layout.grid;
  q.block = layout.block;
  q.ublock_order = layout.order;
  q.format = format;
  return q;
}

// Of a state of a training step: the present one, and the next.
constexpr std::int32_t kStateEntries = 2;

class QueuePlanner {
 public:
  QueuePlanner(const Problem& problem, const Choice& choice, const QueueOptions& options, const DirectEpochs& direct)
      : problem_(problem), choice_(choice), options_(options), direct_(direct), names_(*problem.names) {
    for (std::size_t i = 0; i < problem.ops.size(); ++i) {
      blocked_.push_back(with_model(problem.ops[i], choice.ops[i].model));
      set_.feeds.emplace_back(problem.ops[i].operands.size(), kNoQueue);
    }
  }

  Result<QueueSet> run() {
    for (std::size_t i = 0; i < problem_.sources.size(); ++i)
      if (problem_.sources[i].kind == SourceKind::input && !problem_.sources[i].loopback)
        add_input(SourceId(static_cast<std::uint32_t>(i)));
    for (const SinkSpec& sink : problem_.sinks) add_output(sink);
    for (std::size_t i = 0; i < problem_.sources.size(); ++i)
      if (problem_.sources[i].kind != SourceKind::input) add_ram(SourceId(static_cast<std::uint32_t>(i)));
    for (std::size_t i = 0; i < problem_.ops.size(); ++i) add_queues_behind(OpId(static_cast<std::uint32_t>(i)));
    if (!failure_.empty()) return failure_;
    return std::move(set_);
  }

 private:
  void add(QueuePlan plan) {
    for (const OpUse& use : plan.readers) set_.feeds[use.op.index()][use.input] = set_.queues.size();
    set_.queues.push_back(std::move(plan));
  }

  // What it costs a reader to take its input from a queue of this layout. What an op wrote lies there as the op held it.
  std::variant<EdgeCost, std::string> cost_from(const TileLayout& layout, const OpUse& use) const {
    const OpId writer = problem_.op(use.op).operands[use.input].from.op;
    auto maps = edge_maps(problem_, use.op, choice_.ops[use.op.index()].model, use.input,
                          writer.valid() ? &choice_.ops[writer.index()].model : nullptr);
    if (auto* reason = std::get_if<std::string>(&maps)) return std::move(*reason);
    return measure_edge(layout, std::get<netlist::EdgeMaps>(maps), blocked_[use.op.index()], use.input);
  }

  // Why a reader cannot take its input from a queue of this layout; nothing when it can.
  std::optional<Diagnostic> objection(const TileLayout& layout, const OpUse& use) const {
    const OpSpec& spec = problem_.op(use.op);
    auto cost = cost_from(layout, use);
    if (auto* reason = std::get_if<std::string>(&cost)) {
      Diagnostic d = does_not_fit(
          "BL012", spec.node_name, "edge", 0, 0,
          cat("op '", spec.label, "': input ", use.input, ", from ", describe(problem_, spec.operands[use.input].from), ": ", *reason), "");
      d.data.clear();
      return d;
    }
    auto verdict = judge_with_inputs(problem_, use.op, choice_.ops[use.op.index()].model, {{use.input, std::get<EdgeCost>(cost)}});
    if (auto* d = std::get_if<Diagnostic>(&verdict)) return std::move(*d);
    return std::nullopt;
  }

  bool fits_channel(const TileLayout& layout, DataFormat format, std::int64_t entries, bool on_host) const {
    auto bytes = buffer_bytes(queue_of(layout, "", format, entries), *problem_.device);
    return bytes && *bytes <= (on_host ? largest_on_host(*problem_.device) : DramAllocator(*problem_.device).largest_block());
  }

  // The first layout that all readers can live with: as the smallest reader takes it, whole or (if a channel is too small for that) in
  // its parts; the same for the other readers.
  void add_input(SourceId id) {
    const SourceSpec& source = problem_.source(id);
    std::vector<OpUse> readers = source.users;
    std::stable_sort(readers.begin(), readers.end(), [&](const OpUse& a, const OpUse& b) {
      return blocked_[a.op.index()].grid.volume() < blocked_[b.op.index()].grid.volume();
    });
    std::vector<TileLayout> layouts;
    for (const OpUse& use : readers) layouts.push_back(source_layout(problem_, use.op, choice_.ops[use.op.index()].model, use.input));
    for (const OpUse& use : readers)
      layouts.push_back(
          preferred_layout(blocked_[use.op.index()], use.input, source.shape, blocked_[use.op.index()].inputs[use.input].maps));
    const std::vector<std::int32_t> chips = chips_of(source.users);
    // Chips that are behind the first one read what it has read already.
    const std::int64_t entries = is_of_step(problem_, source)
                                     ? std::int64_t{problem_.w} * options_.batches
                                     : host_entries(problem_, options_) + std::int64_t{problem_.microbatch} * chips_apart(problem_, chips);
    const bool on_host = options_.inputs_on_host && !source.flat;
    std::optional<Diagnostic> first;
    for (const TileLayout& layout : layouts) {
      // The last resort is told apart by the allocator, which knows the numbers.
      if (!fits_channel(layout, source.format, entries, on_host) && &layout != &layouts.back()) continue;
      std::optional<Diagnostic> d;
      for (const OpUse& use : readers)
        if ((d = objection(layout, use))) break;
      if (!d) {
        QueuePlan plan{queue_of(layout, source.name, source.format, entries), QueueRole::input, id, OpId{}, Stream{}, source.users, false};
        plan.queue.target_device = on_host || chips.empty() ? host_chip(problem_) : chip_of_first(source.users);
        plan.queue.tile_dim = source.tile_dim;
        if (source.flat) plan.queue.layout = netlist::QueueLayout::flat;
        if (on_host) plan.queue.location = netlist::QueueLocation::host;
        add(std::move(plan));
        return;
      }
      if (!first) first = std::move(d);
    }
    if (first) failure_.add(std::move(*first));
  }

  void add_ram(SourceId id) {
    struct Group {
      TileLayout layout;
      bool resident;
      std::int32_t chip;
      std::vector<OpUse> readers;
    };
    const SourceSpec& source = problem_.source(id);
    std::vector<Group> groups;
    for (const OpUse& use : source.users) {
      TileLayout layout = source_layout(problem_, use.op, choice_.ops[use.op.index()].model, use.input);
      bool resident = choice_.ops[use.op.index()].model.is_resident(use.input);
      const std::int32_t chip = chip_of_op(problem_, choice_, use.op);
      auto same = std::find_if(groups.begin(), groups.end(),
                               [&](const Group& g) { return g.layout == layout && g.resident == resident && g.chip == chip; });
      if (same == groups.end()) same = groups.insert(groups.end(), {layout, resident, chip, {}});
      same->readers.push_back(use);
    }
    QueueRole role = source.kind == SourceKind::parameter ? QueueRole::parameter : QueueRole::constant;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      for (const OpUse& use : groups[g].readers)
        if (auto d = objection(groups[g].layout, use)) failure_.add(std::move(*d));
      std::string name = g == 0 ? source.name : names_.take(source.name);
      QueuePlan plan{
          queue_of(groups[g].layout, std::move(name), source.format, 1), role, id, OpId{}, Stream{}, groups[g].readers, groups[g].resident};
      plan.queue.kind = netlist::QueueKind::ram;
      plan.queue.target_device = groups[g].chip;
      if (source.flat) plan.queue.layout = netlist::QueueLayout::flat;
      plan.queue.tile_dim = source.tile_dim;
      add(std::move(plan));
    }
  }

  // The chips of the ops that read a queue.
  std::vector<std::int32_t> chips_of(const std::vector<OpUse>& uses) const {
    std::vector<std::int32_t> out;
    for (const OpUse& use : uses) out.push_back(chip_of_op(problem_, choice_, use.op));
    return out;
  }

  // Of the ops that read a queue the one in the earliest epoch.
  std::int32_t chip_of_first(const std::vector<OpUse>& uses) const {
    const auto earlier = [&](const OpUse& a, const OpUse& b) { return choice_.ops[a.op.index()].epoch < choice_.ops[b.op.index()].epoch; };
    return chip_of_op(problem_, choice_, std::min_element(uses.begin(), uses.end(), earlier)->op);
  }

  QueuePlan written_by(OpId writer, std::string name, std::int64_t entries, QueueRole role) const {
    const OpSpec& spec = problem_.op(writer);
    QueuePlan plan{queue_of(queue_layout(choice_.ops[writer.index()].model), std::move(name), spec.op.out_format, entries),
                   role,
                   SourceId{},
                   writer,
                   choice_.ops[writer.index()].model.stream,
                   {},
                   false};
    plan.queue.input = spec.op.name;
    plan.queue.target_device = chip_of_op(problem_, choice_, writer);
    plan.queue.tile_dim = spec.op.tile_dim;
    return plan;
  }

  void add_output(const SinkSpec& sink) {
    if (sink.inputs.empty()) {
      QueuePlan plan = written_by(sink.op, sink.name, host_entries(problem_, options_), QueueRole::output);
      if (options_.outputs_on_host) {
        plan.queue.location = netlist::QueueLocation::host;
        plan.queue.target_device = host_chip(problem_);
      }
      add(std::move(plan));
    }
    for (SourceId id : sink.inputs) add_loopback(sink.op, id);
  }

  void add_loopback(OpId writer, SourceId id) {
    const SourceSpec& source = problem_.source(id);
    QueuePlan plan = written_by(writer, source.name, entries_between_ops(problem_, {}), QueueRole::loopback);
    plan.source = id;
    plan.readers = source.users;
    if (problem_.trains) {
      plan.queue.kind = netlist::QueueKind::ram;
      plan.queue.entries = kStateEntries;
    }
    plan.queue.target_device = source.users.empty() ? chip_of_op(problem_, choice_, writer) : chip_of_first(source.users);
    for (const OpUse& use : plan.readers)
      if (auto d = objection(tiling::layout_of(plan.queue), use)) failure_.add(std::move(*d));
    add(std::move(plan));
  }

  void add_sum(OpId writer) {
    const OpSpec& spec = problem_.op(writer);
    QueuePlan plan = written_by(writer, names_.take(spec.node_name), 1, QueueRole::gradient);
    plan.queue.kind = netlist::QueueKind::ram;
    plan.readers = spec.users;
    for (const OpUse& use : plan.readers)
      if (auto d = objection(tiling::layout_of(plan.queue), use)) failure_.add(std::move(*d));
    add(std::move(plan));
  }

  void add_queues_behind(OpId writer) {
    if (problem_.op(writer).op.gradient_op) return add_sum(writer);
    std::vector<OpUse> later, queued;
    for (const OpUse& use : problem_.op(writer).users) {
      if (direct_.contains(choice_.ops[use.op.index()].epoch) && crosses_within_temporal_epoch(problem_, choice_, {writer, use})) continue;
      if (choice_.ops[use.op.index()].epoch != choice_.ops[writer.index()].epoch) {
        later.push_back(use);
      } else if (problem_.op(use.op).operands[use.input].queued) {
        queued.push_back(use);
      }
    }
    add_queue_between(writer, "e2e_", QueueRole::epoch_to_epoch, std::move(later));
    add_queue_between(writer, "buffering_", QueueRole::buffering, std::move(queued));
  }

  void add_queue_between(OpId writer, const char* prefix, QueueRole role, std::vector<OpUse> readers) {
    if (readers.empty()) return;
    const Lifetime life = role == QueueRole::epoch_to_epoch ? life_between_epochs(problem_, choice_, writer, readers) : Lifetime{};
    const bool crosses = std::any_of(readers.begin(), readers.end(),
                                     [&](const OpUse& use) { return problem_.op(use.op).segment != problem_.op(writer).segment; });
    const std::int64_t entries = crosses ? host_entries(problem_, options_) : entries_between_ops(problem_, life);
    QueuePlan plan = written_by(writer, names_.take(cat(prefix, problem_.op(writer).op.name, "_0")), entries, role);
    plan.readers = std::move(readers);
    plan.life = life;
    add(std::move(plan));
  }

  const Problem& problem_;
  const Choice& choice_;
  const QueueOptions& options_;
  const DirectEpochs& direct_;
  NewNames names_;
  std::vector<Op> blocked_;
  QueueSet set_;
  Failure failure_;
};

}  // namespace

std::string_view role_name(QueueRole role) {
  switch (role) {
    case QueueRole::input:
      return "input";
    case QueueRole::output:
      return "output";
    case QueueRole::parameter:
      return "parameter";
    case QueueRole::constant:
      return "constant";
    case QueueRole::epoch_to_epoch:
      return "epoch-to-epoch";
    case QueueRole::loopback:
      return "loopback";
    case QueueRole::gradient:
      return "gradient";
    case QueueRole::buffering:
      return "buffering";
  }
  return "";
}

std::int64_t host_entries(const Problem& problem, const QueueOptions& options) {
  return std::int64_t{problem.microbatch} * options.batches;
}

Lifetime life_between_epochs(const Problem& problem, const Choice& choice, OpId writer, const std::vector<OpUse>& readers) {
  if (!problem.dynamic_queues) return std::nullopt;
  const std::int32_t first = choice.ops[writer.index()].epoch;
  EpochSpan out{first, first};
  for (const OpUse& use : readers) {
    if (problem.op(use.op).segment != problem.op(writer).segment) return std::nullopt;
    out.last = std::max(out.last, choice.ops[use.op.index()].epoch);
  }
  return out;
}

// A static queue has room for two epochs' worth: the producer of the next round may write before the pops of this one are published.
std::int64_t entries_between_ops(const Problem& problem, const Lifetime& life) { return (life ? 1 : 2) * std::int64_t{problem.microbatch}; }

Result<QueueSet> make_queues(const Problem& problem, const Choice& choice, const QueueOptions& options, const DirectEpochs& direct) {
  if (host_entries(problem, options) > kMaxEntries)
    return usage_error("BL017", cat("queues of ", host_entries(problem, options), " entries (", options.batches, " batches of ",
                                    problem.microbatch, ") exceed the range of queue pointers, ", kMaxEntries));
  return QueuePlanner(problem, choice, options, direct).run();
}

void encode_selections(const Problem& problem, const Choice& choice, QueueSet& set) {
  std::map<std::size_t, EncodedSelection> encoded;  // by the index of the op: both of its queues come from one encoding
  for (QueuePlan& plan : set.queues) {
    if (!plan.source.valid() || problem.source(plan.source).encoded == EncodedPart::none) continue;
    const OpId op = problem.source(plan.source).users.front().op;
    auto it = encoded.find(op.index());
    if (it == encoded.end()) {
      const OpModel& model = choice.ops[op.index()].model;
      it = encoded.emplace(op.index(), encode_selection(*problem.op(op).selection, sparse_blocking(model), model.sparse)).first;
    }
    const bool holds_tiles = problem.source(plan.source).encoded == EncodedPart::tiles;
    plan.encoded = std::make_shared<const Tensor>(std::move(holds_tiles ? it->second.tiles : it->second.indices));
  }
}

}  // namespace buda::balance
