// SPDX-License-Identifier: Apache-2.0
// Texts in programs: what kernels print or mark refers to them by address, and they begin with a mark that tells what they are for.
#pragma once

#include <buda/kernels/programs/elf.hpp>
#include <buda/kernels/text/kernel_set.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace buda::kernels {

// The text at an address, without the mark with which it has to begin.
std::optional<std::string_view> text_at(const Executable& program, std::uint32_t address, std::string_view mark);

bool has_text(const Executable& program, std::string_view mark);
// Of any of the kernels' programs.
bool has_text(const KernelSet& kernels, std::string_view mark);

}  // namespace buda::kernels
