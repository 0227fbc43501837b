// SPDX-License-Identifier: Apache-2.0
// The whole way from a device graph to a netlist.
#pragma once

#include <buda/balance/plan/balance_options.hpp>
#include <buda/balance/plan/plan.hpp>
#include <buda/balance/policy/policy.hpp>
#include <buda/balance/problem/schedule.hpp>
#include <buda/diag/result.hpp>
#include <buda/graph/graph.hpp>
#include <buda/io/host.hpp>

#include <string>

namespace buda::balance {

struct Balanced : Plan {
  SchedulePolicy schedule = SchedulePolicy::module_inputs_bfs;  // of its ops
  graph::Graph graph;  // as it was balanced: without dead nodes, with nops before outputs that no op fed
};

// Steps: normalize, schedule, make_problem, overrides, legal models of every op, the policy's choice and its check, queues, netlist,
// its streams laid out on trial, report. Each step reports all that it finds before the next begins. The device must outlive the result.
// `policy_name` is for messages and the report.
Result<Balanced> balance(graph::Graph graph, const device::DeviceDescriptor& device, Policy& policy, const std::string& policy_name,
                         const BalanceOptions& options, Host& host);
// The same of a problem that was made otherwise (problem/from_netlist.hpp); the result has no graph. Its batches are the problem's.
Result<Balanced> balance(Problem problem, Policy& policy, const std::string& policy_name, const BalanceOptions& options, Host& host);

}  // namespace buda::balance
