// SPDX-License-Identifier: Apache-2.0
// `buda train`: the stages of a compilation, with those of training before and behind them.
#pragma once

#include "apps/buda/options.hpp"

#include <buda/diag/result.hpp>

#include <string>

namespace buda::driver {

Result<void> train_model(const Options& options, cli::ToolHost& host);

// Where the trained parameters go.
std::string checkpoint_path(const Options& options);
// Whether the graph is evaluated, which needs no image.
bool is_trained_on_host(const Options& options);

}  // namespace buda::driver
