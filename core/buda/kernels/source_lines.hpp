// Lines of the sources of a program, for messages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)

namespace buda::kernels {

// "softsign.h:18, vector.h:60, core.h:20": where an instruction of a program (ELF) is in its sources: from the line of the thread's
// outermost function to that of the innermost one that the compiler has put in there. What every kernel has around it is left out. Empty
// where the program does not say.
std::string lines_at(std::string_view elf, std::uint32_t address);

}  // namespace buda::kernels

#pragma GCC visibility pop
