// SPDX-License-Identifier: Apache-2.0
// All tables as text.
#pragma once

#include "apps/perf-analyzer/load.hpp"

#include <string>

namespace buda::perf_analyzer {

std::string printed(const Run& run, bool full_names);

}  // namespace buda::perf_analyzer
