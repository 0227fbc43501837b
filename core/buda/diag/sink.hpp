// SPDX-License-Identifier: Apache-2.0
// Where warnings and notes go while a stage works. Errors travel in Result; a sink never decides the outcome.
#pragma once

#include <buda/diag/diagnostic.hpp>

#include <vector>

#pragma GCC visibility push(default)

namespace buda {

class DiagSink {
 public:
  virtual ~DiagSink() = default;
  virtual void report(const Diagnostic& d) = 0;
};

// Keeps everything, in order. For tests and for stages that decide later what to pass on.
class CollectingSink final : public DiagSink {
 public:
  void report(const Diagnostic& d) override { diagnostics_.push_back(d); }
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  std::vector<Diagnostic> diagnostics_;
};

}  // namespace buda

#pragma GCC visibility pop
