// SPDX-License-Identifier: Apache-2.0
// `buda compile`: the stages as processes.
#pragma once

#include "apps/buda/options.hpp"

#include <buda/diag/result.hpp>

#include <span>
#include <string>

namespace buda::driver {

// The tools in the order in which they run; kernelc only where kernels are wanted.
inline constexpr const char* kStages[] = {"importer", "optimizer", "balancer", "netlist2pipe", "pipegen", "kernelc", "tti-pack"};

// Of `buda train`.
inline constexpr const char* kTrainStages[] = {"importer", "autograd", "optimizer", "balancer", "netlist2pipe",
                                               "pipegen",  "kernelc",  "tti-pack",  "trainer"};

std::span<const char* const> stages_of(const Options& options);

Result<void> compile_model(const Options& options, cli::ToolHost& host);

// The model's folder in that of --reports, and in it the folder of passes.
std::string reports_folder(const Options& options);
std::string passes_folder(const Options& options);

// Where the image goes, and the rules of --accuracy.
std::string image_path(const Options& options);
std::string rules_path(const Options& options);

}  // namespace buda::driver
