// SPDX-License-Identifier: Apache-2.0
// Selection matrices in tiles.
#include <buda/balance/problem/selection.hpp>

#include <buda/tensor/tensor.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

namespace buda::balance {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

// `picks` of which all is 0 but some entries (row, column, value).
Tensor picker(std::int64_t rows, std::int64_t columns, const std::vector<std::tuple<std::int64_t, std::int64_t, std::int32_t>>& entries) {
  std::vector<std::int32_t> v(static_cast<std::size_t>(rows * columns), 0);
  for (auto [r, c, value] : entries) v[static_cast<std::size_t>(r * columns + c)] = value;
  return Tensor(Shape{1, 1, rows, columns}, std::move(v));
}

std::vector<std::tuple<int, int, int>> products_of(const SelectionMatrix& m) {
  std::vector<std::tuple<int, int, int>> out;
  for (const auto& p : m.products) out.emplace_back(p.row, p.act, p.tile);
  return out;
}

TEST(SelectionMatrix, EqualTilesAreOne) {
  // Row 0 of the result is row 33 of x, row 32 is row 1, row 33 is row 2: twice a one in the corner, and one beside it.
  const Tensor picks = picker(1, 64, {{0, 0, 33}, {0, 32, 1}, {0, 33, 2}, {0, 63, 64}});
  auto m = selection_matrix({&picks, nullptr, 1}, {1, 2, 1, 2});
  ASSERT_TRUE(m.ok());
  EXPECT_THAT(products_of(*m), ElementsAre(std::tuple(0, 1, 0), std::tuple(1, 0, 1), std::tuple(1, 1, 2)));
  EXPECT_THAT(m->first, ElementsAre(0u, 1u, 3u));
  EXPECT_THAT(m->tiles[0], ElementsAre(Pair(0, 1.0f)));
  EXPECT_THAT(m->tiles[1], ElementsAre(Pair(0, 1.0f), Pair(33, 1.0f)));
  EXPECT_THAT(m->tiles[2], ElementsAre(Pair(31 * 32 + 31, 1.0f)));
  EXPECT_TRUE(m->ones);
  EXPECT_EQ(m->of_row(1).size(), 2u);
}

TEST(SelectionMatrix, TermsAddUpAndZerosVanish) {
  // Row 0: row 1 twice. Row 32: row 1 once with 2 and once with -2, which is nothing.
  const Tensor picks = picker(2, 64, {{0, 0, 1}, {1, 0, 1}, {0, 32, 1}, {1, 32, 1}});
  std::vector<float> factors(128, 3.0f);
  factors[32] = 2;
  factors[64 + 32] = -2;
  const Tensor weights(Shape{1, 1, 2, 64}, std::move(factors));
  auto weighted = selection_matrix({&picks, &weights, 1}, {1, 2, 1, 1});
  ASSERT_TRUE(weighted.ok());
  EXPECT_THAT(products_of(*weighted), ElementsAre(std::tuple(0, 0, 0)));
  EXPECT_THAT(weighted->tiles[0], ElementsAre(Pair(0, 6.0f)));
  EXPECT_FALSE(weighted->ones);
  auto plain = selection_matrix({&picks, nullptr, 1}, {1, 2, 1, 1});
  ASSERT_TRUE(plain.ok());
  EXPECT_THAT(plain->tiles[0], ElementsAre(Pair(0, 2.0f)));
  EXPECT_FALSE(plain->ones);
}

TEST(SelectionMatrix, SlicesHaveTheirOwnPicksAndMatricesOrShareThem) {
  // Two slices of the result.
  const Tensor shared = picker(1, 32, {{0, 0, 1}}), own = picker(2, 32, {{0, 0, 1}, {1, 0, 2}});
  auto one_for_two = selection_matrix({&shared, nullptr, 1}, {2, 1, 2, 3});
  ASSERT_TRUE(one_for_two.ok());
  EXPECT_THAT(products_of(*one_for_two), ElementsAre(std::tuple(0, 0, 0), std::tuple(1, 3, 0)));
  auto two_of_one = selection_matrix({&own, nullptr, 2}, {2, 1, 1, 3});
  ASSERT_TRUE(two_of_one.ok());
  EXPECT_THAT(products_of(*two_of_one), ElementsAre(std::tuple(0, 0, 0), std::tuple(1, 0, 1)));
  auto two_of_two = selection_matrix({&own, nullptr, 2}, {2, 1, 2, 3});
  ASSERT_TRUE(two_of_two.ok());
  EXPECT_THAT(products_of(*two_of_two), ElementsAre(std::tuple(0, 0, 0), std::tuple(1, 3, 1)));
}

TEST(SelectionMatrix, RowsAndColumnsBeyondThePicksAreZero) {
  // 3 rows hold one term of 2 slices, and one row of padding; 40 columns are less than two tiles.
  const Tensor picks = picker(3, 40, {{0, 39, 5}, {1, 0, 1}, {2, 1, 7}});
  auto m = selection_matrix({&picks, nullptr, 2}, {2, 2, 1, 1});
  ASSERT_TRUE(m.ok());
  EXPECT_THAT(products_of(*m), ElementsAre(std::tuple(1, 0, 0), std::tuple(2, 0, 1)));
  EXPECT_THAT(m->tiles[0], ElementsAre(Pair(7 * 32 + 4, 1.0f)));
}

TEST(SelectionMatrix, BadEntriesAndShapesAreErrors) {
  auto message = [](const Tensor& picks, std::int64_t slices, const Tensor* weights = nullptr) {
    auto m = selection_matrix({&picks, weights, slices}, {2, 1, 2, 1});
    return m.ok() ? std::string("none") : m.failure().diagnostics().front().message;
  };
  EXPECT_EQ(message(picker(2, 32, {{0, 0, 32}, {1, 0, 32}}), 2), "none");
  // Row 33 is no row of the first matrix, though there is a second one; nor is -1 of the second.
  EXPECT_EQ(message(picker(2, 32, {{0, 0, 33}}), 2), "its selection matrix names row 33, and the other operand has 32");
  EXPECT_THAT(message(picker(2, 32, {{1, 0, 33}}), 2), HasSubstr("names row 33"));
  EXPECT_THAT(message(picker(2, 32, {{1, 0, -1}}), 2), HasSubstr("names row -1"));
  EXPECT_THAT(message(picker(2, 32, {}), 0), HasSubstr("is not a matrix of 0 slices"));
  const Tensor picks = picker(2, 32, {}), narrow(Shape{1, 1, 2, 16}, std::vector<float>(32, 1.0f));
  EXPECT_THAT(message(picks, 2, &narrow), HasSubstr("is not a matrix of 2 slices"));
}

}  // namespace
}  // namespace buda::balance
