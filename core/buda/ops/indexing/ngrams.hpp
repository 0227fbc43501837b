// SPDX-License-Identifier: Apache-2.0
// Counting of n-grams, a member of the family `search` (search.cpp).
#pragma once

#include <buda/ops/table/op.hpp>

namespace buda::ops {

OpDef ngram_counts_op();

}  // namespace buda::ops
