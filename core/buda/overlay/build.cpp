// SPDX-License-Identifier: Apache-2.0
// The steps from pipes to stream programs, each a function from values to a value.
#include <buda/overlay/build.hpp>

#include <buda/overlay/emit/emitter.hpp>
#include <buda/overlay/emit/limits.hpp>
#include <buda/overlay/l1/allocator.hpp>
#include <buda/overlay/phases/scheduler.hpp>
#include <buda/overlay/plan/planner.hpp>
#include <buda/overlay/streams/allocator.hpp>
#include <buda/overlay/usage.hpp>

#include <utility>

namespace buda::overlay {
namespace {

// From plans to the blob.
Result<Blob> build_from_plans(const EpochInput& in, const CoreMap& cores, const PipePlans& plans, const SharedReads& sharing) {
  Violations violations(in.device.chips > 1);
  StreamAllocation streams = allocate_streams(in, cores, plans, sharing, violations);
  if (!violations.empty()) return std::move(violations).take();
  check_outputs_are_taken(in, plans, violations);
  PhaseSchedule phases = schedule_phases(in, cores, plans, streams, violations);
  L1Layout layout = allocate_l1(in, cores, plans, streams, phases, violations);
  Blob blob = emit_blob(in, cores, std::move(streams), std::move(phases), std::move(layout));
  check_limits(blob, in.device, in.cluster.eth_core, violations);
  if (!violations.empty()) return std::move(violations).take();
  return blob;
}

}  // namespace

Result<Blob> build_blob(const pipes::PipeGraph& graph, const device::DeviceDescriptor& device, const device::Cluster& cluster) {
  if (auto missing = missing_description(device)) return std::move(*missing);
  const pipes::BufferIndex buffers(graph.buffers);
  const EpochInput in{graph, buffers, device, cluster};
  Violations violations(device.chips > 1);
  check_buffers(graph, violations);
  if (!violations.empty()) return std::move(violations).take();
  const CoreMap cores = collect_cores(in, violations);
  const PipePlans plans = plan_pipes(in, violations);
  if (violations.empty()) check_operands(in, plans, violations);
  if (!violations.empty()) return std::move(violations).take();

  const SharedReads sharing = share_reads(in, cores, plans);
  auto blob = build_from_plans(in, cores, plans, sharing);
  // What is shared takes space and streams of one core that would else be those of several.
  if (!blob && !sharing.empty()) return build_from_plans(in, cores, plans, no_shared_reads(plans));
  return blob;
}

}  // namespace buda::overlay
