// SPDX-License-Identifier: Apache-2.0
// Values that lie in a model's file are referred to there, and come back from there.
#include <buda/base/text.hpp>
#include <buda/graph/file/graph_file.hpp>
#include <buda/graph/file/refer.hpp>
#include <buda/graph/graph.hpp>
#include <buda/graph/values/value.hpp>
#include <buda/io/memory_file_system.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace buda::graph {
namespace {

using testing::HasSubstr;

// A model's file with the numbers 1 to 4 at byte 3, and a graph with the first two and the last two of them and a value of its own.
struct Case {
  io::MemoryFileSystem fs;
  io::Bytes model;
  Graph graph{"g"};

  Case() {
    const float numbers[] = {1, 2, 3, 4};
    std::string bytes = "abc";
    bytes.append(reinterpret_cast<const char*>(numbers), sizeof numbers);
    fs.put("models/m.bin", bytes);
    model = fs.read("models/m.bin").value();
    add("first", Tensor::from_bytes(DType::f32, {2}, model.slice(3, 8)).value());
    add("last", Tensor::from_bytes(DType::f32, {2}, model.slice(11, 8)).value());
    add("own", Tensor({2}, std::vector<float>{5, 6}));
  }

  void add(const std::string& name, Tensor t) {
    NodeId id = graph.add(name, "parameter");
    graph.node(id).outputs = {{t.dtype(), t.shape(), std::nullopt}};
    graph.node(id).value = Value(std::move(t));
    graph.add(name + "_out", "output", {id});
  }
};

TEST(Refer, OnlyWhatLiesInTheFile) {
  Case c;
  refer_to_file(c.graph, c.model, "models/m.bin");
  auto source = [&](const char* name) { return c.graph.node(c.graph.find(name)).value->source; };
  EXPECT_EQ(source("first"), (TensorSource{"models/m.bin", "", RawPlace{3, 19}}));
  EXPECT_EQ(source("last"), (TensorSource{"models/m.bin", "", RawPlace{11, 19}}));
  EXPECT_EQ(source("own"), std::nullopt);
  forget_files(c.graph);
  EXPECT_EQ(source("first"), std::nullopt);
  refer_to_file(c.graph, c.model, "-");
  EXPECT_EQ(source("first"), std::nullopt) << "standard input is gone";
}

TEST(Refer, GraphFilesKeepThePlace) {
  Case c;
  refer_to_file(c.graph, c.model, "models/m.bin");
  ASSERT_TRUE(write_graph(c.fs, c.graph, "out/g.json"));
  std::string text(c.fs.read("out/g.json").value().view());
  EXPECT_THAT(text, HasSubstr(R"("file": "../models/m.bin", "offset": 11, "file_size": 19})"));
  auto back = read_graph(c.fs, "out/g.json");
  ASSERT_TRUE(back);
  EXPECT_EQ(back->node(back->find("last")).value->tensor, Tensor({2}, std::vector<float>{3, 4}));
  EXPECT_EQ(back->node(back->find("last")).value->source, (TensorSource{"models/m.bin", "", RawPlace{11, 19}}));
  EXPECT_EQ(back->node(back->find("own")).value->tensor, Tensor({2}, std::vector<float>{5, 6}));
  ASSERT_TRUE(write_graph(c.fs, *back, "out/again.json"));
  EXPECT_THAT(std::string(c.fs.read("out/again.json").value().view()), HasSubstr(R"("offset": 11)"));
}

TEST(Refer, ElementsAsHexadecimalTextStayText) {
  Case c;
  c.fs.put("m.mlir", "dense<\"0x0000803F00000040\">");
  const io::Bytes text = c.fs.read("m.mlir").value();
  c.add("text", Tensor::from_hex(DType::f32, {2}, text.slice(9, 16)).value());
  refer_to_file(c.graph, text, "m.mlir");
  ASSERT_TRUE(write_graph(c.fs, c.graph, "out/g.json"));
  EXPECT_THAT(std::string(c.fs.read("out/g.json").value().view()),
              HasSubstr(R"("file": "../m.mlir", "offset": 9, "file_size": 27, "hex": true})"));
  auto back = read_graph(c.fs, "out/g.json");
  ASSERT_TRUE(back);
  const Value& value = *back->node(back->find("text")).value;
  EXPECT_EQ(value.tensor, Tensor({2}, std::vector<float>{1, 2}));
  EXPECT_EQ(value.source, (TensorSource{"m.mlir", "", RawPlace{9, 27, true}}));
  forget_files(*back);
  ASSERT_TRUE(write_graph(c.fs, *back, "out/again.json"));
  EXPECT_EQ(read_graph(c.fs, "out/again.json")->node(back->find("text")).value->tensor, Tensor({2}, std::vector<float>{1, 2}));
}

TEST(Refer, AReplacedFileIsNoticed) {
  Case c;
  refer_to_file(c.graph, c.model, "models/m.bin");
  ASSERT_TRUE(write_graph(c.fs, c.graph, "out/g.json"));
  c.fs.put("models/m.bin", "another model");
  auto back = read_graph(c.fs, "out/g.json");
  ASSERT_FALSE(back);
  const Diagnostic& d = back.failure().diagnostics().front();
  EXPECT_EQ(d.code, "TN015");
  EXPECT_EQ(d.loc.file, "models/m.bin");
  EXPECT_THAT(d.message, HasSubstr("it was replaced"));
  EXPECT_THAT(d.hint, HasSubstr("again"));
}

TEST(Refer, PlacesThatSayTooLittleOrTooMuch) {
  for (const char* keys : {R"("offset": 3)", R"("file_size": 19)", R"("offset": 3, "file_size": 19, "tensor": "first")"}) {
    Case c;
    c.fs.put("g.json", cat(R"({"schema": "buda.graph/1", "name": "g", "level": "tensor", "nodes": [],
 "tensors": [{"name": "t", "dtype": "F32", "shape": [2], "file": "models/m.bin", )",
                           keys, "}]}"));
    auto graph = read_graph(c.fs, "g.json");
    ASSERT_FALSE(graph) << keys;
    EXPECT_EQ(graph.failure().diagnostics().front().code, "GR022") << keys;
  }
}

}  // namespace
}  // namespace buda::graph
