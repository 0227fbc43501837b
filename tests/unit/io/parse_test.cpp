// SPDX-License-Identifier: Apache-2.0
// JSON and YAML readers: values, places, and everything that must be refused.
#include <buda/io/json.hpp>
#include <buda/io/yaml.hpp>

#include <gtest/gtest.h>

namespace buda::io {
namespace {

std::string place(const Node& n) { return std::to_string(n.loc().line) + ":" + std::to_string(n.loc().column); }

SourceLoc error_place(const Result<Node>& r) { return r.failure().diagnostics().front().loc; }

TEST(Json, EveryValueKnowsWhereItStands) {
  auto node = parse_json("{\n  \"a\": [1, -2.5e3,\n    true],\n  \"b\" : {\"c\": null, \"d\\\"\\n\": \"x\"}\n}", "f.json");
  ASSERT_TRUE(node);
  EXPECT_EQ(place(*node), "1:1");
  const Node& list = *node->find("a");
  EXPECT_EQ(place(list), "2:8");
  EXPECT_EQ(place(list.items()[0]), "2:9");
  EXPECT_EQ(place(list.items()[1]), "2:12");
  EXPECT_EQ(place(list.items()[2]), "3:5");
  EXPECT_EQ(place(*node->find("b")), "4:9");
  EXPECT_EQ(place(node->find("b")->items()[1]), "4:30");
  EXPECT_EQ(node->find("b")->keys()[1], "d\"\n");
  EXPECT_EQ(list.items()[1].text(), "-2.5e3");
}

TEST(Json, WhatIsNotJsonIsRefusedWithAPlace) {
  struct Case {
    const char* text;
    std::uint32_t line;
  };
  for (Case c : {Case{"", 1},
                 {"{", 1},
                 {"{\n\"a\": 1,\n}", 3},
                 {"[1 2]", 1},
                 {"nul", 1},
                 {"{\"a\": 1, \"a\": 2}", 1},
                 {"\"\xff\"", 1},
                 {"1 1", 1}}) {
    auto node = parse_json(c.text, "f");
    ASSERT_FALSE(node) << c.text;
    EXPECT_EQ(error_place(node).line, c.line) << c.text;
  }
  EXPECT_FALSE(parse_json(std::string(100000, '['), "f"));
}

TEST(Json, WritingIsCanonicalAndReadsBack) {
  std::string text = "{\"a\": [1, 2.5, \"\xc3\xa4\\\"\"], \"b\": {}, \"c\": null, \"big\": 18446744073709551615}";
  auto node = parse_json(text, "f");
  ASSERT_TRUE(node);
  EXPECT_EQ(json_line(*node), text);
  auto again = parse_json(json_pretty(*node, 20), "f");
  ASSERT_TRUE(again);
  EXPECT_EQ(json_line(*again), text);
}

TEST(Json, PrettyTextBreaksWhatIsLongerThanALine) {
  auto node = parse_json(R"({"a": [1, 2, 3], "b": {"c": "four", "d": []}, "e": "a\nlong text stays whole"})", "f");
  ASSERT_TRUE(node);
  EXPECT_EQ(json_pretty(*node, 200), json_line(*node) + "\n");
  // `"a": [1, 2, 3]` has 16 columns with its indent.
  EXPECT_EQ(json_pretty(*node, 16),
            "{\n  \"a\": [1, 2, 3],\n  \"b\": {\n    \"c\": \"four\",\n    \"d\": []\n  },\n  \"e\": \"a\\nlong text stays whole\"\n}\n");
  EXPECT_EQ(json_pretty(*node, 15),
            "{\n  \"a\": [\n    1,\n    2,\n    3\n  ],\n  \"b\": {\n    \"c\": \"four\",\n    \"d\": []\n  },\n"
            "  \"e\": \"a\\nlong text stays whole\"\n}\n");
}

TEST(Json, BytesThatAreNoTextAreReplaced) {
  EXPECT_EQ(json_line(Node::string("a\x7f\tb")), "\"a\x7f\\tb\"");
  EXPECT_EQ(json_line(Node::string("a\xff")), "\"a\xef\xbf\xbd\"");
}

TEST(Json, TypedAccessNamesWhatIsThere) {
  auto node = parse_json("[1.5, \"x\", 99999999999999999999, true]", "f");
  ASSERT_TRUE(node);
  EXPECT_EQ(node->items()[0].as_int().failure().diagnostics()[0].message, "expected an integer, found the number 1.5");
  EXPECT_EQ(node->items()[1].as_double().failure().diagnostics()[0].message, "expected a number, found the string 'x'");
  EXPECT_FALSE(node->items()[2].as_int());
  EXPECT_TRUE(*node->items()[3].as_bool());
}

TEST(Yaml, PlainScalarsAreTypedAndKeepTheirText) {
  auto node = parse_yaml("a: 1\nb: 0x10\nc: 1.5\nd: true\ne: ~\nf: 'no'\ng: 1e3\nh: -x\ni: [x, 2]\nj: .5\nk: 1.2.3\nl: +4\n", "f.yaml");
  ASSERT_TRUE(node);
  auto kind = [&](const char* key) { return node->find(key)->kind(); };
  EXPECT_EQ(*node->find("a")->as_int(), 1);
  EXPECT_EQ(*node->find("b")->as_int(), 16);
  EXPECT_EQ(kind("c"), Node::Kind::real);
  EXPECT_EQ(kind("d"), Node::Kind::boolean);
  EXPECT_EQ(kind("e"), Node::Kind::null);
  EXPECT_EQ(kind("f"), Node::Kind::string);
  EXPECT_EQ(*node->find("g")->as_name(), "1e3");
  EXPECT_EQ(kind("h"), Node::Kind::string);
  EXPECT_EQ(place(node->find("i")->items()[1]), "9:8");
  EXPECT_EQ(*node->find("j")->as_double(), 0.5);
  EXPECT_EQ(kind("k"), Node::Kind::string);
  EXPECT_EQ(*node->find("l")->as_int(), 4);
}

TEST(Yaml, AnchorsAreResolvedWithinABound) {
  auto node = parse_yaml("a: &x [1, 2]\nb: *x\n", "f");
  ASSERT_TRUE(node);
  EXPECT_EQ(node->find("b")->size(), 2u);
  // Each line names the one before ten times: ten lines would be 10^10 values.
  std::string bomb = "a0: &a0 [1,1,1,1,1,1,1,1,1,1]\n";
  for (int i = 1; i < 11; ++i) {
    std::string name = "a" + std::to_string(i), before = "*a" + std::to_string(i - 1);
    bomb += name + ": &" + name + " [";
    for (int k = 0; k < 10; ++k) bomb += before + (k < 9 ? ", " : "]\n");
  }
  EXPECT_FALSE(parse_yaml(bomb, "f"));
}

// Each anchor keeps all that the inner ones keep: 150 of them would be 150 copies of the list.
TEST(Yaml, AnchorsInsideAnchorsAreBounded) {
  auto nested = [](int anchors, std::size_t members) {
    std::string text;
    for (int i = 0; i < anchors; ++i) text += "&a" + std::to_string(i) + " [";
    for (std::size_t i = 0; i < members; ++i) text += "1,";
    return parse_yaml(text + std::string(static_cast<std::size_t>(anchors), ']'), "f");
  };
  EXPECT_TRUE(nested(150, 100));
  auto many = nested(150, 20000);
  ASSERT_FALSE(many);
  EXPECT_NE(many.failure().diagnostics()[0].message.find("anchors inside anchors"), std::string::npos);
}

TEST(Yaml, WhatIsNotYamlIsRefused) {
  for (const char* text : {"", "a: [1, 2", "a: 1\na: 2\n", "{a: 1", "- a\nb: 1\n", "\xff\xfe", "a: *nowhere", "[1]: 2", "a: b: c"})
    EXPECT_FALSE(parse_yaml(text, "f")) << text;
  EXPECT_FALSE(parse_yaml(std::string(100000, '['), "f"));
  EXPECT_FALSE(parse_yaml(std::string("a: 1\0b", 6), "f"));
  std::string deep;
  for (int i = 0; i < 3000; ++i) deep += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
  EXPECT_FALSE(parse_yaml(deep, "f"));
  auto twice = parse_yaml("a: 1\nb: 2\na: 3\n", "f");
  EXPECT_EQ(error_place(twice).line, 3u);
}

TEST(Yaml, TokensWithoutAMeaningAreRefusedAtTheirPlace) {
  auto comma = parse_yaml("[b]\n,\n", "f");
  ASSERT_FALSE(comma);
  EXPECT_EQ(error_place(comma).line, 2u);
  EXPECT_EQ(comma.failure().diagnostics()[0].message, "not valid YAML: no value can begin here");
}

TEST(Yaml, StreamsOfDocuments) {
  auto documents = parse_yaml_stream("a: 1\n---\nb: 2\n", "f");
  ASSERT_TRUE(documents);
  ASSERT_EQ(documents->size(), 2u);
  EXPECT_EQ(place(*(*documents)[1].find("b")), "3:4");
  EXPECT_FALSE(parse_yaml("a: 1\n---\nb: 2\n", "f"));
}

TEST(Yaml, WrittenScalarsReadBackAsTheSameString) {
  for (const char* text :
       {"plain", "a.b_c-d/e", "",    "1",  "true", "no",  "null", "~",  "a: b", "- x", "[x]", "x # y", "'q'", "a\nb", "\xc3\xa4", " x",
        "*a",    "1e3",       "0x1", ".5", "y",    "a,b", "{",    "%x", "@x",   "a#b", "a:b", "-",     "--",  "=",    "<<",       "\\"}) {
    auto node = parse_yaml("k: " + yaml_scalar(text) + "\n", "f");
    ASSERT_TRUE(node) << text;
    auto back = node->find("k")->as_string();
    ASSERT_TRUE(back) << text;
    EXPECT_EQ(*back, text);
    auto in_flow = parse_yaml("k: [" + yaml_scalar(text) + ", 1]\n", "f");
    ASSERT_TRUE(in_flow) << text;
    EXPECT_EQ(*in_flow->find("k")->items()[0].as_string(), text);
  }
}

}  // namespace
}  // namespace buda::io
