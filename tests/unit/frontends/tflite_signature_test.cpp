// SPDX-License-Identifier: Apache-2.0
// Signatures of TensorFlow Lite models: which subgraph is the model, and what its inputs and outputs are called.
#include "tflite_fixture.hpp"

#include <gmock/gmock.h>

#include <memory>
#include <utility>

namespace buda::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using tfl::BuiltinOperator;
using Names = std::vector<std::pair<std::string, int>>;  // with the tensors that have them

tfl::SignatureDefT& sign(TfliteModel& m, const std::string& key, const Names& inputs, const Names& outputs, unsigned subgraph = 0) {
  auto out = std::make_unique<tfl::SignatureDefT>();
  out->signature_key = key;
  out->subgraph_index = subgraph;
  for (auto [names, maps] : {std::pair{&inputs, &out->inputs}, std::pair{&outputs, &out->outputs}})
    for (const auto& [name, tensor] : *names) {
      maps->push_back(std::make_unique<tfl::TensorMapT>());
      maps->back()->name = name;
      maps->back()->tensor_index = static_cast<unsigned>(tensor);
    }
  m.model().signature_defs.push_back(std::move(out));
  return *m.model().signature_defs.back();
}

std::vector<std::string> names_of(const graph::Graph& graph, const std::vector<graph::NodeId>& nodes) {
  std::vector<std::string> out;
  for (auto id : nodes) out.push_back(graph.node(id).name());
  return out;
}

// x0 - x1 in the first subgraph, x0 + x1 in the second one.
TfliteModel two_subgraphs() {
  TfliteModel m = {};
  for (auto [op, result] : {std::pair{BuiltinOperator::SUB, "difference"}, std::pair{BuiltinOperator::ADD, "sum"}}) {
    if (op == BuiltinOperator::ADD) m.model().subgraphs.push_back(std::make_unique<tfl::SubGraphT>());
    m.select_subgraph(m.model().subgraphs.size() - 1);
    const int a = m.input("x0", {2}), b = m.input("x1", {2}), y = m.tensor(result, {2});
    m.op(op, {a, b}, {y});
    m.output(y);
  }
  m.select_subgraph(0);
  return m;
}

class TfliteSignature : public Tflite {
 protected:
  std::vector<std::string> inputs(const TfliteModel& m) {
    graph::Graph graph = imported(m.bytes());
    return names_of(graph, graph.inputs());
  }
  std::vector<std::string> outputs(const TfliteModel& m) {
    graph::Graph graph = imported(m.bytes());
    return names_of(graph, graph.outputs());
  }
};

// Names are the signature's, in the order of the subgraph; where they come from is still the tensor.
TEST_F(TfliteSignature, NamesInputsAndOutputs) {
  TfliteModel m = two_subgraphs();
  sign(m, "serving_default", {{"minus", 1}, {"plus", 0}}, {{"result", 2}});
  graph::Graph graph = imported(m.bytes());
  EXPECT_THAT(names_of(graph, graph.inputs()), ElementsAre("plus", "minus"));
  EXPECT_THAT(names_of(graph, graph.outputs()), ElementsAre("result"));
  ASSERT_EQ(graph.node(graph.inputs()[0]).origins.size(), 1u);
  EXPECT_EQ(graph.node(graph.inputs()[0]).origins[0].node, "x0");
  EXPECT_EQ(graph.node(graph.outputs()[0]).origins.back().node, "difference");
  EXPECT_TRUE(graph.find("difference").valid()) << "the operator has the name of its tensor";
  EXPECT_TRUE(sink_.diagnostics().empty());
  const Tensor a({2}, std::vector<float>{5, 7}), b({2}, std::vector<float>{1, 2});
  expect_near(run(m, {a, b}).to_f32(), {4, 5});
}

TEST_F(TfliteSignature, SizesAndValuesAreGivenByItsNames) {
  TfliteModel m = two_subgraphs();
  sign(m, "serving_default", {{"plus", 0}, {"minus", 1}}, {{"result", 2}});
  const Tensor a({3}, std::vector<float>{5, 7, 9}), b({3}, std::vector<float>{1, 2, 3});
  EXPECT_THAT(refusal(m.bytes(), {"x0.0=3"}), HasSubstr("plus.0"));
  expect_near(run(m, {a, b}, {"plus.0=3", "minus.0=3"}).to_f32(), {4, 5, 6});
}

// What it leaves out keeps its tensor's name, and a tensor with two names is two outputs.
TEST_F(TfliteSignature, MayNameSomeOnlyOrOneTwice) {
  TfliteModel m = two_subgraphs();
  sign(m, "serving_default", {{"plus", 0}}, {{"result", 2}, {"logits", 2}});
  EXPECT_THAT(inputs(m), ElementsAre("plus", "x1"));
  EXPECT_THAT(outputs(m), ElementsAre("result", "logits"));
}

// Its name may be that of another tensor.
TEST_F(TfliteSignature, NamesMayBeThoseOfOtherTensors) {
  TfliteModel m = two_subgraphs();
  sign(m, "serving_default", {{"x1", 0}, {"difference", 1}}, {{"x0", 2}});
  EXPECT_THAT(inputs(m), ElementsAre("x1", "difference"));
  EXPECT_THAT(outputs(m), ElementsAre("x0"));
  const Tensor a({2}, std::vector<float>{5, 7}), b({2}, std::vector<float>{1, 2});
  expect_near(run(m, {a, b}).to_f32(), {4, 5});
}

TEST_F(TfliteSignature, TheOnlyOneSaysWhichSubgraphIsTheModel) {
  TfliteModel m = two_subgraphs();
  sign(m, "add", {{"a", 0}, {"b", 1}}, {{"sum", 2}}, 1);
  const Tensor a({2}, std::vector<float>{5, 7}), b({2}, std::vector<float>{1, 2});
  expect_near(run(m, {a, b}).to_f32(), {6, 9});
}

TEST_F(TfliteSignature, IsChosenByName) {
  TfliteModel m = two_subgraphs();
  sign(m, "add", {{"a", 0}, {"b", 1}}, {{"total", 2}}, 1);
  sign(m, "subtract", {{"c", 0}, {"d", 1}}, {{"rest", 2}});
  EXPECT_THAT(outputs(m), ElementsAre("rest")) << "that of the first subgraph";
  set_option("signature", "add");
  EXPECT_THAT(outputs(m), ElementsAre("total"));
  set_option("signature", "");
  sign(m, "serving_default", {{"e", 0}, {"f", 1}}, {{"served", 2}}, 1);
  EXPECT_THAT(outputs(m), ElementsAre("served"));
}

TEST_F(TfliteSignature, ThatIsNotThereOrNotClear) {
  TfliteModel m = two_subgraphs();
  set_option("signature", "subtrat");
  EXPECT_THAT(refusal(m.bytes()), HasSubstr("TF020 has no signature 'subtrat'\n  hint: it has none at all"));
  sign(m, "subtract", {}, {});
  sign(m, "less", {}, {});
  EXPECT_THAT(refusal(m.bytes()), HasSubstr("TF020 has no signature 'subtrat'\n  hint: did you mean 'subtract'?"));
  set_option("signature", "");
  EXPECT_THAT(refusal(m.bytes()),
              HasSubstr("TF020 has 2 signatures, none of them named serving_default, and several of the first subgraph\n"
                        "  hint: choose one: --set frontend.tflite.signature=subtract; it has: subtract, less"));
}

// ---- damage

struct Damage {
  std::string key;
  Names inputs, outputs;
  unsigned subgraph;
  std::string said;
};

std::vector<Damage> damages() {
  return {
      {"", {{"a", 0}}, {}, 0, "signature '' has no name"},
      {"s", {{"a", 0}}, {}, 7, "signature 's' names subgraph 7; there are 2"},
      {"s", {{"a", 0}}, {}, ~0u, "signature 's' names subgraph 4294967295; there are 2"},
      {"s", {{"a", 9}}, {}, 0, "signature 's' names tensor 9 as its input 'a', which is no input of subgraph 0"},
      {"s", {{"a", -1}}, {}, 0, "signature 's' names tensor 4294967295 as its input 'a', which is no input of subgraph 0"},
      {"s", {}, {{"y", 1}}, 0, "signature 's' names tensor 1 as its output 'y', which is no output of subgraph 0"},
      {"s", {{"a", 0}, {"a", 1}}, {}, 0, "signature 's' has two inputs named 'a'"},
      {"s", {{"a", 0}, {"b", 0}}, {}, 0, "signature 's' has two names for the input that is tensor 0"},
      {"s", {}, {{"y", 2}, {"y", 2}}, 0, "signature 's' has two outputs named 'y'"},
      {"s", {{"", 0}}, {}, 0, "signature 's' has an input without a name"},
  };
}

TfliteModel damaged(const Damage& damage) {
  TfliteModel m = two_subgraphs();
  sign(m, damage.key, damage.inputs, damage.outputs, damage.subgraph);
  return m;
}

TEST_F(TfliteSignature, DamagedOneIsLeftOut) {
  std::size_t warnings = 0;
  for (const auto& damage : damages()) {
    SCOPED_TRACE(damage.said);
    EXPECT_THAT(inputs(damaged(damage)), ElementsAre("x0", "x1"));
    ASSERT_EQ(sink_.diagnostics().size(), ++warnings);
    EXPECT_EQ(sink_.diagnostics().back().code, "TF006");
    EXPECT_EQ(sink_.diagnostics().back().severity, Severity::warning);
    EXPECT_EQ(sink_.diagnostics().back().message, damage.said);
  }
}

TEST_F(TfliteSignature, DamagedOneIsRefusedWhereItWasAskedFor) {
  set_option("signature", "s");
  for (const auto& damage : damages())
    if (!damage.key.empty()) EXPECT_THAT(refusal(damaged(damage).bytes()), HasSubstr("TF006 " + damage.said));
}

TEST_F(TfliteSignature, TwoOfOneName) {
  TfliteModel m = two_subgraphs();
  sign(m, "s", {}, {});
  sign(m, "s", {}, {}, 1);
  set_option("signature", "s");
  EXPECT_THAT(refusal(m.bytes()), HasSubstr("TF006 signature 's' has a name that 2 signatures have"));
}

TEST_F(TfliteSignature, TablesThatAreNotThere) {
  TfliteModel m = two_subgraphs();
  m.model().signature_defs.push_back(std::make_unique<tfl::SignatureDefT>());
  EXPECT_THAT(inputs(m), ElementsAre("x0", "x1"));
}

// ---- metadata

TEST_F(TfliteSignature, MetadataDoesNotDisturb) {
  class Told final : public cli::ToolHost {
   public:
    using ToolHost::ToolHost;
    void log(int, std::string_view line) override { lines += cat(line, '\n'); }
    std::string lines;
  };
  TfliteModel m = two_subgraphs();
  const std::vector<std::pair<std::string, std::string>> notes{{"min_runtime_version", std::string("1.5.0\0\0\0", 8)},
                                                               {"CONVERSION_METADATA", std::string("\x0c\0\0\x08", 4)},
                                                               {"zeros", std::string(3, '\0')}};
  for (const auto& [name, text] : notes) {
    auto buffer = std::make_unique<tfl::BufferT>();
    buffer->data.assign(text.begin(), text.end());
    auto record = std::make_unique<tfl::MetadataT>();
    record->name = name;
    record->buffer = static_cast<unsigned>(m.model().buffers.size());
    m.model().buffers.push_back(std::move(buffer));
    m.model().metadata.push_back(std::move(record));
  }
  m.model().metadata.push_back(std::make_unique<tfl::MetadataT>());
  m.model().metadata.back()->buffer = 99;
  sign(m, "s", {}, {});
  Told told(fs_, sink_);
  told.plugins = host_.plugins;
  fs_.put("dir/m.tflite", m.bytes());
  importer::Options options{.model = "dir/m.tflite", .output = "m.graph.json", .frontend = {}, .name = {}, .dims = {}};
  auto done = importer::run(options, told);
  ASSERT_TRUE(done) << text_of(done.failure());
  EXPECT_THAT(told.lines,
              HasSubstr("m.tflite: metadata: min_runtime_version 1.5.0, CONVERSION_METADATA (4 bytes), zeros (3 bytes),  (0 bytes)\n"));
  EXPECT_THAT(told.lines, HasSubstr("m.tflite: signature 's'\n"));
  EXPECT_TRUE(sink_.diagnostics().empty());
}

}  // namespace
}  // namespace buda::test
