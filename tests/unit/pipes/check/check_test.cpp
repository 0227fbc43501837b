// SPDX-License-Identifier: Apache-2.0
// The checker must see every kind of damage.
#include <buda/pipes/graph/pipe_graph.hpp>

#include "unit/pipes/check/damage.hpp"

namespace buda::pipes {
namespace {

// A layer with parameters read before the epoch, stacked buffers, padding, and a list that repeats itself.
std::string everything() {
  std::string queues =
      queue_text("x", "HOST", "grid_size: [1, 1], t: 1, mblock: [2, 8], ublock: [1, 1]", 1, 0x20000000) +
      queue_text("w", "HOST", "grid_size: [1, 1], t: 1, mblock: [8, 4], ublock: [1, 4]", 1, 0x30000000, "type: ram, entries: 1") +
      queue_text("b", "HOST", "grid_size: [1, 1], t: 1, mblock: [1, 4], ublock: [1, 4]", 1, 0x31000000, "type: ram, entries: 1") +
      queue_text("y", "HOST", "grid_size: [1, 1], t: 4, mblock: [1, 1], ublock: [2, 2]", 1, 0x38000000) +
      queue_text("out", "mm", "grid_size: [2, 1], t: 1, mblock: [1, 4], ublock: [1, 4]", 2, 0x40000000) +
      queue_text("stacked", "s", "grid_size: [2, 1], t: 2, mblock: [1, 1], ublock: [2, 2]", 2, 0x50000000) +
      queue_text("padded", "p", "grid_size: [1, 1], t: 1, mblock: [3, 8], ublock: [1, 1]", 1, 0x60000000) +
      queue_text("long", "l", "grid_size: [1, 1], t: 1, mblock: [16, 8], ublock: [1, 1]", 1, 0x68000000);
  std::string ops =
      op_text("mm", "matmul", "x, w, b", 3, "grid_loc: [0, 0], grid_size: [2, 1]",
              "t: 1, mblock: [1, 4], ublock: [1, 4], ublock_order: r, buf_size_mb: 2",
              "input_2_tms: [broadcast: {r: 2}], attributes: {m_k: 8, u_kt: 1, bias: true}") +
      op_text("f", "nop", "y", 1, "grid_loc: [0, 1], grid_size: [1, 1]",
              "t: 4, mblock: [1, 1], ublock: [2, 2], ublock_order: r, buf_size_mb: 2") +
      op_text("s", "nop", "f", 1, "grid_loc: [0, 2], grid_size: [2, 1]",
              "t: 2, mblock: [1, 1], ublock: [2, 2], ublock_order: r, buf_size_mb: 2", "input_0_tms: [vstack: 2]") +
      op_text("p", "nop", "x", 1, "grid_loc: [3, 0], grid_size: [1, 1]",
              "t: 1, mblock: [3, 8], ublock: [1, 1], ublock_order: r, buf_size_mb: 2", "input_0_pad: {rt: 1, ct: 0, pad_value: 2.0}") +
      op_text("l", "nop", "x", 1, "grid_loc: [3, 1], grid_size: [1, 1]",
              "t: 1, mblock: [16, 8], ublock: [1, 1], ublock_order: c, buf_size_mb: 2",
              "input_0_tms: [transpose, broadcast: {r: 2}, broadcast: {c: 4}]");
  return netlist_text(queues, ops, 4,
                      "w: {prologue: true, epilogue: false, zero: false, rd_ptr_global: 0, wr_ptr_global: 0}, "
                      "b: {prologue: true, epilogue: false, zero: false, rd_ptr_global: 0, wr_ptr_global: 0}");
}

class Damage : public DamageTest {
 protected:
  Damage() : DamageTest(base()) {}
  static const Built& base() {
    static const Built built(everything());
    return built;
  }
};

TEST_F(Damage, ThereIsNoneToBeginWith) { EXPECT_EQ(base().check(graph_), ""); }

TEST_F(Damage, BlockLost) {
  pipe_to("mm", 0).inputs.pop_back();
  expect_caught("PC012");
}
TEST_F(Damage, BlockTwice) {
  auto& inputs = pipe_to("mm", 0).inputs;
  inputs.push_back(inputs.back());
  expect_caught("PC014");
}
TEST_F(Damage, BlocksSwapped) {
  auto& inputs = pipe_to("p", 0).inputs;
  std::swap(inputs[0], inputs[1]);
  expect_caught("PC013");
}
TEST_F(Damage, NeighbouringBlockInstead) {
  auto& inputs = pipe_to("p", 0).inputs;
  inputs[3] = inputs[4];
  expect_caught("PC013");
}
TEST_F(Damage, BlockThatBeginsBetweenBlocks) {
  pipe([](const Pipe& p) { return base_id(p.inputs.front()) == base().index->queue_buffer(3, 0); }).inputs.front() += 1;
  expect_caught("PC009");
}
TEST_F(Damage, BlockOfAnotherQueue) {
  pipe_to("f", 0).inputs.front() = base().index->queue_buffer(0, 0);
  expect_caught("PC013");
}
TEST_F(Damage, PipeLost) {
  std::erase_if(graph_.pipes, [&, lost = pipe_to("f", 0).id](const Pipe& p) { return p.id == lost; });
  expect_caught("PC010");
}
TEST_F(Damage, PipeTwice) {
  Pipe copy = pipe_to("f", 0);
  copy.id = 999'000'000'000;
  graph_.pipes.push_back(copy);
  expect_caught("PC011");
}
TEST_F(Damage, ReceiverLeftOutOfAMulticast) {
  pipe([](const Pipe& p) { return p.outputs.size() == 1 && p.outputs.front().size() > 1; }).outputs.front().pop_back();
  expect_caught("PC010");
}
TEST_F(Damage, ReceiversExchanged) {
  std::swap(pipe_to("f", 0).outputs, pipe_to("p", 0).outputs);
  expect_caught("PC013");
}
TEST_F(Damage, OutputIntoASender) {
  pipe_to("f", 0).outputs.front().push_back(buffer("mm", BufferType::packer).id);
  expect_caught("PC007");
}
TEST_F(Damage, TurnsOfAStackExchanged) {
  auto& outputs = pipe([](const Pipe& p) { return p.outputs.size() == 2; }).outputs;
  std::swap(outputs[0], outputs[1]);
  expect_caught("PC013");
}
TEST_F(Damage, TurnOfAStackLost) {
  Pipe& p = pipe([](const Pipe& q) { return q.outputs.size() == 2; });
  p.outputs.pop_back();
  p.mcast_core.pop_back();
  p.output_padding.clear();
  expect_caught();
}
TEST_F(Damage, RepetitionTooShort) {
  Pipe& p = pipe([](const Pipe& q) { return q.periodic_repeat > 1; });
  p.periodic_repeat -= 1;
  expect_caught("PC012");
}
TEST_F(Damage, RepetitionForgotten) {
  pipe([](const Pipe& q) { return q.periodic_repeat > 1; }).periodic_repeat = 0;
  expect_caught("PC012");
}
TEST_F(Damage, BlocksOfAnotherSize) {
  buffer("x", BufferType::dram_io).scatter_gather_num_tiles *= 2;
  expect_caught();
}
TEST_F(Damage, AnotherNumberOfBlocks) {
  buffer("x", BufferType::dram_io).replicate += 1;
  expect_caught("PC005");
}
TEST_F(Damage, SharesGatheredInAnotherOrder) {
  auto& inputs = pipe_to("mm", 1).inputs;
  ASSERT_EQ(inputs.size(), 2u);
  std::swap(inputs[0], inputs[1]);
  expect_caught("PC013");
}
TEST_F(Damage, ShareFromAnotherPartOfTheQueue) {
  BufferIndex index(graph_.buffers);
  pipe([&](const Pipe& p) { return index.find(p.outputs.front().front())->type == BufferType::prolog_relay; }).inputs.front() += 32;
  expect_caught();
}
TEST_F(Damage, PaddingFromAnotherConstant) {
  for (Buffer& b : graph_.buffers)
    if (b.is_padding) b.dram_addr += 0x1000;
  expect_caught("PC013");
}
TEST_F(Damage, KernelBufferInAnotherCore) {
  buffer("f", BufferType::unpacker).core.row += 5;
  expect_caught("PC001");
}
TEST_F(Damage, KernelBufferOfAnotherOperand) {
  buffer("mm", BufferType::unpacker, 0).operand = 5;
  expect_caught("PC018");
}
TEST_F(Damage, KernelBufferOnAnotherChip) {
  buffer("f", BufferType::unpacker).chip = 1;
  expect_caught("PC001");
}
TEST_F(Damage, KernelBufferLost) {
  Id lost = buffer("f", BufferType::unpacker).id;
  std::erase_if(graph_.buffers, [&](const Buffer& b) { return b.id == lost; });
  expect_caught("PC018");
}
TEST_F(Damage, KernelBufferSmallerThanAStep) {
  Buffer& b = buffer("mm", BufferType::unpacker, 0);
  b.size_tiles = b.tile_clear_granularity - 1;
  expect_caught("PC016");
}
TEST_F(Damage, TilesOfAnotherSize) {
  buffer("f", BufferType::unpacker).tile_size += 32;
  expect_caught("PC016");
}
TEST_F(Damage, TilesMiscountedAtTheReceiver) {
  buffer("f", BufferType::unpacker).epoch_tiles += 1;
  expect_caught("PC016");
}
TEST_F(Damage, TilesMiscountedAtTheSender) {
  buffer("f", BufferType::packer).epoch_tiles -= 1;
  expect_caught("PC016");
}
TEST_F(Damage, OutputBufferTooSmall) {
  buffer("mm", BufferType::packer).size_tiles = 1;
  expect_caught("PC016");
}
TEST_F(Damage, QueueAtAnotherAddress) {
  buffer("x", BufferType::dram_io).dram_addr += 0x20;
  expect_caught("PC003");
}
TEST_F(Damage, QueueInAnotherChannel) {
  buffer("x", BufferType::dram_io).dram_chan += 1;
  expect_caught("PC003");
}
TEST_F(Damage, QueueWithAnotherNumberOfSlots) {
  buffer("x", BufferType::dram_io).q_slots = 3;
  expect_caught("PC006");
}
TEST_F(Damage, PrologueThatIsNotRead) {
  buffer("b", BufferType::dram_prolog).dram_buf_flag = false;
  expect_caught("PC004");
}
TEST_F(Damage, OutputQueueNotWritten) {
  BufferIndex index(graph_.buffers);
  std::erase_if(graph_.pipes, [&](const Pipe& p) { return index.find(p.outputs.front().front())->op == "padded"; });
  expect_caught("PC010");
}
TEST_F(Damage, MulticastFromTheMiddleOfNowhere) {
  pipe([](const Pipe& p) { return p.outputs.front().size() > 1; }).mcast_core.front().core = {7, 7};
  expect_caught("PC021");
}
TEST_F(Damage, ReadersThatDoNotCountThemselves) {
  for (auto& r : pipe_to("p", 0).dram_reader_index) r = 0;
  for (auto& r : pipe_to("l", 0).dram_reader_index) r = 0;
  expect_caught("PC022");
}
TEST_F(Damage, TwoBuffersWithOneId) {
  graph_.buffers.push_back(graph_.buffers.front());
  expect_caught("PC002");
}
TEST_F(Damage, SharesThatFeedThemselves) {
  BufferIndex index(graph_.buffers);
  Pipe& p = pipe([&](const Pipe& q) { return index.find(q.outputs.front().front())->type == BufferType::prolog_relay; });
  p.inputs = {p.outputs.front().front()};
  expect_caught("PC010");
}

// The output buffer of four entries is handed on when it is full; six inputs leave it half full.
TEST(Check, InputsThatDoNotFillTheBuffersOfTheirProducer) {
  const std::string shape = "t: 1, mblock: [1, 1], ublock: [2, 2]";
  Built built(
      netlist_text(queue_text("x", "HOST", "grid_size: [1, 1], " + shape, 1, 0x20000000) +
                       queue_text("y", "b", "grid_size: [1, 1], " + shape, 1, 0x30000000),
                   op_text("a", "nop", "x", 1, "grid_loc: [0, 0], grid_size: [1, 1]", shape + ", ublock_order: r, buf_size_mb: 8") +
                       op_text("b", "nop", "a", 1, "grid_loc: [1, 0], grid_size: [1, 1]", shape + ", ublock_order: r, buf_size_mb: 2"),
                   6));
  ASSERT_EQ(built.problem, "");
  EXPECT_EQ(built.check(), "op 'b', input 0, core [0, 0]: the 6 inputs of the epoch do not fill the buffers of op 'a' [PC020]\n");
}

}  // namespace
}  // namespace buda::pipes
