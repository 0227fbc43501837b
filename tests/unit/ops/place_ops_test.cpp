// SPDX-License-Identifier: Apache-2.0
// Gather, scatter, search, tile and their like, against results of NumPy worked out by hand.
#include <buda/ops/table/evaluate_call.hpp>

#include "running.hpp"

#include <limits>

namespace buda::ops {
namespace {

Result<std::vector<Tensor>> place_ops_all(const std::string& op, const std::vector<Tensor>& inputs, const AttrMap& attrs) {
  BUDA_ASSIGN(const OpDef* def, standard_ops().require(Level::tensor, op));
  return evaluate(*def, inputs, attrs, 1);
}

TEST(PlaceOps, Gather) {
  Tensor x = counting({2, 3, 2});
  expect_near(run("gather", {x, i64({2, 1}, {-1, 0})}, {{"dim", std::int64_t{1}}}), {2, 2, 1, 2}, {4, 5, 0, 1, 10, 11, 6, 7});
  expect_near(run("gather", {x, i64({}, {1})}, {{"dim", std::int64_t{0}}}), {3, 2}, {6, 7, 8, 9, 10, 11});
  EXPECT_EQ(error_of("gather", {x, i64({1}, {3})}, {{"dim", std::int64_t{1}}}), "OP008: index 3 lies outside [-3, 2]");
  EXPECT_EQ(error_of("gather", {x, i64({1}, {std::numeric_limits<std::int64_t>::min()})}, {{"dim", std::int64_t{1}}}).substr(0, 5),
            "OP008");
  EXPECT_EQ(error_of("gather", {x, f32({1}, {0})}, {{"dim", std::int64_t{1}}}), "OP004: indices must be I32 or I64, not F32");
  EXPECT_EQ(run("gather", {f32({0, 3}, {}), i64({0}, {})}, {{"dim", std::int64_t{0}}}).shape(), (Shape{0, 3}));
}

TEST(PlaceOps, GatherElementsAndScatterElementsAreOpposites) {
  Tensor x = f32({2, 3}, {10, 11, 12, 13, 14, 15});
  Tensor at = i64({2, 2}, {2, 0, -2, 1});
  Tensor taken = run("gather_elements", {x, at}, {{"dim", std::int64_t{1}}});
  expect_near(taken, {2, 2}, {12, 10, 14, 14});
  expect_near(run("scatter_elements", {x, at, f32({2, 2}, {1, 2, 3, 4})}, {{"dim", std::int64_t{1}}}), {2, 3}, {2, 11, 1, 13, 4, 15});
  expect_near(run("scatter_elements", {x, at, f32({2, 2}, {1, 2, 3, 4})}, {{"dim", std::int64_t{1}}, {"reduction", std::string("add")}}),
              {2, 3}, {12, 11, 13, 13, 21, 15});
  EXPECT_EQ(error_of("gather_elements", {x, i64({3, 1}, {0, 0, 0})}, {{"dim", std::int64_t{1}}}),
            "OP003: indices of shape [3, 1] do not lie within data of shape [2, 3], axis 1 aside");
}

TEST(PlaceOps, GatherNd) {
  Tensor x = counting({2, 2, 2});
  expect_near(run("gather_nd", {x, i64({2, 2}, {0, 1, 1, 0})}), {2, 2}, {2, 3, 4, 5});
  expect_near(run("gather_nd", {x, i64({2, 1}, {1, 0})}, {{"batch_dims", std::int64_t{1}}}), {2, 2}, {2, 3, 4, 5});
  EXPECT_EQ(error_of("gather_nd", {x, i64({1, 4}, {0, 0, 0, 0})}), "OP003: indices of shape [1, 4] name 4 axes of data of shape [2, 2, 2]");
  EXPECT_EQ(error_of("gather_nd", {x, i64({2, 1}, {0, 2})}), "OP008: index 2 lies outside [-2, 1]");
}

TEST(PlaceOps, ScatterNd) {
  Tensor x = counting({4, 2});
  expect_near(run("scatter_nd", {x, i64({2, 1}, {3, 0}), f32({2, 2}, {-1, -2, -3, -4})}), {4, 2}, {-3, -4, 2, 3, 4, 5, -1, -2});
  // Two updates of one place.
  expect_near(run("scatter_nd", {x, i64({2, 2}, {1, 1, 1, 1}), f32({2}, {2, 5})}, {{"reduction", std::string("mul")}}), {4, 2},
              {0, 1, 2, 30, 4, 5, 6, 7});
  EXPECT_EQ(error_of("scatter_nd", {x, i64({2, 1}, {3, 0}), f32({2}, {1, 2})}), "OP003: updates must have shape [2, 2], not [2]");
}

TEST(PlaceOps, OneHot) {
  expect_near(run("one_hot", {i64({3}, {1, -1, 9}), f32({2}, {0, 5})}, {{"depth", std::int64_t{3}}}), {3, 3}, {0, 5, 0, 0, 0, 5, 0, 0, 0});
  expect_near(run("one_hot", {i64({2}, {0, 2}), f32({2}, {1, 0})}, {{"depth", std::int64_t{3}}, {"dim", std::int64_t{0}}}), {3, 2},
              {0, 1, 1, 1, 1, 0});
  EXPECT_EQ(error_of("one_hot", {i64({1}, {0}), f32({2}, {0, 1})}, {{"depth", std::int64_t{0}}}),
            "OP003: a depth of 0 is none; it must be at least 1");
}

TEST(PlaceOps, ReverseSequence) {
  Tensor x = counting({3, 2});
  expect_near(run("reverse_sequence", {x, i64({2}, {2, 3})}), {3, 2}, {2, 5, 0, 3, 4, 1});
  EXPECT_EQ(error_of("reverse_sequence", {x, i64({2}, {2, 4})}), "OP008: a length of 4 lies outside [0, 3]");
}

TEST(PlaceOps, ArgMax) {
  Tensor x = f32({2, 3}, {1, 7, 7, kNan, 9, kNan});
  EXPECT_EQ(elements<std::int64_t>(run("argmax", {x}, {{"dim", std::int64_t{1}}})), (Ints{1, 0}));
  EXPECT_EQ(elements<std::int64_t>(run("argmax", {x}, {{"dim", std::int64_t{1}}, {"last", true}})), (Ints{2, 2}));
  EXPECT_EQ(elements<std::int64_t>(run("argmin", {f32({3}, {2, -1, -1})}, {{"keep_dims", false}})), (Ints{1}));
  EXPECT_EQ(error_of("argmax", {f32({2, 0}, {})}, {{"dim", std::int64_t{1}}}), "OP003: axis 1 of [2, 0] has no elements to choose from");
}

TEST(PlaceOps, TopK) {
  auto top = place_ops_all("topk", {f32({2, 4}, {1, 3, 3, 2, 9, 8, 7, 6})}, {{"k", std::int64_t{2}}, {"dim", std::int64_t{1}}});
  ASSERT_TRUE(top);
  expect_near((*top)[0], {2, 2}, {3, 3, 9, 8});
  EXPECT_EQ(elements<std::int64_t>((*top)[1]), (Ints{1, 2, 0, 1}));
  auto low = place_ops_all("topk", {f32({3, 1}, {5, 5, 4})}, {{"k", std::int64_t{2}}, {"dim", std::int64_t{0}}, {"largest", false}});
  ASSERT_TRUE(low);
  EXPECT_EQ(elements<std::int64_t>((*low)[1]), (Ints{2, 0}));
  EXPECT_EQ(error_of("topk", {f32({2}, {1, 2})}, {{"k", std::int64_t{3}}}), "OP003: k = 3 lies outside [0, 2], the size of axis 0");
}

TEST(PlaceOps, CumSum) {
  Tensor x = i64({2, 2}, {1, 2, 3, 9007199254740993});
  EXPECT_EQ(elements<std::int64_t>(run("cumsum", {x}, {{"dim", std::int64_t{1}}})), (Ints{1, 3, 3, 9007199254740996}));
  EXPECT_EQ(elements<std::int64_t>(run("cumsum", {x}, {{"dim", std::int64_t{0}}, {"exclusive", true}, {"reverse", true}})),
            (Ints{3, 9007199254740993, 0, 0}));
}

TEST(PlaceOps, NgramCounts) {
  // Grams 5, 7 and 5 6; 5 6 stands once beside each other and once with one number between.
  AttrMap attrs{{"pool", Ints{5, 7, 5, 6}},    {"starts", Ints{0, 2}},       {"columns", Ints{2, 0, 1}},
                {"shortest", std::int64_t{1}}, {"longest", std::int64_t{2}}, {"most_skips", std::int64_t{1}}};
  Tensor x = i64({5}, {5, 6, 5, 9, 6});
  expect_near(run("ngram_counts", {x}, attrs), {3}, {0, 2, 2});
  attrs["mode"] = std::string("presence");
  attrs["weights"] = std::vector<double>{2, 3, 0.5};
  expect_near(run("ngram_counts", {i32({2, 2}, {5, 6, 7, 7})}, attrs), {2, 3}, {0, 0.5f, 2, 3, 0, 0});
  attrs["starts"] = Ints{0, 1};
  EXPECT_EQ(error_of("ngram_counts", {x}, attrs), "OP003: the grams of 2 numbers cannot be at positions 1 to 4 of 4");
}

TEST(PlaceOps, Tile) {
  expect_near(run("tile", {counting({1, 2})}, {{"repeats", Ints{2, 2}}}), {2, 4}, {0, 1, 0, 1, 0, 1, 0, 1});
  EXPECT_EQ(run("tile", {counting({1, 2})}, {{"repeats", Ints{0, 2}}}).shape(), (Shape{0, 4}));
  EXPECT_EQ(error_of("tile", {counting({2})}, {{"repeats", Ints{-1}}}), "OP003: axis 0 of size 2 cannot be repeated -1 times");
}

TEST(PlaceOps, BordersThatContinue) {
  auto padded = [](const char* mode) {
    return run("pad_continued", {counting({3})}, {{"before", Ints{4}}, {"after", Ints{3}}, {"mode", std::string(mode)}});
  };
  expect_near(padded("reflect"), {10}, {0, 1, 2, 1, 0, 1, 2, 1, 0, 1});
  expect_near(padded("edge"), {10}, {0, 0, 0, 0, 0, 1, 2, 2, 2, 2});
  expect_near(padded("wrap"), {10}, {2, 0, 1, 2, 0, 1, 2, 0, 1, 2});
  EXPECT_EQ(error_of("pad_continued", {counting({1})}, {{"before", Ints{1}}, {"after", Ints{0}}, {"mode", std::string("reflect")}}),
            "OP003: axis 0 of size 1 has no elements from which its border can be padded");
}

TEST(PlaceOps, Triangles) {
  Tensor x = counting({3, 3});
  expect_near(run("triangle", {x}), {3, 3}, {0, 1, 2, 0, 4, 5, 0, 0, 8});
  expect_near(run("triangle", {x}, {{"diagonal", std::int64_t{1}}}), {3, 3}, {0, 1, 2, 0, 0, 5, 0, 0, 0});
  expect_near(run("triangle", {x}, {{"upper", false}, {"diagonal", std::int64_t{-1}}}), {3, 3}, {0, 0, 0, 3, 0, 0, 6, 7, 0});
  expect_near(run("triangle", {x}, {{"upper", false}, {"diagonal", std::numeric_limits<std::int64_t>::max()}}), {3, 3},
              {0, 1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_EQ(error_of("triangle", {counting({3})}), "OP003: a value of shape [3] holds no matrices");
}

}  // namespace
}  // namespace buda::ops
