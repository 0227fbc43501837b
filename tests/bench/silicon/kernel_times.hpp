// SPDX-License-Identifier: Apache-2.0
// The cycles of this project's kernels on target tensix beside those of the kernels that were measured on silicon: other programs for the
// same ops, so that what should agree is which op takes longer.
#pragma once

#include "measurements.hpp"

#include <buda/device/descriptor.hpp>
#include <buda/io/host.hpp>

#include <map>
#include <string>
#include <vector>

namespace buda::silicon {

struct KernelTimes {
  struct Pair {
    const Measurement* measured = nullptr;
    double cycles = 0;
  };
  std::vector<Pair> pairs;
  std::map<std::string, std::size_t> left_out;  // by reason

  // Whether in every family of ops the correlation of ranks (Spearman's) reaches the goal, but for functions that the measured kernels
  // look up.
  bool reached(double goal) const;
};

// Of the device's architecture, every so manieth measurement.
KernelTimes kernel_times(Host& host, const device::DeviceDescriptor& device, const std::vector<Measurement>& measurements,
                         std::size_t every);

// Markdown: by file, correlation of ranks and mean ratio.
std::string kernel_time_table(const KernelTimes& times);

}  // namespace buda::silicon
