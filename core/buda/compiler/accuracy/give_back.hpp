// SPDX-License-Identifier: Apache-2.0
// Which raises to take back from a set that holds, because others suffice.
#pragma once

#include <buda/compiler/accuracy/raise_order.hpp>

#include <cstddef>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace buda::compiler {

// Proposes cheaper choices one after the other; trials tell which are better. Many raises are taken back at once, those first that save
// most for what they are estimated to lose; after a failed trial half of them. So n raises that are all needed cost about log n
// trials.
class GivingBack {
 public:
  explicit GivingBack(const std::vector<RaisableOp>& ops) : ops_(ops) {}

  // From `now`, of which outputs may miss `left` more each. Nothing: no other is worth a trial.
  std::optional<std::vector<std::size_t>> next(const std::vector<std::size_t>& now, const std::vector<double>& left);
  // Whether the last proposal was better than what it was made from.
  void learn(bool better);

 private:
  struct Change {
    std::size_t op = 0, choice = 0;
    double rate = 0;    // what it saves for what it uses
    double weight = 0;  // the largest part of what is left that it uses
  };
  std::vector<Change> changes(const std::vector<std::size_t>& now, const std::vector<double>& left) const;

  const std::vector<RaisableOp>& ops_;
  std::size_t trials_ = 0;
  std::size_t most_ = static_cast<std::size_t>(-1);         // changes of one trial
  std::vector<std::pair<std::size_t, std::size_t>> tried_;  // op and choice
  std::set<std::pair<std::size_t, std::size_t>> refused_;   // alone
};

}  // namespace buda::compiler
