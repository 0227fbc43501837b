// SPDX-License-Identifier: Apache-2.0
// Matrix products of tt-metal on an n150: how well they use 64 cores, by size, format and fidelity.
#pragma once

#include <buda/device/descriptor.hpp>
#include <buda/diag/result.hpp>
#include <buda/io/host.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace buda::silicon {

struct Gemm {
  std::int64_t m = 0, k = 0, n = 0;
  std::string format, fidelity, memory;  // as the file has them
  double measured = 0, predicted = 0;    // utilisation of the matrix units, per cent
  double cycles = 0;                     // that the measured run took
  std::string blocking;                  // that the prediction takes
  double error() const { return 100 * (predicted / measured - 1); }
};

// The rows of a file like tt-metal's table, with its header line. How the products were blocked is not recorded: each is predicted with the
// fastest blocking that fits.
Result<std::vector<Gemm>> gemms(Host& host, const std::string& file, const device::DeviceDescriptor& device);
// Part of the rows within 25 per cent; the goal is two thirds.
double part_within(const std::vector<Gemm>& rows);
std::string gemm_table(const std::vector<Gemm>& rows);

}  // namespace buda::silicon
