// SPDX-License-Identifier: Apache-2.0
// The reader of regular YAML against yaml-cpp: hand-made texts, all short texts of YAML's special characters, damaged files.
#include <gtest/gtest.h>

#include <cstdlib>
#include <unit/io/yaml_comparison.hpp>
#include <unit/io/yaml_files.hpp>
#include <unit/io/yaml_mutation.hpp>

namespace buda::io {
namespace {

// Whether the text is regular; the readers must agree on it.
bool regular(std::string_view text, bool repeated_keys = false) {
  YamlComparison found = compare_yaml_readers(text, {repeated_keys});
  EXPECT_EQ(found.difference, "") << text;
  return found.regular;
}

constexpr std::string_view kRegular[] = {
    // documents
    "", "\n\n", "# c", "# c\n\n  # d\n", "a", "a\n", "'a' # c\n", "[]", "{}", "a: 1", "---\na: 1\n", "# c\n---\na: 1\n",
    "a: 1\n---\nb: 2\n", "a:\n---\nb:\n--- \n- c\n", "a: b\n---\n- c # d\n--- # e\n[f]",
    // maps
    "a: 1\nb:   2  \nc: 3 # c\n", "a:\n  b:\n    c: 1\n  d: 2\ne: 3", "a:\n  b\n", "a:\n\n  # c\n  b\nc: d", "a : b\n", "a:  # c\n  b: c\n",
    "a:\n", "a:", "a:\nb:\n", "a:\n  b:\nc: d\n", "a:\n  b:\n\n# c\n\nc:\n   ", "'a': b\n\"c\": d\n'e' : f", "a: b, c\n", "a: b[0]: x\n",
    "a: b#c\n", "a:b: c\n", "a: 'b' # c\n", "a: ''\nb: \"\"\n", "a: 'it''s'\n", "a: \"x\\\"y\\\\z\\n\\t\\/\"\n", "a: http://x\n",
    "a: -1\nb: -x\nc: -.5\nd: +4\ne: .5\n", "a: $v\n$v: a\n", "<<: a\n", "a: =\nb: ^x\n", "? : x\n", "~: 1", "true: 1\nTrue: 2\n",
    "1: a\n+1: b\n", "a: 1\na: 2\n", "a: [1]\nb: {c: d}\n", "a:\n  [1,\n2]\n", "a:\n [b]\nc: d", "a: {b: c, d: [e,\n  f]} # c\ng: h\n",
    "  a: 1\n  b: 2\n", "a: x # c\n  # d\nb: y\n", "a: x\n\n\n# c\nb: y\n", "a: x\n   # c\n   \nb: y\n",
    // lists
    "- a\n- b\n", "-\n- a\n-", "- # c\n  a\n-   # d\n- b", "- a: 1\n  b: 2\n- c: 3\n", "- - a\n  - b\n- c",
    "-   a: 1\n    b:\n    - x\n    - y\n", "a:\n- b\n- c\nd: e\n", "a:\n  - b\n  -\n  - c\nd:\n-\ne: f\n", "- a:\n  - b\n  c: d\n",
    "- [a, b]\n- {c: d}\n- 'e'\n- \"f\": g\n", "-\n  a: 1\n-\n  - b\n", "- a\n\n- b # c\n# d\n- c\n", "- -1\n- --\n", "a:\n  - b\n c\n",
    "- a\n  b\n",
    // flow
    "[a, b]", "[a, b,]", "[ a , b ]", "[a: 1, b: {c: 2}, d]", "[a: [b: c]]", "['a': b, \"c\" : d, \"e\":f]", "{a: 1, 'b': 2, \"c\":3, }",
    "{a: [1, 2], b: {c: d}}", "[\na,\n  b\n,\nc # d\n# e\n]", "{\na: b,\nc:\n  d\n}", "[a b, c  d ]", "[a#b, c #d\n]", "[a:b, c::d]",
    "{a: b:c}", "[[[[]]]]", "[{}, {a: {}}]", "[-1, -a, 1-2]", "['a b', 'c, d', 'e: f', '#']", "[a\n]", "[a\n, b]", "[\"a\"\n]", "{a: b\n}",
    "{a: b # c\n}", "[0x10, 1e3, true, ~, null]",
    // bytes
    "a: \xc3\xa4\n\xc3\xa4: b\n", "[\xe2\x82\xac, b]", "a: \x7f\n"};

// Not regular, or refused by both.
constexpr std::string_view kOther[] = {"a: &x 1\nb: *x\n",
                                       "a: !t b",
                                       "a: |\n  b\n",
                                       "a: >\n  b\n",
                                       "a: b\n  c\n",
                                       "a: b\n\n  c\n",
                                       "- a\n  b\n",
                                       "a\nb\n",
                                       "[a\n b]",
                                       "'a\nb'",
                                       "\"a\nb\"",
                                       "\"a\\x41\"",
                                       "\"\\u00e4\"",
                                       "%YAML 1.2\n---\na",
                                       "a: 1\n...\n",
                                       "a:\t1\n",
                                       "a: 1\r\n",
                                       "\xef\xbb\xbf"
                                       "a: 1\n",
                                       "a: \x04",
                                       "[a, , b]",
                                       "[,]",
                                       "{a}",
                                       "{a, b: c}",
                                       "{a: }",
                                       "{a: , b: c}",
                                       "[a: ]",
                                       "{: a}",
                                       "[: a]",
                                       "{? a : b}",
                                       "[? a]",
                                       "? a\n: b\n",
                                       "~: a\n",
                                       ": a\n",
                                       "{[a]: b}",
                                       "[a]: b\n",
                                       "{a: b}: c\n",
                                       "a: b: c\n",
                                       "a: - b\n",
                                       "a: [b] c\n",
                                       "a: [b]#c\n",
                                       "a: 'b'c\n",
                                       "a: 'b': c\n",
                                       "'a'b: c\n",
                                       "\"a\":b\n",
                                       "[a]\nb",
                                       "a: 1\n b: 2\n",
                                       "  a: 1\n b: 2\n",
                                       "a:\n    - b\n  - c\n",
                                       "- a\nb: c\n",
                                       "a: b\n- c\n",
                                       "- a\n - b\n",
                                       "a:\n  b: c\n - d\n",
                                       "[a",
                                       "{a: b",
                                       "]",
                                       "a: ]\n",
                                       "a: {b\n: c}",
                                       "[a?b]",
                                       "[a[0]]",
                                       "{a{: b}",
                                       "@a",
                                       "`a",
                                       "a: @b",
                                       "a: %b",
                                       "---\n---\na",
                                       "--- a\n",
                                       "a: 1\n---\n",
                                       "[\n---\n]",
                                       "[\n...\n]",
                                       "... a\n",
                                       "...\n",
                                       "- ? a\n",
                                       "a: 1\nb: 2\na: 3\n",
                                       "{a: 1, a: 2}",
                                       "true: 1\nTrue: 2\n",
                                       "!",
                                       "&a",
                                       "*a",
                                       "a: '",
                                       "a: \"\\q\"",
                                       "-a\n- b",
                                       "-\ta\n"};

TEST(YamlReaders, AgreeOnRegularTexts) {
  for (auto text : kRegular) {
    regular(text);
    regular(text, true);
  }
  // Most of them are regular; those that look as if they were are in the list as well.
  std::size_t count = 0;
  for (auto text : kRegular) count += regular(text, true) ? 1 : 0;
  EXPECT_GT(count, std::size(kRegular) * 9 / 10);
}

TEST(YamlReaders, LeaveTheRestToYamlCpp) {
  for (auto text : kOther) EXPECT_FALSE(regular(text)) << text;
}

TEST(YamlReaders, KeysAreSoughtAsFarAsYamlCppSeeksThem) {
  for (std::size_t length : {1022u, 1023u, 1024u, 1025u, 1026u}) {
    std::string name(length, 'k');
    EXPECT_EQ(regular(name + ": v\n"), length <= 1024) << length;
    EXPECT_EQ(regular("- " + name + ": v\n"), length <= 1024) << length;
    EXPECT_EQ(regular('{' + name + ": v}"), length <= 1024) << length;
    EXPECT_EQ(regular('[' + name + ": v]"), length <= 1024) << length;
    EXPECT_EQ(regular('\'' + name + "': v"), length <= 1022) << length;
    EXPECT_EQ(regular(name.substr(4) + "    : v"), length <= 1024) << length;
  }
}

TEST(YamlReaders, NestingEndsAtTheSameDepth) {
  for (std::size_t deep : {199u, 200u, 201u}) {
    std::string in_flow = std::string(deep, '[') + std::string(deep, ']');
    EXPECT_EQ(regular(in_flow), deep <= 200) << deep;
    EXPECT_EQ(parse_yaml(in_flow, "f").ok(), deep <= 200) << deep;
    std::string in_block, items;
    for (std::size_t i = 0; i < deep; ++i) {
      in_block += std::string(i, ' ') + "a:\n";
      items += "- ";
    }
    EXPECT_EQ(regular(in_block), deep <= 200) << deep;
    EXPECT_EQ(regular(items + "a"), deep <= 200) << deep;
    std::string pairs;
    for (std::size_t i = 0; i < deep; ++i) pairs += "[a: ";
    EXPECT_EQ(regular(pairs + "[]" + std::string(deep, ']')), 2 * deep + 1 <= 200) << deep;
  }
  for (std::size_t pairs : {99u, 100u}) {
    std::string text;
    for (std::size_t i = 0; i < pairs; ++i) text += "[a: ";
    EXPECT_TRUE(regular(text + "b" + std::string(pairs, ']')));
  }
}

// A map of many members has its keys compared in another way than a small one.
TEST(YamlReaders, RepeatedKeys) {
  for (std::size_t members : {2u, 16u, 17u, 500u}) {
    std::string text;
    for (std::size_t i = 0; i < members; ++i) text += "k" + std::to_string(i) + ": 1\n";
    EXPECT_TRUE(regular(text));
    EXPECT_FALSE(regular(text + "k0: 2\n"));
    EXPECT_TRUE(regular(text + "k0: 2\n", true));
    EXPECT_FALSE(parse_yaml(text + "k0: 2\n", "f"));
  }
}

// Every text of up to four of these characters, and the longer ones that begin like a collection.
TEST(YamlReaders, AgreeOnAllShortTexts) {
  constexpr std::string_view kAlphabet = "a \n-:,[]{}#'\"?.~";
  for (std::string_view head : {"", "[", "{a", "- ", "a:", "a:\n", "a:\n-"}) {
    for (std::size_t length = 0; length <= (head.empty() ? 4u : 3u); ++length) {
      std::vector<std::size_t> digits(length, 0);
      while (true) {
        std::string text(head);
        for (std::size_t d : digits) text += kAlphabet[d];
        ASSERT_EQ(compare_yaml_readers(text, {}).difference, "") << text;
        std::size_t i = 0;
        while (i < length && ++digits[i] == kAlphabet.size()) digits[i++] = 0;
        if (i == length) break;
      }
    }
  }
}

// What we ship is read fast, and pieces of it with damage are read as yaml-cpp reads them.
TEST(YamlReaders, AgreeOnFilesOfOurs) {
  const char* source = std::getenv("BUDA_SOURCE_DIR");
  ASSERT_NE(source, nullptr);
  YamlMutator mutator(1);
  std::size_t files = 0, pieces = 0, tried = 0;
  for (const auto& path : yaml_files(std::filesystem::path(source) / "share")) {
    std::string text = text_of(path);
    ++files;
    // Pipelines have folded comments.
    EXPECT_EQ(regular(text, true), path.parent_path().filename() != "pipelines") << path;
    for (int i = 0; i < 200; ++i, ++tried) pieces += regular(mutator.mutate(text), mutator.below(2) == 0) ? 1 : 0;
  }
  EXPECT_GT(files, 40u);
  // Else the damage is too great to show anything.
  EXPECT_GT(pieces, tried / 10);
}

}  // namespace
}  // namespace buda::io
