// SPDX-License-Identifier: Apache-2.0
// One execution of a graph: its queues, and its ops one by one. When they can be executed is the affair of group_runner.cpp.
//
// Readers. A queue setting says where the graph's ops read (rd_ptr_local, for rams rd_ptr_global) and what the header publishes as popped
// (rd_ptr_global). Input i of the epoch is read at the pointer plus i times rd_ptr_autoinc. With prologue everything is fetched before the
// first input, so that writes of the same epoch do not show. A full queue of the host's that an epoch reads without ever publishing what it
// has read is gone through again and again: nobody could push anything else.
//
// Writers. An op's output goes to the slot at the write pointer of every queue that it feeds. Of a gradient op the sum over all inputs is
// written at the end; it starts from what the ram held, or from zero where the setting says `zero`.
#include <buda/functional/epoch_runner.hpp>

#include <buda/arith/host_tensor.hpp>
#include <buda/arith/tile_sizes.hpp>

#include <buda/base/text.hpp>
#include <buda/runtime/observer.hpp>
#include <buda/tensor/formats/quantize.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace buda::functional {

using netlist::ResolvedSetting;

Diagnostic epoch_error(const Machine& machine, const Epoch& epoch, const char* code, const std::string& queue, const std::string& message) {
  const auto place = epoch.graph().places.self;
  Diagnostic d = input_error(code, place.line == 0 ? SourceLoc{machine.netlist.file} : machine.netlist.loc(place),
                             cat("graph '", epoch.graph().name, "': ", message));
  d.node = queue;
  return d;
}

void EpochRunner::tell_execution(const Epoch& epoch) const {
  std::map<std::string, runtime::QueuePointers> pointers;
  auto add = [&](std::size_t q) {
    const QueueMemory& memory = m_.queues[q];
    pointers[memory.queue().name] = {memory.read_pointer(), memory.write_pointer()};
  };
  for (std::size_t q : epoch.plan.queues) add(q);
  for (const OpPlan& op : epoch.plan.ops)
    for (const WritePlan& w : op.writes) add(w.queue);
  m_.observer->executes(epoch.graph(), epoch.execution, pointers);
}

Result<void> EpochRunner::open_reader(Epoch& epoch, std::size_t index) {
  const ResolvedSetting* setting = epoch.setting(index);
  QueueMemory& queue = m_.queues[index];
  const std::string& name = queue.queue().name;
  if (queue.entries() == 0) return epoch_error(m_, epoch, "GD020", name, cat("queue '", name, "' has no entries to read from"));
  Epoch::Reader& reader = epoch.readers[index];
  reader.prologue = setting != nullptr && setting->prologue;
  if (queue.is_ram()) {
    reader.pointer = setting != nullptr ? setting->rd_ptr_global.value_or(0) : 0;
    reader.step = setting != nullptr ? setting->rd_ptr_autoinc : 0;
    return success();
  }
  if (setting != nullptr && setting->rd_ptr_global) queue.set_read(*setting->rd_ptr_global);
  reader.pointer = setting != nullptr && setting->rd_ptr_local ? *setting->rd_ptr_local : queue.read_pointer();
  // What a prologue loads stays in L1 for all inputs of the epoch.
  reader.step = setting == nullptr ? 1 : reader.prologue ? 0 : setting->rd_ptr_autoinc;
  reader.published_step = setting != nullptr ? setting->global_rdptr_autoinc : 0;
  const std::int64_t there = queue.from(reader.pointer);
  if (there > queue.entries())
    return epoch_error(m_, epoch, "GD021", name,
                       cat("it reads queue '", name, "' at ", reader.pointer, ", ahead of its write pointer ", queue.write_pointer()));
  reader.goes_round = reader.needed(epoch.graph().input_count) > queue.entries() && there == queue.entries() &&
                      reader.published_step == 0 && queue.queue().from_outside();
  if (reader.goes_round) queue.push_again(epoch.graph().input_count * reader.step);
  return success();
}

// The entries of prologues are there.
void EpochRunner::begin(Epoch& epoch) {
  for (auto& [index, reader] : epoch.readers)
    if (reader.prologue)
      for (std::int64_t i = 0; i < epoch.graph().input_count; ++i)
        reader.loaded.push_back(m_.queues[index].at(reader.pointer + i * reader.step));
  for (std::size_t i = 0; i < epoch.plan.ops.size(); ++i) {
    const OpPlan& op = epoch.plan.ops[i];
    if (op.op->gradient_op) epoch.sums[i] = with_tiles(gradient_start(epoch, op), op.work->tile_dim);
    if (op.exported) m_.exports[op.op->name].clear();
  }
}

ValuePtr EpochRunner::gradient_start(const Epoch& epoch, const OpPlan& op) const {
  for (const WritePlan& w : op.writes) {
    const ResolvedSetting* setting = epoch.setting(w.queue);
    if (setting != nullptr && setting->zero) return nullptr;
    return m_.queues[w.queue].at(setting != nullptr ? setting->wr_ptr_global.value_or(0) : 0);
  }
  return nullptr;
}

Result<ValuePtr> EpochRunner::fetch(Epoch& epoch, const OpPlan& op, std::size_t index, std::int64_t input) {
  const EdgePlan& edge = op.inputs[index];
  const std::string& name = op.op->inputs[index].name;
  ValuePtr value;
  switch (edge.from) {
    case EdgePlan::From::queue: {
      const Epoch::Reader& reader = epoch.readers[edge.index];
      const QueueMemory& queue = m_.queues[edge.index];
      const std::int64_t pointer = reader.pointer + input * reader.step;
      value = reader.prologue ? reader.loaded[static_cast<std::size_t>(input)] : queue.at(pointer);
      if (value) break;
      if ((queue.queue().from_outside() && queue.queue().alias.empty()) || !queue.is_ram())
        return epoch_error(m_, epoch, "GD022", name,
                           cat("op '", op.op->name, "' reads ", queue.is_ram() ? "ram '" : "queue '", name, "' at ", pointer,
                               ", where nothing was written yet"));
      value = std::make_shared<Value>(queue.queue().shape(), queue.queue().tile_dim, queue.queue().format);
      break;
    }
    case EdgePlan::From::op:
      value = epoch.values[edge.index];
      if (--epoch.uses[edge.index] == 0) epoch.values[edge.index] = nullptr;
      break;
    case EdgePlan::From::other_graph: {
      const auto& made = m_.exports[name];
      if (static_cast<std::size_t>(input) >= made.size() || made[static_cast<std::size_t>(input)] == nullptr)
        return epoch_error(
            m_, epoch, "GD023", name,
            cat("op '", op.op->name, "' reads op '", name, "' of another graph, which has not run for input ", input, " before it"));
      value = made[static_cast<std::size_t>(input)];
      break;
    }
  }
  m_.counts.tiles_moved += static_cast<double>(edge.gather.shape().volume());
  return value;
}

ValuePtr EpochRunner::delivered(const EdgePlan& edge, const ValuePtr& from, std::optional<std::int64_t> t) const {
  ValuePtr value =
      t ? edge.gather.matrix(from, *t, m_.options.mode, m_.host.threads) : edge.gather.apply(from, m_.options.mode, m_.host.threads);
  value = with_tiles(std::move(value), edge.tiles);
  if (edge.convert == DataFormat::invalid) return value;
  Value converted = *value;
  converted.format = edge.convert;
  store(m_.options.mode, edge.convert, converted.floats, converted.cols());
  return ValuePtr(std::make_shared<Value>(std::move(converted)));
}

std::variant<Value, std::string> EpochRunner::compute(const OpPlan& op, const std::vector<ValuePtr>& inputs,
                                                      const ValuePtr& previous) const {
  std::vector<ValuePtr> ready(inputs.size());
  const auto run_kind = [&](const arith::OpCall& call) {
    return m_.options.run_op ? m_.options.run_op(call) : arith::op_kind(call.op.type).run(call);
  };
  if (!op.by_t) {
    for (std::size_t k = 0; k < inputs.size(); ++k) ready[k] = delivered(op.inputs[k], inputs[k], std::nullopt);
    return run_kind({*op.work, ready, m_.options.mode, m_.host.threads, previous, op.fused});
  }
  Value whole(op.work->shape(), op.work->tile_dim, op.work->out_format);
  for (std::int64_t t = 0; t < whole.tiles.t; ++t) {
    for (std::size_t k = 0; k < inputs.size(); ++k) ready[k] = delivered(op.inputs[k], inputs[k], t);
    auto part = run_kind({*op.by_t, ready, m_.options.mode, m_.host.threads, nullptr, op.fused});
    if (auto* error = std::get_if<std::string>(&part)) return std::move(*error);
    const Value& matrix = std::get<Value>(part);
    const auto first = static_cast<std::ptrdiff_t>(static_cast<std::size_t>(t) * whole.matrix());
    if (whole.integer()) {
      std::copy(matrix.ints.begin(), matrix.ints.end(), whole.ints.begin() + first);
    } else {
      std::copy(matrix.floats.begin(), matrix.floats.end(), whole.floats.begin() + first);
    }
  }
  return whole;
}

Result<void> EpochRunner::run_op(Epoch& epoch, std::size_t index, std::int64_t input) {
  const OpPlan& op = epoch.plan.ops[index];
  std::vector<ValuePtr> inputs;
  for (std::size_t k = 0; k < op.inputs.size(); ++k) {
    BUDA_ASSIGN(auto value, fetch(epoch, op, k, input));
    inputs.push_back(std::move(value));
  }
  auto sum = epoch.sums.find(index);
  const bool adds = sum != epoch.sums.end();
  auto outcome = compute(op, inputs, adds ? sum->second : nullptr);
  inputs.clear();
  if (auto* error = std::get_if<std::string>(&outcome)) {
    Diagnostic d = epoch_error(m_, epoch, "GD025", op.op->name, cat("op '", op.op->name, "': ", *error));
    if (const auto place = op.op->places.self; place.line != 0) d.loc = m_.netlist.loc(place);
    return d;
  }
  ValuePtr value = std::make_shared<const Value>(std::move(std::get<Value>(outcome)));
  if (adds) sum->second = value;
  value = with_tiles(std::move(value), op.op->tile_dim);
  m_.counts.ops += 1;
  m_.counts.flops += op.flops;
  if (m_.options.check_nan) check_numbers(op, *value);
  if (m_.observer != nullptr && m_.observer->wants(*op.op)) m_.observer->made(epoch.graph(), *op.op, input, tensor_from(*value));
  epoch.done[index] = true;
  if (op.uses > 0) epoch.values[index] = value;
  if (op.exported) m_.exports[op.op->name].push_back(value);
  if (!adds || op.writes.empty()) return store_output(epoch, op, value, input);
  return success();
}

Result<void> EpochRunner::store_output(Epoch& epoch, const OpPlan& op, const ValuePtr& value, std::int64_t input) {
  for (const WritePlan& w : op.writes) {
    QueueMemory& queue = m_.queues[w.queue];
    const std::string& name = queue.queue().name;
    if (queue.entries() == 0) return epoch_error(m_, epoch, "GD020", name, cat("queue '", name, "' has no entries to write to"));
    m_.counts.tiles_moved += static_cast<double>(w.gather.shape().volume());
    ValuePtr stored = w.gather.apply(value, m_.options.mode, m_.host.threads);
    const ResolvedSetting* setting = epoch.setting(w.queue);
    if (queue.is_ram()) {
      const std::int64_t first = setting != nullptr ? setting->wr_ptr_global.value_or(0) : 0,
                         step = setting != nullptr ? setting->global_wrptr_autoinc : 0;
      queue.put(first + input * step, std::move(stored));
      continue;
    }
    queue.append(std::move(stored));
  }
  return success();
}

void EpochRunner::check_numbers(const OpPlan& op, const Value& value) {
  NumberCounts now;
  if (value.integer()) {
    std::vector<std::int32_t> most{std::numeric_limits<std::int32_t>::max()};
    quantize_to_format(std::span<std::int32_t>(most), 1, 1, value.format);
    for (std::int32_t v : value.ints) now.saturated += v >= most[0] || v <= -most[0] ? 1 : 0;
  } else {
    float most = std::numeric_limits<float>::max();
    store(m_.options.mode, value.format, {&most, 1}, 1);
    for (float v : value.floats) {
      now.nan += std::isnan(v) ? 1 : 0;
      now.infinite += std::isinf(v) ? 1 : 0;
      now.saturated += std::isfinite(v) && std::fabs(v) >= most ? 1 : 0;
    }
  }
  if (now.nan + now.infinite + now.saturated == 0) return;
  NumberCounts& all = m_.numbers[op.op->name];
  const bool first = all.nan + all.infinite + all.saturated == 0;
  all.nan += now.nan;
  all.infinite += now.infinite;
  all.saturated += now.saturated;
  if (!first) return;
  Diagnostic d = warning("GD030", op.op->places.self.line == 0 ? SourceLoc{m_.netlist.file} : m_.netlist.loc(op.op->places.self),
                         cat("op '", op.op->name, "' made ", now.nan, " NaN, ", now.infinite, " infinite and ", now.saturated,
                             " saturated numbers of ", value.size()));
  d.node = op.op->name;
  m_.host.report(d);
}

}  // namespace buda::functional
