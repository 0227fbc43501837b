// SPDX-License-Identifier: Apache-2.0
// Questions to a plan.
#include <buda/overlay/plan/pipe_plan.hpp>

#include <algorithm>

namespace buda::overlay {

bool PipePlan::is_round_robin() const {
  return !padding.empty() || std::any_of(parts.begin(), parts.end(), [](const Part& p) { return p.groups.size() > 1; });
}

bool PipePlan::has_blocks_of(std::int32_t number) const {
  return std::any_of(blocks.begin(), blocks.end(), [&](const Block& b) { return b.source == number; });
}

bool PipePlan::reads_rows() const {
  return std::any_of(sources.begin(), sources.end(), [](const Buffer* b) { return b->rows.hw_tilize || b->rows.embedding_table; });
}

}  // namespace buda::overlay
