// SPDX-License-Identifier: Apache-2.0
// The smallest larger buffers with which an epoch ends that deadlocked. Internal to the module.
#pragma once

#include <buda/device/descriptor.hpp>
#include <buda/io/host.hpp>
#include <buda/liveness/wait_cycle.hpp>
#include <buda/netlist/model/netlist.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace buda::liveness {

// An option of the netlist: of inputs input_buf_min_size_tiles, of outputs buf_size_mb, of queues entries.
struct Change {
  FullBuffer::Kind kind = FullBuffer::Kind::input;
  std::string name;          // of the op, or the queue
  std::int32_t operand = 0;  // of inputs
  std::int64_t value = 0;
};

// Every full buffer of the cycle is made larger, up to 64 times or to what fits, and the netlist with it is laid out and decided anew; the
// smallest value that helps is the change. Where no single buffer is enough, the first that moves the deadlock elsewhere is kept, and the
// search goes on there. Empty where nothing helps.
std::vector<Change> mend(const netlist::Netlist& netlist, const device::DeviceDescriptor& device, Host& host, std::int32_t epoch,
                         const Deadlock& deadlock);

// As the netlist has it: "op 'add_9': input_buf_min_size_tiles: [64, 0]; op 'mul': buf_size_mb: 4".
std::string in_netlist(const netlist::Netlist& netlist, const std::vector<Change>& changes);

}  // namespace buda::liveness
