// SPDX-License-Identifier: Apache-2.0
// Reads pipegen files.
//
// Files of big models have tens of megabytes, nearly all of it lines `key: value`, so lines are taken apart directly; a document object
// model of YAML takes a hundred times the time and memory. A document (a buffer or a pipe, in general) that uses more of YAML than that is
// read with the YAML parser, by itself.
#include <buda/pipes/format/pipegen_file.hpp>

#include <buda/base/text.hpp>
#include <buda/io/yaml.hpp>
#include <buda/pipes/format/pipegen_values.hpp>

#include <optional>
#include <vector>

namespace buda::pipes {
namespace {

constexpr std::size_t kMaxYamlBytes = 8u << 20;  // of one document

struct TextLine {
  std::string_view key, plain;
  std::optional<std::string> unquoted;  // the value, when it stood in quotes
  std::uint32_t number = 0, key_column = 0, value_column = 0;
  bool indented = false;
  std::string_view value() const { return unquoted ? *unquoted : plain; }
};

// The value up to a comment (" #").
std::string_view without_comment(std::string_view value) {
  if (value.starts_with('#')) return {};
  auto at = value.find(" #");
  return at == std::string_view::npos ? value : value.substr(0, at);
}

// Takes a line `key: value` apart; false for anything else that YAML may mean.
bool take_apart(std::string_view text, TextLine& line) {
  std::size_t indent = text.find_first_not_of(' ');
  line.indented = indent > 0;
  auto colon = text.find(':', indent);
  if (colon == std::string_view::npos || colon == indent) return false;
  line.key = text.substr(indent, colon - indent);
  if (line.key.find_first_of(" \t\"'[]{}#,&*!|>?@`%") != std::string_view::npos || line.key.front() == '-') return false;
  std::string_view rest = text.substr(colon + 1);
  if (!rest.empty() && rest.front() != ' ') return false;
  rest = trim(rest);
  if (rest.starts_with('"') || rest.starts_with('\'')) {
    auto node = io::parse_yaml(rest, "");
    if (!node || !node->is_string()) return false;
    line.unquoted = node->text();
    line.key_column = static_cast<std::uint32_t>(indent + 1);
    line.value_column = static_cast<std::uint32_t>(rest.data() - text.data()) + 1;
    return !line.unquoted->empty();
  }
  line.plain = trim(without_comment(rest));
  line.key_column = static_cast<std::uint32_t>(indent + 1);
  line.value_column =
      static_cast<std::uint32_t>(line.plain.empty() ? colon + 2 : static_cast<std::size_t>(line.plain.data() - text.data()) + 1);
  if (line.plain.empty()) return true;
  if (line.plain.front() == '[') return line.plain.back() == ']';
  return line.plain.find_first_of("\"'{}&*!|>@`\t") == std::string_view::npos;
}

// A document of the file.
struct Document {
  std::string_view text;  // with the marker before it
  std::uint32_t first_line = 1;
  std::vector<TextLine> lines;  // when it is regular
  std::uint32_t irregular = 0;  // the line that is not, or 0
};

// Cuts the next document off the text. `number`: lines so far.
void next_document(std::string_view& text, std::uint32_t& number, Document& document) {
  document.lines.clear();
  document.irregular = 0;
  document.first_line = number + 1;
  const char* begin = text.data();
  bool any = false;
  while (!text.empty()) {
    auto end = text.find('\n');
    std::string_view raw = text.substr(0, end);
    std::string_view after = text.substr(end == std::string_view::npos ? text.size() : end + 1);
    if (!raw.empty() && raw.back() == '\r') raw.remove_suffix(1);
    const bool marks = raw.starts_with("---") && (raw.size() == 3 || raw[3] == ' ' || raw[3] == '\t');
    if (marks && any) break;
    ++number;
    text = after;
    if (raw == "...") break;
    any = true;
    std::string_view bare = trim(raw);
    if (raw == "---" || bare.empty() || bare.front() == '#' || document.irregular != 0) continue;
    TextLine& line = document.lines.emplace_back();
    line.number = number;
    if (marks || !take_apart(raw, line)) document.irregular = number;
  }
  document.text = {begin, static_cast<std::size_t>(text.data() - begin)};
}

// Whether the lines are where they may be: keys below a header, headers without a value.
bool in_place(Document& document) {
  bool inside = false;
  for (const TextLine& line : document.lines) {
    document.irregular = line.number;
    if (line.indented) {
      if (!inside || line.value().empty()) return false;
      continue;
    }
    inside = line.key != "graph_name";
    if (inside && !(line.value().empty() && (line.key.starts_with("buffer_") || line.key.starts_with("pipe_")))) return false;
  }
  document.irregular = 0;
  return true;
}

void read_lines(const Document& document, PipegenValues& values) {
  for (const TextLine& line : document.lines) {
    if (line.indented) {
      values.set(line.key, line.value(), {line.number, line.key_column}, {line.number, line.value_column});
    } else if (line.key == "graph_name") {
      values.end();
      values.begin_graph(line.value(), {line.number, line.value_column});
    } else {
      values.begin(line.key, {line.number, line.key_column});
    }
  }
  values.end();
}

// `before`: lines of the file before the document.
FilePlace place(const io::Node& node, std::uint32_t before) { return {node.loc().line + before, node.loc().column}; }

void read_entity(const std::string& key, const io::Node& node, std::uint32_t before, PipegenValues& values, FileErrors& errors) {
  FilePlace at = place(node, before);
  if (key == "graph_name") {
    values.begin_graph(node.text(), at);
    return;
  }
  if (!values.begin(key, at)) {
    errors.add("PG003", at, cat("unknown key '", key.substr(0, 80), "'; a document has graph_name, buffer_<id> or pipe_<id>"));
    return;
  }
  if (!node.is_map()) {
    errors.add("PG007", at, cat("'", key.substr(0, 80), "': expected a map, found ", node.describe()));
    return;
  }
  for (std::size_t i = 0; i < node.size(); ++i) {
    const io::Node& item = node.items()[i];
    std::string text = item.is_scalar() ? item.text() : io::yaml_flow(item);
    values.set(node.keys()[i], text, place(item, before), place(item, before));
  }
  values.end();
}

Result<void> read_yaml(const Document& document, const std::string& file, PipegenValues& values, FileErrors& errors) {
  if (document.text.size() > kMaxYamlBytes) {
    Diagnostic d = input_error("PG001", {file, document.irregular, 1},
                               "this line is not of the form 'key: value' with a number, a name or a list on one line");
    d.hint = "documents of more than 8 MiB must have the form in which net2pipe writes them";
    return d;
  }
  const std::uint32_t before = document.first_line - 1;
  auto parsed = io::parse_yaml_stream(document.text, file);
  if (!parsed) {
    Failure moved;
    for (Diagnostic d : parsed.failure().diagnostics()) {
      if (d.loc.line > 0) d.loc.line += before;
      moved.add(std::move(d));
    }
    return moved;
  }
  for (const io::Node& top : *parsed) {
    if (top.is_null()) continue;
    if (!top.is_map()) {
      errors.add("PG003", place(top, before), cat("expected a map with graph_name, buffer_<id> or pipe_<id>, found ", top.describe()));
      continue;
    }
    for (std::size_t i = 0; i < top.size() && !errors.full(); ++i) read_entity(top.keys()[i], top.items()[i], before, values, errors);
  }
  return success();
}

// The device that the comment at the top names.
std::string device_of(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  if (!line.starts_with(kPipegenHeader) || !line.substr(kPipegenHeader.size()).starts_with(kPipegenDevice)) return "";
  return std::string(trim(line.substr(kPipegenHeader.size() + kPipegenDevice.size())));
}

}  // namespace

Result<PlacedGraph> parse_pipegen(std::string_view text, const std::string& file) {
  FileErrors errors(file);
  PipegenValues values(errors);
  const std::string device = device_of(text);
  Document document;
  std::uint32_t number = 0;
  while (!text.empty() && !errors.full()) {
    next_document(text, number, document);
    if (document.irregular == 0 && in_place(document)) {
      read_lines(document, values);
    } else {
      BUDA_TRY(read_yaml(document, file, values, errors));
    }
  }
  BUDA_ASSIGN(PlacedGraph placed, std::move(values).finish());
  placed.graph.device = device;
  return placed;
}

}  // namespace buda::pipes
