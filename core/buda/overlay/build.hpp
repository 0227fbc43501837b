// SPDX-License-Identifier: Apache-2.0
// From the pipes of an epoch to its stream programs.
#pragma once

#include <buda/device/cluster.hpp>
#include <buda/diag/result.hpp>
#include <buda/overlay/blob/blob.hpp>
#include <buda/pipes/graph/pipe_graph.hpp>

namespace buda::overlay {

// Gives every pipe its streams, every stream its phases, every buffer its address in L1, and compares the result with the limits of the
// device (docs/internals/streams.md). All errors that can be found are reported together: OV001 for what is not supported yet, OV002 for
// pipes that contradict themselves, OV003 for a device that is not described completely, OV01x (Fault::fit) for what does not fit. Data of
// each: pipe, buffer, op, operand, core, as far as there is one. Linear in pipes, their blocks, and the phases made.
Result<Blob> build_blob(const pipes::PipeGraph& graph, const device::DeviceDescriptor& device, const device::Cluster& cluster = {});

}  // namespace buda::overlay
