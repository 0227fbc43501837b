// SPDX-License-Identifier: Apache-2.0
// Running a bare netlist, without a host plan: its queues are its inputs and outputs.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/io/host.hpp>
#include <buda/runtime/target.hpp>
#include <buda/tensor/named_tensors.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace buda::runtime {

struct NetlistRunOptions {
  Parameters parameters;              // of programs, by name with or without "$"; what a program lacks is not given to it
  std::vector<std::string> programs;  // which run, in this order; empty: all, see program_order.hpp
  Observer* observer = nullptr;       // looks into the device while it runs, where that can be done
  perf::Sink* sink = nullptr;         // hears when things happen, on devices that simulate time
  perf::Level level{};
  std::function<void(const Device&)> opened;  // hears of the device before anything runs
};

struct NetlistRun {
  NamedTensors outputs;
  Telemetry telemetry;
  std::optional<perf::Summary> summary;  // of devices that simulate time
};

// The program has what the target needs (complete_program). Fills the queues and rams that come from outside (`inputs` by queue, (w, z, r,
// c) or with leading sizes of 1 left out; w entries are pushed, or written from slot 0 on), runs the programs, and reads what ops have
// written and no op reads: the waiting entries of queues, all slots of rams. A program that waits for the host is served: a queue that was
// filled to the brim gets the same entries again, in the same order, and of an output without room the oldest entry is dropped.
// $p_loop_count, when not given, is the number of entries pushed divided by the input_count of the graph that reads them. Other parameters
// without a value are an error.
Result<NetlistRun> run_netlist(const Program& program, Target& target, const device::DeviceDescriptor& descriptor,
                               const NamedTensors& inputs, const NetlistRunOptions& options, Host& host);

// How many entries from the first on the programs read of each queue and ram that comes from outside, at most all of them; run in the same
// order, with the same parameters (those without a value are 1).
Result<std::map<std::string, std::int64_t>> entries_read(const netlist::Netlist& netlist, const NetlistRunOptions& options);

// The queues that have to be filled before such a run, and those that it gives back; in file order.
std::vector<const netlist::Queue*> input_queues(const netlist::Netlist& netlist);
std::vector<const netlist::Queue*> output_queues(const netlist::Netlist& netlist);

}  // namespace buda::runtime
