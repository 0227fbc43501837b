// SPDX-License-Identifier: Apache-2.0
// Compares the tiles that a buffer receives with those that it should receive. Internal to the checker.
#pragma once

#include <buda/pipes/check/checked.hpp>
#include <buda/pipes/check/expected.hpp>
#include <buda/pipes/check/findings.hpp>

#include <cstdint>
#include <string>

namespace buda::pipes {

// Over as many inputs as it takes until everything repeats, `input_count` at most. False after an error: PC012 to PC014, or one of Trace.
// `what` names the buffer, and `node` its op or queue.
bool compare(const Checked& checked, const std::string& what, const std::string& node, const Buffer& target, const Expected& expected,
             std::int64_t input_count, Findings& findings);

}  // namespace buda::pipes
