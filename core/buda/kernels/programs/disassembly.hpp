// SPDX-License-Identifier: Apache-2.0
// A program of a core as text: the instructions of its processor, those that it pushes to the coprocessor, and the lines that they are
// from.
#pragma once

#include <buda/diag/result.hpp>

#include <string>
#include <string_view>

namespace buda::kernels {

// Of an ELF file; `file` is for messages. What is no program for a core is KC010.
Result<std::string> disassembly(std::string_view elf, const std::string& file);

}  // namespace buda::kernels
