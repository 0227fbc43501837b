// SPDX-License-Identifier: Apache-2.0
// Diagnostics as text with GCC's first line, and as JSON lines.
#pragma once

#include <buda/diag/diagnostic.hpp>

#include <functional>
#include <optional>
#include <string>

#pragma GCC visibility push(default)

namespace buda {

// Gives line `line` (from 1) of a file that a diagnostic points into, without its newline; nothing when it cannot be shown.
using SourceLineFn = std::function<std::optional<std::string>(const std::string& file, std::uint32_t line)>;

struct DiagnosticStyle {
  bool color = false;
  std::string program;  // stands in for the place when a diagnostic has none: "balancer: error: …"
};

// Several lines, each ended by '\n': file:line:col: severity: message [code], the source line with a caret, notes, hint.
// Control characters of the input never reach the terminal.
std::string format_text(const Diagnostic& d, const DiagnosticStyle& style, const SourceLineFn& source_line);

// One JSON object and '\n'. Keys: severity, code, fault, file, line, column, node, message, notes, hint, data; empty ones are left out.
std::string format_json(const Diagnostic& d);

const char* severity_name(Severity severity);
const char* fault_name(Fault fault);

}  // namespace buda

#pragma GCC visibility pop
