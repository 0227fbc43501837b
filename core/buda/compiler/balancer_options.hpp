// SPDX-License-Identifier: Apache-2.0
// How the balancer places a graph: its options, with the names that the PyBuda documents give them (docs/options.md).
#pragma once

#include <buda/balance/chips/chip_order.hpp>
#include <buda/balance/legalize/self_cut.hpp>
#include <buda/balance/problem/schedule.hpp>
#include <buda/balance/queues/dram_algorithm.hpp>
#include <buda/schema/option_set.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::compiler {

struct BalancerOptions {
  std::string policy = "spread";                     // as PyBuda writes it, too: MinimizeGrid
  std::optional<balance::SchedulePolicy> scheduler;  // nothing: BalanceOptions::schedule
  balance::DramAlgorithm dram_placement = balance::DramAlgorithm::by_load;
  std::int64_t num_chips = 1;         // 0: all of the device
  std::vector<std::string> chip_ids;  // numbers, or several with commas; empty: the first num_chips
  std::string cluster;                // links between chips, a name or a file; empty: those of the device
  balance::ChipOrder chip_placement_policy = balance::ChipOrder::mmio_last;
  std::int64_t queue_entries = 2;
  std::int64_t microbatch = 1;
  bool auto_transpose = true;
  bool dram_parameters = false;
  bool t_streaming = true;
  bool manual_t_streaming = false;
  bool enumerate_u_kt = true;
  bool single_buffer_fallback = true;
  bool place_on_one_row = false;
  bool disable_l1_accumulate = false;
  bool wide_sums = true;
  bool input_queues_on_host = false;
  bool output_queues_on_host = false;
  bool forked_dram_inputs = false;
  bool static_queues = false;
  std::int64_t effort = 1;
  bool interactive_placer = true;
  balance::SelfCut self_cut = balance::SelfCut::none;
  bool hosts_misfits = false;                       // BalanceOptions::hosts_misfits; no option of its own
  std::map<std::string, std::string> op_overrides;  // "fc1.grid" -> "[2,2]"
  std::map<std::string, std::string> queues;        // "x.dram" -> "[0,3]"
};

// Declares every option, and the families op.NAME.KEY and queue.NAME.KEY, under the headings of --help.
void declare(schema::OptionSet& set, BalancerOptions& options);

}  // namespace buda::compiler

#pragma GCC visibility pop
