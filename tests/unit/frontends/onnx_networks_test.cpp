// SPDX-License-Identifier: Apache-2.0
// Operators of networks that are put together from several ops here, and attributes that are turned into others: against hand-made numbers.
#include "import_fixture.hpp"
#include "onnx_model.hpp"

#include <cmath>

namespace buda::test {
namespace {

class OnnxNetworks : public ImportTest {
 protected:
  static Tensor counting(Shape shape) {
    std::vector<float> v(static_cast<std::size_t>(*shape.volume()));
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<float>(i);
    return Tensor(std::move(shape), std::move(v));
  }

  OnnxModel windowed(const std::string& op, const std::vector<std::vector<std::int64_t>>& inputs,
                     const std::vector<std::pair<std::string, std::vector<std::int64_t>>>& lists, const std::string& auto_pad = "") {
    OnnxModel m;
    std::vector<std::string> names;
    for (const auto& shape : inputs) {
      names.push_back(std::string(1, static_cast<char>('a' + names.size())));
      m.input(names.back(), shape);
    }
    OnnxNode node = m.node(op, names, {"out"});
    for (const auto& [name, values] : lists) node.integers(name, values);
    if (!auto_pad.empty()) node.text("auto_pad", auto_pad);
    m.output("out");
    return m;
  }

  std::vector<float> einsum(const std::string& equation, const std::vector<Tensor>& operands, Shape* shape = nullptr) {
    OnnxModel m;
    std::vector<std::string> names;
    for (const auto& t : operands) {
      names.push_back(std::string(1, static_cast<char>('a' + names.size())));
      m.input(names.back(), t.shape().dims());
    }
    m.node("Einsum", names, {"out"}).text("equation", equation);
    m.output("out");
    return evaluated(m.bytes(), operands, shape);
  }
};

TEST_F(OnnxNetworks, AutomaticPaddingPutsTheOddOneAtTheEndOrTheBeginning) {
  Tensor x({1, 1, 4}, std::vector<float>{1, 2, 3, 4}), w({1, 1, 2}, std::vector<float>{1, 10});
  expect_near(evaluated(windowed("Conv", {{1, 1, 4}, {1, 1, 2}}, {}, "SAME_UPPER").bytes(), {x, w}), {21, 32, 43, 4});
  expect_near(evaluated(windowed("Conv", {{1, 1, 4}, {1, 1, 2}}, {}, "SAME_LOWER").bytes(), {x, w}), {10, 21, 32, 43});
  expect_near(evaluated(windowed("Conv", {{1, 1, 4}, {1, 1, 2}}, {{"strides", {3}}}, "VALID").bytes(), {x, w}), {21});
}

TEST_F(OnnxNetworks, TransposedConvolutionMakesTheSizeThatIsAskedFor) {
  Tensor x({1, 1, 2}, std::vector<float>{1, 2}), w({1, 1, 3}, std::vector<float>{1, 10, 100});
  // Whole: 1 10 102 20 200.
  auto out = [&](const std::string& auto_pad, std::vector<std::int64_t> shape) {
    std::vector<std::pair<std::string, std::vector<std::int64_t>>> lists{{"strides", {2}}};
    if (!shape.empty()) lists.emplace_back("output_shape", std::move(shape));
    return evaluated(windowed("ConvTranspose", {{1, 1, 2}, {1, 1, 3}}, lists, auto_pad).bytes(), {x, w});
  };
  expect_near(out("SAME_UPPER", {}), {1, 10, 102, 20});
  expect_near(out("SAME_LOWER", {}), {10, 102, 20, 200});
  expect_near(out("", {3}), {10, 102, 20});
  expect_near(out("", {7}), {1, 10, 102, 20, 200, 0, 0});
}

TEST_F(OnnxNetworks, PoolsOfNorms) {
  Tensor x({1, 1, 4}, std::vector<float>{3, -4, 0, 2});
  expect_near(evaluated(windowed("LpPool", {{1, 1, 4}}, {{"kernel_shape", {2}}, {"strides", {2}}}).bytes(), {x}), {5, 2});
  OnnxModel cubes = one_node("GlobalLpPool", {{1, 1, 4}});
  OnnxNode(*cubes.graph().mutable_node(0)).integer("p", 3);
  expect_near(evaluated(cubes.bytes(), {x}), {std::cbrt(99.0f)});
}

TEST_F(OnnxNetworks, TrainingMovesTheStatistics) {
  OnnxModel m(15);
  m.input("x", {2, 1, 2}).weight("scale", {1}, {2}).weight("bias", {1}, {1}).weight("mean", {1}, {10}).weight("var", {1}, {8});
  m.node("BatchNormalization", {"x", "scale", "bias", "mean", "var"}, {"y", "m", "v"})
      .integer("training_mode", 1)
      .real("momentum", 0.75f)
      .real("epsilon", 0.75f);
  m.output("v");
  Tensor x({2, 1, 2}, std::vector<float>{1, 2, 3, 4});  // mean 2.5, variance 1.25
  expect_near(evaluated(m.bytes(), {x}), {8 * 0.75f + 1.25f * 0.25f});
  m.graph().mutable_output(0)->set_name("y");
  float scale = 2 / std::sqrt(2.0f);
  expect_near(evaluated(m.bytes(), {x}), {1 - 1.5f * scale, 1 - 0.5f * scale, 1 + 0.5f * scale, 1 + 1.5f * scale});
}

TEST_F(OnnxNetworks, EinsumIsProductsOfMatrices) {
  Tensor a = counting({2, 3}), b = counting({3, 2}), square = counting({3, 3}), cube = counting({2, 2, 3});
  Shape shape;
  expect_near(einsum("ij,jk->ik", {a, b}), {10, 13, 28, 40});
  expect_near(einsum("ij,jk", {a, b}), {10, 13, 28, 40});
  expect_near(einsum("ii", {square}), {12});
  expect_near(einsum("ii->i", {square}), {0, 4, 8});
  expect_near(einsum(" i j -> j i ", {a}), {0, 3, 1, 4, 2, 5});
  expect_near(einsum("...ij->...i", {cube}), {3, 12, 21, 30});
  expect_near(einsum("ij,ij->", {a, a}), {55});
  expect_near(einsum("i,j->ij", {Tensor({2}, std::vector<float>{2, 3}), Tensor({2}, std::vector<float>{5, 7})}), {10, 14, 15, 21});
  // A batch, two summed labels and a third operand: sum over j, k of cube[b, i, k] a[i, k] b[k, j] for each b and j.
  expect_near(einsum("bik,ik,kj->jb", {cube, a, b}, &shape), {150, 378, 205, 523});
  EXPECT_EQ(shape, (Shape{2, 2}));
  // The ellipsis stretches.
  expect_near(einsum("...j,...j->...",
                     {Tensor({2, 1, 2}, std::vector<float>{1, 2, 3, 4}), Tensor({2, 2}, std::vector<float>{1, 1, 10, 100})}, &shape),
              {3, 210, 7, 430});
  EXPECT_EQ(shape, (Shape{2, 2}));
}

TEST_F(OnnxNetworks, EinsumRefusals) {
  auto said = [&](const std::string& equation) {
    OnnxModel m = one_node("Einsum", {{2, 3}, {3, 2}});
    OnnxNode(*m.graph().mutable_node(0)).text("equation", equation);
    return refusal(m.bytes());
  };
  EXPECT_NE(said("ij->i").find("names fewer operands than the 2 there are"), std::string::npos);
  EXPECT_NE(said("ij,jk,kl->i").find("names more operands than the 2 there are"), std::string::npos);
  EXPECT_NE(said("ij,ik->i").find("has one label for axes of sizes 2 and 3"), std::string::npos);
  EXPECT_NE(said("ij,jk->x").find("has a label in its result that is there twice, or in no operand"), std::string::npos);
  EXPECT_NE(said("i,jk->i").find("names 1 axes of operand 0, which is [2, 3]"), std::string::npos);
  EXPECT_NE(said("i?,jk->i").find("has '?', which is no label"), std::string::npos);
}

TEST_F(OnnxNetworks, ReadsWindowsThatDoNotFitWithReasons) {
  EXPECT_NE(
      refusal(windowed("MaxPool", {{1, 1, 4}}, {{"kernel_shape", {2}}, {"strides", {0}}}).bytes()).find("its strides [0] has 0; 1 to"),
      std::string::npos);
  EXPECT_NE(refusal(windowed("MaxPool", {{1, 4}}, {{"kernel_shape", {2}}}).bytes()).find("its window [2] does not fit its input [1, 4]"),
            std::string::npos);
  EXPECT_NE(refusal(windowed("Conv", {{1, 1, 4}, {1, 1, 2}}, {{"kernel_shape", {3}}}).bytes())
                .find("its kernel_shape [3] is not that of its weights"),
            std::string::npos);
}

}  // namespace
}  // namespace buda::test
