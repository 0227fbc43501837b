// Ops of an epoch moved to where the links of the networks have less to carry.
#pragma once

#include <buda/balance/solve/link_loads.hpp>
#include <buda/balance/solve/policy.hpp>
#include <buda/diag/result.hpp>

#include <vector>

namespace buda::balance {

// A choice and what its epochs take, as far as that is known without channels of DRAM.
struct Relieved {
  Choice choice;
  std::vector<double> links;    // of each epoch: cycles per input of the busiest link
  std::vector<double> latency;  // and of the longest way through its ops, each taking an input as a whole
};

// The same choice with other places: in epochs whose busiest link takes longer than the slowest op, ops are moved or change places with
// others of the same grid, as long as that makes the sum of loads, each to a high power, smaller. What the context holds is replaced.
Result<Relieved> relieved(PolicyContext& context, LinkModel& model, Choice choice);

}  // namespace buda::balance
