// SPDX-License-Identifier: Apache-2.0
// Two hundred netlists that break no rule and deadlock: each is refused with its path, and its twin with the buffer that the hint names is
// live. Whether they do is judged twice: by the timed simulator of target grid, and by an executor that knows only pipes.
#include <buda/liveness/liveness.hpp>
#include <buda/netlist/check/check.hpp>

#include "unit/liveness/judge.hpp"
#include "unit/liveness/mutants.hpp"
#include "unit/sim/run_of.hpp"

namespace buda::liveness {
namespace {

struct Outcome {
  bool live = false;
  std::string text, hint;
};

// Of the module, which has to agree with both judges.
Outcome outcome_of(const std::string& text, const std::string& name) {
  const sim::RunOf timed(text);
  EXPECT_EQ(timed.problem, "") << name;
  if (!timed.problem.empty()) return {};
  for (const Diagnostic& d : netlist::check_netlist(*timed.built.netlist, *timed.built.device))
    EXPECT_NE(d.severity, Severity::error) << name << ": " << d.message;
  auto epochs = check_liveness(*timed.built.netlist, *timed.built.device, device::source_host());
  EXPECT_TRUE(epochs.ok()) << name;
  if (!epochs) return {};
  Outcome out;
  const auto& deadlock = epochs->front().deadlock;
  out.live = !deadlock;
  EXPECT_EQ(timed.outcome() == "ended", out.live) << name;
  EXPECT_EQ(judge_ends(timed.built), out.live) << name;
  if (!deadlock) return out;
  EXPECT_EQ(deadlock->code, "LV001");
  out.text = deadlock->message;
  for (const Note& note : deadlock->notes) out.text += "\n" + note.message;
  out.hint = deadlock->hint;
  return out;
}

TEST(LivenessMutants, AreRefusedAndTheirTwinsAreLive) {
  int refused = 0, twins = 0;
  for (const Family& family : families()) {
    const Outcome bare = outcome_of(family.text({}), family.name);
    if (bare.live) continue;
    ++refused;
    EXPECT_NE(bare.text.find("without tiles: '"), std::string::npos) << family.name << '\n' << bare.text;
    EXPECT_NE(bare.text.find("full: '"), std::string::npos) << family.name << '\n' << bare.text;
    EXPECT_NE(bare.text.find("join '"), std::string::npos) << family.name << '\n' << bare.text;
    Sizes enough, too_small;
    ASSERT_TRUE(add_hint_to(enough, bare.hint)) << family.name << ": " << bare.hint;
    EXPECT_TRUE(outcome_of(family.text(enough), family.name).live) << family.name << ": " << bare.hint;
    ++twins;
    // A tile less than that is not enough.
    ASSERT_TRUE(add_less_than_hint_to(too_small, bare.hint));
    const Outcome smaller = outcome_of(family.text(too_small), family.name + ", one less");
    EXPECT_FALSE(smaller.live) << family.name << ": " << bare.hint;
    refused += smaller.live ? 0 : 1;
  }
  EXPECT_GE(refused, 200);
  EXPECT_GE(twins, 100);
}

}  // namespace
}  // namespace buda::liveness
