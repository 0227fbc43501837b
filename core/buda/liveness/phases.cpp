// SPDX-License-Identifier: Apache-2.0
// Phases one by one, or all as one.
#include <buda/liveness/phases.hpp>

namespace buda::liveness {

Phases::Phases(const overlay::Stream& program) : cursor_(program), messages_(program.messages()) {}

void Phases::merge() {
  if (done()) return;
  merged_ = true;
  whole_ = cursor_.now();
  whole_.messages = messages_;
}

void Phases::next() {
  if (merged_) {
    passed_ = true;
  } else {
    cursor_.next();
  }
}

}  // namespace buda::liveness
