// The whole way from a device graph to a netlist.
#pragma once

#include <buda/balance/chips/chip_order.hpp>
#include <buda/balance/emit/netlist_builder.hpp>
#include <buda/balance/emit/report.hpp>
#include <buda/balance/legalize/self_cut.hpp>
#include <buda/balance/policy/policy.hpp>
#include <buda/balance/problem/schedule.hpp>
#include <buda/balance/queues/queues.hpp>
#include <buda/diag/result.hpp>
#include <buda/graph/graph.hpp>
#include <buda/io/host.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#pragma GCC visibility push(default)

namespace buda::balance {

struct BalanceOptions {
  ModelOptions models;
  std::optional<SchedulePolicy> schedule = {};  // nothing: breadth first; with an effort of 2 or more, the order with the faster plan
  QueueOptions queues;
  bool forked_inputs = false;  // ops of an epoch share equal reads of DRAM
  bool wide_sums = true;       // sums in Float32 where that costs nothing (sums/wider_sums.hpp)
  bool dynamic_queues = true;  // Problem::dynamic_queues
  SelfCut self_cut = SelfCut::none;
  std::int32_t effort = 1;  // PolicyContext::effort()
  ChipOptions chips;
  std::string cluster = {};                      // links between chips (device/cluster.hpp); empty: those of the device
  std::int32_t batches = 1;                      // of the model, that every epoch processes before the next one begins
  std::map<std::string, std::string> overrides;  // "fc1.grid" -> "[2,2]"
};

struct Balanced {
  SchedulePolicy schedule = SchedulePolicy::module_inputs_bfs;  // of its ops
  graph::Graph graph;  // as it was balanced: without dead nodes, with nops before outputs that no op fed
  Problem problem;
  Choice choice;
  BuiltNetlist built;
  PlacementReport report;
};

// Steps: normalize, schedule, make_problem, overrides, legal models of every op, the policy's choice and its check, queues, netlist,
// its streams laid out on trial, report. Each step reports all that it finds before the next begins. The device must outlive the result.
// `policy_name` is for messages and the report.
Result<Balanced> balance(graph::Graph graph, const device::DeviceDescriptor& device, Policy& policy, const std::string& policy_name,
                         const BalanceOptions& options, Host& host);
// The same of a problem that was made otherwise (problem/from_netlist.hpp); the result has no graph. Its batches are the problem's.
Result<Balanced> balance(Problem problem, Policy& policy, const std::string& policy_name, const BalanceOptions& options, Host& host);

}  // namespace buda::balance

#pragma GCC visibility pop
