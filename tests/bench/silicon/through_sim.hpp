// SPDX-License-Identifier: Apache-2.0
// Predictions taken through the simulator: the op alone on one core, with its stream programs, its inputs in a
// memory that is as fast as the networks.
//
// What a kernel takes, and how fast operands come, are told apart in the simulator, while measurements have both. Were a limit of the feed
// in the costs and in the simulator, and did they add up, this would show it.
#pragma once

#include "fits.hpp"

#include <buda/device/descriptor.hpp>
#include <buda/io/host.hpp>
#include <buda/netlist/model/netlist.hpp>

#include <string>
#include <vector>

namespace buda::silicon {

// The op alone on one core, named "op".
Result<netlist::Netlist> netlist_of(const Measurement& measurement, const device::DeviceDescriptor& device);

struct Simulated {
  std::vector<Prediction> predictions;  // cycles from input to input
  std::vector<double> added;            // of each, what the simulator adds to the kernel's own time, relative
  std::vector<std::string> left_out;    // what cannot be built as a netlist of one core, with the reason
};

// `predictions` are of the device's architecture, and say what the kernel takes.
Simulated through_simulator(Host& host, device::DeviceDescriptor device, const std::vector<Prediction>& predictions);

// Markdown: by class, how many times the simulator adds a tenth of a per cent or more to a kernel's time, and how much at most.
std::string feed_table(const Simulated& simulated);

}  // namespace buda::silicon
