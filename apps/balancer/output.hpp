// SPDX-License-Identifier: Apache-2.0
// Which files the balancer writes, and how they name each other.
#pragma once

#include "apps/balancer/options.hpp"

#include <buda/balance/balance.hpp>
#include <buda/balance/emit/plan_builder.hpp>
#include <buda/balance/emit/segments.hpp>
#include <buda/diag/result.hpp>

#include <string>
#include <vector>

namespace buda::balancer {

// Paths as the user gave them or as they follow from the netlist's; empty for what is not written.
struct OutputFiles {
  std::string netlist;
  std::string plan;
  std::string report;
  std::string picture;
  std::string overrides;
  std::string tensors;  // beside the plan
  std::string host;     // likewise: the stem of the host's graphs
};
OutputFiles output_files(const Options& options);
std::vector<std::string> products(const Options& options);

// Writes everything, the netlist last: when it is there, so is the rest.
Result<void> write_outputs(const OutputFiles& files, const balance::Segments& segments, const balance::Balanced& balanced,
                           const std::string& netlist_text, Host& host);

}  // namespace buda::balancer
