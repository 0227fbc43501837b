// SPDX-License-Identifier: Apache-2.0
// How many mblocks the buffer of an op's output can have.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace buda::netlist {

// Why it cannot have `buf_size_mb`; none where it can. Each of `inputs` inputs makes `t` mblocks. Above 1 the buffer has two halves, which
// are filled by turns and read as a whole.
std::optional<std::string> output_buffer_fault(std::int32_t buf_size_mb, std::int32_t t, std::int64_t inputs);

}  // namespace buda::netlist
