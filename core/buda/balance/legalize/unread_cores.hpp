// SPDX-License-Identifier: Apache-2.0
// Ops whose users leave out a part of their result.
#pragma once

#include <buda/balance/models/op_model.hpp>
#include <buda/balance/problem/problem.hpp>

#include <vector>

namespace buda::balance {

// Takes models away with which some core would compute what a user never reads, as far as others remain: that core's result would wait for
// a reader within the epoch, and TT-Buda's pipegen2 accepts no queue that has a buffer without a reader. `models`: by OpId.
// O(users that leave a part out * models of the op) measured edges.
void avoid_unread_cores(const Problem& problem, std::vector<LegalModels>& models);

}  // namespace buda::balance
