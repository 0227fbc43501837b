// SPDX-License-Identifier: Apache-2.0
// Options set by their names, as an embedding program does it.
#include <buda/schema/option_set.hpp>

#include <gtest/gtest.h>

namespace buda::schema {
namespace {

class Assign : public ::testing::Test {
 protected:
  Assign() {
    set_.flag("enable-fusing", fusing_, "fuse").known_as("do_fuse").known_as("fuse-all");
    set_.flag("tiny", tiny_, "small tiles; by default from -O2 on");
    set_.integer("depth", depth_, "N", "depth").at_least(0);
    set_.texts("break", breaks_, "OP", "break here");
    set_.family("op.", "op.NAME.KEY=VALUE", ops_, "of one op");
  }

  std::string refusal(const std::string& key, const std::vector<std::string>& values) {
    auto done = set_.assign(key, values);
    if (done) return "assigned";
    const Diagnostic& d = done.failure().diagnostics().front();
    return d.code + " " + d.message + (d.hint.empty() ? "" : "; " + d.hint);
  }

  bool fusing_ = true;
  std::optional<bool> tiny_;
  std::int64_t depth_ = 3;
  std::vector<std::string> breaks_;
  std::map<std::string, std::string> ops_;
  OptionSet set_;
};

TEST_F(Assign, EveryNameOfAnOptionSetsIt) {
  for (const char* name : {"enable-fusing", "enable_fusing", "do_fuse", "fuse-all", "fuse_all"}) {
    fusing_ = true;
    EXPECT_EQ(refusal(name, {"false"}), "assigned") << name;
    EXPECT_FALSE(fusing_) << name;
  }
}

TEST_F(Assign, AFlagWithoutADefaultTellsWhetherItWasGiven) {
  EXPECT_EQ(set_.find("tiny")->spec.default_text, "");
  EXPECT_FALSE(tiny_.has_value());
  EXPECT_EQ(refusal("tiny", {"false"}), "assigned");
  EXPECT_EQ(tiny_, std::optional(false));
}

TEST_F(Assign, ARepeatableOptionTakesAListAndAnotherOneValue) {
  EXPECT_EQ(refusal("break", {"a", "b"}), "assigned");
  EXPECT_EQ(breaks_, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(refusal("depth", {"1", "2"}), "CL003 option 'depth': expected one value, found 2");
  EXPECT_EQ(refusal("break", {}), "CL003 option 'break': expected at least one value, found 0");
  EXPECT_EQ(depth_, 3);
}

TEST_F(Assign, AMemberOfAFamilyGoesToItsMap) {
  EXPECT_EQ(refusal("op.fc.grid", {"[2,2]"}), "assigned");
  EXPECT_EQ(ops_, (std::map<std::string, std::string>{{"fc.grid", "[2,2]"}}));
}

TEST_F(Assign, WhatIsWrongIsRefusedAndChangesNothing) {
  EXPECT_EQ(refusal("enable_fusin", {"false"}), "CL002 unknown option 'enable_fusin'; did you mean 'enable-fusing'?");
  EXPECT_EQ(refusal("enable_fusing", {"perhaps"}).substr(0, 29), "CL003 option 'enable_fusing':");
  EXPECT_EQ(refusal("depth", {"-1"}), "CL003 option 'depth': -1 is out of range; allowed: at least 0");
  EXPECT_TRUE(fusing_);
  EXPECT_EQ(depth_, 3);
}

enum class Colour : std::uint8_t { red, green };

TEST(Choice, StandsForAnEnumeratorOrANumber) {
  Colour colour = Colour::green;
  std::optional<Colour> background;
  std::int64_t level = 1;
  OptionSet set;
  set.choice("colour", colour, {"Red", "Green"}, "of the text");
  set.choice("background", background, {"none", "Red", "Green"}, "of the rest");
  set.choice("level", level, {"0", "1", "2"}, "how much");
  EXPECT_EQ(set.find("colour")->spec.default_text, "Green");
  EXPECT_EQ(set.find("background")->spec.default_text, "none");
  EXPECT_EQ(set.find("level")->spec.default_text, "1");
  ASSERT_TRUE(set.assign("colour", {"Red"}));
  ASSERT_TRUE(set.assign("background", {"Green"}));
  ASSERT_TRUE(set.assign("level", {"2"}));
  EXPECT_EQ(colour, Colour::red);
  EXPECT_EQ(background, Colour::green);
  EXPECT_EQ(level, 2);
  ASSERT_TRUE(set.assign("background", {"none"}));
  EXPECT_EQ(background, std::nullopt);
}

TEST(CheckPresent, FindsWhatNoCommandLineCouldGive) {
  Colour colour = static_cast<Colour>(2);
  std::int64_t depth = -1;
  std::vector<std::string> parts{"a", "", "b"};
  std::optional<double> share;
  OptionSet set;
  set.choice("colour", colour, {"Red", "Green"}, "of the text");
  set.integer("depth", depth, "N", "depth").at_least(0);
  set.texts("parts", parts, "NAME", "parts").checked_by([](const std::string& text) -> Result<void> {
    if (text.empty()) return usage_error("XX001", "it has no name");
    return success();
  });
  set.real("share", share, "R", "share").range(0, 1);
  const auto checked = set.check_present();
  ASSERT_FALSE(checked);
  std::vector<std::string> found;
  for (const Diagnostic& d : checked.failure().diagnostics()) found.push_back(d.code + " " + d.message);
  EXPECT_EQ(found, (std::vector<std::string>{"CL003 option --colour: 'number 2' is illegal; allowed: Red, Green",
                                             "CL003 option --depth: -1 is out of range; allowed: at least 0",
                                             "XX001 option --parts: it has no name"}));
}

}  // namespace
}  // namespace buda::schema
