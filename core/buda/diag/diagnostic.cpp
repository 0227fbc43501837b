// SPDX-License-Identifier: Apache-2.0
// Constructors of the common kinds of diagnostics.
#include <buda/diag/diagnostic.hpp>

namespace buda {
namespace {

Diagnostic make(Severity severity, Fault fault, std::string_view code, SourceLoc loc, std::string message) {
  Diagnostic d;
  d.severity = severity;
  d.fault = fault;
  d.code = code;
  d.loc = std::move(loc);
  d.message = std::move(message);
  return d;
}

}  // namespace

Diagnostic::Diagnostic() = default;
Diagnostic::Diagnostic(const Diagnostic&) = default;
Diagnostic::Diagnostic(Diagnostic&&) noexcept = default;
Diagnostic& Diagnostic::operator=(const Diagnostic&) = default;
Diagnostic& Diagnostic::operator=(Diagnostic&&) noexcept = default;
Diagnostic::~Diagnostic() = default;

Diagnostic input_error(std::string_view code, SourceLoc loc, std::string message) {
  return make(Severity::error, Fault::input, code, std::move(loc), std::move(message));
}
Diagnostic usage_error(std::string_view code, std::string message) {
  return make(Severity::error, Fault::usage, code, {}, std::move(message));
}
Diagnostic internal_error(std::string message) { return make(Severity::error, Fault::bug, "BUG", {}, std::move(message)); }
Diagnostic warning(std::string_view code, SourceLoc loc, std::string message) {
  return make(Severity::warning, Fault::input, code, std::move(loc), std::move(message));
}
Diagnostic note(std::string_view code, SourceLoc loc, std::string message) {
  return make(Severity::note, Fault::input, code, std::move(loc), std::move(message));
}

Diagnostic does_not_fit(std::string_view code, std::string node, std::string resource, std::uint64_t needed, std::uint64_t available,
                        std::string message, std::string hint) {
  Diagnostic d = make(Severity::error, Fault::fit, code, {}, std::move(message));
  d.node = std::move(node);
  d.hint = std::move(hint);
  d.data = {{"resource", std::move(resource)}, {"needed", std::to_string(needed)}, {"available", std::to_string(available)}};
  return d;
}

}  // namespace buda
