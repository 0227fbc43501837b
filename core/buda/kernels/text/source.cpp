// SPDX-License-Identifier: Apache-2.0
// Generated text.
#include <buda/kernels/text/source.hpp>

#include <buda/base/text.hpp>
#include <buda/isa/opcodes.hpp>

namespace buda::kernels {
namespace {

// Two fields are called like words of C++.
std::string identifier(std::string_view name) { return cat(name, name == "template" || name == "register" ? "_" : ""); }

// "matmul": MatmulKernel.
std::string class_name(std::string family) {
  family[0] = static_cast<char>(family[0] - 'a' + 'A');
  return cat(family, "Kernel");
}

std::string members(const std::vector<Constant>& constants) {
  std::string text;
  for (const Constant& c : constants)
    text += cat("  static constexpr ", c.type, ' ', c.name, c.value.starts_with('{') ? "" : " = ", c.value, ";\n");
  return text;
}

}  // namespace

std::string instruction_header() {
  std::string text =
      "// The instructions of the coprocessor: each one's word, to which fields are added with |. Generated from the table of "
      "instructions.\n"
      "#pragma once\n\n#include <stdint.h>\n\nnamespace tt {\n";
  for (const isa::Opcode& opcode : isa::opcodes()) {
    text += cat("\nstruct ", opcode.name, " {\n  static constexpr uint32_t word = ", hex_text(std::uint32_t{opcode.code} << 24), ";\n");
    for (const isa::Field& f : opcode.fields())
      text += cat("  static constexpr uint32_t ", identifier(f.name), "(uint32_t value) { return (value & ", hex_text(f.largest()), ") << ",
                  f.low, "; }\n");
    text += "};\n";
  }
  return cat(text, "\n}  // namespace tt\n");
}

std::string kernel_source(const Kernel& kernel, std::size_t thread) {
  std::string text =
      cat("// The ", kThreadNames[thread], " thread of a kernel of the family ", kernel.family, ". Generated.\n#include <",
          kernel.header.empty() ? cat("families/", kernel.family, ".h") : kernel.header, ">\n#include <start.h>\n\nnamespace tt {\n\n");
  std::string visits;
  for (std::size_t i = 0; i < kernel.steps.size(); ++i) {
    text += cat("struct Step", i, " {\n", members(kernel.steps[i]), "};\n\n");
    visits += cat("    visit(Step", i, "());\n");
  }
  text += cat("struct Constants {\n", members(kernel.constants));
  if (!visits.empty()) text += cat("  template <class Visit>\n  static void for_steps(Visit visit) {\n", visits, "  }\n");
  return cat(text, "};\n\nvoid run() { ", class_name(kernel.family), "<Constants>::", kThreadNames[thread],
             "(); }\n\n}  // namespace tt\n");
}

std::string linker_script(std::size_t thread) {
  const Region& region = kRegions[thread];
  return cat("MEMORY { L1 (rwx) : ORIGIN = ", hex_text(region.begin), ", LENGTH = ", hex_text(region.bytes),
             " }\nENTRY(_start)\nSECTIONS {\n  .text : { *(.start) *(.text .text.*) *(.rodata .rodata.* .srodata .srodata.*) *(.data "
             ".data.* .sdata .sdata.*) "
             "*(.bss .bss.* .sbss .sbss.* COMMON) } > L1\n  /DISCARD/ : { *(.comment) *(.note*) *(.eh_frame*) *(.riscv.attributes) }\n}\n");
}

}  // namespace buda::kernels
