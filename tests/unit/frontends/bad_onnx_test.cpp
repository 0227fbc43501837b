// SPDX-License-Identifier: Apache-2.0
// ONNX models that must be refused, each with a message that helps.
#include "import_fixture.hpp"
#include "onnx_model.hpp"

namespace buda::test {
namespace {

using ::onnx::TensorProto;

class BadOnnx : public ImportTest {
 protected:
  // The refusal must contain every one of these.
  void expect_refused(const std::string& bytes, const std::vector<std::string>& parts, std::vector<std::string> dims = {}) {
    std::string text = refusal(bytes, std::move(dims));
    for (const auto& part : parts) EXPECT_NE(text.find(part), std::string::npos) << "expected '" << part << "' in:\n" << text;
  }
  static TensorProto& weight(OnnxModel& m) { return *m.graph().mutable_initializer(0); }
};

TEST_F(BadOnnx, AllUnsupportedOperatorsAreReportedAtOnce) {
  OnnxModel m;
  m.input("x", {1, 1, 2, 2});
  m.node("RandomNormalLike", {"x"}, {"a"}).named("first");
  m.node("RandomNormalLike", {"x"}, {"b"});
  m.node("FancyPool", {"a"}, {"c"}).domain("com.example").named("pool");
  m.node("Reluu", {"c"}, {"d"}).named("typo");
  m.node("Mish", {"d"}, {"e"}).named("early");
  m.node("Relu", {"b"}, {"y"});
  m.output("y").output("e");
  auto graph = import(m.bytes());
  ASSERT_FALSE(graph);
  ASSERT_EQ(graph.failure().diagnostics().size(), 1u) << text_of(graph.failure());
  const Diagnostic& d = graph.failure().diagnostics()[0];
  EXPECT_EQ(d.code, "ON030");
  EXPECT_EQ(d.loc.file, "dir/m.onnx");
  EXPECT_EQ(d.message, "the model uses 4 operators that are not supported");
  ASSERT_EQ(d.notes.size(), 4u);
  EXPECT_EQ(d.notes[0].message,
            "op type Mish (domain ai.onnx, opset 13): not defined in opset 13; ONNX has it from opset 18 on; used by 1 node: early");
  EXPECT_EQ(
      d.notes[1].message,
      "op type RandomNormalLike (domain ai.onnx, opset 13): its result is random, while a compiled model gives the same result for the "
      "same input; used by 2 nodes: first, RandomNormalLike_1");
  EXPECT_EQ(d.notes[2].message,
            "op type Reluu (domain ai.onnx, opset 13): unknown to ONNX; did the exporter mean Relu?; used by 1 node: typo");
  EXPECT_EQ(d.notes[3].message,
            "op type FancyPool (domain com.example): operators of this domain are not supported: give the model a function of this name "
            "(onnx.helper.make_function), or leave it out (onnx.utils.extract_model); used by 1 node: pool");
  EXPECT_EQ(d.data.at(1), (std::pair<std::string, std::string>("unsupported.ai.onnx.RandomNormalLike", "first, RandomNormalLike_1")));
}

TEST_F(BadOnnx, OldDefinitionsThatLibonnxCannotConvert) {
  OnnxModel m(1);
  m.input("x", {1, 1, 4, 4});
  m.node("LpPool", {"x"}, {"y"}).named("pool").integers("kernel_shape", {2, 2});
  m.output("y");
  expect_refused(m.bytes(), {"ON035 node 'pool' (op type LpPool, domain ai.onnx, opset 1): needs opset 2, and libonnx cannot convert",
                             "hint: export the model with opset 2 or later"});
}

TEST_F(BadOnnx, ManyNodesOfOneOperatorAreCountedNotListed) {
  OnnxModel m;
  m.input("x", {2, 2});
  for (int i = 0; i < 30; ++i) m.node("RandomNormalLike", {"x"}, {"y" + std::to_string(i)});
  m.output("y0");
  expect_refused(m.bytes(), {"used by 30 nodes: RandomNormalLike_0, RandomNormalLike_1, RandomNormalLike_2, RandomNormalLike_3, "
                             "RandomNormalLike_4, RandomNormalLike_5, RandomNormalLike_6, RandomNormalLike_7, and 22 more"});
}

TEST_F(BadOnnx, OpsetsThatAreNotRead) {
  for (int opset : {0, 26, 1000}) {
    OnnxModel m = one_node("Relu", {{2}});
    m.proto().mutable_opset_import(0)->set_version(opset);
    expect_refused(m.bytes(), {"ON020 uses ONNX opset " + std::to_string(opset) + "; opsets 1 to 25 are read"});
  }
  OnnxModel none = one_node("Relu", {{2}});
  none.proto().clear_opset_import();
  expect_refused(none.bytes(), {"ON020 does not say which version of ONNX's operators it uses"});
  OnnxModel two = one_node("Relu", {{2}});
  two.proto().add_opset_import()->set_version(11);
  expect_refused(two.bytes(), {"ON020 imports both opset 13 and opset 11"});
  OnnxModel ir = one_node("Relu", {{2}});
  ir.proto().clear_ir_version();
  expect_refused(ir.bytes(), {"ON020 is not an ONNX model: it has no ir_version"});
}

TEST_F(BadOnnx, SymbolicDimensionsWithoutAValue) {
  OnnxModel m;
  m.input("x", {-1, 3}).input("y", {3, -2});
  m.node("Add", {"x", "y"}, {"z"});
  m.output("z");
  expect_refused(m.bytes(),
                 {"ON021 input 'x': dimension 0 is symbolic ('batch') and has no value\n  hint: give it a value, for example --dim batch=1",
                  "ON021 input 'y': dimension 1 is not known\n  hint: give it a value, for example --dim y.1=1"});
  expect_refused(m.bytes(), {"ON022 --dim bacth=4: the model has no symbolic dimension 'bacth'\n  hint: did you mean 'batch'?"},
                 {"bacth=4", "batch=4", "y.1=1"});
  expect_refused(one_node("Relu", {{2}}).bytes(), {"ON022", "hint: all its dimensions are fixed"}, {"batch=4"});
}

// The model's shape is told as it is, not with the sizes that were given for open dimensions.
TEST_F(BadOnnx, AShapeThatIsNotTheInputs) {
  OnnxModel m;
  m.input("x", {-1, 3});
  m.node("Relu", {"x"}, {"z"});
  m.output("z");
  ASSERT_TRUE(fs_.write("dir/m.onnx", m.bytes()));
  ASSERT_TRUE(write_tensors(fs_, "x.npy", {{"x", Tensor({7, 4}, std::vector<float>(28))}}));
  const auto said = [&](std::vector<std::string> shapes, std::vector<std::string> values) {
    importer::Options options{.model = "dir/m.onnx", .output = "m.graph.json", .frontend = {}, .name = {}, .dims = {}};
    options.input_shapes = std::move(shapes);
    options.values = std::move(values);
    const auto done = importer::run(options, host_);
    return done ? std::string() : text_of(done.failure());
  };
  EXPECT_EQ(said({"x=7,4"}, {}), "ON021 input 'x' has type F32 and shape [batch, 3]; --input-shape gives [7, 4]\n");
  EXPECT_EQ(said({}, {"x=x.npy"}), "ON021 input 'x' has type F32 and shape [batch, 3]; the value given is F32 [7, 4]\n");
}

// Also those of which a size is missing yet are inputs that may be meant.
TEST_F(BadOnnx, AMisspeltInputIsSaid) {
  OnnxModel m;
  m.input("image", {-1, 3});
  m.node("Relu", {"image"}, {"z"});
  m.output("z");
  fs_.put("m.onnx", m.bytes());
  importer::Options options{.model = "m.onnx", .output = "m.json", .input_shapes = {"imge=1,3"}};
  const auto done = run(options);
  ASSERT_FALSE(done);
  EXPECT_NE(text_of(done.failure()).find("ON022 --input-shape imge: the model has no input 'imge'\n  hint: did you mean 'image'?"),
            std::string::npos)
      << text_of(done.failure());
}

TEST_F(BadOnnx, InputsThatAreNoDenseTensorsOfKnownShape) {
  OnnxModel no_shape = one_node("Relu", {{2}});
  no_shape.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->clear_shape();
  expect_refused(no_shape.bytes(), {"ON021 input 'x' has no shape\n  hint: give it one, for example --input-shape x=1,3,224,224"});
  OnnxModel sequence = one_node("Relu", {{2}});
  sequence.graph().mutable_input(0)->mutable_type()->mutable_sequence_type();
  expect_refused(sequence.bytes(), {"ON021 input 'x' is not a dense tensor"});
  OnnxModel text = one_node("Relu", {{2}});
  text.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(TensorProto::STRING);
  expect_refused(text.bytes(), {"ON021 input 'x' has elements of STRING"});
  OnnxModel huge = one_node("Relu", {{1LL << 40, 1LL << 40}});
  expect_refused(huge.bytes(), {"ON021 input 'x' has the impossible shape [1099511627776, 1099511627776]"});
}

TEST_F(BadOnnx, InitializersWhoseSizesDoNotAgree) {
  OnnxModel m;
  m.weight("w", {2, 3}, {1, 2, 3, 4, 5}).output("w");
  expect_refused(m.bytes(), {"ON010 initializer 'w' has 20 bytes of raw_data, and its shape [2, 3] of F32 asks for 24"});
  weight(m).set_dims(0, 1LL << 62);
  expect_refused(m.bytes(), {"ON010 initializer 'w' has the impossible shape [4611686018427387904, 3]"});
  weight(m).set_dims(0, -1);
  expect_refused(m.bytes(), {"ON010 initializer 'w' has the impossible shape [-1, 3]"});
  weight(m).set_dims(0, 2);
  weight(m).clear_raw_data();
  weight(m).add_float_data(1);
  expect_refused(m.bytes(), {"ON010 initializer 'w' has 1 elements in float_data, and its shape [2, 3] asks for 6"});
  weight(m).set_dims(0, 1000000000);
  expect_refused(m.bytes(), {"ON010 initializer 'w' has 1 elements in float_data"});
}

TEST_F(BadOnnx, InitializersThatAreNotRead) {
  OnnxModel m;
  m.weight("w", {1}, {1}).output("w");
  weight(m).set_data_type(TensorProto::COMPLEX64);
  expect_refused(m.bytes(), {"ON010 initializer 'w' has elements of COMPLEX64"});
  weight(m).set_data_type(77);
  expect_refused(m.bytes(), {"ON010 initializer 'w' has elements of type 77"});
  weight(m).set_data_type(TensorProto::UINT8);
  weight(m).clear_raw_data();
  weight(m).add_int32_data(300);
  expect_refused(m.bytes(), {"ON010 initializer 'w' has the element 300 in int32_data, which does not fit its element type"});
  weight(m).clear_name();
  expect_refused(m.bytes(), {"ON011 has an initializer without a name"});
  OnnxModel twice;
  twice.weight("w", {1}, {1}).weight("w", {1}, {2}).output("w");
  expect_refused(twice.bytes(), {"ON011 has two initializers named 'w'"});
  OnnxModel sparse = one_node("Relu", {{2}});
  sparse.graph().add_sparse_initializer();
  expect_refused(sparse.bytes(), {"ON012 initializer '' has elements of UNDEFINED"});
}

TEST_F(BadOnnx, ExternalDataStaysInTheModelsFolder) {
  fs_.put("secret", std::string(8, 'x'));
  fs_.put("dir/short.bin", std::string(7, 'x'));
  auto model = [](const std::string& location, const std::string& offset, const std::string& length) {
    OnnxModel m;
    m.weight("w", {2}, {1, 2}).output("w");
    auto& t = weight(m);
    t.clear_raw_data();
    t.set_data_location(TensorProto::EXTERNAL);
    for (auto [key, value] : {std::pair("location", location), std::pair("offset", offset), std::pair("length", length)}) {
      if (value.empty()) continue;
      auto& entry = *t.add_external_data();
      entry.set_key(key);
      entry.set_value(value);
    }
    return m.bytes();
  };
  for (const char* location : {"../secret", "/secret", "a/../../secret", "..", "a\\..\\secret"})
    expect_refused(model(location, "", ""), {"which is not a relative path inside the model's folder"});
  expect_refused(model("", "", ""), {"has external data in ''"});
  expect_refused(model("short.bin", "", ""), {"has external data of 8 bytes at byte 0 of 'short.bin', which has 7 bytes"});
  expect_refused(model("short.bin", "18446744073709551615", ""), {"at byte 18446744073709551615 of 'short.bin'"});
  expect_refused(model("short.bin", "-1", ""), {"whose offset is '-1', which is not an integer"});
  expect_refused(model("short.bin", "", "7"), {"has 7 bytes of external data, and its shape [2] of F32 asks for 8"});
  expect_refused(model("missing.bin", "", ""), {"IO001 cannot be read", "note: initializer 'w' is stored in that file"});
  EXPECT_EQ(fs_.files_read().count("secret"), 0u);
  EXPECT_EQ(fs_.files_read().count("dir/../secret"), 0u);
}

TEST_F(BadOnnx, CyclesAndValuesThatNobodyComputes) {
  OnnxModel m;
  m.input("x", {2});
  m.node("Add", {"x", "b"}, {"a"}).named("one");
  m.node("Add", {"a", "x"}, {"b"}).named("two");
  m.node("Add", {"nowhere", "b"}, {"c"}).named("three");
  m.output("c").output("d");
  expect_refused(m.bytes(),
                 {"ON033 node 'one' (op type Add, domain ai.onnx, opset 13): its input 'b' is computed by 'two'; both belong to "
                  "a cycle of nodes, or depend on one",
                  "ON033 node 'three' (op type Add, domain ai.onnx, opset 13): its input 'nowhere' is neither computed by a node",
                  "ON034 output 'd' is computed by no node"});
  OnnxModel twice;
  twice.input("x", {2});
  twice.node("Relu", {"x"}, {"y"}).named("one");
  twice.node("Neg", {"x"}, {"y"}).named("two");
  twice.output("y");
  expect_refused(twice.bytes(), {"ON032 node 'two' (op type Neg, domain ai.onnx, opset 13): computes 'y', which node 'one' computes too"});
  OnnxModel none;
  none.input("x", {2});
  expect_refused(none.bytes(), {"ON034 the model has no output"});
}

TEST_F(BadOnnx, NodesThatAreNotAsOnnxDefinesThem) {
  OnnxModel inputs = one_node("Relu", {{2}, {2}});
  expect_refused(inputs.bytes(), {"ON031 node 'Relu_0' (op type Relu, domain ai.onnx, opset 13): ", "input size 2"});
  OnnxModel attribute;
  attribute.input("x", {2}).node("Relu", {"x"}, {"y"}).integer("axis", 1);
  attribute.output("y");
  expect_refused(attribute.bytes(), {"ON031 node 'Relu_0'", "Unrecognized attribute: axis"});
  OnnxModel type;
  type.input("x", {2, 2}).node("Softmax", {"x"}, {"y"}).text("axis", "last");
  type.output("y");
  expect_refused(type.bytes(), {"ON031 node 'Softmax_0'"});
}

TEST_F(BadOnnx, NodesOfAKindThatIsNotRead) {
  OnnxModel reshape = one_node("Reshape", {{6}, {2}});
  reshape.graph().mutable_input(1)->mutable_type()->mutable_tensor_type()->set_elem_type(TensorProto::INT64);
  expect_refused(reshape.bytes(),
                 {"ON040 node 'Reshape_0' (op type Reshape, domain ai.onnx, opset 13): its shape (input 1, 'y') is computed at run time"});
  auto shaped = [](const std::vector<std::int64_t>& to) {
    OnnxModel m;
    m.input("x", {2, 3}).whole("s", to).node("Reshape", {"x", "s"}, {"y"});
    m.output("y");
    return m.bytes();
  };
  expect_refused(shaped({-1, -1}), {"its shape [-1, -1] has more than one -1"});
  expect_refused(shaped({4, -1}), {"shape [2, 3] cannot become [4, -1]: 6 elements do not divide evenly"});
  expect_refused(shaped({7}), {"shape [2, 3] cannot become [7]: it has 6 elements"});
  expect_refused(shaped({2, 3, 0}), {"copies dimension 2 of an input of shape [2, 3]"});
  expect_refused(shaped({-5}), {"has a size below -1"});
  OnnxModel pad;
  pad.input("x", {1, 2}).whole("pads", {0, 1, 1, 0}).node("Pad", {"x", "pads"}, {"y"}).text("mode", "reflect").named("edge");
  pad.output("y");
  expect_refused(
      pad.bytes(),
      {"node 'edge' (op type Pad, domain ai.onnx, opset 13): axis 0 of size 1 has no elements from which its border can be padded"});
  OnnxModel mask;
  mask.input("x", {2}).weight("t", {1}, {1}).weight("r", {}, {0.5}).node("Dropout", {"x", "r", "t"}, {"y", "mask"});
  mask.graph().mutable_initializer(0)->set_data_type(TensorProto::BOOL);
  mask.graph().mutable_initializer(0)->set_raw_data("\1");
  mask.graph().mutable_initializer(0)->clear_dims();
  mask.output("mask");
  expect_refused(mask.bytes(), {"is in training mode, where what it drops is random"});
}

TEST_F(BadOnnx, ShapesThatDoNotFitNameTheOnnxNode) {
  OnnxModel m;
  m.input("x", {2, 3}).input("y", {4, 5});
  m.node("MatMul", {"x", "y"}, {"z"}).named("product");
  m.node("Relu", {"z"}, {"r"}).named("after");
  m.node("Add", {"x", "y"}, {"s"}).named("sum");
  m.output("r").output("s");
  std::string text = refusal(m.bytes());
  EXPECT_NE(text.find("node 'product' (op type MatMul, domain ai.onnx, opset 13): "), std::string::npos) << text;
  EXPECT_NE(text.find("node 'sum' (op type Add, domain ai.onnx, opset 13): "), std::string::npos) << text;
  EXPECT_EQ(text.find("after"), std::string::npos) << "what merely depends on a bad node is not reported:\n" << text;
}

}  // namespace
}  // namespace buda::test
