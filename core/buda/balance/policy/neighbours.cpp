// SPDX-License-Identifier: Apache-2.0
// Edges between placed ops, queues and sources.
#include <buda/balance/policy/neighbours.hpp>

#include <buda/balance/problem/fused.hpp>
#include <buda/balance/problem/phases.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/node.hpp>

namespace buda::balance {

TileLayout folded(const TileLayout& layout) {
  TileLayout l = layout;
  l.block.mblock_m *= l.grid.rows;
  l.block.mblock_n *= l.grid.cols;
  l.grid = {1, 1};
  return l;
}

TileLayout source_layout(const Problem& problem, OpId op, const OpModel& model, std::size_t input) {
  const OpSpec& spec = problem.op(op);
  const Operand& operand = spec.operands[input];
  const netlist::TileShape shape = operand_shape(spec, model, input);
  const netlist::Op blocked = with_model(spec, model);
  TileLayout l = preferred_layout(blocked, input, shape, blocked.inputs[input].maps);
  bool activation = !operand.constant;
  return activation && shape.volume() > kSmallInputTiles ? folded(l) : l;
}

TileLayout queue_layout(const OpModel& model) { return {model.grid, model.block, model.order, model.block.t}; }

bool is_direct(const Operand& operand, const PlacedOp* producer, std::int32_t epoch) {
  return producer != nullptr && producer->epoch == epoch && !operand.queued;
}

std::variant<EdgeCost, std::string> operand_cost(const Problem& problem, OpId op, const OpModel& model, std::size_t input,
                                                 std::int32_t epoch, const PlacedOp* producer) {
  const OpSpec& spec = problem.op(op);
  const Operand& operand = spec.operands[input];
  auto maps = edge_maps(problem, op, model, input, producer == nullptr ? nullptr : &producer->model);
  if (auto* reason = std::get_if<std::string>(&maps)) return std::move(*reason);
  TileLayout from;
  std::int64_t windows = 1;  // in the producer's buffer
  if (producer == nullptr) {
    from = source_layout(problem, op, model, input);
  } else if (is_direct(operand, producer, epoch)) {
    from = tiling::layout_of(with_model(problem.op(operand.from.op), producer->model), inputs_of_op(problem, operand.from.op));
    windows = std::max<std::int64_t>(producer->model.buf_size_mb / from.buffered_t, 1);
  } else {
    from = queue_layout(producer->model);
  }
  auto measured = measure_edge(from, std::get<netlist::EdgeMaps>(maps), with_model(spec, model), input);
  if (auto* cost = std::get_if<EdgeCost>(&measured))
    return in_passes(*cost, windows, std::max<std::int64_t>(inputs_of_op(problem, op) * from.block.t / from.buffered_t, 1));
  return measured;
}

std::vector<InputLink> input_links(const Problem& problem, const netlist::Op& blocked, const OpModel& model,
                                   const std::vector<EdgeCost>& costs, const std::vector<bool>& direct) {
  std::vector<InputLink> out;
  for (std::size_t i = 0; i < costs.size(); ++i) {
    InputLink link;
    link.from_queue = !direct[i];
    link.prologue = model.is_resident(i);
    link.sources = costs[i].sources;
    link.phases = costs[i].receiver_phases;
    link.pipes = costs[i].pipes;
    link.flow = costs[i].flow;
    if (link.from_queue) link.reads = dram_reads(costs[i], blocked, i, *problem.device);
    out.push_back(link);
  }
  return out;
}

std::variant<std::int32_t, Diagnostic> judge(const OpSpec& spec, netlist::Op blocked, const Links& links,
                                             const device::DeviceDescriptor& device, const std::string& remedy) {
  blocked.overlay_size = overlay_size_for(phase_usage(blocked, links, device), device);
  auto all = usages(blocked, links, device, spec.fused.get());
  if (const Usage* over = first_misfit(all)) return misfit(spec.node_name, spec.label, *over, remedy);
  return blocked.overlay_size;
}

std::variant<std::int32_t, Diagnostic> judge_with_inputs(const Problem& problem, OpId op, const OpModel& model,
                                                         const std::vector<KnownInput>& known) {
  const OpSpec& spec = problem.op(op);
  std::vector<EdgeCost> costs(spec.operands.size(), EdgeCost{1, 1, 1, 1, 1, 1});
  std::vector<bool> direct(spec.operands.size(), true);
  for (const KnownInput& k : known) {
    costs[k.input] = k.cost;
    direct[k.input] = k.direct;
  }
  const netlist::Op blocked = with_model(spec, model);
  Links links = links_alone(spec, model);
  links.inputs = input_links(problem, blocked, model, costs, direct);
  return judge(spec, blocked, links, *problem.device, "");
}

bool fits_with_sources(const Problem& problem, OpId op, const OpModel& model) {
  const OpSpec& spec = problem.op(op);
  std::vector<KnownInput> queued;
  for (std::size_t i = 0; i < spec.operands.size(); ++i) {
    if (!spec.operands[i].from.source.valid()) continue;
    auto cost = operand_cost(problem, op, model, i, 0, nullptr);
    if (std::holds_alternative<std::string>(cost)) return false;
    queued.push_back({i, std::get<EdgeCost>(cost)});
  }
  return std::holds_alternative<std::int32_t>(judge_with_inputs(problem, op, model, queued));
}

std::variant<EdgeBook::Entry, EdgeBook::Complaint> EdgeBook::measure(OpId op, const OpModel& model, std::int32_t epoch,
                                                                     const Lookup& placed) const {
  if (last_ && last_->op == op && last_->epoch == epoch && last_->model == model) return last_->entry;
  auto out = measure_anew(op, model, epoch, placed);
  if (auto* entry = std::get_if<Entry>(&out)) last_ = Measured{op, model, epoch, *entry};
  return out;
}

// Beyond these, memory would be more than the time is worth.
constexpr std::size_t kMaxKnownCosts = 100'000;

ModelShape shape_of(const OpModel& model) {
  return {model.grid.rows,
          model.grid.cols,
          model.stream.parts,
          model.bands,
          static_cast<std::int32_t>(model.stream.direction),
          model.block.t,
          model.block.mblock_m,
          model.block.mblock_n,
          model.block.ublock_rt,
          model.block.ublock_ct,
          static_cast<std::int32_t>(model.order),
          model.m_k,
          model.u_kt,
          model.buf_size_mb,
          model.held_inputs,
          static_cast<std::int32_t>(model.resident)};
}

std::size_t EdgeKeyHash::operator()(const EdgeKey& key) const {
  std::uint64_t hash = key.direct ? 1 : 0;
  const auto add = [&hash](std::uint64_t number) {
    hash = (hash ^ number) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 32;
  };
  for (std::size_t number : {key.op, key.input, key.producer}) add(number);
  for (const ModelShape* shape : {&key.model, &key.producer_model}) {
    for (std::size_t i = 0; i + 1 < shape->size(); i += 2)
      add(static_cast<std::uint64_t>((*shape)[i]) << 32 ^ static_cast<std::uint32_t>((*shape)[i + 1]));
    add(static_cast<std::uint32_t>(shape->back()));
  }
  return static_cast<std::size_t>(hash);
}

const std::variant<EdgeCost, std::string>& EdgeBook::cost_of(OpId op, const OpModel& model, std::size_t input, std::int32_t epoch,
                                                             const PlacedOp* producer) const {
  EdgeKey key{kind(op), input, EdgeKey::kSource, false, shape_of(model), {}};
  if (producer != nullptr) {
    const Operand& operand = problem_->op(op).operands[input];
    key.producer = kind(operand.from.op);
    key.direct = is_direct(operand, producer, epoch);
    key.producer_model = shape_of(producer->model);
  }
  if (costs_.size() >= kMaxKnownCosts) costs_.clear();
  const auto [known, fresh] = costs_.try_emplace(key);
  if (fresh) known->second = operand_cost(*problem_, op, model, input, epoch, producer);
  return known->second;
}

std::variant<EdgeBook::Entry, EdgeBook::Complaint> EdgeBook::measure_anew(OpId op, const OpModel& model, std::int32_t epoch,
                                                                          const Lookup& placed) const {
  const OpSpec& spec = problem_->op(op);
  Entry entry;
  for (std::size_t i = 0; i < spec.operands.size(); ++i) {
    const Origin& from = spec.operands[i].from;
    const PlacedOp* producer = from.op.valid() ? placed(from.op) : nullptr;
    auto complain = [&](std::string why) { return Complaint{i, std::move(why)}; };
    if (from.op.valid() && producer == nullptr) return complain("its producer is not placed yet");
    const bool direct = is_direct(spec.operands[i], producer, epoch);
    if (direct && !holds_all(problem_->op(from.op), producer->model) && has_other_reader(from.op, op))
      return complain(
          "its producer streams and holds only some of its parts, and another op of the epoch reads it, too: one of them "
          "could wait for the other");
    const auto& cost = cost_of(op, model, i, epoch, producer);
    if (const auto* reason = std::get_if<std::string>(&cost)) return complain(*reason);
    const EdgeCost& edge = std::get<EdgeCost>(cost);
    if (direct && edge.unread > 0 && problem_->op(from.op).users.size() == 1 && problem_->op(from.op).outputs == 0)
      return complain(cat("no core reads what ", edge.unread, " of its producer's cores compute; put a queue between them"));
    entry.costs.push_back(edge);
    entry.direct.push_back(direct);
  }
  return entry;
}

Diagnostic EdgeBook::explain(OpId op, const OpModel& model, const Complaint& complaint) const {
  const OpSpec& spec = problem_->op(op);
  const std::string from = describe(*problem_, spec.operands[complaint.input].from);
  Diagnostic d =
      does_not_fit("BL012", spec.node_name, "edge", 0, 0,
                   cat("op '", spec.label, "' (", model.text(), "): input ", complaint.input, ", from ", from, ": ", complaint.why), "");
  d.data.clear();
  return d;
}

bool EdgeBook::fits(OpId op, const OpModel& model, const Entry& own, const std::vector<ExtraUse>& extra) const {
  const OpSpec& spec = problem_->op(op);
  std::vector<std::int64_t> key{static_cast<std::int64_t>(kind(op))};
  for (std::int32_t number : shape_of(model)) key.push_back(number);
  for (std::size_t i = 0; i < own.costs.size(); ++i) {
    const EdgeCost& cost = own.costs[i];
    key.insert(key.end(), {own.direct[i], cost.granularity, cost.sources, cost.receiver_phases, cost.pieces, cost.pipes});
  }
  const auto add = [&](const OpUse& use, const Entry& entry) {
    if (use.input < entry.costs.size() && entry.direct[use.input])
      key.insert(key.end(), {entry.costs[use.input].fan_out, entry.costs[use.input].sender_phases});
  };
  for (const OpUse& use : spec.users) add(use, inputs_[use.op.index()]);
  for (const ExtraUse& e : extra) add(e.use, *e.entry);
  if (verdicts_.size() >= kMaxKnownCosts) verdicts_.clear();
  const auto [known, fresh] = verdicts_.try_emplace(std::move(key));
  if (fresh)
    known->second =
        std::holds_alternative<std::int32_t>(judge(spec, with_model(spec, model), links(op, model, own, extra), *problem_->device, ""));
  return known->second;
}

bool EdgeBook::has_other_reader(OpId producer, OpId reader) const {
  const auto& users = problem_->op(producer).users;
  return std::any_of(users.begin(), users.end(), [&](const OpUse& use) {
    const Entry& entry = inputs_[use.op.index()];
    return use.op != reader && use.input < entry.direct.size() && entry.direct[use.input];
  });
}

Links EdgeBook::links(OpId op, const OpModel& model, const Entry& own, const std::vector<ExtraUse>& extra) const {
  const OpSpec& spec = problem_->op(op);
  Links out = links_alone(spec, model);
  // Several batches at once keep parameters in L1: there the room would cost up to a third of the speed.
  out.for_pipegen2 = problem_->batches == 1;
  out.inputs = input_links(*problem_, with_model(spec, model), model, own.costs, own.direct);
  auto add = [&](const OpUse& use, const Entry& entry) {
    if (use.input >= entry.costs.size() || !entry.direct[use.input]) return;
    out.outputs.push_back({false, entry.costs[use.input].fan_out, entry.costs[use.input].sender_phases});
  };
  for (const OpUse& use : spec.users) add(use, inputs_[use.op.index()]);
  for (const ExtraUse& e : extra) add(e.use, *e.entry);
  return out;
}

}  // namespace buda::balance
