// SPDX-License-Identifier: Apache-2.0
// What a tool has to tell about its input: a diagnostic is data, and only tool_main turns it into text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)

namespace buda {

enum class Severity { note, warning, error };

// Whose fault an error is; decides the exit code of the tool that ends with it.
enum class Fault {
  input,        // the input or the environment is wrong: exit 1
  usage,        // the command line is wrong: exit 2
  fit,          // valid, but does not fit the device: exit 3
  mismatch,     // ran, but the result differs from what was expected: exit 4
  bug,          // our fault: exit 70
  interrupted,  // stopped by a signal: exit 130
};

// A place in an input file. Line and column count from 1; 0 means "not known". Columns count bytes.
struct SourceLoc {
  std::string file;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  friend bool operator==(const SourceLoc&, const SourceLoc&) = default;
};

// A further place or fact that explains a diagnostic.
struct Note {
  SourceLoc loc;
  std::string message;
};

// code: a stable identifier such as "NL021", one per rule; the pages of the tools and formats list them.
// node: name of the graph node, op or queue concerned, if there is one.
// hint: what the reader can do about it, as a command or a sentence; may be empty.
// data: facts for programs (needed, available, resource, …), written by --diagnostics=json.
// Its special members are not inline: nearly every function can fail, and none is slow because of it.
struct Diagnostic {
  Diagnostic();
  Diagnostic(const Diagnostic&);
  Diagnostic(Diagnostic&&) noexcept;
  Diagnostic& operator=(const Diagnostic&);
  Diagnostic& operator=(Diagnostic&&) noexcept;
  ~Diagnostic();

  Severity severity = Severity::error;
  Fault fault = Fault::input;
  std::string code;
  SourceLoc loc;
  std::string node;
  std::string message;
  std::vector<Note> notes;
  std::string hint;
  std::vector<std::pair<std::string, std::string>> data;
};

// Shorthand for the common forms; further fields are set on the result.
Diagnostic input_error(std::string_view code, SourceLoc loc, std::string message);
Diagnostic usage_error(std::string_view code, std::string message);
Diagnostic internal_error(std::string message);
Diagnostic warning(std::string_view code, SourceLoc loc, std::string message);
Diagnostic note(std::string_view code, SourceLoc loc, std::string message);

// "resource 'l1' of op 'mm': 900 KiB needed, 512 KiB available" as data and as a message; fault is `fit`.
Diagnostic does_not_fit(std::string_view code, std::string node, std::string resource, std::uint64_t needed, std::uint64_t available,
                        std::string message, std::string hint);

}  // namespace buda

#pragma GCC visibility pop
