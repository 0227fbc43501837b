// SPDX-License-Identifier: Apache-2.0
// The frontends `native` and `example`.
#include "import_fixture.hpp"

#include <buda/graph/file/graph_file.hpp>
#include <buda/ops/whole_graph/evaluate.hpp>
#include <buda/tensor/tensor_file.hpp>

#include <cmath>

namespace buda::test {
namespace {

class TextFrontends : public ImportTest {
 protected:
  Result<graph::Graph> import_as(const std::string& path, const std::string& text) { return import(text, {}, path); }
  void put_tensor(const std::string& path, Tensor tensor) { ASSERT_TRUE(write_tensors(fs_, path, {{"t", std::move(tensor)}})); }
};

TEST_F(TextFrontends, AGraphWrittenByHandGetsItsTypes) {
  auto graph = import_as("dir/hand.graph.json", R"({"schema": "buda.graph/1", "name": "hand", "level": "tensor",
  "inputs": ["x"], "outputs": ["y"],
  "nodes": [
    {"name": "x", "op": "input", "types": [{"dtype": "F32", "shape": [2, 3]}]},
    {"name": "r", "op": "relu", "inputs": ["x"]},
    {"name": "t", "op": "transpose", "inputs": ["r"], "attrs": {"perm": [1, 0]}},
    {"name": "y", "op": "output", "inputs": ["t"]}
  ]})");
  ASSERT_TRUE(graph) << text_of(graph.failure());
  EXPECT_EQ(graph->name, "hand");
  EXPECT_EQ(graph->node(graph->find("t")).outputs.at(0).shape, (Shape{3, 2}));
}

TEST_F(TextFrontends, AGraphWithAMistakeIsRefusedWithItsLine) {
  auto graph = import_as("dir/hand.graph.json", R"({"schema": "buda.graph/1", "name": "hand", "level": "tensor",
  "inputs": ["x"], "outputs": ["y"],
  "nodes": [
    {"name": "x", "op": "input", "types": [{"dtype": "F32", "shape": [2, 3]}]},
    {"name": "r", "op": "rellu", "inputs": ["x"]},
    {"name": "y", "op": "output", "inputs": ["r"]}
  ]})");
  ASSERT_FALSE(graph);
  const Diagnostic& d = graph.failure().diagnostics().front();
  EXPECT_EQ(d.loc.file, "dir/hand.graph.json");
  EXPECT_EQ(d.loc.line, 5u);
  EXPECT_NE(d.hint.find("relu"), std::string::npos) << d.message << d.hint;
}

constexpr const char* kPerceptron = R"(# two layers
input 2
linear 3 w1.npy b1.npy relu   # hidden

linear 2 w2.npy b2.npy
softmax
)";

TEST_F(TextFrontends, APerceptronAsText) {
  put_tensor("dir/w1.npy", Tensor({2, 3}, std::vector<float>{1, 0, -1, 0, 1, -1}));
  put_tensor("dir/b1.npy", Tensor({3}, std::vector<float>{0, 1, 0}));
  put_tensor("dir/w2.npy", Tensor({3, 2}, std::vector<float>{1, 0, 0, 1, 5, 5}));
  put_tensor("dir/b2.npy", Tensor({2}, std::vector<float>{0.5f, 0}));
  host_.plugin_options["frontend.example"].set("batch", "1");
  auto graph = import_as("dir/m.mlp", kPerceptron);
  ASSERT_TRUE(graph) << text_of(graph.failure());
  auto out = ops::evaluate_graph(*graph, {{"x", Tensor({1, 2}, std::vector<float>{2, 3})}});
  ASSERT_TRUE(out) << text_of(out.failure());
  // relu([2, 4, -5]) = [2, 4, 0]; then [2.5, 4]
  double a = std::exp(2.5), b = std::exp(4.0);
  expect_near(out->at("y").to_f32(), {static_cast<float>(a / (a + b)), static_cast<float>(b / (a + b))});
  EXPECT_EQ(graph->node(graph->find("linear3.relu")).origins, (std::vector<graph::Origin>{{"m.mlp", "line 3"}}));
}

TEST_F(TextFrontends, BadPerceptronsAreRefusedWithAllTheirLines) {
  put_tensor("dir/w.npy", Tensor({2, 3}, std::vector<float>(6)));
  auto graph = import_as("dir/m.mlp", "input two\ninput 2\nlinear 4 w.npy missing.npy\nlinear 4 w.npy w.npy gelu\nconv 3\n");
  ASSERT_FALSE(graph);
  std::string text;
  for (const auto& d : graph.failure().diagnostics()) text += d.loc.file + ":" + std::to_string(d.loc.line) + ": " + d.message + "\n";
  for (const char* part :
       {"dir/m.mlp:1: expected a number of features, found 'two'", "dir/m.mlp:3: 'w.npy' must hold one F32 tensor of shape [2, 4]",
        "dir/missing.npy:0: cannot be read", "dir/m.mlp:4: unknown activation 'gelu'", "dir/m.mlp:5: expected 'input N'"})
    EXPECT_NE(text.find(part), std::string::npos) << "expected '" << part << "' in:\n" << text;
  EXPECT_FALSE(import_as("dir/m.mlp", "# nothing\n"));
  EXPECT_FALSE(import_as("dir/m.mlp", "softmax\n"));
}

TEST_F(TextFrontends, CutOffAnywhereTheyAnswer) {
  std::string whole(kPerceptron);
  for (std::size_t size = 1; size < whole.size(); ++size) {
    auto graph = import_as("dir/m.mlp", whole.substr(0, size));
    EXPECT_TRUE(graph || !graph.failure().diagnostics().empty());
  }
}

}  // namespace
}  // namespace buda::test
