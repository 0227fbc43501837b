// SPDX-License-Identifier: Apache-2.0
// The host's side: queues by name. What programs do is in device_program.cpp.
#include <buda/timed/timed_device.hpp>

#include <buda/timed/advice.hpp>
#include <buda/timed/op_facts.hpp>
#include <buda/timed/queue_errors.hpp>

#include <buda/base/text.hpp>
#include <buda/runtime/ports.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <utility>

namespace buda::timed {

TimedDevice::TimedDevice(const runtime::Program& program, const device::DeviceDescriptor& device, const DeviceOptions& options, Host& host)
    : netlist_(program.netlist),
      epochs_(program.epochs),
      device_(device),
      options_(options),
      host_(host),
      index_tiles_(netlist_),
      cores_(device_, index_tiles_, options_.scale, options_.kernel_cycles),
      clocks_(netlist_),
      link_(options.host_gbs / device.cost.clock_ghz),
      switch_(device_, options.switch_cycles.value_or(device.cost.transfers.epoch_switch_cycles)) {}

Result<std::unique_ptr<TimedDevice>> TimedDevice::make(const runtime::Program& program, const device::DeviceDescriptor& device,
                                                       const DeviceOptions& options, Host& host) {
  std::unique_ptr<TimedDevice> made(new TimedDevice(program, device, options, host));
  BUDA_TRY(made->prepare());
  return made;
}

Result<std::unique_ptr<runtime::Device>> make_device(const runtime::Program& program, const device::DeviceDescriptor& device,
                                                     const DeviceOptions& options, Host& host) {
  BUDA_ASSIGN(auto made, TimedDevice::make(program, device, options, host));
  return std::unique_ptr<runtime::Device>(std::move(made));
}

Result<void> TimedDevice::prepare() {
  BUDA_ASSIGN(vm_, netlist::ProgramVm::make(netlist_));
  BUDA_ASSIGN(programs_, sim::ProgramEpochs::make(netlist_, device_, host_));
  if (options_.computes) {
    BUDA_ASSIGN(values_, Values::make(netlist_, host_, *options_.computes));
  }
  queues_.emplace(netlist_);
  return success();
}

// Chips do not come by it in the order of time; for the host it goes forward.
perf::SimTime TimedDevice::now() const { return {std::max(clocks_.latest(), now_ + (running_ ? running_->run.time() : 0))}; }

Result<void> TimedDevice::push(const std::string& name, const Tensor& entries) {
  BUDA_ASSIGN(std::size_t q, queues_->find_queue(name, kNotPushed));
  QueuePointers& queue = (*queues_)[q];
  const std::int64_t count = entries.shape()[0];
  BUDA_TRY(check_room(netlist_, queue, queue.room() - link_.pushing(q), count));
  index_tiles_.keep(name, queue.occupancy() + link_.pushing(q), entries);
  if (values_) BUDA_TRY(values_->push(q, queue.write_pointer(), entries));
  if (link_.takes_time()) {
    link_.push(q, count, queue.entry_bytes(device_.tile_alignment), now().ticks);
    return success();
  }
  queue.append(count);
  if (!running_) return success();
  running_->alone = false;
  running_->run.add_entries(q, running_->queues.readable_by(q, count), 0, running_->run.time());
  return success();
}

Result<void> TimedDevice::write(const std::string& name, std::int64_t slot, const Tensor& entries) {
  BUDA_ASSIGN(std::size_t q, queues_->find(name));
  const QueuePointers& queue = (*queues_)[q];
  BUDA_TRY(check_slots(netlist_, queue, slot, entries.shape()[0]));
  index_tiles_.keep(name, slot, entries);
  if (values_) return values_->write(q, queue.is_ram() ? slot : queue.read_pointer() + slot, entries);
  return success();
}

Result<Tensor> TimedDevice::pop(const std::string& name, std::int64_t entries) {
  BUDA_ASSIGN(std::size_t q, queues_->find_queue(name, kNotPopped));
  BUDA_ASSIGN(Tensor out, read(name, 0, entries));
  std::int64_t& collected = collected_[q];
  const std::int64_t at_host = std::min(collected, entries), here = entries - at_host;
  collected -= at_host;
  (*queues_)[q].drop(here);
  if (!running_ || here == 0) return out;
  running_->alone = false;
  running_->run.add_entries(q, 0, here, running_->run.time());
  return out;
}

// Entries on their way to the host cannot be had yet.
std::int64_t TimedDevice::entries_for_host(std::size_t q) const {
  const auto collected = collected_.find(q);
  return (*queues_)[q].occupancy() - link_.popping(q) + (collected == collected_.end() ? 0 : collected->second);
}

Result<std::int64_t> TimedDevice::waiting(const std::string& name) {
  BUDA_ASSIGN(std::size_t q, queues_->find_queue(name, kNothingWaits));
  return entries_for_host(q);
}

// What is on its way into a queue has its place there.
std::optional<std::int64_t> TimedDevice::room(const std::string& name) {
  auto q = queues_->find_queue(name, kNotPushed);
  if (!q) return std::nullopt;
  return (*queues_)[*q].room() - link_.pushing(*q);
}

// Zeros must not be taken for results.
Result<Tensor> TimedDevice::read(const std::string& name, std::int64_t slot, std::int64_t entries) {
  BUDA_ASSIGN(std::size_t q, queues_->find(name));
  const QueuePointers& queue = (*queues_)[q];
  BUDA_TRY(check_there(netlist_, queue, queue.is_ram() ? queue.entries() : entries_for_host(q), slot, entries));
  if (values_) return values_->read(q, queue.is_ram() ? slot : queue.read_pointer() + slot, entries);
  if (!warned_) host_.report(warning("SM015", {netlist_.file}, "target grid moves tags of tiles, not values: all outputs are zeros"));
  warned_ = true;
  const Shape shape = runtime::entry_shape(queue.queue());
  return Tensor::zeros(DType::f32, Shape{entries, shape[0], shape[1], shape[2]});
}

Result<void> TimedDevice::start(const std::string& program, const runtime::Parameters& parameters) {
  BUDA_ASSIGN(const auto values, program_parameters(netlist_, program, parameters));
  give_up();
  BUDA_TRY(vm_->start(program, values));
  program_ = program;
  at_work_ = true;
  all_said_ = false;
  return success();
}

void TimedDevice::give_up() {
  if (running_) {
    tell(running_->beginning.epoch, running_->run.take_record(), running_->run.time());
    clocks_.set(now().ticks);
  }
  now_ = now().ticks;
  running_.reset();
  if (values_) values_->give_up();
  schedule_.clear();
  at_work_ = false;
}

runtime::Telemetry TimedDevice::telemetry() const {
  runtime::Telemetry out{{"cycles", perf::SimTime{std::max(now_, clocks_.latest())}.cycles()},
                         {"epochs", static_cast<double>(times_.executions())}};
  for (const perf::EpochSummary& epoch : times_.summaries()) {
    out["tiles_moved"] += static_cast<double>(epoch.tiles) * static_cast<double>(epoch.executions);
    out["events"] += static_cast<double>(epoch.events);
  }
  return out;
}

// What is known from before has no events.
bool TimedDevice::record(perf::Sink& sink, perf::Level level) {
  entities_.emplace(sink);
  level_ = level;
  times_.forget_endings();
  return true;
}

// The event of the epoch comes last: who hears it has heard all else of the execution.
void TimedDevice::tell(std::size_t epoch, const sim::RunRecord& record, sim::Ticks time) {
  if (!entities_) return;
  record.tell(entities_->sink(), now_);
  std::vector<std::string> graphs;
  for (std::size_t graph : epochs_[epoch].graphs) graphs.push_back(netlist_.graphs[graph].name);
  const perf::EntityId program = entities_->id({perf::Entity::Kind::program, program_, -1, 0, 0, {}});
  const perf::EntityId entity = entities_->id({perf::Entity::Kind::program, join(graphs, ", "), -1, 0, 0, program});
  entities_->sink().record({{now_}, {now_ + time}, entity, perf::EventKind::epoch, 0, static_cast<std::uint32_t>(epoch), 0});
}

std::optional<perf::Summary> TimedDevice::summary() const {
  perf::Summary out;
  out.clock = *clock();
  out.arch = device_.arch;
  out.time = {std::max(now_, clocks_.latest())};
  out.epochs = times_.summaries();
  for (perf::EpochSummary& epoch : out.epochs) {
    add_facts(epoch, netlist_, device_, index_tiles_);
    if (options_.kernel_marks) add_marks(epoch, netlist_, options_.kernel_marks);
    epoch.advice = advice_for(epoch, device_.grid(), std::max(device_.chips, 1));
  }
  for (const perf::EpochSummary& epoch : out.epochs) out.inputs = std::max(out.inputs, epoch.inputs * epoch.executions);
  return out;
}

}  // namespace buda::timed
