// SPDX-License-Identifier: Apache-2.0
// "Did you mean": the known word nearest to one that was mistyped.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace buda {

// The candidate with the smallest edit distance (insert, delete, replace, swap of neighbours; case costs nothing), if it is
// near enough to be a typing error: at most a third of the longer word's length. Ties go to the earlier candidate.
std::optional<std::string> nearest_word(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace buda

#pragma GCC visibility pop
