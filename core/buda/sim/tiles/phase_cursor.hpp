// SPDX-License-Identifier: Apache-2.0
// Where a stream is in its phases, without writing them out.
#pragma once

#include <buda/overlay/blob/blob.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>

namespace buda::sim {

class PhaseCursor {
 public:
  PhaseCursor() = default;
  // The program must outlive the cursor.
  explicit PhaseCursor(const overlay::Stream& program);

  bool done() const { return iteration_ >= iterations_; }
  const overlay::Phase& now() const { return now_; }
  std::int64_t iteration() const { return iteration_; }
  // The id of the phase that follows in this iteration; kLast when this is the last one.
  static constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();
  std::int64_t next_id() const;
  void next();

  std::int64_t iterations() const { return iterations_; }
  // The place within an iteration.
  std::size_t run() const { return run_; }
  std::int64_t in_run() const { return at_; }

 private:
  const std::vector<overlay::PhaseRun>* runs_ = nullptr;
  std::int64_t iterations_ = 0, iteration_ = 0;
  std::size_t run_ = 0;
  std::int64_t at_ = 0;  // in the run
  overlay::Phase now_;
};

}  // namespace buda::sim
