// SPDX-License-Identifier: Apache-2.0
// Through libbuda_lines.so, which is loaded when a line is first asked for.
#include <buda/kernels/lines/source_lines.hpp>

#include <buda/base/late_library.hpp>
#include <buda/kernels/lines/functions.hpp>

namespace buda::kernels {

ProgramSource source_of(std::string_view elf, std::span<const std::uint32_t> addresses) {
  return late_functions<LineFunctions>(BUDA_LATE_LINES, "buda_line_functions").source_of(elf, addresses);
}

std::string lines_at(std::string_view elf, std::uint32_t address) { return source_of(elf, {&address, 1}).lines[0]; }

}  // namespace buda::kernels
