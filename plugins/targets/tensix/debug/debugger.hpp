// SPDX-License-Identifier: Apache-2.0
// Looks on at one core: writes down what is executed, and ends the run at a line or at a change.
#pragma once

#include "../core.hpp"
#include "kernel_lines.hpp"
#include "observer.hpp"
#include "settings.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace buda::tensix {

class Debugger final : public Observer {
 public:
  // All outlive it. `traces`: this core is one of those that are traced.
  Debugger(const Core& core, const DebugSettings& settings, const KernelLines& lines, bool traces);

  std::optional<std::string> before(std::size_t thread, std::uint32_t pc) override;
  std::optional<std::string> after(std::size_t thread, const ProcessorStep& step) override;
  std::optional<std::string> after(std::size_t thread, const CoprocessorStep& step) override;

  // Lines: cycle, thread, address, instruction, values, what it waited for, place.
  const std::string& trace() const { return trace_; }

 private:
  void write(std::size_t thread, Cycle at, std::uint32_t pc, const std::string& instruction, const std::string& values);
  std::optional<std::string> changed();
  std::vector<std::uint32_t> watched(const Watch& watch) const;

  const Core& core_;
  const DebugSettings& settings_;
  const KernelLines& lines_;
  bool traces_;
  std::array<std::string_view, kThreads> line_ = {};  // of the instruction before
  std::array<Cycle, kThreads> next_ = {};             // when a thread's next instruction of the coprocessor can begin
  std::vector<std::vector<std::uint32_t>> values_;    // of what is watched
  std::string trace_;
  std::size_t written_ = 0;  // lines
};

// Registers, semaphores, banks and counters of a core that has stopped, line by line.
std::string state_of(const Core& core);

}  // namespace buda::tensix
