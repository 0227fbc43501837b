// SPDX-License-Identifier: Apache-2.0
// The placement of a model, as the page shows it.
#pragma once

#include "apps/reportify/modules.hpp"
#include "apps/reportify/script.hpp"

#include <buda/balance/emit/report.hpp>
#include <buda/device/descriptor.hpp>
#include <buda/io/host.hpp>
#include <buda/netlist/model/netlist.hpp>
#include <buda/perf/summary_file.hpp>
#include <buda/runtime/reference/op_accuracy.hpp>

#include <map>
#include <optional>
#include <string>

namespace buda::reportify {

struct Placement {
  balance::PlacementReport report;
  std::optional<netlist::Netlist> netlist;              // adds what ops read, and their formats
  std::map<std::string, runtime::OpAccuracy> accuracy;  // by op; empty where nothing is known
  std::optional<Failure> older;                         // why the accuracy that is there is not shown: RY004
};

// The module's report, and its netlist if there is one. RY003: an op outside of any chip.
Result<Placement> read_placement(const Module& module, io::FileSystem& fs);

// What is known of the ops that a node of the device graph became, by the node's name.
std::map<std::string, Facts> placed_facts(const Placement& placement);

// The accuracy of those ops, the worst of a node's.
std::map<std::string, runtime::OpAccuracy> placed_accuracy(const Placement& placement);
// [correlation with fp32 or null, largest error]
io::Node accuracy_node(const runtime::OpAccuracy& accuracy);

// What a page needs beside the placement; null where it is not known.
struct Surroundings {
  const device::DeviceDescriptor* device = nullptr;
  const perf::SummaryFile* run = nullptr;
};
// Grid of workers, the chip's nodes, epochs with their ops, traffic and the loads of a run, queues. An op's input is the number of an op of
// the epoch or of a queue, where the netlist says it.
io::Node placement_data(const Placement& placement, const Surroundings& around);

// The report's totals, for the landing page.
Facts total_facts(const balance::PlacementReport& report);

}  // namespace buda::reportify
