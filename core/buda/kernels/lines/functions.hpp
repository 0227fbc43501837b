// SPDX-License-Identifier: Apache-2.0
// What libbuda_lines.so does with libdw.
#pragma once

#include <buda/kernels/lines/source_lines.hpp>

namespace buda::kernels {

ProgramSource source_by_libdw(std::string_view elf, std::span<const std::uint32_t> addresses);

struct LineFunctions {
  decltype(&source_by_libdw) source_of;
};

}  // namespace buda::kernels
