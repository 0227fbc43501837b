// The list of rules, and its page. With BUDA_UPDATE_DOCS=1 in the environment the page is written anew.
#include <buda/base/text.hpp>
#include <buda/io/file_system.hpp>
#include <buda/netlist/check.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

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

std::string page() {
  std::string out =
      "# Rules of netlists\n\n"
      "Written by `unit_netlist` from the list of rules (`core/buda/netlist/rules.cpp`) and the examples of its test; do not edit. "
      "`check_netlist` "
      "(netlist/check.hpp) and the\nreader report every breach with its code, file, line and column. Rules marked (run) are checked by the "
      "original only when a netlist is run; when one is compiled they are\nwarnings (`netlist check --for-run` makes them errors). What "
      "does not fit "
      "the device leads to exit code 3, everything else to 1.\n";
  std::string last;
  for (const Rule& rule : netlist_rules()) {
    if (heading(rule.code) != last) out += cat("\n## ", heading(rule.code), "\n\n| code | rule |\n|---|---|\n");
    last = heading(rule.code);
    out += cat("| ", rule.code, " | ", rule.text, " |\n");
  }
  return out;
}

TEST(Rules, TheDocumentationListsThemAll) {
  const char* source = std::getenv("BUDA_SOURCE_DIR");
  if (source == nullptr) GTEST_SKIP() << "BUDA_SOURCE_DIR is not set";
  const std::string path = cat(source, "/docs/formats/netlist-rules.md");
  auto fs = io::make_real_file_system();
  if (std::getenv("BUDA_UPDATE_DOCS") != nullptr) {
    ASSERT_TRUE(fs->write(path, page()).ok());
  }
  auto bytes = fs->read(path);
  ASSERT_TRUE(bytes.ok()) << path;
  EXPECT_EQ(std::string(bytes->view()), page()) << "run `BUDA_UPDATE_DOCS=1 ctest -R unit.netlist`";
}

}  // namespace
}  // namespace buda::netlist
