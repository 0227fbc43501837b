// SPDX-License-Identifier: Apache-2.0
// What the host has to do for the netlist: the host plan, and the tensors that no file holds yet.
#pragma once

#include <buda/balance/problem/problem.hpp>
#include <buda/balance/queues/queues.hpp>
#include <buda/diag/result.hpp>
#include <buda/graph/fwd.hpp>
#include <buda/host_plan/host_plan.hpp>
#include <buda/tensor/named_tensors.hpp>

#include <functional>
#include <string>

namespace buda::balance {

// How files are named in the plan, that is, as seen from its folder.
struct PlanFiles {
  std::string netlist;
  std::string tensors;                                      // where the tensors go that no file holds
  std::function<std::string(const std::string&)> relative;  // of a tensor file that exists
  // Whether that file is the one that `tensors` will replace; its tensors are then written again.
  std::function<bool(const std::string&)> is_replaced;
};

struct BuiltPlan {
  host_plan::HostPlan plan;
  NamedTensors tensors;  // for files.tensors; empty: that file is not needed
};

// `graph` is the one that the problem was made of. Fails where a model shape does not lie in its node's.
Result<BuiltPlan> build_plan(const graph::Graph& graph, const Problem& problem, const QueueSet& queues, const PlanFiles& files);

// The steps from a result as its op holds it, in parts or with its matrices below one another, to the whole of this device shape
// (w, z, r, c).
std::vector<host_plan::Transform> steps_to_whole(const HeldResult& held, const Shape& whole);

// The steps from a model's tensor to the tensor that a device value of type `device` (w, z, r, c) holds, and back.
Result<std::vector<host_plan::Transform>> steps_to_device(const Shape& model, const Shape& device);
Result<std::vector<host_plan::Transform>> steps_from_device(const Shape& device, const Shape& model);

}  // namespace buda::balance
