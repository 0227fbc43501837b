// SPDX-License-Identifier: Apache-2.0
// A reader of regular YAML.
//
// What is regular:
//   - block maps and block lists, in all the ways they nest (`- a: 1`, `- - x`, a list at the column of its key);
//   - flow maps and flow lists, over any number of lines, and pairs in flow lists (`[a: 1, b]`);
//   - plain and quoted scalars on one line, of at most 1024 bytes where they are keys;
//   - comments after a blank or at the start of a line; values left out in block maps and lists; documents separated by `---`.
// What is not: anchors, aliases, tags, block scalars, scalars over several lines, `? ` keys, keys that are null, lists or maps, values
// left out in flow, directives, `...`, tabs and other control characters, rare escapes; and everything that is no YAML.
//
// The rules are yaml-cpp's, not the specification's, where the two differ and a file can show it: `?` ends a plain scalar in flow, the
// columns of flow content do not matter, and a value that is left out stands where the next token does. Wherever yaml-cpp does something
// surprising with a text, the text is not regular. The reader therefore never decides that a text is wrong; it steps back at the first
// byte that it does not know, and the whole text is read by yaml-cpp. tests/unit/io/yaml_readers_test.cpp and the fuzz target `yaml`
// compare the two.
//
// One pass over the bytes with one byte of lookahead (three for `---`). A collection's members are gathered on a stack shared by all
// open collections and moved into place when it closes, so that every vector is allocated once and in its final size. Recursion is as
// deep as the nesting, which is limited.
#include <buda/io/yaml_regular.hpp>

#include <buda/io/yaml_scalars.hpp>

#include <algorithm>
#include <array>
#include <iterator>

namespace buda::io {
namespace {

// yaml-cpp takes a `:` for the end of a key only this near to the key's beginning.
constexpr std::ptrdiff_t kLongestKey = 1024;
// Up to this many keys are compared each with each; more are sorted.
constexpr std::size_t kSmallMappingKeys = 16;

// The column of what ends a document, left of all others.
constexpr int kEnd = -1;

enum : std::uint8_t {
  kStopsBlock = 1,  // a plain scalar in block context has to look at it
  kStopsFlow = 2,   // the same in flow context
  kBegins = 4,      // may begin a plain scalar
  kWord = 8,        // may follow a '-' that begins a plain scalar
};

constexpr std::array<std::uint8_t, 256> kClasses = [] {
  std::array<std::uint8_t, 256> classes{};
  for (int c = 0x21; c < 256; ++c) classes[static_cast<std::size_t>(c)] = kBegins;
  for (char c : std::string_view("-?:,[]{}#&*!|>'\"%@`")) classes[static_cast<unsigned char>(c)] = 0;
  for (char c : std::string_view("\n:#")) classes[static_cast<unsigned char>(c)] |= kStopsBlock | kStopsFlow;
  for (char c : std::string_view(",?[]{}")) classes[static_cast<unsigned char>(c)] |= kStopsFlow;
  for (int c = 0; c < 128; ++c) {
    bool word = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' || c == '$' || c == '/';
    if (word) classes[static_cast<std::size_t>(c)] |= kWord;
  }
  return classes;
}();

bool is(char c, unsigned what) { return (kClasses[static_cast<unsigned char>(c)] & what) != 0; }

// A scalar as it stands in the text.
struct Scalar {
  Node::Kind kind = Node::Kind::null;
  std::string text;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  const char* begin = nullptr;
  bool quoted = false;
};

// A place in the text, and the way from token to token. Functions that return bool return false where the text is not regular; nothing is
// of use then.
class TextCursor {
 public:
  TextCursor(std::string_view text, const std::string* file)
      : at_(text.data()), end_(text.data() + text.size()), line_begin_(text.data()), file_(file) {}

 protected:
  bool at_end() const { return at_ == end_; }
  char peek() const { return at_ == end_ ? '\0' : *at_; }
  char peek_next() const { return end_ - at_ < 2 ? '\0' : at_[1]; }
  // There are no other control characters in the text, so 0 is its end.
  static bool is_blank_or_end(char c) { return c == ' ' || c == '\n' || c == '\0'; }
  bool at_line_begin() const { return at_ == line_begin_; }
  bool after_blank() const { return at_line_begin() || at_[-1] == ' '; }
  bool at_separator() const {
    return at_line_begin() && end_ - at_ >= 3 && at_[0] == '-' && at_[1] == '-' && at_[2] == '-' &&
           (end_ - at_ == 3 || is_blank_or_end(at_[3]));
  }
  // The column of the token here.
  int column() const { return at_end() || at_separator() ? kEnd : static_cast<int>(at_ - line_begin_); }
  bool at_list_item() const { return peek() == '-' && is_blank_or_end(peek_next()); }

  std::uint32_t column_number() const { return at_end() ? 1 : static_cast<std::uint32_t>(at_ - line_begin_) + 1; }
  void place(Node& node) const { node.set_loc(file_, line_, column_number()); }

  // ---- between tokens

  void skip_spaces() {
    while (at_ != end_ && *at_ == ' ') ++at_;
  }
  void skip_line() {
    while (at_ != end_ && *at_ != '\n') ++at_;
  }
  void next_line() {
    ++at_;
    ++line_;
    line_begin_ = at_;
  }
  // To the next token, over blanks, comments and line ends.
  bool to_token() {
    while (true) {
      skip_spaces();
      if (at_end()) return true;
      if (*at_ == '#') {
        if (!after_blank()) return false;
        skip_line();
      } else if (*at_ == '\n') {
        next_line();
      } else {
        return true;
      }
    }
  }
  // Nothing but a comment on the rest of this line; stays on it.
  bool line_ends() {
    skip_spaces();
    if (peek() == '#') {
      if (!after_blank()) return false;
      skip_line();
    }
    return at_end() || *at_ == '\n';
  }

  const char* at_;
  const char* end_;
  const char* line_begin_;
  std::uint32_t line_ = 1;
  const std::string* file_;
};

class ScalarReader : public TextCursor {
 public:
  using TextCursor::TextCursor;

 protected:
  template <unsigned kStops>
  bool plain(Scalar& out) {
    char first = peek();
    if (first == '-' ? !is(peek_next(), kWord) : !is(first, kBegins)) return false;
    if (first == '.' && at_line_begin()) return false;  // may be the end of a document
    begin(out);
    const char* stop = at_ + 1;
    while (true) {
      while (stop != end_ && !is(*stop, kStops)) ++stop;
      if (stop == end_ || *stop == '\n') break;
      char next = stop + 1 == end_ ? '\0' : stop[1];
      if (*stop == ':') {
        if (is_blank_or_end(next) || (kStops == kStopsFlow && (next == ',' || next == ']' || next == '}'))) break;
      } else if (*stop == '#') {
        if (stop[-1] == ' ') break;
      } else if (*stop == ',' || *stop == ']' || *stop == '}') {
        break;
      } else {
        return false;
      }
      ++stop;
    }
    const char* last = stop;
    while (last[-1] == ' ') --last;
    std::string_view text(at_, static_cast<std::size_t>(last - at_));
    out.kind = plain_kind(text);
    out.text = canonical_text(out.kind, text);
    at_ = stop;
    return true;
  }

  bool quoted(Scalar& out) {
    begin(out);
    out.quoted = true;
    out.kind = Node::Kind::string;
    char quote = *at_++;
    const char* from = at_;
    while (true) {
      while (at_ != end_ && *at_ != quote && *at_ != '\\' && *at_ != '\n') ++at_;
      if (at_end() || *at_ == '\n') return false;
      out.text.append(from, at_);
      if (*at_ == quote) {
        ++at_;
        if (quote == '"' || peek() != '\'') return true;
      } else if (quote == '"') {
        ++at_;
        if (!escape(out.text)) return false;
        from = at_;
        continue;
      }
      // A quote that stood doubled, or a backslash in single quotes.
      out.text += *at_++;
      from = at_;
    }
  }

  // What follows a backslash.
  bool escape(std::string& out) {
    char c = peek();
    if (c == 'n') {
      out += '\n';
    } else if (c == 't') {
      out += '\t';
    } else if (c == '"' || c == '\\' || c == '/') {
      out += c;
    } else {
      return false;
    }
    ++at_;
    return true;
  }

  void begin(Scalar& out) const {
    out.line = line_;
    out.column = column_number();
    out.begin = at_;
  }
  bool at_quote() const { return peek() == '"' || peek() == '\''; }
  bool block_scalar(Scalar& out) { return at_quote() ? quoted(out) : plain<kStopsBlock>(out); }
  bool flow_scalar(Scalar& out) { return at_quote() ? quoted(out) : plain<kStopsFlow>(out); }
};

class Reader : public ScalarReader {
 public:
  Reader(std::string_view text, const std::string* file, const YamlOptions& options)
      : ScalarReader(text, file), repeated_keys_(options.repeated_keys) {}

  bool documents(std::vector<Node>& out) {
    if (!to_token()) return false;
    bool separated = false;
    while (true) {
      if (at_separator()) {
        at_ += 3;
        separated = true;
        if (!line_ends() || !to_token()) return false;
      }
      if (at_end()) return !separated;
      if (column() == kEnd) return false;  // an empty document
      if (!block_node(kEnd, 0)) return false;
      out.push_back(std::move(nodes_.back()));
      nodes_.clear();
      if (column() != kEnd) return false;
      if (at_end()) return true;
    }
  }

 private:
  void push_scalar(Scalar&& scalar) {
    nodes_.push_back(Node::scalar(scalar.kind, std::move(scalar.text)));
    nodes_.back().set_loc(file_, scalar.line, scalar.column);
  }
  // A value that is left out, at the place of the next token. At the end of a text yaml-cpp gives it column 1, but sometimes another one
  // where the last line has nothing but blanks or a comment and no line end.
  bool push_null() {
    if (at_end()) {
      const char* first = std::find_if(line_begin_, end_, [](char c) { return c != ' '; });
      if (at_ != line_begin_ && (first == end_ || *first == '#')) return false;
    }
    nodes_.push_back(Node::null());
    place(nodes_.back());
    return true;
  }

  // The `:` after a key, which is next.
  bool key(Scalar&& scalar) {
    if (scalar.kind == Node::Kind::null || at_ - scalar.begin > kLongestKey) return false;
    ++at_;
    keys_.push_back(std::move(scalar.text));
    return true;
  }

  // ---- collections: their members are the last ones on the stacks

  void close_list(Node& list, std::size_t first) {
    auto begin = nodes_.begin() + static_cast<std::ptrdiff_t>(first);
    list.items().assign(std::make_move_iterator(begin), std::make_move_iterator(nodes_.end()));
    nodes_.erase(begin, nodes_.end());
    nodes_.push_back(std::move(list));
  }
  bool close_map(Node& map, std::size_t first, std::size_t first_key) {
    if (!repeated_keys_ && !differ(first_key)) return false;
    std::size_t count = keys_.size() - first_key;
    for (std::size_t i = 0; i < count; ++i) map.add(std::move(keys_[first_key + i]), std::move(nodes_[first + i]));
    keys_.resize(first_key);
    nodes_.erase(nodes_.begin() + static_cast<std::ptrdiff_t>(first), nodes_.end());
    nodes_.push_back(std::move(map));
    return true;
  }
  bool differ(std::size_t first_key) const {
    auto begin = keys_.begin() + static_cast<std::ptrdiff_t>(first_key);
    if (keys_.size() - first_key <= kSmallMappingKeys) {
      for (auto key = begin; key != keys_.end(); ++key)
        if (std::find(begin, key, *key) != key) return false;
      return true;
    }
    std::vector<std::string_view> sorted(begin, keys_.end());
    std::sort(sorted.begin(), sorted.end());
    return std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
  }

  // ---- block context; `depth` counts the collections around

  // The node that begins here; `parent` is the column of the collection around.
  bool block_node(int parent, std::size_t depth) {
    if (peek() == '[' || peek() == '{') return flow_node(depth) && line_ends() && to_token();
    int here = column();
    if (at_list_item()) return block_list(here, depth);
    Scalar scalar;
    if (!block_scalar(scalar)) return false;
    if (scalar.quoted) skip_spaces();
    if (peek() == ':') return block_map(here, std::move(scalar), depth);
    return end_of_scalar(std::move(scalar), parent);
  }

  // Text deeper than the collection's column continues a plain scalar; a comment ends it.
  bool end_of_scalar(Scalar&& scalar, int parent) {
    bool may_go_on = !scalar.quoted && peek() != '#';
    push_scalar(std::move(scalar));
    if (!line_ends()) return false;
    while (!at_end() && may_go_on) {
      if (*at_ == '\n') {
        next_line();
        skip_spaces();
      } else {
        if (*at_ != '#' && at_ - line_begin_ > parent) return false;
        may_go_on = false;
      }
    }
    return to_token();
  }

  bool block_list(int here, std::size_t depth) {
    if (depth >= kDeepestYaml) return false;
    Node list = Node::list();
    place(list);
    std::size_t first = nodes_.size();
    do {
      ++at_;
      skip_spaces();
      bool empty_line = peek() == '\n' || peek() == '#' || at_end();
      if (!to_token()) return false;
      bool item_follows = !empty_line || column() > here;
      if (!(item_follows ? block_node(here, depth + 1) : push_null())) return false;
    } while (column() == here && at_list_item());
    close_list(list, first);
    return column() <= here;
  }

  bool block_map(int here, Scalar&& first_key_scalar, std::size_t depth) {
    if (depth >= kDeepestYaml) return false;
    Node map = Node::map();
    map.set_loc(file_, first_key_scalar.line, first_key_scalar.column);
    std::size_t first = nodes_.size(), first_key = keys_.size();
    Scalar scalar = std::move(first_key_scalar);
    while (true) {
      // The `:` has to be followed by a blank, also after quotes.
      if (peek() != ':' || !is_blank_or_end(peek_next()) || !key(std::move(scalar))) return false;
      if (!block_value(here, depth)) return false;
      if (column() != here) break;
      scalar = {};
      if (!block_scalar(scalar)) return false;
      if (scalar.quoted) skip_spaces();
    }
    return close_map(map, first, first_key) && column() < here;
  }

  // What stands behind the `:` of a map at column `here`, or below it.
  bool block_value(int here, std::size_t depth) {
    skip_spaces();
    char c = peek();
    if (c == '\n' || c == '#' || at_end()) {
      if (!to_token()) return false;
      if (column() > here) return block_node(here, depth + 1);
      if (column() == here && at_list_item()) return block_list(here, depth + 1);
      return push_null();
    }
    if (c == '[' || c == '{') return flow_node(depth + 1) && line_ends() && to_token();
    Scalar scalar;
    return block_scalar(scalar) && peek() != ':' && end_of_scalar(std::move(scalar), here);
  }

  // ---- flow context

  bool flow_node(std::size_t depth) {
    if (peek() == '[') return flow_list(depth);
    if (peek() == '{') return flow_map(depth);
    Scalar scalar;
    if (!flow_scalar(scalar)) return false;
    push_scalar(std::move(scalar));
    return true;
  }

  // After a member: a `,`, or the `close` that ends the collection and is left.
  bool flow_separator(char close) {
    if (!to_token()) return false;
    if (peek() == ',') {
      ++at_;
      return to_token();
    }
    return peek() == close;
  }

  bool flow_list(std::size_t depth) {
    if (depth >= kDeepestYaml) return false;
    Node list = Node::list();
    place(list);
    std::size_t first = nodes_.size();
    ++at_;
    if (!to_token()) return false;
    while (peek() != ']') {
      if (!flow_list_member(depth + 1) || !flow_separator(']')) return false;
    }
    ++at_;
    close_list(list, first);
    return true;
  }

  bool flow_list_member(std::size_t depth) {
    if (peek() == '[' || peek() == '{') return flow_node(depth);
    Scalar scalar;
    if (!flow_scalar(scalar)) return false;
    if (scalar.quoted) skip_spaces();
    if (peek() != ':') {
      push_scalar(std::move(scalar));
      return true;
    }
    // A pair is a map of one member.
    if (depth >= kDeepestYaml) return false;
    Node map = Node::map();
    map.set_loc(file_, scalar.line, scalar.column);
    std::size_t first = nodes_.size(), first_key = keys_.size();
    return key(std::move(scalar)) && to_token() && flow_node(depth + 1) && close_map(map, first, first_key);
  }

  bool flow_map(std::size_t depth) {
    if (depth >= kDeepestYaml) return false;
    Node map = Node::map();
    place(map);
    std::size_t first = nodes_.size(), first_key = keys_.size();
    ++at_;
    if (!to_token()) return false;
    while (peek() != '}') {
      Scalar scalar;
      if (!flow_scalar(scalar)) return false;
      if (scalar.quoted) skip_spaces();
      if (peek() != ':' || !key(std::move(scalar)) || !to_token()) return false;
      if (!flow_node(depth + 1) || !flow_separator('}')) return false;
    }
    ++at_;
    return close_map(map, first, first_key);
  }

  bool repeated_keys_;
  std::vector<Node> nodes_;
  std::vector<std::string> keys_;
};

bool has_control_characters(std::string_view text) {
  bool found = false;
  for (char c : text) found |= static_cast<unsigned char>(c) < 0x20 && c != '\n';
  return found;
}

}  // namespace

std::optional<std::vector<Node>> read_regular_yaml(std::string_view text, const std::string& file, const YamlOptions& options) {
  if (has_control_characters(text) || text.starts_with("\xef\xbb\xbf")) return std::nullopt;
  Reader reader(text, intern_file_name(file), options);
  std::vector<Node> out;
  if (!reader.documents(out)) return std::nullopt;
  return out;
}

}  // namespace buda::io
