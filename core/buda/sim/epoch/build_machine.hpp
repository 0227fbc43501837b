// SPDX-License-Identifier: Apache-2.0
// From a stream program to a machine that can begin. Internal to the module.
#pragma once

#include <buda/sim/epoch/epoch_run.hpp>
#include <buda/sim/epoch/epoch_setup.hpp>
#include <buda/sim/machine/machine.hpp>

#include <memory>

namespace buda::sim {

Result<std::unique_ptr<Machine>> build_machine(const EpochSetup& setup, const EntriesByQueue& entries);

}  // namespace buda::sim
