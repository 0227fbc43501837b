// SPDX-License-Identifier: Apache-2.0
// What all steps to a plan read.
#pragma once

#include <buda/balance/plan/balance_options.hpp>
#include <buda/balance/policy/policy.hpp>
#include <buda/device/cluster.hpp>
#include <buda/diag/result.hpp>
#include <buda/io/host.hpp>

#include <string>

namespace buda::balance {

// The options, and the links that they name: estimates are made side by side, and read no files.
struct Settings : BalanceOptions {
  device::Cluster links;
};

Result<Settings> settings_for(const BalanceOptions& options, const device::DeviceDescriptor& device, Host& host);

// All outlive the steps that are given it.
struct PlanContext {
  Policy& policy;
  const std::string& policy_name;  // for messages and the report
  const Settings& settings;
  Host& host;
};

}  // namespace buda::balance
