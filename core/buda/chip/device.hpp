// SPDX-License-Identifier: Apache-2.0
// A device behind a bus: queues in its memory, epochs on its cores, tiles moved by movers (docs/internals/movers.md). The host loads
// programs and tables, lets the cores go, and waits for them; it touches no tile in between.
#pragma once

#include <buda/chip/bus.hpp>
#include <buda/device/descriptor.hpp>
#include <buda/diag/result.hpp>
#include <buda/io/host.hpp>
#include <buda/kernels/text/kernel_set.hpp>
#include <buda/runtime/target.hpp>

#include <cstdint>
#include <memory>

#pragma GCC visibility push(default)

namespace buda::chip {

struct DeviceOptions {
  std::uint32_t quantum = 500;         // steps of the clock between two looks at the cores
  std::uint64_t patience = 4'000'000;  // steps in which nothing moves, after which it waits for ever
  kernels::BuildOptions build = {};    // of the movers
};

// Whether movers can do all that the program asks for: CP001 for ops and queues, MV001 for streams.
Result<void> check_program(const runtime::Program& program);

// A program that has been checked, with the stream programs of its epochs. The host must outlive the device.
Result<std::unique_ptr<runtime::Device>> make_device(const runtime::Program& program, const device::DeviceDescriptor& device,
                                                     kernels::KernelSet kernels, std::unique_ptr<Bus> bus, const DeviceOptions& options,
                                                     Host& host);

}  // namespace buda::chip

#pragma GCC visibility pop
