// Steps through runs of phases.
#include <buda/liveness/phases.hpp>

namespace buda::liveness {

Phases::Phases(const overlay::Stream& program) : runs_(&program.phases), iterations_(program.iterations), messages_(program.messages()) {
  if (runs_->empty()) {
    iterations_ = 0;
    return;
  }
  now_ = overlay::to_phase(runs_->front().first);
}

void Phases::merge() {
  if (done()) return;
  merged_ = true;
  iterations_ = 1;
  now_.messages = messages_;
}

std::int64_t Phases::next_id() const {
  if (merged_) return kLast;
  if (at_ + 1 < (*runs_)[run_].count) return (*runs_)[run_].at(at_ + 1)[0];
  return run_ + 1 < runs_->size() ? (*runs_)[run_ + 1].first[0] : kLast;
}

void Phases::next() {
  if (merged_) {
    ++iteration_;
    return;
  }
  if (++at_ == (*runs_)[run_].count) {
    at_ = 0;
    if (++run_ == runs_->size()) {
      run_ = 0;
      if (++iteration_ == iterations_) return;
    }
  }
  now_ = overlay::to_phase((*runs_)[run_].at(at_));
}

}  // namespace buda::liveness
