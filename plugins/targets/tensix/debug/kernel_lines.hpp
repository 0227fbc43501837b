// SPDX-License-Identifier: Apache-2.0
// Where the instructions of a kernel's programs are in their sources.
#pragma once

#include "../core.hpp"

#include <buda/kernels/text/kernel_set.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace buda::tensix {

// By thread.
struct KernelLines {
  struct Program {
    std::uint32_t begin = 0;
    std::vector<std::string> lines;  // of each instruction: "matmul.h:88, core.h:16", empty where that is not known
    std::string_view at(std::uint32_t address) const;
  };
  std::array<Program, kThreads> programs;
};

KernelLines lines_of(const kernels::CompiledKernel& kernel);

// Whether a chain of lines ("matmul.h:88, core.h:16") has this one.
bool names_line(std::string_view chain, std::string_view line);

}  // namespace buda::tensix
