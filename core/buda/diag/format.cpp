// SPDX-License-Identifier: Apache-2.0
// Rendering of diagnostics.
#include <buda/diag/format.hpp>

#include <buda/base/printable.hpp>
#include <buda/base/text.hpp>

namespace buda {
namespace {

constexpr std::size_t kLongestExcerpt = 120;

std::string place(const SourceLoc& loc, const std::string& program) {
  std::string out;
  if (loc.file.empty()) return program.empty() ? "" : cat(program, ": ");
  out = printable(loc.file);
  if (loc.line != 0) out += cat(':', loc.line);
  if (loc.line != 0 && loc.column != 0) out += cat(':', loc.column);
  return cat(out, ": ");
}

std::string excerpt(const SourceLoc& loc, const SourceLineFn& source_line) {
  if (!source_line || loc.file.empty() || loc.line == 0) return "";
  auto line = source_line(loc.file, loc.line);
  if (!line || !is_valid_utf8(*line)) return "";
  std::string number = cat(loc.line);
  std::string gutter = cat(std::string(number.size() < 5 ? 5 - number.size() : 0, ' '), number, " | ");
  // A long line is shown around the column that matters.
  std::size_t column = loc.column == 0 ? 0 : loc.column - 1;
  if (column > line->size()) column = line->size();
  std::size_t begin = column > kLongestExcerpt / 2 && line->size() > kLongestExcerpt ? column - kLongestExcerpt / 2 : 0;
  auto continuation = [&](std::size_t i) { return i < line->size() && (static_cast<unsigned char>((*line)[i]) & 0xc0) == 0x80; };
  while (begin > 0 && continuation(begin)) --begin;
  std::size_t end = std::min(line->size(), begin + kLongestExcerpt);
  while (continuation(end)) --end;
  std::string shown =
      cat(begin > 0 ? "..." : "", printable(std::string_view(*line).substr(begin, end - begin)), end < line->size() ? "..." : "");
  std::string out = cat(gutter, shown, '\n');
  if (loc.column != 0) {
    std::size_t caret = printable(std::string_view(*line).substr(begin, column - begin)).size() + (begin > 0 ? 3 : 0);
    out += cat(std::string(gutter.size() - 2, ' '), "| ", std::string(caret, ' '), "^\n");
  }
  return out;
}

std::string json_string(std::string_view text) {
  std::string out = "\"";
  bool utf8 = is_valid_utf8(text);
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7f || (!utf8 && byte >= 0x80)) {
      constexpr char kHex[] = "0123456789abcdef";
      out += "\\u00";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  return out + '"';
}

// The fields of a place, for an object that may have others before and after.
void add_place(std::string& out, const SourceLoc& loc) {
  if (!loc.file.empty()) out += cat(", \"file\": ", json_string(loc.file));
  if (loc.line != 0) out += cat(", \"line\": ", loc.line);
  if (loc.column != 0) out += cat(", \"column\": ", loc.column);
}

}  // namespace

const char* severity_name(Severity severity) {
  switch (severity) {
    case Severity::note:
      return "note";
    case Severity::warning:
      return "warning";
    case Severity::error:
      return "error";
  }
  return "";
}

const char* fault_name(Fault fault) {
  switch (fault) {
    case Fault::input:
      return "input";
    case Fault::usage:
      return "usage";
    case Fault::fit:
      return "fit";
    case Fault::mismatch:
      return "mismatch";
    case Fault::bug:
      return "bug";
    case Fault::interrupted:
      return "interrupted";
  }
  return "";
}

std::string format_text(const Diagnostic& d, const DiagnosticStyle& style, const SourceLineFn& source_line) {
  std::string label = cat(severity_name(d.severity), ':');
  if (style.color) {
    const char* color = d.severity == Severity::error ? "\x1b[1;31m" : d.severity == Severity::warning ? "\x1b[1;35m" : "\x1b[1;36m";
    label = cat(color, label, "\x1b[0m");
  }
  std::string code = d.code.empty() ? "" : cat(" [", d.code, ']');
  std::string out = cat(place(d.loc, style.program), label, ' ', printable(d.message), code, '\n');
  out += excerpt(d.loc, source_line);
  for (const auto& n : d.notes) out += cat(place(n.loc, style.program), "note: ", printable(n.message), '\n');
  if (!d.hint.empty()) out += cat("hint: ", printable(d.hint), '\n');
  return out;
}

std::string format_json(const Diagnostic& d) {
  std::string out = cat("{\"severity\": \"", severity_name(d.severity), '"');
  if (!d.code.empty()) out += cat(", \"code\": ", json_string(d.code));
  if (d.severity == Severity::error) out += cat(", \"fault\": \"", fault_name(d.fault), '"');
  add_place(out, d.loc);
  if (!d.node.empty()) out += cat(", \"node\": ", json_string(d.node));
  out += cat(", \"message\": ", json_string(d.message));
  if (!d.notes.empty()) {
    out += ", \"notes\": [";
    for (std::size_t i = 0; i < d.notes.size(); ++i) {
      out += cat(i == 0 ? "" : ", ", "{\"message\": ", json_string(d.notes[i].message));
      add_place(out, d.notes[i].loc);
      out += '}';
    }
    out += ']';
  }
  if (!d.hint.empty()) out += cat(", \"hint\": ", json_string(d.hint));
  if (!d.data.empty()) {
    out += ", \"data\": {";
    for (std::size_t i = 0; i < d.data.size(); ++i)
      out += cat(i == 0 ? "" : ", ", json_string(d.data[i].first), ": ", json_string(d.data[i].second));
    out += '}';
  }
  return out + "}\n";
}

}  // namespace buda
