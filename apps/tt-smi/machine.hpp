// SPDX-License-Identifier: Apache-2.0
// What tt-smi asks of the machine that it runs on.
#pragma once

#include <buda/diag/result.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace buda::tt_smi {

struct HostInfo {
  std::string os, distribution, kernel, name, platform;
  std::int64_t processors = 0;
  std::uint64_t memory_bytes = 0;
  friend bool operator==(const HostInfo&, const HostInfo&) = default;
};

enum class Input : std::uint8_t { nothing, enter, end };

struct Machine {
  std::function<HostInfo()> host;
  std::function<std::string(const char* format)> time;  // of the clock on the wall, as strftime formats it
  std::function<double()> seconds;                      // of a clock that is never set
  std::function<bool(std::int64_t process)> is_alive;
  std::function<Input(double seconds, bool listen)> wait;  // so long, or until there is input, if it listens for that
  std::function<std::optional<std::string>()> read_line;   // of standard input; none: it has ended
};

Machine this_machine();

}  // namespace buda::tt_smi
