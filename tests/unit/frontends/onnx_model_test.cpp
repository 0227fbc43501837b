// SPDX-License-Identifier: Apache-2.0
// What becomes of a whole model: names, provenance, weights, dimensions, versions.
#include "onnx_model.hpp"
#include "import_fixture.hpp"

#include <buda/graph/file/graph_file.hpp>
#include <buda/graph/values/value.hpp>
#include <buda/ops/whole_graph/evaluate.hpp>

#include <cmath>
#include <functional>

namespace buda::test {
namespace {

class OnnxModels : public ImportTest {};

std::vector<float> dense(const std::vector<float>& x, std::size_t in, const std::vector<float>& w, const std::vector<float>& b) {
  std::vector<float> out;
  for (std::size_t row = 0; row < x.size() / in; ++row)
    for (std::size_t j = 0; j < b.size(); ++j) {
      double sum = static_cast<double>(b[j]);
      for (std::size_t i = 0; i < in; ++i) sum += static_cast<double>(x[row * in + i]) * static_cast<double>(w[j * in + i]);
      out.push_back(static_cast<float>(sum));
    }
  return out;
}

TEST_F(OnnxModels, APerceptronComputesWhatItsFormulaSays) {
  OnnxModel m = small_mlp();
  graph::Graph graph = imported(m.bytes());
  auto weights = [&](const char* name) { return graph.node(graph.find(name)).value->tensor.to_f32(); };
  Tensor x = pattern({2, 6});
  auto h = dense(x.to_f32(), 6, weights("fc1.weight"), weights("fc1.bias"));
  for (float& v : h) v = std::max(v, 0.0f);
  auto z = dense(h, 4, weights("fc2.weight"), weights("fc2.bias"));
  for (std::size_t row = 0; row < 2; ++row) {
    double sum = 0;
    for (std::size_t j = 0; j < 3; ++j) sum += std::exp(static_cast<double>(z[row * 3 + j]));
    for (std::size_t j = 0; j < 3; ++j) z[row * 3 + j] = static_cast<float>(std::exp(static_cast<double>(z[row * 3 + j])) / sum);
  }
  expect_near(evaluated(m.bytes(), {x}), z);
  EXPECT_NEAR(weights("fc1.weight")[1], std::sin(0.1f + 1.7f), 0) << "the weights are those of the file";
}

TEST_F(OnnxModels, NamesAndOriginsAreThoseOfTheModel) {
  graph::Graph graph = imported(small_mlp().bytes());
  EXPECT_EQ(graph.name, "m");
  EXPECT_EQ(graph.node(graph.inputs().at(0)).name(), "x");
  EXPECT_EQ(graph.node(graph.outputs().at(0)).name(), "probabilities");
  for (const char* name : {"fc1", "Relu_1", "fc2", "Softmax_3"}) {
    ASSERT_TRUE(graph.find(name).valid()) << name;
    EXPECT_EQ(graph.node(graph.find(name)).origins, (std::vector<graph::Origin>{{"m.onnx", name}}));
  }
  EXPECT_EQ(graph.node(graph.find("fc1.bias")).kind(), graph::NodeKind::parameter);
  EXPECT_EQ(graph.node(graph.find("fc1.bias")).origins, (std::vector<graph::Origin>{{"m.onnx", "fc1.bias"}}));
}

TEST_F(OnnxModels, NamesThatCollideGetANumber) {
  OnnxModel m;
  m.input("a", {2}).weight("b", {2}, {1, 2});
  m.node("Add", {"a", "b"}, {"c"}).named("b");
  m.node("Mul", {"c", "c"}, {"d"}).named("b");
  m.node("Relu", {"d"}, {"a_out"}).named("a");
  m.output("a_out");
  graph::Graph graph = imported(m.bytes());
  EXPECT_EQ(graph.node(graph.find("b")).kind(), graph::NodeKind::parameter);
  EXPECT_EQ(graph.node(graph.find("b.1")).op(), "add");
  EXPECT_EQ(graph.node(graph.find("b.2")).op(), "multiply");
  EXPECT_EQ(graph.node(graph.find("a.1")).op(), "relu");
  EXPECT_EQ(evaluated(m.bytes(), {Tensor({2}, std::vector<float>{1, 1})}), (std::vector<float>{4, 9}));
}

TEST_F(OnnxModels, NamesThatAreNotUtf8BecomeSo) {
  OnnxModel m;
  m.input("x\xff", {2}).node("Relu", {"x\xff"}, {"y\xfe"}).named("r\x80");
  m.output("y\xfe");
  graph::Graph graph = imported(m.bytes());
  EXPECT_TRUE(graph.find("x_").valid());
  EXPECT_TRUE(graph.find("r_").valid());
  EXPECT_TRUE(graph.find_output("y_").valid());
}

TEST_F(OnnxModels, WeightsThatAreListedAsInputsAreWeights) {
  OnnxModel m(8);
  m.input("x", {2}).input("w", {2}).weight("w", {2}, {3, 4});
  m.node("Mul", {"x", "w"}, {"y"});
  m.output("y");
  EXPECT_EQ(evaluated(m.bytes(), {Tensor({2}, std::vector<float>{1, 10})}), (std::vector<float>{3, 40}));
}

TEST_F(OnnxModels, WeightsThatNobodyUsesAreLeftOut) {
  OnnxModel m = small_mlp();
  m.weight("forgotten", {2}, {1, 2});
  EXPECT_FALSE(imported(m.bytes()).find("forgotten").valid());
}

TEST_F(OnnxModels, OutputsMayBeInputsWeightsAndUsedValues) {
  OnnxModel m;
  m.input("x", {2}).weight("w", {2}, {5, 6});
  m.node("Relu", {"x"}, {"r"});
  m.node("Neg", {"r"}, {"n"});
  m.output("x").output("w").output("r").output("n");
  graph::Graph graph = imported(m.bytes());
  auto out = ops::evaluate_graph(graph, {{"x", Tensor({2}, std::vector<float>{-1, 2})}});
  ASSERT_TRUE(out) << text_of(out.failure());
  EXPECT_EQ(out->at("x").to_f32(), (std::vector<float>{-1, 2}));
  EXPECT_EQ(out->at("w").to_f32(), (std::vector<float>{5, 6}));
  EXPECT_EQ(out->at("r").to_f32(), (std::vector<float>{0, 2}));
  EXPECT_EQ(out->at("n").to_f32(), (std::vector<float>{0, -2}));
}

TEST_F(OnnxModels, ElementTypesOfWeights) {
  auto read = [&](int type, const std::function<void(onnx::TensorProto&)>& fill) {
    OnnxModel m;
    auto& t = *m.graph().add_initializer();
    t.set_name("w");
    t.set_data_type(type);
    t.add_dims(2);
    fill(t);
    m.output("w");
    graph::Graph graph = imported(m.bytes());
    const auto& value = graph.node(graph.node(graph.outputs().at(0)).inputs().at(0).source.node).value;
    return value ? value->tensor : Tensor();
  };
  using onnx::TensorProto;
  auto ints = [](TensorProto& t) {
    t.add_int32_data(1);
    t.add_int32_data(100);
  };
  EXPECT_EQ(read(TensorProto::INT8, ints), Tensor({2}, std::vector<std::int8_t>{1, 100}));
  EXPECT_EQ(read(TensorProto::UINT16, ints), Tensor({2}, std::vector<std::uint16_t>{1, 100}));
  EXPECT_EQ(read(TensorProto::INT32, ints), Tensor({2}, std::vector<std::int32_t>{1, 100}));
  EXPECT_EQ(read(TensorProto::BOOL, ints).dtype(), DType::boolean);
  EXPECT_EQ(read(TensorProto::FLOAT16,
                 [](TensorProto& t) {
                   t.add_int32_data(0x3c00);
                   t.add_int32_data(0xc000);
                 })
                .to_f32(),
            (std::vector<float>{1, -2}));
  EXPECT_EQ(read(TensorProto::BFLOAT16, [](TensorProto& t) { t.set_raw_data(std::string("\x80\x3f\x00\xc0", 4)); }).to_f32(),
            (std::vector<float>{1, -2}));
  EXPECT_EQ(read(TensorProto::DOUBLE,
                 [](TensorProto& t) {
                   t.add_double_data(0.5);
                   t.add_double_data(1e300);
                 }),
            Tensor({2}, std::vector<double>{0.5, 1e300}));
  EXPECT_EQ(read(TensorProto::UINT32,
                 [](TensorProto& t) {
                   t.add_uint64_data(7);
                   t.add_uint64_data(0xffffffffu);
                 }),
            Tensor({2}, std::vector<std::uint32_t>{7, 0xffffffffu}));
}

TEST_F(OnnxModels, ExternalDataLiesBesideTheModel) {
  OnnxModel m;
  m.input("x", {2});
  auto& t = *m.graph().add_initializer();
  t.set_name("w");
  t.set_data_type(onnx::TensorProto::FLOAT);
  t.add_dims(2);
  t.set_data_location(onnx::TensorProto::EXTERNAL);
  auto entry = [&](const char* key, const char* value) {
    auto& e = *t.add_external_data();
    e.set_key(key);
    e.set_value(value);
  };
  entry("location", "weights/w.bin");
  entry("offset", "4");
  entry("length", "8");
  m.node("Add", {"x", "w"}, {"y"});
  m.output("y");
  const float values[] = {9, 1, 2};
  fs_.put("dir/weights/w.bin", std::string(reinterpret_cast<const char*>(values), sizeof values));
  EXPECT_EQ(evaluated(m.bytes(), {Tensor({2}, std::vector<float>{10, 20})}), (std::vector<float>{11, 22}));
  EXPECT_EQ(fs_.files_read().count("dir/weights/w.bin"), 1u) << "a depfile must know it";
}

TEST_F(OnnxModels, SymbolicDimensionsGetValues) {
  OnnxModel m;
  m.input("x", {-1, 3}).input("y", {-1, -2});
  m.node("Add", {"x", "y"}, {"z"});
  m.output("z");
  graph::Graph graph = imported(m.bytes(), {"batch=4", "y.1=1"});
  EXPECT_EQ(graph.node(graph.inputs().at(0)).outputs.at(0).shape, (Shape{4, 3}));
  EXPECT_EQ(graph.node(graph.inputs().at(1)).outputs.at(0).shape, (Shape{4, 1}));
}

TEST_F(OnnxModels, ADeclaredOutputShapeThatIsNotTheComputedOneIsAWarning) {
  OnnxModel m;
  m.input("x", {2, 3}).node("Relu", {"x"}, {"y"});
  m.output("y", {2, 4});
  imported(m.bytes());
  ASSERT_EQ(sink_.diagnostics().size(), 1u);
  EXPECT_EQ(sink_.diagnostics()[0].severity, Severity::warning);
  EXPECT_EQ(sink_.diagnostics()[0].code, "ON041");
  EXPECT_EQ(sink_.diagnostics()[0].message, "output 'y' is declared with shape [2, 4], and its nodes compute shape [2, 3]");
}

TEST_F(OnnxModels, ADeclaredOutputOfAnotherKindOfNumbersIsAWarning) {
  OnnxModel m;
  m.input("x", {2, 3}).node("Relu", {"x"}, {"y"});
  m.output("y", {2, 3});
  m.graph().mutable_output(0)->mutable_type()->mutable_tensor_type()->set_elem_type(::onnx::TensorProto::INT64);
  imported(m.bytes());
  ASSERT_EQ(sink_.diagnostics().size(), 1u);
  EXPECT_EQ(sink_.diagnostics()[0].code, "ON041");
  EXPECT_EQ(sink_.diagnostics()[0].message, "output 'y' is declared with elements of type I64, and its nodes compute F32");
}

TEST_F(OnnxModels, EveryOpsetFrom7To21) {
  Tensor x = pattern({2, 6});
  std::vector<float> reference = evaluated(small_mlp().bytes(), {x});
  for (int opset = 7; opset <= 21; ++opset) {
    OnnxModel m = small_mlp();
    m.proto().mutable_opset_import(0)->set_version(opset);
    // Negative axes of softmax came with opset 11.
    m.graph().mutable_node(3)->mutable_attribute(0)->set_i(1);
    EXPECT_EQ(evaluated(m.bytes(), {x}), reference) << opset;
  }
}

TEST_F(OnnxModels, TheOtherSpellingOfTheDefaultDomain) {
  OnnxModel m = small_mlp();
  m.proto().mutable_opset_import(0)->set_domain("ai.onnx");
  for (auto& node : *m.graph().mutable_node()) node.set_domain("ai.onnx");
  EXPECT_EQ(imported(m.bytes()).size(), 10u);
}

TEST_F(OnnxModels, ANewerIrVersionOfAKnownOpsetIsRead) {
  OnnxModel m = small_mlp();
  m.proto().set_ir_version(10);
  EXPECT_EQ(imported(m.bytes()).size(), 10u);
}

TEST_F(OnnxModels, SameBytesInSameBytesOut) {
  imported(small_mlp().bytes());
  std::string first(fs_.find("out/m.graph.json")->view());
  imported(small_mlp().bytes());
  EXPECT_EQ(fs_.find("out/m.graph.json")->view(), first);
}

TEST_F(OnnxModels, ThePageNamesWhatIsRead) { expect_page_names_operators("onnx"); }

}  // namespace
}  // namespace buda::test
