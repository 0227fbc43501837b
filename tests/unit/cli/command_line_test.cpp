// SPDX-License-Identifier: Apache-2.0
// Command lines, config files, environment, depfiles.
#include <buda/cli/command_line.hpp>
#include <buda/cli/depfile.hpp>
#include <buda/cli/option_list.hpp>
#include <buda/cli/tool.hpp>
#include <buda/io/memory_file_system.hpp>

#include <gtest/gtest.h>

namespace buda::cli {
namespace {

struct Options {
  std::string input;
  std::vector<std::string> more;
  std::string output = "out";
  std::int64_t level = 1;
  double scale = 0.5;
  bool fast = false;
  unsigned verbose = 0;
  std::string mode = "a";
  std::vector<std::string> names;
  std::map<std::string, std::string> ops;
};

class CommandLine : public ::testing::Test {
 protected:
  void SetUp() override {
    set_.positional("IN", o_.input, "input");
    set_.positionals("MORE", o_.more, 0, "more");
    set_.path("output", o_.output, "FILE", "product").also("-o");
    set_.integer("level", o_.level, "N", "level").range(-5, 9).environment("PYBUDA_LEVEL").also("-O").known_as("degree");
    set_.real("scale", o_.scale, "X", "scale");
    set_.flag("fast", o_.fast, "fast").also("-MD");
    set_.count("verbose", o_.verbose, "talk").also("-v");
    set_.choice("mode", o_.mode, {"a", "b"}, "mode");
    set_.texts("name", o_.names, "NAME", "names").known_as("all_names").checked_by([](const std::string& text) -> Result<void> {
      if (text == "bad name") return input_error("T001", {}, "no bad names");
      return success();
    });
    set_.texts("set", sets_, "KEY=VALUE", "set");
    set_.path("config", config_, "FILE", "config");
    set_.family("op.", "op.NAME.KEY=VALUE", o_.ops, "per op");
  }
  Result<ParsedOptions> parse(std::vector<std::string> arguments) {
    auto parsed = parse_command_line(
        arguments, set_,
        [this](const std::string& name) {
          auto it = environment_.find(name);
          return it == environment_.end() ? std::nullopt : std::optional(it->second);
        },
        fs_);
    if (parsed) static_cast<void>(store_options(*parsed, set_));
    return parsed;
  }
  std::string first_error(std::vector<std::string> arguments) {
    auto r = parse(std::move(arguments));
    return r ? "no error" : r.failure().diagnostics().front().message;
  }

  Options o_;
  OptionSet set_;
  std::vector<std::string> sets_;
  std::string config_;
  std::map<std::string, std::string> environment_;
  io::MemoryFileSystem fs_;
};

TEST_F(CommandLine, CountsFlagsThatMayStandSeveralTimes) {
  ASSERT_TRUE(parse({"in"}));
  EXPECT_EQ(o_.verbose, 0u);
  ASSERT_TRUE(parse({"in", "-vv", "--verbose"}));
  EXPECT_EQ(o_.verbose, 3u);
  fs_.put("c.yaml", "verbose: true\n");
  ASSERT_TRUE(parse({"in", "--config", "c.yaml"}));
  EXPECT_EQ(o_.verbose, 1u);
}

// A library's messages replace these words by what was given, again and again.
TEST_F(CommandLine, WordsBetweenPercentSignsAreNoPlaceholders) {
  for (const char* given : {"--%canonical_option%=", "--%option%=", "--%original_token%=", "--option '%canonical_option%'-="}) {
    auto parsed = parse({given, "a.txt"});
    ASSERT_FALSE(parsed) << given;
    EXPECT_EQ(parsed.failure().diagnostics()[0].code, "CL001") << given;
  }
}

TEST_F(CommandLine, TakesAllSpellings) {
  ASSERT_TRUE(parse({"-", "-o", "-", "--level=-3", "-MD", "x", "--scale", "2", "--name", "n1", "--name=n2", "--", "-y"}));
  EXPECT_EQ(o_.input, "-");
  EXPECT_EQ(o_.output, "-");
  EXPECT_EQ(o_.level, -3);
  EXPECT_TRUE(o_.fast);
  EXPECT_EQ(o_.scale, 2);
  EXPECT_EQ(o_.names, (std::vector<std::string>{"n1", "n2"}));
  EXPECT_EQ(o_.more, (std::vector<std::string>{"x", "./-y"}));
  ASSERT_TRUE(parse({"i", "-O2", "-oname"}));
  EXPECT_EQ(o_.level, 2);
  EXPECT_EQ(o_.output, "name");
}

TEST_F(CommandLine, RefusesWithReasons) {
  EXPECT_EQ(first_error({}), "missing argument IN: input");
  EXPECT_EQ(first_error({"i", "--lvel", "3"}), "unknown option '--lvel'");
  EXPECT_EQ(first_error({"i", "--lev", "3"}), "unknown option '--lev'");  // no guessing
  EXPECT_EQ(first_error({"i", "--level", "10"}), "option --level: 10 is out of range; allowed: -5 to 9");
  EXPECT_EQ(first_error({"i", "--level", "3x"}), "option --level: expected an integer, found '3x'");
  EXPECT_EQ(first_error({"i", "--mode", "c"}), "option --mode: 'c' is illegal; allowed: a, b");
  EXPECT_EQ(first_error({"i", "--level", "1", "--level", "2"}), "option --level is given twice with different values");
  EXPECT_EQ(first_error({"i", "--set", "novalue"}), "option --set: expected KEY=VALUE, found 'novalue'");
  EXPECT_EQ(first_error({"i", "--set", "levle=1"}), "unknown option 'levle'");
  EXPECT_NE(first_error({"i", "-o"}), "no error");
  EXPECT_NE(first_error({"i", "--output="}), "no error");
}

TEST_F(CommandLine, LaterLayersWin) {
  fs_.put("c.yaml", "level: 4\nscale: 4\nmode: b\noutput: from-config\n");
  environment_["PYBUDA_LEVEL"] = "5";
  ASSERT_TRUE(parse({"i", "--config", "c.yaml", "--set", "scale=6"}));
  EXPECT_EQ(o_.level, 5);
  EXPECT_EQ(o_.scale, 6);
  EXPECT_EQ(o_.mode, "b");
  ASSERT_TRUE(parse({"i", "--config", "c.yaml", "--level", "7"}));
  EXPECT_EQ(o_.level, 7);
  environment_["PYBUDA_LEVEL"] = "many";
  EXPECT_EQ(first_error({"i"}), "environment variable PYBUDA_LEVEL: expected an integer, found 'many'");
}

TEST_F(CommandLine, KeysForOpsAndPluginsAreGathered) {
  fs_.put("c.yaml", "op:\n  mm.0.grid: [2, 4]\npolicy:\n  ribbon:\n    depth: 3\n");
  auto parsed =
      parse({"i", "--config", "c.yaml", "--set", "op.mm.0.u_kt=4", "--set", "policy.ribbon.depth=5", "--set", "target.golden.mode=fp32"});
  ASSERT_TRUE(parsed);
  EXPECT_EQ(o_.ops, (std::map<std::string, std::string>{{"mm.0.grid", "[2, 4]"}, {"mm.0.u_kt", "4"}}));
  EXPECT_EQ(parsed->plugin_options.at("policy.ribbon").text("depth"), "5");
  EXPECT_EQ(parsed->plugin_options.at("target.golden").text("mode"), "fp32");
}

TEST_F(CommandLine, ErrorsInAConfigFilePointThere) {
  fs_.put("c.yaml", "level: 1\nmoed: b\n");
  auto parsed = parse({"i", "--config", "c.yaml"});
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.failure().diagnostics()[0].loc, (SourceLoc{"c.yaml", 2, 7}));
  EXPECT_EQ(exit_code(parsed.failure()), kInputError);
  EXPECT_FALSE(parse({"i", "--config", "missing.yaml"}));
  fs_.put("list.yaml", "- 1\n");
  EXPECT_FALSE(parse({"i", "--config", "list.yaml"}));
}

TEST_F(CommandLine, KnowsTheNamesOfOtherDocumentsInKeysOnly) {
  fs_.put("c.yaml", "degree: 4\nall_names: [x, {a: 1, b: [2]}]\n");
  ASSERT_TRUE(parse({"i", "--config", "c.yaml"}));
  EXPECT_EQ(o_.level, 4);
  EXPECT_EQ(o_.names, (std::vector<std::string>{"x", "{a: 1, b: [2]}"}));
  ASSERT_TRUE(parse({"i", "--set", "degree=3"}));
  EXPECT_EQ(o_.level, 3);
  EXPECT_EQ(first_error({"i", "--degree", "3"}), "unknown option '--degree'");
  EXPECT_EQ(first_error({"i", "--set", "degre=3"}), "unknown option 'degre'");
}

TEST_F(CommandLine, FlagsTakeAValueBehindTheEqualSign) {
  fs_.put("c.yaml", "fast: true\n");
  ASSERT_TRUE(parse({"i", "--config", "c.yaml", "--fast=false"}));
  EXPECT_FALSE(o_.fast);
  ASSERT_TRUE(parse({"i", "--fast=true"}));
  EXPECT_TRUE(o_.fast);
  ASSERT_TRUE(parse({"i", "--config", "c.yaml", "--no-fast"}));
  EXPECT_FALSE(o_.fast);
  EXPECT_EQ(first_error({"i", "--no-slow"}), "unknown option '--no-slow'");
  EXPECT_EQ(first_error({"i", "--fast=perhaps"}), "option 'fast': expected true or false, found 'perhaps'");
}

TEST_F(CommandLine, ConditionsOfAnOptionPointIntoTheConfigFile) {
  fs_.put("c.yaml", "name:\n  - fine\n  - bad name\n");
  auto parsed = parse({"i", "--config", "c.yaml"});
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.failure().diagnostics()[0].loc, (SourceLoc{"c.yaml", 3, 5}));
  EXPECT_EQ(parsed.failure().diagnostics()[0].message, "option 'name': no bad names");
  EXPECT_EQ(first_error({"i", "--name", "bad name"}), "option --name: no bad names");
}

// Of another installation's tool.
TEST(OptionList, OfAnotherFormIsRefused) {
  io::MemoryFileSystem fs;
  const auto code_of = [&](const char* text) {
    fs.put("options.json", text);
    const auto options = read_options(fs, "options.json");
    return options ? "" : options.failure().diagnostics().front().code;
  };
  EXPECT_EQ(code_of("[]"), "");
  EXPECT_EQ(code_of("{}"), "CL008");
  EXPECT_EQ(code_of(R"([{"name": "threads"}])"), "CL008");
}

TEST(Depfile, NamesSurviveMakesSpecialCharacters) {
  std::set<std::string> read = {"a b.yaml", "c$d#e", "back\\ slash"};
  std::string text = depfile_text("out put.o", read);
  EXPECT_EQ(text.substr(0, text.find('\n')), "out\\ put.o: \\");
  auto back = dependencies_of(text);
  EXPECT_EQ(std::set<std::string>(back.begin(), back.end()), read);
  EXPECT_TRUE(dependencies_of("").empty());
  EXPECT_TRUE(dependencies_of("no rule here").empty());
}

TEST(ExitCode, TheGravestFaultDecides) {
  Failure f;
  f.add(input_error("A", {}, ""));
  EXPECT_EQ(exit_code(f), kInputError);
  f.add(does_not_fit("B", "n", "l1", 2, 1, "", ""));
  EXPECT_EQ(exit_code(f), kInputError);
  f.add(usage_error("C", ""));
  EXPECT_EQ(exit_code(f), kUsageError);
  f.add(internal_error(""));
  EXPECT_EQ(exit_code(f), kBug);
  EXPECT_EQ(exit_code(Failure(does_not_fit("B", "n", "l1", 2, 1, "", ""))), kDoesNotFit);
}

}  // namespace
}  // namespace buda::cli
