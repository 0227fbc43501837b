// SPDX-License-Identifier: Apache-2.0
// LSTM layers with projections (proj_size of nn.LSTM).
#pragma once

#include "call.hpp"

namespace buda::torchscript {

// Of a call of `lstm`: has each layer and direction a weight more than others have?
bool has_projections(const Call& n);
// Step by step, since no op of ours projects its state.
Result<Value> import_projected_lstm(Call& n);

}  // namespace buda::torchscript
