// SPDX-License-Identifier: Apache-2.0
// Inputs of any length along their first axis, cut into batches of the model's size.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/runtime/ports.hpp>
#include <buda/tensor/named_tensors.hpp>

#include <cstdint>
#include <string>

#pragma GCC visibility push(default)

namespace buda::runtime {

// How given inputs are run. One batch when they have the model's shapes; otherwise `rows` rows in `count` batches of `batch`, the last one
// filled up with zeros, whose results are cut off again.
struct Batches {
  std::int64_t rows = 0;   // 0: the model's shapes as they are
  std::int64_t batch = 0;  // first axis of the model's inputs and outputs
  std::int64_t count = 1;

  std::int64_t padded() const { return count * batch - rows; }
  std::string text() const;  // "360 rows run as 6 batches of 64, the last one padded with 24 rows of zeros"
};

// Checks names, types and shapes (RT020 to RT022; the message lists the model's inputs) and decides on batches (RT027: the model's rows
// depend on each other). An input that is an output
// of the step before has the model's shape whatever the number of batches, and may be left out, as may one that nothing reads.
Result<Batches> plan_batches(const Ports& ports, const NamedTensors& inputs);

// A given tensor in the model's element type: floats become the model's floats, integers its integers where all of them fit.
Result<Tensor> with_dtype(const Port& port, const Tensor& tensor);

// Rows [first, first + rows) along the first axis, filled up with zeros to `rows` where the tensor ends before.
Result<Tensor> rows_of(const Tensor& tensor, std::int64_t first, std::int64_t rows);
// Tensors of the same type one after the other along the first axis, of which the first `rows` are kept (all where it is negative).
Result<Tensor> joined(const std::vector<Tensor>& tensors, std::int64_t rows = -1);

}  // namespace buda::runtime

#pragma GCC visibility pop
