// SPDX-License-Identifier: Apache-2.0
// What kernels print (share/kernels/dprint.h): rings of words in L1, one for each thread.
#pragma once

#include <buda/kernels/programs/elf.hpp>
#include <buda/kernels/run/op_run.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace buda::kernels {

// "k=%u" with its numbers. What the format asks for and was not given is "?".
std::string printed_text(std::string_view format, std::span<const std::uint32_t> values);

class PrintRings {
 public:
  // The programs outlive it.
  explicit PrintRings(const std::array<Executable, 3>& programs);

  bool used() const { return used_; }
  void start(Core& core) const;
  // Takes what the threads have written since the last time. Whether that was anything.
  bool take(Core& core, std::vector<PrintedLine>& to);

 private:
  const std::array<Executable, 3>& programs_;
  bool used_ = false;
  std::array<std::uint32_t, 3> read_ = {};
};

}  // namespace buda::kernels
