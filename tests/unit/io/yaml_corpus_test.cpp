// SPDX-License-Identifier: Apache-2.0
// The reader of regular YAML against yaml-cpp on public netlists, pipegen files and blobs, whole and in damaged pieces.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <unit/io/yaml_comparison.hpp>
#include <unit/io/yaml_files.hpp>
#include <unit/io/yaml_mutation.hpp>

namespace buda::io {
namespace {

TEST(YamlCorpus, TheReadersAgree) {
  const char* shared = std::getenv("BUDA_SHARED_DIR");
  const char* source = std::getenv("BUDA_SOURCE_DIR");
  std::filesystem::path root =
      shared != nullptr ? shared : std::filesystem::path(source != nullptr ? source : ".").parent_path() / "shared";
  auto files = yaml_files(root / "corpus");
  if (files.empty()) GTEST_SKIP() << "no corpus beside the sources";
  YamlMutator mutator(1);
  std::size_t regular = 0, pieces = 0, regular_pieces = 0;
  for (const auto& path : files) {
    std::string text = text_of(path);
    auto whole = compare_yaml_readers(text, {.repeated_keys = true});
    EXPECT_EQ(whole.difference, "") << path;
    regular += whole.regular ? 1 : 0;
    for (int i = 0; i < 50; ++i, ++pieces) {
      std::string piece = mutator.mutate(text);
      auto part = compare_yaml_readers(piece, {.repeated_keys = mutator.below(2) == 0});
      ASSERT_EQ(part.difference, "") << path << '\n' << piece;
      regular_pieces += part.regular ? 1 : 0;
    }
  }
  std::printf("%zu of %zu files and %zu of %zu damaged pieces are regular\n", regular, files.size(), regular_pieces, pieces);
  EXPECT_GE(regular, files.size() * 98 / 100);
  EXPECT_GT(regular_pieces, pieces / 10);
}

}  // namespace
}  // namespace buda::io
