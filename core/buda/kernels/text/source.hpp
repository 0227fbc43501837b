// SPDX-License-Identifier: Apache-2.0
// The text of a kernel: what the compiler gets besides share/kernels.
#pragma once

#include <buda/kernels/text/kernel.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace buda::kernels {

// The compute threads, and where their programs begin in L1: a region each, of which the last 4 KiB are not the program's.
inline constexpr std::size_t kThreads = 3;
inline constexpr std::array<std::string_view, kThreads> kThreadNames = {"unpack", "math", "pack"};
struct Region {
  std::uint32_t begin = 0, bytes = 0;
};
inline constexpr std::array<Region, kThreads> kRegions = {{{0xd000, 0x4000}, {0x12000, 0x3000}, {0x16000, 0x4000}}};

// isa.h: for each instruction its word without fields, and a function for each field.
std::string instruction_header();
// The source of one thread.
std::string kernel_source(const Kernel& kernel, std::size_t thread);
// Where the linker puts it.
std::string linker_script(std::size_t thread);

}  // namespace buda::kernels
