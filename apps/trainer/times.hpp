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
  // From here on the device of the session is recorded.
  void begin(const Opened& opened);
  // The reports, of steps of so many samples in all, into a folder. TR006, a warning: the target does not simulate time.
  Result<void> write(const Opened& opened, std::int64_t rows, const std::string& folder, cli::ToolHost& host) const;

 private:
  perf::Recording recording_;
};

}  // namespace buda::trainer
