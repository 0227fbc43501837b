// The list of rules, and its page.
#include <buda/netlist/check.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

namespace buda::netlist {
namespace {

TEST(Rules, CodesAreUniqueAndAscend) {
  std::string_view last;
  for (const Rule& rule : netlist_rules()) {
    EXPECT_LT(last, rule.code);
    EXPECT_TRUE(rule.text.ends_with(".") || rule.text.ends_with(".)") || rule.text.ends_with("(run)")) << rule.code;
    last = rule.code;
  }
}

TEST(Rules, TheDocumentationListsThemAll) {
  const char* source = std::getenv("BUDA_SOURCE_DIR");
  if (source == nullptr) GTEST_SKIP() << "BUDA_SOURCE_DIR is not set";
  std::ifstream file(std::string(source) + "/docs/formats/netlist.md");
  std::stringstream text;
  text << file.rdbuf();
  for (const Rule& rule : netlist_rules())
    EXPECT_NE(text.str().find("| " + std::string(rule.code) + " | " + std::string(rule.text) + " |"), std::string::npos) << rule.code;
}

}  // namespace
}  // namespace buda::netlist
