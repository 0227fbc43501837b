// How long a chip takes from one epoch to the next, which estimates and the simulator have in common.
//
// Each core that the next epoch uses loads its kernels and its stream program from DRAM, whose channels all cores share equally. The bytes of
// kernels and the fixed part are assumed (docs/internals/simulation.md).
#pragma once

#include <buda/device/descriptor.hpp>

#include <cstdint>

namespace buda::cost {

// Queue headers and the synchronization with the firmware, in cycles.
inline constexpr double kEpochSwitchCycles = 5000;

// Bytes per cycle of all DRAM channels of a chip together.
double dram_rate(const device::DeviceDescriptor& device);

// Cycles until each of `cores` cores of a chip has its kernels and a stream program of so many bytes, and `fixed` cycles before.
double epoch_change_cycles(const device::DeviceDescriptor& device, std::int64_t cores, double program_bytes = 0,
                           double fixed = kEpochSwitchCycles);

// Of an epoch that uses all cores of the chip.
double full_epoch_change_cycles(const device::DeviceDescriptor& device);

}  // namespace buda::cost
