// SPDX-License-Identifier: Apache-2.0
// A view as lines of a screen.
#pragma once

#include "apps/perf-analyzer/view.hpp"

#include <vector>

namespace buda::perf_analyzer {

// `size.rows` lines of at most `size.columns` characters.
std::vector<Line> draw(const Run& run, const View& view, Size size);

}  // namespace buda::perf_analyzer
