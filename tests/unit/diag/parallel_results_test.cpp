// SPDX-License-Identifier: Apache-2.0
// Work that can fail, on several threads.
#include <buda/diag/parallel_results.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace buda {
namespace {

TEST(ParallelResults, AreInOrderOfTheirIndices) {
  auto squares = parallel_results(3, 20, [](std::size_t i) -> Result<std::size_t> { return i * i; });
  ASSERT_TRUE(squares.ok());
  ASSERT_EQ(squares->size(), 20u);
  for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ((*squares)[i], i * i);
}

TEST(ParallelResults, AllFailuresAreReportedInOrder) {
  auto odd = parallel_results(3, 6, [](std::size_t i) -> Result<std::size_t> {
    if (i % 2 == 0) return input_error("XX001", {}, std::to_string(i));
    return i;
  });
  ASSERT_FALSE(odd.ok());
  std::vector<std::string> messages;
  for (const Diagnostic& d : odd.failure().diagnostics()) messages.push_back(d.message);
  EXPECT_EQ(messages, (std::vector<std::string>{"0", "2", "4"}));
}

}  // namespace
}  // namespace buda
