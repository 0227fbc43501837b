// SPDX-License-Identifier: Apache-2.0
// Programs as they run.
#include <buda/netlist/program/program_vm.hpp>

#include "unit/netlist/samples.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace buda::netlist {
namespace {

using samples::kSmall;
using samples::parsed;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Log final : ProgramEvents {
  std::vector<std::string> events;
  std::vector<Execution> executions;
  Result<void> execute(const Execution& e) override {
    executions.push_back(e);
    events.push_back("execute");
    return success();
  }
  Result<void> allocate(std::size_t q) override {
    events.push_back("allocate " + std::to_string(q));
    return success();
  }
  Result<void> deallocate(std::size_t q) override {
    events.push_back("deallocate " + std::to_string(q));
    return success();
  }
};

// The sample with another program.
std::string program(const std::string& lines) {
  std::string text = kSmall;
  return text.substr(0, text.find("programs:")) + "programs:\n  - run:\n" + lines;
}

struct Machine {
  explicit Machine(const std::string& text) : netlist(parsed(text)), vm(ProgramVm::make(netlist)) {}
  Diagnostic failure(const ProgramParameters& parameters = {}) {
    auto result = vm->run("run", parameters, log);
    EXPECT_FALSE(result.ok());
    return result.ok() ? Diagnostic{} : result.failure().diagnostics().front();
  }
  std::int32_t value(const std::string& name) { return vm->static_value("run", name).value_or(-999); }
  Netlist netlist;
  Result<ProgramVm> vm;
  Log log;
};

TEST(ProgramVm, ExecutesWithResolvedSettings) {
  Machine m(kSmall);
  ASSERT_TRUE(m.vm.ok());
  EXPECT_THAT(m.vm->parameters("run"), ElementsAre("$p_loops"));
  ASSERT_TRUE(m.vm->run("run", {{"p_loops", 3}}, m.log).ok());
  ASSERT_EQ(m.log.executions.size(), 3u);
  const Execution& last = m.log.executions[2];
  EXPECT_EQ(last.graph, 0u);
  ASSERT_EQ(last.settings.size(), 2u);
  EXPECT_EQ(last.settings[0].queue, 0u);
  EXPECT_EQ(last.settings[0].rd_ptr_local, 4);
  EXPECT_EQ(last.settings[0].rd_ptr_global, 4);
  EXPECT_EQ(last.settings[0].wr_ptr_global, std::nullopt);
  EXPECT_EQ(last.settings[0].rd_ptr_autoinc, 1);
  EXPECT_EQ(last.settings[0].global_wrptr_autoinc, 1);
  EXPECT_EQ(last.settings[0].global_rdptr_autoinc, 0);
  EXPECT_TRUE(last.settings[1].prologue);
  EXPECT_EQ(last.settings[1].wr_ptr_global, 0);
  EXPECT_EQ(last.settings[1].rd_ptr_autoinc, 0);
  EXPECT_EQ(last.settings[1].global_wrptr_autoinc, 0);
}

TEST(ProgramVm, StepsAreTheRunInParts) {
  Machine whole(kSmall), steps(kSmall);
  ASSERT_TRUE(whole.vm->run("run", {{"p_loops", 3}}, whole.log).ok());
  EXPECT_FALSE(*steps.vm->step(steps.log)) << "nothing was started";
  ASSERT_TRUE(steps.vm->start("run", {{"p_loops", 3}}).ok());
  for (auto more = steps.vm->step(steps.log); more.ok() && *more; more = steps.vm->step(steps.log)) {
  }
  EXPECT_EQ(steps.log.executions, whole.log.executions);
  EXPECT_EQ(steps.value("$l"), whole.value("$l"));
  EXPECT_FALSE(steps.vm->start("run", {}).ok()) << "the parameter is missing";
}

TEST(ProgramVm, AProgramThatIsGivenUpKeepsItsStatics) {
  Machine m(kSmall);
  ASSERT_TRUE(m.vm->start("run", {{"p_loops", 3}}).ok());
  while (m.log.executions.size() < 2) ASSERT_TRUE(*m.vm->step(m.log));
  ASSERT_TRUE(m.vm->start("run", {{"p_loops", 1}}).ok());
  while (m.log.executions.size() < 3) ASSERT_TRUE(*m.vm->step(m.log));
  // The second execution had not advanced the pointer yet.
  EXPECT_EQ(m.log.executions[2].settings[0].rd_ptr_local, 2);
}

TEST(ProgramVm, StaticsLiveOnAndWrapAround) {
  Machine m(kSmall);
  ASSERT_TRUE(m.vm->run("run", {{"$p_loops", 3}}, m.log).ok());
  EXPECT_EQ(m.value("$l"), 6);
  ASSERT_TRUE(m.vm->run("run", {{"$p_loops", 2}}, m.log).ok());
  EXPECT_EQ(m.value("$l"), 2);  // (6 + 2 + 2) mod 8
  m.vm->reset();
  EXPECT_EQ(m.vm->static_value("run", "$l"), std::nullopt);
  ASSERT_TRUE(m.vm->run("run", {{"$p_loops", 1}}, m.log).ok());
  EXPECT_EQ(m.value("$l"), 2);
  EXPECT_EQ(m.vm->static_value("run", "$c_inputs"), std::nullopt);  // a local
}

TEST(ProgramVm, Arithmetic) {
  Machine m(program(R"(    - staticvar: {$a: 7, $b: -2, $c: 0, $d: 0, $e: 0, $f: 3}
    - varinst: [$c, add, $a, $b]
    - varinst: [$d, mul, $a, $b]
    - varinst: [$e, set, $a]
    - varinst: [$e, inc, 4]
    - varinst: [$f, incwrap, -10, 4]
    - varinst: [$t, set, true]
    - staticvar: {$a: 100}
)"));
  ASSERT_TRUE(m.vm.ok());
  ASSERT_TRUE(m.vm->run("run", {}, m.log).ok());
  EXPECT_EQ(m.value("$c"), 5);
  EXPECT_EQ(m.value("$d"), -14);
  EXPECT_EQ(m.value("$e"), 11);
  EXPECT_EQ(m.value("$f"), 1);  // -10 + 3*4 = 2; (3 + 2) mod 4
  EXPECT_EQ(m.value("$a"), 7);  // declaring a static again changes nothing
}

TEST(ProgramVm, LoopsNestAndReadTheirCountOnce) {
  Machine m(program(R"(    - staticvar: [$n]
    - var: {$outer: 2, $inner: 3}
    - loop: $outer
    - varinst: [$outer, set, 9]
    - loop: $inner
    - varinst: [$inner, set, 2]
    - varinst: [$n, inc, 1]
    - endloop
    - endloop
)"));
  ASSERT_TRUE(m.vm.ok());
  ASSERT_TRUE(m.vm->run("run", {}, m.log).ok());
  EXPECT_EQ(m.value("$n"), 3 + 2);
}

TEST(ProgramVm, AllocationsAreEventsInOrder) {
  Machine m(program("    - allocate_queue: [a, out]\n    - execute: {graph_name: fwd}\n    - deallocate_queue: [out]\n"));
  ASSERT_TRUE(m.vm.ok());
  ASSERT_TRUE(m.vm->run("run", {}, m.log).ok());
  EXPECT_THAT(m.log.events, ElementsAre("allocate 0", "allocate 2", "execute", "deallocate 2"));
}

TEST(ProgramVm, AFailureOfAnEventEndsTheRun) {
  struct Refuse final : ProgramEvents {
    int count = 0;
    Result<void> execute(const Execution&) override {
      if (++count == 2) return input_error("X", {}, "no more");
      return success();
    }
  } refuse;
  Machine m(kSmall);
  auto result = m.vm->run("run", {{"p_loops", 5}}, refuse);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.failure().diagnostics()[0].message, "no more");
  EXPECT_EQ(refuse.count, 2);
}

TEST(ProgramVm, EndlessProgramsEnd) {
  Machine m(program("    - loop: 2000000000\n    - loop: 2000000000\n    - endloop\n    - endloop\n"));
  ASSERT_TRUE(m.vm.ok());
  m.vm->set_step_limit(1000);
  Diagnostic d = m.failure();
  EXPECT_EQ(d.code, "NL607");
  EXPECT_THAT(d.message, HasSubstr("1000 steps"));
}

// Instructions of which one is wrong; '^' stands before the place that the diagnostic points to.
struct ProgramVmWrong {
  const char* lines;
  const char* code;
};

struct Marked {
  std::string text;
  std::uint32_t line = 0, column = 0;  // of the mark

  explicit Marked(const char* lines) : text(program(lines)) {
    std::size_t mark = text.find('^');
    text.erase(mark, 1);
    line = 1 + static_cast<std::uint32_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(mark), '\n'));
    column = static_cast<std::uint32_t>(mark - text.rfind('\n', mark));
  }
  void expect(const Diagnostic& d, const char* code) const {
    EXPECT_EQ(d.code, code) << d.message;
    EXPECT_EQ(d.loc.line, line);
    EXPECT_EQ(d.loc.column, column);
  }
};

class WrongRun : public ::testing::TestWithParam<ProgramVmWrong> {};
TEST_P(WrongRun, IsDiagnosed) {
  Marked marked(GetParam().lines);
  Machine m(marked.text);
  ASSERT_TRUE(m.vm.ok());
  marked.expect(m.failure(), GetParam().code);
}
INSTANTIATE_TEST_SUITE_P(
    Rules, WrongRun,
    ::testing::Values(ProgramVmWrong{"    - var: [$a]\n    - varinst: [$a, add, $a, ^$b]\n", "NL604"},
                      ProgramVmWrong{"    - execute: {graph_name: fwd, queue_settings: {a: {rd_ptr_local: ^$x}}}\n", "NL604"},
                      ProgramVmWrong{"    - execute: {graph_name: fwd, queue_settings: {a: {rd_ptr_local: 0, rd_ptr_global: ^$x}}}\n",
                                     "NL604"},
                      ProgramVmWrong{"    - var: {$n: 0}\n    - loop: ^$n\n    - endloop\n", "NL606"},
                      ProgramVmWrong{"    - var: {$n: 2147483647}\n    - ^varinst: [$n, inc, 1]\n", "NL608"},
                      ProgramVmWrong{"    - var: {$n: 70000}\n    - ^varinst: [$n, mul, $n, $n]\n", "NL608"},
                      ProgramVmWrong{"    - var: {$n: 1}\n    - varinst: [$n, incwrap, 1, ^0]\n", "NL608"}));

class WrongCode : public ::testing::TestWithParam<ProgramVmWrong> {};
TEST_P(WrongCode, IsDiagnosedBeforeItRuns) {
  Marked marked(GetParam().lines);
  Machine m(marked.text);
  ASSERT_FALSE(m.vm.ok());
  marked.expect(m.vm.failure().diagnostics().front(), GetParam().code);
}
INSTANTIATE_TEST_SUITE_P(Rules, WrongCode,
                         ::testing::Values(ProgramVmWrong{"    - ^loop: 2\n", "NL601"},
                                           ProgramVmWrong{"    - loop: 2\n    - endloop\n    - ^endloop: \n", "NL601"},
                                           ProgramVmWrong{"    - execute: {graph_name: ^bwd}\n", "NL602"},
                                           ProgramVmWrong{"    - execute: {graph_name: fwd, queue_settings: {b: ^{}}}\n", "NL603"},
                                           ProgramVmWrong{"    - allocate_queue: [a, ^b]\n", "NL603"},
                                           ProgramVmWrong{"    - deallocate_queue: [a, ^b]\n", "NL603"},
                                           ProgramVmWrong{"    - var: [$a]\n    - staticvar: [^$a]\n", "NL605"},
                                           ProgramVmWrong{"    - var: {$a: 1}\n    - staticvar: {$b: 1, $a: ^1}\n", "NL605"},
                                           ProgramVmWrong{"    - param: [$a, ^$a]\n", "NL605"},
                                           ProgramVmWrong{"    - var: [$a]\n    - ^param: [$b]\n", "NL610"}));

TEST(ProgramVm, ParametersAreAllGivenAndKnown) {
  Machine m(kSmall);
  EXPECT_THAT(m.failure({}).message, HasSubstr("'$p_loops' has no value"));
  EXPECT_THAT(m.failure({{"p_loops", 1}, {"p_loop", 1}}).hint, HasSubstr("$p_loops"));
  auto other = m.vm->run("rum", {}, m.log);
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.failure().diagnostics()[0].code, "NL611");
  EXPECT_EQ(other.failure().diagnostics()[0].hint, "did you mean 'run'?");
}

TEST(StaticEpochs, TellGraphsAndPreloadingApart) {
  Netlist n = parsed(program(R"(    - param: [$p_n]
    - var: [$z]
    - loop: $p_n
    - execute: {graph_name: fwd, queue_settings: {w: {prologue: true, rd_ptr_global: $z, wr_ptr_global: $z}}}
    - execute: {graph_name: fwd, queue_settings: {w: {prologue: false, rd_ptr_global: $z, wr_ptr_global: $z}}}
    - execute: {graph_name: fwd, queue_settings: {w: {prologue: true, rd_ptr_global: 1, wr_ptr_global: $z}}}
    - endloop
)"));
  auto epochs = static_epochs(n);
  ASSERT_TRUE(epochs.ok());
  ASSERT_EQ(epochs->size(), 2u);
  EXPECT_TRUE((*epochs)[0].settings[0].prologue);
  EXPECT_FALSE((*epochs)[1].settings[0].prologue);
}

}  // namespace
}  // namespace buda::netlist
