// Through libbuda_lines.so, which is loaded with the first message that names a line.
#include <buda/kernels/source_lines.hpp>

#include <buda/base/late_library.hpp>
#include <buda/kernels/lines/functions.hpp>

namespace buda::kernels {

std::string lines_at(std::string_view elf, std::uint32_t address) {
  return late_functions<LineFunctions>(BUDA_LATE_LINES, "buda_line_functions").lines_at(elf, address);
}

}  // namespace buda::kernels
