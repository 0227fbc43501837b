// SPDX-License-Identifier: Apache-2.0
// What the page gets of graphs, and that no text in them can become code.
#include "apps/reportify/pass_data.hpp"

#include <buda/io/json.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace buda::reportify {
namespace {

using ::testing::HasSubstr, ::testing::Not;

graph::ValueType row() { return {.dtype = DType::f32, .shape = Shape{1, 32}, .format = {}}; }

// x -> leaky_relu -> …, `count` ops.
graph::Graph chain(std::size_t count) {
  graph::Graph out("chain");
  graph::NodeId last = out.add("x", "input");
  out.node(last).outputs = {row()};
  for (std::size_t i = 0; i < count; ++i) {
    last = out.add("op" + std::to_string(i), "leaky_relu", {last});
    out.node(last).outputs = {row()};
  }
  out.add("y", "output", {last});
  return out;
}

TEST(ReportifyPassData, ANodeHasAllThatTheGraphKnowsOfIt) {
  graph::Graph g = chain(1);
  graph::Node& op = g.node(g.find("op0"));
  op.attrs["alpha"] = 0.1;
  op.precision.fidelity = graph::MathFidelity::hifi2;
  op.tags["layer"] = "first";
  op.origins = {{.file = "m.onnx", .node = "LeakyRelu_3"}};
  const std::string text = io::json_line(pass_data(g, nullptr));
  EXPECT_THAT(text, HasSubstr(R"({"name": "op0", "op": "leaky_relu", "kind": "op", "types": ["F32 [1, 32]"], "inputs": [[0, 0, ""]], )"
                              R"("attrs": [["alpha", "0.1"]], "precision": [["fidelity", "HiFi2"]], "tags": [["layer", "first"]], )"
                              R"("origins": [["m.onnx", "LeakyRelu_3"]]})"));
  EXPECT_THAT(text, HasSubstr(R"("kind": "output", "types": [], "inputs": [[1, 0, ""]])"));
}

TEST(ReportifyPassData, OnlyALargeGraphIsDividedAndEachNodeIsInAPart) {
  EXPECT_THAT(io::json_line(pass_data(chain(100), nullptr)), Not(HasSubstr("\"part\"")));
  const io::Node data = pass_data(chain(5000), nullptr);
  std::set<std::string> parts;
  for (const io::Node& node : data.find("nodes")->items()) {
    ASSERT_NE(node.find("part"), nullptr);
    parts.insert(node.find("part")->text());
  }
  EXPECT_GT(parts.size(), 50u);
  EXPECT_LE(parts.size(), 150u);
}

TEST(ReportifyScript, NoTextEndsTheScriptAndNoNameBecomesAKey) {
  graph::Graph g("</script><!--");
  const graph::NodeId x = g.add("</script><img onerror=x>", "input");
  g.node(x).outputs = {row()};
  g.node(x).tags["__proto__"] = "\"]);alert(1);//";
  g.add("y", "output", {x});
  const std::string script = data_script("0/pass-0", pass_data(g, nullptr));
  EXPECT_THAT(script, Not(HasSubstr("<")));
  EXPECT_THAT(script, HasSubstr(R"("\u003c/script>\u003cimg onerror=x>")"));
  EXPECT_THAT(script, HasSubstr(R"([["__proto__", "\"]);alert(1);//"]])"));
  EXPECT_TRUE(script.starts_with("reportify.receive(\"0/pass-0\", {"));
  EXPECT_TRUE(script.ends_with("});\n"));
}

TEST(ReportifyScript, BytesThatAreNoTextBecomeCharacters) {
  EXPECT_EQ(data_script("a", io::Node::string("\xff\n")), "reportify.receive(\"a\", \"\xef\xbf\xbd\\n\");\n");
}

}  // namespace
}  // namespace buda::reportify
