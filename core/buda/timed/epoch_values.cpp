// SPDX-License-Identifier: Apache-2.0
// Op by op and input by input, as soon as everything has come.
#include <buda/timed/epoch_values.hpp>

#include <buda/arith/op.hpp>
#include <buda/arith/tile_sizes.hpp>
#include <buda/arith/tiles.hpp>
#include <buda/base/text.hpp>

#include <algorithm>
#include <set>
#include <variant>

namespace buda::timed {

using arith::EdgePlan;
using arith::OpPlan;
using arith::Value;
using arith::ValuePtr;
using netlist::Execution;
using netlist::Op;
using netlist::Queue;
using netlist::ResolvedSetting;
using netlist::TileIndex;

namespace {

const ResolvedSetting* setting_for(const Execution& execution, std::size_t queue) {
  const auto found = std::find_if(execution.settings.begin(), execution.settings.end(), [&](const auto& s) { return s.queue == queue; });
  return found == execution.settings.end() ? nullptr : &*found;
}

Diagnostic wrong_values(const std::string& op, const std::string& what) {
  Diagnostic d = input_error("SM018", {}, what);
  d.node = op;
  return d;
}

// Whether all tiles of one input more have come.
template <class Cursor>
bool is_complete(const Cursor& cursor) {
  std::int64_t missing = cursor.tiles->per_input + cursor.within;
  for (std::size_t i = cursor.run; i < cursor.tiles->runs.size() && missing > 0; ++i) missing -= cursor.tiles->runs[i].count;
  return missing <= 0;
}

// The tiles of one input more, by their number. What is kept is the same for every input.
template <class Cursor>
std::vector<std::pair<sim::TileSource, std::int64_t>> next_tiles(Cursor& cursor) {
  std::vector<std::pair<sim::TileSource, std::int64_t>> out;
  Cursor at = cursor;
  for (std::int64_t missing = at.tiles->per_input; missing > 0;) {
    const sim::TileRun& run = at.tiles->runs[at.run];
    const std::int64_t count = std::min(missing, run.count - at.within);
    for (std::int64_t i = 0; i < count; ++i) out.emplace_back(run.source, run.source == sim::kPadding ? 0 : run.first + at.within + i);
    missing -= count;
    at.within += count;
    // The last run may still grow.
    if (at.within < run.count || at.run + 1 == at.tiles->runs.size()) continue;
    ++at.run;
    at.within = 0;
  }
  if (!cursor.kept) cursor = at;
  return out;
}

}  // namespace

EpochValues::EpochValues(const netlist::Netlist& netlist, const arith::Plans& plans, const Computing& computing, QueueValues& queues,
                         Host& host, const std::vector<Execution>& executions, const QueueTable& pointers)
    : netlist_(netlist), computing_(computing), queues_(queues), host_(host) {
  for (std::size_t q = 0; q < netlist.queues.size(); ++q) queue_index_.emplace(netlist.queues[q].name, q);
  std::set<std::size_t> groups;
  for (const Execution& execution : executions) groups.insert(plans.graphs.at(execution.graph).group);
  for (std::size_t group : groups)
    for (const auto& [graph, op] : plans.groups[group].order)
      for (const Execution& execution : executions)
        if (execution.graph == graph) add_op(execution, plans.graphs.at(graph).ops[op], pointers);
}

void EpochValues::add_op(const Execution& execution, const OpPlan& plan, const QueueTable& pointers) {
  OpState state;
  state.graph = execution.graph;
  state.plan = &plan;
  state.operands.resize(plan.inputs.size());
  state.inputs = std::max(netlist_.graphs[execution.graph].input_count, 1);
  for (const EdgePlan& edge : plan.inputs)
    if (edge.from == EdgePlan::From::queue) add_reader(execution, edge.index, pointers);
  const std::size_t number = ops_.size();
  for (const arith::WritePlan& w : plan.writes) {
    add_writer(execution, number, w, pointers);
    if (!plan.op->gradient_op) continue;
    const ResolvedSetting* setting = setting_for(execution, w.queue);
    if (&w == &plan.writes.front() && (setting == nullptr || !setting->zero))
      if (ValuePtr held = queues_[w.queue].at(writers_.back().pointer)) state.sum = arith::with_tiles(held, plan.work->tile_dim);
  }
  op_index_[plan.op->name] = number;
  ops_.push_back(std::move(state));
}

void EpochValues::add_reader(const Execution& execution, std::size_t queue, const QueueTable& pointers) {
  auto [it, fresh] = readers_.try_emplace({execution.graph, queue});
  if (!fresh) return;
  Reader& reader = it->second;
  const ResolvedSetting* setting = setting_for(execution, queue);
  const QueuePointers& header = pointers[queue];
  const bool prologue = setting != nullptr && setting->prologue;
  if (header.is_ram()) {
    reader.pointer = setting != nullptr ? setting->rd_ptr_global.value_or(0) : 0;
    reader.step = setting != nullptr ? setting->rd_ptr_autoinc : 0;
    reader.always = true;
  } else {
    reader.pointer = setting != nullptr && setting->rd_ptr_local ? *setting->rd_ptr_local : header.read_pointer();
    reader.step = setting == nullptr ? 1 : prologue ? 0 : setting->rd_ptr_autoinc;
    reader.there = header.from(reader.pointer);
    reader.always = reader.there > header.entries();
  }
  if (!prologue) return;
  const std::int64_t inputs = std::max(netlist_.graphs[execution.graph].input_count, 1);
  for (std::int64_t i = 0; i < inputs; ++i) reader.loaded.push_back(queues_[queue].at(reader.pointer + i * reader.step));
}

void EpochValues::add_writer(const Execution& execution, std::size_t op, const arith::WritePlan& plan, const QueueTable& pointers) {
  Writer writer;
  writer.op = op;
  writer.plan = &plan;
  writer.pointer = pointers[plan.queue].write_pointer();
  if (pointers[plan.queue].is_ram()) {
    const ResolvedSetting* setting = setting_for(execution, plan.queue);
    writer.pointer = setting != nullptr ? setting->wr_ptr_global.value_or(0) : 0;
    writer.step = setting != nullptr ? setting->global_wrptr_autoinc : 0;
  }
  writers_.push_back(std::move(writer));
}

void EpochValues::watch(std::shared_ptr<const sim::Arrivals> arrivals) {
  arrivals_ = std::move(arrivals);
  for (const sim::InputArrivals& input : arrivals_->inputs)
    if (const auto op = op_index_.find(input.op->name); op != op_index_.end())
      ops_[op->second].operands[input.operand].push_back({&input, input.kept});
  for (const sim::StoredArrivals& stored : arrivals_->stored)
    for (Writer& writer : writers_)
      if (netlist_.queues[writer.plan->queue].name == stored.queue) writer.buffers.push_back({&stored});
}

void EpochValues::pushed(std::size_t queue, std::int64_t pointer, ValuePtr entry) {
  for (auto& [key, reader] : readers_)
    if (key.second == queue) reader.pushed.push_back(entry);
  late_.emplace_back(queue, pointer, std::move(entry));
}

ValuePtr EpochValues::entry(std::size_t graph, std::size_t queue, std::int64_t number) const {
  const auto found = readers_.find({graph, queue});
  if (found == readers_.end()) return nullptr;
  const Reader& reader = found->second;
  const std::int64_t at = number * reader.step, late = at - reader.there;
  ValuePtr value;
  if (!reader.loaded.empty()) {
    value = reader.loaded[static_cast<std::size_t>(number) % reader.loaded.size()];
  } else if (!reader.always && late >= 0 && static_cast<std::size_t>(late) < reader.pushed.size()) {
    value = reader.pushed[static_cast<std::size_t>(late)];
  } else {
    value = queues_[queue].at(reader.pointer + at);
  }
  const Queue& q = netlist_.queues[queue];
  // A ram that nothing was written to holds zeros.
  return value || q.kind != netlist::QueueKind::ram ? value : std::make_shared<const Value>(q.shape(), q.tile_dim, q.format);
}

bool EpochValues::is_there(const OpState& op, std::size_t operand) const {
  const EdgePlan& edge = op.plan->inputs[operand];
  const auto& cores = op.operands[operand];
  if (!std::all_of(cores.begin(), cores.end(), [](const Cursor& c) { return is_complete(c); })) return false;
  if (edge.from != EdgePlan::From::queue) {
    const auto from = op_index_.find(op.plan->op->inputs[operand].name);
    return from != op_index_.end() && ops_[from->second].values.count(op.next) != 0;
  }
  if (!cores.empty() || over_) return true;
  const Reader& reader = readers_.at({op.graph, edge.index});
  return reader.always || !reader.loaded.empty() || op.next * reader.step < reader.there + static_cast<std::int64_t>(reader.pushed.size());
}

Result<void> EpochValues::compute() {
  if (!arrivals_) return success();
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t i = 0; i < ops_.size(); ++i) {
      OpState& op = ops_[i];
      bool ready = op.next < op.inputs;
      for (std::size_t k = 0; k < op.operands.size() && ready; ++k) ready = is_there(op, k);
      if (ready) {
        BUDA_TRY(run(op));
        moved = true;
      }
      for (Writer& writer : writers_) {
        if (writer.op != i || op.plan->op->gradient_op || op.values.count(writer.next) == 0) continue;
        if (!std::all_of(writer.buffers.begin(), writer.buffers.end(), [](const Cursor& c) { return is_complete(c); })) continue;
        BUDA_TRY(write(writer));
        moved = true;
      }
    }
    forget();
  }
  return success();
}

// Of values, those that no op and no queue will ask for.
void EpochValues::forget() {
  std::vector<std::int64_t> needed(ops_.size());
  for (std::size_t i = 0; i < ops_.size(); ++i) needed[i] = ops_[i].next;
  for (const Writer& writer : writers_)
    if (!ops_[writer.op].plan->op->gradient_op) needed[writer.op] = std::min(needed[writer.op], writer.next);
  for (const OpState& op : ops_)
    for (const netlist::OpInput& input : op.plan->op->inputs)
      if (const auto from = op_index_.find(input.name); from != op_index_.end() && queue_index_.count(input.name) == 0)
        needed[from->second] = std::min(needed[from->second], op.next);
  for (std::size_t i = 0; i < ops_.size(); ++i) ops_[i].values.erase(ops_[i].values.begin(), ops_[i].values.lower_bound(needed[i]));
}

Result<void> EpochValues::run(OpState& op) {
  std::vector<ValuePtr> ready;
  for (std::size_t k = 0; k < op.operands.size(); ++k) {
    BUDA_ASSIGN(ValuePtr value, operand_value(op, k));
    ready.push_back(std::move(value));
  }
  const OpPlan& plan = *op.plan;
  const arith::OpCall call{*plan.work, ready, computing_.mode, host_.threads, op.sum, plan.fused};
  auto outcome = computing_.run_op ? computing_.run_op(call) : arith::op_kind(plan.op->type).run(call);
  if (auto* error = std::get_if<std::string>(&outcome)) {
    Diagnostic d = wrong_values(plan.op->name, cat("op '", plan.op->name, "': ", *error));
    if (const auto place = plan.op->places.self; place.line != 0) d.loc = netlist_.loc(place);
    return d;
  }
  ValuePtr value = std::make_shared<const Value>(std::move(std::get<Value>(outcome)));
  if (plan.op->gradient_op) op.sum = value;
  op.values[op.next++] = arith::with_tiles(std::move(value), plan.op->tile_dim);
  return success();
}

Result<ValuePtr> EpochValues::operand_value(OpState& op, std::size_t k) {
  const EdgePlan& edge = op.plan->inputs[k];
  const netlist::OpInput& input = op.plan->op->inputs[k];
  const std::string where = cat("op '", op.plan->op->name, "', input ", k);
  const bool from_queue = edge.from == EdgePlan::From::queue;
  const ValuePtr source = from_queue ? entry(op.graph, edge.index, op.next) : ops_[op_index_.at(input.name)].values.at(op.next);
  if (source == nullptr) return wrong_values(op.plan->op->name, cat(where, ": queue '", input.name, "' holds nothing where it is read"));
  ValuePtr value;
  if (op.operands[k].empty()) {
    value = edge.gather.apply(source, computing_.mode, host_.threads);
  } else {
    const TileDim dim = source->dim;
    Value whole(edge.gather.shape(), input.maps.transposes() ? TileDim{dim.cols, dim.rows} : dim, source->format);
    std::vector<Placed> placed;
    for (Cursor& core : op.operands[k]) {
      const auto tiles = next_tiles(core);
      for (const auto& [tile, number] : core.tiles->places) {
        const auto& [from, of_source] = tiles[static_cast<std::size_t>(number)];
        placed.push_back({from, of_source, tile});
      }
    }
    const Assembly assembly{where, input.maps, source->tiles, op.graph, from_queue ? std::optional(edge.index) : std::nullopt};
    BUDA_TRY(assemble(assembly, placed, whole));
    value = std::make_shared<const Value>(std::move(whole));
  }
  value = arith::with_tiles(std::move(value), edge.tiles);
  if (edge.convert == DataFormat::invalid) return value;
  Value converted = *value;
  converted.format = edge.convert;
  arith::store(computing_.mode, edge.convert, converted.floats, converted.cols());
  return ValuePtr(std::make_shared<const Value>(std::move(converted)));
}

// Every tile was compared with the one that belongs to its place when it came (sim::TileCheck), so that here all cores agree.
Result<void> EpochValues::assemble(const Assembly& a, const std::vector<Placed>& tiles, Value& to) const {
  const auto made = netlist::TileMap::make(a.from, a.maps);
  const bool transposed = a.maps.transposes();
  std::vector<std::pair<sim::TileSource, std::int64_t>> there(static_cast<std::size_t>(to.tiles.volume()), {sim::kUnknown, 0});
  for (const Placed& p : tiles) {
    auto& here = there[static_cast<std::size_t>((p.tile.t * to.tiles.rt + p.tile.r) * to.tiles.ct + p.tile.c)];
    const std::pair now{p.source, p.number};
    if (here == now) continue;
    if (here.first != sim::kUnknown)
      return internal_error(cat(a.where, ": cores have received different tiles for the place (", p.tile.t, ", ", p.tile.r, ", ", p.tile.c,
                                ") of the tensor"));
    here = now;
    if (p.source == sim::kPadding) {
      arith::fill_tile(to, p.tile, std::get<netlist::TileMap>(made).source(p.tile).pad_value, computing_.mode);
      continue;
    }
    const sim::TileOrigin& origin = arrivals_->origins.at(p.source);
    if (origin.op == nullptr) {
      const Queue& q = netlist_.queues[a.queue.value()];
      const auto from = arith::tile_at(q.grid, q.block, q.ublock_order, {origin.part, p.number});
      const ValuePtr value = entry(a.graph, *a.queue, from.entry);
      if (value == nullptr) return wrong_values(a.where, cat(a.where, ": queue '", q.name, "' holds nothing where it is read"));
      arith::copy_tile(*value, from.tile, to, p.tile, transposed);
    } else {
      const Op& op = *origin.op;
      const auto from = arith::tile_at(op.grid, op.block, op.ublock_order, {origin.part, p.number});
      const auto& values = ops_[op_index_.at(op.name)].values;
      const auto value = values.find(from.entry);
      if (value == values.end())
        return internal_error(cat(a.where, ": tiles of input ", from.entry, " of '", op.name, "' come too early, or too late"));
      arith::copy_tile(*value->second, from.tile, to, p.tile, transposed);
    }
  }
  return success();
}

Result<void> EpochValues::write(Writer& writer) {
  const OpState& op = ops_[writer.op];
  const std::int64_t input = writer.next++;
  const ValuePtr made = op.values.at(input);
  if (writer.buffers.empty()) {
    store(writer, input, writer.plan->gather.apply(made, computing_.mode, host_.threads));
    return success();
  }
  const Queue& queue = netlist_.queues[writer.plan->queue];
  const netlist::EdgeMaps maps{std::nullopt, queue.input_tms, std::nullopt};
  Value whole(queue.shape(), queue.tile_dim, queue.format);
  std::vector<Placed> placed;
  for (Cursor& buffer : writer.buffers) {
    const auto tiles = next_tiles(buffer);
    for (const auto& [tile, number] : buffer.tiles->places) {
      const auto& [from, of_source] = tiles[static_cast<std::size_t>(number)];
      placed.push_back({from, of_source, tile});
    }
  }
  BUDA_TRY(assemble({cat("queue '", queue.name, '\''), maps, made->tiles, op.graph, std::nullopt}, placed, whole));
  store(writer, input, std::make_shared<const Value>(std::move(whole)));
  return success();
}

void EpochValues::store(const Writer& writer, std::int64_t input, ValuePtr value) {
  queues_[writer.plan->queue].put(writer.pointer + input * writer.step, std::move(value));
}

Result<void> EpochValues::finish() {
  over_ = true;
  BUDA_TRY(compute());
  for (const Writer& writer : writers_) {
    const OpState& op = ops_[writer.op];
    if (!op.plan->op->gradient_op || op.sum == nullptr) continue;
    const ValuePtr sum = arith::with_tiles(op.sum, op.plan->op->tile_dim);
    store(writer, 0, writer.plan->gather.apply(sum, computing_.mode, host_.threads));
  }
  for (auto& [queue, pointer, value] : late_) queues_[queue].put(pointer, std::move(value));
  for (const OpState& op : ops_)
    if (op.next < op.inputs) return internal_error(cat("op '", op.plan->op->name, "' has not received all of input ", op.next));
  return success();
}

}  // namespace buda::timed
