// SPDX-License-Identifier: Apache-2.0
// The rules of plugin `sample`, and what they share.
#pragma once

#include <buda/plugin/rule.hpp>

namespace buda::sample {

using Dims = std::vector<std::int64_t>;

// start, start + 1, … along an axis of a shape of four axes.
plugin::Term ramp(plugin::Rewrite& r, std::size_t axis, std::int64_t n, double start = 0);
// 1 at its own place, falling to 0 at its neighbours': max(0, 1 - |distance|).
plugin::Term hat(const plugin::Term& distance);
// One of the numbers along an axis, which is kept.
plugin::Term at(plugin::Rewrite& r, const plugin::Term& x, std::int64_t axis, std::int64_t place);

// What these rules build, for produces().
const std::vector<std::string>& sample_ops();

plugin::RuleSpec grid_sample_rule();  // grid_sample.cpp
plugin::RuleSpec roi_align_rule();    // roi_align.cpp

}  // namespace buda::sample
