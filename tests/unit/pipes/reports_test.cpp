// The files beside the pipegen file: who is named, and by which pipes.
#include <buda/pipes/reports.hpp>

#include "unit/pipes/built.hpp"
#include "unit/pipes/random_netlists.hpp"

#include <gmock/gmock.h>

#include <sstream>

namespace buda::pipes {
namespace {

using ::testing::HasSubstr;

TEST(OpToPipe, PipesThatReadSharesOfAPrologueBelongToItsOperand) {
  // As in worked_example_test.cpp: two cores of a column read one half each.
  std::string ops = op_text("mm", "matmul", "a, w", 2, "grid_loc: [0, 0], grid_size: [2, 1]",
                            "t: 1, mblock: [1, 4], ublock: [1, 4], ublock_order: r, buf_size_mb: 2", "attributes: {m_k: 8, u_kt: 1}");
  Built b(netlist_text(
      queue_text("a", "HOST", "grid_size: [1, 1], t: 1, mblock: [2, 8], ublock: [1, 1]", 1, 0x20000000) +
          queue_text("w", "HOST", "grid_size: [1, 1], t: 1, mblock: [8, 4], ublock: [1, 4]", 1, 0x30000000, "type: ram, entries: 1") +
          queue_text("out", "mm", "grid_size: [2, 1], t: 1, mblock: [1, 4], ublock: [1, 4]", 2, 0x40000000),
      ops, 8, "w: {prologue: true, epilogue: false, zero: false, rd_ptr_global: 0, wr_ptr_global: 0}"));
  ASSERT_TRUE(b.ok()) << b.problem;
  std::string text = op_to_pipe_text(*b.index, *b.device, b.graph);
  auto begin = text.find("- name: w\n"), end = text.find("outputs:");
  ASSERT_LT(begin, end);
  std::string of_w = text.substr(begin, end - begin);
  int shares = 0;
  for (const Buffer& share : b.graph.buffers) {
    if (share.type != BufferType::prolog_relay) continue;
    ++shares;
    for (const Pipe* read : b.feeding(&share)) EXPECT_THAT(of_w, HasSubstr(cat("- ", read->id, '\n')));
  }
  EXPECT_EQ(shares, 2);
  for (const Pipe* gather : b.feeding(b.input("mm", {0, 0}, 1))) EXPECT_THAT(of_w, HasSubstr(cat("- ", gather->id, '\n')));
}

TEST(OpToPipe, RelaysAreNotNamed) {
  Rng rng(3);
  int done = 0;
  for (int round = 0; done < 60 && round < 300; ++round) {
    std::string text = random_netlist(rng, 2);
    Built b(text, "n300");
    if (!b.ok()) continue;
    std::istringstream lines(op_to_pipe_text(*b.index, *b.device, b.graph));
    for (std::string line; std::getline(lines, line);) {
      const std::string key = "      - name: ";
      if (line.rfind(key, 0) != 0) continue;
      std::string name = line.substr(key.size());
      EXPECT_TRUE(b.index->op(name).op != nullptr || b.index->queue(name) != NetlistIndex::kNone) << name << " in\n" << text;
    }
    ++done;
  }
  EXPECT_EQ(done, 60);
}

}  // namespace
}  // namespace buda::pipes
