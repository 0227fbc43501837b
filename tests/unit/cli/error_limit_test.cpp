// SPDX-License-Identifier: Apache-2.0
// Files with hundreds of errors.
#include <buda/cli/error_limit.hpp>

#include <buda/base/text.hpp>

#include <gtest/gtest.h>

namespace buda::cli {
namespace {

std::vector<Diagnostic> errors_of(const std::string& file, std::size_t count) {
  std::vector<Diagnostic> out;
  for (std::size_t i = 0; i < count; ++i)
    out.push_back(input_error("NL001", {file, static_cast<std::uint32_t>(i + 1), 1}, cat("wrong ", i)));
  return out;
}

TEST(ErrorLimit, TheLastShownTellsHowManyMoreThereAre) {
  const auto shown = first_of_each_file(errors_of("a.yaml", 300));
  ASSERT_EQ(shown.size(), kMaxErrorsOfFile);
  EXPECT_EQ(shown.front().message, "wrong 0");
  EXPECT_TRUE(shown.front().notes.empty());
  ASSERT_EQ(shown.back().notes.size(), 1u);
  EXPECT_EQ(shown.back().notes[0].message, "250 further errors are not shown; --diagnostics=json shows all");
  EXPECT_EQ(first_of_each_file(errors_of("a.yaml", kMaxErrorsOfFile + 1)).back().notes[0].message,
            "1 further error is not shown; --diagnostics=json shows all");
}

TEST(ErrorLimit, AFileWithFewHidesNothingAndIsNotHiddenByAnother) {
  auto all = errors_of("a.yaml", kMaxErrorsOfFile);
  const auto others = errors_of("b.yaml", 300), last = errors_of("c.yaml", 1);
  all.insert(all.end(), others.begin(), others.end());
  all.insert(all.end(), last.begin(), last.end());
  const auto shown = first_of_each_file(all);
  ASSERT_EQ(shown.size(), 2 * kMaxErrorsOfFile + 1);
  EXPECT_TRUE(shown[kMaxErrorsOfFile - 1].notes.empty());
  EXPECT_EQ(shown[2 * kMaxErrorsOfFile - 1].notes.size(), 1u);
  EXPECT_EQ(shown.back().loc.file, "c.yaml");
}

}  // namespace
}  // namespace buda::cli
