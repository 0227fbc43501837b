// SPDX-License-Identifier: Apache-2.0
// What a chip leaves undefined, by class, and whether it ends the run.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace buda::tensix {

enum class Check : std::uint8_t {
  unowned_bank,      // of a source register, handed over by whom it does not belong to
  unwritten_dest,    // rows of the destination that nothing has written or cleared, in this width
  format_mismatch,   // between units that have to agree
  vector_hazard,     // a result of the vector unit that is not there yet
  config_race,       // configuration that the processor stores while a unit may read it
  semaphore_range,   // below 0 or above 15
  alignment,         // of addresses and rows
  code_overwritten,  // instructions in L1
  outside_buffers,   // L1 that is neither the op's tiles nor the program's own
};
inline constexpr std::array<std::string_view, 9> kCheckNames = {"unowned-bank",  "unwritten-dest",   "format-mismatch",
                                                                "vector-hazard", "config-race",      "semaphore-range",
                                                                "alignment",     "code-overwritten", "outside-buffers"};
constexpr std::string_view name(Check check) { return kCheckNames[static_cast<std::size_t>(check)]; }

// "unowned-bank: it gives back …".
std::string sentence(Check check, std::string_view what);

// What was ignored where checks are off.
struct Ignored {
  std::uint64_t count = 0;
  std::string first;  // what and where
};

class Checks {
 public:
  bool on = true;
  std::array<Ignored, kCheckNames.size()> ignored = {};
  // Where a thread is, for messages.
  std::function<std::string(std::size_t thread)> place;

  // Whether it goes on all the same.
  bool tolerates(Check check, std::size_t thread, std::string_view what) {
    if (on) return false;
    Ignored& i = ignored[static_cast<std::size_t>(check)];
    if (i.count++ == 0) i.first = describe(thread, what);
    return true;
  }

 private:
  std::string describe(std::size_t thread, std::string_view what) const;
};

}  // namespace buda::tensix
