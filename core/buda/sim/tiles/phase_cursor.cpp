// SPDX-License-Identifier: Apache-2.0
// Steps through runs.
#include <buda/sim/tiles/phase_cursor.hpp>

namespace buda::sim {

PhaseCursor::PhaseCursor(const overlay::Stream& program) : runs_(&program.phases), iterations_(program.iterations) {
  if (runs_->empty()) {
    iterations_ = 0;
    return;
  }
  now_ = overlay::to_phase(runs_->front().first);
}

std::int64_t PhaseCursor::next_id() const {
  if (at_ + 1 < (*runs_)[run_].count) return (*runs_)[run_].at(at_ + 1)[0];
  return run_ + 1 < runs_->size() ? (*runs_)[run_ + 1].first[0] : kLast;
}

void PhaseCursor::next() {
  if (++at_ == (*runs_)[run_].count) {
    at_ = 0;
    if (++run_ == runs_->size()) {
      run_ = 0;
      if (++iteration_ == iterations_) return;
    }
  }
  now_ = overlay::to_phase((*runs_)[run_].at(at_));
}

}  // namespace buda::sim
