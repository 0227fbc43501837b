// SPDX-License-Identifier: Apache-2.0
// Queues, rams and their pointers, as programs move them.
#include "netlist_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace buda::golden::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

template <class T>
std::string message(const Result<T>& r) {
  return r ? "(no error)" : cat(r.failure().diagnostics().front().code, ": ", first_error(r.failure()));
}

// out = a + w, one input per epoch, looping.
std::string add_text(int entries_in, int entries_out, int input_count = 1) {
  OpText op{"op", "add", {"a", "w"}};
  std::string program =
      cat("  - main:\n"
          "    - param: [$p_loop_count]\n"
          "    - var: {$c_one: ",
          input_count,
          ", $c_zero: 0}\n"
          "    - staticvar: {$g: 0, $l: 0}\n"
          "    - loop: $p_loop_count\n"
          "    - execute: {graph_name: g, queue_settings: {a: {prologue: false, epilogue: false, zero: false, rd_ptr_local: $l, "
          "rd_ptr_global: $g}, w: {prologue: true, epilogue: "
          "false, zero: false, rd_ptr_global: $c_zero, wr_ptr_global: $c_zero}}}\n"
          "    - varinst: [$g, incwrap, $c_one, ",
          2 * entries_in,
          "]\n"
          "    - varinst: [$l, incwrap, $c_one, ",
          2 * entries_in,
          "]\n"
          "    - endloop\n");
  return netlist_text(queue("a", "HOST", 1, 1, 1, "Float32", entries_in) + queue("w", "HOST", 1, 1, 1, "Float32", 1, "ram") +
                          queue("out", "op", 1, 1, 1, "Float32", entries_out),
                      op.text(), program, input_count);
}

TEST(Queues, LoopsPopWhatTheyUsedSoThatMoreCanBePushed) {
  TestHost host;
  auto device = open_device(add_text(2, 4), host);
  ASSERT_TRUE(device) << first_error(device.failure());
  ASSERT_TRUE((*device)->write("w", 0, entries({100})));
  float next = 1;
  // Far beyond the wrap of both pointers.
  for (int round = 0; round < 9; ++round) {
    ASSERT_TRUE((*device)->push("a", entries({next, next + 1}))) << round;
    ASSERT_TRUE((*device)->run("main", {{"$p_loop_count", 2}}));
    EXPECT_EQ(constants((*device)->pop("out", 2)), (std::vector<float>{100 + next, 101 + next}));
    next += 2;
  }
  EXPECT_EQ((*device)->telemetry().at("epochs"), 18);
}

TEST(Queues, SeveralInputsPerEpoch) {
  TestHost host;
  auto device = open_device(add_text(4, 4, 2), host);
  ASSERT_TRUE(device) << first_error(device.failure());
  ASSERT_TRUE((*device)->write("w", 0, entries({10})));
  ASSERT_TRUE((*device)->push("a", entries({1, 2, 3, 4})));
  ASSERT_TRUE((*device)->run("main", {{"p_loop_count", 2}}));
  EXPECT_EQ(constants((*device)->pop("out", 4)), (std::vector<float>{11, 12, 13, 14}));
}

TEST(Queues, FullAndEmptyAreErrorsThatSayHowMuchThereIs) {
  TestHost host;
  auto device = open_device(add_text(2, 1), host);
  ASSERT_TRUE(device);
  EXPECT_THAT(message((*device)->push("a", entries({1, 2, 3}))),
              AllOf(HasSubstr("GD013"), HasSubstr("space for 2 of its 2 entries, 3 are pushed")));
  EXPECT_THAT(message((*device)->run("main", {{"$p_loop_count", 1}})),
              AllOf(HasSubstr("GD021"), HasSubstr("needs 1 entry of queue 'a' from 0 on, where there are 0; a chip would wait forever")));
  ASSERT_TRUE((*device)->push("a", entries({1, 2})));
  EXPECT_THAT(message((*device)->push("a", entries({3}))), AllOf(HasSubstr("GD013"), HasSubstr("space for 0")));
  EXPECT_THAT(message((*device)->run("main", {{"$p_loop_count", 1}})),
              AllOf(HasSubstr("GD022"), HasSubstr("reads ram 'w' at 0, where nothing was written yet")));
  ASSERT_TRUE((*device)->write("w", 0, entries({1})));
  EXPECT_THAT(message((*device)->run("main", {{"$p_loop_count", 2}})),
              AllOf(HasSubstr("GD024"), HasSubstr("writes to queue 'out', all of whose 1 entries are waiting to be read")));
  EXPECT_THAT(message((*device)->pop("out", 2)), HasSubstr("GD014: queue 'out' holds 1 entries; 2 from 0 on are asked for"));
}

// The epoch reads three times what the queue holds and frees nothing before its end, so a full queue is gone through again and again.
TEST(Queues, EpochsThatAreLongerThanAQueue) {
  TestHost host;
  auto device = open_device(add_text(2, 6, 6), host);
  ASSERT_TRUE(device);
  ASSERT_TRUE((*device)->write("w", 0, entries({10})));
  ASSERT_TRUE((*device)->push("a", entries({1})));
  EXPECT_THAT(message((*device)->run("main", {{"$p_loop_count", 1}})),
              HasSubstr("needs 6 entries of queue 'a' from 0 on, where there is 1; a chip would wait forever"));
  EXPECT_EQ(constants((*device)->pop("out", 1)), (std::vector<float>{11}));
  ASSERT_TRUE((*device)->push("a", entries({2})));
  ASSERT_TRUE((*device)->run("main", {{"$p_loop_count", 1}}));
  EXPECT_EQ(constants((*device)->pop("out", 6)), (std::vector<float>{11, 12, 11, 12, 11, 12}));
  auto odd = open_device(add_text(2, 10, 5), host);
  ASSERT_TRUE(odd);
  ASSERT_TRUE((*odd)->write("w", 0, entries({10})));
  ASSERT_TRUE((*odd)->push("a", entries({1, 2})));
  ASSERT_TRUE((*odd)->run("main", {{"$p_loop_count", 2}}));
  EXPECT_EQ(*(*odd)->waiting("a"), 2);
  EXPECT_EQ(constants((*odd)->pop("out", 10)), (std::vector<float>{11, 12, 11, 12, 11, 12, 11, 12, 11, 12}));
}

TEST(Queues, MoreEntriesThanAHostHolds) {
  TestHost host;
  auto device = open_device(add_text(2'000'000'000, 4), host);
  ASSERT_FALSE(device);
  EXPECT_THAT(message(device), HasSubstr("GD007: queue 'a' has 2000000000 entries"));
}

TEST(Queues, WithoutEntriesHoldNothing) {
  TestHost host;
  auto device = open_device(add_text(2, 0), host);
  ASSERT_TRUE(device);
  ASSERT_TRUE((*device)->write("w", 0, entries({10})));
  ASSERT_TRUE((*device)->push("a", entries({1})));
  EXPECT_THAT(message((*device)->run("main", {{"$p_loop_count", 1}})),
              AllOf(HasSubstr("GD020"), HasSubstr("queue 'out' has no entries to write to")));
  auto other = open_device(add_text(0, 1), host);
  ASSERT_TRUE(other);
  EXPECT_THAT(message((*other)->push("a", entries({1}))),
              AllOf(HasSubstr("GD013"), HasSubstr("has space for 0 of its 0 entries, 1 are pushed")));
}

TEST(Queues, WhatWaitsMayBeOverwritten) {
  TestHost host;
  auto device = open_device(add_text(3, 1), host);
  ASSERT_TRUE(device);
  ASSERT_TRUE((*device)->push("a", entries({1, 2, 3})));
  ASSERT_TRUE((*device)->pop("a", 1));
  ASSERT_TRUE((*device)->write("a", 1, entries({7})));
  EXPECT_THAT(message((*device)->write("a", 2, entries({8}))), HasSubstr("holds 2 slots"));
  EXPECT_EQ(*(*device)->waiting("a"), 2);
  EXPECT_EQ(*(*device)->pop("a", 2), entries({2, 7}));
}

// Netlists that the checker would refuse, as a program may give them.
TEST(Netlists, NamesThatNothingHasAndCircles) {
  TestHost host;
  const std::string a = queue("a", "HOST", 1, 1, 1), out = queue("out", "op", 1, 1, 1), program = once(at_start("a"));
  auto refusal = [&](const std::string& queues, const std::string& ops) {
    return message(open_device(netlist_text(queues, ops, program), host));
  };
  const OpText op{"op", "add", {"a", "nobody"}};
  EXPECT_EQ(refusal(a + out, op.text()), "GD004: op 'op': its input 'nobody' is neither a queue nor an op");
  const OpText first{"op", "add", {"a", "second"}};
  OpText second{"second", "nop", {"op"}};
  second.row = 1;
  EXPECT_THAT(refusal(a + out, first.text() + second.text()),
              AllOf(HasSubstr("GD005: op '"), HasSubstr("': it waits for '"), HasSubstr("', which waits for it")));
  const std::string ram = queue("r", "HOST", 1, 1, 1, "Float32", 4, "ram", ", alias: nowhere");
  EXPECT_EQ(refusal(a + ram + out, OpText{"op", "nop", {"a"}}.text()), "GD006: queue 'r': its alias 'nowhere' is not a queue");
}

TEST(Netlists, AGraphThatReadsAnotherRunsAfterIt) {
  TestHost host;
  OpText second{"second", "nop", {"op"}};
  second.row = 1;
  const std::string graphs = cat(OpText{"op", "nop", {"a"}}.text(), "  h:\n    target_device: 0\n    input_count: 1\n", second.text());
  const std::string queues = cat(queue("a", "HOST", 1, 1, 1), queue("out", "second", 1, 1, 1));
  auto device = open_device(netlist_text(queues, graphs, "  - main:\n    - execute: {graph_name: h, queue_settings: {}}\n"), host);
  ASSERT_TRUE(device) << message(device);
  EXPECT_THAT(message((*device)->run("main", {})),
              HasSubstr("GD023: graph 'h': op 'second' reads op 'op' of another graph, which has not run for input 0 before it"));
}

TEST(Queues, CallsThatDoNotFitTheKindOrTheShape) {
  TestHost host;
  auto device = open_device(add_text(2, 1), host);
  ASSERT_TRUE(device);
  EXPECT_THAT(message((*device)->push("w", entries({1}))), AllOf(HasSubstr("GD012"), HasSubstr("is a ram")));
  EXPECT_THAT(message((*device)->write("a", 0, entries({1}))),
              AllOf(HasSubstr("GD013"), HasSubstr("queue 'a' holds 0 slots; 1 from slot 0 on do not fit")));
  EXPECT_THAT(message((*device)->write("w", 1, entries({1}))),
              AllOf(HasSubstr("GD013"), HasSubstr("1 slots; 1 from slot 1 on do not fit")));
  EXPECT_THAT(message((*device)->write("w", -1, entries({1}))), HasSubstr("do not fit"));
  EXPECT_THAT(message((*device)->push("aa", entries({1}))), AllOf(HasSubstr("GD011"), HasSubstr("no queue named 'aa'")));
  EXPECT_THAT(message((*device)->push("a", Tensor(Shape{1, 32, 32}, std::vector<float>(1024)))),
              AllOf(HasSubstr("GD010"), HasSubstr("an entry is [1, 1, 32, 32]")));
  EXPECT_THAT(message((*device)->push("a", Tensor(Shape{1, 1, 32, 64}, std::vector<float>(2048)))),
              HasSubstr("shape [1, 1, 32, 64] is given"));
  EXPECT_THAT(message((*device)->run("main", {{"$p_loop_count", std::int64_t{1} << 40}})),
              AllOf(HasSubstr("GD015"), HasSubstr("does not fit in 32 bits")));
  EXPECT_THAT(message((*device)->run("mian", {})), HasSubstr("no program 'mian'"));
}

TEST(Queues, PushingRoundsToTheFormat) {
  TestHost host;
  OpText op{"op", "nop", {"a"}};
  op.in_df = op.out_df = "Float16_b";
  op.acc_df = op.intermed_df = "Float16_b";
  auto text =
      netlist_text(queue("a", "HOST", 1, 1, 1, "Float16_b") + queue("out", "op", 1, 1, 1, "Float16_b"), op.text(), once(at_start("a")));
  auto device = open_device(text, host);
  ASSERT_TRUE(device) << first_error(device.failure());
  ASSERT_TRUE((*device)->push("a", entries({1.0f + 0x1p-8f})));  // the host's packer truncates
  EXPECT_EQ(constants((*device)->read("a", 0, 1)), (std::vector<float>{1.0f}));
  auto kept = open_device(text, host, {arith::Mode::fp32, false});
  ASSERT_TRUE((*kept)->push("a", entries({1.0f + 0x1p-8f})));
  EXPECT_EQ(constants((*kept)->read("a", 0, 1)), (std::vector<float>{1.0f + 0x1p-8f}));
}

TEST(Queues, BetweenEpochsAndReadTwice) {
  // g1: mid = a * a; g2: out = mid + a. `mid` is as deep as one epoch, so its pointers have to follow the program.
  OpText square{"sq", "multiply", {"a", "a"}}, add{"sum", "add", {"mid", "a"}};
  std::string ops = square.text();
  std::string text = cat(
      "devices: {arch: wormhole_b0}\nqueues:\n", queue("a", "HOST", 1, 1, 1, "Float32", 4), queue("mid", "sq", 1, 1, 1, "Float32", 1),
      queue("out", "sum", 1, 1, 1), "graphs:\n  g1:\n    target_device: 0\n    input_count: 1\n", square.text(),
      "  g2:\n    target_device: 0\n    input_count: 1\n", add.text(),
      "programs:\n  - main:\n    - param: [$n]\n    - var: {$one: 1}\n    - staticvar: {$ga: 0, $la: 0, $gm: 0, $lm: 0}\n    - loop: $n\n"
      "    - execute: {graph_name: g1, queue_settings: {a: {rd_ptr_local: $la, rd_ptr_global: $ga}}}\n"
      "    - execute: {graph_name: g2, queue_settings: {a: {rd_ptr_local: $la, rd_ptr_global: $ga}, mid: {rd_ptr_local: $lm, "
      "rd_ptr_global: $gm}}}\n"
      "    - varinst: [$ga, incwrap, $one, 8]\n    - varinst: [$la, incwrap, $one, 8]\n    - varinst: [$gm, incwrap, $one, 2]\n    - "
      "varinst: [$lm, incwrap, $one, 2]\n"
      "    - endloop\n");
  TestHost host;
  auto device = open_device(text, host);
  ASSERT_TRUE(device) << first_error(device.failure());
  ASSERT_TRUE((*device)->push("a", entries({1, 2, 3})));
  auto ran = (*device)->run("main", {{"n", 3}});
  ASSERT_TRUE(ran) << message(ran);
  EXPECT_EQ(constants((*device)->pop("out", 3)), (std::vector<float>{2, 6, 12}));
  EXPECT_EQ(*(*device)->waiting("a"), 0);
  EXPECT_EQ(*(*device)->waiting("mid"), 0);
}

TEST(Ops, MatrixByMatrixMakesTheSame) {
  OpText mm{"mm", "matmul", {"a", "b"}};
  mm.t = 6, mm.rt = 2, mm.ct = 3;
  mm.in_df = "Float16_b", mm.out_df = "Bfp8_b", mm.acc_df = mm.intermed_df = "Float16_b";
  mm.attributes = "m_k: 2, u_kt: 1";
  mm.more =
      ", input_0_tms: [vslice: 2, broadcast: {z: 3}], input_1_tms: [transpose, broadcast: {z: 6}], input_1_pad: {rt: 1, ct: 0, pad_value: "
      "0.5}";
  OpText add{"add", "add", {"mm", "c"}};
  add.t = 6, add.rt = 2, add.ct = 3, add.row = 2;
  add.in_df = "Bfp8_b", add.out_df = add.acc_df = add.intermed_df = "Float16_b";
  add.more = ", input_1_tms: [broadcast: {c: 3}]";
  const std::string text = netlist_text(queue("a", "HOST", 1, 4, 2, "Float16_b") + queue("b", "HOST", 1, 3, 1, "Float16_b") +
                                            queue("c", "HOST", 6, 2, 1, "Bfp8_b") + queue("out", "add", 6, 2, 3, "Float16_b"),
                                        mm.text() + add.text(), once(cat(at_start("a"), ", ", at_start("b"), ", ", at_start("c"))));
  const std::vector<Given> given = {
      {"a", random_tensor({1, 1, 128, 64}, 1)}, {"b", random_tensor({1, 1, 96, 32}, 2)}, {"c", random_tensor({1, 6, 64, 32}, 3)}};
  functional::DeviceOptions options;
  auto whole = run_netlist(text, given, options);
  ASSERT_TRUE(whole) << first_error(whole.failure());
  options.most_numbers = 0;
  auto by_t = run_netlist(text, given, options);
  ASSERT_TRUE(by_t) << first_error(by_t.failure());
  EXPECT_EQ(*whole, *by_t);
}

TEST(Queues, DynamicOnesAreEmptyWhenAllocated) {
  OpText op{"op", "nop", {"a"}};
  std::string program =
      "  - main:\n    - allocate_queue: [out]\n    - execute: {graph_name: g, queue_settings: {a: {rd_ptr_local: 0, rd_ptr_global: 0}}}\n  "
      "  - deallocate_queue: [out]\n";
  TestHost host;
  auto device =
      open_device(netlist_text(queue("a", "HOST", 1, 1, 1) + queue("out", "op", 1, 1, 1, "Float32", 1), op.text(), program), host);
  ASSERT_TRUE(device) << first_error(device.failure());
  ASSERT_TRUE((*device)->push("a", entries({5})));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE((*device)->run("main", {}));  // would be full without
}

TEST(Rams, SlotsAndIncrements) {
  // Slots 1 and 2 of a ram of three, then written to slots 2 and 0 of another.
  OpText op{"op", "nop", {"a"}};
  std::string settings =
      "a: {prologue: true, rd_ptr_global: 1, wr_ptr_global: 0, rd_ptr_autoinc: 1, global_wrptr_autoinc: 1}, out: {rd_ptr_global: 0, "
      "wr_ptr_global: 2, rd_ptr_autoinc: 1, "
      "global_wrptr_autoinc: 1}";
  TestHost host;
  auto device =
      open_device(netlist_text(queue("a", "HOST", 1, 1, 1, "Float32", 3, "ram") + queue("out", "op", 1, 1, 1, "Float32", 3, "ram"),
                               op.text(), once(settings), 2),
                  host);
  ASSERT_TRUE(device) << first_error(device.failure());
  ASSERT_TRUE((*device)->write("a", 0, entries({7, 8, 9})));
  auto ran = (*device)->run("main", {});
  ASSERT_TRUE(ran) << message(ran);
  EXPECT_EQ(constants((*device)->read("out", 0, 3)), (std::vector<float>{9, 0, 8}));
  EXPECT_EQ(constants((*device)->read("out", 2, 1)), (std::vector<float>{8}));
  EXPECT_FALSE((*device)->read("out", 3, 1));
  EXPECT_FALSE((*device)->waiting("out"));
}

TEST(Rams, PrologueReadsBeforeTheEpochWrites) {
  // w = w + a, for three inputs: with prologue every input sees the old w.
  OpText op{"op", "add", {"w", "a"}};
  for (bool prologue : {true, false}) {
    std::string settings = cat(at_start("a"), ", w: {prologue: ", prologue, ", rd_ptr_global: 0, wr_ptr_global: 0}");
    TestHost host;
    auto device = open_device(
        netlist_text(queue("a", "HOST", 1, 1, 1) + queue("w", "op", 1, 1, 1, "Float32", 1, "ram"), op.text(), once(settings), 3), host);
    ASSERT_TRUE(device) << first_error(device.failure());
    ASSERT_TRUE((*device)->push("a", entries({1, 2, 4})));
    ASSERT_TRUE((*device)->write("w", 0, entries({100})));
    auto ran = (*device)->run("main", {});
    ASSERT_TRUE(ran) << message(ran);
    EXPECT_EQ(constants((*device)->read("w", 0, 1)), (std::vector<float>{prologue ? 104.0f : 107.0f}));
  }
}

TEST(Rams, GradientsAddUpOverInputsAndRuns) {
  OpText op{"op", "multiply", {"a", "a"}};
  op.more = ", gradient_op: true";
  std::string program =
      "  - main:\n    - param: [$zero]\n"
      "    - execute: {graph_name: g, queue_settings: {a: {rd_ptr_local: 0, rd_ptr_global: 0}, grad: {prologue: true, epilogue: true, "
      "zero: $zero, rd_ptr_global: 0, wr_ptr_global: 0}}}\n";
  TestHost host;
  auto device = open_device(
      netlist_text(queue("a", "HOST", 1, 1, 1) + queue("grad", "op", 1, 1, 1, "Float32", 1, "ram"), op.text(), program, 3), host);
  ASSERT_TRUE(device) << first_error(device.failure());
  ASSERT_TRUE((*device)->push("a", entries({1, 2, 3})));
  ASSERT_TRUE((*device)->run("main", {{"zero", 1}}));
  EXPECT_EQ(constants((*device)->read("grad", 0, 1)), (std::vector<float>{14}));
  ASSERT_TRUE((*device)->run("main", {{"zero", 0}}));
  EXPECT_EQ(constants((*device)->read("grad", 0, 1)), (std::vector<float>{28}));
  ASSERT_TRUE((*device)->run("main", {{"zero", 1}}));
  EXPECT_EQ(constants((*device)->read("grad", 0, 1)), (std::vector<float>{14}));
}

TEST(Device, ReportsNanOnceForEachOp) {
  OpText op{"op", "log", {"a"}};
  TestHost host;
  auto device = open_device(netlist_text(queue("a", "HOST", 1, 1, 1) + queue("out", "op", 1, 1, 1), op.text(), once(at_start("a")), 2),
                            host, {arith::Mode::fp32, true});
  ASSERT_TRUE(device);
  ASSERT_TRUE((*device)->push("a", entries({-1, 0})));
  ASSERT_TRUE((*device)->run("main", {}));
  ASSERT_EQ(host.sink.diagnostics().size(), 1u);
  EXPECT_THAT(host.sink.diagnostics()[0].message, HasSubstr("op 'op' made 1024 NaN, 0 infinite and 0 saturated numbers of 1024"));
}

TEST(Device, CountsWhatItDoes) {
  TestHost host;
  auto device = open_device(add_text(2, 2), host);
  ASSERT_TRUE((*device)->write("w", 0, entries({1})));
  ASSERT_TRUE((*device)->push("a", entries({1})));
  ASSERT_TRUE((*device)->run("main", {{"p_loop_count", 1}}));
  auto t = (*device)->telemetry();
  EXPECT_EQ(t.at("epochs"), 1);
  EXPECT_EQ(t.at("ops"), 1);
  EXPECT_EQ(t.at("flops"), 1024);
  EXPECT_EQ(t.at("tiles_moved"), 3);
}

TEST(Device, IntegersOfTheHost) {
  OpText op{"op", "nop", {"a"}};
  op.in_df = op.out_df = "Int8";
  op.acc_df = op.intermed_df = "Int32";
  TestHost host;
  auto device = open_device(
      netlist_text(queue("a", "HOST", 1, 1, 1, "Int8") + queue("out", "op", 1, 1, 1, "Int8"), op.text(), once(at_start("a"))), host);
  ASSERT_TRUE(device) << first_error(device.failure());
  std::vector<std::int32_t> v(1024);
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<std::int32_t>(i) - 512;
  ASSERT_TRUE((*device)->push("a", Tensor(Shape{1, 1, 32, 32}, v)));
  ASSERT_TRUE((*device)->run("main", {}));
  auto out = (*device)->pop("out", 1);
  ASSERT_TRUE(out);
  ASSERT_EQ(out->dtype(), DType::i8);
  for (std::size_t i = 0; i < v.size(); ++i) EXPECT_EQ(out->as<std::int8_t>()[i], std::clamp(v[i], -127, 127));
}

}  // namespace
}  // namespace buda::golden::test
