// SPDX-License-Identifier: Apache-2.0
// Executes graphs that run together, as far as queues allow.
#pragma once

#include <buda/functional/epoch_runner.hpp>
#include <buda/functional/machine.hpp>

#include <buda/runtime/programs/schedule.hpp>
#include <buda/runtime/target.hpp>

#include <vector>

namespace buda::functional {

class GroupRunner {
 public:
  enum class Step : std::uint8_t { done, more, waits };

  explicit GroupRunner(Machine& machine) : m_(machine) {}

  Result<Group> open(const runtime::ExecuteGraphs& action);
  Result<Step> advance(Group& group);
  // What the last step waits for.
  const std::vector<runtime::Wait>& waits() const { return waits_; }
  void forget_waits() { waits_.clear(); }

 private:
  Result<bool> run_input(Group& group);
  bool is_ready(const Group& group, const Epoch& epoch, std::size_t index);
  bool has_entry(const Epoch& epoch, std::size_t queue, std::int64_t input) const;
  void wait_for_entry(const Epoch& epoch, std::size_t queue, std::int64_t input);
  bool has_room(const Epoch& epoch, const OpPlan& op);
  void add_wait(runtime::Wait wait);
  void end_input(Group& group);
  Result<void> end(Group& group);

  Machine& m_;
  EpochRunner runner_{m_};
  std::vector<runtime::Wait> waits_;
};

}  // namespace buda::functional
