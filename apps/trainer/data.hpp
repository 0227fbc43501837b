// SPDX-License-Identifier: Apache-2.0
// Samples: tensors with one row for each, and batches of them.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/io/host.hpp>
#include <buda/runtime/session/training_session.hpp>
#include <buda/tensor/named_tensors.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace buda::trainer {

class Data {
 public:
  // The files that options name ("inputs", "targets" or those of validation, which stand in messages), matched with what the model takes.
  // A single tensor serves the only input or target whatever its name. TR001: a tensor is missing or nobody's; TR002: a wrong shape, type
  // or number of rows.
  struct Files {
    const std::vector<std::string>& inputs;
    const std::vector<std::string>& targets;
    std::string inputs_option, targets_option;
  };
  static Result<Data> read(const Files& files, const runtime::TrainingSession& training, Host& host);

  std::int64_t rows() const { return rows_; }
  // The rows in the model's shapes and types, as one batch of the model or, where there are more, several; missing ones are zeros. Numbers
  // of classes become vectors with a 1.
  Result<NamedTensors> batch(std::span<const std::int64_t> rows) const;
  // What is infinite or not a number in those rows, the first of it, as "row 5 of 'x' is NaN"; empty: all is finite.
  std::string not_finite(std::span<const std::int64_t> rows) const;
  // Of a target of classes, the number of a row's; -1 where the data have none.
  std::int64_t class_of(std::int64_t row) const;

 private:
  struct Column {
    const runtime::Port* port = nullptr;
    Tensor tensor;
    bool holds_classes = false;
  };
  Result<void> add(const std::vector<const runtime::Port*>& ports, const std::vector<std::string>& files, const std::string& option,
                   bool are_targets, Host& host);
  Result<Column> column(const runtime::Port& port, Tensor tensor, const std::string& option, bool is_target) const;

  std::vector<Column> columns_;
  std::int64_t rows_ = -1;
};

// The order of an epoch, drawn with the seed.
std::vector<std::int64_t> order_of_epoch(std::int64_t rows, std::uint64_t seed, std::int64_t epoch);

}  // namespace buda::trainer
