// SPDX-License-Identifier: Apache-2.0
// What is legal near an override that is not.
#pragma once

#include <buda/balance/models/op_model.hpp>
#include <buda/balance/problem/problem.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace buda::balance {

// What the user may write instead, and what follows from it.
struct NearChoice {
  std::string text;             // "--set op.fc1.u_kt=8 --set 'op.fc1.grid=[7,2]'"
  OpOverride overrides;         // of the op
  std::vector<OpModel> models;  // that this leaves
};

// Of an op that an override leaves without a model, the nearest first, no two with the same text; empty where the op has no model without
// it, either. Where it is only the place, other places are near, and where it is only the size of buffers, smaller ones; else all
// implementations without the override, by how far they are from it.
std::vector<NearChoice> nearest_choices(const OpSpec& spec, const OpOverride& overrides, const device::DeviceDescriptor& device,
                                        const ModelOptions& options);

// The op with these sizes of input buffers instead of its own.
OpSpec with_buffered_inputs(OpSpec spec, const std::vector<std::pair<std::size_t, std::int32_t>>& inputs);

}  // namespace buda::balance
