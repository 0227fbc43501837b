// SPDX-License-Identifier: Apache-2.0
// TensorFlow graphs in protobuf's text form, written here, against numbers computed by hand; damaged files; SavedModels with a checkpoint
// that is put together byte by byte.
#include "import_fixture.hpp"
#include "tensorflow_checkpoint.hpp"

#include <buda/base/rng.hpp>
#include <buda/base/text.hpp>
#include <buda/graph/file/graph_file.hpp>
#include <buda/io/protobuf.hpp>
#include <buda/ops/whole_graph/evaluate.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

namespace buda::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Texts = std::vector<std::string>;
using Floats = std::vector<float>;

// ---- graphs as text

std::string shape_text(const std::vector<int>& sizes) {
  std::string out = "shape { ";
  for (int size : sizes) out += cat("dim { size: ", size, " } ");
  return out + "}";
}

std::string placeholder(const std::string& name, const std::vector<int>& sizes) {
  return cat("node { name: \"", name,
             "\" op: \"Placeholder\" attr { key: \"dtype\" value { type: DT_FLOAT } } attr { key: \"shape\" value { ", shape_text(sizes),
             " } } }\n");
}

std::string constant(const std::string& name, const std::vector<int>& sizes, const Floats& values, const std::string& control = "") {
  std::string text = cat("node { name: \"", name, "\" op: \"Const\" ", control.empty() ? "" : cat("input: \"", control, "\" "),
                         "attr { key: \"value\" value { tensor { dtype: DT_FLOAT tensor_", shape_text(sizes));
  for (float v : values) text += cat(" float_val: ", v);
  return text + " } } } }\n";
}

std::string integers(const std::string& name, const std::vector<int>& sizes, const std::vector<int>& values) {
  std::string text =
      cat("node { name: \"", name, "\" op: \"Const\" attr { key: \"value\" value { tensor { dtype: DT_INT32 tensor_", shape_text(sizes));
  for (int v : values) text += cat(" int_val: ", v);
  return text + " } } } }\n";
}

std::string truth(const std::string& name, bool value) {
  return cat("node { name: \"", name,
             "\" op: \"Const\" attr { key: \"value\" value { tensor { dtype: DT_BOOL tensor_shape { } bool_val: ", value, " } } } }\n");
}

// attrs: "key: value" of AttrValue, as {"axis", "i: 1"}.
std::string node(const std::string& op, const std::string& name, const Texts& inputs,
                 const std::vector<std::pair<std::string, std::string>>& attrs = {}, const std::string& field = "node") {
  std::string text = cat(field, " { name: \"", name, "\" op: \"", op, "\" ");
  for (const auto& input : inputs) text += cat("input: \"", input, "\" ");
  for (const auto& [key, value] : attrs) text += cat("attr { key: \"", key, "\" value { ", value, " } } ");
  return text + "}\n";
}

std::string in_function(std::string text) {
  for (std::size_t at = 0; (at = text.find("node {", at)) != std::string::npos; at += 10) text.replace(at, 6, "node_def {");
  return text;
}

std::string function(const std::string& name, const Texts& arguments, const std::vector<std::pair<std::string, std::string>>& results,
                     const std::string& nodes) {
  std::string text = cat("function { signature { name: \"", name, "\" ");
  for (const auto& a : arguments) text += cat("input_arg { name: \"", a, "\" type: DT_FLOAT } ");
  for (const auto& [result, value] : results) text += cat("output_arg { name: \"", result, "\" type: DT_FLOAT } ");
  text += "}\n" + in_function(nodes);
  for (const auto& [result, value] : results) text += cat("ret { key: \"", result, "\" value: \"", value, "\" } ");
  return text + "}\n";
}

std::string library(const std::string& functions) { return cat("library {\n", functions, "}\n"); }

std::pair<std::string, std::string> calls(const std::string& attr, const std::string& function) {
  return {attr, cat("func { name: \"", function, "\" }")};
}

class TensorFlow : public ImportTest {
 protected:
  Result<graph::Graph> import_model(const std::string& bytes, const std::vector<std::pair<std::string, std::string>>& set = {},
                                    const Texts& dims = {}, const Texts& shapes = {}, const std::string& path = "dir/m.pbtxt") {
    fs_.put(path, bytes);
    host_.plugin_options["frontend.tensorflow"] = {};
    for (const auto& [name, value] : set) host_.plugin_options["frontend.tensorflow"].set(name, value);
    importer::Options options{
        .model = path, .output = "out/m.graph.json", .frontend = "tensorflow", .name = {}, .dims = dims, .input_shapes = shapes};
    BUDA_TRY(ImportTest::run(options));
    return graph::read_graph(fs_, options.output);
  }

  NamedTensors run(const std::string& text, const std::vector<Tensor>& inputs,
                   const std::vector<std::pair<std::string, std::string>>& set = {}) {
    auto graph = import_model(text, set);
    if (!graph) {
      ADD_FAILURE() << text_of(graph.failure());
      return {};
    }
    NamedTensors named;
    for (std::size_t i = 0; i < inputs.size() && i < graph->inputs().size(); ++i)
      named.emplace(graph->node(graph->inputs()[i]).name(), inputs[i]);
    auto outputs = ops::evaluate_graph(*graph, named);
    if (outputs) return std::move(outputs).value();
    ADD_FAILURE() << text_of(outputs.failure());
    return {};
  }

  Floats one(const std::string& text, const std::vector<Tensor>& inputs) {
    auto outputs = run(text, inputs);
    return outputs.size() == 1 ? outputs.begin()->second.to_f32() : Floats{};
  }

  std::string refused(const std::string& bytes, const Texts& dims = {}, const Texts& shapes = {}) {
    fs_.put("out/m.graph.json", "");  // of an earlier import
    auto graph = import_model(bytes, {}, dims, shapes);
    EXPECT_TRUE(fs_.find("out/m.graph.json")->empty()) << "nothing may be written";
    return graph ? "imported" : text_of(graph.failure());
  }
};

const Tensor kTwo(Shape{1, 2}, Floats{1, -2});

TEST_F(TensorFlow, NamesAreThoseOfTheFile) {
  auto graph = import_model(placeholder("x", {1, 2}) + constant("layer/w", {2, 2}, {1, 2, 3, 4}) +
                            node("MatMul", "layer/mul", {"x", "layer/w"}) + node("Relu", "y", {"layer/mul:0"}));
  ASSERT_TRUE(graph) << text_of(graph.failure());
  EXPECT_EQ(graph->name, "m");
  EXPECT_TRUE(graph->find("layer/w").valid());
  EXPECT_TRUE(graph->find("layer/mul").valid());
  EXPECT_TRUE(graph->find_output("y").valid());
  EXPECT_EQ(graph->node(graph->find("layer/mul")).origins.at(0).node, "layer/mul");
}

TEST_F(TensorFlow, NodesStandInAnyOrder) {
  EXPECT_THAT(one(node("AddV2", "y", {"a", "b"}) + node("Neg", "b", {"x"}) + node("Square", "a", {"x"}) + placeholder("x", {1, 2}), {kTwo}),
              ElementsAre(0, 6));
}

TEST_F(TensorFlow, LastElementOfAListStandsForAll) {
  EXPECT_THAT(one(placeholder("x", {1, 2}) + constant("c", {2}, {3}) + node("Mul", "y", {"x", "c"}), {kTwo}), ElementsAre(3, -6));
}

TEST_F(TensorFlow, OutputsAndInputsCanBeChosen) {
  std::string text = placeholder("x", {1, 2}) + node("Square", "a", {"x"}) + node("Neg", "logits", {"a"}) + node("Exp", "c", {"logits"});
  auto graph = import_model(text, {{"inputs", "a"}, {"outputs", "logits"}}, {}, {"a=1,2"});
  ASSERT_TRUE(graph) << text_of(graph.failure());
  ASSERT_EQ(graph->inputs().size(), 1u);
  EXPECT_EQ(graph->node(graph->inputs()[0]).name(), "a");
  EXPECT_TRUE(graph->find_output("logits").valid());
  auto wrong = import_model(text, {{"outputs", "logit"}});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(text_of(wrong.failure()),
            "GF022 option --set frontend.tensorflow.outputs: the graph has no node 'logit'\n  hint: did you mean 'logits'?\n");
}

TEST_F(TensorFlow, EveryUnsupportedOperatorIsReportedAtOnce) {
  EXPECT_EQ(
      refused(placeholder("x", {1, 2}) + node("Frobnicate", "f", {"x"}) + node("Relu", "r", {"f"}) + node("RandomUniform", "g", {"r"}) +
              node("Frobnicate", "h", {"g"})),
      "GF030 the model uses 2 operators that are not supported\n"
      "  note: op type Frobnicate: not read yet: end the model before it with --set frontend.tensorflow.outputs=NAMES, or start it after "
      "that with --set frontend.tensorflow.inputs=NAMES and --input-shape; used by 2 nodes: f, h\n"
      "  note: op type RandomUniform: its result is random, while a compiled model gives the same result for the same input; export the "
      "model for inference; used by 1 node: g\n");
}

TEST_F(TensorFlow, RefusalsNameTheReason) {
  std::string x = placeholder("x", {1, 2});
  EXPECT_EQ(refused(x + node("Relu", "y", {"z"})), "GF031 'y' uses 'z', which is not a node of its graph or function\n");
  EXPECT_EQ(refused(x + node("AddV2", "y", {"x", "z"}) + node("Neg", "z", {"y"}) + node("Exp", "out", {"z"})),
            "GF033 node 'z' (op type Neg): it depends on its own result\n");
  EXPECT_EQ(refused(x + node("Relu", "y", {"x"}) + node("Neg", "y", {"x"})), "GF003 has two nodes named 'y'\n");
  EXPECT_THAT(refused(x + node("Reshape", "y", {"x", "x"})),
              HasSubstr("GF040 node 'y' (op type Reshape): its shape (input 1, 'x') is computed at run time"));
  EXPECT_EQ(refused(x + node("TopKV2", "t", {"x", "k"}) + integers("k", {}, {1}) + node("Neg", "y", {"t:2"})),
            "GF032 node 't' (op type TopKV2): its result 't:2', which 'y' uses, is not there, or not supported\n");
  EXPECT_EQ(refused(x + constant("w", {2, 2}, {1, 2, 3, 4, 5}) + node("MatMul", "y", {"x", "w"})),
            "GF004 node 'w' (op type Const): has 5 elements; its shape [2, 2] needs 4\n");
  EXPECT_THAT(refused(x + node("VarHandleOp", "v", {}) + node("ReadVariableOp", "r", {"v"}) + node("Mul", "y", {"x", "r"})),
              HasSubstr("reads the variable 'v', whose value is not in this file\n  hint: freeze the graph"));
  EXPECT_THAT(refused("node { name: \"x\" op: }"), HasSubstr("GF001 is not a TensorFlow model: "));
}

TEST_F(TensorFlow, OpenSizesAreGivenByTheUser) {
  std::string text = placeholder("x", {-1, 2}) + node("Neg", "y", {"x"});
  EXPECT_EQ(refused(text), "GF024 input 'x' has the shape [?, 2], of which sizes are open\n  hint: give them: --dim x.0=1\n");
  EXPECT_EQ(refused(text, {"z.0=1", "x.0=3"}), "GF025 --dim z.0=1: the model has no dimension 'z.0'\n  hint: did you mean 'x.0'?\n");
  std::string shapeless = "node { name: \"x\" op: \"Placeholder\" }\n" + node("Neg", "y", {"x"});
  EXPECT_EQ(refused(shapeless), "GF024 input 'x' has no shape in the file\n  hint: give one: --input-shape x=1,224,224,3\n");
  EXPECT_TRUE(import_model(shapeless, {}, {}, {"x=2,2"}));
  auto graph = import_model(text, {}, {"x.0=3"});
  ASSERT_TRUE(graph) << text_of(graph.failure());
  EXPECT_EQ(graph->node(graph->inputs()[0]).outputs[0].shape, (Shape{3, 2}));
}

TEST_F(TensorFlow, FunctionsAreInlined) {
  std::string body = node("Mul", "product", {"a", "w:output:0"}) + constant("w", {2}, {2, 3}) +
                     node("Split", "parts", {"axis:output:0", "product:z:0"}, {{"num_split", "i: 2"}}) + integers("axis", {}, {1});
  std::string text = placeholder("x", {1, 2}) +
                     library(function("f", {"a"}, {{"first", "parts:output:1"}, {"second", "product:z:0"}}, body)) +
                     node("PartitionedCall", "call", {"x"}, {calls("f", "f")}) +
                     node("StatefulPartitionedCall", "StatefulPartitionedCall_3", {"call:1"}, {calls("f", "f")}) +
                     node("AddV2", "y", {"call", "StatefulPartitionedCall_3:1"});
  auto graph = import_model(text);
  ASSERT_TRUE(graph) << text_of(graph.failure());
  EXPECT_TRUE(graph->find("call/product").valid());
  EXPECT_TRUE(graph->find("product").valid()) << "TensorFlow's own name of a call says nothing";
  EXPECT_FALSE(graph->find("call/w_1").valid()) << "a function's constant is there once";
  EXPECT_THAT(one(text, {kTwo}), ElementsAre(4 - 6, -18 - 6));
}

TEST_F(TensorFlow, RecursionIsRefused) {
  std::string text = placeholder("x", {1, 2}) +
                     library(function("f", {"a"}, {{"r", "again:output:0"}}, node("PartitionedCall", "again", {"a"}, {calls("f", "f")}))) +
                     node("PartitionedCall", "call", {"x"}, {calls("f", "f")});
  EXPECT_THAT(refused(text), HasSubstr("calls functions more than 64 deep"));
  EXPECT_THAT(refused(placeholder("x", {1, 2}) + node("PartitionedCall", "call", {"x"}, {calls("f", "g")})),
              HasSubstr("calls the function 'g', which the model does not have"));
}

// Each function calls the one before it twice.
TEST_F(TensorFlow, AnImportHasAnEnd) {
  constexpr int kFunctions = 20;
  std::string functions = function("f0", {"a"}, {{"r", "n:y:0"}}, node("Neg", "n", {"a"}));
  for (int i = 1; i <= kFunctions; ++i)
    functions += function(cat("f", i), {"a"}, {{"r", "second:output:0"}},
                          node("PartitionedCall", "first", {"a"}, {calls("f", cat("f", i - 1))}) +
                              node("PartitionedCall", "second", {"first:output:0"}, {calls("f", cat("f", i - 1))}));
  EXPECT_THAT(
      refused(placeholder("x", {1, 2}) + library(functions) + node("PartitionedCall", "call", {"x"}, {calls("f", cat("f", kFunctions))})),
      ::testing::AllOf(HasSubstr("GF035"), HasSubstr("is where the import ends: 1048576 nodes were imported, by loops and calls")));
}

// A Switch leaves one branch, constants that only run behind it among them.
TEST_F(TensorFlow, ConditionsOfControlFlowV1) {
  for (bool condition : {true, false}) {
    std::string text = placeholder("x", {1, 2}) + truth("c", condition) + node("Switch", "s", {"x", "c"}) +
                       node("Switch", "pivot", {"c", "c"}) + node("Identity", "t", {"pivot:1"}) + constant("two", {}, {2}, "^t") +
                       node("Mul", "on", {"s:1", "two"}) + node("Neg", "off", {"s"}) + node("Merge", "m", {"off", "on"}) +
                       node("Cast", "which", {"m:1"}, {{"DstT", "type: DT_FLOAT"}}) + node("AddV2", "y", {"m", "which"});
    EXPECT_THAT(one(text, {kTwo}), condition ? ElementsAre(3, -3) : ElementsAre(-1, 2));
  }
  EXPECT_THAT(refused(placeholder("x", {1, 2}) + placeholder("c", {}) + node("Switch", "s", {"x", "c"}) + node("Neg", "y", {"s:1"})),
              HasSubstr("its condition (input 1) is computed at run time; it must be constant\n  hint: give the value of what it depends "
                        "on: --value c=FILE"));
}

std::string loop_v1() {
  std::vector<std::pair<std::string, std::string>> frame{{"frame_name", "s: \"loop\""}};
  return placeholder("x", {1, 2}) + integers("zero", {}, {0}) + integers("three", {}, {3}) + constant("w", {2}, {2, 3}) +
         node("Enter", "ei", {"zero"}, frame) + node("Enter", "ex", {"x"}, frame) +
         node("Enter", "ew", {"w"}, {frame[0], {"is_constant", "b: true"}}) + node("Enter", "en", {"three"}, frame) +
         node("Merge", "mi", {"ei", "ni"}) + node("Merge", "mx", {"ex", "nx"}) + node("Less", "less", {"mi", "en"}) +
         node("LoopCond", "cond", {"less"}) + node("Switch", "si", {"mi", "cond"}) + node("Switch", "sx", {"mx", "cond"}) +
         node("Identity", "inside", {"si:1"}) +
         "node { name: \"one\" op: \"Const\" input: \"^inside\" attr { key: \"value\" value { tensor { dtype: DT_INT32 tensor_shape { } "
         "int_val: 1 } } } }\n" +
         node("Add", "next", {"inside", "one"}) + node("Mul", "product", {"sx:1", "ew"}) + node("NextIteration", "ni", {"next"}) +
         node("NextIteration", "nx", {"product"}) + node("Exit", "xi", {"si"}) + node("Exit", "y", {"sx"});
}

TEST_F(TensorFlow, LoopsOfControlFlowV1) {
  auto outputs = run(loop_v1(), {kTwo}, {{"outputs", "y"}});
  EXPECT_THAT(outputs.at("y").to_f32(), ElementsAre(8, -54));
}

TEST_F(TensorFlow, LoopsOfControlFlowV2) {
  std::string condition =
      function("c", {"i", "v"}, {{"r", "less:z:0"}}, node("Less", "less", {"i", "three:output:0"}) + integers("three", {}, {3}));
  std::string body = function("b", {"i", "v"}, {{"ri", "next:z:0"}, {"rv", "sum:z:0"}},
                              node("AddV2", "next", {"i", "one:output:0"}) + integers("one", {}, {1}) + node("AddV2", "sum", {"v", "v"}));
  std::string text = placeholder("x", {1, 2}) + integers("zero", {}, {0}) + library(condition + body) +
                     node("StatelessWhile", "loop", {"zero", "x"}, {calls("cond", "c"), calls("body", "b")}) +
                     node("Identity", "y", {"loop:1"});
  EXPECT_THAT(one(text, {kTwo}), ElementsAre(8, -16));
  std::string endless = function("e", {"i", "v"}, {{"r", "yes:output:0"}}, truth("yes", true));
  EXPECT_THAT(refused(placeholder("x", {1, 2}) + integers("zero", {}, {0}) + library(endless + body) +
                      node("While", "loop", {"zero", "x"}, {calls("cond", "e"), calls("body", "b")}) + node("Identity", "y", {"loop:1"})),
              HasSubstr("runs more than"));
}

TEST_F(TensorFlow, BranchesOfControlFlowV2) {
  std::string text = placeholder("x", {1, 2}) + integers("number", {}, {7}) +
                     library(function("double", {"a"}, {{"r", "sum:z:0"}}, node("AddV2", "sum", {"a", "a"})) +
                             function("negate", {"a"}, {{"r", "neg:y:0"}}, node("Neg", "neg", {"a"})));
  EXPECT_THAT(one(text + node("If", "y", {"number", "x"}, {calls("then_branch", "double"), calls("else_branch", "negate")}), {kTwo}),
              ElementsAre(2, -4));
  EXPECT_THAT(one(text + node("StatelessCase", "y", {"number", "x"},
                              {{"branches", "list { func { name: \"double\" } func { name: \"negate\" } }"}}),
                  {kTwo}),
              ElementsAre(-1, 2));
}

TEST_F(TensorFlow, OfBranchesOnDataOneIsSelected) {
  std::string text = placeholder("x", {1, 2}) + placeholder("switch", {}) +
                     library(function("double", {"a"}, {{"r", "sum:z:0"}}, node("AddV2", "sum", {"a", "a"})) +
                             function("negate", {"a"}, {{"r", "neg:y:0"}}, node("Neg", "neg", {"a"})));
  for (const char* op : {"If", "StatelessIf"}) {
    std::string model = text + node(op, "y", {"switch", "x"}, {calls("then_branch", "double"), calls("else_branch", "negate")});
    EXPECT_THAT(one(model, {kTwo, Tensor::scalar(3.0f)}), ElementsAre(2, -4));
    EXPECT_THAT(one(model, {kTwo, Tensor::scalar(0.0f)}), ElementsAre(-1, 2));
  }
}

TEST_F(TensorFlow, ListsLiveWhileImporting) {
  std::string x = placeholder("x", {2, 2}) + integers("zero", {}, {0}) + integers("one", {}, {1}) + integers("two", {}, {2}) +
                  integers("shape", {1}, {2});
  const Tensor square(Shape{2, 2}, Floats{1, 2, 3, 4});
  std::string list = node("TensorListFromTensor", "l", {"x", "shape"}) + node("TensorListGetItem", "first", {"l", "zero", "shape"}) +
                     node("TensorListReserve", "r", {"shape", "two"}) + node("TensorListSetItem", "a", {"r", "one", "first"}) +
                     node("TensorListGetItem", "second", {"l", "one", "shape"}) + node("TensorListSetItem", "b", {"a", "zero", "second"}) +
                     node("TensorListStack", "y", {"b", "shape"});
  EXPECT_THAT(one(x + list, {square}), ElementsAre(3, 4, 1, 2));
  std::string array = integers("places", {2}, {1, 0}) + node("TensorArrayV3", "t", {"two"}) +
                      node("TensorArrayScatterV3", "s", {"t", "places", "x", "t:1"}) + node("TensorArrayReadV3", "e", {"t", "zero", "s"}) +
                      node("TensorArrayWriteV3", "w", {"t", "one", "e", "s"}) + node("TensorArrayGatherV3", "y", {"t", "places", "w"});
  EXPECT_THAT(one(x + array, {square}), ElementsAre(3, 4, 3, 4));
  EXPECT_THAT(refused(x + node("TensorListReserve", "r", {"shape", "two"}) + node("TensorListStack", "s", {"r", "shape"}) +
                      node("AddV2", "y", {"s", "x"})),
              HasSubstr("element 0 of its list was not written"));
}

// Steps of 1 from -2 to 5; halves go upwards.
TEST_F(TensorFlow, FakeQuantRoundsAsTheReference) {
  std::string text = placeholder("x", {1, 5}) +
                     node("FakeQuantWithMinMaxArgs", "y", {"x"}, {{"min", "f: -2.25"}, {"max", "f: 4.75"}, {"num_bits", "i: 3"}});
  EXPECT_THAT(one(text, {Tensor(Shape{1, 5}, Floats{-3, 0.25f, 0.5f, -0.5f, 9})}), ElementsAre(-2, 0, 1, 0, 5));
}

TEST_F(TensorFlow, ImagesStayWithChannelsFirstBetweenConvolutions) {
  std::string text = placeholder("x", {1, 4, 4, 1}) + constant("w", {1, 1, 1, 2}, {1, -1}) + constant("b", {2}, {0.5f, 1}) +
                     node("Conv2D", "c", {"x", "w"}, {{"strides", "list { i: [1, 1, 1, 1] }"}, {"padding", "s: \"SAME\""}}) +
                     node("BiasAdd", "a", {"c", "b"}) + node("Relu", "r", {"a"}) + integers("axes", {2}, {1, 2}) +
                     node("Mean", "y", {"r", "axes"}, {{"keep_dims", "b: false"}});
  auto graph = import_model(text);
  ASSERT_TRUE(graph) << text_of(graph.failure());
  int transposes = 0;
  for (auto id : graph->topological_order()) transposes += graph->node(id).op() == "transpose" ? 1 : 0;
  EXPECT_EQ(transposes, 2) << "of the input and of the kernel";
  EXPECT_THAT(one(text, {Tensor(Shape{1, 4, 4, 1}, Floats(16, 2))}), ElementsAre(2.5f, 0));
}

// ---- binary files

void append(std::string& out, std::uint32_t field, std::string_view message) {
  io::append_tag(out, field, 2);
  io::append_varint(out, message.size());
  out.append(message);
}

void append(std::string& out, std::uint32_t field, std::uint64_t number) {
  io::append_tag(out, field, 0);
  io::append_varint(out, number);
}

std::string attribute(const std::string& key, const std::string& value) {
  std::string out;
  append(out, 1, key);
  append(out, 2, value);
  return out;
}

std::string binary_node(const std::string& op, const std::string& name, const Texts& inputs, const Texts& attributes = {}) {
  std::string message, out;
  append(message, 1, name);
  append(message, 2, op);
  for (const auto& input : inputs) append(message, 3, input);
  for (const auto& a : attributes) append(message, 5, a);
  append(out, 1, message);
  return out;
}

std::string shape_message(const std::vector<std::uint64_t>& sizes) {
  std::string out;
  for (auto size : sizes) {
    std::string dim;
    append(dim, 1, size);
    append(out, 2, dim);
  }
  return out;
}

std::string typed(std::uint32_t field, std::uint64_t type) {
  std::string out;
  append(out, field, type);
  return out;
}

std::string binary_placeholder(const std::string& name, const std::vector<std::uint64_t>& sizes) {
  std::string shape;
  append(shape, 7, shape_message(sizes));
  return binary_node("Placeholder", name, {}, {attribute("dtype", typed(6, 1)), attribute("shape", shape)});
}

std::string binary_constant(const std::string& name, std::uint64_t rows, std::uint64_t columns) {
  std::vector<float> values(rows * columns);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  std::string tensor = typed(1, 1), value;
  append(tensor, 2, shape_message({rows, columns}));
  append(tensor, 4, std::string_view(reinterpret_cast<const char*>(values.data()), 4 * values.size()));
  append(value, 8, tensor);
  return binary_node("Const", name, {}, {attribute("value", value)});
}

std::string binary_graph() {
  return binary_placeholder("x", {1, 2}) + binary_constant("w", 2, 100) + binary_node("MatMul", "y", {"x", "w"});
}

TEST_F(TensorFlow, WeightsStayInTheFile) {
  auto graph = import_model(binary_graph(), {}, {}, {}, "dir/m.pb");
  ASSERT_TRUE(graph) << text_of(graph.failure());
  EXPECT_THAT(std::string(fs_.find("out/m.graph.json")->view()), HasSubstr("dir/m.pb"));
  auto y = run(binary_graph(), {kTwo}).at("y").to_f32();
  ASSERT_EQ(y.size(), 100u);
  EXPECT_EQ(y[7], 7 - 2 * 107);
}

TEST_F(TensorFlow, DamagedFilesAreReadOrRefused) {
  Rng rng(17);
  for (const std::string& original : {binary_graph(), loop_v1(), saved_model_bytes()})
    for (int i = 0; i < 300; ++i) {
      std::string damaged = original;
      for (std::uint64_t k = 0; k < 1 + rng.below(4); ++k) damaged[rng.below(damaged.size())] = static_cast<char>(rng.below(256));
      if (i % 5 == 0) damaged.resize(rng.below(damaged.size()));
      auto graph = import_model(damaged + " ", {}, {}, {}, "dir/m.pb");
      if (!graph) EXPECT_FALSE(text_of(graph.failure()).empty());
    }
}

// ---- SavedModels

class SavedModel : public TensorFlow {
 protected:
  SavedModel() {
    fs_.put("kws/variables/variables.index", checkpoint_index(kWeights));
    fs_.put("kws/variables/variables.data-00000-of-00001", kWeights);
  }
  Result<graph::Graph> import_saved(const std::vector<std::pair<std::string, std::string>>& set = {}) {
    return import_model(saved_model_bytes(), set, {"x.0=1"}, {}, "kws/saved_model.pb");
  }

  const std::string kWeights = checkpoint_weights();
};

TEST_F(SavedModel, VariablesComeFromTheCheckpoint) {
  auto graph = import_saved();
  ASSERT_TRUE(graph) << text_of(graph.failure());
  EXPECT_EQ(graph->name, "kws");
  EXPECT_TRUE(graph->find("dense/kernel").valid());
  EXPECT_TRUE(graph->find_output("scores").valid());
  auto outputs = ops::evaluate_graph(*graph, {{"x", kTwo}});
  ASSERT_TRUE(outputs) << text_of(outputs.failure());
  EXPECT_THAT(outputs->at("scores").to_f32(), ElementsAre(1 - 6, 2 - 8));
  EXPECT_EQ(fs_.files_read().count("kws/variables/variables.data-00000-of-00001"), 1u);
}

TEST_F(SavedModel, DamageIsFound) {
  std::string weights = kWeights;
  weights[9] ^= 1;
  fs_.put("kws/variables/variables.data-00000-of-00001", weights);
  auto graph = import_saved();
  ASSERT_FALSE(graph);
  EXPECT_EQ(text_of(graph.failure()),
            "GF012 variable 'layer/kernel/.ATTRIBUTES/VARIABLE_VALUE' has a checksum that does not fit its bytes: the file is damaged\n");
  std::string index = checkpoint_index(kWeights);
  for (std::size_t at = 0; at < index.size(); ++at) {
    std::string damaged = index;
    damaged[at] ^= 0x41;
    fs_.put("kws/variables/variables.index", damaged);
    auto read = import_saved();
    if (at + 48 < index.size()) EXPECT_FALSE(read) << "byte " << at;  // the footer has filling
  }
}

TEST_F(SavedModel, InputsAreResultsThatANodeMayHave) {
  for (const char* place : {"serving_default_x:3037000500", "serving_default_x:-1", "serving_default_x:9223372036854775807"}) {
    std::string text = saved_model_bytes();
    const std::string good = "serving_default_x:0";
    text.replace(text.rfind(good), good.size(), place);
    auto graph = import_model(text, {}, {"x.0=1"}, {}, "kws/saved_model.pbtxt");
    ASSERT_FALSE(graph) << place;
    EXPECT_THAT(text_of(graph.failure()), HasSubstr("of node 'serving_default_x'; no node has more than 4096 results")) << place;
  }
}

TEST_F(SavedModel, SignaturesAreChosenByName) {
  auto graph = import_saved({{"signature", "serving"}});
  ASSERT_FALSE(graph);
  EXPECT_EQ(text_of(graph.failure()),
            "GF021 has no signature 'serving'\n  hint: choose one: --set frontend.tensorflow.signature=serving_default; it has: "
            "serving_default\n");
  auto tagged = import_saved({{"tag", "train"}});
  ASSERT_FALSE(tagged);
  EXPECT_EQ(text_of(tagged.failure()),
            "GF020 has no graph with the tag 'train'\n  hint: choose one: --set frontend.tensorflow.tag=serve; it has: serve\n");
}

// ---- cells that are one operator

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

// i cs f o ci co h of one number of x, h and c: w has the rows of x and h, and a column for each gate.
Floats lstm_results(double x, double h, double c, const Floats& w, const Floats& b, bool second, double forget_bias, double clip) {
  auto arriving = [&](std::size_t column) { return x * w[column] + h * w[4 + column] + b[column]; };
  double i = logistic(arriving(0)), ci = std::tanh(arriving(second ? 2 : 1)), f = logistic(arriving(second ? 1 : 2) + forget_bias);
  double cs = ci * i + c * f;
  if (clip > 0) cs = std::clamp(cs, -clip, clip);
  double o = logistic(arriving(3)), co = std::tanh(cs);
  Floats out;
  for (double v : {i, cs, f, o, ci, co, co * o}) out.push_back(static_cast<float>(v));
  return out;
}

const Floats kCellWeights{0.5f, -1, 2, 0.25f, 1, 0.75f, -0.5f, 1.5f}, kCellBias{0.1f, -0.2f, 0.3f, 0.4f};

TEST_F(TensorFlow, LstmCellWithAllItsResults) {
  std::string model = placeholder("x", {1, 1}) + constant("c", {1, 1}, {0.8f}) + constant("h", {1, 1}, {-0.6f}) +
                      constant("w", {2, 4}, kCellWeights) + constant("p", {1}, {0}) + constant("b", {4}, kCellBias) +
                      node("LSTMBlockCell", "cell", {"x", "c", "h", "w", "p", "p", "p", "b"}, {{"cell_clip", "f: 0.5"}});
  Texts names;
  for (int i = 0; i < 7; ++i) {
    names.push_back(cat("out", i));
    model += node("Identity", names.back(), {cat("cell:", i)});
  }
  Tensor x({1, 1}, Floats{0.9f});
  Floats expected = lstm_results(0.9, -0.6, 0.8, kCellWeights, kCellBias, false, 1, 0.5);
  auto outputs = run(model, {x}, {{"outputs", join(names, ",")}});
  ASSERT_EQ(outputs.size(), 7u);
  for (std::size_t i = 0; i < 7; ++i) expect_near(outputs.at(names[i]).to_f32(), {expected[i]});
}

TEST_F(TensorFlow, LstmOverStepsInBothOrdersOfGates) {
  for (bool second : {false, true}) {
    std::string model = placeholder("x", {3, 1, 1}) + constant("c", {1, 1}, {0.8f}) + constant("h", {1, 1}, {-0.6f}) +
                        constant("w", {2, 4}, kCellWeights) + constant("p", {1}, {0}) + constant("b", {4}, kCellBias) +
                        "node { name: \"steps\" op: \"Const\" attr { key: \"value\" value { tensor { dtype: DT_INT64 tensor_shape { } "
                        "int64_val: 3 } } } }\n" +
                        node(second ? "BlockLSTMV2" : "BlockLSTM", "block", {"steps", "x", "c", "h", "w", "p", "p", "p", "b"}) +
                        node("Identity", "y", {"block:6"});
    Floats in{0.9f, -2, 0.4f}, expected;
    double h = -0.6f, c = 0.8f;
    for (float x : in) {
      Floats results = lstm_results(x, h, c, kCellWeights, kCellBias, second, second ? 0 : 1, second ? 0 : 3);
      c = results[1];
      h = results[6];
      expected.push_back(results[6]);
    }
    expect_near(one(model, {Tensor({3, 1, 1}, in)}), expected);
  }
}

TEST_F(TensorFlow, GruCell) {
  const Floats gates{0.5f, -1, 0.75f, 0.25f}, candidate{1.5f, -0.5f};
  std::string model = placeholder("x", {1, 1}) + constant("h", {1, 1}, {-0.6f}) + constant("w", {2, 2}, gates) +
                      constant("wc", {2, 1}, candidate) + constant("b", {2}, {0.1f, -0.3f}) + constant("bc", {1}, {0.2f}) +
                      node("GRUBlockCell", "cell", {"x", "h", "w", "wc", "b", "bc"}) + node("Identity", "y", {"cell:3"});
  double x = 0.9f, h = -0.6f;
  double r = logistic(x * 0.5 + h * 0.75 + 0.1f), u = logistic(-x + h * 0.25 - 0.3f);
  double c = std::tanh(x * 1.5 + h * r * -0.5 + 0.2f);
  expect_near(one(model, {Tensor({1, 1}, Floats{0.9f})}), {static_cast<float>(u * h + (1 - u) * c)});
}

TEST_F(TensorFlow, ThePageListsWhatIsRead) { expect_page_lists_operators("tensorflow"); }

}  // namespace
}  // namespace buda::test
