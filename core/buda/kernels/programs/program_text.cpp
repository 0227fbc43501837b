// SPDX-License-Identifier: Apache-2.0
// Looking through segments.
#include <buda/kernels/programs/program_text.hpp>

#include <algorithm>

namespace buda::kernels {

std::optional<std::string_view> text_at(const Executable& program, std::uint32_t address, std::string_view mark) {
  for (const Segment& s : program.segments) {
    if (address < s.address || address - s.address >= s.bytes.size()) continue;
    std::string_view text = s.bytes.substr(address - s.address);
    text = text.substr(0, text.find('\0'));
    if (text.starts_with(mark)) return text.substr(mark.size());
  }
  return std::nullopt;
}

bool has_text(const Executable& program, std::string_view mark) {
  return std::any_of(program.segments.begin(), program.segments.end(),
                     [&](const Segment& s) { return s.bytes.find(mark) != std::string_view::npos; });
}

bool has_text(const KernelSet& kernels, std::string_view mark) {
  return std::any_of(kernels.kernels.begin(), kernels.kernels.end(), [&](const CompiledKernel& k) {
    return std::any_of(k.executables.begin(), k.executables.end(),
                       [&](const io::Bytes& elf) { return elf.view().find(mark) != std::string_view::npos; });
  });
}

}  // namespace buda::kernels
