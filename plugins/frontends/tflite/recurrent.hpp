// SPDX-License-Identifier: Apache-2.0
// Long short-term memories of the format: their inputs, and the two ways of computing them.
#pragma once

#include "node_import.hpp"

#include <array>

namespace buda::tflite_frontend {

// Places among the inputs of LSTM and UNIDIRECTIONAL_SEQUENCE_LSTM.
namespace lstm_input {
enum Place : std::size_t {
  kX,
  kToInput,
  kToForget,
  kToCell,
  kToOutput,
  kRecurrentToInput,
  kRecurrentToForget,
  kRecurrentToCell,
  kRecurrentToOutput,
  kPeepholeOfInput,
  kPeepholeOfForget,
  kPeepholeOfOutput,
  kInputBias,
  kForgetBias,
  kCellBias,
  kOutputBias,
  kProjection,
  kProjectionBias,
  kHidden,
  kCell,
  kInputNorm,
  kForgetNorm,
  kCellNorm,
  kOutputNorm,
};
}  // namespace lstm_input

struct LstmSizes {
  std::int64_t steps = 1, batch = 1, inputs = 1, hidden = 1;
  bool is_sequence = true;    // else one step, and x is [batch, inputs]
  bool is_time_major = true;  // [steps, batch, …], else [batch, steps, …]
  double cell_clip = 0;       // 0: none
};

// x as [steps, batch, inputs].
graph::ValueRef steps_first(NodeImport& n, const LstmSizes& sizes, graph::ValueRef x);
// All hidden states [steps, batch, hidden] as the operator's result.
graph::ValueRef as_lstm_result(NodeImport& n, const LstmSizes& sizes, graph::ValueRef y);

// Are types and scales those that the reference computes with in integers?
bool has_integer_lstm(const NodeImport& n);
// In integers, step by step.
Result<void> lstm_in_integers(NodeImport& n, const LstmSizes& sizes);

}  // namespace buda::tflite_frontend
