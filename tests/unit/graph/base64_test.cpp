// SPDX-License-Identifier: Apache-2.0
// Base64 against the vectors of RFC 4648.
#include <buda/graph/file/base64.hpp>

#include <gtest/gtest.h>

namespace buda::graph {
namespace {

TEST(Base64, VectorsOfTheRfc) {
  for (auto [plain, coded] : {std::pair{"", ""},
                              {"f", "Zg=="},
                              {"fo", "Zm8="},
                              {"foo", "Zm9v"},
                              {"foob", "Zm9vYg=="},
                              {"fooba", "Zm9vYmE="},
                              {"foobar", "Zm9vYmFy"}}) {
    EXPECT_EQ(base64_encoded(plain), coded);
    EXPECT_EQ(base64_decoded(coded), plain);
  }
}

TEST(Base64, EveryByteComesBack) {
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  for (std::size_t length = 0; length <= all.size(); ++length)
    ASSERT_EQ(base64_decoded(base64_encoded(all.substr(0, length))), all.substr(0, length));
}

TEST(Base64, RefusesWhatIsNotCanonical) {
  for (auto text : {"Zg=", "Zg", "Z===", "====", "Zg==Zg==", "Zm 9", "Zm9v\n", "Zh==", "Zm9=", "-m9v", "Zm\xc3\xa9"})
    EXPECT_FALSE(base64_decoded(text)) << text;
}

}  // namespace
}  // namespace buda::graph
