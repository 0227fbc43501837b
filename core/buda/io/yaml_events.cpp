// SPDX-License-Identifier: Apache-2.0
// YAML through yaml-cpp's event parser: its node tree is not used, because it is slow, large and forgets scalar places on copies.
#include <buda/io/yaml_events.hpp>

#include <buda/base/text.hpp>
#include <buda/io/yaml_scalars.hpp>

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

// Every value takes at least a byte of text, unless aliases multiply it, or anchors inside anchors, whose values are kept for aliases; this
// much multiplying is fair.
constexpr std::size_t kMaxNodesFromAliases = 1'000'000;

class ViewBuffer final : public std::streambuf {
 public:
  explicit ViewBuffer(std::string_view text) {
    char* begin = const_cast<char*>(text.data());  // a get area is never written to
    setg(begin, begin, begin + text.size());
  }
};

struct Refused {
  Diagnostic diagnostic;
};

class EventBuilder final : public YAML::EventHandler {
 public:
  EventBuilder(const std::string& file, std::size_t text_size, const YamlOptions& options)
      : options_(options), file_(intern_file_name(file)), limit_(text_size + kMaxNodesFromAliases) {}

  std::vector<Node> documents;

  void OnDocumentStart(const YAML::Mark& mark) override {
    // Some tokens that belong nowhere, such as a `,` by itself, are an empty document for yaml-cpp, which then stays where it is.
    if (!documents.empty() && mark.pos == document_begin_.pos) refuse(mark, "not valid YAML: no value can begin here");
    document_begin_ = mark;
    anchors_.clear();
  }
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
    if (count_ > limit_) refuse(mark, cat("aliases make more than ", kMaxNodesFromAliases, " values of this file"));
  }
  // What an anchor names.
  void keep(YAML::anchor_t anchor, const Node& n, std::size_t values, const YAML::Mark& mark) {
    if (anchor == YAML::NullAnchor) return;
    kept_ += values;
    if (kept_ > limit_) refuse(mark, cat("anchors inside anchors name more than ", kMaxNodesFromAliases, " values of this file"));
    anchors_.insert_or_assign(anchor, std::pair<Node, std::size_t>(n, values));
  }
  void place(Node& n, const YAML::Mark& mark) {
    n.set_loc(file_, static_cast<std::uint32_t>(mark.line + 1), static_cast<std::uint32_t>(mark.column + 1));
  }
  void add(Node n, const YAML::Mark& mark, YAML::anchor_t anchor) {
    count(1, mark);
    place(n, mark);
    keep(anchor, n, 1, mark);
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
      if (!options_.repeated_keys && !top.keys.insert(n.text()).second) refuse(mark, cat("duplicate key '", n.text(), "'"));
      top.key = n.is_null() ? "null" : n.text();
      top.has_key = true;
    }
  }
  void open(Node n, const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (stack_.size() >= kDeepestYaml) refuse(mark, cat("nested deeper than ", kDeepestYaml, " levels"));
    count(1, mark);
    place(n, mark);
    stack_.push_back({std::move(n), mark, anchor, count_ - 1, false, {}, {}});
  }
  void close() {
    Open top = std::move(stack_.back());
    stack_.pop_back();
    keep(top.anchor, top.node, count_ - top.count_before, top.mark);
    attach(std::move(top.node), top.mark);
  }

  YamlOptions options_;
  YAML::Mark document_begin_;
  const std::string* file_;
  std::size_t limit_;
  std::vector<Open> stack_;
  std::map<YAML::anchor_t, std::pair<Node, std::size_t>> anchors_;
  std::size_t count_ = 0;
  std::size_t kept_ = 0;
};

}  // namespace

Result<std::vector<Node>> read_yaml_events(std::string_view text, const std::string& file, const YamlOptions& options) {
  EventBuilder builder(file, text.size(), options);
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

}  // namespace buda::io
