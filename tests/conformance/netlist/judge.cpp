// SPDX-License-Identifier: Apache-2.0
// Queues, pointers and comparison.
#include "judge.hpp"

#include "evaluate.hpp"
#include "numbers.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/formats/quantize.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <bit>
#include <cmath>

namespace buda::judge {

using netlist::Graph;
using netlist::Op;
using netlist::OpClass;
using netlist::Queue;
using netlist::QueueKind;

namespace {

std::size_t wrapped(std::int64_t v, std::int64_t range) { return static_cast<std::size_t>((v % range + range) % range); }

// All tiles of a ram in the order in which they lie in memory: buffer, slot, t, ublock, tile.
struct DatumPlace {
  std::size_t slot, t, row, col;  // of the tile's first number
};
std::vector<DatumPlace> memory_order(const Queue& q) {
  std::vector<DatumPlace> out;
  const auto& b = q.block;
  for (std::int32_t gr = 0; gr < q.grid.rows; ++gr)
    for (std::int32_t gc = 0; gc < q.grid.cols; ++gc)
      for (std::int32_t slot = 0; slot < q.entries; ++slot)
        for (std::int32_t t = 0; t < b.t; ++t)
          for (std::int32_t u = 0; u < b.mblock_m * b.mblock_n; ++u) {
            const bool by_row = q.ublock_order == netlist::UblockOrder::r;
            const std::int32_t m = by_row ? u / b.mblock_n : u % b.mblock_m, n = by_row ? u % b.mblock_n : u / b.mblock_m;
            for (std::int32_t r = 0; r < b.ublock_rt; ++r)
              for (std::int32_t c = 0; c < b.ublock_ct; ++c)
                out.push_back({static_cast<std::size_t>(slot), static_cast<std::size_t>(t),
                               static_cast<std::size_t>(((gr * b.mblock_m + m) * b.ublock_rt + r) * q.tile_dim.rows),
                               static_cast<std::size_t>(((gc * b.mblock_n + n) * b.ublock_ct + c) * q.tile_dim.cols)});
          }
  return out;
}

Array zeros(const Queue& q) {
  const auto s = q.shape();
  return Array(static_cast<std::size_t>(s.t), static_cast<std::size_t>(s.rt * q.tile_dim.rows),
               static_cast<std::size_t>(s.ct * q.tile_dim.cols), q.tile_dim);
}

void copy_tile(const Array& from, const DatumPlace& a, Array& to, const DatumPlace& b) {
  for (std::size_t r = 0; r < static_cast<std::size_t>(to.tile.rows); ++r)
    for (std::size_t c = 0; c < static_cast<std::size_t>(to.tile.cols); ++c)
      to.value[to.at(b.t, b.row + r, b.col + c)] = from.value[from.at(a.t, a.row + r, a.col + c)];
}

}  // namespace

Judge::Judge(const netlist::Netlist& netlist, Precision precision, double work) : netlist_(netlist), precision_(precision), work_(work) {
  for (const Queue& q : netlist.queues) {
    // A queue of no entries is legal; what an op stores there is never read.
    rings_[q.name] = {&q, std::vector<std::optional<Held>>(static_cast<std::size_t>(std::max(q.entries, 1))), 0, 0};
    if (!q.from_outside()) fed_by_[q.input].push_back(&q);
  }
  std::map<std::string, const Graph*> home;
  for (const Graph& g : netlist.graphs)
    for (const Op& op : g.ops) {
      home[op.name] = &g;
      tile_of_[op.name] = op.tile_dim;
    }
  for (const Graph& g : netlist.graphs)
    for (const Op& op : g.ops)
      for (const auto& in : op.inputs) {
        if (rings_.count(in.name) != 0) {
          read_.insert(in.name);
          continue;
        }
        Direct& direct = direct_[in.name];
        ++direct.uses;
        if (home[in.name] != &g) direct.graphs.insert(g.name);
      }
  for (const auto& f : netlist.fused_ops) fused_[f.id] = &f;
}

void Judge::complain(const std::string& text) {
  if (complaints_.size() < 10) complaints_.push_back(text);
}

void Judge::compare(const std::string& what, DataFormat format, const Array& expected, const Held& actual, std::size_t first_t) {
  const Shape& shape = actual.tensor.shape();
  const auto t = static_cast<std::size_t>(shape[1]), rows = static_cast<std::size_t>(shape[2]), cols = static_cast<std::size_t>(shape[3]);
  const bool part = first_t != 0 || (expected.t == 1 && t != 1);
  if ((!part && expected.t != t) || expected.rows != rows || expected.cols != cols)
    return complain(cat(what, ": shape ", t, "x", rows, "x", cols, ", expected ", expected.t, "x", expected.rows, "x", expected.cols));
  const std::size_t begin = (static_cast<std::size_t>(actual.w) * t + first_t) * rows * cols;
  compared_ += expected.size();
  std::size_t wrong = 0, first = 0;
  double is = 0;
  with_numbers(actual.tensor, [&](auto numbers) {
    const auto* number = numbers.data() + begin;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const auto v = static_cast<double>(number[i]);
      if (std::fabs(v - expected.value[i]) <= expected.error_at(i) || agrees(format, expected.value[i], expected.error_at(i), v)) continue;
      if (wrong++ == 0) first = i, is = v;
    }
  });
  if (wrong != 0)
    complain(cat(what, ": ", wrong, " of ", expected.size(), " numbers differ; [", first_t + first / cols / rows, ", ", first / cols % rows,
                 ", ", first % cols, "] is ", is, ", expected ", expected.value[first], " within ", expected.error_at(first)));
}

void Judge::filled(const Queue& queue, const Tensor& given, const Tensor& held) {
  Ring& ring = rings_.at(queue.name);
  for (std::int64_t w = 0; w < held.shape()[0]; ++w) {
    Array expected = array_of(given, w, queue.tile_dim);
    pack(precision_, queue.format, expected);
    compare(cat("queue '", queue.name, "' entry ", w), queue.format, expected, {held, w});
    put(ring, queue.kind == QueueKind::ram ? w : ring.write, {held, w});
    if (queue.kind != QueueKind::ram) ring.write = static_cast<std::int64_t>(wrapped(ring.write + 1, 2 * queue.entries));
  }
}

void Judge::taken(const Queue& queue, const Tensor& tensor) {
  const Ring& ring = rings_.at(queue.name);
  const bool ram = queue.kind == QueueKind::ram;
  const std::int64_t there =
      ram ? queue.entries : static_cast<std::int64_t>(wrapped(ring.write - ring.read, 2 * std::max(queue.entries, 1)));
  if (tensor.shape()[0] != there) return complain(cat("queue '", queue.name, "' has ", tensor.shape()[0], " entries, expected ", there));
  for (std::int64_t w = 0; w < there; ++w) {
    const Held expected = at(ring, ram ? w : ring.read + w);
    compare(cat("queue '", queue.name, "' entry ", w), queue.format, array_of(expected.tensor, expected.w, queue.tile_dim), {tensor, w});
  }
}

Judge::Held Judge::at(const Ring& ring, std::int64_t pointer) const {
  const Queue& q = *ring.queue;
  const std::size_t slot = wrapped(pointer, std::max(q.entries, 1));
  if (q.alias.empty()) return ring.slots[slot] ? *ring.slots[slot] : Held{tensor_of(zeros(q)), 0};
  const Ring& other = rings_.at(q.alias);
  const auto here = memory_order(q), there = memory_order(*other.queue);
  std::vector<std::optional<Array>> from(other.slots.size());
  for (std::size_t i = 0; i < other.slots.size(); ++i)
    if (other.slots[i]) from[i] = array_of(other.slots[i]->tensor, other.slots[i]->w, other.queue->tile_dim);
  Array out = zeros(q);
  for (std::size_t i = 0; i < here.size(); ++i)
    if (here[i].slot == slot && from[there[i].slot]) copy_tile(*from[there[i].slot], there[i], out, here[i]);
  return {tensor_of(out), 0};
}

void Judge::put(Ring& ring, std::int64_t pointer, const Held& value) {
  const Queue& q = *ring.queue;
  const std::size_t slot = wrapped(pointer, std::max(q.entries, 1));
  if (q.alias.empty()) {
    ring.slots[slot] = value;
    return;
  }
  Ring& other = rings_.at(q.alias);
  const auto here = memory_order(q), there = memory_order(*other.queue);
  const Array from = array_of(value.tensor, value.w, q.tile_dim);
  std::map<std::size_t, Array> changed;
  for (std::size_t i = 0; i < here.size(); ++i) {
    if (here[i].slot != slot) continue;
    const auto& before = other.slots[there[i].slot];
    if (changed.count(there[i].slot) == 0)
      changed[there[i].slot] = before ? array_of(before->tensor, before->w, other.queue->tile_dim) : zeros(*other.queue);
    copy_tile(from, here[i], changed[there[i].slot], there[i]);
  }
  for (const auto& [number, array] : changed) other.slots[number] = Held{tensor_of(array), 0};
}

void Judge::executes(const Graph& graph, const netlist::Execution& execution, const std::map<std::string, runtime::QueuePointers>&) {
  // Graphs that are told of one after the other run together.
  if (!told_) running_.clear();
  told_ = true;
  running_.insert(graph.name);
  Epoch epoch{execution, {}};
  for (const Op& op : graph.ops)
    for (const auto& in : op.inputs) {
      auto found = rings_.find(in.name);
      if (found == rings_.end() || epoch.readers.count(in.name) != 0) continue;
      Ring& ring = found->second;
      const netlist::ResolvedSetting* setting = nullptr;
      for (const auto& s : execution.settings)
        if (netlist_.queues[s.queue].name == in.name) setting = &s;
      const bool ram = ring.queue->kind == QueueKind::ram;
      Reader reader;
      if (setting == nullptr) {
        reader.pointer = ram ? 0 : ring.read;
        reader.step = ram ? 0 : 1;
      } else {
        reader.pointer = ram ? setting->rd_ptr_global.value_or(0) : setting->rd_ptr_local.value_or(setting->rd_ptr_global.value_or(0));
        reader.step = setting->prologue && !ram ? 0 : setting->rd_ptr_autoinc;
        if (!ram && setting->rd_ptr_global) ring.read = *setting->rd_ptr_global;
        if (setting->prologue)
          for (std::int64_t i = 0; i < graph.input_count; ++i) {
            if (reader.step == 0 && i > 0) break;
            reader.loaded.push_back(at(ring, reader.pointer + i * reader.step));
          }
      }
      epoch.readers[in.name] = std::move(reader);
    }
  for (const Op& op : graph.ops) sums_.erase(op.name);
  epochs_[graph.name] = std::move(epoch);
}

void Judge::allocated(const Queue& queue) {
  Ring& ring = rings_.at(queue.name);
  for (auto& slot : ring.slots) slot.reset();
  ring.read = ring.write = 0;
}

void Judge::moved(const Queue& queue, std::int64_t read) { rings_.at(queue.name).read = read; }

// The output that an op made for this input; nobody else wants it when all its readers had it.
Tensor Judge::from_op(const Graph& graph, const std::string& name, std::int64_t input) {
  const auto found = values_.find({name, input});
  if (found == values_.end()) {
    complain(cat("graph '", graph.name, "': op '", name, "' was read before it ran for input ", input));
    return Tensor(Shape{1, 0, 0, 0}, std::vector<double>{});
  }
  Tensor value = found->second.value;
  const auto& readers = direct_.at(name).graphs;
  if (std::includes(running_.begin(), running_.end(), readers.begin(), readers.end()) && --found->second.uses == 0) values_.erase(found);
  return value;
}

View Judge::source(const Graph& graph, const Op& op, std::size_t index, std::int64_t input) {
  const auto& in = op.inputs[index];
  Array from;
  DataFormat format = in.format;
  if (auto ring = rings_.find(in.name); ring != rings_.end()) {
    const Reader& reader = epochs_.at(graph.name).readers.at(in.name);
    const auto i = static_cast<std::size_t>(reader.step == 0 ? 0 : input);
    const Held held = reader.loaded.empty() ? at(ring->second, reader.pointer + input * reader.step) : reader.loaded[i];
    from = array_of(held.tensor, held.w, ring->second.queue->tile_dim);
    format = ring->second.queue->format;
  } else {
    from = array_of(from_op(graph, in.name, input), 0, tile_of_.at(in.name));
  }
  auto round_pad = [exact = precision_ == Precision::exact, format](double v) {
    auto number = static_cast<float>(v);
    if (exact || is_integer(format)) quantize_to_format(std::span<float>(&number, 1), 1, 1, format);
    return static_cast<double>(number);
  };
  return View(std::move(from), in.maps, round_pad);
}

namespace {

// Of an op that comes often the first four times are judged, those that are a power of two, and every so manieth.
constexpr std::size_t kOften = 16;
bool judged_at(std::size_t time) { return time < 4 || std::has_single_bit(time) || time % kOften == 0; }

// Whether matrix t of the output is made of matrix t of each input.
bool works_by_t(const Op& op, const std::vector<View>& inputs) {
  const auto t = static_cast<std::size_t>(op.block.t);
  for (const View& in : inputs)
    if (in.extent().t != t) return false;
  switch (netlist::op_class(op.type)) {
    case OpClass::binary:
    case OpClass::unary:
    case OpClass::sfpu:
    case OpClass::quant:
      return true;
    case OpClass::matmul:
      return !op.attributes.identity && !op.attributes.accumulate;
    default:
      return false;
  }
}

}  // namespace

void Judge::judge(const Graph& graph, const Op& op, std::int64_t input, std::size_t times, const Tensor& value) {
  const std::string what = cat("op '", op.name, "' (", netlist::op_type_name(op.type), ") input ", input);
  std::vector<View> inputs;
  for (std::size_t i = 0; i < op.inputs.size(); ++i) inputs.push_back(source(graph, op, i, input));
  Array sum;
  const Array* previous = nullptr;
  if (op.gradient_op) {
    const auto before = sums_.find(op.name);
    const auto queues = fed_by_.find(op.name);
    if (before != sums_.end()) {
      sum = array_of(before->second, 0, op.tile_dim);
      previous = &sum;
    } else if (queues != fed_by_.end()) {
      const Queue& q = *queues->second.front();
      std::int64_t pointer = 0;
      bool zero = false;
      for (const auto& s : epochs_.at(graph.name).execution.settings)
        if (netlist_.queues[s.queue].name == q.name) {
          pointer = s.wr_ptr_global.value_or(0);
          zero = s.zero;
        }
      const Held held = at(rings_.at(q.name), pointer);
      sum = array_of(held.tensor, held.w, q.tile_dim);
      if (!zero) previous = &sum;
    }
  }
  constexpr std::size_t kMaxNumbers = std::size_t{1} << 25;  // laid out at once
  Task task{op, nullptr, {}, precision_, previous, work_};
  if (times > 1) task.most_work /= times < kOften ? 10 : 100;
  if (const auto fused = fused_.find(op.attributes.fused_op_id); fused != fused_.end()) task.fused = fused->second;
  std::size_t numbers = 0;
  for (const View& in : inputs) numbers += in.extent().size();
  const bool by_t = numbers > kMaxNumbers && op.block.t > 1 && previous == nullptr && works_by_t(op, inputs);
  Op alone = op;
  alone.block.t = 1;
  const Task part{alone, task.fused, {}, precision_, nullptr, task.most_work / std::max(op.block.t, 1)};
  for (std::size_t t = 0; t < (by_t ? static_cast<std::size_t>(op.block.t) : 1); ++t) {
    Task now = by_t ? part : task;
    for (View& view : inputs) {
      Array in = by_t ? view.matrix(t) : std::move(view).whole();
      const OpClass c = netlist::op_class(op.type);
      if (c == OpClass::fused || c == OpClass::splice) in = with_tile(std::move(in), op.tile_dim);
      now.inputs.push_back(std::move(in));
    }
    auto expected = evaluate(now);
    if (auto* error = std::get_if<std::string>(&expected)) return complain(cat(what, ": ", *error));
    compare(what, op.out_format, std::get<Array>(expected), {value, 0}, t);
  }
}

void Judge::made(const Graph& graph, const Op& op, std::int64_t input, const Tensor& value) {
  ++ops_;
  told_ = false;
  const std::size_t times = judged_[op.name]++;
  if (judged_at(times)) {
    judge(graph, op, input, times, value);
  } else {
    for (const auto& in : op.inputs)
      if (rings_.count(in.name) == 0) from_op(graph, in.name, input);
  }
  if (const auto direct = direct_.find(op.name); direct != direct_.end()) values_[{op.name, input}] = {value, direct->second.uses};
  if (op.gradient_op) sums_[op.name] = value;
  if (!op.gradient_op || input + 1 == graph.input_count) store(graph, op, input, value);
}

void Judge::store(const Graph& graph, const Op& op, std::int64_t input, const Tensor& value) {
  auto queues = fed_by_.find(op.name);
  if (queues == fed_by_.end()) return;
  for (const Queue* q : queues->second) {
    Ring& ring = rings_.at(q->name);
    Held stored{value, 0};
    if (!q->input_tms.empty())
      stored.tensor = tensor_of(manipulated(array_of(value, 0, op.tile_dim), q->input_tms, [](double v) { return v; }));
    if (q->kind == QueueKind::ram) {
      std::int64_t pointer = 0, step = 0;
      for (const auto& s : epochs_.at(graph.name).execution.settings)
        if (netlist_.queues[s.queue].name == q->name) {
          pointer = s.wr_ptr_global.value_or(0);
          step = s.global_wrptr_autoinc;
        }
      put(ring, pointer + (op.gradient_op ? 0 : input * step), stored);
    } else {
      // A host that pops while the graph runs leaves the newest entries.
      const std::int64_t range = 2 * std::max(q->entries, 1);
      if (read_.count(q->name) == 0 && wrapped(ring.write - ring.read, range) == static_cast<std::size_t>(q->entries))
        ring.read = static_cast<std::int64_t>(wrapped(ring.read + 1, range));
      put(ring, ring.write, stored);
      ring.write = static_cast<std::int64_t>(wrapped(ring.write + 1, range));
    }
  }
}

}  // namespace buda::judge
