// SPDX-License-Identifier: Apache-2.0
// What the netlist and the cost model say of an epoch's ops, beside what the simulator has seen of them.
#pragma once

#include <buda/timed/device.hpp>
#include <buda/timed/index_tiles.hpp>

#include <buda/device/descriptor.hpp>
#include <buda/netlist/model/netlist.hpp>
#include <buda/perf/summary.hpp>

namespace buda::timed {

// Types, blocks and estimates of the ops, and how much the math units have to do.
void add_facts(perf::EpochSummary& epoch, const netlist::Netlist& netlist, const device::DeviceDescriptor& device,
               const IndexTiles& index_tiles);
// What their kernels mark.
void add_marks(perf::EpochSummary& epoch, const netlist::Netlist& netlist, const KernelMarksOf& marks_of);

}  // namespace buda::timed
