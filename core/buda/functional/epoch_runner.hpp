// SPDX-License-Identifier: Apache-2.0
// Executes the ops of one graph.
#pragma once

#include <buda/functional/machine.hpp>

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace buda::functional {

class EpochRunner {
 public:
  explicit EpochRunner(Machine& machine) : m_(machine) {}

  // Where the graph reads a queue.
  Result<void> open_reader(Epoch& epoch, std::size_t queue);
  // Loads prologues, whose entries are there, and the sums of gradient ops.
  void begin(Epoch& epoch);
  Result<void> run_op(Epoch& epoch, std::size_t index, std::int64_t input);
  Result<void> store_output(Epoch& epoch, const OpPlan& op, const ValuePtr& value, std::int64_t input);
  // To the observer, which there must be.
  void tell_execution(const Epoch& epoch) const;

 private:
  // What an input's edge brings, before its manipulations, and what these and in_df make of it (of matrix t of it).
  Result<ValuePtr> fetch(Epoch& epoch, const OpPlan& op, std::size_t index, std::int64_t input);
  ValuePtr delivered(const EdgePlan& edge, const ValuePtr& value, std::optional<std::int64_t> t) const;
  std::variant<Value, std::string> compute(const OpPlan& op, const std::vector<ValuePtr>& inputs, const ValuePtr& previous) const;
  ValuePtr gradient_start(const Epoch& epoch, const OpPlan& op) const;
  void check_numbers(const OpPlan& op, const Value& value);

  Machine& m_;
};

}  // namespace buda::functional
