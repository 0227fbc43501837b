// SPDX-License-Identifier: Apache-2.0
// What a user asks of the balancer.
#pragma once

#include <buda/balance/chips/chip_order.hpp>
#include <buda/balance/legalize/self_cut.hpp>
#include <buda/balance/models/op_model.hpp>
#include <buda/balance/problem/schedule.hpp>
#include <buda/balance/queues/queues.hpp>
#include <buda/diag/diagnostic.hpp>
#include <buda/netlist/model/netlist.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace buda::balance {

// What makes a netlist of no use that keeps all rules, as a deadlock does, which modules above this one find. Its node is an op that
// another choice may mend.
using FindRefusal = std::function<std::optional<Diagnostic>(const netlist::Netlist&)>;

struct BalanceOptions {
  ModelOptions models;
  std::optional<SchedulePolicy> schedule = {};  // nothing: breadth first; with an effort of 2 or more, the order with the faster plan
  QueueOptions queues;
  bool forked_inputs = false;  // ops of an epoch share equal reads of DRAM
  // The caller takes ops without room to the host where it can: selections of rows are marked as kPicksRows, and what would help any op is
  // not looked for.
  bool hosts_misfits = false;
  bool wide_sums = true;       // sums in Float32 where that costs nothing (sums/wider_sums.hpp)
  bool dynamic_queues = true;  // Problem::dynamic_queues
  SelfCut self_cut = SelfCut::none;
  std::int32_t effort = 1;  // ChoiceSpace::effort
  ChipOptions chips;
  std::string cluster = {};                      // links between chips (device/cluster.hpp); empty: those of the device
  std::int32_t batches = 1;                      // of the model, that every epoch processes before the next one begins
  std::map<std::string, std::string> overrides;  // "fc1.grid" -> "[2,2]"
  FindRefusal find_refusal = {};                 // asked of each plan: other choices are tried, and if none helps it is a warning
};

}  // namespace buda::balance
