// SPDX-License-Identifier: Apache-2.0
// The target `dry_run`: goes through a model's programs, says which epochs they execute and what moves through the queues, and computes
// nothing; outputs are zeros. Small, but real: a start for targets of your own, next to docs/plugins/target.md.
#include <buda/base/text.hpp>
#include <buda/netlist/program/program_vm.hpp>
#include <buda/plugin/plugin.hpp>
#include <buda/plugin/target.hpp>
#include <buda/runtime/ports.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>

namespace {

using namespace buda;

// A device executes the programs of one netlist. ProgramVm does the reading of programs: variables, loops, queue pointers; the device is
// told what to execute.
class DryRun final : public runtime::Device, private netlist::ProgramEvents {
 public:
  static Result<std::unique_ptr<runtime::Device>> open(const runtime::Program& program, Host& host) {
    std::unique_ptr<DryRun> device(new DryRun(program.netlist, host));
    BUDA_ASSIGN(auto vm, netlist::ProgramVm::make(device->netlist_));
    device->vm_ = std::make_unique<netlist::ProgramVm>(std::move(vm));
    return std::unique_ptr<runtime::Device>(std::move(device));
  }

  Result<void> push(const std::string& name, const Tensor& entries) override {
    BUDA_ASSIGN(Queue * queue, find(name));
    if (entries.shape()[0] > queue->declared->entries - queue->waiting(queue->read))
      return input_error("DR002", {netlist_.file}, cat("queue '", name, "' has no room for ", entries.shape()[0], " entries"));
    host_.log(0, cat("push ", entries.shape()[0], " to ", name));
    queue->write += entries.shape()[0];
    return success();
  }
  Result<void> write(const std::string& name, std::int64_t slot, const Tensor& entries) override {
    BUDA_TRY(find(name));
    host_.log(0, cat("write ", entries.describe(), " to slot ", slot, " of ", name));
    return success();
  }
  // All is done at once here, so that nothing is left for advance().
  Result<void> start(const std::string& program, const runtime::Parameters& parameters) override {
    host_.log(0, cat("run ", program));
    netlist::ProgramParameters values;
    for (const auto& [name, value] : parameters) values[name] = static_cast<std::int32_t>(value);
    return vm_->run(program, values, *this);
  }
  Result<Tensor> pop(const std::string& name, std::int64_t entries) override {
    BUDA_ASSIGN(Queue * queue, find(name));
    if (entries > queue->waiting(queue->read))
      return input_error("DR003", {netlist_.file}, cat("queue '", name, "' has fewer than ", entries, " entries"));
    BUDA_ASSIGN(Tensor zeros, read(name, 0, entries));
    queue->read += entries;
    return zeros;
  }
  Result<std::int64_t> waiting(const std::string& name) override {
    BUDA_ASSIGN(const Queue* queue, find(name));
    return queue->waiting(queue->read);
  }
  // Zeros must not be taken for results.
  Result<Tensor> read(const std::string& name, std::int64_t, std::int64_t entries) override {
    BUDA_ASSIGN(const Queue* queue, find(name));
    if (!warned_) host_.report(warning("DR005", {netlist_.file}, "target dry_run computes nothing: all outputs are zeros"));
    warned_ = true;
    Shape shape = runtime::entry_shape(*queue->declared);  // (z, r, c) of one entry
    return Tensor::zeros(DType::f32, Shape{entries, shape[0], shape[1], shape[2]});
  }
  bool has_values() const override { return false; }
  runtime::Telemetry telemetry() const override { return {{"epochs", epochs_}}; }

 private:
  // Pointers run from 0 to 2 * entries - 1, so that full and empty differ.
  struct Queue {
    const netlist::Queue* declared = nullptr;
    std::int64_t read = 0, write = 0;

    // Entries that a reader at `pointer` finds.
    std::int64_t waiting(std::int64_t pointer) const {
      const std::int64_t range = std::max<std::int64_t>(2 * std::int64_t{declared->entries}, 1);
      return ((write - pointer) % range + range) % range;
    }
  };

  DryRun(netlist::Netlist netlist, Host& host) : netlist_(std::move(netlist)), host_(host) {
    for (const auto& queue : netlist_.queues) queues_.push_back({&queue});
  }

  // An epoch: here a chip would compute.
  Result<void> execute(const netlist::Execution& execution) override {
    const netlist::Graph& graph = netlist_.graphs[execution.graph];
    std::string text = cat("  epoch ", epochs_++, ": ", graph.name, ", ", graph.ops.size(), " ops, ", graph.input_count, " inputs");
    for (const auto& s : execution.settings) {
      Queue& queue = queues_[s.queue];
      if (s.rd_ptr_local) text += cat(", ", queue.declared->name, " at ", *s.rd_ptr_local);
      if (queue.declared->kind == netlist::QueueKind::ram || !queue.declared->from_outside()) continue;
      if (s.rd_ptr_global) queue.read = *s.rd_ptr_global;
      if (queue.waiting(s.rd_ptr_local.value_or(0)) == 0)
        return input_error("DR004", {netlist_.file},
                           cat("graph '", graph.name, "' reads queue '", queue.declared->name, "', which is empty"));
    }
    host_.log(0, text);
    for (Queue& queue : queues_)
      if (std::any_of(graph.ops.begin(), graph.ops.end(), [&](const auto& op) { return op.name == queue.declared->input; }))
        queue.write += graph.input_count;
    return success();
  }
  Result<void> allocate(std::size_t queue) override {
    queues_[queue].read = queues_[queue].write = 0;
    return success();
  }
  // The program says what it has read: the queue has room again.
  void read_pointer_moved(std::size_t queue, std::int32_t value) override { queues_[queue].read = value; }

  Result<Queue*> find(const std::string& name) {
    for (auto& queue : queues_)
      if (queue.declared->name == name) return &queue;
    return input_error("DR001", {netlist_.file}, cat("the netlist has no queue named '", name, "'"));
  }

  netlist::Netlist netlist_;
  Host& host_;
  std::unique_ptr<netlist::ProgramVm> vm_;
  std::vector<Queue> queues_;  // as in the netlist
  int epochs_ = 0;
  bool warned_ = false;
};

class DryRunTarget final : public runtime::Target {
 public:
  Result<std::unique_ptr<runtime::Device>> open(const runtime::Program& program, const device::DeviceDescriptor&, Host& host) override {
    return DryRun::open(program, host);
  }
};

}  // namespace

BUDA_PLUGIN(.name = "example", .version = "1.0", .description = "an example of a target", .license = "Apache-2.0") {
  registrar.add_target({.name = "dry_run",
                        .summary = "tells which epochs a model executes, and computes nothing",
                        .options = {},
                        .make = [](const schema::OptionValues&, Host&) -> Result<std::unique_ptr<runtime::Target>> {
                          return std::unique_ptr<runtime::Target>(std::make_unique<DryRunTarget>());
                        }});
}
