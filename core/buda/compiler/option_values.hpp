// SPDX-License-Identifier: Apache-2.0
// Values of options that have several parts, as they are written on a command line and in config files.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/passes/fracture/fracture.hpp>
#include <buda/passes/queues/insert_buffers.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace buda::compiler {

// Each reads one entry or a list of them; a text of another form is a usage error, OZ006.

// "A,B", "A,B,1", or the list [A, B, 1]: from A to B, input 1 of B.
Result<std::vector<passes::BufferRequest>> queue_requests(const std::string& text);
// "A,B,C", the list [A, [B, C]], or a map {A: [B, C]}.
Result<std::vector<passes::BufferRequest>> nop_requests(const std::string& text);
// A list of members such as [NAME, -1, 2], [NAME, k, 2], [NAME, [-2, -1], [2, 2]]; or one member, with or without its brackets. With the
// chips of their parts: [[MEMBER, ...], [CHIP, ...]] or [[MEMBER, ...], {NAME: [CHIP, ...]}].
Result<std::vector<passes::FractureGroup>> fracture_groups(const std::string& text);
// "CONV,3", [CONV, 3], or a map {CONV: 3}.
Result<std::vector<std::pair<std::string, std::int64_t>>> fracture_factors(const std::string& text);

// "0", "0,1", or the list [0, 1].
Result<std::vector<std::int64_t>> chip_numbers(const std::string& text);

}  // namespace buda::compiler
