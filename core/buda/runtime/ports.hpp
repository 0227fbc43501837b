// A host plan bound to its netlist: every tensor with its queue, all shapes checked.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/netlist/host_plan.hpp>
#include <buda/netlist/netlist.hpp>
#include <buda/tensor/tensor_file.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace buda::runtime {

// A tensor of the model and the queue that it goes through.
struct Port {
  const netlist::PlanTensor* tensor = nullptr;
  const netlist::Queue* queue = nullptr;  // null: only segments of the host use or give it
  DType dtype = DType::f32;
  Shape shape;   // in the model
  Shape queued;  // of one batch in the queue: (w, z, r, c)
};

struct Ports {
  // The model's.
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  // The device's: those of the model that have a queue, and what comes from the host or goes to it in between.
  std::vector<Port> pushed;
  std::vector<Port> popped;
  // Queue entries that one batch takes: the same for all that is pushed and popped.
  std::int64_t microbatch = 1;
  // Batches that the queues of the model hold at once.
  std::int64_t room = 1;
};

// What an entry of a queue looks like from the host: (z, r, c).
Shape entry_shape(const netlist::Queue& queue);

// Collects every contradiction between plan, netlist and parameters (RT010 to RT014) without allocating any tensor. The plan and the
// netlist must outlive the ports.
Result<Ports> bind_ports(const netlist::HostPlan& plan, const netlist::Netlist& netlist, const NamedTensors& parameters);

}  // namespace buda::runtime
