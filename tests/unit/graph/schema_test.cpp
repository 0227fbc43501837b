// schemas/buda.graph-1: the published JSON Schema is the reader's own, and agrees with it on the examples, judged by another validator.
// With BUDA_UPDATE_DOCS=1 in the environment the schema is written anew.
#include <buda/graph/graph_file.hpp>
#include <buda/io/json.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include <cstdlib>

namespace buda::graph {
namespace {

class GraphSchema : public testing::Test {
 protected:
  void SetUp() override {
    const char* source = std::getenv("BUDA_SOURCE_DIR");
    if (source == nullptr) GTEST_SKIP() << "BUDA_SOURCE_DIR is not set";
    folder_ = std::string(source) + "/schemas/buda.graph-1/";
  }

  std::string text(const std::string& name) {
    auto bytes = fs_->read(folder_ + name);
    EXPECT_TRUE(bytes) << name;
    return bytes ? std::string(bytes->view()) : "";
  }

  // What the schema says to an example.
  bool valid(const std::string& name) {
    auto schema_json = nlohmann::json::parse(io::json_line(graph_file_schema()));
    auto example_json = nlohmann::json::parse(text(name));
    valijson::Schema schema;
    valijson::SchemaParser parser;
    valijson::adapters::NlohmannJsonAdapter schema_adapter(schema_json), example(example_json);
    parser.populateSchema(schema_adapter, schema);
    valijson::Validator validator;
    return validator.validate(schema, example, nullptr);
  }

  std::unique_ptr<io::FileSystem> fs_ = io::make_real_file_system();
  std::string folder_;
};

TEST_F(GraphSchema, IsTheReaders) {
  std::string own = io::json_pretty(graph_file_schema());
  if (std::getenv("BUDA_UPDATE_DOCS") != nullptr) {
    ASSERT_TRUE(fs_->write(folder_ + "schema.json", own));
    return;
  }
  EXPECT_EQ(text("schema.json"), own) << "run `BUDA_UPDATE_DOCS=1 ctest -R unit.graph`";
}

TEST_F(GraphSchema, ExamplesAreJudgedAlike) {
  auto names = fs_->list(folder_);
  ASSERT_TRUE(names);
  int good = 0, bad = 0;
  for (const auto& name : *names) {
    if (name == "schema.json") continue;
    SCOPED_TRACE(name);
    bool expected = !name.starts_with("bad-");
    ++(expected ? good : bad);
    EXPECT_EQ(read_graph(*fs_, folder_ + name).ok(), expected);
    EXPECT_EQ(valid(name), expected);
  }
  EXPECT_GE(good, 2);
  EXPECT_GE(bad, 5);
}

}  // namespace
}  // namespace buda::graph
