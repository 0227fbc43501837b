// SPDX-License-Identifier: Apache-2.0
// Rows of a device's costs, fitted to measurements.
#pragma once

#include "measurements.hpp"

#include <buda/device/descriptor.hpp>

#include <string>
#include <vector>

namespace buda::silicon {

// A measurement and what was predicted for it.
struct Prediction {
  const Measurement* measured = nullptr;
  double cycles = 0;
  double error() const { return (cycles - measured->cycles) / measured->cycles; }
};

struct Fit {
  device::CostParameters rows;          // kernels, accumulations, matmuls and sparse_matmuls; nothing else
  std::vector<Prediction> predictions;  // each by a fit that had not seen its blocking
};

// All measurements of one architecture. They are divided by op, variant and format, and each of these groups is fitted alone. Held-out
// predictions are those of five fits, each without the blockings of a fifth of the group. Deterministic.
Fit fit_rows(const std::vector<Measurement>& measurements, const std::string& arch);

}  // namespace buda::silicon
