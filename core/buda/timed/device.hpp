// SPDX-License-Identifier: Apache-2.0
// A device that executes stream programs in simulated time. Targets with streams are such devices; what they differ in is who computes an
// op.
#pragma once

#include <buda/arith/op.hpp>
#include <buda/arith/precision.hpp>
#include <buda/device/descriptor.hpp>
#include <buda/diag/result.hpp>
#include <buda/io/host.hpp>
#include <buda/perf/summary.hpp>
#include <buda/runtime/target.hpp>
#include <buda/sim/time/time_scale.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::timed {

// How values are computed from the tiles that have arrived. Time is over when that happens, so that it cannot change a bit.
struct Computing {
  arith::Mode mode = arith::Mode::exact;
  // What computes an op; without it the host does, as `mode` says.
  std::function<arith::Outcome(const arith::OpCall&)> run_op = {};
};

// Cycles of one core of an op for one input, when data and room are there; nothing where they are not known.
using KernelCyclesOf = std::function<std::optional<double>(const netlist::Op&)>;

// Where parts of its kernel begin and end.
using KernelMarksOf = std::function<std::vector<perf::EpochSummary::Op::Mark>(const netlist::Op&)>;

struct DeviceOptions {
  bool check_tiles = true;              // tags
  std::optional<Computing> computes;    // without it all outputs are zeros
  std::uint64_t jitter = 0;             // a seed: every duration times 0.7 to 1.3
  KernelCyclesOf kernel_cycles;         // instead of the cost model's, where there are any
  KernelMarksOf kernel_marks;           // of what the summary tells; none: no marks
  std::map<std::string, double> scale;  // of kernels' times, by op
  sim::TimeScale transfers;             // how much longer they take
  std::int64_t chunk_tiles = 8;         // that travel together at most
  double host_gbs = 0;                  // in each direction; 0: what the host does takes no time
  // Of each core between epochs, besides the bytes that it loads; 0: nothing of both; none: the device's.
  std::optional<double> switch_cycles = 0;
};

// The program has the stream programs of its epochs. The host must outlive the device.
Result<std::unique_ptr<runtime::Device>> make_device(const runtime::Program& program, const device::DeviceDescriptor& device,
                                                     const DeviceOptions& options, Host& host);

}  // namespace buda::timed

#pragma GCC visibility pop
