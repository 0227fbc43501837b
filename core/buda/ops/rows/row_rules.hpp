// SPDX-License-Identifier: Apache-2.0
// For each op at tensor level: where its results have the rows that its inputs have.
#pragma once

#include <buda/ops/rows/row_flow.hpp>

#include <string_view>
#include <vector>

namespace buda::ops {

// Null for an op without a rule, which is taken to mix rows. One flow for each result.
using RowRule = std::vector<RowFlow> (*)(const RowCall&);
RowRule row_rule(const OpDef& def);

}  // namespace buda::ops
