// SPDX-License-Identifier: Apache-2.0
// Phases, one by one, out of runs.
#include <buda/sim/tiles/phase_cursor.hpp>

#include <gtest/gtest.h>

namespace buda::sim {
namespace {

TEST(PhaseCursor, GoesThroughRunsAndIterations) {
  overlay::Stream s;
  s.phases = {{{0, 4, 0, 0, 0}, {2, 0, 0, 0, 8}, 3}, {{9, 1, 1, 0, 0}, {}, 1}};
  s.iterations = 2;
  PhaseCursor cursor(s);
  for (int iteration = 0; iteration < 2; ++iteration) {
    std::vector<std::int64_t> ids, next, offsets;
    for (int i = 0; i < 4; ++i) {
      EXPECT_EQ(cursor.iteration(), iteration);
      ids.push_back(cursor.now().id);
      offsets.push_back(cursor.now().offset);
      next.push_back(cursor.next_id());
      cursor.next();
    }
    EXPECT_EQ(ids, (std::vector<std::int64_t>{0, 2, 4, 9}));
    EXPECT_EQ(offsets, (std::vector<std::int64_t>{0, 8, 16, 0}));
    EXPECT_EQ(next, (std::vector<std::int64_t>{2, 4, 9, PhaseCursor::kLast}));
  }
  EXPECT_TRUE(cursor.done());
}

TEST(PhaseCursor, WithoutPhasesThereIsNothingToDo) {
  const overlay::Stream s;
  EXPECT_TRUE(PhaseCursor(s).done());
}

}  // namespace
}  // namespace buda::sim
