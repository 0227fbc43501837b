// SPDX-License-Identifier: Apache-2.0
// Field tables: reading, writing, refusing, and JSON Schema.
#include <buda/io/json.hpp>
#include <buda/io/yaml.hpp>
#include <buda/schema/option.hpp>
#include <buda/schema/record.hpp>

#include <gtest/gtest.h>

namespace buda::schema {
namespace {

enum class Color { red, green };
const EnumNames<Color>& describe_enum(const Color*) {
  static const EnumNames<Color> names = {{Color::red, "red"}, {Color::green, "green"}};
  return names;
}

struct Part {
  std::int32_t size = 0;
  Color color = Color::red;
  bool operator==(const Part&) const = default;
};
const Record<Part>& describe(const Part*) {
  static const auto record =
      Record<Part>("a part").required("size", &Part::size, "how large").optional("color", &Part::color, "which color");
  return record;
}

struct Thing {
  std::string name;
  std::vector<Part> parts;
  std::map<std::string, double> weights;
  GridShape grid{1, 1};
  std::optional<std::uint8_t> level;
  bool operator==(const Thing&) const = default;
};
const Record<Thing>& describe(const Thing*) {
  static const auto record = Record<Thing>("a thing", {"buda.thing", 2})
                                 .required("name", &Thing::name, "its name")
                                 .required("parts", &Thing::parts, "its parts")
                                 .optional("weights", &Thing::weights, "by name")
                                 .optional("grid", &Thing::grid, "rows and columns")
                                 .optional("level", &Thing::level, "0 to 255");
  return record;
}

Result<Thing> read_thing(const std::string& text) {
  auto node = io::parse_yaml(text, "t.yaml");
  if (!node) return std::move(node).failure();
  return read<Thing>(*node);
}

std::vector<std::string> messages(const Result<Thing>& r) {
  std::vector<std::string> out;
  for (const auto& d : r.failure().diagnostics())
    out.push_back(std::to_string(d.loc.line) + ":" + std::to_string(d.loc.column) + " " + d.message +
                  (d.hint.empty() ? "" : " | " + d.hint));
  return out;
}

TEST(Record, WritesOnlyWhatDiffersFromTheDefaultAndReadsItBack) {
  Thing t{"x", {{3, Color::green}, {4, Color::red}}, {{"w", 0.5}}, {2, 3}, 7};
  std::string text = io::json_line(write(t));
  EXPECT_EQ(text,
            "{\"schema\": \"buda.thing/2\", \"name\": \"x\", \"parts\": [{\"size\": 3, \"color\": \"green\"}, {\"size\": 4}], "
            "\"weights\": {\"w\": 0.5}, \"grid\": [2, 3], \"level\": 7}");
  auto back = read<Thing>(*io::parse_json(text, "t"));
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, t);
}

TEST(Record, ReportsEveryErrorWithItsPlaceAndAHint) {
  auto r = read_thing(
      "schema: buda.thing/2\n"
      "nmae: x\n"
      "parts:\n"
      "  - {size: big}\n"
      "  - {size: 3000000000, color: gren}\n"
      "  - 5\n"
      "level: 256\n"
      "x-note: anything\n");
  ASSERT_FALSE(r);
  EXPECT_EQ(messages(r), (std::vector<std::string>{
                             "2:7 unknown key 'nmae' in a thing | did you mean 'name'?",
                             "1:1 the key 'name' is missing in a thing",
                             "4:12 expected an integer, found the string 'big'",
                             "5:12 the number 3000000000 is out of range; allowed: -2147483648 to 2147483647",
                             "5:31 'gren' is not allowed here; allowed: red, green | did you mean 'green'?",
                             "6:5 expected a part (a map), found the number 5",
                             "7:8 the number 256 is out of range; allowed: 0 to 255",
                         }));
}

TEST(Record, HeadersSayWhichFileAndVersionIsWanted) {
  EXPECT_EQ(messages(read_thing("name: x\n")),
            std::vector<std::string>{"1:1 the key 'schema' is missing; a file of this kind begins with schema: buda.thing/2"});
  EXPECT_EQ(messages(read_thing("schema: buda.thing/3\n")),
            std::vector<std::string>{"1:9 this is version 'buda.thing/3'; this program reads buda.thing/2"});
  EXPECT_EQ(messages(read_thing("schema: buda.graph/1\n")),
            std::vector<std::string>{"1:9 this is a file of format 'buda.graph/1'; expected buda.thing/2"});
}

TEST(Record, AFileFullOfErrorsIsCutOff) {
  std::string text = "schema: buda.thing/2\nname: x\nparts:\n";
  for (int i = 0; i < 1000; ++i) text += "  - {}\n";
  EXPECT_EQ(read_thing(text).failure().diagnostics().size(), 100u);
}

TEST(Record, JsonSchemaTellsTheSame) {
  auto s = json_schema<Thing>();
  EXPECT_EQ(s.find("properties")->find("schema")->find("const")->text(), "buda.thing/2");
  EXPECT_EQ(io::json_line(*s.find("required")), "[\"schema\", \"name\", \"parts\"]");
  const io::Node* part = s.find("properties")->find("parts")->find("items");
  EXPECT_EQ(io::json_line(*part->find("properties")->find("color")->find("enum")), "[\"red\", \"green\"]");
  EXPECT_EQ(part->find("additionalProperties")->text(), "false");
}

TEST(Options, AreCheckedAgainstTheirDeclaration) {
  std::vector<OptionSpec> specs(2);
  specs[0] = {.name = "level", .type = OptionType::integer, .summary = "", .value_name = "N", .default_text = "3", .least = 0, .most = 9};
  specs[1] = {.name = "mode", .type = OptionType::choice, .summary = "", .choices = {"fast", "exact"}};
  OptionValues given;
  EXPECT_EQ(complete_options(specs, given, "p.")->integer("level"), 3);
  given.set("level", "12");
  given.set("mdoe", "fast");
  auto r = complete_options(specs, given, "p.");
  ASSERT_FALSE(r);
  EXPECT_EQ(r.failure().diagnostics()[0].message, "option 'p.level': 12 is out of range; allowed: 0 to 9");
  EXPECT_EQ(r.failure().diagnostics()[1].hint, "did you mean 'p.mode'?");
}

}  // namespace
}  // namespace buda::schema
