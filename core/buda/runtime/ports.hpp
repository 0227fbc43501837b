// SPDX-License-Identifier: Apache-2.0
// A host plan bound to its netlist: every tensor with its queue, all shapes checked.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/host_plan/host_plan.hpp>
#include <buda/netlist/model/netlist.hpp>
#include <buda/tensor/dtype.hpp>
#include <buda/tensor/tensor.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::runtime {

// A tensor of the model and the queue that it goes through.
struct Port {
  const host_plan::PlanTensor* tensor = nullptr;
  const netlist::Queue* queue = nullptr;  // null: only segments of the host use or give it
  DType dtype = DType::f32;
  Shape shape;   // in the model
  Shape queued;  // of one batch in the queue: (w, z, r, c)
  // Of the plan's device segments the one before which the host pushes it, or behind which it pops it: of the model's inputs the first, of
  // its outputs the last.
  std::size_t segment = 0;
  // False for an input that nothing reads: it may be left out, and what is given for it is not looked at.
  bool is_read = true;
  // A number of a training step in programs, which the optimizer alone reads: given once for each step, not for each batch.
  bool is_of_step = false;
};

// An input that is an output of the step before. Both have one queue, or none when the host computes the output.
struct StatePort {
  Port input;
  Port output;
  std::optional<Tensor> first;  // its first value, in the model's shape, where the model has one
};

struct Ports {
  // The model's, those of `states` included.
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  // The device's, in every step: those of the model that have a queue, and what comes from the host or goes to it in between.
  std::vector<Port> pushed;
  std::vector<Port> popped;
  std::vector<StatePort> states;
  // Queue entries that one batch takes: the same for all that is pushed and popped.
  std::int64_t microbatch = 1;
  // Batches that the queues of the model hold at once; 1 where one has to wait for the host's part of the one before.
  std::int64_t room = 1;

  // It is read, and has no value of the step before.
  bool must_be_given(const std::string& input) const;
  bool is_state(const std::string& input) const;
  bool gives_state(const std::string& output) const;
};

// What an entry of a queue looks like from the host: (z, r, c).
Shape entry_shape(const netlist::Queue& queue);

// Collects every contradiction between plan, netlist and parameters (RT010 to RT015) without allocating any tensor. The plan and the
// netlist must outlive the ports.
Result<Ports> bind_ports(const host_plan::HostPlan& plan, const netlist::Netlist& netlist, const NamedTensors& parameters);

}  // namespace buda::runtime

#pragma GCC visibility pop
