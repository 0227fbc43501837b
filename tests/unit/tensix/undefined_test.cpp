// SPDX-License-Identifier: Apache-2.0
// What a chip leaves undefined is found, each with its class and the line of the kernel: the cases are those of undefined/undefined.h.
#include "kernel_fixture.hpp"

#include <buda/base/text.hpp>

#include <gmock/gmock.h>

#include <fstream>
#include <regex>

namespace buda::tensix::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

struct UndefinedCase {
  int number = 0;
  std::string check, place;
};

// From the comments of the kernel.
std::vector<UndefinedCase> cases_of(const std::string& path) {
  std::ifstream file(path);
  std::vector<UndefinedCase> out;
  const std::regex begins(" *case (\\d+):.*"), found(".*// ([a-z]+-?[a-z]*)$");
  std::smatch match;
  int number = 0, at = 0;
  for (std::string line; std::getline(file, line);) {
    ++at;
    if (std::regex_match(line, match, begins)) number = std::stoi(match[1]);
    if (number > 0 && std::regex_match(line, match, found)) out.push_back({number, match[1], cat("undefined.h:", at)});
  }
  return out;
}

class Undefined : public Kernels {
 protected:
  static std::string folder() { return cat(std::getenv("BUDA_SOURCE_DIR"), "/tests/unit/tensix/undefined"); }

  static std::string text_of_tiles(int tiles) {
    OpText o = op("nop", {"a"}, "Float16_b", "Float16_b", "Float16_b");
    o.t = tiles;
    return text_of({o, {Shape{1, tiles, 32, 32}}});
  }

  // What the op ends with; a kernel that waits for ever has done nothing that is undefined.
  std::string outcome(const kernels::KernelSet& set, int tiles, const RunOptions& options) {
    Counts counts;
    functional::DeviceOptions device;
    device.mode = arith::Mode::bits;
    device.run_op = [&](const arith::OpCall& call) { return run_op(set, l1(), call, counts, options); };
    const auto made = golden::test::run_netlist(text_of_tiles(tiles), {{"a", wild_tensor(Shape{1, tiles, 32, 32}, 1)}}, device, 1);
    return made.ok() ? std::string() : golden::test::first_error(made.failure());
  }
};

TEST_F(Undefined, EachIsFoundWithClassAndLine) {
  const auto cases = cases_of(folder() + "/undefined.h");
  EXPECT_GE(cases.size(), 30u);
  for (const InstalledCompiler& compiler : compilers()) {
    auto set = build(text_of_tiles(1), compiler.name, {folder()});
    ASSERT_TRUE(set.ok()) << golden::test::first_error(set.failure());
    for (const UndefinedCase& c : cases)
      EXPECT_THAT(outcome(*set, c.number, {}), AllOf(HasSubstr(cat(c.check, ": ")), HasSubstr(c.place)))
          << compiler.name << ", case " << c.number;
  }
}

TEST_F(Undefined, WithoutChecksItIsNamed) {
  auto set = build(text_of_tiles(1), compilers().front().name, {folder()});
  ASSERT_TRUE(set.ok()) << golden::test::first_error(set.failure());
  for (const UndefinedCase& c : cases_of(folder() + "/undefined.h")) {
    if (c.check == "alignment" && c.number > 12) continue;  // rows that the simulator has no meaning for
    std::vector<std::string> warnings;
    RunOptions options;
    options.checks = false;
    options.warn = [&](std::string what) { warnings.push_back(std::move(what)); };
    outcome(*set, c.number, options);
    EXPECT_THAT(warnings, testing::Contains(HasSubstr(c.check + " was ignored"))) << "case " << c.number;
  }
}

}  // namespace
}  // namespace buda::tensix::test
