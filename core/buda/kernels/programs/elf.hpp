// SPDX-License-Identifier: Apache-2.0
// Programs for the processors of a core, as compilers write them: ELF, 32 bits, RISC-V.
#pragma once

#include <buda/diag/result.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::kernels {

struct Segment {
  std::uint32_t address = 0;
  std::string_view bytes;          // of the file
  std::uint32_t memory_bytes = 0;  // the rest is zeros
};

struct Executable {
  std::uint32_t entry = 0;
  std::vector<Segment> segments;
  std::string_view code;  // the bytes of executable sections, of which there is one
  std::uint32_t code_address = 0;
};

// Refers to `bytes`. What is no such program is KC010.
Result<Executable> parse_executable(std::string_view bytes, const std::string& file);

}  // namespace buda::kernels

#pragma GCC visibility pop
