// SPDX-License-Identifier: Apache-2.0
// Each rule of netlists is broken by an example, which is refused for it, at its place; and the page that lists them. With
// BUDA_UPDATE_DOCS=1 in the environment the page is written anew.
#include <buda/base/text.hpp>
#include <buda/device/load.hpp>
#include <buda/diag/sink.hpp>
#include <buda/io/host.hpp>
#include <buda/netlist/check/validate.hpp>

#include "unit/netlist/rule_examples.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

namespace buda::netlist {
namespace {

using samples::RuleExample;

// Rules that no text breaks by itself: the architecture of a netlist that a program made, and what is asked for by name.
const std::set<std::string_view> kOfCalls = {"NL100", "NL609", "NL611"};

class Rules : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* source = std::getenv("BUDA_SOURCE_DIR");
    if (source == nullptr) GTEST_SKIP() << "BUDA_SOURCE_DIR is not set";
    source_ = source;
    host_.share_dir = source_ + "/share";
  }
  std::vector<Diagnostic> judged(const std::string& text, const std::string& device) {
    const bool board = device.starts_with('n') || device.starts_with('e');
    auto& devices = devices_[device];
    if (!devices) {
      auto made = ValidationDevices::make(host_, device, board ? 0 : 2);
      EXPECT_TRUE(made.ok());
      devices = *made;
    }
    return validate_netlist(text, "net.yaml", *devices, {CheckLevel::run}).findings;
  }

  std::string source_;
  std::unique_ptr<io::FileSystem> fs_ = io::make_real_file_system();
  CollectingSink sink_;
  Host host_{*fs_, sink_};
  std::map<std::string, std::optional<ValidationDevices>> devices_;
};

TEST(RuleCodes, AreUniqueAndAscend) {
  std::string_view last;
  for (const Rule& rule : netlist_rules()) {
    EXPECT_LT(last, rule.code);
    EXPECT_TRUE(rule.text.ends_with(".") || rule.text.ends_with(".)") || rule.text.ends_with("(run)")) << rule.code;
    last = rule.code;
  }
}

TEST_F(Rules, AreEachBrokenByAnExample) {
  std::set<std::string> codes;
  for (const RuleExample& e : samples::rule_examples()) codes.insert(e.code);
  for (const Rule& rule : netlist_rules())
    EXPECT_EQ(codes.count(std::string(rule.code)), kOfCalls.count(rule.code) == 0 ? 1u : 0u) << rule.code;
}

TEST_F(Rules, RefuseWhatBreaksThemAndNothingElse) {
  std::set<std::string> bases;
  for (const RuleExample& e : samples::rule_examples()) {
    if (bases.insert(e.base).second) {
      std::size_t line, column;
      for (const Diagnostic& d : judged(samples::rule_example_text({"", e.base, "", {}, {}}, line, column), "wormhole_b0"))
        ADD_FAILURE() << e.base << " itself: " << d.message << " [" << d.code << ']';
    }
    std::size_t line = 0, column = 0;
    const auto found = judged(samples::rule_example_text(e, line, column), e.device);
    bool there = false, at_its_place = line == 0;
    for (const Diagnostic& d : found) {
      const bool own = d.code == e.code;
      there = there || own;
      at_its_place = at_its_place || (own && d.loc.line == line && d.loc.column == column);
      if (own) {
        EXPECT_EQ(d.loc.file, "net.yaml") << e.code;
      }
      const bool allowed = own || d.severity == Severity::warning || std::find(e.also.begin(), e.also.end(), d.code) != e.also.end();
      EXPECT_TRUE(allowed) << e.code << " in " << e.base << ": " << d.message << " [" << d.code << ']';
    }
    EXPECT_TRUE(there) << e.code << " is not found in " << e.base;
    EXPECT_TRUE(at_its_place) << e.code << " in " << e.base << ": not at " << line << ':' << column;
  }
}

std::string heading(std::string_view code) {
  switch (code[2]) {
    case '0':
      return "Reading";
    case '1':
      return "Names, chips and structure";
    case '2':
      return "Queues and memory";
    case '3':
      return "Ops";
    case '4':
      return "Edges";
    case '5':
      return "Fused ops";
    default:
      return "Programs";
  }
}

// "`m_k: 2` → `m_k: 0`": a change without what stands on both sides of it alike.
std::string change_text(std::string from, std::string to) {
  std::erase(to, '^');
  auto edge = [](char c) { return c == ',' || c == ' ' || c == '{' || c == '}' || c == '[' || c == '\n'; };
  std::size_t front = 0, common = 0;
  while (common < std::min(from.size(), to.size()) && from[common] == to[common])
    if (edge(from[common++])) front = common;
  // A key stays with its value.
  while (front >= 2 && from[front - 1] == ' ' && from[front - 2] == ':') {
    std::size_t key = from.find_last_of(",{ \n", front - 3);
    front = key == std::string::npos ? 0 : key + 1;
  }
  from.erase(0, front);
  to.erase(0, front);
  std::size_t back = 0;
  common = 0;
  while (common < std::min(from.size(), to.size()) && from[from.size() - 1 - common] == to[to.size() - 1 - common])
    if (edge(from[from.size() - 1 - common++])) back = common;
  from.resize(from.size() - back);
  to.resize(to.size() - back);
  auto code = [](std::string text) {
    text = std::string(trim(text));
    if (text.find('\n') != std::string::npos || text.size() > 90) return std::string("…");
    return text.empty() ? std::string("nothing") : cat('`', text, '`');
  };
  if (from.empty() || trim(from).empty()) return cat("with ", code(to));
  return to.empty() || trim(to).empty() ? cat("without ", code(from)) : cat(code(from), " → ", code(to));
}

std::string cell(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, "\\");
  return text;
}

std::string page() {
  std::map<std::string, std::string> broken;
  for (const RuleExample& e : samples::rule_examples()) {
    std::vector<std::string> changes;
    for (const auto& [from, to] : e.changes) changes.push_back(change_text(from, to));
    broken[e.code] = cat(e.base, ": ", join(changes, "; "));
  }
  std::string out =
      "# Rules of netlists\n\n"
      "Written by `unit_netlist` from the list of rules (`core/buda/netlist/check/rules.cpp`) and from the netlists that break them\n"
      "(`tests/unit/netlist/rule_examples.txt`, where each is whole); do not edit. The reader and `check_netlist` "
      "(netlist/check/check.hpp) "
      "report every\n"
      "breach with its code, file, line and column. Rules marked (run) are checked by the original only when a netlist is run; when one "
      "is\n"
      "compiled they are warnings (`netlist check --for-run` makes them errors). What does not fit the device leads to exit code 3, "
      "everything\n"
      "else to 1.\n\nWhat only pipes can show is found by the tools that make them: "
      "[`netlist2pipe`](../tools/netlist2pipe.md#diagnostics) refuses pipes of nothing but padding,\n"
      "fused ops with more than two multicast inputs (PP008) and stacks that need more of the producer than it keeps (PP020); "
      "[`pipegen`](../tools/pipegen.md#diagnostics)\n"
      "what has more streams, multicasts, phases or bytes than a core (OV011-OV017).\n"
      "\nThe last column says how an example of `share/examples/netlists` is changed so that it breaks the rule.\n";
  std::string last;
  for (const Rule& rule : netlist_rules()) {
    if (heading(rule.code) != last) out += cat("\n## ", heading(rule.code), "\n\n| code | rule | broken by |\n|---|---|---|\n");
    last = heading(rule.code);
    out += cat("| ", rule.code, " | ", rule.text, " | ", cell(broken[std::string(rule.code)]), " |\n");
  }
  return out;
}

TEST_F(Rules, TheDocumentationListsThemAll) {
  const std::string path = source_ + "/docs/formats/netlist-rules.md";
  if (std::getenv("BUDA_UPDATE_DOCS") != nullptr) {
    ASSERT_TRUE(fs_->write(path, page()).ok());
  }
  auto bytes = fs_->read(path);
  ASSERT_TRUE(bytes.ok()) << path;
  EXPECT_EQ(std::string(bytes->view()), page()) << "run `BUDA_UPDATE_DOCS=1 ctest -R unit.netlist`";
}

}  // namespace
}  // namespace buda::netlist
