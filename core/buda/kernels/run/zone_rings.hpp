// SPDX-License-Identifier: Apache-2.0
// The zones that kernels mark (share/kernels/zones.h): rings of words in L1, one for each thread.
#pragma once

#include <buda/kernels/programs/elf.hpp>
#include <buda/kernels/run/op_run.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace buda::kernels {

class ZoneRings {
 public:
  // The programs outlive it.
  explicit ZoneRings(const std::array<Executable, 3>& programs);

  void start(Core& core) const;
  // Takes the marks since the last time. Whether there were any.
  bool take(Core& core, ZoneMarks& to);

 private:
  const std::array<Executable, 3>& programs_;
  bool used_ = false;
  std::array<std::uint32_t, 3> read_ = {};
  std::uint64_t dropped_ = 0;  // marks, where there are too many
};

}  // namespace buda::kernels
