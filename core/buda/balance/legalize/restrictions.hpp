// SPDX-License-Identifier: Apache-2.0
// Options that take implementations away from ops.
#pragma once

#include <buda/balance/models/op_model.hpp>

#include <string>
#include <vector>

namespace buda::balance {

// Options with fewer of their restrictions, and how the balancer's command line says so: "--place-on-one-row=false".
struct Relaxed {
  ModelOptions options;
  std::string text;
};

// All ways to lift some of the restrictions of `options`, those that lift fewest first; empty where they have none.
std::vector<Relaxed> relaxed(const ModelOptions& options);

}  // namespace buda::balance
