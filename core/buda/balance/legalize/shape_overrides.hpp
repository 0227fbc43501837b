// SPDX-License-Identifier: Apache-2.0
// An implementation of an op as overrides, by key (overrides.hpp).
#pragma once

#include <buda/balance/models/op_model.hpp>

#include <map>
#include <string>

namespace buda::balance {

using OverrideTexts = std::map<std::string, std::string>;

// Of its grid, blocks and parts: {"grid", "[2,4]"}, {"u_kt", "8"}.
OverrideTexts shape_overrides(const OpModel& model);

// "[2,4]"
std::string pair_override(std::int64_t first, std::int64_t second);

}  // namespace buda::balance
