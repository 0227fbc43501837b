// SPDX-License-Identifier: Apache-2.0
// Runs of ops that a schedule repeats, as a deep network does with its layers: what is found for one of them holds for all.
#pragma once

#include <buda/balance/policy/placement.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace buda::balance {

class RepeatedRuns {
 public:
  explicit RepeatedRuns(const Placement& placement);

  // Where runs begin that are alike to ops [begin, end) of the schedule, in ascending order; `begin` is one of them. Their ops are of the
  // same kinds (Placement::kind), are fed by the same ones among them, and feed ops behind the run where those do. The first call with
  // a length takes O(ops).
  const std::vector<std::size_t>& starts(std::size_t begin, std::size_t end);

 private:
  std::uint64_t hash(std::size_t begin, std::size_t end) const { return hashes_[end] - hashes_[begin] * powers_[end - begin]; }
  bool is_same(std::size_t begin, std::size_t end, std::size_t other) const;

  struct Op {
    std::size_t kind = 0;
    std::vector<std::size_t> producers;  // by operand: its place in the schedule, kNone without one
    std::size_t last_user = 0;           // its place; the op's own without any
  };
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::vector<Op> ops_;                                                                         // by place in the schedule
  std::vector<std::uint64_t> hashes_, powers_;                                                  // of the kinds before each place
  std::map<std::size_t, std::unordered_map<std::uint64_t, std::vector<std::size_t>>> by_hash_;  // by length of the run
  std::map<std::pair<std::size_t, std::size_t>, std::vector<std::size_t>> starts_;
};

}  // namespace buda::balance
