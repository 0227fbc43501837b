// SPDX-License-Identifier: Apache-2.0
// A model at work on a device: follows its host plan.
//
//   BUDA_ASSIGN(auto model, runtime::load_image("digits.tti", bytes));
//   BUDA_ASSIGN(auto session, runtime::Session::open(std::move(model), target, descriptor, host));
//   BUDA_ASSIGN(auto outputs, session->run({{"x", images}}));
//
// Segments run in the plan's order, those of the host with the reference evaluation of ops (ops/whole_graph/evaluate.hpp).
#pragma once

#include <buda/diag/result.hpp>
#include <buda/io/host.hpp>
#include <buda/runtime/batches.hpp>
#include <buda/runtime/model.hpp>
#include <buda/runtime/model_runs.hpp>
#include <buda/runtime/ports.hpp>
#include <buda/runtime/target.hpp>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::runtime {

class Session {  // wide because each step of a run along the plan is a method
 public:
  // Checks the plan against the netlist and the host's graphs, opens the target, and writes the parameters into their rams. The target and
  // the host must outlive the session. A model that runs on the host as a whole opens no target.
  // A descriptor of another kind than that of the model's image is refused (IM010 to IM013).
  static Result<std::unique_ptr<Session>> open(Model model, Target& target, const device::DeviceDescriptor& descriptor, Host& host);
  // The same on a device that is open, and loaded with a program of which the model's is a part. Null for a model of the host.
  static Result<std::unique_ptr<Session>> open_on(Model model, std::shared_ptr<Device> device, Host& host);

  // One tensor per input of the model, by name; gives one per output. Inputs in the model's shapes are one batch. Where all of them have
  // another first size n than the model's b, and the outputs have b first too, they run as ceil(n / b) batches, the last one filled up with
  // zeros; the outputs then have n rows. RT027: the model's rows depend on each other. Queues are filled with as many batches as they hold,
  // so that a program with the parameter $p_loop_count does them in one run.
  // An input that is an output of the step before stays on the device, from run to run. It may be left out: it then goes on from where it
  // was, and in the first run begins with zeros. Its output has the value after the last step.
  Result<NamedTensors> run(const NamedTensors& inputs);
  // The same without the outputs that are states, which then are not read from the device; states() reads them, as they are after the last
  // step: before the first there are none.
  // A training step in programs (host_plan::SegmentPhase) adds up the gradients of all batches and then changes its states once; batches
  // have to be a multiple of turn() (RT092).
  Result<NamedTensors> step(const NamedTensors& inputs);
  // Of a training step in programs: the outputs as step() gives them, but no state changes. The last batches may be filled up.
  Result<NamedTensors> evaluate(const NamedTensors& inputs);
  // The same step phase by phase. forward() takes one batch, in the model's shapes, and gives what the forward phase gives; the batch then
  // waits for backward(), which takes batches in turn, with the gradients of outputs where the model asks for them, and gives what the
  // backward phase gives. `begins`: sums of gradients begin with this batch. optimize() changes the states. RT094: no batch waits, or no
  // more can; RT095: the model has no phases of its own on a device.
  Result<NamedTensors> forward(const NamedTensors& inputs);
  Result<NamedTensors> backward(const NamedTensors& gradients, bool begins);
  Result<void> optimize(const NamedTensors& numbers);
  Result<NamedTensors> states();

  const host_plan::HostPlan& plan() const { return model_.plan; }
  const Ports& ports() const { return runs_.ports; }
  bool has_phases() const { return runs_.has_phases; }
  // Batches that one turn of the programs takes.
  std::int64_t turn() const { return runs_.per_turn; }
  // How the inputs of the last run were cut.
  const Batches& batches() const { return batches_; }
  Telemetry telemetry() const { return device_ ? device_->telemetry() : Telemetry(); }
  // Null for a model that runs on the host as a whole.
  Device* device() { return device_.get(); }

 private:
  // `device`: null where the model needs none; it has the model's parameters.
  Session(Model model, ModelRuns runs, std::shared_ptr<Device> device, Host& host)
      : model_(std::move(model)), runs_(std::move(runs)), device_(std::move(device)), host_(host) {}
  // What is at hand while one batch runs: the model's inputs, what segments hand on, and outputs, each by name.
  struct Batch {
    NamedTensors values;
    NamedTensors outputs;
  };

  // Host and device segments up to the device's backward phase, and those from there on.
  enum class Part : std::uint8_t { forward, backward };
  Result<void> run_segments(Part part, std::vector<Batch>& batches, bool is_first);
  Result<NamedTensors> run_batches(const NamedTensors& inputs, bool learns);
  Result<void> run_batches_at(std::int64_t first, std::int64_t count, const NamedTensors& given, std::vector<std::vector<Tensor>>& outputs);
  void add_up(const graph::Graph& optimizer, const Batch& batch);
  Result<void> run_optimizer(const NamedTensors& numbers);
  Result<void> check_turns() const;
  Result<void> enter_states(const NamedTensors& inputs);
  Result<Batch> first_values(const NamedTensors& inputs, std::int64_t number) const;
  Result<void> run_on_host(const graph::Graph& graph, Batch& batch);
  // Of the device's segments number `segment`.
  Result<void> run_on_device(std::size_t segment, std::vector<Batch>& batches, bool is_first);
  Result<void> push(std::size_t segment, const std::vector<Batch>& batches);
  Result<void> run_programs(std::size_t segment, std::int64_t turns, bool is_first);
  Result<void> pop(std::size_t segment, std::vector<Batch>& batches);

  Model model_;
  ModelRuns runs_;
  std::shared_ptr<Device> device_;
  Host& host_;
  Batches batches_;
  std::deque<Batch> waiting_;           // batches between forward() and backward()
  NamedTensors host_states_;            // by input: those that the host computes
  NamedTensors sums_;                   // of gradients, by name, where the host computes the optimizer: in F32
  bool has_states_ = false;             // the first step was
  std::int64_t slot_ = 0;               // of states in rams: where the present ones are
  std::set<std::string> told_special_;  // inputs whose NaN was warned about
};

}  // namespace buda::runtime

#pragma GCC visibility pop
