// SPDX-License-Identifier: Apache-2.0
// The host's side: queues by name.
#include <buda/functional/functional_device.hpp>

#include <buda/arith/host_tensor.hpp>

#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>
#include <buda/runtime/observer.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <limits>

namespace buda::functional {

using netlist::Queue;
using netlist::QueueKind;

FunctionalDevice::FunctionalDevice(netlist::Netlist netlist, const DeviceOptions& options, Host& host)
    : m_{.netlist = std::move(netlist), .options = options, .host = host} {}

Result<std::unique_ptr<FunctionalDevice>> FunctionalDevice::make(const runtime::Program& program, const DeviceOptions& options,
                                                                 Host& host) {
  std::unique_ptr<FunctionalDevice> device(new FunctionalDevice(program.netlist, options, host));
  BUDA_TRY(device->prepare());
  return device;
}

// Entries of all queues together: a gigabyte of empty ones.
constexpr std::int64_t kMaxSlots = std::int64_t{1} << 26;

Result<void> FunctionalDevice::prepare() {
  BUDA_ASSIGN(vm_, netlist::ProgramVm::make(m_.netlist));
  BUDA_ASSIGN(m_.plans, arith::plan_graphs(m_.netlist, m_.options.most_numbers));
  std::int64_t slots = 0;
  for (std::size_t q = 0; q < m_.netlist.queues.size(); ++q) {
    const Queue& queue = m_.netlist.queues[q];
    slots += std::max(queue.entries, 0);
    if (slots > kMaxSlots) {
      Diagnostic d = input_error("GD007", queue.places.self.line == 0 ? SourceLoc{m_.netlist.file} : m_.netlist.loc(queue.places.self),
                                 cat("queue '", queue.name, "' has ", queue.entries, " entries, which makes ", slots,
                                     " with the queues before it; this target keeps at most ", kMaxSlots));
      d.node = queue.name;
      d.hint = "give the queue fewer entries: it needs as many as inputs are pushed before they are read";
      return d;
    }
    queue_index_.emplace(queue.name, q);
    m_.queues.emplace_back(m_.netlist.queues[q]);
  }
  for (std::size_t q = 0; q < m_.netlist.queues.size(); ++q)
    if (!m_.netlist.queues[q].alias.empty()) BUDA_TRY(link(q));
  return success();
}

// What netlist::check_netlist does not ask for.
Result<void> FunctionalDevice::link(std::size_t index) {
  const Queue& queue = m_.netlist.queues[index];
  auto target = queue_index_.find(queue.alias);
  auto error = [&](const std::string& why) {
    Diagnostic d = input_error(
        "GD006", queue.places.self.line == 0 ? SourceLoc{m_.netlist.file} : m_.netlist.loc(queue.places.of(netlist::Field::alias)),
        cat("queue '", queue.name, "': ", why));
    d.node = queue.name;
    return d;
  };
  if (target == queue_index_.end()) return error(cat("its alias '", queue.alias, "' is not a queue"));
  const Queue& other = m_.netlist.queues[target->second];
  auto tiles = [](const Queue& q) { return q.block.tiles() * q.entries; };
  if (target->second == index || !other.alias.empty() || queue.kind != QueueKind::ram || other.kind != QueueKind::ram)
    return error(cat("only a ram can be an alias of another ram; '", other.name, "' or itself is something else"));
  if (queue.format != other.format || queue.tile_dim != other.tile_dim)
    return error(cat("it and '", other.name, "', whose memory it shares, have different formats or tile sizes"));
  if (queue.grid.rows * queue.grid.cols != other.grid.rows * other.grid.cols || tiles(queue) != tiles(other))
    return error(cat("it has ", tiles(queue), " tiles in each of ", queue.grid.rows * queue.grid.cols, " buffers; '", other.name,
                     "', whose memory it shares, has ", tiles(other), " in ", other.grid.rows * other.grid.cols));
  m_.queues[index].look_at(m_.queues[target->second]);
  return success();
}

Result<QueueMemory*> FunctionalDevice::find(const std::string& name) {
  auto it = queue_index_.find(name);
  if (it != queue_index_.end()) return &m_.queues[it->second];
  std::vector<std::string> known;
  for (const auto& [queue, index] : queue_index_) known.push_back(queue);
  Diagnostic d = input_error("GD011", {m_.netlist.file}, cat("the netlist has no queue named '", name, "'"));
  if (auto near = nearest_word(name, known)) d.hint = cat("did you mean '", *near, "'?");
  return d;
}

Result<void> FunctionalDevice::push(const std::string& name, const Tensor& tensor) {
  BUDA_ASSIGN(QueueMemory * queue, find(name));
  if (queue->is_ram()) return input_error("GD012", {m_.netlist.file}, cat("'", name, "' is a ram: its slots are written, not pushed"));
  BUDA_ASSIGN(auto entries, entries_from(tensor, queue->queue(), m_.options.mode));
  if (static_cast<std::int64_t>(entries.size()) > queue->room())
    return input_error(
        "GD013", {m_.netlist.file},
        cat("queue '", name, "' has space for ", queue->room(), " of its ", queue->entries(), " entries, ", entries.size(), " are pushed"));
  for (auto& entry : entries) queue->append(std::move(entry));
  return success();
}

Result<void> FunctionalDevice::write(const std::string& name, std::int64_t slot, const Tensor& tensor) {
  BUDA_ASSIGN(QueueMemory * queue, find(name));
  BUDA_ASSIGN(auto entries, entries_from(tensor, queue->queue(), m_.options.mode));
  const std::int64_t there = queue->is_ram() ? queue->entries() : queue->occupancy();
  if (slot < 0 || slot > there || static_cast<std::int64_t>(entries.size()) > there - slot)
    return input_error("GD013", {m_.netlist.file},
                       cat(queue->is_ram() ? "ram '" : "queue '", name, queue->is_ram() ? "' has " : "' holds ", there, " slots; ",
                           entries.size(), " from slot ", slot, " on do not fit"));
  const std::int64_t first = queue->is_ram() ? slot : queue->read_pointer() + slot;
  for (std::size_t i = 0; i < entries.size(); ++i) queue->put(first + static_cast<std::int64_t>(i), std::move(entries[i]));
  return success();
}

Result<Tensor> FunctionalDevice::pop(const std::string& name, std::int64_t count) {
  BUDA_ASSIGN(QueueMemory * queue, find(name));
  if (queue->is_ram()) return input_error("GD012", {m_.netlist.file}, cat("'", name, "' is a ram: its slots are read, not popped"));
  BUDA_ASSIGN(Tensor out, read(name, 0, count));
  queue->drop(count);
  return out;
}

Result<std::int64_t> FunctionalDevice::waiting(const std::string& name) {
  BUDA_ASSIGN(QueueMemory * queue, find(name));
  if (queue->is_ram()) return input_error("GD012", {m_.netlist.file}, cat("'", name, "' is a ram: it has slots, and nothing waits in it"));
  return queue->occupancy();
}

Result<Tensor> FunctionalDevice::read(const std::string& name, std::int64_t slot, std::int64_t count) {
  BUDA_ASSIGN(QueueMemory * queue, find(name));
  const std::int64_t there = queue->is_ram() ? queue->entries() : queue->occupancy();
  if (slot < 0 || count < 0 || slot > there || count > there - slot)
    return input_error(
        "GD014", {m_.netlist.file},
        cat(queue->is_ram() ? "ram '" : "queue '", name, "' holds ", there, " entries; ", count, " from ", slot, " on are asked for"));
  std::vector<ValuePtr> entries;
  const std::int64_t first = queue->is_ram() ? slot : queue->read_pointer() + slot;
  for (std::int64_t i = 0; i < count; ++i) entries.push_back(queue->at(first + i));
  return tensor_from(entries, queue->queue());
}

Result<void> FunctionalDevice::start(const std::string& program, const runtime::Parameters& parameters) {
  netlist::ProgramParameters values;
  for (const auto& [name, value] : parameters) {
    if (value < std::numeric_limits<std::int32_t>::min() || value > std::numeric_limits<std::int32_t>::max())
      return input_error("GD015", {m_.netlist.file},
                         cat("parameter '", name, "' of program '", program, "' is ", value, ", which does not fit in 32 bits"));
    values[name] = static_cast<std::int32_t>(value);
  }
  give_up();
  BUDA_TRY(vm_->start(program, values));
  at_work_ = true;
  return success();
}

Result<runtime::Progress> FunctionalDevice::advance(const runtime::Until& until) {
  std::vector<std::pair<std::int64_t, std::int64_t>> pointers;
  for (const QueueMemory& queue : m_.queues) pointers.emplace_back(queue.read_pointer(), queue.write_pointer());
  groups_.forget_waits();
  auto state = go_on(until);
  if (!state) {
    give_up();
    return std::move(state).failure();
  }
  runtime::Progress progress;
  progress.state = *state;
  progress.waits = groups_.waits();
  for (std::size_t q = 0; q < m_.queues.size(); ++q) {
    const QueueMemory& queue = m_.queues[q];
    if (!queue.is_ram() && pointers[q] != std::pair(queue.read_pointer(), queue.write_pointer()))
      progress.changes.push_back({queue.queue().name, queue.occupancy(), queue.room()});
  }
  return progress;
}

Result<runtime::State> FunctionalDevice::go_on(const runtime::Until& until) {
  const QueueMemory* watched = nullptr;
  if (until.queue) {
    BUDA_TRY(waiting(until.queue->queue));
    BUDA_ASSIGN(watched, find(until.queue->queue));
  }
  while (at_work_) {
    if (watched != nullptr && watched->occupancy() >= until.queue->waiting) return runtime::State::running;
    if (schedule_.actions.empty()) {
      BUDA_ASSIGN(at_work_, vm_->step(schedule_));
      if (!at_work_) BUDA_TRY(schedule_.finish());
      at_work_ = at_work_ || !schedule_.actions.empty();
      continue;
    }
    BUDA_ASSIGN(auto step, take_action());
    if (step == GroupRunner::Step::done) schedule_.actions.pop_front();
    if (step != GroupRunner::Step::waits) continue;
    const bool host_helps =
        std::any_of(groups_.waits().begin(), groups_.waits().end(), [](const auto& w) { return w.what != runtime::Wait::For::device; });
    return host_helps ? runtime::State::needs_host : runtime::State::hung;
  }
  return runtime::State::idle;
}

Result<GroupRunner::Step> FunctionalDevice::take_action() {
  const runtime::Action& action = schedule_.actions.front();
  if (const auto* clear = std::get_if<runtime::ClearQueue>(&action)) {
    m_.queues[clear->queue].clear();
    if (m_.observer != nullptr) m_.observer->allocated(m_.netlist.queues[clear->queue]);
    return GroupRunner::Step::done;
  }
  if (const auto* move = std::get_if<runtime::MoveReadPointer>(&action)) {
    m_.queues[move->queue].set_read(move->value);
    if (m_.observer != nullptr) m_.observer->moved(m_.netlist.queues[move->queue], m_.queues[move->queue].read_pointer());
    return GroupRunner::Step::done;
  }
  if (!group_) {
    BUDA_ASSIGN(Group group, groups_.open(std::get<runtime::ExecuteGraphs>(action)));
    group_.emplace(std::move(group));
  }
  auto step = groups_.advance(*group_);
  if (step && *step == GroupRunner::Step::done) group_.reset();
  return step;
}

void FunctionalDevice::give_up() {
  at_work_ = false;
  group_.reset();
  schedule_.clear();
}

runtime::Telemetry FunctionalDevice::telemetry() const {
  runtime::Telemetry out{{"epochs", m_.counts.epochs},
                         {"flops", m_.counts.flops},
                         {"inputs", m_.counts.inputs},
                         {"ops", m_.counts.ops},
                         {"tiles_moved", m_.counts.tiles_moved}};
  auto add = [&](const char* what, const std::string& op, std::size_t count) {
    if (count != 0) out[cat(what, '.', op)] = static_cast<double>(count);
  };
  for (const auto& [op, counts] : m_.numbers) {
    add("nan", op, counts.nan);
    add("infinite", op, counts.infinite);
    add("saturated", op, counts.saturated);
  }
  return out;
}

Result<std::unique_ptr<runtime::Device>> make_device(const runtime::Program& program, const DeviceOptions& options, Host& host) {
  BUDA_ASSIGN(auto device, FunctionalDevice::make(program, options, host));
  return std::unique_ptr<runtime::Device>(std::move(device));
}

}  // namespace buda::functional
