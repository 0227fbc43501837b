// SPDX-License-Identifier: Apache-2.0
// A record of what is asked of a device.
#pragma once

#include <buda/runtime/target.hpp>

#include <memory>
#include <string>
#include <vector>

namespace buda::runtime {

// One JSON object per line for each call that went through, in order: {"call": "push", "queue": "x", "shape": [1, 1, 64, 64]},
// {"call": "run", "program": "run_fwd", "parameters": {"$p_loop_count": 2}}, and so on.
using Trace = std::vector<std::string>;

// A target whose devices write down every call before they pass it on. Target and trace outlive it and its devices.
std::unique_ptr<Target> traced(Target& target, Trace& trace);

}  // namespace buda::runtime
