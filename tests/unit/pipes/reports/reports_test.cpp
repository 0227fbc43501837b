// SPDX-License-Identifier: Apache-2.0
// The files beside the pipegen file: who is named, and by which pipes.
#include <buda/pipes/reports/reports.hpp>

#include "unit/pipes/built.hpp"
#include "unit/pipes/check/random_netlists.hpp"

#include <gmock/gmock.h>

#include <sstream>

namespace buda::pipes {
namespace {

using ::testing::HasSubstr;

TEST(OpToPipe, PipesThatReadSharesOfAPrologueBelongToItsOperand) {
  Built b(prologue_in_shares());
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
