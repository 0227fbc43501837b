// One execution of a graph.
//
// Readers. A queue setting says where the graph's ops read (rd_ptr_local, for rams rd_ptr_global) and what the header publishes as popped
// (rd_ptr_global). Input i of the epoch is read at the pointer plus i times rd_ptr_autoinc. With prologue everything is fetched before the
// first input, so that writes of the same epoch do not show. Reading entries that are not there would make a chip wait forever; here it is
// an error. Only a host that pushes and pops beside the running graph can serve an epoch with more inputs than a queue has entries: it is
// taken to push what the full queue holds over and over again, and to pop the oldest output when there is no room for the next one.
//
// Writers. An op's output goes to the slot at the write pointer of every queue that it feeds. Of a gradient op the sum over all inputs is
// written at the end; it starts from what the ram held, or from zero where the setting says `zero`.
#include "device.hpp"

#include "host_tensor.hpp"
#include "tile_sizes.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/quantize.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace buda::golden {

using netlist::Graph;
using netlist::Queue;
using netlist::ResolvedSetting;

struct GoldenDevice::Epoch {
  const GraphPlan& plan;
  netlist::Execution execution;
  struct Reader {
    std::int64_t pointer = 0;
    std::int64_t step = 0;
    std::int64_t published_step = 0;
    std::vector<ValuePtr> prologue;  // by input
  };
  std::map<std::size_t, Reader> readers;  // by queue
  std::vector<ValuePtr> values;           // by op: its output for the present input
  std::vector<std::size_t> uses;          // by op: readers still to come
  std::map<std::size_t, ValuePtr> sums;   // by op: of gradient ops

  const Graph& graph() const { return *plan.graph; }
  const ResolvedSetting* setting(std::size_t queue) const {
    for (const auto& s : execution.settings)
      if (s.queue == queue) return &s;
    return nullptr;
  }
};

Diagnostic GoldenDevice::epoch_error(const Epoch& epoch, const char* code, const std::string& queue, const std::string& message) const {
  const auto place = epoch.graph().places.self;
  Diagnostic d = input_error(code, place.line == 0 ? SourceLoc{netlist_.file} : netlist_.loc(place),
                             cat("graph '", epoch.graph().name, "': ", message));
  d.node = queue;
  return d;
}

Result<void> GoldenDevice::allocate(std::size_t queue) {
  BUDA_TRY(run_pending());
  queues_[queue].clear();
  if (observer_ != nullptr) observer_->allocated(netlist_.queues[queue]);
  return success();
}

void GoldenDevice::read_pointer_moved(std::size_t queue, std::int32_t value) {
  if (queues_[queue].is_ram()) return;
  if (pending_.empty()) {
    queues_[queue].set_read(value);
    if (observer_ != nullptr) observer_->moved(netlist_.queues[queue], queues_[queue].read_pointer());
  } else {
    moved_.emplace_back(queue, value);
  }
}

Result<void> GoldenDevice::execute(const netlist::Execution& execution) {
  const GraphPlan& plan = plans_.graphs.at(execution.graph);
  // Graphs of other groups may come in between; what shares a queue with them keeps its turn.
  auto touches = [](const GraphPlan& graph, std::size_t queue) {
    return std::find(graph.queues.begin(), graph.queues.end(), queue) != graph.queues.end() ||
           std::any_of(graph.ops.begin(), graph.ops.end(), [&](const OpPlan& op) {
             return std::any_of(op.writes.begin(), op.writes.end(), [&](const WritePlan& w) { return w.queue == queue; });
           });
  };
  std::size_t same_group = 0;
  for (const auto& waiting : pending_) {
    const GraphPlan& other = plans_.graphs.at(waiting.graph);
    bool ends = waiting.graph == execution.graph;
    if (other.group == plan.group) {
      ++same_group;
    } else {
      for (std::size_t q = 0; q < queues_.size() && !ends; ++q) ends = touches(other, q) && touches(plan, q);
    }
    if (!ends) continue;
    BUDA_TRY(run_pending());
    same_group = 0;
    break;
  }
  if (same_group + 1 < plans_.groups[plan.group].graphs.size()) {
    pending_.push_back(execution);
    return success();
  }
  // The group is complete. Others go on waiting.
  std::vector<netlist::Execution> others;
  std::vector<netlist::Execution> group;
  for (auto& waiting : pending_) (plans_.graphs.at(waiting.graph).group == plan.group ? group : others).push_back(std::move(waiting));
  group.push_back(execution);
  pending_ = std::move(others);
  return run_group(group);
}

Result<void> GoldenDevice::run_pending() {
  while (!pending_.empty()) {
    const std::size_t group = plans_.graphs.at(pending_.front().graph).group;
    std::vector<netlist::Execution> others;
    std::vector<netlist::Execution> now;
    for (auto& waiting : pending_) (plans_.graphs.at(waiting.graph).group == group ? now : others).push_back(std::move(waiting));
    pending_ = std::move(others);
    BUDA_TRY(run_group(now));
  }
  return success();
}

Result<void> GoldenDevice::run_group(const std::vector<netlist::Execution>& executions) {
  std::map<std::size_t, Epoch> epochs;
  std::set<std::size_t> written;
  std::int64_t inputs = 0;
  for (const auto& e : executions) {
    auto [it, fresh] = epochs.emplace(e.graph, Epoch{plans_.graphs.at(e.graph), e, {}, {}, {}, {}});
    inputs = std::max<std::int64_t>(inputs, it->second.graph().input_count);
    for (const OpPlan& op : it->second.plan.ops)
      for (const WritePlan& w : op.writes) written.insert(w.queue);
  }
  for (auto& [g, epoch] : epochs) BUDA_TRY(begin(epoch, written));
  if (observer_ != nullptr)
    for (const auto& [g, epoch] : epochs) tell_execution(epoch);
  const GraphGroup& group = plans_.groups[plans_.graphs.at(executions.front().graph).group];
  for (std::int64_t i = 0; i < inputs; ++i) {
    for (auto& [g, epoch] : epochs) start_input(epoch);
    for (const auto& [g, op] : group.order)
      if (auto epoch = epochs.find(g); epoch != epochs.end() && i < epoch->second.graph().input_count)
        BUDA_TRY(run_op(epoch->second, op, i));
    // What graphs hand each other is kept for those that did not run beside the others.
    if (epochs.size() < group.graphs.size()) continue;
    for (const auto& [g, epoch] : epochs)
      for (const OpPlan& op : epoch.plan.ops)
        if (op.exported && i < epoch.graph().input_count) exports_[op.op->name].back() = nullptr;
  }
  for (auto& [g, epoch] : epochs) {
    BUDA_TRY(end(epoch));
    epochs_ += 1;
    inputs_ += epoch.graph().input_count;
    host_.progress(cat("epoch ", epoch.graph().name), static_cast<std::size_t>(epochs_), 0);
  }
  if (!pending_.empty()) return success();
  const auto moved = std::move(moved_);
  moved_.clear();
  for (const auto& [queue, value] : moved) read_pointer_moved(queue, value);
  return success();
}

void GoldenDevice::tell_execution(const Epoch& epoch) const {
  std::map<std::string, runtime::QueuePointers> pointers;
  auto add = [&](std::size_t q) {
    const QueueMemory& memory = queues_[q];
    pointers[memory.queue().name] = {memory.read_pointer(), memory.write_pointer()};
  };
  for (std::size_t q : epoch.plan.queues) add(q);
  for (const OpPlan& op : epoch.plan.ops)
    for (const WritePlan& w : op.writes) add(w.queue);
  observer_->executes(epoch.graph(), epoch.execution, pointers);
}

Result<void> GoldenDevice::begin(Epoch& epoch, const std::set<std::size_t>& written) {
  for (std::size_t queue : epoch.plan.queues) BUDA_TRY(open_reader(epoch, queue, epoch.setting(queue), written.count(queue) != 0));
  for (std::size_t i = 0; i < epoch.plan.ops.size(); ++i) {
    const OpPlan& op = epoch.plan.ops[i];
    if (op.op->gradient_op) epoch.sums[i] = with_tiles(gradient_start(epoch, op), op.work->tile_dim);
    if (op.exported) exports_[op.op->name].clear();
  }
  return success();
}

Result<void> GoldenDevice::open_reader(Epoch& epoch, std::size_t index, const ResolvedSetting* setting, bool fed_here) {
  QueueMemory& queue = queues_[index];
  const std::string& name = queue.queue().name;
  if (queue.entries() == 0) return epoch_error(epoch, "GD020", name, cat("queue '", name, "' has no entries to read from"));
  Epoch::Reader& reader = epoch.readers[index];
  if (queue.is_ram()) {
    reader.pointer = setting != nullptr ? setting->rd_ptr_global.value_or(0) : 0;
    reader.step = setting != nullptr ? setting->rd_ptr_autoinc : 0;
  } else {
    if (setting != nullptr && setting->rd_ptr_global) queue.set_read(*setting->rd_ptr_global);
    reader.pointer = setting != nullptr && setting->rd_ptr_local ? *setting->rd_ptr_local : queue.read_pointer();
    // What a prologue loads stays in L1 for all inputs of the epoch.
    reader.step = setting == nullptr ? 1 : setting->prologue ? 0 : setting->rd_ptr_autoinc;
    reader.published_step = setting != nullptr ? setting->global_rdptr_autoinc : 0;
  }
  const std::int64_t inputs = epoch.graph().input_count;
  if (!queue.is_ram()) {
    // An op that runs at the same time may feed the queue while it is read: then entries turn up as they are needed.
    const std::int64_t there = queue.from(reader.pointer), needed = (inputs - 1) * std::max<std::int64_t>(reader.step, 0) + 1;
    if (there > queue.entries())
      return epoch_error(epoch, "GD021", name,
                         cat("it reads queue '", name, "' at ", reader.pointer, ", ahead of its write pointer ", queue.write_pointer()));
    // Slots keep what they hold: the host pushes its entries in the same order again.
    const bool pushed_along = needed > queue.entries() && there == queue.entries() && queue.queue().from_outside();
    if (pushed_along) queue.push_again(inputs * reader.step);
    if (there < needed && !fed_here && !pushed_along)
      return epoch_error(epoch, "GD021", name,
                         cat("it needs ", needed, needed == 1 ? " entry" : " entries", " of queue '", name, "' from ", reader.pointer,
                             " on, where there ", there == 1 ? "is " : "are ", there, "; a chip would wait forever"));
  }
  if (setting != nullptr && setting->prologue)
    for (std::int64_t i = 0; i < inputs; ++i) reader.prologue.push_back(queue.at(reader.pointer + i * reader.step));
  return success();
}

// Nobody but the host takes from the queue, and it could not wait for the graph's end.
bool GoldenDevice::popped_along(const Epoch& epoch, std::size_t queue) const {
  return epoch.graph().input_count > queues_[queue].entries() &&
         std::none_of(plans_.graphs.begin(), plans_.graphs.end(),
                      [&](const auto& graph) { return std::binary_search(graph.second.queues.begin(), graph.second.queues.end(), queue); });
}

ValuePtr GoldenDevice::gradient_start(const Epoch& epoch, const OpPlan& op) const {
  for (const WritePlan& w : op.writes) {
    const ResolvedSetting* setting = epoch.setting(w.queue);
    if (setting != nullptr && setting->zero) return nullptr;
    return queues_[w.queue].at(setting != nullptr ? setting->wr_ptr_global.value_or(0) : 0);
  }
  return nullptr;
}

Result<ValuePtr> GoldenDevice::fetch(Epoch& epoch, const OpPlan& op, std::size_t index, std::int64_t input) {
  const EdgePlan& edge = op.inputs[index];
  const std::string& name = op.op->inputs[index].name;
  ValuePtr value;
  switch (edge.from) {
    case EdgePlan::From::queue: {
      const Epoch::Reader& reader = epoch.readers[edge.index];
      const QueueMemory& queue = queues_[edge.index];
      const std::int64_t pointer = reader.pointer + input * reader.step;
      value = reader.prologue.empty() ? queue.at(pointer) : reader.prologue[static_cast<std::size_t>(input)];
      if (value) break;
      if ((queue.queue().from_outside() && queue.queue().alias.empty()) || !queue.is_ram())
        return epoch_error(epoch, "GD022", name,
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
      const auto& made = exports_[name];
      if (static_cast<std::size_t>(input) >= made.size() || made[static_cast<std::size_t>(input)] == nullptr)
        return epoch_error(
            epoch, "GD023", name,
            cat("op '", op.op->name, "' reads op '", name, "' of another graph, which has not run for input ", input, " before it"));
      value = made[static_cast<std::size_t>(input)];
      break;
    }
  }
  tiles_moved_ += static_cast<double>(edge.gather.shape().volume());
  return value;
}

ValuePtr GoldenDevice::delivered(const EdgePlan& edge, const ValuePtr& from, std::optional<std::int64_t> t) const {
  ValuePtr value = t ? edge.gather.matrix(from, *t, options_.mode, host_.threads) : edge.gather.apply(from, options_.mode, host_.threads);
  value = with_tiles(std::move(value), edge.tiles);
  if (edge.convert == DataFormat::invalid) return value;
  Value converted = *value;
  converted.format = edge.convert;
  store(options_.mode, edge.convert, converted.floats, converted.cols());
  return ValuePtr(std::make_shared<Value>(std::move(converted)));
}

std::variant<Value, std::string> GoldenDevice::compute(const OpPlan& op, const std::vector<ValuePtr>& inputs,
                                                       const ValuePtr& previous) const {
  std::vector<ValuePtr> ready(inputs.size());
  const OpKind& kind = op_kind(op.op->type);
  if (!op.by_t) {
    for (std::size_t k = 0; k < inputs.size(); ++k) ready[k] = delivered(op.inputs[k], inputs[k], std::nullopt);
    return kind.run({*op.work, ready, options_.mode, host_.threads, previous, op.fused});
  }
  Value whole(op.work->shape(), op.work->tile_dim, op.work->out_format);
  for (std::int64_t t = 0; t < whole.tiles.t; ++t) {
    for (std::size_t k = 0; k < inputs.size(); ++k) ready[k] = delivered(op.inputs[k], inputs[k], t);
    auto part = kind.run({*op.by_t, ready, options_.mode, host_.threads, nullptr, op.fused});
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

void GoldenDevice::start_input(Epoch& epoch) {
  epoch.values.assign(epoch.plan.ops.size(), nullptr);
  epoch.uses.clear();
  for (const OpPlan& op : epoch.plan.ops) epoch.uses.push_back(op.uses);
}

Result<void> GoldenDevice::run_op(Epoch& epoch, std::size_t index, std::int64_t input) {
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
  if (auto* error = std::get_if<std::string>(&outcome))
    return epoch_error(epoch, "GD025", op.op->name, cat("op '", op.op->name, "': ", *error));
  ValuePtr value = std::make_shared<const Value>(std::move(std::get<Value>(outcome)));
  if (adds) sum->second = value;
  value = with_tiles(std::move(value), op.op->tile_dim);
  ops_ += 1;
  flops_ += op.flops;
  if (options_.check_nan) check_numbers(op, *value);
  if (observer_ != nullptr && observer_->wants(*op.op)) observer_->made(epoch.graph(), *op.op, input, tensor_from(*value));
  if (op.uses > 0) epoch.values[index] = value;
  if (op.exported) exports_[op.op->name].push_back(value);
  if (!adds || op.writes.empty()) return store_output(epoch, op, value, input);
  return success();
}

Result<void> GoldenDevice::store_output(Epoch& epoch, const OpPlan& op, const ValuePtr& value, std::int64_t input) {
  for (const WritePlan& w : op.writes) {
    QueueMemory& queue = queues_[w.queue];
    const std::string& name = queue.queue().name;
    if (queue.entries() == 0) return epoch_error(epoch, "GD020", name, cat("queue '", name, "' has no entries to write to"));
    tiles_moved_ += static_cast<double>(w.gather.shape().volume());
    ValuePtr stored = w.gather.apply(value, options_.mode, host_.threads);
    const ResolvedSetting* setting = epoch.setting(w.queue);
    if (queue.is_ram()) {
      const std::int64_t first = setting != nullptr ? setting->wr_ptr_global.value_or(0) : 0,
                         step = setting != nullptr ? setting->global_wrptr_autoinc : 0;
      queue.put(first + input * step, std::move(stored));
      continue;
    }
    if (queue.room() == 0 && popped_along(epoch, w.queue)) queue.drop(1);
    if (queue.room() == 0)
      return epoch_error(epoch, "GD024", name,
                         cat("op '", op.op->name, "' writes to queue '", name, "', all of whose ", queue.entries(),
                             " entries are waiting to be read; a chip would wait forever"));
    queue.append(std::move(stored));
  }
  return success();
}

Result<void> GoldenDevice::end(Epoch& epoch) {
  for (const auto& [index, sum] : epoch.sums) {
    const OpPlan& op = epoch.plan.ops[index];
    BUDA_TRY(store_output(epoch, op, with_tiles(sum, op.op->tile_dim), 0));
  }
  for (const auto& [index, reader] : epoch.readers)
    if (reader.published_step != 0)
      queues_[index].set_read(queues_[index].read_pointer() + epoch.graph().input_count * reader.published_step);
  return success();
}

void GoldenDevice::check_numbers(const OpPlan& op, const Value& value) {
  NumberCounts now;
  if (value.integer()) {
    std::vector<std::int32_t> most{std::numeric_limits<std::int32_t>::max()};
    quantize_to_format(std::span<std::int32_t>(most), 1, 1, value.format);
    for (std::int32_t v : value.ints) now.saturated += v >= most[0] || v <= -most[0] ? 1 : 0;
  } else {
    float most = std::numeric_limits<float>::max();
    store(options_.mode, value.format, {&most, 1}, 1);
    for (float v : value.floats) {
      now.nan += std::isnan(v) ? 1 : 0;
      now.infinite += std::isinf(v) ? 1 : 0;
      now.saturated += std::isfinite(v) && std::fabs(v) >= most ? 1 : 0;
    }
  }
  if (now.nan + now.infinite + now.saturated == 0) return;
  NumberCounts& all = numbers_[op.op->name];
  const bool first = all.nan + all.infinite + all.saturated == 0;
  all.nan += now.nan;
  all.infinite += now.infinite;
  all.saturated += now.saturated;
  if (!first) return;
  Diagnostic d = warning("GD030", op.op->places.self.line == 0 ? SourceLoc{netlist_.file} : netlist_.loc(op.op->places.self),
                         cat("op '", op.op->name, "' made ", now.nan, " NaN, ", now.infinite, " infinite and ", now.saturated,
                             " saturated numbers of ", value.size()));
  d.node = op.op->name;
  host_.report(d);
}

}  // namespace buda::golden
