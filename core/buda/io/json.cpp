// SPDX-License-Identifier: Apache-2.0
// JSON through nlohmann's SAX parser.
//
// Places. The SAX interface gives no positions, so the parser is fed through an iterator that counts lines and columns and notes
// where the last token began. The lexer reads at most one character beyond a token (after a number), and such a character is
// never the beginning of a value, so the noted place is right when the event arrives.
#include <buda/io/json.hpp>

#include <buda/base/text.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>

namespace buda::io {
namespace {

constexpr std::size_t kDeepest = 200;

struct Position {
  std::uint32_t line = 1;
  std::uint32_t column = 1;
};

struct Cursor {
  std::string_view text;
  std::size_t at = 0;
  Position here;
  Position token;
  bool in_string = false;
  bool escaped = false;
  bool in_word = false;

  void advance() {
    char c = text[at];
    if (in_string) {
      if (escaped) {
        escaped = false;
      } else if (c == '\\') {
        escaped = true;
      } else if (c == '"') {
        in_string = false;
      }
    } else if (c == '"') {
      token = here;
      in_string = true;
      in_word = false;
    } else if (c == '{' || c == '[') {
      token = here;
      in_word = false;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == ',' || c == ':' || c == '}' || c == ']') {
      in_word = false;
    } else if (!in_word) {
      token = here;
      in_word = true;
    }
    ++at;
    if (c == '\n') {
      ++here.line;
      here.column = 1;
    } else {
      ++here.column;
    }
  }
};

// An input iterator over the text that moves the shared cursor.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator() = default;
  explicit CountingIterator(Cursor* cursor) : cursor_(cursor) {}
  reference operator*() const { return cursor_->text[cursor_->at]; }
  CountingIterator& operator++() {
    cursor_->advance();
    return *this;
  }
  void operator++(int) { ++*this; }
  friend bool operator==(const CountingIterator& a, const CountingIterator& b) { return a.at_end() == b.at_end(); }
  friend bool operator!=(const CountingIterator& a, const CountingIterator& b) { return !(a == b); }

 private:
  bool at_end() const { return cursor_ == nullptr || cursor_->at >= cursor_->text.size(); }
  Cursor* cursor_ = nullptr;
};

class Builder {
 public:
  Builder(const Cursor& cursor, const std::string& file) : cursor_(cursor), file_(intern_file_name(file)) {}

  Node root;
  std::optional<Diagnostic> error;

  bool null() { return add(Node::null()); }
  bool boolean(bool v) { return add(Node::boolean(v)); }
  bool number_integer(std::int64_t v) { return add(Node::integer(v)); }
  bool number_unsigned(std::uint64_t v) { return add(Node::scalar(Node::Kind::integer, cat(v))); }
  bool number_float(double, const std::string& text) { return add(Node::scalar(Node::Kind::real, text)); }
  bool string(std::string& v) { return add(Node::string(std::move(v))); }
  bool binary(nlohmann::json::binary_t&) { return false; }
  bool start_object(std::size_t) { return open(Node::map()); }
  bool start_array(std::size_t) { return open(Node::list()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string& k) {
    for (const auto& existing : stack_.back().node.keys())
      if (existing == k) return fail(cat("duplicate key '", k, "'"));
    stack_.back().key = std::move(k);
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& e) {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error while …: what"
    std::string what = e.what();
    auto at = what.find("syntax error");
    return fail(at == std::string::npos ? what : what.substr(at));
  }

 private:
  struct Open {
    Node node;
    std::string key;
  };

  bool add(Node n) {
    n.set_loc(file_, cursor_.token.line, cursor_.token.column);
    return attach(std::move(n));
  }
  bool attach(Node n) {
    if (stack_.empty()) {
      root = std::move(n);
    } else if (stack_.back().node.is_map()) {
      stack_.back().node.add(std::move(stack_.back().key), std::move(n));
    } else {
      stack_.back().node.push(std::move(n));
    }
    return true;
  }
  bool open(Node n) {
    if (stack_.size() >= kDeepest) return fail(cat("nested deeper than ", kDeepest, " levels"));
    n.set_loc(file_, cursor_.token.line, cursor_.token.column);
    stack_.push_back({std::move(n), {}});
    return true;
  }
  bool close() {
    Node n = std::move(stack_.back().node);
    stack_.pop_back();
    return attach(std::move(n));
  }
  bool fail(std::string message) {
    error = input_error("IO020", {*file_, cursor_.here.line, cursor_.here.column > 1 ? cursor_.here.column - 1 : 1}, std::move(message));
    return false;
  }

  const Cursor& cursor_;
  const std::string* file_;
  std::vector<Open> stack_;
};

// Whether a text stands between quotation marks as it is.
bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; });
}

void write_string(std::string& out, const std::string& text) {
  if (is_plain(text)) {
    out += '"';
    out += text;
    out += '"';
    return;
  }
  // Bytes that are no UTF-8 become U+FFFD: the output is always valid JSON.
  out += nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

constexpr std::size_t kAnyLength = std::string::npos;

// Appends the node without line breaks. False as soon as `out` is longer than `most`; what was appended is then a part of the line.
bool write_line(std::string& out, const Node& node, std::size_t most = kAnyLength) {
  const bool is_map = node.is_map();
  if (node.kind() == Node::Kind::null) {
    out += "null";
  } else if (node.kind() == Node::Kind::string) {
    write_string(out, node.text());
  } else if (node.is_scalar()) {
    out += node.text();
  } else {
    out += is_map ? '{' : '[';
    for (std::size_t i = 0; i < node.size(); ++i) {
      if (i != 0) out += ", ";
      if (is_map) {
        write_string(out, node.keys()[i]);
        out += ": ";
      }
      if (!write_line(out, node.items()[i], most)) return false;
    }
    out += is_map ? '}' : ']';
  }
  return out.size() <= most;
}

// `used`: columns of the line that are taken already.
void write_pretty(std::string& out, const Node& node, std::size_t indent, std::size_t used, std::size_t width) {
  const bool may_break = !node.is_scalar() && node.size() > 0;
  const std::size_t begin = out.size();
  if (write_line(out, node, may_break ? begin + (used < width ? width - used : 0) : kAnyLength)) return;
  out.resize(begin);
  bool is_map = node.is_map();
  out += is_map ? '{' : '[';
  for (std::size_t i = 0; i < node.size(); ++i) {
    out += i == 0 ? "\n" : ",\n";
    std::size_t start = out.size();
    out.append(indent + 2, ' ');
    if (is_map) {
      write_string(out, node.keys()[i]);
      out += ": ";
    }
    write_pretty(out, node.items()[i], indent + 2, out.size() - start, width);
  }
  out += '\n';
  out.append(indent, ' ');
  out += is_map ? '}' : ']';
}

}  // namespace

Result<Node> parse_json(std::string_view text, const std::string& file) {
  Cursor cursor;
  cursor.text = text;
  Builder builder(cursor, file);
  if (text.empty()) return input_error("IO020", {file, 1, 1}, "the file is empty; expected JSON");
  bool ok = nlohmann::json::sax_parse(CountingIterator(&cursor), CountingIterator(), &builder);
  if (builder.error) return *builder.error;
  if (!ok) return input_error("IO020", {file, cursor.here.line, cursor.here.column}, "not valid JSON");
  return std::move(builder.root);
}

std::string json_line(const Node& node) {
  std::string out;
  write_line(out, node);
  return out;
}

std::string json_pretty(const Node& node, std::size_t width) {
  std::string out;
  write_pretty(out, node, 0, 0, width);
  out += '\n';
  return out;
}

}  // namespace buda::io
