// docs/ops has a page for each op type. With BUDA_UPDATE_DOCS=1 in the environment the pages are written anew.
#include <buda/base/text.hpp>
#include <buda/io/file_system.hpp>
#include <buda/netlist/check.hpp>
#include <buda/netlist/op_docs.hpp>
#include <buda/netlist/parse.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

namespace buda::netlist {
namespace {

class OpDocs : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* source = std::getenv("BUDA_SOURCE_DIR");
    if (source == nullptr) GTEST_SKIP() << "BUDA_SOURCE_DIR is not set";
    source_ = source;
  }
  std::string text(const std::string& path) {
    auto bytes = fs_->read(source_ + path);
    EXPECT_TRUE(bytes.ok()) << path;
    return bytes.ok() ? std::string(bytes->view()) : std::string();
  }
  // The page, or its new text.
  void expect_page(const std::string& name, const std::string& wanted) {
    const std::string path = cat("/docs/ops/", name, ".md");
    if (std::getenv("BUDA_UPDATE_DOCS") != nullptr) {
      ASSERT_TRUE(fs_->make_directories(source_ + "/docs/ops").ok());
      ASSERT_TRUE(fs_->write(source_ + path, wanted).ok());
    }
    EXPECT_EQ(text(path), wanted) << "run `BUDA_UPDATE_DOCS=1 ctest -R unit.netlist`";
  }
  std::string source_;
  std::unique_ptr<io::FileSystem> fs_ = io::make_real_file_system();
};

TEST_F(OpDocs, CoverEveryTypeOnce) {
  ASSERT_EQ(all_op_docs().size(), all_op_types().size());
  for (std::size_t i = 0; i < all_op_types().size(); ++i) EXPECT_EQ(all_op_docs()[i].type, all_op_types()[i].type);
}

TEST_F(OpDocs, NameRulesThatExist) {
  for (const OpDoc& doc : all_op_docs())
    for (auto code : doc.rules)
      EXPECT_TRUE(std::any_of(netlist_rules().begin(), netlist_rules().end(), [&](const Rule& r) { return r.code == code; }))
          << op_type_name(doc.type) << ' ' << code;
}

TEST_F(OpDocs, HaveExamplesWithSuchAnOp) {
  for (const OpDoc& doc : all_op_docs()) {
    std::vector<std::string_view> names = doc.more_examples;
    names.push_back(doc.example);
    for (auto name : names) {
      auto netlist = parse_netlist(text(cat("/share/examples/netlists/", name, ".yaml")), cat(name, ".yaml"));
      ASSERT_TRUE(netlist.ok()) << name;
      bool found = false;
      for (const Graph& g : netlist->graphs)
        for (const Op& op : g.ops) found = found || op.type == doc.type;
      EXPECT_TRUE(found) << name;
    }
  }
}

TEST_F(OpDocs, AreThePagesOfTheDocumentation) {
  std::string index =
      "# Op types of netlists\n\nWritten by `unit_netlist` from `core/buda/netlist/op_docs.cpp`, `op_attributes.cpp` and `rules.cpp`, like "
      "the pages "
      "themselves; do not edit.\n\n| type | output |\n|---|---|\n";
  for (const OpDoc& doc : all_op_docs()) {
    const std::string name(op_type_name(doc.type));
    index += cat("| [", name, "](", name, ".md) | ", doc.meaning, " |\n");
    expect_page(name, op_page(doc, text(cat("/share/examples/netlists/", doc.example, ".yaml"))));
  }
  expect_page("README", index);
}

}  // namespace
}  // namespace buda::netlist
