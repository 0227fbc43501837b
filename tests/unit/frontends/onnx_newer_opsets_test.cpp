// SPDX-License-Identifier: Apache-2.0
// Opsets 18 to 21, by examples small enough to follow; tests/conformance/onnx/newer_opsets.py has every operator against NumPy and PyTorch.
#include "import_fixture.hpp"
#include "onnx_model.hpp"

#include <cmath>

namespace buda::test {
namespace {

using ::onnx::TensorProto;

// Element types that libonnx does not know (onnx.proto, TensorProto.DataType).
constexpr int kE5M2 = 19, kUint4 = 21, kInt4 = 22;

class OnnxNewerOpsets : public ImportTest {
 protected:
  static OnnxNode add_node(OnnxModel& m, const std::string& op, const std::vector<std::string>& inputs) {
    m.output("out");
    return m.node(op, inputs, {"out"});
  }
  static void add_narrow(OnnxModel& m, const std::string& name, int type, const std::vector<std::int64_t>& dims, const std::string& bytes) {
    TensorProto& t = *m.graph().add_initializer();
    t.set_name(name);
    t.set_data_type(type);
    for (auto size : dims) t.add_dims(size);
    t.set_raw_data(bytes);
  }
  void expect_refused(const std::string& bytes, const std::string& part) {
    std::string text = refusal(bytes);
    EXPECT_NE(text.find(part), std::string::npos) << "expected '" << part << "' in:\n" << text;
  }
};

TEST_F(OnnxNewerOpsets, ReductionsTakeAxesAsInput) {
  Tensor x({2, 3}, std::vector<float>{1, 2, 6, 3, 5, 10});
  OnnxModel m(18);
  m.input("x", {2, 3}).whole("axes", {-1});
  add_node(m, "ReduceMean", {"x", "axes"}).integer("keepdims", 0);
  expect_near(evaluated(m.bytes(), {x}), {3, 6});
  OnnxModel none(18);
  none.input("x", {2, 3}).whole("axes", {});
  add_node(none, "ReduceSumSquare", {"x", "axes"}).integer("noop_with_empty_axes", 1);
  expect_near(evaluated(none.bytes(), {x}), {1, 4, 36, 9, 25, 100});
}

TEST_F(OnnxNewerOpsets, ReductionsHaveNoAttributeForAxesAnyMore) {
  OnnxModel attribute(18);
  attribute.input("x", {2, 3});
  add_node(attribute, "ReduceMean", {"x"}).integers("axes", {1});
  expect_refused(attribute.bytes(),
                 "ON031 node 'ReduceMean_0' (op type ReduceMean, domain ai.onnx, opset 18): Unrecognized attribute: axes");
}

TEST_F(OnnxNewerOpsets, SplitIntoPartsOfWhichTheLastIsSmaller) {
  OnnxModel m(18);
  m.input("x", {5});
  m.node("Split", {"x"}, {"a", "out"}).integer("num_outputs", 2);
  m.output("out");
  Shape shape;
  expect_near(evaluated(m.bytes(), {Tensor({5}, std::vector<float>{1, 2, 3, 4, 5})}, &shape), {4, 5});
  EXPECT_EQ(shape, (Shape{2}));
}

TEST_F(OnnxNewerOpsets, PartsThatDoNotFit) {
  OnnxModel three(18);
  three.input("x", {5});
  three.node("Split", {"x"}, {"a", "out"}).integer("num_outputs", 3);
  three.output("out");
  expect_refused(three.bytes(), "its num_outputs is 3, and it has 2 results");
  OnnxModel four(18);
  four.input("x", {5});
  four.node("Split", {"x"}, {"a", "b", "c", "out"}).integer("num_outputs", 4);
  four.output("out");
  expect_refused(four.bytes(), "axis 0 of size 5 does not divide into 4 equal parts");
}

TEST_F(OnnxNewerOpsets, PadAndCenterCropPadOfSomeAxes) {
  Tensor x({1, 3}, std::vector<float>{1, 2, 3});
  OnnxModel pad(18);
  pad.input("x", {1, 3}).whole("pads", {1, 2}).scalar("value", 7).whole("axes", {-1});
  add_node(pad, "Pad", {"x", "pads", "value", "axes"});
  expect_near(evaluated(pad.bytes(), {x}), {7, 1, 2, 3, 7, 7});
  OnnxModel centre(18);
  centre.input("x", {1, 3}).whole("shape", {2, 2});
  add_node(centre, "CenterCropPad", {"x", "shape"}).integers("axes", {1, 0});
  expect_near(evaluated(centre.bytes(), {x}), {1, 2, 0, 0});
}

TEST_F(OnnxNewerOpsets, ResizeKeepsTheRatioOfItsAxes) {
  OnnxModel m(18);
  m.input("x", {1, 1, 2, 3}).whole("sizes", {9, 4});
  add_node(m, "Resize", {"x", "", "", "sizes"}).integers("axes", {3, 2}).text("keep_aspect_ratio_policy", "not_larger");
  Shape shape;
  Tensor x({1, 1, 2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
  evaluated(m.bytes(), {x}, &shape);
  EXPECT_EQ(shape, (Shape{1, 1, 4, 6}));
}

TEST_F(OnnxNewerOpsets, GroupNormalizationScalesGroupsAndThenChannels) {
  Tensor x({1, 4, 1}, std::vector<float>{1, 3, 10, 20});
  for (int opset : {18, 21}) {
    SCOPED_TRACE(opset);
    std::int64_t scales = opset == 18 ? 2 : 4;
    std::vector<float> scale = opset == 18 ? std::vector<float>{2, 3} : std::vector<float>{1, 2, 3, 4};
    OnnxModel m(opset);
    m.input("x", {1, 4, 1})
        .weight("scale", {scales}, scale)
        .weight("bias", {scales}, std::vector<float>(static_cast<std::size_t>(scales), 1));
    add_node(m, "GroupNormalization", {"x", "scale", "bias"}).integer("num_groups", 2).real("epsilon", 0);
    expect_near(evaluated(m.bytes(), {x}), opset == 18 ? std::vector<float>{-1, 3, -2, 4} : std::vector<float>{0, 3, -2, 5}, 1e-5);
  }
}

TEST_F(OnnxNewerOpsets, Col2ImAddsBlocksWhereTheyOverlap) {
  // Two blocks of 1 x 2 in an image of 1 x 3.
  OnnxModel m(18);
  m.input("x", {1, 2, 2}).whole("image", {1, 3}).whole("block", {1, 2});
  add_node(m, "Col2Im", {"x", "image", "block"});
  expect_near(evaluated(m.bytes(), {Tensor({1, 2, 2}, std::vector<float>{1, 2, 10, 20})}), {1, 12, 20});
}

TEST_F(OnnxNewerOpsets, DeformConvWithoutOffsetsIsAConvolution) {
  Tensor x = pattern({1, 2, 5, 4}), w = pattern({3, 2, 3, 2}, 0.7f);
  OnnxModel plain(19);
  plain.input("x", {1, 2, 5, 4}).weight("w", {3, 2, 3, 2}, w.to_f32());
  add_node(plain, "Conv", {"x", "w"}).integers("strides", {2, 1}).integers("pads", {1, 0, 1, 1});
  OnnxModel deform(19);
  deform.input("x", {1, 2, 5, 4}).weight("w", {3, 2, 3, 2}, w.to_f32()).weight("offset", {1, 12, 3, 4}, std::vector<float>(144, 0.0f));
  add_node(deform, "DeformConv", {"x", "w", "offset"}).integers("strides", {2, 1}).integers("pads", {1, 0, 1, 1});
  expect_near(evaluated(deform.bytes(), {x}), evaluated(plain.bytes(), {x}), 1e-5);
}

TEST_F(OnnxNewerOpsets, AnIdentityOfAffineGridSamplesTheImageItself) {
  Tensor x = pattern({1, 1, 3, 4});
  OnnxModel m(20);
  m.input("x", {1, 1, 3, 4}).weight("theta", {1, 2, 3}, {1, 0, 0, 0, 1, 0}).whole("size", {1, 1, 3, 4});
  m.node("AffineGrid", {"theta", "size"}, {"grid"}).integer("align_corners", 1);
  add_node(m, "GridSample", {"x", "grid"}).integer("align_corners", 1).text("mode", "linear");
  expect_near(evaluated(m.bytes(), {x}), x.to_f32(), 1e-6);
}

TEST_F(OnnxNewerOpsets, GeluIsOneOp) {
  OnnxModel m(20);
  m.input("x", {3});
  add_node(m, "Gelu", {"x"}).text("approximate", "tanh");
  graph::Graph graph = imported(m.bytes());
  EXPECT_EQ(graph.size(), 3u);
  expect_near(evaluated(m.bytes(), {Tensor({3}, std::vector<float>{-1, 0, 2})}), {-0.158808f, 0, 1.954598f}, 1e-5);
}

TEST_F(OnnxNewerOpsets, AOneSidedSpectrumBecomesItsSignal) {
  Tensor x = pattern({1, 5, 1});
  OnnxModel m(20);
  m.input("x", {1, 5, 1}).whole("length", {5}).whole("axis", {1});
  m.node("DFT", {"x", "", "axis"}, {"half"}).integer("onesided", 1);
  add_node(m, "DFT", {"half", "length", "axis"}).integer("onesided", 1).integer("inverse", 1);
  expect_near(evaluated(m.bytes(), {x}), x.to_f32(), 1e-6);
}

TEST_F(OnnxNewerOpsets, FourBitWeightsInBlocks) {
  // 1, -2, 3, -8, 7 as int4, two and then one to a byte; blocks of three and two.
  OnnxModel m(21);
  add_narrow(m, "w", kInt4, {1, 5}, std::string("\xe1\x83\x07"));
  m.weight("scale", {1, 2}, {0.5f, 2});
  add_node(m, "DequantizeLinear", {"w", "scale"}).integer("axis", 1).integer("block_size", 3);
  expect_near(evaluated(m.bytes(), {}), {0.5f, -1, 1.5f, -16, 14});
}

TEST_F(OnnxNewerOpsets, FourBitWeightsOfTheWrongSize) {
  OnnxModel bytes(21);
  add_narrow(bytes, "w", kInt4, {1, 5}, "\xe1\x83");
  bytes.weight("scale", {}, {1});
  add_node(bytes, "DequantizeLinear", {"w", "scale"});
  expect_refused(bytes.bytes(), "initializer 'w' has 2 bytes of elements, and its shape [1, 5] of INT4 asks for 3");
  OnnxModel blocks(21);
  add_narrow(blocks, "w", kInt4, {1, 5}, std::string("\xe1\x83\x07"));
  blocks.weight("scale", {1, 3}, {1, 1, 1});
  add_node(blocks, "DequantizeLinear", {"w", "scale"}).integer("axis", 1).integer("block_size", 3);
  expect_refused(blocks.bytes(), "its scale has shape [1, 3]; blocks of 3 along axis 1 of [1, 5] need [1, 2]");
}

TEST_F(OnnxNewerOpsets, QuantizingToFourBitsKeepsTheirLimits) {
  OnnxModel m(21);
  m.input("x", {4}).weight("scale", {}, {0.5f});
  add_narrow(m, "zero", kUint4, {}, "\x02");
  add_node(m, "QuantizeLinear", {"x", "scale", "zero"});
  expect_near(evaluated(m.bytes(), {Tensor({4}, std::vector<float>{-9, 0, 1.25f, 100})}), {0, 2, 4, 15});
}

TEST_F(OnnxNewerOpsets, MovedElementsKeepTheirNarrowType) {
  // CastLike asks for the type of what was reshaped on the way: int4 keeps the low bits of 9, which are -7.
  OnnxModel m(21);
  m.input("x", {1}, TensorProto::INT32).whole("shape", {1});
  add_narrow(m, "like", kInt4, {1, 1}, "\x01");
  m.node("Reshape", {"like", "shape"}, {"flat"});
  add_node(m, "CastLike", {"x", "flat"});
  expect_near(evaluated(m.bytes(), {Tensor({1}, std::vector<std::int32_t>{9})}), {-7});
}

TEST_F(OnnxNewerOpsets, OperatorsThatTakeNoNarrowTypes) {
  OnnxModel added(21);
  added.input("x", {1}, TensorProto::INT8);
  add_narrow(added, "like", kInt4, {1}, "\x01");
  add_node(added, "Add", {"x", "like"});
  expect_refused(added.bytes(), "its input 1 has elements of INT4, with which the operator is not supported");
}

TEST_F(OnnxNewerOpsets, EightBitFloats) {
  // 1, 1.75, infinity, the smallest denormal.
  OnnxModel m(19);
  add_narrow(m, "w", kE5M2, {4}, std::string("\x3c\x3f\x7c\x01"));
  add_node(m, "Cast", {"w"}).integer("to", TensorProto::FLOAT);
  auto values = evaluated(m.bytes(), {});
  ASSERT_EQ(values.size(), 4u);
  EXPECT_EQ(values[0], 1);
  EXPECT_EQ(values[1], 1.75f);
  EXPECT_TRUE(std::isinf(values[2]));
  EXPECT_EQ(values[3], std::ldexp(1.0f, -16));
  OnnxModel rounded(19);
  rounded.input("x", {3});
  add_node(rounded, "Cast", {"x"}).integer("to", kE5M2);
  expect_near(evaluated(rounded.bytes(), {Tensor({3}, std::vector<float>{1.125f, 1.375f, 1e6f})}), {1, 1.5f, 57344});
}

TEST_F(OnnxNewerOpsets, OptionalsThatAreTensors) {
  OnnxModel m(18);
  m.input("x", {2});
  m.node("OptionalHasElement", {"x"}, {"there"});
  m.node("OptionalGetElement", {"x"}, {"value"});
  add_node(m, "Where", {"there", "value", "x"});
  expect_near(evaluated(m.bytes(), {Tensor({2}, std::vector<float>{1, 2})}), {1, 2});
}

TEST_F(OnnxNewerOpsets, OperatorsThatNoChipCanDo) {
  OnnxModel m(20);
  m.input("x", {2});
  m.node("StringConcat", {"x", "x"}, {"s"});
  add_node(m, "ImageDecoder", {"s"});
  std::string text = refusal(m.bytes());
  EXPECT_NE(text.find("op type StringConcat (domain ai.onnx, opset 20): strings are not supported"), std::string::npos) << text;
  EXPECT_NE(text.find("op type ImageDecoder (domain ai.onnx, opset 20): image file formats are not supported"), std::string::npos) << text;
}

// An input that is the data of each run must not be advised to be fixed.
TEST_F(OnnxNewerOpsets, TheHintTellsDataFromArguments) {
  OnnxModel steered(18);
  steered.input("x", {2, 3}).input("shape", {2}, TensorProto::INT64);
  add_node(steered, "Reshape", {"x", "shape"});
  expect_refused(steered.bytes(), "hint: give the value of what it depends on: --value shape=FILE");
  OnnxModel data(18);
  data.input("x", {2, 3}).input("shape", {2}, TensorProto::INT64);
  data.node("Cast", {"x"}, {"whole"}).integer("to", TensorProto::INT64);
  data.whole("axes", {0}).node("ReduceMax", {"whole", "axes"}, {"most"}).integer("keepdims", 0);
  add_node(data, "Expand", {"x", "most"});
  expect_refused(data.bytes(), "hint: it depends on the data of each run ('x'), and --value would fix that for all runs");
}

}  // namespace
}  // namespace buda::test
