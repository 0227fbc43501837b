// Reads pipegen files.
//
// Files of big models have tens of megabytes, nearly all of it lines `  key: value`, so lines are taken apart directly; a document object
// model of YAML takes a hundred times the time and memory. A file that uses more of YAML than that is read again with the YAML parser.
#include <buda/pipes/pipegen_file.hpp>

#include <buda/base/text.hpp>
#include <buda/io/yaml.hpp>
#include <buda/pipes/pipegen_values.hpp>

namespace buda::pipes {
namespace {

constexpr std::size_t kMostForYaml = 8u << 20;

struct Line {
  std::string_view key, value;
  std::string unquoted;  // what `value` refers to when it stood in quotes
  std::uint32_t key_column = 0, value_column = 0;
  bool indented = false;
};

// The value up to a comment (" #").
std::string_view without_comment(std::string_view value) {
  if (value.starts_with('#')) return {};
  auto at = value.find(" #");
  return at == std::string_view::npos ? value : value.substr(0, at);
}

// Takes a line `key: value` apart; false for anything else that YAML may mean.
bool take_apart(std::string_view text, Line& line) {
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
    line.value = line.unquoted;
    return !line.value.empty();
  }
  line.value = trim(without_comment(rest));
  line.key_column = static_cast<std::uint32_t>(indent + 1);
  line.value_column =
      static_cast<std::uint32_t>(line.value.empty() ? colon + 2 : static_cast<std::size_t>(line.value.data() - text.data()) + 1);
  if (line.value.empty()) return true;
  if (line.value.front() == '[') return line.value.back() == ']';
  return line.value.find_first_of("\"'{}&*!|>@`\t") == std::string_view::npos;
}

enum class Outcome : std::uint8_t { done, irregular };

// The regular form. `where`: the line that is not, with `irregular`.
Outcome read_lines(std::string_view text, PipegenValues& values, std::uint32_t& where) {
  bool inside = false;
  std::uint32_t number = 0;
  while (!text.empty() && !values.full()) {
    ++number;
    where = number;
    auto end = text.find('\n');
    std::string_view raw = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (!raw.empty() && raw.back() == '\r') raw.remove_suffix(1);
    if (trim(raw).empty() || trim(raw).front() == '#') continue;
    if (raw == "---" || raw == "...") {
      values.end();
      inside = false;
      continue;
    }
    Line line;
    if (!take_apart(raw, line)) return Outcome::irregular;
    if (line.indented) {
      if (!inside || line.value.empty()) return Outcome::irregular;
      values.set(line.key, line.value, number, line.key_column, line.value_column);
      continue;
    }
    inside = false;
    if (line.key == "graph_name") {
      values.end();
      values.begin_graph(line.value);
    } else if (line.value.empty() && values.begin(line.key, number, line.key_column)) {
      inside = true;
    } else {
      return Outcome::irregular;
    }
  }
  return Outcome::done;
}

void read_entity(const std::string& key, const io::Node& node, PipegenValues& values) {
  SourceLoc at = node.loc();
  if (key == "graph_name") {
    values.begin_graph(node.text());
    return;
  }
  if (!values.begin(key, at.line, at.column)) {
    values.error("PG003", at.line, at.column,
                 cat("unknown key '", key.substr(0, 80), "'; a document has graph_name, buffer_<id> or pipe_<id>"));
    return;
  }
  if (!node.is_map()) {
    values.error("PG007", at.line, at.column, cat("'", key.substr(0, 80), "': expected a map, found ", node.describe()));
    return;
  }
  for (std::size_t i = 0; i < node.size(); ++i) {
    const io::Node& item = node.items()[i];
    SourceLoc place = item.loc();
    std::string text = item.is_scalar() ? item.text() : io::yaml_flow(item);
    values.set(node.keys()[i], text, place.line, place.column, place.column);
  }
}

}  // namespace

Result<PipeGraph> parse_pipegen(std::string_view text, const std::string& file) {
  std::uint32_t line = 0;
  PipegenValues values(file);
  if (read_lines(text, values, line) == Outcome::done) return std::move(values).finish();
  if (text.size() > kMostForYaml) {
    Diagnostic d =
        input_error("PG001", {file, line, 1}, "this line is not of the form 'key: value' with a number, a name or a list on one line");
    d.hint = "files of more than 8 MiB must have the form in which net2pipe writes them";
    return d;
  }
  BUDA_ASSIGN(auto documents, io::parse_yaml_stream(text, file));
  PipegenValues again(file);
  for (const io::Node& document : documents) {
    if (document.is_null()) continue;
    SourceLoc at = document.loc();
    if (!document.is_map()) {
      again.error("PG003", at.line, at.column,
                  cat("expected a map with graph_name, buffer_<id> or pipe_<id>, found ", document.describe()));
      continue;
    }
    for (std::size_t i = 0; i < document.size() && !again.full(); ++i) read_entity(document.keys()[i], document.items()[i], again);
  }
  return std::move(again).finish();
}

}  // namespace buda::pipes
