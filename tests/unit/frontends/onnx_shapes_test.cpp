// SPDX-License-Identifier: Apache-2.0
// Operators that move elements, and constants.
#include "import_fixture.hpp"
#include "onnx_model.hpp"

#include <functional>
#include <numeric>

namespace buda::test {
namespace {

class OnnxShapes : public ImportTest {
 protected:
  // 0, 1, 2, …
  static Tensor counting(Shape shape) {
    std::vector<float> values(static_cast<std::size_t>(shape.volume().value()));
    std::iota(values.begin(), values.end(), 0.0f);
    return Tensor(std::move(shape), std::move(values));
  }
  Shape shape_of(const OnnxModel& m, const Tensor& x) {
    Shape shape;
    EXPECT_EQ(evaluated(m.bytes(), {x}, &shape), x.to_f32()) << "the elements must keep their order";
    return shape;
  }
  static OnnxModel reshape(const std::vector<std::int64_t>& from, const std::vector<std::int64_t>& to, int opset = 13) {
    OnnxModel m(opset);
    m.input("x", from).whole("shape", to).node("Reshape", {"x", "shape"}, {"y"});
    m.output("y");
    return m;
  }
};

TEST_F(OnnxShapes, FlattenSplitsAtTheAxis) {
  Tensor x = counting({2, 3, 4});
  for (auto [axis, expected] :
       std::vector<std::pair<std::int64_t, Shape>>{{0, {1, 24}}, {1, {2, 12}}, {2, {6, 4}}, {3, {24, 1}}, {-1, {6, 4}}, {-3, {1, 24}}}) {
    OnnxModel m;
    m.input("x", {2, 3, 4}).node("Flatten", {"x"}, {"y"}).integer("axis", axis);
    m.output("y");
    EXPECT_EQ(shape_of(m, x), expected) << axis;
  }
  EXPECT_EQ(shape_of(one_node("Flatten", {{2, 3, 4}}), x), (Shape{2, 12}));
}

TEST_F(OnnxShapes, ReshapeWithZeroAndMinusOne) {
  Tensor x = counting({2, 3, 4});
  EXPECT_EQ(shape_of(reshape({2, 3, 4}, {0, -1}), x), (Shape{2, 12}));
  EXPECT_EQ(shape_of(reshape({2, 3, 4}, {-1, 0, 2}), x), (Shape{4, 3, 2}));
  EXPECT_EQ(shape_of(reshape({2, 3, 4}, {24}, 7), x), (Shape{24}));
  EXPECT_EQ(shape_of(reshape({1}, {}), counting({1})), Shape{});
}

TEST_F(OnnxShapes, ReshapeLeavesNoTraceOfItsShape) {
  graph::Graph graph = imported(reshape({2, 3, 4}, {6, 4}).bytes());
  EXPECT_EQ(graph.size(), 3u) << "input, reshape, output";
  EXPECT_FALSE(graph.find("shape").valid());
}

TEST_F(OnnxShapes, ReshapeByAShapeThatIsComputedFromAnInput) {
  OnnxModel m;
  m.input("x", {2, 6}).input("like", {3, 4});
  m.node("Shape", {"like"}, {"s"});
  m.node("Identity", {"s"}, {"t"});
  m.node("Reshape", {"x", "t"}, {"y"});
  m.output("y", {3, 4});
  Shape shape;
  EXPECT_EQ(evaluated(m.bytes(), {counting({2, 6}), counting({3, 4})}, &shape), counting({2, 6}).to_f32());
  EXPECT_EQ(shape, (Shape{3, 4}));
}

TEST_F(OnnxShapes, Transpose) {
  Tensor x = counting({2, 3});
  Shape shape;
  EXPECT_EQ(evaluated(one_node("Transpose", {{2, 3}}).bytes(), {x}, &shape), (std::vector<float>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(shape, (Shape{3, 2}));
  OnnxModel m;
  m.input("x", {2, 1, 3}).node("Transpose", {"x"}, {"y"}).integers("perm", {2, 0, 1});
  m.output("y");
  EXPECT_EQ(evaluated(m.bytes(), {counting({2, 1, 3})}, &shape), (std::vector<float>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(shape, (Shape{3, 2, 1}));
}

TEST_F(OnnxShapes, SqueezeAndUnsqueezeWithAxesAsAttributeAndAsInput) {
  OnnxModel old(11);
  old.input("x", {1, 3, 1}).node("Squeeze", {"x"}, {"y"}).integers("axes", {-1});
  old.output("y");
  EXPECT_EQ(shape_of(old, counting({1, 3, 1})), (Shape{1, 3}));
  OnnxModel squeeze;
  squeeze.input("x", {1, 3, 1}).whole("axes", {0}).node("Squeeze", {"x", "axes"}, {"y"});
  squeeze.output("y");
  EXPECT_EQ(shape_of(squeeze, counting({1, 3, 1})), (Shape{3, 1}));
  EXPECT_EQ(shape_of(one_node("Squeeze", {{1, 3, 1}}), counting({1, 3, 1})), (Shape{3}));
  EXPECT_EQ(shape_of(one_node("Squeeze", {{3}}), counting({3})), (Shape{3}));
  OnnxModel unsqueeze;
  unsqueeze.input("x", {2, 3}).whole("axes", {-1, 1}).node("Unsqueeze", {"x", "axes"}, {"y"});
  unsqueeze.output("y");
  EXPECT_EQ(shape_of(unsqueeze, counting({2, 3})), (Shape{2, 1, 3, 1}));
}

TEST_F(OnnxShapes, ConcatExpandPad) {
  OnnxModel concat;
  concat.input("a", {2, 1}).input("b", {2, 2}).node("Concat", {"a", "b"}, {"y"}).integer("axis", -1);
  concat.output("y");
  EXPECT_EQ(evaluated(concat.bytes(), {counting({2, 1}), counting({2, 2})}), (std::vector<float>{0, 0, 1, 1, 2, 3}));
  OnnxModel expand;
  expand.input("x", {2, 1}).whole("shape", {1, 3}).node("Expand", {"x", "shape"}, {"y"});
  expand.output("y", {2, 3});
  EXPECT_EQ(evaluated(expand.bytes(), {counting({2, 1})}), (std::vector<float>{0, 0, 0, 1, 1, 1}));
  OnnxModel pad;
  pad.input("x", {1, 2}).whole("pads", {0, 1, 1, 0}).scalar("value", 7).node("Pad", {"x", "pads", "value"}, {"y"});
  pad.output("y", {2, 3});
  EXPECT_EQ(evaluated(pad.bytes(), {counting({1, 2})}), (std::vector<float>{7, 0, 1, 7, 7, 7}));
  OnnxModel old(9);
  old.input("x", {1, 2}).node("Pad", {"x"}, {"y"}).integers("pads", {0, 1, 1, 0});
  old.output("y", {2, 3});
  EXPECT_EQ(evaluated(old.bytes(), {counting({1, 2})}), (std::vector<float>{0, 0, 1, 0, 0, 0}));
}

TEST_F(OnnxShapes, SliceInBothForms) {
  Tensor x = counting({3, 4});
  OnnxModel old(9);
  old.input("x", {3, 4})
      .node("Slice", {"x"}, {"y"})
      .integers("starts", {1, -3})
      .integers("ends", {1000, -1})
      .integers("axes", {0, 1})
      .named("cut");
  old.output("y", {2, 2});
  EXPECT_EQ(evaluated(old.bytes(), {x}), (std::vector<float>{5, 6, 9, 10}));
  graph::Graph converted = imported(old.bytes());
  EXPECT_EQ(converted.size(), 3u) << "conversion leaves no traces,";
  EXPECT_TRUE(converted.find("cut").valid()) << "and keeps names";
  OnnxModel leading(8);
  leading.input("x", {3, 4}).weight("w", {4}, {1, 2, 3, 4}).node("Slice", {"x"}, {"s"}).integers("starts", {2}).integers("ends", {3});
  leading.node("Mul", {"s", "w"}, {"y"});
  leading.output("y", {1, 4});
  EXPECT_EQ(evaluated(leading.bytes(), {x}), (std::vector<float>{8, 18, 30, 44}));
  OnnxModel back;
  back.input("x", {3, 4}).whole("starts", {-1, 0}).whole("ends", {-1000, 4}).whole("axes", {0, 1}).whole("steps", {-2, 3});
  back.node("Slice", {"x", "starts", "ends", "axes", "steps"}, {"y"});
  back.output("y", {2, 2});
  EXPECT_EQ(evaluated(back.bytes(), {x}), (std::vector<float>{8, 11, 0, 3}));
}

TEST_F(OnnxShapes, ConstantsOfEveryForm) {
  Tensor x = counting({2});
  auto sum_with = [&](const std::function<void(OnnxNode)>& set) {
    OnnxModel m;
    m.input("x", {2});
    set(m.node("Constant", {}, {"c"}));
    m.node("Add", {"x", "c"}, {"y"});
    m.output("y");
    return evaluated(m.bytes(), {x});
  };
  EXPECT_EQ(sum_with([](OnnxNode n) { n.real("value_float", 2.5f); }), (std::vector<float>{2.5f, 3.5f}));
  EXPECT_EQ(sum_with([](OnnxNode n) { n.reals("value_floats", {1, 2}); }), (std::vector<float>{1, 3}));
  EXPECT_EQ(sum_with([](OnnxNode n) {
              auto& t = n.tensor("value");
              t.set_data_type(onnx::TensorProto::FLOAT);
              t.add_dims(2);
              t.add_float_data(10);
              t.add_float_data(20);
            }),
            (std::vector<float>{10, 21}));
  OnnxModel whole;
  whole.input("x", {2, 3});
  whole.node("Constant", {}, {"s"}).integers("value_ints", {3, 2});
  whole.node("Reshape", {"x", "s"}, {"y"});
  whole.output("y", {3, 2});
  EXPECT_EQ(shape_of(whole, counting({2, 3})), (Shape{3, 2}));
}

}  // namespace
}  // namespace buda::test
