// YAML through yaml-cpp's event parser: its node tree is not used, because it is slow, large and forgets scalar places on copies.
#include <buda/io/yaml.hpp>

#include <buda/base/text.hpp>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <istream>
#include <map>
#include <streambuf>
#include <unordered_set>

namespace buda::io {
namespace {

constexpr std::size_t kDeepest = 200;
// Every value takes at least a byte of text, unless aliases multiply it; this much multiplying is fair.
constexpr std::size_t kMostNodesFromAliases = 1'000'000;

class ViewBuffer final : public std::streambuf {
 public:
  explicit ViewBuffer(std::string_view text) {
    char* begin = const_cast<char*>(text.data());  // a get area is never written to
    setg(begin, begin, begin + text.size());
  }
};

Node::Kind plain_kind(const std::string& text) {
  if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL") return Node::Kind::null;
  if (text == "true" || text == "false" || text == "True" || text == "False" || text == "TRUE" || text == "FALSE")
    return Node::Kind::boolean;
  char c = text.front();
  if (c != '-' && c != '+' && c != '.' && (c < '0' || c > '9')) return Node::Kind::string;
  std::string_view digits = text;
  if (c == '+') digits.remove_prefix(1);
  if (parse_int(digits) || parse_uint(digits)) return Node::Kind::integer;
  bool decimal = digits.find_first_not_of("0123456789.eE+-") == std::string_view::npos;
  if (decimal && parse_double(digits)) return Node::Kind::real;
  return Node::Kind::string;
}

// YAML spells them in several ways, the rest of the program in one.
std::string canonical_text(Node::Kind kind, const std::string& text) {
  if (kind == Node::Kind::boolean) return to_lower(text);
  if (kind == Node::Kind::null) return "";
  if ((kind == Node::Kind::integer || kind == Node::Kind::real) && text.front() == '+') return text.substr(1);
  return text;
}

struct Refused {
  Diagnostic diagnostic;
};

class Builder final : public YAML::EventHandler {
 public:
  Builder(const std::string& file, std::size_t text_size, const YamlOptions& options)
      : options_(options), file_(intern_file_name(file)), limit_(text_size + kMostNodesFromAliases) {}

  std::vector<Node> documents;

  void OnDocumentStart(const YAML::Mark&) override { anchors_.clear(); }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { add(Node::null(), mark, anchor); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    auto it = anchors_.find(anchor);
    if (it == anchors_.end()) refuse(mark, "an alias inside the value that it names");
    count(it->second.second, mark);
    attach(it->second.first, mark);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, const std::string& value) override {
    // yaml-cpp gives tag "?" to plain scalars and "!" to quoted ones.
    Node::Kind kind = tag == "!" || tag.ends_with(":str") ? Node::Kind::string : plain_kind(value);
    add(Node::scalar(kind, kind == Node::Kind::string ? value : canonical_text(kind, value)), mark, anchor);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
    open(Node::list(), mark, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
    open(Node::map(), mark, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    Node node;
    YAML::Mark mark;
    YAML::anchor_t anchor;
    std::size_t count_before;
    bool has_key = false;
    std::string key;
    std::unordered_set<std::string> keys;
  };

  [[noreturn]] void refuse(const YAML::Mark& mark, std::string message) {
    throw Refused{input_error("IO030", {*file_, static_cast<std::uint32_t>(mark.line + 1), static_cast<std::uint32_t>(mark.column + 1)},
                              std::move(message))};
  }
  void count(std::size_t more, const YAML::Mark& mark) {
    count_ += more;
    if (count_ > limit_) refuse(mark, cat("aliases make more than ", kMostNodesFromAliases, " values of this file"));
  }
  void place(Node& n, const YAML::Mark& mark) {
    n.set_loc(file_, static_cast<std::uint32_t>(mark.line + 1), static_cast<std::uint32_t>(mark.column + 1));
  }
  void add(Node n, const YAML::Mark& mark, YAML::anchor_t anchor) {
    count(1, mark);
    place(n, mark);
    if (anchor != YAML::NullAnchor) anchors_.insert_or_assign(anchor, std::pair<Node, std::size_t>(n, 1));
    attach(std::move(n), mark);
  }
  void attach(Node n, const YAML::Mark& mark) {
    if (stack_.empty()) {
      documents.push_back(std::move(n));
      return;
    }
    Open& top = stack_.back();
    if (top.node.is_list()) {
      top.node.push(std::move(n));
    } else if (top.has_key) {
      top.has_key = false;
      top.node.add(std::move(top.key), std::move(n));
    } else {
      if (!n.is_scalar()) refuse(mark, "a list or map as a key");
      if (!options_.repeated_keys && !top.keys.insert(n.text()).second) refuse(mark, cat("key '", n.text(), "' stands here a second time"));
      top.key = n.is_null() ? "null" : n.text();
      top.has_key = true;
    }
  }
  void open(Node n, const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (stack_.size() >= kDeepest) refuse(mark, cat("nested deeper than ", kDeepest, " levels"));
    count(1, mark);
    place(n, mark);
    stack_.push_back({std::move(n), mark, anchor, count_ - 1, false, {}, {}});
  }
  void close() {
    Open top = std::move(stack_.back());
    stack_.pop_back();
    if (top.anchor != YAML::NullAnchor)
      anchors_.insert_or_assign(top.anchor, std::pair<Node, std::size_t>(top.node, count_ - top.count_before));
    attach(std::move(top.node), top.mark);
  }

  YamlOptions options_;
  const std::string* file_;
  std::size_t limit_;
  std::vector<Open> stack_;
  std::map<YAML::anchor_t, std::pair<Node, std::size_t>> anchors_;
  std::size_t count_ = 0;
};

// yaml-cpp recurses in its scanner and parser before an event arrives; flow nesting is counted beforehand so that a file of a
// million brackets cannot exhaust the stack.
std::optional<Diagnostic> too_deep(std::string_view text, const std::string& file) {
  std::size_t depth = 0;
  std::uint32_t line = 1;
  for (char c : text) {
    if (c == '\n') ++line;
    if (c == '[' || c == '{') ++depth;
    if ((c == ']' || c == '}') && depth > 0) --depth;
    if (depth > 2 * kDeepest) return input_error("IO030", {file, line}, cat("nested deeper than ", kDeepest, " levels"));
  }
  return std::nullopt;
}

}  // namespace

Result<std::vector<Node>> parse_yaml_stream(std::string_view text, const std::string& file, const YamlOptions& options) {
  if (!is_valid_utf8(text)) return input_error("IO030", {file}, "not valid YAML: the file is not UTF-8 text");
  if (text.find('\0') != std::string_view::npos) return input_error("IO030", {file}, "not valid YAML: the file holds a zero byte");
  if (auto deep = too_deep(text, file)) return *deep;
  Builder builder(file, text.size(), options);
  try {
    ViewBuffer buffer(text);
    std::istream stream(&buffer);
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const Refused& refused) {
    return refused.diagnostic;
  } catch (const YAML::Exception& e) {
    return input_error("IO030", {file, static_cast<std::uint32_t>(e.mark.line + 1), static_cast<std::uint32_t>(e.mark.column + 1)},
                       cat("not valid YAML: ", e.msg));
  }
  return std::move(builder.documents);
}

Result<Node> parse_yaml(std::string_view text, const std::string& file, const YamlOptions& options) {
  BUDA_ASSIGN(auto documents, parse_yaml_stream(text, file, options));
  if (documents.empty()) return input_error("IO031", {file}, "the file is empty; expected a YAML document");
  if (documents.size() > 1) return node_error("IO031", documents[1], "a second YAML document; expected one");
  return std::move(documents.front());
}

bool is_plain_yaml(std::string_view text) {
  if (text.empty() || plain_kind(std::string(text)) != Node::Kind::string) return false;
  constexpr std::string_view kIndicators = "-?:,[]{}#&*!|>'\"%@`";
  if (kIndicators.find(text.front()) != std::string_view::npos) return false;
  for (char c : text) {
    bool fine = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                std::string_view("_-./$+@=()<>*&!~^|;%'").find(c) != std::string_view::npos;
    if (!fine) return false;
  }
  // Words that other YAML readers take for booleans or null.
  for (std::string_view word : {"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
    if (to_lower(text) == word) return false;
  return true;
}

std::string yaml_scalar(std::string_view text) {
  if (is_plain_yaml(text)) return std::string(text);
  std::string out = "\"";
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      constexpr char kHex[] = "0123456789abcdef";
      out += "\\x";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace buda::io
