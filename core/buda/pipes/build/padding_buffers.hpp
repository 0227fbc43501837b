// SPDX-License-Identifier: Apache-2.0
// Buffers with the constants that pipes insert as padding.
#pragma once

#include <buda/pipes/build/padding_table.hpp>
#include <buda/pipes/graph/id_sequence.hpp>
#include <buda/pipes/graph/pipe_graph.hpp>
#include <buda/pipes/plan/epoch_plan.hpp>

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

namespace buda::pipes {

// One buffer for each input and core, made when it is first needed.
class PaddingBuffers {
 public:
  // All must outlive it.
  PaddingBuffers(const EpochPlan& plan, const PaddingTable& table, IdSequence& ids) : plan_(plan), table_(table), ids_(ids) {}

  // A block of the constant with which an input is padded. It is read from DRAM while the epoch runs, like the queue that it pads; or kept
  // in L1 of core `at`, of which a pipe there takes it `times` times in a pass.
  Id block(std::size_t op, std::size_t input, const CoreCoord& at, std::int64_t times);

  const std::vector<Buffer>& buffers() const { return buffers_; }

 private:
  Buffer make(std::size_t op, std::size_t input, const CoreCoord& at, std::int64_t times, std::int64_t block);

  using Key = std::tuple<std::size_t, std::size_t, std::int32_t, std::int32_t, std::int32_t>;  // op, input, chip, row, column
  const EpochPlan& plan_;
  const PaddingTable& table_;
  IdSequence& ids_;
  std::map<Key, std::size_t> index_;  // in buffers_
  std::vector<Buffer> buffers_;
};

}  // namespace buda::pipes
