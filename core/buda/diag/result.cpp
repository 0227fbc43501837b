// SPDX-License-Identifier: Apache-2.0
// The list of errors behind a failure.
#include <buda/diag/result.hpp>

namespace buda {

void Failure::Delete::operator()(std::vector<Diagnostic>* list) const { delete list; }

Failure::Failure(Diagnostic&& d) { add(std::move(d)); }
Failure::Failure(const Diagnostic& d) { add(d); }
Failure::Failure(std::vector<Diagnostic> d) { diagnostics() = std::move(d); }
Failure::Failure(const Failure& other) { *this = other; }

Failure& Failure::operator=(const Failure& other) {
  if (this == &other) return *this;
  list_.reset();
  if (other.list_) diagnostics() = *other.list_;
  return *this;
}

void Failure::add(Diagnostic d) { diagnostics().push_back(std::move(d)); }

void Failure::add(Failure f) {
  if (!f.list_) return;
  for (auto& d : *f.list_) add(std::move(d));
}

bool Failure::empty() const { return !list_ || list_->empty(); }

const std::vector<Diagnostic>& Failure::diagnostics() const {
  static const std::vector<Diagnostic> kNone;
  return list_ ? *list_ : kNone;
}

std::vector<Diagnostic>& Failure::diagnostics() {
  if (!list_) list_.reset(new std::vector<Diagnostic>);
  return *list_;
}

}  // namespace buda
