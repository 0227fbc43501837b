// SPDX-License-Identifier: Apache-2.0
// Checks of executables after linking.
#include <buda/kernels/programs/check.hpp>

#include <buda/base/text.hpp>
#include <buda/kernels/programs/elf.hpp>
#include <buda/kernels/text/source.hpp>

#include <cstdint>

namespace buda::kernels {

Result<void> check_executable(std::string_view bytes, std::size_t thread, const std::string& file) {
  BUDA_ASSIGN(const Executable program, parse_executable(bytes, file));
  const Region& region = kRegions[thread];
  for (const Segment& s : program.segments)
    if (s.address < region.begin || s.address - region.begin + s.memory_bytes > region.bytes)
      return internal_error(cat(file, " was linked to ", s.memory_bytes, " bytes; programs of the thread ", kThreadNames[thread], " have ",
                                region.bytes, " at most"));
  return success();
}

}  // namespace buda::kernels
