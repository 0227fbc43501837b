// SPDX-License-Identifier: Apache-2.0
// Lines of the sources of a program, and its symbols.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::kernels {

// "softsign.h:18, vector.h:60, core.h:20": where an instruction of a program (ELF) is in its sources: from the line of the thread's
// outermost function to that of the innermost one that the compiler has put in there. What every kernel has around it is left out. Empty
// where the program does not say.
std::string lines_at(std::string_view elf, std::uint32_t address);

struct Symbol {
  std::uint32_t address = 0, bytes = 0;
  std::string name;  // as C++ writes it
  bool code = false;
};

struct ProgramSource {
  std::vector<Symbol> symbols;     // functions and objects, by address
  std::vector<std::string> lines;  // of each address, as lines_at
};
ProgramSource source_of(std::string_view elf, std::span<const std::uint32_t> addresses);

}  // namespace buda::kernels

#pragma GCC visibility pop
