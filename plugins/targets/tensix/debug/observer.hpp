// SPDX-License-Identifier: Apache-2.0
// Who looks on while a core executes, instruction by instruction.
#pragma once

#include "../latencies.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace buda::tensix {

// Of a processor.
struct ProcessorStep {
  Cycle at = 0;  // before it
  std::uint32_t pc = 0, word = 0;
  std::uint32_t first = 0, second = 0;  // its source registers before it
  std::uint32_t result = 0;             // its destination register after it
  Cycle cycles = 0;                     // that it took
};

// Of the coprocessor.
struct CoprocessorStep {
  Cycle at = 0, ready = 0;           // when it began, and when it could have
  std::uint32_t word = 0, from = 0;  // the instruction, and the address of that which pushed it
  std::uint8_t waited_for = 0;       // Cause
};

class Observer {
 public:
  virtual ~Observer() = default;
  // Before and after each instruction. Where the run has to end there: why, a sentence without a full stop.
  virtual std::optional<std::string> before(std::size_t thread, std::uint32_t pc) = 0;
  virtual std::optional<std::string> after(std::size_t thread, const ProcessorStep& step) = 0;
  virtual std::optional<std::string> after(std::size_t thread, const CoprocessorStep& step) = 0;
};

}  // namespace buda::tensix
