// SPDX-License-Identifier: Apache-2.0
// Reading the lines of programs.
#include "kernel_lines.hpp"

#include <buda/kernels/lines/source_lines.hpp>
#include <buda/kernels/programs/elf.hpp>

namespace buda::tensix {

std::string_view KernelLines::Program::at(std::uint32_t address) const {
  const std::size_t index = (address - begin) / 4;
  return address >= begin && index < lines.size() ? std::string_view(lines[index]) : std::string_view();
}

KernelLines lines_of(const kernels::CompiledKernel& kernel) {
  KernelLines out;
  for (std::size_t t = 0; t < kThreads; ++t) {
    const std::string_view elf = kernel.executables[t].view();
    const auto program = kernels::parse_executable(elf, kernel.id);
    if (!program) continue;  // the run says so
    std::vector<std::uint32_t> addresses;
    for (std::uint32_t at = 0; at + 4 <= program->code.size(); at += 4) addresses.push_back(program->code_address + at);
    out.programs[t] = {program->code_address, kernels::source_of(elf, addresses).lines};
  }
  return out;
}

bool names_line(std::string_view chain, std::string_view line) {
  for (std::size_t at = chain.find(line); at != std::string_view::npos; at = chain.find(line, at + 1)) {
    const std::size_t end = at + line.size();
    if ((at == 0 || chain[at - 1] == ' ' || chain[at - 1] == '/') && (end == chain.size() || chain[end] == ',')) return true;
  }
  return false;
}

}  // namespace buda::tensix
