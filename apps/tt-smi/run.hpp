// SPDX-License-Identifier: Apache-2.0
// The work of tt-smi.
#pragma once

#include "apps/tt-smi/options.hpp"

namespace buda::tt_smi {

Result<void> run(const Options& options, const Outside& outside, cli::ToolHost& host);

}  // namespace buda::tt_smi
