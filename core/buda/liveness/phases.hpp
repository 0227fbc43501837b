// SPDX-License-Identifier: Apache-2.0
// Where a stream is in its phases, in a form that repeats where the phases do. Internal to the module.
#pragma once

#include <buda/overlay/blob/blob.hpp>
#include <buda/sim/tiles/phase_cursor.hpp>

#include <cstddef>
#include <cstdint>

namespace buda::liveness {

class Phases {
 public:
  Phases() = default;
  // The program must outlive the phases.
  explicit Phases(const overlay::Stream& program);

  // Makes all phases one. Between two streams that know only each other their borders mean nothing, and without them the state of the
  // streams repeats with the tiles that each input of the graph has.
  void merge();

  bool done() const { return merged_ ? passed_ : cursor_.done(); }
  const overlay::Phase& now() const { return merged_ ? whole_ : cursor_.now(); }
  std::int64_t iteration() const { return merged_ ? (passed_ ? 1 : 0) : cursor_.iteration(); }
  // The id of the phase that follows in this iteration; kLast when this is the last one.
  static constexpr std::int64_t kLast = sim::PhaseCursor::kLast;
  std::int64_t next_id() const { return merged_ ? kLast : cursor_.next_id(); }
  void next();

  bool merged() const { return merged_; }
  std::int64_t iterations() const { return merged_ ? 1 : cursor_.iterations(); }
  // The place within an iteration, of phases that are not merged.
  std::size_t run() const { return cursor_.run(); }
  std::int64_t in_run() const { return cursor_.in_run(); }

 private:
  sim::PhaseCursor cursor_;
  std::int64_t messages_ = 0;
  bool merged_ = false, passed_ = false;
  overlay::Phase whole_;  // if merged
};

}  // namespace buda::liveness
