// SPDX-License-Identifier: Apache-2.0
// What a target with simulated time measures over a training.
#pragma once

#include "apps/trainer/opened.hpp"

#include <buda/diag/result.hpp>
#include <buda/perf/recording.hpp>

#include <cstdint>
#include <string>

namespace buda::trainer {

class Times {
 public:
  // From here on the device of the session is recorded. TR006, a warning: the target does not simulate time, and leaves the folder as it
  // is.
  void begin(const Opened& opened, const std::string& folder, cli::ToolHost& host);
  // The reports, of steps of so many samples in all, into a folder.
  Result<void> write(const Opened& opened, std::int64_t rows, const std::string& folder, cli::ToolHost& host) const;

 private:
  perf::Recording recording_;
};

}  // namespace buda::trainer
