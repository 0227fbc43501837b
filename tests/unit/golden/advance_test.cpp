// SPDX-License-Identifier: Apache-2.0
// Programs that advance in parts: what they wait for, and how they go on.
#include "netlist_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace buda::golden::test {
namespace {

using runtime::Progress;
using runtime::State;
using runtime::Until;
using runtime::Wait;
using testing::HasSubstr;

// out = a * a, `inputs` in each of $n executions.
std::string square_text(int entries_in, int entries_out, int inputs, const std::string& more_settings = "") {
  OpText op{"op", "multiply", {"a", "a"}};
  const std::string wrap = cat(2 * entries_in);
  return netlist_text(queue("a", "HOST", 1, 1, 1, "Float32", entries_in) + queue("out", "op", 1, 1, 1, "Float32", entries_out), op.text(),
                      cat("  - main:\n    - param: [$n]\n    - staticvar: {$p: 0}\n    - loop: $n\n    - execute: {graph_name: g, "
                          "queue_settings: {a: {rd_ptr_local: $p, rd_ptr_global: $p",
                          more_settings, "}}}\n    - varinst: [$p, incwrap, ", inputs, ", ", wrap, "]\n    - endloop\n"),
                      inputs);
}

class Advance : public testing::Test {
 protected:
  void open(const std::string& text) {
    auto device = open_device(text, host_);
    ASSERT_TRUE(device) << first_error(device.failure());
    device_ = std::move(*device);
  }
  void start(std::int64_t n) {
    auto started = device_->start("main", {{"n", n}});
    ASSERT_TRUE(started) << first_error(started.failure());
  }
  Progress advance(const Until& until = Until::idle()) {
    auto progress = device_->advance(until);
    if (!progress) ADD_FAILURE() << first_error(progress.failure());
    return progress ? std::move(*progress) : Progress{};
  }
  // The only wait.
  static Wait wait_of(const Progress& progress) {
    EXPECT_EQ(progress.waits.size(), 1u);
    return progress.waits.empty() ? Wait{} : progress.waits.front();
  }

  TestHost host_;
  std::unique_ptr<runtime::Device> device_;
};

TEST_F(Advance, AProgramWaitsForEntriesBetweenEpochs) {
  open(square_text(2, 8, 1));
  ASSERT_TRUE(device_->push("a", entries({1, 2})));
  start(5);
  Progress progress = advance();
  EXPECT_EQ(progress.state, State::needs_host);
  Wait wait = wait_of(progress);
  EXPECT_EQ(wait.what, Wait::For::push);
  EXPECT_EQ(wait.queue, "a");
  EXPECT_EQ(wait.entries, 1);
  EXPECT_THAT(wait.reason.message, HasSubstr("graph 'g': it needs 1 entry of queue 'a' from 2 on, where there are 0"));
  EXPECT_EQ(progress.changes, (std::vector<runtime::QueueChange>{{"a", 0, 2}, {"out", 2, 6}}));
  EXPECT_EQ(advance().state, State::needs_host) << "nothing was pushed";
  ASSERT_TRUE(device_->push("a", entries({3})));
  EXPECT_EQ(advance().state, State::needs_host);
  EXPECT_EQ(constants(device_->pop("out", 3)), (std::vector<float>{1, 4, 9}));
  ASSERT_TRUE(device_->push("a", entries({4, 5})));
  EXPECT_EQ(advance().state, State::idle);
  EXPECT_EQ(constants(device_->pop("out", 2)), (std::vector<float>{16, 25}));
  EXPECT_EQ(advance().state, State::idle) << "nothing is at work";
}

TEST_F(Advance, AnEpochThatFreesWhatItHasReadWaitsBetweenInputs) {
  open(square_text(2, 8, 5, ", global_rdptr_autoinc: 1"));
  ASSERT_TRUE(device_->push("a", entries({1, 2})));
  start(1);
  Progress progress = advance();
  EXPECT_EQ(progress.state, State::needs_host);
  EXPECT_EQ(progress.changes, (std::vector<runtime::QueueChange>{{"a", 0, 2}, {"out", 2, 6}}));
  ASSERT_TRUE(device_->push("a", entries({3, 4})));
  EXPECT_EQ(advance().state, State::needs_host);
  ASSERT_TRUE(device_->push("a", entries({5})));
  EXPECT_EQ(advance().state, State::idle);
  EXPECT_EQ(constants(device_->pop("out", 5)), (std::vector<float>{1, 4, 9, 16, 25}));
  EXPECT_EQ(*device_->waiting("a"), 0);
}

TEST_F(Advance, AFullOutputWaitsUntilTheHostPops) {
  open(square_text(4, 1, 3));
  ASSERT_TRUE(device_->push("a", entries({1, 2, 3})));
  start(1);
  std::vector<float> out;
  for (int i = 0; i < 2; ++i) {
    Progress progress = advance();
    ASSERT_EQ(progress.state, State::needs_host);
    EXPECT_EQ(wait_of(progress).what, Wait::For::pop);
    EXPECT_EQ(wait_of(progress).queue, "out");
    out.push_back(constants(device_->pop("out", 1))[0]);
  }
  EXPECT_EQ(advance().state, State::idle);
  out.push_back(constants(device_->pop("out", 1))[0]);
  EXPECT_EQ(out, (std::vector<float>{1, 4, 9}));
}

// The host may have to see an output before it knows what to push next.
TEST_F(Advance, OpsThatNeedNotWaitGoOn) {
  OpText first{"first", "multiply", {"a", "a"}}, second{"second", "add", {"b", "c"}};
  second.row = 2;
  open(netlist_text(queue("b", "HOST", 1, 1, 1) + queue("c", "HOST", 1, 1, 1) + queue("a", "HOST", 1, 1, 1) +
                        queue("sum", "second", 1, 1, 1) + queue("out", "first", 1, 1, 1),
                    second.text() + first.text(),
                    cat("  - main:\n    - param: [$n]\n    - execute: {graph_name: g, queue_settings: {", at_start("a"), ", ",
                        at_start("b"), ", ", at_start("c"), "}}\n")));
  ASSERT_TRUE(device_->push("a", entries({3})));
  start(1);
  Progress progress = advance();
  EXPECT_EQ(progress.state, State::needs_host);
  ASSERT_EQ(progress.waits.size(), 2u);
  EXPECT_EQ(progress.waits[0].queue, "b");
  EXPECT_EQ(progress.waits[1].queue, "c");
  const Result<Tensor> square = device_->pop("out", 1);
  EXPECT_EQ(constants(square), (std::vector<float>{9}));
  ASSERT_TRUE(device_->push("b", *square));
  EXPECT_EQ(wait_of(advance()).queue, "c");
  ASSERT_TRUE(device_->push("c", entries({1})));
  EXPECT_EQ(advance().state, State::idle);
  EXPECT_EQ(constants(device_->pop("sum", 1)), (std::vector<float>{10}));
}

TEST_F(Advance, APrologueWaitsForItsEntry) {
  open(square_text(2, 4, 3, ", prologue: true"));
  start(1);
  EXPECT_EQ(wait_of(advance()).queue, "a");
  ASSERT_TRUE(device_->push("a", entries({7})));
  EXPECT_EQ(advance().state, State::idle);
  EXPECT_EQ(constants(device_->pop("out", 3)), (std::vector<float>{49, 49, 49}));
}

TEST_F(Advance, WhatNobodyElseCanGiveIsADeadlock) {
  // `mid` is made by g1, which the program never executes.
  OpText square{"sq", "multiply", {"a", "a"}}, add{"sum", "add", {"mid", "a"}};
  open(cat("devices: {arch: wormhole_b0}\nqueues:\n", queue("a", "HOST", 1, 1, 1), queue("mid", "sq", 1, 1, 1),
           queue("out", "sum", 1, 1, 1), "graphs:\n  g1:\n    target_device: 0\n    input_count: 1\n", square.text(),
           "  g2:\n    target_device: 0\n    input_count: 1\n", add.text(),
           "programs:\n  - main:\n    - param: [$n]\n    - execute: {graph_name: g2, queue_settings: {", at_start("a"), ", ",
           at_start("mid"), "}}\n  - other:\n    - execute: {graph_name: g1, queue_settings: {", at_start("a"), "}}\n"));
  ASSERT_TRUE(device_->push("a", entries({2})));
  start(1);
  Progress progress = advance();
  EXPECT_EQ(progress.state, State::hung);
  EXPECT_EQ(wait_of(progress).what, Wait::For::device);
  EXPECT_THAT(wait_of(progress).reason.message, HasSubstr("of queue 'mid' from 0 on"));
  EXPECT_EQ(wait_of(progress).reason.code, "GD021");
  // Starting gives up what hangs.
  ASSERT_TRUE(device_->run("other", {}));
  EXPECT_EQ(*device_->waiting("mid"), 1);
}

TEST_F(Advance, InSlicesTheOutputsAreTheSame) {
  open(square_text(4, 8, 2, ", global_rdptr_autoinc: 1"));
  ASSERT_TRUE(device_->push("a", entries({1, 2, 3, 4})));
  start(2);
  for (std::int64_t n = 1; n <= 3; ++n) {
    EXPECT_EQ(advance(Until::holds("out", n)).state, State::running);
    EXPECT_EQ(*device_->waiting("out"), n);
  }
  EXPECT_EQ(advance(Until::holds("out", 100)).state, State::idle);
  EXPECT_EQ(constants(device_->pop("out", 4)), (std::vector<float>{1, 4, 9, 16}));
  EXPECT_FALSE(device_->advance(Until::holds("nowhere", 1)));
}

TEST_F(Advance, StartingAnotherProgramGivesUpTheFirst) {
  open(square_text(2, 8, 1));
  start(3);
  EXPECT_EQ(advance().state, State::needs_host);
  start(1);
  ASSERT_TRUE(device_->push("a", entries({5})));
  EXPECT_EQ(advance().state, State::idle);
  EXPECT_EQ(constants(device_->pop("out", 1)), (std::vector<float>{25}));
}

TEST_F(Advance, AFailureGivesUpTheProgram) {
  open(square_text(2, 0, 1));
  ASSERT_TRUE(device_->push("a", entries({5})));
  start(1);
  auto failed = device_->advance(Until::idle());
  ASSERT_FALSE(failed);
  EXPECT_THAT(first_error(failed.failure()), HasSubstr("queue 'out' has no entries to write to"));
  EXPECT_EQ(advance().state, State::idle);
}

TEST_F(Advance, GoldenHasNoTime) {
  open(square_text(2, 2, 1));
  EXPECT_FALSE(device_->clock());
  EXPECT_EQ(advance().now, perf::SimTime{});
}

}  // namespace
}  // namespace buda::golden::test
