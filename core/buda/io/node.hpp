// SPDX-License-Identifier: Apache-2.0
// A parsed JSON or YAML value that knows the line and column where it stood.
#pragma once

#include <buda/diag/result.hpp>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::io {

// Maps keep the order of the file; a key that occurs twice is refused by the parsers. Scalars keep their text, so that `1e3` may
// still be read as a name where a name is expected.
class Node {  // wide because each kind of node has a maker, a question and a reading of its own
 public:
  enum class Kind : std::uint8_t { null, boolean, integer, real, string, list, map };

  Node() = default;
  // Values built by a program have no place.
  static Node null() { return {}; }
  static Node boolean(bool value);
  static Node integer(std::int64_t value);
  static Node real(double value);
  static Node string(std::string value);
  static Node list(std::vector<Node> items = {});
  static Node map(std::vector<std::pair<std::string, Node>> members = {});
  // A scalar as a parser found it.
  static Node scalar(Kind kind, std::string text);

  Kind kind() const { return kind_; }
  bool is_null() const { return kind_ == Kind::null; }
  bool is_list() const { return kind_ == Kind::list; }
  bool is_map() const { return kind_ == Kind::map; }
  bool is_scalar() const { return kind_ != Kind::list && kind_ != Kind::map; }
  bool is_string() const { return kind_ == Kind::string; }

  SourceLoc loc() const;
  std::uint32_t line() const { return line_; }
  std::uint32_t column() const { return column_; }
  void set_loc(const std::string* interned_file, std::uint32_t line, std::uint32_t column) {
    file_ = interned_file;
    line_ = line;
    column_ = column;
  }

  // The text of any scalar.
  const std::string& text() const { return text_; }
  // Elements of a list, values of a map.
  const std::vector<Node>& items() const { return items_; }
  std::vector<Node>& items() { return items_; }
  // Keys of a map, in step with items().
  const std::vector<std::string>& keys() const { return keys_; }
  std::size_t size() const { return items_.size(); }

  // The member of a map, or null. Linear: maps of files are small or walked in order.
  const Node* find(std::string_view key) const;
  void push(Node item) { items_.push_back(std::move(item)); }
  void add(std::string key, Node value) {
    keys_.push_back(std::move(key));
    items_.push_back(std::move(value));
  }

  // Typed access; the error names the place, what was expected and what is there.
  Result<std::string> as_string() const;  // strings only
  Result<std::string> as_name() const;    // any scalar but null, as its text
  Result<std::int64_t> as_int() const;
  Result<double> as_double() const;  // integers too; "nan", "inf", "-inf" as strings
  Result<bool> as_bool() const;

  // "a map", "the string 'x'", "the number 3": for messages.
  std::string describe() const;

 private:
  Kind kind_ = Kind::null;
  std::uint32_t line_ = 0;
  std::uint32_t column_ = 0;
  const std::string* file_ = nullptr;
  std::string text_;
  std::vector<Node> items_;
  std::vector<std::string> keys_;
};

// One copy of a file name for all places in that file. Lives as long as the program.
const std::string* intern_file_name(const std::string& name);

// An error at the place of a node.
Diagnostic node_error(std::string code, const Node& node, std::string message);

}  // namespace buda::io

#pragma GCC visibility pop
