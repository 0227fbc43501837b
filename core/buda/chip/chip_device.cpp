// SPDX-License-Identifier: Apache-2.0
// The host's side: queues by name, and programs.
#include <buda/chip/chip_device.hpp>

#include <buda/arith/host_tensor.hpp>
#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>
#include <buda/timed/queue_errors.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace buda::chip {
ChipDevice::ChipDevice(const runtime::Program& program, const device::DeviceDescriptor& device, kernels::KernelSet kernels,
                       std::unique_ptr<Bus> bus, const DeviceOptions& options, Firmware firmware)
    : netlist_(program.netlist),
      epochs_(program.epochs),
      device_(device),
      options_(options),
      kernels_(std::move(kernels)),
      bus_(std::move(bus)),
      memory_(netlist_, epochs_, device_, *bus_),
      cores_(*bus_, device_, std::move(firmware), options_),
      queues_(netlist_) {}

Result<std::unique_ptr<runtime::Device>> make_device(const runtime::Program& program, const device::DeviceDescriptor& device,
                                                     kernels::KernelSet kernels, std::unique_ptr<Bus> bus, const DeviceOptions& options,
                                                     Host& host) {
  BUDA_ASSIGN(Firmware firmware, build_firmware(options.build, host));
  auto made = std::make_unique<ChipDevice>(program, device, std::move(kernels), std::move(bus), options, std::move(firmware));
  BUDA_TRY(made->prepare());
  return std::unique_ptr<runtime::Device>(std::move(made));
}

// What cannot run is known before anything is pushed.
Result<void> ChipDevice::prepare() {
  BUDA_ASSIGN(vm_, netlist::ProgramVm::make(netlist_));
  // Ops are laid out for whole tensors, never matrix by matrix.
  BUDA_ASSIGN(plans_, arith::plan_graphs(netlist_, std::numeric_limits<std::int64_t>::max()));
  Failure failure;
  for (std::size_t epoch = 0; epoch < epochs_.size(); ++epoch)
    for (std::size_t graph : epochs_[epoch].graphs)
      for (const arith::OpPlan& op : plans_.graphs.at(graph).ops) {
        if (op.op->attributes.identity) continue;
        if (auto loaded = load_op(op, epoch, {}); !loaded) failure.add(std::move(loaded).failure());
      }
  if (!failure.empty()) return failure;
  return success();
}

Result<void> ChipDevice::push(const std::string& name, const Tensor& tensor) {
  BUDA_ASSIGN(const std::size_t q, queues_.find_queue(name, timed::kNotPushed));
  timed::QueuePointers& queue = queues_[q];
  BUDA_ASSIGN(const auto entries, arith::entries_from(tensor, queue.queue(), arith::Mode::bits));
  const auto count = static_cast<std::int64_t>(entries.size());
  BUDA_TRY(timed::check_room(netlist_, queue, queue.room(), count));
  for (std::int64_t i = 0; i < count; ++i) BUDA_TRY(memory_.put(q, queue.write_pointer() + i, *entries[static_cast<std::size_t>(i)]));
  queue.append(count);
  return success();
}

Result<void> ChipDevice::write(const std::string& name, std::int64_t slot, const Tensor& tensor) {
  BUDA_ASSIGN(const std::size_t q, queues_.find(name));
  const timed::QueuePointers& queue = queues_[q];
  BUDA_ASSIGN(const auto entries, arith::entries_from(tensor, queue.queue(), arith::Mode::bits));
  const auto count = static_cast<std::int64_t>(entries.size());
  BUDA_TRY(timed::check_slots(netlist_, queue, slot, count));
  const std::int64_t first = queue.is_ram() ? slot : queue.read_pointer() + slot;
  for (std::int64_t i = 0; i < count; ++i) BUDA_TRY(memory_.put(q, first + i, *entries[static_cast<std::size_t>(i)]));
  return success();
}

Result<Tensor> ChipDevice::pop(const std::string& name, std::int64_t entries) {
  BUDA_ASSIGN(const std::size_t q, queues_.find_queue(name, timed::kNotPopped));
  BUDA_ASSIGN(Tensor out, read(name, 0, entries));
  queues_[q].drop(entries);
  return out;
}

Result<std::int64_t> ChipDevice::waiting(const std::string& name) {
  BUDA_ASSIGN(const std::size_t q, queues_.find_queue(name, timed::kNothingWaits));
  return queues_[q].occupancy();
}

Result<Tensor> ChipDevice::read(const std::string& name, std::int64_t slot, std::int64_t entries) {
  BUDA_ASSIGN(const std::size_t q, queues_.find(name));
  const timed::QueuePointers& queue = queues_[q];
  BUDA_TRY(timed::check_there(netlist_, queue, queue.is_ram() ? queue.entries() : queue.occupancy(), slot, entries));
  const std::int64_t first = queue.is_ram() ? slot : queue.read_pointer() + slot;
  std::vector<arith::ValuePtr> values;
  for (std::int64_t i = 0; i < entries; ++i) {
    BUDA_ASSIGN(auto value, memory_.get(q, first + i));
    values.push_back(std::move(value));
  }
  return arith::tensor_from(values, queue.queue());
}

Result<void> ChipDevice::start(const std::string& program, const runtime::Parameters& parameters) {
  BUDA_ASSIGN(const auto values, timed::program_parameters(netlist_, program, parameters));
  give_up();
  BUDA_TRY(vm_->start(program, values));
  at_work_ = true;
  return success();
}

void ChipDevice::give_up() {
  schedule_.clear();
  at_work_ = all_said_ = false;
}

Result<runtime::Progress> ChipDevice::advance(const runtime::Until& until) {
  const timed::QueueTable before = queues_;
  runtime::Progress progress;
  auto state = go_on(until, progress);
  if (!state) {
    give_up();
    return std::move(state).failure();
  }
  progress.state = *state;
  for (std::size_t q = 0; q < queues_.size(); ++q) {
    const timed::QueuePointers& queue = queues_[q];
    if (!queue.is_ram() && (queue.read_pointer() != before[q].read_pointer() || queue.write_pointer() != before[q].write_pointer()))
      progress.changes.push_back({queue.queue().name, queue.occupancy(), queue.room()});
  }
  return progress;
}

Result<runtime::State> ChipDevice::go_on(const runtime::Until& until, runtime::Progress& progress) {
  while (at_work_) {
    if (until.queue) {
      BUDA_ASSIGN(const std::int64_t there, waiting(until.queue->queue));
      if (there >= until.queue->waiting) return runtime::State::running;
    }
    if (schedule_.actions.empty()) {
      at_work_ = !all_said_;
      if (!at_work_) break;
      BUDA_ASSIGN(const bool more, vm_->step(schedule_));
      all_said_ = !more;
      if (all_said_) BUDA_TRY(schedule_.finish());
      continue;
    }
    const runtime::Action& action = schedule_.actions.front();
    if (const auto* clear = std::get_if<runtime::ClearQueue>(&action)) queues_[clear->queue].clear();
    if (const auto* move = std::get_if<runtime::MoveReadPointer>(&action)) queues_[move->queue].set_read(move->value);
    if (const auto* graphs = std::get_if<runtime::ExecuteGraphs>(&action)) {
      BUDA_ASSIGN(const bool executed, execute(*graphs, progress));
      if (!executed) {
        const bool host_helps =
            std::any_of(progress.waits.begin(), progress.waits.end(), [](const auto& w) { return w.what != runtime::Wait::For::device; });
        return host_helps ? runtime::State::needs_host : runtime::State::hung;
      }
    }
    schedule_.actions.pop_front();
  }
  return runtime::State::idle;
}

runtime::Telemetry ChipDevice::telemetry() const { return {{"cycles", static_cast<double>(cores_.cycles())}, {"epochs", executed_}}; }

}  // namespace buda::chip
