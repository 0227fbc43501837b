// What libbuda_lines.so does with libdw.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace buda::kernels {

std::string lines_by_libdw(std::string_view elf, std::uint32_t address);

struct LineFunctions {
  decltype(&lines_by_libdw) lines_at;
};

}  // namespace buda::kernels
