// SPDX-License-Identifier: Apache-2.0
// An image on a device, for programs that push, run and pop by themselves, from one thread or several. Session (session.hpp) does all of
// that in one call; a Backend lets inputs arrive while a program runs, and outputs leave.
//
//   BUDA_ASSIGN(auto backend, runtime::Backend::open("digits.tti", *target, host));
//   const runtime::LoadedModel& model = backend->models().front();
//   for (const runtime::Port& input : model.ports.pushed) BUDA_TRY(backend->push(input, tensors.at(input.tensor->name)));
//   for (const std::string& program : model.programs) BUDA_TRY(backend->run(program, {{"$p_loop_count", 1}}));
//   BUDA_ASSIGN(Tensor y, backend->pop(model.ports.popped.front()));
//
// Back-pressure: a push waits until its queue has room, a pop until its queue holds a batch, a program until the host has pushed or popped
// what it needs. A call that times out is an error, which names the queue and what would help. All functions may be
// called from any thread. The device and the host see one call at a time.
#pragma once

#include <buda/device/descriptor.hpp>
#include <buda/diag/result.hpp>
#include <buda/io/host.hpp>
#include <buda/runtime/backend_status.hpp>
#include <buda/runtime/model.hpp>
#include <buda/runtime/ports.hpp>
#include <buda/runtime/target.hpp>
#include <buda/runtime/timeout.hpp>
#include <buda/tensor/fwd.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::runtime {

class DeviceWorker;

// A model of the image. For every batch one of each of `ports.inputs` is pushed and one of each of `ports.outputs` popped. Of a model with
// host segments run_model() evaluates these, and passes what is between them and the device. `ports.states` are inputs that stay on the
// device, or on the host where its segments use them: they begin with zeros, a push sets them, and get() on their outputs tells them.
struct LoadedModel {
  std::string name;
  Ports ports;
  // To be run in this order, by run_model() where there are host segments. A turn of all of them takes `batches_per_turn` batches; where
  // there is one program, $p_loop_count is the number of its turns, and otherwise 1.
  std::vector<std::string> programs;
  std::int64_t batches_per_turn = 1;
  bool has_host_segments = false;

  // By the names of their tensors; RT020: there is none.
  Result<const Port*> input(const std::string& tensor) const;
  Result<const Port*> output(const std::string& tensor) const;
  // Turns for inputs with that many rows along the first axis; batches beyond them are the host's to fill.
  std::int64_t turns_for_rows(std::int64_t rows) const;
};

// How full a queue is.
struct QueueState {
  std::int64_t entries = 0;  // that it has
  std::int64_t waiting = 0;  // that can be popped
  std::int64_t room = 0;     // that can be pushed
};

class Backend {
 public:
  // Checks the image's netlist (the rules of docs/formats/netlist-rules.md) and plans (RT010 to RT015), refuses another device than the
  // image's (IM010 to IM013), loads the netlist and writes the parameters. Target and host must outlive the backend. RT055: the host
  // does all of the work.
  static Result<std::unique_ptr<Backend>> open(MergedModel models, Target& target, const device::DeviceDescriptor& descriptor, Host& host);
  // The image of a file, on the device that it was made for.
  static Result<std::unique_ptr<Backend>> open(const std::string& path, Target& target, Host& host);
  // Gives up what runs.
  ~Backend();

  // In the order of the image; one, unless it is merged.
  const std::vector<LoadedModel>& models() const;
  // RT003: there is none of that name.
  Result<const LoadedModel*> model(const std::string& name) const;
  // Queues with their shapes, formats, layouts and places; programs with their parameters.
  const netlist::Netlist& netlist() const;

  // One batch, in the model's shape, for the device or for segments of the host; its elements are converted as Session::run does (RT021,
  // RT022), and the device tilizes them. A state gets this value for the next step. RT050: there was no room in time.
  Result<void> push(const Port& input, const Tensor& batch, Timeout timeout = {});
  // One batch, in the model's shape and type, which leaves its queue: that is what frees its entries. A state is not popped (RT056).
  // RT051: it was not there in time.
  Result<Tensor> pop(const Port& output, Timeout timeout = {});
  // The same without taking it; of a state the present value.
  Result<Tensor> get(const Port& output, Timeout timeout = {});

  // The same by queue, as entries (w, z, r, c): any number of them, untransformed. RT053: more than the queue has. RT054: no such queue.
  Result<void> push_entries(const std::string& queue, const Tensor& entries, Timeout timeout = {});
  Result<Tensor> pop_entries(const std::string& queue, std::int64_t entries, Timeout timeout = {});
  Result<QueueState> queue_state(const std::string& queue);
  // Slots of rams, as parameters are: (w, z, r, c) again. They are read and written between two steps of a program.
  Result<Tensor> read(const std::string& ram, std::int64_t slot, std::int64_t slots);
  Result<void> write(const std::string& ram, std::int64_t slot, const Tensor& values);

  // Begins a program, or lets it follow those that have been started. RT015: there is no such program. RT023: a parameter of it, named with
  // its $, has no value; what it does not have is not given to it. A failure of a program before it is told here.
  Result<void> start(const std::string& program, const Parameters& parameters = {});
  // All segments of a model in order, so many turns, host graphs in the calling thread: inputs have been pushed, or are by other threads;
  // outputs wait to be popped. RT051: an input that only the host uses did not come in time. RT057: cancel() was called. The
  // time-out is for each step; after a failure the inputs of the turn are lost, and states of the host are as before it.
  Result<void> run_model(const LoadedModel& model, std::int64_t turns = 1, Timeout timeout = {});
  // Until all programs have ended. RT052: they have not in time, and go on. What a program failed with is told once.
  Result<void> wait(Timeout timeout = {});
  // start and wait.
  Result<void> run(const std::string& program, const Parameters& parameters = {}, Timeout timeout = {});
  // Gives up the program at work, whose outputs so far stay in their queues, those that follow it, and the turn of a model.
  void cancel();

  BackendStatus status() const;
  Telemetry telemetry();

 private:
  Backend();
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace buda::runtime

#pragma GCC visibility pop
