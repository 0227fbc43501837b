// SPDX-License-Identifier: Apache-2.0
// A drawing of a placement: for every epoch the grid of workers, with the rectangle of each op.
#pragma once

#include <buda/balance/emit/report.hpp>
#include <buda/device/descriptor.hpp>

#include <string>

namespace buda::balance {

// SVG: the DRAM channels with what queues use of them, then a panel for each epoch, several in a row, in order. An op has its name, its
// grid and what limits it, and the darker a colour the larger its share of the epoch's interval (the time of its slowest op); marks at its
// corner count the queues that it reads and writes. Harvested rows are hatched strips. `device` is the one of the report.
std::string placement_svg(const PlacementReport& report, const device::DeviceDescriptor& device);

}  // namespace buda::balance
