// SPDX-License-Identifier: Apache-2.0
// Typed access to parsed values.
#include <buda/io/node.hpp>

#include <buda/base/shortened.hpp>
#include <buda/base/text.hpp>

#include <cmath>
#include <limits>
#include <mutex>
#include <set>

namespace buda::io {
namespace {

constexpr std::size_t kLongestShown = 40;

}  // namespace

const std::string* intern_file_name(const std::string& name) {
  static std::mutex mutex;
  static std::set<std::string> names;
  std::lock_guard lock(mutex);
  return &*names.insert(name).first;
}

Node Node::scalar(Kind kind, std::string text) {
  Node n;
  n.kind_ = kind;
  n.text_ = std::move(text);
  return n;
}
Node Node::boolean(bool value) { return scalar(Kind::boolean, value ? "true" : "false"); }
Node Node::integer(std::int64_t value) { return scalar(Kind::integer, cat(value)); }
Node Node::real(double value) {
  if (!std::isfinite(value)) return string(to_text(value));
  std::string text = to_text(value);
  // A real that happens to be whole stays a real when it is read again.
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return scalar(Kind::real, std::move(text));
}
Node Node::string(std::string value) { return scalar(Kind::string, std::move(value)); }
Node Node::list(std::vector<Node> items) {
  Node n;
  n.kind_ = Kind::list;
  n.items_ = std::move(items);
  return n;
}
Node Node::map(std::vector<std::pair<std::string, Node>> members) {
  Node n;
  n.kind_ = Kind::map;
  n.keys_.reserve(members.size());
  n.items_.reserve(members.size());
  for (auto& [key, value] : members) n.add(std::move(key), std::move(value));
  return n;
}

SourceLoc Node::loc() const { return {file_ == nullptr ? "" : *file_, line_, column_}; }

const Node* Node::find(std::string_view key) const {
  for (std::size_t i = 0; i < keys_.size(); ++i)
    if (keys_[i] == key) return &items_[i];
  return nullptr;
}

std::string Node::describe() const {
  switch (kind_) {
    case Kind::null:
      return "null";
    case Kind::boolean:
      return text_;
    case Kind::integer:
    case Kind::real:
      return cat("the number ", shortened(text_, kLongestShown));
    case Kind::string:
      return cat("the string '", shortened(text_, kLongestShown), "'");
    case Kind::list:
      return "a list";
    case Kind::map:
      return "a map";
  }
  return "";
}

Result<std::string> Node::as_string() const {
  if (kind_ == Kind::string) return text_;
  return node_error("IO010", *this, cat("expected a string, found ", describe()));
}

Result<std::string> Node::as_name() const {
  if (is_scalar() && !is_null()) return text_;
  return node_error("IO010", *this, cat("expected a name, found ", describe()));
}

Result<std::int64_t> Node::as_int() const {
  if (kind_ == Kind::integer) {
    if (auto value = parse_int(text_)) return *value;
    return node_error("IO011", *this, cat("the number ", shortened(text_, kLongestShown), " does not fit in 64 bits"));
  }
  return node_error("IO010", *this, cat("expected an integer, found ", describe()));
}

Result<double> Node::as_double() const {
  if (kind_ == Kind::integer || kind_ == Kind::real) {
    if (auto value = parse_double(text_)) return *value;
    return node_error("IO011", *this, cat("the number ", shortened(text_, kLongestShown), " is out of range"));
  }
  if (text_ == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (text_ == "inf") return std::numeric_limits<double>::infinity();
  if (text_ == "-inf") return -std::numeric_limits<double>::infinity();
  return node_error("IO010", *this, cat("expected a number, found ", describe()));
}

Result<bool> Node::as_bool() const {
  if (kind_ == Kind::boolean) return text_ == "true";
  return node_error("IO010", *this, cat("expected true or false, found ", describe()));
}

Diagnostic node_error(std::string code, const Node& node, std::string message) {
  return input_error(std::move(code), node.loc(), std::move(message));
}

}  // namespace buda::io
